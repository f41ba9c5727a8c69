"""Requests that wait for their answer, and answers kept for questions asked twice."""

import queue
from collections import OrderedDict
from typing import Final

import msgspec

from proto.envelope import Head, Kind

KEPT_ANSWERS: Final = 256
KEPT_BYTES: Final = 4 * 1024 * 1024


class Answer(msgspec.Struct, frozen=True):
    """A reply or an error, still encoded: whoever waits decodes it in their own thread."""

    kind: Kind
    tag: str
    data: bytes
    peer: str


class PendingRequest:
    """A request on its way. The asking thread waits on `arrived`."""

    __slots__ = ("arrived", "dst", "frames")

    def __init__(self, dst: str, frames: tuple[bytes, bytes]) -> None:
        self.dst = dst
        self.frames = frames
        """Head and body, to send again after the bus was restarted."""
        self.arrived: queue.SimpleQueue[Answer] = queue.SimpleQueue()


class AnswerLog:
    """The latest answers given, bounded in number and bytes.

    After the death of the bus a sender repeats the requests that it has no answer to. The one who
    had answered already must not do the work again: it repeats the answer.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, int], Answer] = OrderedDict()
        self._bytes = 0

    def keep(self, asker: str, request_id: int, answer: Answer) -> None:
        """Remember an answer."""
        self._answers[asker, request_id] = answer
        self._bytes += len(answer.data)
        while len(self._answers) > KEPT_ANSWERS or (
            self._bytes > KEPT_BYTES and len(self._answers) > 1
        ):
            _, oldest = self._answers.popitem(last=False)
            self._bytes -= len(oldest.data)

    def get(self, head: Head) -> Answer | None:
        """Return the answer given to this very request, if it's still known."""
        return self._answers.get((head.src, head.id))
