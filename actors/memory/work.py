"""Embedding as work: what is asked, in small batches, with the recent answers remembered."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from actors.memory.embedder import LONGEST_TEXT, Embedder
from actors.memory.lanes import Lanes
from eris.errors import CancelledWorkError

BATCH_CHARACTERS = 2000
"""Texts of one batch, padded to its longest, have at most so many characters (or it's one text).
Memory grows with the square of the length: eight texts of 400 words at once take 350 MB."""

BATCH_TEXTS = 16

REMEMBERED = 2048
"""Recent texts whose vectors are kept: about 3 MB."""


def batches(texts: Sequence[str]) -> list[list[int]]:
    """Split texts into batches of like length, shortest first; each is a list of indices."""
    order = sorted(range(len(texts)), key=lambda index: (len(texts[index]), index))
    found: list[list[int]] = []
    for index in order:
        length = max(1, min(len(texts[index]), LONGEST_TEXT))
        batch = found[-1] if found else []
        fits = len(batch) < BATCH_TEXTS and (len(batch) + 1) * length <= BATCH_CHARACTERS
        if batch and fits:
            batch.append(index)
        else:
            found.append([index])
    return found


class Recent:
    """Vectors of the texts used last."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._vectors: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> bytes | None:
        """Return the vector of a text if it's known."""
        with self._lock:
            if text in self._vectors:
                self._vectors.move_to_end(text)
            return self._vectors.get(text)

    def put(self, text: str, vector: bytes) -> None:
        """Remember a vector, and forget the one not used for longest."""
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._limit:
                self._vectors.popitem(last=False)


@dataclass(eq=False)
class Job:
    """One request."""

    texts: Sequence[str]
    background: bool
    finish: Callable[[Sequence[bytes]], None]
    """Called with a vector for each text."""
    fail: Callable[[Exception], None]
    wanted: Callable[[], bool] = lambda: True
    """Whether somebody still waits for it."""
    vectors: list[bytes | None] = field(default_factory=list)
    todo: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vectors = [None] * len(self.texts)


class Worker:
    """Takes jobs one batch at a time, so that bulk work can be overtaken between batches."""

    def __init__(self, embedder: Embedder, lanes: Lanes[Job], recent: Recent) -> None:
        self._embedder = embedder
        self._lanes = lanes
        self._recent = recent

    def step(self) -> bool:
        """Wait for a job and do one batch of it; false when the lanes are closed."""
        job = self._lanes.take()
        if job is None:
            return False
        try:
            self._advance(job)
        except Exception as error:  # noqa: BLE001 - told to whoever asked; the next job goes on
            job.fail(error)
        return True

    def _advance(self, job: Job) -> None:
        if not job.wanted():
            raise CancelledWorkError("Nobody waits for these vectors any more.")
        if not job.todo:
            job.vectors = [self._recent.get(text) for text in job.texts]
            unknown = [index for index, vector in enumerate(job.vectors) if vector is None]
            plan = batches([job.texts[index] for index in unknown])
            job.todo = [[unknown[position] for position in batch] for batch in plan]
        while job.todo:
            batch = job.todo.pop(0)
            vectors = self._embedder.embed([job.texts[index] for index in batch])
            for index, vector in zip(batch, vectors, strict=True):
                job.vectors[index] = vector
                self._recent.put(job.texts[index], vector)
            if job.background and job.todo:
                self._lanes.put_back(job)
                return
        job.finish([vector for vector in job.vectors if vector is not None])
