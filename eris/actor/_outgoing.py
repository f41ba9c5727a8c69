"""What the rest of the runtime needs from the pump: a way to send, and to be forgotten."""

from typing import TYPE_CHECKING, Protocol

import msgspec

from proto.envelope import DEFAULT_BUDGET_MS, Kind

if TYPE_CHECKING:
    from eris.actor._streams import StreamWriter


class Outgoing(Protocol):
    """Hands messages to the pump thread. Every method may be called from any thread."""

    def send(
        self,
        dst: str,
        kind: Kind,
        body: msgspec.Struct | bytes,
        *,
        tag: str = "",
        corr: int = 0,
        seq: int = 0,
        budget_ms: int = DEFAULT_BUDGET_MS,
        trace: str = "",
    ) -> None:
        """Send a message; ``tag`` is needed where the body is already encoded."""

    def remember_stream(self, writer: "StreamWriter") -> None:
        """A stream has been opened for sending."""

    def forget_request(
        self, src: str, request_id: int, answer: bytes, tag: str, kind: Kind
    ) -> None:
        """A request has been answered; keep the answer for a repetition of the question."""

    def forget_stream(self, peer: str, request_id: int) -> None:
        """A sending stream is over and acknowledged."""
