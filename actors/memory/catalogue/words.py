"""Search by words over the live chunks, by SQLite alone: what works without any index.

A word also finds longer ones that begin with it, and those that share its stem as far as that can
be told without knowing the language: all but the last two letters. Scripts without spaces are
looked for by pairs of characters.
"""

import math
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from actors.memory.catalogue.rows import Entry
from actors.memory.catalogue.schema import Database
from actors.memory.catalogue.vocabulary import Vocabulary
from actors.memory.points import Scored, Wanted
from eris.vault.words import fold, spaced, tokens

_MOST_WORDS = 40
"""Words of a question that are looked for."""
_SHORTEST_STEMMED = 6
_ENDING = 2
_SHORTEST_PREFIX = 4
_MOST_PHRASES = 10_000

_WANTED = """
    (:kinds = '[]' OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:source = '' OR key = :source)
    AND (:first_day = 0 OR day >= :first_day)
    AND (:last_day = 0 OR day BETWEEN 1 AND :last_day)
    AND (:folder = '' OR EXISTS (SELECT 1 FROM json_each(folders) WHERE value = :folder))
    AND NOT EXISTS (SELECT 1 FROM json_each(:tags) AS asked
        WHERE asked.value NOT IN (SELECT value FROM json_each(chunks.tags)))
"""


@dataclass(frozen=True)
class _Term:
    """A word, the beginning of one, or two that follow each other."""

    words: str
    """Folded, with a space between."""
    longer: bool = False
    """Whether longer ones are meant that begin with it."""

    def __str__(self) -> str:
        return f'"{self.words}" *' if self.longer else f'"{self.words}"'

    def is_in(self, run: str) -> bool:
        """Tell whether a text has it: see `_run`."""
        return (f" {self.words}" if self.longer else f" {self.words} ") in run


class WordSearch:
    """Finds live chunks by words."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._vocabulary = Vocabulary()
        self._phrases: dict[_Term, int] = {}

    def search(
        self, text: str, wanted: Wanted, limit: int, *, missing_in: int | None = None
    ) -> list[Scored]:
        """Return what has the most, and the rarest, of a text's words; scores are BM25.

        Args:
            text: In words.
            wanted: What is looked at.
            limit: The most to return.
            missing_in: Look only at what this index hasn't got yet.
        """
        terms = _terms(text)
        if not terms:
            return []
        missing = (
            "" if missing_in is None else "JOIN pending ON chunk = words.rowid AND number = :number"
        )
        values = {
            "match": " OR ".join(map(str, terms)),
            "number": missing_in,
            "limit": limit,
            "kinds": _json(wanted.kinds),
            "tags": _json(wanted.tags),
            "source": wanted.source,
            "folder": wanted.folder,
            "first_day": wanted.first_day,
            "last_day": wanted.last_day,
        }
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT words.rowid, bm25(words) AS score FROM words"  # noqa: S608
                " JOIN chunks ON chunks.id = words.rowid"
                f" JOIN versions ON versions.id = chunks.version {missing}"
                f" WHERE words MATCH :match AND {_WANTED} ORDER BY score, words.rowid LIMIT :limit",
                values,
            ).fetchall()
        return [Scored(id=id_, score=-score) for id_, score in rows]

    def coverage(self, text: str, entries: Sequence[Entry]) -> dict[int, float]:
        """Return how much of a text each chunk has, from 0 to 1.

        It's the share of its words, rare ones weighing more; a word that no chunk has weighs most.
        """
        weights = self._weights(_terms(text))
        total = sum(weights.values())
        found: dict[int, float] = {}
        for entry in entries:
            words = _run(entry.embedded) if total else ""
            having = sum(weight for term, weight in weights.items() if term.is_in(words))
            found[entry.id] = having / total if total else 0.0
        return found

    def _weights(self, terms: Sequence[_Term]) -> dict[_Term, float]:
        with self._database.reading() as connection:
            if self._vocabulary.refresh(connection) or len(self._phrases) > _MOST_PHRASES:
                self._phrases.clear()
            having = {term: self._having(connection, term) for term in terms}
        chunks = self._vocabulary.chunks
        return {term: math.log(1 + chunks / (number + 0.5)) for term, number in having.items()}

    def _having(self, connection: sqlite3.Connection, term: _Term) -> int:
        """How many chunks have a term, roughly for a beginning."""
        if " " not in term.words:
            return self._vocabulary.having(term.words, longer=term.longer)
        if term not in self._phrases:
            (self._phrases[term],) = connection.execute(
                "SELECT count(*) FROM words WHERE words MATCH ?", (str(term),)
            ).fetchone()
        return self._phrases[term]


def add_words(connection: sqlite3.Connection, version: int) -> None:
    """Let the chunks of a version be found."""
    connection.executemany(
        "INSERT INTO words (rowid, body) VALUES (?, ?)", _bodies(connection, version)
    )


def remove_words(connection: sqlite3.Connection, version: int) -> None:
    """Let the chunks of a version be found no more."""
    # A table without content has to be told the very words that were put in.
    connection.executemany(
        "INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)",
        _bodies(connection, version),
    )


def _bodies(connection: sqlite3.Connection, version: int) -> list[tuple[int, str]]:
    rows = connection.execute("SELECT id, header, text FROM chunks WHERE version = ?", (version,))
    return [(id_, spaced(fold(f"{header}\n{text}"))) for id_, header, text in rows]


def _terms(text: str) -> list[_Term]:
    """Return what to look for, each once."""
    words = list(dict.fromkeys(tokens(text)))[:_MOST_WORDS]
    found: dict[_Term, None] = {}
    for before, word in pairwise(["", *words]):
        if _is_single(word):
            if _is_single(before):
                found[_Term(f"{before} {word}")] = None
        elif word.isdigit() or len(word) < _SHORTEST_PREFIX:
            found[_Term(word)] = None
        else:
            stem = word[:-_ENDING] if len(word) >= _SHORTEST_STEMMED else word
            found[_Term(stem, longer=True)] = None
    return list(found or dict.fromkeys(map(_Term, words)))


def _is_single(word: str) -> bool:
    return len(word) == 1 and not word.isascii()


def _run(text: str) -> str:
    """Return a text's words, folded, with one space around each."""
    return f" {' '.join(spaced(fold(text)).translate(_PARTING).split())} "


class _Parting(dict[int, str | int]):
    """Turns what belongs to no word into a space, as the full-text table does."""

    def __missing__(self, code: int) -> str | int:
        belongs = unicodedata.category(chr(code)).startswith(("L", "N", "M", "Co", "So"))
        self[code] = code if belongs else " "
        return self[code]


_PARTING = _Parting()


def _json(values: Sequence[str]) -> str:
    return msgspec.json.encode(values).decode()
