"""Streams: numbered items, credit, resumption.

The sender keeps every item until the receiver acknowledges it, and is at most `STREAM_WINDOW`
items ahead. Whatever is lost on the way, by the death of the bus above all, is asked for again by
number. A receiver that can't be reached *parks* the stream; only one that stays away ends it.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from eris.actor._request import error_body
from eris.codec import decode_body, encode, tag_of
from eris.errors import CancelledWorkError, RemoteError
from proto.control import Cancel, Credit, Resume
from proto.envelope import STREAM_WINDOW, Head, Kind
from proto.errors import ErrorBody, ErrorCode

if TYPE_CHECKING:
    from eris.actor._outgoing import Outgoing

R = TypeVar("R", bound=msgspec.Struct)

ACKNOWLEDGE_EVERY = STREAM_WINDOW // 4
"""Items after which the receiver acknowledges."""

PARK_SECONDS = 10.0
"""How long a receiver may be out of reach before its stream is given up."""

STALL_SECONDS = 120.0
"""How long a sender waits for credit from a receiver that is there and takes nothing."""

BACKLOG = 1024
"""Events that may wait for one subscriber before it has to ask for a new snapshot."""

PROBE_SECONDS = 2.0
"""Silence after which a receiver asks whether it missed something."""


class _Entry(msgspec.Struct, frozen=True):
    seq: int
    kind: Kind
    tag: str
    data: bytes


class StreamWriter:
    """The sending side. `put`, `offer`, `end` and `fail` may be called from any thread."""

    def __init__(self, head: Head, outgoing: "Outgoing", cancelled: threading.Event) -> None:
        self.cancelled = cancelled
        """Set when the receiver cancelled, or has been out of reach for too long."""
        self._peer = head.src
        self._incarnation = head.incarnation
        self._request = head.id
        self._trace = head.trace
        self._outgoing = outgoing
        self._changed = threading.Condition()
        self._unacknowledged: deque[_Entry] = deque()
        self._next = 0
        self._sent = 0
        self._acknowledged = 0
        self._ended_at = 0.0
        self._parked_at = 0.0

    @property
    def key(self) -> tuple[str, int]:
        """Receiver's name and the id of its request."""
        return self._peer, self._request

    @property
    def incarnation(self) -> int:
        """Incarnation of the receiver that opened the stream."""
        return self._incarnation

    @property
    def open(self) -> bool:
        """Whether more can be put."""
        return not self._ended_at

    def put(self, item: msgspec.Struct) -> None:
        """Send an item; waits while the receiver is a whole window behind.

        Raises:
            CancelledWorkError: The receiver cancelled, or is gone for good.
        """
        with self._changed:
            waited_since = time.monotonic()
            while self._next - self._acknowledged >= STREAM_WINDOW and not self.cancelled.is_set():
                self._changed.wait(1.0)
                if time.monotonic() - waited_since > STALL_SECONDS:
                    self.cancelled.set()
            if self.cancelled.is_set():
                raise CancelledWorkError(f"{self._peer} no longer wants this stream.")
            self._append(Kind.ITEM, item)

    def offer(self, event: msgspec.Struct) -> bool:
        """Send an event without ever waiting; False if the receiver is too far behind."""
        with self._changed:
            if self._ended_at or self.cancelled.is_set():
                return False
            if self._next - self._acknowledged >= BACKLOG:
                self._unacknowledged.clear()
                self._finish(
                    Kind.ERROR,
                    ErrorBody(
                        code=ErrorCode.OVERRUN,
                        message=f"{self._peer} fell {BACKLOG} events behind.",
                        hint="Subscribe again for a new snapshot.",
                        retryable=True,
                    ),
                )
                return False
            self._append(Kind.EVENT, event)
            return True

    def end(self, result: msgspec.Struct) -> None:
        """End the stream with its result."""
        with self._changed:
            if not self._ended_at:
                self._finish(Kind.END, result)

    def fail(self, error: Exception) -> None:
        """End the stream with an error."""
        with self._changed:
            if not self._ended_at:
                self._finish(Kind.ERROR, error_body(error))

    # What follows is called by the pump.

    def wake(self) -> None:
        """Let a waiting `put` see that the stream was cancelled."""
        with self._changed:
            self._changed.notify_all()

    def acknowledge(self, upto: int) -> None:
        """The receiver has taken everything below ``upto``."""
        with self._changed:
            self._parked_at = 0.0
            if upto > self._acknowledged:
                self._acknowledged = min(upto, self._next)
                while self._unacknowledged and self._unacknowledged[0].seq < upto:
                    self._unacknowledged.popleft()
                self._send_up_to_window()
                self._changed.notify_all()
            if self._ended_at and not self._unacknowledged:
                self._outgoing.forget_stream(self._peer, self._request)

    def resume(self, start: int) -> None:
        """Send again everything from ``start`` on that had been sent before."""
        with self._changed:
            self._parked_at = 0.0
            for entry in self._unacknowledged:
                if start <= entry.seq < self._sent:
                    self._send(entry)

    def park(self, now: float) -> None:
        """The receiver couldn't be reached."""
        with self._changed:
            self._parked_at = self._parked_at or now

    def give_up(self) -> None:
        """The receiver is gone for good."""
        self.cancelled.set()
        with self._changed:
            self._unacknowledged.clear()
            self._ended_at = self._ended_at or time.monotonic()
            self._changed.notify_all()
        self._outgoing.forget_stream(self._peer, self._request)

    def tick(self, now: float) -> None:
        """Give up on a receiver that has been away, or hasn't acknowledged the end, for long."""
        parked = self._parked_at and now - self._parked_at > PARK_SECONDS
        forgotten = self._ended_at and now - self._ended_at > STALL_SECONDS
        if parked or forgotten:
            self.give_up()

    def _append(self, kind: Kind, body: msgspec.Struct) -> None:
        self._unacknowledged.append(_Entry(self._next, kind, tag_of(body), encode(body)))
        self._next += 1
        self._send_up_to_window()

    def _finish(self, kind: Kind, body: msgspec.Struct) -> None:
        self._append(kind, body)
        self._ended_at = time.monotonic()
        self._changed.notify_all()

    def _send_up_to_window(self) -> None:
        # The end always goes out: the receiver must not wait for it behind a full window.
        limit = self._acknowledged + STREAM_WINDOW
        for entry in self._unacknowledged:
            if entry.seq >= self._sent and (entry.seq < limit or entry.kind is Kind.ERROR):
                self._send(entry)
                self._sent = entry.seq + 1

    def _send(self, entry: _Entry) -> None:
        self._outgoing.send(
            self._peer,
            entry.kind,
            entry.data,
            tag=entry.tag,
            corr=self._request,
            seq=entry.seq,
            trace=self._trace,
        )


