"""Answering a search: which notes, in which order.

A query's tree is evaluated to sets of notes, each leaf by one look into the index; what has to be
in one line, block, section or task is looked for in the text of the notes that have it anywhere.
Notes are ordered by BM25 of the words, where a word in the name or title weighs more, and the word
itself more than longer ones that begin with it.

If nothing is found, typing errors are corrected with the index's own vocabulary; and if no note
has every word, those are found that have the rare ones: in "notes about milk" it's the milk that
matters.
"""

import datetime as dt
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path

from rapidfuzz import fuzz, process

from actors.vault.index.evaluating import Evaluation, expression
from actors.vault.index.excerpts import Excerpt, excerpts
from eris.vault.query import And, Or, Query, Text, Within, parse, tags, terms
from eris.vault.words import Match, Term

MOST_FOUND = 10
"""Notes of one result."""

_WEIGHTS = "10.0, 2.0, 8.0, 1.0"
"""Of a word in name, folder, title and text."""

_SHORTEST_CORRECTED = 4
_LEAST_LIKENESS = 75.0
_MOST_CORRECTIONS = 3
_PARTIAL_SHARE = 0.5
"""A note with some of the words is shown from this share of the best one's score on."""


@dataclass(frozen=True, slots=True)
class Found:
    """A note that was found."""

    path: str
    title: str
    """From its properties or first heading; empty if it has none."""
    excerpts: tuple[Excerpt, ...]
    """The lines with the most matches, the best first; empty if the name alone matched."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found."""

    words: tuple[str, ...]
    """What was looked for, as it was understood."""
    matches: tuple[Found, ...]
    """The best first."""
    found: int
    """Notes found, those not shown included."""
    complete: bool
    """False if no note fulfils the query and these have some of its words only."""
    corrected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words that no note has, and those that were looked for instead."""
    waiting: int = 0
    """Notes that aren't indexed yet."""


