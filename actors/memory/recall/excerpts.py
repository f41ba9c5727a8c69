"""Cutting a text to its room: whole lines or sentences, around what was asked; pure."""

import re

from eris.vault.words import tokens

ELLIPSIS = "…"
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")  # noqa: RUF001 - full width, on purpose
_LEAST_LETTERS = 3


def excerpt(text: str, question: str, characters: int) -> str:
    """Return the part of a text that has the most of a question's words.

    Args:
        text: The whole.
        question: What it's looked at for.
        characters: The most to return, signs for what is left out counted in.
    """
    text = text.strip()
    if len(text) <= characters:
        return text
    room = characters - 2 * (len(ELLIPSIS) + 1)
    if room <= 0:
        return ""
    wanted = {word for word in tokens(question) if len(word) >= _LEAST_LETTERS}
    pieces = _pieces(text, room)
    first, last = _window(text, pieces, wanted, room)
    start, end = pieces[first][0], pieces[last][1]
    cut = text[start:end].strip()
    front = f"{ELLIPSIS} " if start > 0 else ""
    back = f" {ELLIPSIS}" if end < len(text) else ""
    return f"{front}{cut}{back}"


def _pieces(text: str, room: int) -> list[tuple[int, int]]:
    """Where lines are, sentences where a line is too long, words where a sentence is."""
    found: list[tuple[int, int]] = []
    at = 0
    for line in text.splitlines(keepends=True):
        if len(line.strip()) <= room:
            found.append((at, at + len(line)))
        else:
            found.extend(_sentences(line, at, room))
        at += len(line)
    return found


def _sentences(line: str, offset: int, room: int) -> list[tuple[int, int]]:
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    found: list[tuple[int, int]] = []
    start = 0
    for end in [*ends, len(line)]:
        while end - start > room:
            space = line.rfind(" ", start + 1, start + room)
            stop = space + 1 if space > start else start + room
            found.append((offset + start, offset + stop))
            start = stop
        if end > start:
            found.append((offset + start, offset + end))
        start = end
    return found


def _window(
    text: str, pieces: list[tuple[int, int]], wanted: set[str], room: int
) -> tuple[int, int]:
    """The row of pieces that has the most of the words within the room; the first of equals."""
    words = [wanted.intersection(tokens(text[start:end])) for start, end in pieces]
    best, most = (0, 0), -1
    for first, (start, _) in enumerate(pieces):
        last, having = first, set(words[first])
        while last + 1 < len(pieces) and len(text[start : pieces[last + 1][1]].strip()) <= room:
            last += 1
            having |= words[last]
        if len(having) > most:
            best, most = (first, last), len(having)
    return best
