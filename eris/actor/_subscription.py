"""The receiving side of a topic, which goes on by itself after a restart or an overrun."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from eris.actor._streams import StreamReader
from eris.errors import ErisError, RemoteError
from proto.control import Done
from proto.errors import ErrorCode

_RETRY_SECONDS = 0.1
_LONGEST_RETRY_SECONDS = 2.0


class Subscription:
    """An endless iterator over a topic's snapshot and events.

    Whenever the stream is lost it subscribes again; the next item is then a fresh snapshot.
    """

    def __init__(self, open_stream: Callable[[], StreamReader[Done]]) -> None:
        self._open = open_stream
        self._reader: StreamReader[Done] | None = None
        self._closed = False
        self._retry_at = 0.0
        self._delay = _RETRY_SECONDS
        self.connected = False
        """Whether the latest attempt has brought a snapshot."""

    def __iter__(self) -> Iterator[Any]:
        while not self._closed:
            item = self.next(1.0)
            if item is not None:
                yield item

    def next(self, timeout: float) -> Any:
        """Return the next item, or None when ``timeout`` seconds have passed without one.

        Raises:
            RemoteError: The topic isn't there or isn't permitted; trying again can't help.
        """
        deadline = time.monotonic() + timeout
        while not self._closed:
            if self._reader is None:
                now = time.monotonic()
                if self._retry_at > now:
                    time.sleep(min(self._retry_at, max(deadline, now)) - now)
                if time.monotonic() >= deadline and self._retry_at > deadline:
                    return None
                self._reader = self._open()
            try:
                item = self._reader.next(max(0.0, deadline - time.monotonic()))
            except RemoteError as error:
                self._lose(error)
                continue
            if item is not None:
                self.connected = True
                self._delay = _RETRY_SECONDS
                return item
            if self._reader.over:
                self._reader = None
            if time.monotonic() >= deadline:
                return None
        return None

    def close(self) -> None:
        """End the subscription."""
        self._closed = True
        if self._reader is not None:
            self._reader.close()

    def _lose(self, error: ErisError) -> None:
        self.connected = False
        self._reader = None
        if not error.retryable and error.code != ErrorCode.STREAM_UNKNOWN:
            raise error
        self._retry_at = time.monotonic() + self._delay
        self._delay = min(self._delay * 2, _LONGEST_RETRY_SECONDS)
