"""What the memory's benchmarks look through: 20,000 chunks with words, vectors and filters.

Words are those of the recall questions' notes, as frequent as words are; the vectors lie in heaps
as those of an embedder do.
"""

import functools
import os
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from actors.memory.points import Point
from eris.vault.words import tokens
from proto.memory import Kind
from tests.eval.recall_data import notes

POINTS = int(os.environ.get("ERIS_BENCH_CHUNKS", "20000"))
DIMENSIONS = 384
IDENTITY = "bench@1"
CHUNKS_OF_A_SOURCE = 5
KINDS = (Kind.NOTE, Kind.NOTE, Kind.NOTE, Kind.DOCUMENT, Kind.SESSION, Kind.MEMORY)

_HEAPS, _WORDS_OF_A_TEXT = 200, 110
_LEAST_LETTERS = 2


def points(numbers: Sequence[int]) -> list[Point]:
    """Return some of the chunks, as an index takes them."""
    return [
        Point(
            id=number + 1,
            text=text(random.Random(number), _WORDS_OF_A_TEXT),
            vector=vector,
            kind=KINDS[number // CHUNKS_OF_A_SOURCE % len(KINDS)],
            source=f"note:{number // CHUNKS_OF_A_SOURCE}.md",
            folders=(f"folder {number // CHUNKS_OF_A_SOURCE % 40}",),
            tags=(f"tag{number % 30}",),
            day=19_000 + number // CHUNKS_OF_A_SOURCE % 1500,
        )
        for number, vector in zip(numbers, vectors(numbers), strict=True)
    ]


def questions(number: int, seed: int = 5) -> list[tuple[bytes, str]]:
    """Return vectors near some chunk, and eight words."""
    rng = random.Random(seed)
    near = vectors([rng.randrange(POINTS) for _ in range(number)])
    noise = np.random.default_rng(seed).normal(scale=0.02, size=(number, DIMENSIONS))
    return [
        (_unit(np.frombuffer(vector, "<f4") + moved), text(rng, 8))
        for vector, moved in zip(near, noise, strict=True)
    ]


def text(rng: random.Random, words: int) -> str:
    """Return words by Zipf's law."""
    known = vocabulary()
    return " ".join(known[int(len(known) ** rng.random()) - 1] for _ in range(words))


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Return the words of the notes, the most frequent first."""
    counted = Counter(word for _, note in notes() for word in tokens(note))
    words = [word for word, _ in counted.most_common() if len(word) >= _LEAST_LETTERS]
    return tuple(words)


def vectors(numbers: Sequence[int]) -> list[bytes]:
    """Return the vectors of some chunks."""
    centres = _centres()
    return [
        _unit(
            centres[number * 7919 % _HEAPS] + np.random.default_rng(number).normal(size=DIMENSIONS)
        )
        for number in numbers
    ]


@functools.cache
def _centres() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(_HEAPS, DIMENSIONS))


def _unit(vector: np.ndarray) -> bytes:
    return bytes((vector / np.linalg.norm(vector)).astype("<f4").tobytes())
