"""Pieces of a text that are to stay whole, and how firmly each is joined to the one before it."""

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import msgspec

from actors.memory.chunking.chunk import TokenCount
from actors.memory.chunking.sentences import sentence_starts
from eris.vault.note import Span

_TEXTS_AT_ONCE = 2000
"""Texts counted in one call, so that a large note needs no large memory."""
_PARTS = 4
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32
"""Characters that are shown as one."""


class Joint(IntEnum):
    """How firmly a piece is joined to the one before: a text is cut where it's least so.

    Headings of level 1 to 6 are 1 to 6; items add twice their depth, at most 32.
    """

    AFTER_RULE = 8
    PARAGRAPH = 10
    ITEM = 20
    """An item of the outermost list; a paragraph within an item is one more."""
    BLOCK = 100
    """A block that follows another one without a blank line."""
    QUOTED = 110
    ROW = 120
    SENTENCE = 130
    LINE = 140
    WORD = 150
    """Cut between two words of a sentence, or within one word."""
    LEAD = 160
    """What follows a line that ends in a colon."""
    RULE = 170
    HEADED = 180
    """What follows a heading."""


class Piece(msgspec.Struct):
    """Some characters of a text that are to stay together, blank lines at their end included."""

    start: int
    end: int
    joint: int
    section: int = 0
    """Number of the section that it's in."""
    is_heading: bool = False
    is_code: bool = False
    """Whether it has lines, but no sentences."""
    tokens: int = 0


@dataclass(frozen=True)
class Source:
    """A text, with what is hidden in it."""

    text: str
    hidden: Sequence[Span] = ()
    """In the order of the text; none overlaps another."""

    def shown(self, start: int, end: int) -> str:
        """Return a part of the text without what's hidden."""
        # The one before may reach into the part.
        number = max(0, bisect_left(self.hidden, Span(start, start)) - 1)
        parts: list[str] = []
        while number < len(self.hidden) and self.hidden[number].start < end:
            span = self.hidden[number]
            if span.end > start:
                parts.append(self.text[start : max(start, span.start)])
                start = min(end, span.end)
            number += 1
        parts.append(self.text[start:end])
        return "".join(parts)


@dataclass(frozen=True)
class Scale:
    """How large a piece may be, and how that is measured."""

    count: TokenCount
    budgets: Sequence[int]
    """Tokens that the text of a chunk may have, by the number of its section."""

    def measure(self, source: Source, pieces: Sequence[Piece]) -> None:
        """Tell each piece its tokens."""
        special = self.count([""])[0]
        for start in range(0, len(pieces), _TEXTS_AT_ONCE):
            batch = pieces[start : start + _TEXTS_AT_ONCE]
            tokens = self.count([source.shown(each.start, each.end) for each in batch])
            for piece, number in zip(batch, tokens, strict=True):
                piece.tokens = max(0, number - special)

    def too_large(self, piece: Piece) -> bool:
        """Whether it has to be cut."""
        return piece.tokens > self.budgets[piece.section] and piece.end - piece.start > 1


def sized(source: Source, pieces: Sequence[Piece], scale: Scale) -> list[Piece]:
    """Return the pieces with their tokens, those cut that are too large for a chunk.

    Sentences are tried first, then lines, then words, then characters.
    """
    done = list(pieces)
    scale.measure(source, done)
    done = _with_cut(source, done, scale, Joint.SENTENCE)
    done = _with_cut(source, done, scale, Joint.LINE)
    while any(map(scale.too_large, done)):
        done = _with_cut(source, done, scale, Joint.WORD)
    return done


def _with_cut(source: Source, pieces: list[Piece], scale: Scale, joint: Joint) -> list[Piece]:
    """Return the pieces, those too large cut at their sentences, lines or words."""
    done: list[Piece] = []
    new: list[Piece] = []
    cuts = _CUTS[joint]
    for piece in pieces:
        if not scale.too_large(piece):
            done.append(piece)
            continue
        borders = [piece.start, *cuts(source, piece, scale), piece.end]
        parts = [
            Piece(start, end, joint, piece.section, piece.is_heading, piece.is_code)
            for start, end in pairwise(borders)
        ]
        parts[0].joint = piece.joint
        done.extend(parts)
        new.extend(parts)
    scale.measure(source, new)
    return done


def _sentences(source: Source, piece: Piece, scale: Scale) -> Iterator[int]:
    del scale
    if not piece.is_code:
        yield from sentence_starts(source.text, piece.start, piece.end)


def _lines(source: Source, piece: Piece, scale: Scale) -> Iterator[int]:
    del scale
    position = piece.start
    while True:
        position = source.text.find("\n", position, piece.end - 1) + 1
        if not position:
            return
        yield position


def _words(source: Source, piece: Piece, scale: Scale) -> Iterator[int]:
    """Give places that cut a piece into parts of about equal length, if possible at spaces."""
    text = source.text
    # Parts of a chunk, so that a heading has room before the first one.
    parts = piece.tokens * _PARTS // max(1, scale.budgets[piece.section]) + 1
    length = max(1, (piece.end - piece.start) // parts)
    position = piece.start
    while piece.end - position > length:
        wanted = position + length
        space = max(text.rfind(" ", position + length // 2, wanted), -1) + 1
        position = space or _between_characters(text, wanted, position + 1)
        yield position


def _between_characters(text: str, position: int, least: int) -> int:
    """Return the nearest place before a position that parts no character from its accents."""
    for place in range(position, max(least, position - _LONGEST_CLUSTER), -1):
        joined = _JOINER in text[place - 1 : place + 1]
        if not joined and not unicodedata.combining(text[place]):
            return place
    return position


_CUTS: Mapping[Joint, Callable[[Source, Piece, Scale], Iterator[int]]] = {
    Joint.SENTENCE: _sentences,
    Joint.LINE: _lines,
    Joint.WORD: _words,
}
