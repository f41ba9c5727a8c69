"""A source of events that surfaces subscribe to: a snapshot first, then what changes."""

import threading
from collections.abc import Callable

import msgspec

from eris.actor._streams import StreamWriter


class Topic:
    """Events of one subject, sent in order to every subscriber.

    Hold `lock` while changing what the snapshot reads and publishing the change, so that a new
    subscriber sees the change either in its snapshot or as an event, never in both or neither.
    """

    def __init__(self, name: str, snapshot: Callable[[], msgspec.Struct]) -> None:
        self.name = name
        """What subscribers ask for, such as ``session:main``."""
        self.lock = threading.RLock()
        self._snapshot = snapshot
        self._subscribers: list[StreamWriter] = []

    def publish(self, event: msgspec.Struct) -> None:
        """Send an event to everybody; never waits.

        A subscriber too far behind loses its subscription and asks for a new snapshot.
        """
        with self.lock:
            self._subscribers = [writer for writer in self._subscribers if writer.offer(event)]

    def subscribe(self, writer: StreamWriter) -> None:
        """Add a subscriber: its first event is the snapshot."""
        with self.lock:
            if writer.offer(self._snapshot()):
                self._subscribers.append(writer)

    @property
    def subscribers(self) -> int:
        """How many are attached."""
        return len(self._subscribers)
