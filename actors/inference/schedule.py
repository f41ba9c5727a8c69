"""Whose turn it is: interactive work before background work, first come first served within each.

A running background job is asked to give way when interactive work arrives; put back, it goes on
before the other background jobs when no interactive work is left.
"""

import threading
from collections import deque
from typing import Final, Generic, Protocol, TypeVar

from proto.inference import Priority

LIMIT: Final = 32
"""Jobs that may wait."""


class Job(Protocol):
    """What is scheduled."""

    @property
    def priority(self) -> Priority:
        """Who goes first."""

    @property
    def yielding(self) -> threading.Event:
        """Set while the running job is asked to give way."""


J = TypeVar("J", bound=Job)


class Schedule(Generic[J]):
    """The queue in front of one worker. Every method may be called from any thread."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._changed = threading.Condition()
        self._interactive: deque[J] = deque()
        self._background: deque[J] = deque()
        self._running: J | None = None
        self._closed = False

    def put(self, job: J) -> bool:
        """Add a job; False if too many wait already or the schedule is closed."""
        with self._changed:
            if self._closed or len(self._interactive) + len(self._background) >= self._limit:
                return False
            self._queue(job).append(job)
            if self._running is not None and _goes_before(job, self._running):
                self._running.yielding.set()
            self._changed.notify()
            return True

    def take(self, within: float | None = None) -> J | None:
        """Return the next job, which is then the running one; None after ``within`` seconds.

        None also if the schedule is closed, at once.
        """
        with self._changed:
            self._running = None
            self._changed.wait_for(lambda: self._closed or self._next(), within)
            queue = None if self._closed else self._next()
            if not queue:
                return None
            self._running = job = queue.popleft()
            job.yielding.clear()
            return job

    def put_back(self, job: J) -> None:
        """Return the running job, which gave way, to the front of its queue."""
        with self._changed:
            self._queue(job).appendleft(job)

    def close(self) -> list[J]:
        """Take nothing any more, ask the running job to give way, and return what waited."""
        with self._changed:
            self._closed = True
            waiting = [*self._interactive, *self._background]
            self._interactive.clear()
            self._background.clear()
            if self._running is not None:
                self._running.yielding.set()
            self._changed.notify_all()
            return waiting

    @property
    def full(self) -> bool:
        """Whether `put` would refuse a job."""
        with self._changed:
            return len(self._interactive) + len(self._background) >= self._limit

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _queue(self, job: J) -> deque[J]:
        interactive = job.priority is Priority.INTERACTIVE
        return self._interactive if interactive else self._background

    def _next(self) -> deque[J]:
        return self._interactive or self._background


def _goes_before(job: Job, other: Job) -> bool:
    return job.priority is Priority.INTERACTIVE and other.priority is Priority.BACKGROUND
