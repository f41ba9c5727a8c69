"""Texts as sparse vectors, whose product is BM25 once the index multiplies by rarity.

A text has one value for each word in it; the index knows how rare each word is (Qdrant's modifier
``idf``). The other half of BM25, how often a word is there in a text of some length, is put in
here: Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), section 3.4, with an
average length that is fixed, for a chunk's weights mustn't depend on what comes after it.
"""

import hashlib
import itertools
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from eris.vault.words import tokens

SATURATION = 1.2
"""``k1``: how soon more of the same word counts no more."""

LENGTH = 0.75
"""``b``: how much a text that is long has to have a word more often."""

AVERAGE_TERMS = 120.0
"""Of a chunk of ordinary length, its header counted in: 80 words, and half of them have a stem."""

STEM = 5
"""Letters of a word's stem. Cutting words off there is about as good as stemmers are that know
the language (McNamee, Nicholas and Mayfield 2009, of 18 languages), and needs to know none. Words
count by themselves too, so that the exact one comes first."""

_REMEMBERED = 50_000
_SCRIPTS_WITHOUT_SPACES = 0x0E00


@dataclass(frozen=True)
class Sparse:
    """A sparse vector."""

    indices: list[int]
    """Numbers of words, each once."""
    values: list[float]


def of_text(text: str) -> Sparse:
    """Return a chunk's vector."""
    found = Counter(_terms(text))
    length = sum(found.values())
    weights: dict[int, float] = {}
    damping = SATURATION * (1 - LENGTH + LENGTH * length / AVERAGE_TERMS)
    for term, times in found.items():
        # Two words of one number are one word: rare, and better than an error.
        number = _number(term)
        weight = times * (SATURATION + 1) / (times + damping)
        weights[number] = weights.get(number, 0.0) + weight
    return Sparse(list(weights), list(weights.values()))


def of_question(text: str) -> Sparse:
    """Return a question's vector: each word counts once."""
    numbers = list(dict.fromkeys(map(_number, _terms(text))))
    return Sparse(numbers, [1.0] * len(numbers))


def _terms(text: str) -> list[str]:
    """Words and their stems; where nothing parts words, pairs of neighbouring characters too."""
    words = tokens(text)
    pairs = [
        first + second
        for first, second in itertools.pairwise(words)
        if _alone(first) and _alone(second)
    ]
    stems = [f"{word[:STEM]}*" for word in words if len(word) >= STEM and word.isalpha()]
    return [*words, *pairs, *stems]


def _alone(word: str) -> bool:
    return len(word) == 1 and ord(word) >= _SCRIPTS_WITHOUT_SPACES


@lru_cache(_REMEMBERED)
def _number(term: str) -> int:
    """The same on every machine, for an index may be moved."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "little")
