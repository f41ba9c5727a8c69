"""Whether something said to be a fact has any ground in what was said; pure.

Models make up facts, and repeat what they were told as if the user had said it. A fact is kept
only in words that the user used: its numbers all of them, of its other words at least some.
"""

import re

from actors.memory.remembering.language import NUMBERS, RELATIVE_DAYS
from actors.memory.remembering.statements import Statement, missing, sentences, taken_apart
from eris.vault.words import fold, tokens

LEAST_SUPPORTED = 0.34
"""Part of a fact's words that what was said must have."""

_NAME = re.compile(r"(?<=[^\W\d_,;:]\s)[A-ZÄÖÜ][^\W\d_]+")
_PLACES = re.compile(r"\d+")


def unsupported(text: str, said: str) -> str:
    """Return what in a fact nobody said, in words; empty if all is well.

    Args:
        text: The fact.
        said: What was said; empty if that isn't known, which nothing can be held against.
    """
    if not tokens(said):
        return ""
    basis = [taken_apart(each) for each in sentences(said)]
    words = frozenset(word for each in basis for word in each.words)
    invented = sorted(_numbers(text) - _numbers(said)) if not _relative(basis) else []
    if invented:
        return f"{', '.join(invented)} isn't in what was said"
    lacking = facts = 0
    for each in map(taken_apart, sentences(text)):
        facts += len(each.words)
        lacking += len(missing(each.words, words))
    if facts and facts - lacking < LEAST_SUPPORTED * facts:
        return "hardly a word of it was said"
    known = frozenset(tokens(said))
    names = [name for name in _NAME.findall(text) if not _known(name, known, words)]
    if names and not _many_capitals(text):
        return f"{', '.join(dict.fromkeys(names))} isn't in what was said"
    return ""


def _known(name: str, known: frozenset[str], words: frozenset[str]) -> bool:
    statement = taken_apart(name)
    return fold(name) in known or not missing(statement.words, words) or bool(statement.values)


def _many_capitals(text: str) -> bool:
    """Whether the language seems to be one that writes nouns with capitals."""
    german = {
        "ist",
        "der",
        "die",
        "das",
        "und",
        "ich",
        "mein",
        "meine",
        "hat",
        "heisst",
        "im",
        "am",
    }
    return bool(german & set(tokens(text)))


def _numbers(text: str) -> set[str]:
    """Return every number but years and zeros, also those in words; `3pm` is 15, May is 5."""
    digits = {place.lstrip("0") for place in _PLACES.findall(text)}
    for statement in map(taken_apart, sentences(text)):
        for kind, value in statement.values:
            if kind in {"date", "month", "time"}:
                digits |= {place.lstrip("0") for place in re.split("[-:]", value)}
            elif kind == "year":
                # Of a date: people say "10 September" and mean this year's.
                digits.discard(value)
    spelled = {str(NUMBERS[word]) for word in tokens(text) if word in NUMBERS}
    return (digits | spelled) - {"", "0"}


def _relative(basis: list[Statement]) -> bool:
    return any(RELATIVE_DAYS & each.folded for each in basis)
