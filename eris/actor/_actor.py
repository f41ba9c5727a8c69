"""The base of every behaviour."""

import queue
from collections.abc import Callable
from typing import Any, ClassVar, final

import msgspec
import pykka

from eris.actor._port import Port
from eris.actor._request import Deferred, Request
from eris.errors import ErisError
from proto.control import Ping
from proto.errors import ErrorCode


class PeerCame(msgspec.Struct, frozen=True):
    """Put into the mailbox by the pump: a new incarnation of an actor is there."""

    name: str
    incarnation: int


class Draining(msgspec.Struct, frozen=True):
    """Put into the mailbox once, when the process is asked to stop."""


class Actor(pykka.ThreadingActor):
    """One behaviour: handles one message at a time, in one thread.

    Subclasses set `ACCEPTS` and write `receive`. Slow work goes to `Port.submit`: a handler that
    waits makes the whole mailbox wait.
    """

    ACCEPTS: ClassVar[Any] = None
    """Union of the request bodies that this actor takes; anything else is refused unread."""

    use_daemon_thread = True

    @staticmethod
    def _create_actor_inbox() -> Any:
        """Pykka's own mailbox is a `queue.Queue`, which takes three times as long to wake us."""
        return queue.SimpleQueue()

    def __init__(self, port: Port) -> None:
        super().__init__()
        self.port = port
        self._connection = port.connection

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Handle a request: return the reply, or `Request.defer` to answer later.

        An `ErisError` raised here is the answer; any other exception is logged and answered as
        ``internal``.
        """
        raise NotImplementedError

    def started(self) -> None:
        """Called in the actor's thread before the first message.

        An exception ends the process: with status 78 for a `ConfigurationError`.
        """

    def peer_up(self, name: str, incarnation: int) -> None:
        """Called when an actor is reachable for the first time, and after each of its restarts."""

    def drain(self) -> None:
        """Called when the process is asked to stop; new requests are refused by then."""

    @final
    def on_start(self) -> None:
        """Run `started` and tell the main thread how it went: Pykka would only log a failure."""
        try:
            self.started()
        except BaseException as error:
            self.port.begun.set_exception(error)
            raise
        self.port.begun.set_result(None)

    @final
    def on_receive(self, message: Any) -> None:
        """Dispatch one message of the mailbox."""
        match message:
            case Request():
                self._handle(message)
            case PeerCame(name=name, incarnation=incarnation):
                self._safely(lambda: self.peer_up(name, incarnation), "peer-up-failed")
            case Draining():
                self._safely(self.drain, "drain-failed")
            case _:
                self.port.log.error("unexpected-mail", mail=repr(message))

    def _handle(self, request: Request) -> None:
        if isinstance(request.body, Ping):
            request.reply(self._connection.pong())
            return
        if request.remaining <= 0:
            self._connection.dropped["expired"] += 1
            request.fail(
                ErisError(
                    f"{self.port.name} came to this request too late.",
                    code=ErrorCode.EXPIRED,
                    retryable=True,
                )
            )
            return
        if request.cancelled.is_set():
            request.fail(ErisError("Cancelled before it began.", code=ErrorCode.CANCELLED))
            return
        self._connection.handled += 1
        try:
            answer = self.receive(request)
        except ErisError as error:
            request.fail(error)
        except Exception as error:
            # A defect must not end the actor with everything that waits; it's counted, logged
            # with its traceback, and told to whoever asked.
            self._connection.failed += 1
            self.port.log.exception("request-failed", type=request.head.type)
            request.fail(error)
        else:
            if not isinstance(answer, Deferred):
                request.reply(answer)

    def _safely(self, call: Callable[[], None], event: str) -> None:
        try:
            call()
        except Exception:
            self._connection.failed += 1
            self.port.log.exception(event)
