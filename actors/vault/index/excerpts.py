"""The lines of a note that show why it was found."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from eris.vault.note import LINE_END
from eris.vault.words import Term, fold

MOST = 3
"""Most lines shown of one note."""

LONGEST = 160
"""Characters of the longest line shown."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line with a match."""

    line: int
    """Number of the line, from 1."""
    text: str
    """The line, or the part of it around the match."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without their ends."""
    return LINE_END.split(text)


def excerpts(
    text: str, terms: Collection[Term], also: Collection[int] = (), most: int = MOST
) -> tuple[Excerpt, ...]:
    """Return the lines that have the most of what was looked for, the best first.

    Args:
        text: The note.
        terms: What was looked for.
        also: Numbers of lines known to match in another way; they count twice.
        most: How many lines at most.
    """
    folded = fold(text)
    starts = [0, *(end.end() for end in LINE_END.finditer(folded))]
    scores = Counter(dict.fromkeys(also, 2))
    for term in terms:
        scores.update({bisect_right(starts, place) for place in term.places(folded)})
    best = sorted(scores, key=lambda number: (-scores[number], number))[:most]
    lines = lines_of(text) if best else []
    return tuple(Excerpt(number, shortened(lines[number - 1], terms)) for number in best)


def shortened(line: str, terms: Iterable[Term]) -> str:
    """Return a line, or what's around its first match if it's long."""
    line = line.strip()
    if len(line) <= LONGEST:
        return line
    # Folding may change the number of characters a little; the window is wide enough for that.
    folded = fold(line)
    first = min((place for term in terms for place in islice(term.places(folded), 1)), default=0)
    start = max(0, min(first - LONGEST // 3, len(line) - LONGEST))
    end = start + LONGEST
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
