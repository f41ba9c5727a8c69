"""Stopping a running turn from another thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eris.actor import StreamReader
from eris.errors import CancelledWorkError


class Cancellation:
    """Reaches a turn wherever it waits: at the model's stream, at a request, between two steps.

    There are two reasons to stop. A *cancelled* turn is over; one that is *suspended*, because
    the process ends, goes on after the next start.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        """Set for either reason; to be handed to whatever waits."""
        self.suspended = False
        """Stopped to go on later."""
        self._lock = threading.Lock()
        self._reader: StreamReader[Any] | None = None

    def cancel(self) -> None:
        """End the turn."""
        self._stop()

    def suspend(self) -> None:
        """Leave the turn as it is."""
        self.suspended = True
        self._stop()

    def check(self) -> None:
        """Raise if the turn has to stop.

        Raises:
            CancelledWorkError: It has.
        """
        if self.event.is_set():
            raise CancelledWorkError("The turn was stopped.")

    @contextmanager
    def watching(self, reader: StreamReader[Any]) -> Iterator[None]:
        """While this is open, stopping the turn stops the sender of a stream at once."""
        with self._lock:
            self._reader = reader
            if self.event.is_set():
                reader.cancel("the turn was stopped")
        try:
            yield
        finally:
            with self._lock:
                self._reader = None
            reader.close()

    def _stop(self) -> None:
        self.event.set()
        with self._lock:
            if self._reader is not None:
                self._reader.cancel("the turn was stopped")
