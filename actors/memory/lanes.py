"""Two queues in front of one worker: somebody who waits overtakes bulk work."""

import threading
from collections import deque
from typing import Generic, TypeVar

from eris.errors import ErisError
from proto.errors import ErrorCode

T = TypeVar("T")

LIMIT = 256
"""Jobs that may wait in each lane."""


class Lanes(Generic[T]):
    """An interactive and a background queue. Its methods may be called from any thread."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._interactive: deque[T] = deque()
        self._background: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, job: T, *, background: bool) -> None:
        """Add a job at the end of its lane.

        Raises:
            ErisError: ``busy``: the lane is full.
        """
        with self._changed:
            lane = self._background if background else self._interactive
            if len(lane) >= self._limit:
                raise ErisError(
                    f"The embedder has {self._limit} requests waiting already.",
                    hint="Try again in a moment.",
                    code=ErrorCode.BUSY,
                    retryable=True,
                )
            lane.append(job)
            self._changed.notify()

    def put_back(self, job: T) -> None:
        """Return a background job that is only partly done to the head of its lane."""
        with self._changed:
            self._background.appendleft(job)
            self._changed.notify()

    def take(self) -> T | None:
        """Wait for the next job, interactive ones first; None after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._interactive or self._background or self._closed)
            if self._closed:
                return None
            return (self._interactive or self._background).popleft()

    def close(self) -> None:
        """Wake the worker and give it nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def waiting(self) -> int:
        """How many jobs wait."""
        with self._changed:
            return len(self._interactive) + len(self._background)
