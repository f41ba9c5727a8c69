"""A request as a behaviour sees it."""

import threading
import time
from typing import TYPE_CHECKING, Any, final

import msgspec

from eris.codec import encode, tag_of
from eris.errors import ErisError
from proto.envelope import Head, Kind
from proto.errors import ErrorBody, ErrorCode
from proto.rights import role_of

if TYPE_CHECKING:
    from eris.actor._outgoing import Outgoing
    from eris.actor._streams import StreamWriter


@final
class Deferred:
    """What `Actor.receive` returns when the answer comes later."""

    __slots__ = ()


DEFERRED = Deferred()


def error_body(error: Exception) -> ErrorBody:
    """Return what the asker is told about an exception; unexpected ones stay unexplained."""
    if isinstance(error, ErisError):
        return error.body()
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message=f"Something went wrong inside Eris ({type(error).__name__}).",
        hint="Look at `eris logs` for details.",
    )


class Request:
    """One request: answered once, by `reply`, `fail` or a stream, from any thread."""

    def __init__(self, head: Head, body: Any, outgoing: "Outgoing") -> None:
        self.head = head
        """The header, checked by the bus."""
        self.body = body
        """The decoded body: one of the types that the actor accepts."""
        self.cancelled = threading.Event()
        """Set as soon as the asker no longer wants the answer."""
        self._outgoing = outgoing
        self._deadline = time.monotonic() + head.budget_ms / 1000
        self._answered = False
        self._stream: StreamWriter | None = None

    @property
    def sender(self) -> str:
        """Name of the asker; the bus has made sure of it."""
        return self.head.src

    @property
    def role(self) -> str:
        """Role of the asker."""
        return role_of(self.head.src)

    @property
    def trace(self) -> str:
        """Trace id to pass on."""
        return self.head.trace

    @property
    def remaining(self) -> float:
        """Seconds left of the time budget; negative when it's used up."""
        return self._deadline - time.monotonic()

    @property
    def answered(self) -> bool:
        """Whether an answer has been sent or a stream opened."""
        return self._answered or self._stream is not None

    def defer(self) -> Deferred:
        """Return this from `Actor.receive` to answer later."""
        return DEFERRED

    def reply(self, body: msgspec.Struct) -> None:
        """Answer. Only the first answer counts."""
        self._answer(Kind.REPLY, body)

    def fail(self, error: Exception) -> None:
        """Answer with an error, or end the stream with it."""
        if self._stream is not None:
            self._stream.fail(error)
        else:
            self._answer(Kind.ERROR, error_body(error))

    def stream(self) -> "StreamWriter":
        """Answer with a stream."""
        from eris.actor._streams import StreamWriter  # noqa: PLC0415 - they refer to each other

        if self._stream is None:
            self._stream = StreamWriter(self.head, self._outgoing, self.cancelled)
            self._outgoing.remember_stream(self._stream)
        return self._stream

    def cancel(self) -> None:
        """Tell whoever works on this request to stop (called by the pump)."""
        self.cancelled.set()
        if self._stream is not None:
            self._stream.wake()

    def _answer(self, kind: Kind, body: msgspec.Struct) -> None:
        if self._answered:
            return
        self._answered = True
        try:
            data, tag = encode(body), tag_of(body)
        except ErisError as error:
            kind, tag = Kind.ERROR, tag_of(ErrorBody)
            data = encode(error.body())
        self._outgoing.forget_request(self.head.src, self.head.id, data, tag, kind)
        self._outgoing.send(
            self.head.src, kind, data, tag=tag, corr=self.head.id, trace=self.head.trace
        )
