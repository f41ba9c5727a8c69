"""Searches to measure ours against: words counted, BM25, vectors, and the two fused."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from actors.memory.embedder import MiniLM
from actors.memory.work import batches
from eris.vault.words import fold, tokens
from tests.eval.recall_data import Place

Search = Callable[[str], list[Place]]
"""From a question to places, best first."""

DEPTH = 50
"""Places that a search gives."""

_K1, _B = 1.2, 0.75
_RANK_CONSTANT = 60


@dataclass(frozen=True)
class Piece:
    """A piece of a note."""

    place: Place
    text: str
    """With title, headings, tags and date in front."""


def grep(pieces: Sequence[Piece]) -> Search:
    """Rank by how many words of the question are anywhere in the piece, as part of a word too."""
    folded = [fold(piece.text) for piece in pieces]

    def search(question: str) -> list[Place]:
        words = set(tokens(question))
        return _best(pieces, [sum(word in text for word in words) for text in folded])

    return search


def bm25(pieces: Sequence[Piece]) -> Search:
    """Rank by BM25 over whole words, without stemming."""
    score = _bm25(pieces)
    return lambda question: _best(pieces, score(question))


def dense(pieces: Sequence[Piece], model: MiniLM) -> Search:
    """Rank by the cosine of the embedder's vectors."""
    score = _dense(pieces, model)
    return lambda question: _best(pieces, score(question))


def fused(pieces: Sequence[Piece], model: MiniLM) -> Search:
    """Rank by the sum of the reciprocal ranks of BM25 and vectors."""
    by_words, by_vectors = _bm25(pieces), _dense(pieces, model)

    def search(question: str) -> list[Place]:
        total = np.zeros(len(pieces))
        for scores in (by_words(question), by_vectors(question)):
            order = np.argsort(-np.asarray(scores), kind="stable")[:DEPTH]
            for rank, index in enumerate(order, start=1):
                if scores[index] > 0:
                    total[index] += 1 / (_RANK_CONSTANT + rank)
        return _best(pieces, total)

    return search


def embedded(texts: Sequence[str], model: MiniLM) -> list[bytes]:
    """Return the vectors of many texts, in their order."""
    found: dict[int, bytes] = {}
    for batch in batches(texts):
        found |= dict(zip(batch, model.embed([texts[index] for index in batch]), strict=True))
    return [found[index] for index in range(len(texts))]


def _best(pieces: Sequence[Piece], scores: "Sequence[float] | np.ndarray") -> list[Place]:
    order = np.argsort(-np.asarray(scores, dtype=float), kind="stable")[:DEPTH]
    return [pieces[index].place for index in order if scores[index] > 0]


def _dense(pieces: Sequence[Piece], model: MiniLM) -> "Callable[[str], np.ndarray]":
    packed = b"".join(embedded([piece.text for piece in pieces], model))
    matrix = np.frombuffer(packed, "<f4").reshape(len(pieces), model.dimensions)
    return lambda question: matrix @ np.frombuffer(model.embed([question])[0], "<f4")


def _bm25(pieces: Sequence[Piece]) -> "Callable[[str], np.ndarray]":
    counts = [Counter(tokens(piece.text)) for piece in pieces]
    lengths = np.array([count.total() for count in counts])
    postings: dict[str, list[tuple[int, int]]] = {}
    for index, count in enumerate(counts):
        for word, number in count.items():
            postings.setdefault(word, []).append((index, number))

    def score(question: str) -> np.ndarray:
        total = np.zeros(len(pieces))
        for word in set(tokens(question)):
            having = postings.get(word, [])
            weight = math.log(1 + (len(pieces) - len(having) + 0.5) / (len(having) + 0.5))
            for index, number in having:
                length = 1 - _B + _B * lengths[index] / lengths.mean()
                total[index] += weight * number * (_K1 + 1) / (number + _K1 * length)
        return total

    return score
