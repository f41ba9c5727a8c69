"""Searching notes for words: a plain pass over the files, within limits."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from actors.vault.folder import Entry, Folder, Kind
from actors.vault.lookup import open_folder
from actors.vault.names import folded, is_note
from actors.vault.replacing import read_file
from actors.vault.scan import Budget, scan
from actors.vault.vault_folder import VaultFolder
from eris.errors import ErisError, InvalidError

MOST_NOTES = 10
"""Most notes of one result."""

MOST_EXCERPTS = 3
"""Most lines shown of one note."""

EXCERPT_CHARACTERS = 160
"""Longest line shown."""

_MOST_WORDS = 12
_NAME_WEIGHT = 5
"""A word in the path counts like this many in the text."""


@dataclass(frozen=True)
class Excerpt:
    """A line with a match."""

    line: int
    """Number of the line, from 1."""
    text: str


@dataclass(frozen=True)
class Match:
    """A note that was found."""

    path: str
    words: frozenset[str]
    """Which of the words it has."""
    weight: int
    """How often it has them."""
    excerpts: tuple[Excerpt, ...]


@dataclass(frozen=True)
class Results:
    """What a search found."""

    words: tuple[str, ...]
    matches: tuple[Match, ...]
    """The best first; all with every word, or, if there's no such note, with the most of them."""
    complete: bool
    """Whether they have every word."""
    found: int
    """Notes found, those not shown included."""
    searched: int
    """Notes looked at."""
    cut_short: bool
    """Whether a limit was reached before the end of the vault."""
    skipped: int
    """Notes and folders that couldn't be read, or are too large."""


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a query, without regard to case; text in double quotes is one word.

    Raises:
        InvalidError: There is none.
    """
    words = [
        folded(quoted or plain.strip("\"'.,;:!?()[]{}*")).strip()
        for quoted, plain in re.findall(r'"([^"]+)"|(\S+)', query)
    ]
    distinct = tuple(dict.fromkeys(word for word in words if word))
    if not distinct:
        raise InvalidError("The query has no words.", hint="Give a word to look for, such as milk.")
    return distinct[:_MOST_WORDS]


def search(
    vault: VaultFolder, query: str, folder: str = "", *, clock: Callable[[], float]
) -> Results:
    """Look for notes that have all the words of a query, in their path or text.

    Args:
        vault: The vault.
        query: Words; case and Unicode spelling don't matter.
        folder: Where to look, as a model wrote it; empty for everywhere.
        clock: A clock that only goes forward, in seconds.

    Raises:
        ErisError: The query has no words, or there's no such folder.
    """
    words = words_of(query)
    budget = Budget.starting(clock)
    matches: list[Match] = []
    searched = skipped = 0
    with open_folder(vault, folder) as opened:
        for here, entry in scan(opened, budget):
            if entry.kind is Kind.FILE and is_note(entry.name):
                searched += 1
                try:
                    match = _match(here, entry, words)
                except ErisError:
                    skipped += 1
                    continue
                if match:
                    matches.append(match)
    best = _best(matches, words, searched)
    return Results(
        words=words,
        matches=tuple(best[:MOST_NOTES]),
        complete=bool(best) and len(best[0].words) == len(words),
        found=len(best),
        searched=searched,
        cut_short=budget.spent,
        skipped=skipped + budget.unreadable,
    )


def _best(matches: list[Match], words: tuple[str, ...], searched: int) -> list[Match]:
    """The matches worth showing, the best first.

    If no note has every word, those count that have the rare ones: in "notes about milk" it's the
    milk that matters.
    """
    complete = [match for match in matches if len(match.words) == len(words)]
    if complete:
        return sorted(complete, key=lambda match: (-match.weight, match.path))
    rarity = {
        word: math.log((searched + 1) / sum(word in match.words for match in matches))
        for word in set().union(*(match.words for match in matches))
    }
    scores = {match.path: sum(rarity[word] for word in match.words) for match in matches}
    least = max(scores.values(), default=0.0) / 2
    return sorted(
        (match for match in matches if scores[match.path] >= least),
        key=lambda match: (-scores[match.path], -match.weight, match.path),
    )


def _match(folder: Folder, entry: Entry, words: tuple[str, ...]) -> Match | None:
    path = folder.path(entry.name)
    text = read_file(folder, entry).data.decode("utf-8-sig", errors="replace")
    name, body = folded(path), folded(text)
    counts = [body.count(word) + _NAME_WEIGHT * (word in name) for word in words]
    having = frozenset(word for word, count in zip(words, counts, strict=True) if count)
    if not having:
        return None
    return Match(path, having, sum(counts), _excerpts(text, words))


def _excerpts(text: str, words: tuple[str, ...]) -> tuple[Excerpt, ...]:
    """The lines with the most words, in their order."""
    lines = [
        (sum(word in folded(line) for word in words), number, line)
        for number, line in enumerate(text.splitlines(), start=1)
    ]
    best = sorted((each for each in lines if each[0]), key=lambda each: (-each[0], each[1]))[
        :MOST_EXCERPTS
    ]
    return tuple(
        Excerpt(number, _shortened(line.strip(), words))
        for _, number, line in sorted(best, key=lambda each: each[1])
    )


def _shortened(line: str, words: tuple[str, ...]) -> str:
    if len(line) <= EXCERPT_CHARACTERS:
        return line
    lowered = folded(line)
    first = min((lowered.find(word) for word in words if word in lowered), default=0)
    start = max(0, min(first - EXCERPT_CHARACTERS // 3, len(line) - EXCERPT_CHARACTERS))
    end = start + EXCERPT_CHARACTERS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
