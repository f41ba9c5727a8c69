"""What a behaviour holds in its hands: everything it can do to the world outside its mailbox."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import msgspec

from eris.actor._connection import Connection
from eris.actor._streams import StreamReader
from eris.actor._subscription import Subscription
from eris.actor._topic import Topic
from eris.codec import decode_body
from eris.config import Settings
from eris.errors import CancelledWorkError, ErisError, RemoteError
from eris.logs import Logger
from eris.paths import Paths
from proto.control import Cancel, Done, Subscribe
from proto.envelope import Kind
from proto.errors import ErrorBody, ErrorCode

R = TypeVar("R", bound=msgspec.Struct)
T = TypeVar("T")
P = ParamSpec("P")

WORKERS = 8
"""Threads for slow work in one process."""

WORK_LIMIT = 64
"""Pieces of slow work that may wait for a thread."""

RETRYABLE_ON_THE_WAY = frozenset(
    {
        ErrorCode.UNREACHABLE,
        ErrorCode.PEER_RESTARTED,
        ErrorCode.DRAINING,
        ErrorCode.LOADING,
        ErrorCode.BUSY,
        ErrorCode.OVERRUN,
    }
)
"""Errors after which ``ask(retry=True)`` tries again."""

_FIRST_DELAY = 0.02
_LONGEST_DELAY = 0.5
_CANCEL_POLL_SECONDS = 0.1


class Port:
    """A process's way to the others. Every method may be called from any thread."""

    def __init__(self, connection: Connection, paths: Paths, settings: Settings) -> None:
        self.paths = paths
        """Where this vault's files are."""
        self.settings = settings
        """The configuration, as it was when the process started."""
        self.connection = connection
        """The runtime's own; behaviours use the methods below."""
        self.begun: Future[None] = Future()
        """Done when the behaviour has started, or failed to."""
        self._workers: ThreadPoolExecutor | None = None
        self._work_slots = threading.BoundedSemaphore(WORKERS + WORK_LIMIT)
        self._workers_lock = threading.Lock()

    @property
    def name(self) -> str:
        """This process's name on the bus."""
        return self.connection.name

    @property
    def incarnation(self) -> int:
        """This process's incarnation."""
        return self.connection.incarnation

    @property
    def log(self) -> Logger:
        """This process's logger."""
        return self.connection.log

    @property
    def draining(self) -> bool:
        """Whether the process has been asked to stop: a long start can be given up."""
        return self.connection.draining

    @property
    def welcomed(self) -> threading.Event:
        """Set while the bus knows this process."""
        return self.connection.welcomed

    def ask(
        self,
        dst: str,
        body: msgspec.Struct,
        expect: type[R],
        *,
        within: float = 30.0,
        trace: str = "",
        retry: bool = False,
        cancelled: threading.Event | None = None,
    ) -> R:
        """Send a request and wait for its reply. Never call it from `Actor.receive`.

        Args:
            dst: Name of the receiver.
            body: The request.
            expect: Type of the reply.
            within: Seconds to wait at most, repetitions included.
            trace: Trace id to pass on.
            retry: Repeat after `RETRYABLE_ON_THE_WAY`; only for requests that can be repeated.
            cancelled: Stops the waiting when set, and asks the receiver to stop.

        Raises:
            RemoteError: The receiver, or the bus, answered with an error; ``expired`` if no
                answer came in time.
            CancelledWorkError: ``cancelled`` was set.
        """
        deadline = time.monotonic() + within
        delay = _FIRST_DELAY
        while True:
            try:
                return self._ask_once(dst, body, expect, deadline, trace, cancelled)
            except RemoteError as error:
                again = retry and error.code in RETRYABLE_ON_THE_WAY
                if not again or time.monotonic() + delay >= deadline:
                    raise
            if cancelled is None:
                time.sleep(delay)
            elif cancelled.wait(delay):
                raise CancelledWorkError(f"The request to {dst} was cancelled.")
            delay = min(delay * 2, _LONGEST_DELAY)

    def _ask_once(
        self,
        dst: str,
        body: msgspec.Struct,
        expect: type[R],
        deadline: float,
        trace: str,
        cancelled: threading.Event | None,
    ) -> R:
        budget_ms = max(1, int((deadline - time.monotonic()) * 1000))
        request_id, pending = self.connection.request(dst, body, budget_ms, trace)
        while True:
            remaining = deadline - time.monotonic()
            wait = remaining if cancelled is None else min(remaining, _CANCEL_POLL_SECONDS)
            try:
                answer = pending.arrived.get(timeout=max(0.0, wait))
                break
            except queue.Empty:
                stop = cancelled is not None and cancelled.is_set()
                if not stop and time.monotonic() < deadline:
                    continue
                self.connection.abandon(request_id)
                self.connection.send(dst, Kind.CANCEL, Cancel(), corr=request_id, trace=trace)
                if stop:
                    raise CancelledWorkError(f"The request to {dst} was cancelled.") from None
                raise RemoteError(_expired(dst), dst) from None
        if answer.kind is Kind.ERROR:
            raise RemoteError(decode_body(answer.data, ErrorBody), answer.peer)
        reply: R = decode_body(answer.data, expect, answer.tag)
        return reply

    def open(
        self,
        dst: str,
        body: msgspec.Struct,
        *,
        item: Any,
        result: type[R],
        within: float = 600.0,
        trace: str = "",
    ) -> StreamReader[R]:
        """Send a request that is answered by a stream, and return its reading end.

        Args:
            dst: Name of the receiver.
            body: The request.
            item: Type, or union of types, of the stream's items.
            result: Type of the stream's result.
            within: Time budget in seconds that the receiver is told.
            trace: Trace id to pass on.
        """
        return self.connection.open(
            dst, body, item=item, result=result, budget_ms=int(within * 1000), trace=trace
        )

    def subscribe(self, dst: str, topic: str, *, item: Any) -> Subscription:
        """Follow a topic of another process; it goes on by itself across restarts."""
        return Subscription(lambda: self.open(dst, Subscribe(topic=topic), item=item, result=Done))

    def topic(self, name: str, *, snapshot: Callable[[], msgspec.Struct]) -> Topic:
        """Return the topic of that name, made on first use; others can subscribe to it."""
        return self.connection.topic(name, snapshot)

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Run slow work on a worker thread.

        Raises:
            ErisError: ``busy``: too much is waiting already.
        """
        if not self._work_slots.acquire(blocking=False):
            raise ErisError(
                f"{self.name} has {WORK_LIMIT} pieces of work waiting already.",
                hint="Try again in a moment.",
                code=ErrorCode.BUSY,
                retryable=True,
            )
        with self._workers_lock:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix=self.name)
        future = self._workers.submit(function, *args, **kwargs)
        future.add_done_callback(self._work_done)
        return future

    @contextmanager
    def busy(self, phase: str) -> Iterator[None]:
        """While this is open, pings are answered for a behaviour that can't answer itself."""
        entry = self.connection.push_phase(phase)
        try:
            yield
        finally:
            self.connection.pop_phase(entry)

    def remark(self, note: str) -> None:
        """Let ``eris status`` say what this process has to do without; empty when all is well."""
        self.connection.note = note

    def close(self) -> None:
        """Let the worker threads end; work that hasn't begun is dropped."""
        if self._workers is not None:
            self._workers.shutdown(wait=False, cancel_futures=True)

    def _work_done(self, future: "Future[Any]") -> None:
        self._work_slots.release()
        if not future.cancelled() and (error := future.exception()) is not None:
            self.log.error("work-failed", exc_info=error)


def _expired(dst: str) -> ErrorBody:
    return ErrorBody(
        code=ErrorCode.EXPIRED,
        message=f"{dst} didn't answer in time.",
        hint="See `eris status`.",
        retryable=True,
    )