class Search:
    """Answers searches from one connection; for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file

    def search(
        self,
        text: str,
        *,
        folder: str = "",
        limit: int = MOST_FOUND,
        offset: int = 0,
        today: dt.date | None = None,
    ) -> SearchResults:
        """See `VaultIndex.search`."""
        query = parse(text, today)
        scope = self._scope(folder)
        corrected: dict[str, tuple[str, ...]] = {}
        evaluation, scores = self._evaluate(query, scope)
        complete = bool(scores)
        if not scores:
            better = self._corrected(query, corrected)
            if corrected:
                query = better
                evaluation, scores = self._evaluate(query, scope)
                complete = bool(scores)
        if not scores:
            scores = self._partial(query, scope)
        shown = self._best(scores, offset + limit)
        return SearchResults(
            words=tuple(dict.fromkeys(str(term) for term in terms(query))),
            matches=tuple(self._found(id_, query, evaluation) for id_ in shown[offset:]),
            found=len(scores),
            complete=complete,
            corrected=corrected,
            waiting=self._count("SELECT count(*) FROM files WHERE state = 'waiting'"),
        )

    def _scope(self, folder: str) -> frozenset[int] | None:
        folder = folder.strip("/")
        if not folder:
            return None
        rows = self._connection.execute(
            "SELECT id FROM files WHERE path >= ? AND path < ?", (f"{folder}/", f"{folder}0")
        )
        return frozenset(id_ for (id_,) in rows)

    def _evaluate(
        self, query: Query, scope: frozenset[int] | None
    ) -> tuple[Evaluation, dict[int, float]]:
        """The notes found, with their scores; lower is better."""
        evaluation = Evaluation(self._connection, self._file)
        words, others = _split(query)
        ranked = self._ranked(" AND ".join(map(expression, words))) if words else None
        if ranked is not None and not ranked:
            return evaluation, {}
        ids = evaluation.ids(others) if others is not None else None
        if ranked is None:
            optional = list(terms(query))
            ranked = self._ranked(" OR ".join(map(expression, optional))) if optional else {}
            ids = ids or set()
            scores = {id_: ranked.get(id_, 0.0) for id_ in ids}
        elif ids is None:
            scores = ranked
        else:
            scores = {id_: score for id_, score in ranked.items() if id_ in ids}
        if scope is not None:
            scores = {id_: score for id_, score in scores.items() if id_ in scope}
        return evaluation, scores

    def _ranked(self, match: str) -> dict[int, float]:
        return dict(
            self._connection.execute(
                f"SELECT rowid, bm25(words, {_WEIGHTS}) FROM words WHERE words MATCH ?",  # noqa: S608
                (match,),
            )
        )

    def _partial(self, query: Query, scope: frozenset[int] | None) -> dict[int, float]:
        """Notes with some of the words, if the query is of several, by how rare these are."""
        words, others = _split(query)
        if len(words) + (others is not None) <= 1 or not words:
            return {}
        evaluation = Evaluation(self._connection, self._file)
        allowed = evaluation.ids(others) if others is not None else None
        notes = self._count("SELECT count(*) FROM files WHERE state = 'indexed'")
        scores: dict[int, float] = {}
        for word in words:
            having = evaluation.ids(Text(word))
            if having:
                rarity = math.log((notes + 1) / len(having))
                for id_ in having:
                    scores[id_] = scores.get(id_, 0.0) + rarity
        scores = {
            id_: score
            for id_, score in scores.items()
            if (allowed is None or id_ in allowed) and (scope is None or id_ in scope)
        }
        least = max(scores.values(), default=0.0) * _PARTIAL_SHARE
        best = {id_: score for id_, score in scores.items() if score >= least}
        ranked = self._ranked(" OR ".join(map(expression, words))) if best else {}
        # BM25 only decides between notes that have the same words.
        return {id_: -1000 * score + ranked.get(id_, 0.0) for id_, score in best.items()}

    def _corrected(self, query: Query, corrected: dict[str, tuple[str, ...]]) -> Query:
        """The query with the closest known words in place of those that no note has."""
        match query:
            case Text(term):
                words = self._closest(term)
                if not words:
                    return query
                corrected[term.words[0]] = words
                parts = tuple(Text(Term((word,), Match.EXACT)) for word in words)
                return parts[0] if len(parts) == 1 else Or(parts)
            case And(parts):
                return And(tuple(self._corrected(part, corrected) for part in parts))
            case Or(parts):
                return Or(tuple(self._corrected(part, corrected) for part in parts))
            case Within(place, part) if part is not None:
                return Within(place, self._corrected(part, corrected))
            case _:
                return query

    def _closest(self, term: Term) -> tuple[str, ...]:
        word = term.words[0]
        if len(term.words) > 1 or len(word) < _SHORTEST_CORRECTED or word.isdigit():
            return ()
        if self._connection.execute(
            "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (expression(term),)
        ).fetchone():
            return ()
        vocabulary = [
            known
            for (known,) in self._connection.execute(
                "SELECT term FROM vocabulary WHERE length(term) BETWEEN ? AND ?",
                (len(word) - 2, len(word) + 2),
            )
        ]
        close = process.extract(
            word,
            vocabulary,
            scorer=fuzz.ratio,
            limit=_MOST_CORRECTIONS,
            score_cutoff=_LEAST_LIKENESS,
        )
        best = close[0][1] if close else 0.0
        return tuple(known for known, likeness, _ in close if likeness >= best - 5)

    def _best(self, scores: dict[int, float], number: int) -> list[int]:
        """The notes with the lowest scores; of equal ones, in the order of their paths."""
        last = nsmallest(number, scores.values())[-1:]
        select = "SELECT path FROM files WHERE id = ?"
        keys = {
            id_: (score, self._connection.execute(select, (id_,)).fetchone()[0])
            for id_, score in scores.items()
            if [score] <= last
        }
        return sorted(keys, key=lambda id_: keys[id_])[:number]

    def _found(self, id_: int, query: Query, evaluation: Evaluation) -> Found:
        path, title, text = self._connection.execute(
            "SELECT path, title, text FROM files LEFT JOIN texts ON file = id WHERE id = ?", (id_,)
        ).fetchone()
        also = evaluation.lines.get(id_, set()).union(
            *(evaluation.tag_lines(id_, tag) for tag in tags(query))
        )
        return Found(path, title, excerpts(text or "", set(terms(query)), also))

    def _count(self, select: str) -> int:
        return int(self._connection.execute(select).fetchone()[0])


def _split(query: Query) -> tuple[list[Term], Query | None]:
    """The words that every match has in its name or text, and all else that is asked for."""
    parts = query.parts if isinstance(query, And) else (query,)
    words = [part.term for part in parts if isinstance(part, Text)]
    others = tuple(part for part in parts if not isinstance(part, Text))
    if not others:
        return words, None
    return words, others[0] if len(others) == 1 else And(others)
