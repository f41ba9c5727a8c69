"""A vector index that compares everything with everything, and an embedder made of words.

The index says what a real one has to answer; the embedder is a real one of a simple kind: each
word is a direction chosen by its hash, a text the sum of its words'.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from actors.memory.catalogue import Entry
from actors.memory.ingest import Embedding, Numbered
from actors.memory.points import Point, Scored, Wanted
from actors.memory.recall.finding import cosine, fits
from eris.vault.words import tokens

DIMENSIONS = 64


def word_embedding(name: str = "words-64@1", asked: Callable[[], None] = lambda: None) -> Embedding:
    """An embedder; another name means other vectors."""

    def embed(texts: Sequence[str]) -> list[bytes]:
        asked()
        return [_vector(name, text) for text in texts]

    return Embedding(name, embed)


def _vector(name: str, text: str) -> bytes:
    total = np.zeros(DIMENSIONS)
    for word in tokens(text):
        seed = int.from_bytes(hashlib.blake2b(f"{name} {word}".encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(DIMENSIONS)
    length = float(np.linalg.norm(total)) or 1.0
    return bytes((total / length).astype("<f4").tobytes())


class BruteIndex:
    """Points in a dictionary, which survives whoever uses it."""

    def __init__(
        self, identity: str, points: dict[int, Point], touched: Callable[[], None] = lambda: None
    ) -> None:
        self.identity = identity
        self.points = points
        self._touched = touched

    def put(self, points: Sequence[Point]) -> None:
        self._touched()
        self.points.update((point.id, point) for point in points)
        self._touched()

    def remove(self, ids: Sequence[int]) -> None:
        self._touched()
        for id_ in ids:
            self.points.pop(id_, None)
        self._touched()

    def hybrid(self, vector: bytes, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        dense, words = self.dense(vector, wanted, limit), self.words(text, wanted, limit)
        scores: dict[int, float] = {}
        for found in (dense, words):
            for rank, each in enumerate(found):
                scores[each.id] = scores.get(each.id, 0.0) + 0.5 / (rank + 1)
        return _best(scores, limit)

    def dense(self, vector: bytes, wanted: Wanted, limit: int) -> list[Scored]:
        return _best({p.id: cosine(vector, p.vector or b"") for p in self._fitting(wanted)}, limit)

    def words(self, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        asked = set(tokens(text))
        scores = {p.id: len(asked & set(tokens(p.text))) for p in self._fitting(wanted)}
        return _best({id_: float(score) for id_, score in scores.items() if score}, limit)

    def vectors(self, ids: Iterable[int]) -> dict[int, bytes]:
        return {id_: p.vector for id_ in ids if (p := self.points.get(id_)) and p.vector}

    def count(self) -> int:
        return len(self.points)

    def ids(self) -> Iterator[int]:
        return iter(tuple(self.points))

    def tidy(self) -> None:
        self._touched()

    def close(self) -> None:
        pass

    def _fitting(self, wanted: Wanted) -> list[Point]:
        return [point for point in self.points.values() if _fits(point, wanted)]


@dataclass
class BruteIndexes:
    """The index that serves and the one being built."""

    serving: Numbered | None = None
    building: Numbered | None = None
    touched: Callable[[], None] = field(default=lambda: None)

    def swap(self) -> None:
        self.touched()
        self.serving, self.building = self.building, None
        self.touched()


def _fits(point: Point, wanted: Wanted) -> bool:
    entry = Entry(
        id=point.id, kind=point.kind, key=point.source, path="", title="", date="", day=point.day,
        origin="", folders=point.folders, text="", header="", heading="", first_line=0,
        last_line=0, page=0, tags=point.tags,
    )  # fmt: skip
    return fits(entry, wanted)


def _best(scores: dict[int, float], limit: int) -> list[Scored]:
    order = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
    return [Scored(id=id_, score=score) for id_, score in order]