class StreamReader(Generic[R]):
    """The receiving side: iterate over the items, then read `result`."""

    def __init__(
        self, dst: str, request_id: int, outgoing: "Outgoing", item: Any, result: type[R] | None
    ) -> None:  # item is a type expression
        self._dst = dst
        self._request = request_id
        self._outgoing = outgoing
        self._item = item
        self._result_type = result
        self._arrived: queue.SimpleQueue[_Entry] = queue.SimpleQueue()
        self._expected = 0
        self._taken = 0
        self._acknowledged = 0
        self._last_sign = time.monotonic()
        self._unreachable_since = 0.0
        self._result: R | None = None
        self._cancel: Cancel | None = None
        self._over = False

    @property
    def dst(self) -> str:
        """Name of the sender of this stream."""
        return self._dst

    @property
    def request_id(self) -> int:
        """Id of the request that opened the stream."""
        return self._request

    @property
    def result(self) -> R:
        """The stream's result, once it has been iterated to its end.

        Raises:
            RuntimeError: The stream isn't over.
        """
        if self._result is None:
            raise RuntimeError("the stream has no result yet: iterate to its end first")
        return self._result

    def __iter__(self) -> Iterator[Any]:
        while not self._over:
            item = self.next(None)
            if item is not None:
                yield item

    def next(self, timeout: float | None) -> Any:
        """Return the next item, or None at the end or when ``timeout`` seconds have passed.

        Raises:
            RemoteError: The stream ended with an error or was lost.
        """
        if self._over:
            return None
        try:
            entry = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None
        self._taken += 1
        last = entry.kind in {Kind.END, Kind.ERROR}
        if last or self._taken - self._acknowledged >= ACKNOWLEDGE_EVERY:
            self._acknowledge()
        if not last:
            return decode_body(entry.data, self._item, entry.tag)
        self._over = True
        self._outgoing.forget_stream(self._dst, self._request)
        if entry.kind is Kind.ERROR:
            raise RemoteError(decode_body(entry.data, ErrorBody), self._dst)
        self._result = decode_body(entry.data, self._result_type, entry.tag)
        return None

    @property
    def over(self) -> bool:
        """Whether the end has been read."""
        return self._over

    def cancel(self, reason: str = "") -> None:
        """Ask the sender to stop; what was on its way still arrives, then the end."""
        self._cancel = Cancel(reason=reason)
        self._outgoing.send(self._dst, Kind.CANCEL, self._cancel, corr=self._request)

    def close(self) -> None:
        """Stop reading: cancels, and forgets the stream without waiting for its end."""
        if not self._over:
            self._over = True
            self.cancel("closed")
            self._outgoing.forget_stream(self._dst, self._request)

    # What follows is called by the pump.

    @property
    def untouched(self) -> bool:
        """Whether nothing has arrived yet."""
        return self._expected == 0

    def arrive(self, head: Head, data: bytes) -> None:
        """Take an item if it's the next one; ask again for a missing one, drop a repeated one."""
        self._last_sign = time.monotonic()
        self._unreachable_since = 0.0
        failed = head.kind == Kind.ERROR and head.seq >= self._expected
        if head.seq == self._expected or failed:
            # A failure ends the stream at once: what may be missing before it no longer matters.
            self._expected = head.seq + 1
            self._arrived.put(_Entry(head.seq, Kind(head.kind), head.type, data))
        elif head.seq > self._expected:
            self.resume()
        elif self._taken > self._acknowledged:
            self._acknowledge()

    def resume(self) -> None:
        """Ask for everything from the next expected item on.

        Credit or a cancel may have been lost as well, and a sender that has had neither would wait
        for ever: both are said again.
        """
        if self._taken:
            self._acknowledge()
        if self._cancel is not None:
            self._outgoing.send(self._dst, Kind.CANCEL, self._cancel, corr=self._request)
        self._outgoing.send(
            self._dst, Kind.CONTROL, Resume(start=self._expected), corr=self._request
        )

    def lose(self, error: ErrorBody) -> None:
        """The stream can't go on."""
        self._arrived.put(_Entry(self._expected, Kind.ERROR, tag_of(error), encode(error)))

    def unreachable(self, now: float) -> None:
        """The sender couldn't be reached; it may be restarting."""
        self._unreachable_since = self._unreachable_since or now

    def tick(self, now: float) -> None:
        """Probe a silent sender; give up on one that has been out of reach for long."""
        if self._unreachable_since and now - self._unreachable_since > PARK_SECONDS:
            self.lose(
                ErrorBody(
                    code=ErrorCode.UNREACHABLE,
                    message=f"{self._dst} has been out of reach for {PARK_SECONDS:.0f} seconds.",
                    hint="See `eris status`.",
                    retryable=True,
                )
            )
        elif now - self._last_sign > PROBE_SECONDS:
            self._last_sign = now
            self.resume()

    def _acknowledge(self) -> None:
        self._acknowledged = self._taken
        self._outgoing.send(self._dst, Kind.CONTROL, Credit(upto=self._taken), corr=self._request)
