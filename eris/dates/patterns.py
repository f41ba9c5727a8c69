"""Patterns over tokens: how the rules in `eris.dates.phrases` are written and matched.

A pattern is a row of elements: a word or several (`next|coming`), a category in brackets
(`<weekday>`), a named group of words (`AT`), each with `?` if it can be missing. Words and groups
yield nothing; a category yields its value, or None if it's missing. Elements never repeat, so that
matching at one place takes a bounded number of steps.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence

from eris.dates.tokens import Token, Value, folded

Captured = tuple[Value | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Element:
    """One place of a pattern."""

    words: frozenset[str]
    category: str
    optional: bool


def compiled(pattern: str, groups: Mapping[str, str]) -> tuple[Element, ...]:
    """Read a pattern."""
    elements = []
    for piece in pattern.split():
        optional, name = piece.endswith("?"), piece.removesuffix("?")
        if name.startswith("<"):
            elements.append(Element(frozenset(), name.strip("<>"), optional))
        else:
            words = frozenset(folded(word) for word in groups.get(name, name).split("|"))
            elements.append(Element(words, "", optional))
    return tuple(elements)


def match(
    pattern: Sequence[Element], tokens: Sequence[Token], start: int
) -> tuple[int, Captured] | None:
    """Match a pattern at a place.

    Returns:
        The place after it and what its categories captured; None if it doesn't match. An optional
        element is left out only if the rest doesn't match with it.
    """
    if not pattern:
        return start, ()
    element, rest = pattern[0], pattern[1:]
    if start < len(tokens):
        token = tokens[start]
        if element.category and element.category in token.meanings:
            after = match(rest, tokens, start + 1)
            if after:
                return after[0], (token.meanings[element.category], *after[1])
        elif token.text in element.words:
            after = match(rest, tokens, start + 1)
            if after:
                return after
    if element.optional:
        after = match(rest, tokens, start)
        if after:
            return after[0], ((None, *after[1]) if element.category else after[1])
    return None


@functools.cache
def first_words(pattern: tuple[Element, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words and the categories that a pattern can begin with."""
    words: set[str] = set()
    categories: set[str] = set()
    for element in pattern:
        words |= element.words
        if element.category:
            categories.add(element.category)
        if not element.optional:
            break
    return frozenset(words), frozenset(categories)
