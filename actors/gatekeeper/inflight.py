"""Calls that are being carried out: whoever asks for the same one waits for the same outcome."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class InFlight(Generic[T]):
    """Waiting askers by call id. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[T]] = {}
        self._changed = threading.Condition()

    def join(self, call_id: str, asker: T) -> T:
        """Add an asker and return the first one: if it's this, the call has to be started."""
        with self._changed:
            waiting = self._waiting.setdefault(call_id, [])
            waiting.append(asker)
            return waiting[0]

    def leave(self, call_id: str, asker: T) -> None:
        """Remove one asker; without any other the call is forgotten."""
        with self._changed:
            waiting = [other for other in self._waiting.get(call_id, ()) if other is not asker]
            if waiting:
                self._waiting[call_id] = waiting
            else:
                self._waiting.pop(call_id, None)
            self._changed.notify_all()

    def first(self, call_id: str) -> T | None:
        """Return the asker who has waited for longest; None if nobody waits any more."""
        with self._changed:
            waiting = self._waiting.get(call_id)
            return waiting[0] if waiting else None

    def finish(self, call_id: str) -> list[T]:
        """Return everybody who waits, the first asker first, and forget the call."""
        with self._changed:
            waiting = self._waiting.pop(call_id, [])
            self._changed.notify_all()
            return waiting

    def wait_for_none(self, matches: Callable[[T], bool], within: float) -> bool:
        """Wait until no asker matches; false if some still do after ``within`` seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not any(matches(one) for group in self._waiting.values() for one in group),
                timeout=max(0.0, within),
            )
