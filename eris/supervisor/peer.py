"""The supervisor's place on the bus: it pings the children and takes requests of surfaces.

All of it runs in the supervisor's one thread. Nothing is queued while the bus is away: a ping that
is late says nothing.
"""

import os
import secrets
from collections import deque
from collections.abc import Iterator

import msgspec
import zmq

from eris.codec import decode_body, decode_head, encode, schema_digest, tag_of
from eris.errors import ErisError
from eris.supervisor.control import NAME, Serve, reply_head, serve_request
from proto.control import Hello, PeerUp, Ping, Pong, Welcome
from proto.envelope import PROTOCOL_VERSION, Head, Kind

BUS = "bus"

_RECEIVE_AT_ONCE = 256
_LATE_ANSWERS = 64
"""Pings that a child may still answer."""
_RECONNECT_MS = 10
_LONGEST_RECONNECT_MS = 200


class BusPeer:
    """A connection to the bus under the name ``erisd``."""

    def __init__(
        self, context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, incarnation: int
    ) -> None:
        """Connect; the bus needn't be there yet."""
        self._incarnation = incarnation
        self._next_id = secrets.randbits(48)
        self._waiting: dict[str, deque[int]] = {}
        self.connected: set[str] = set()
        """Who the bus has said is there."""
        self.socket = context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.ROUTING_ID, f"{NAME}/{incarnation}".encode())
        self.socket.setsockopt(zmq.IMMEDIATE, 1)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MS)
        self.socket.setsockopt(zmq.RECONNECT_IVL_MAX, _LONGEST_RECONNECT_MS)
        self.socket.connect(endpoint)

    def ping(self, name: str, budget_s: float) -> bool:
        """Ping a child; return whether it has answered none since the one before."""
        if name == BUS:
            # It forgets everybody when it's restarted, and nobody tells us.
            hello = Hello(schema=schema_digest(), pid=os.getpid())
            self._send(self._head(BUS, Kind.CONTROL, hello, budget_s), hello)
        waiting = self._waiting.setdefault(name, deque(maxlen=_LATE_ANSWERS))
        missed = bool(waiting)
        head = self._head(name, Kind.PING, Ping(), budget_s)
        if self._send(head, Ping()):
            waiting.append(head.id)
        return missed

    def unanswered(self, name: str) -> int:
        """How many pings a child hasn't answered since its last answer."""
        return len(self._waiting.get(name, ()))

    def forget(self, name: str) -> None:
        """A child has ended: it's neither connected nor will it answer."""
        self._waiting.pop(name, None)
        self.connected.discard(name)
        if name == BUS:
            self.connected.clear()

    def receive(self, serve: Serve) -> Iterator[tuple[str, Pong]]:
        """Serve the requests that have arrived and return who answered a ping, and how."""
        for _ in range(_RECEIVE_AT_ONCE):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                yield from self._on_message(frames, serve)
            except (ErisError, ValueError):
                continue  # the bus checks heads; what else is broken is no sign of life

    def close(self) -> None:
        """Leave the bus."""
        self.socket.close()

    def _on_message(self, frames: list[bytes], serve: Serve) -> Iterator[tuple[str, Pong]]:
        head_frame, body = frames
        head = decode_head(head_frame)
        if head.kind == Kind.REPLY and head.corr in self._waiting.get(head.src, ()):
            # Late or not, it's a sign of life.
            self._waiting.pop(head.src)
            yield head.src, decode_body(body, Pong, head.type)
        elif head.kind == Kind.CONTROL:
            self._on_news(decode_body(body, Welcome | PeerUp, head.type))
        else:
            serve_request(head, body, lambda answer: self._respond(head, answer), serve)

    def _on_news(self, news: Welcome | PeerUp) -> None:
        match news:
            case Welcome(peers=peers):
                self.connected.update(peers)
            case PeerUp(name=name):
                self.connected.add(name)

    def _respond(self, head: Head, body: msgspec.Struct) -> None:
        self._send(reply_head(head, body, self._incarnation), body)

    def _send(self, head: Head, body: msgspec.Struct) -> bool:
        try:
            self.socket.send_multipart([encode(head), encode(body)], zmq.NOBLOCK)
        except zmq.Again:
            return False  # the bus is away
        return True

    def _head(self, dst: str, kind: Kind, body: msgspec.Struct, budget_s: float) -> Head:
        self._next_id += 1
        return Head(
            v=PROTOCOL_VERSION,
            kind=kind,
            type=tag_of(body),
            id=self._next_id,
            corr=0,
            src=NAME,
            dst=dst,
            incarnation=self._incarnation,
            budget_ms=int(budget_s * 1000),
        )
