"""The bus: the one endpoint that everybody connects to. Run it with ``python -m eris.bus``.

It forwards messages by name, reads heads only, checks who may send what to whom, and says what it
can't deliver. It keeps no state that matters: who is connected it learns again from the hellos
that follow its restart. It knows nothing of turns, tools or models.
"""

import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import zmq

from eris.actor._run import Stop, SupervisorWatch, run_process
from eris.codec import decode_body, decode_head, encode, schema_digest, tag_of
from eris.config import load_settings
from eris.errors import ConfigurationError, ErisError, ProtocolError
from eris.logs import Logger, start_logging
from eris.paths import Paths
from proto.control import Hello, PeerUp, Ping, Pong, Welcome
from proto.envelope import MAX_BODY_BYTES, PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorCode
from proto.rights import LOCAL_ROLES, may_answer, may_request, role_of

if TYPE_CHECKING:
    from eris.remote import Gate

NAME = "bus"

_LARGEST_FRAME = 256 * 1024 * 1024
"""ZeroMQ itself cuts a peer off that sends more; up to here it gets an answer that says why."""

_SEND_QUEUE = 4096
_RECEIVE_AT_ONCE = 256
_WATCH_MS = 1000

_ASKING = frozenset({Kind.REQUEST, Kind.PING})
_FOLLOWING = frozenset({Kind.CANCEL, Kind.CONTROL})
"""Kinds that follow a request, or a stream, in either direction."""


class Peer:
    """Where a name is connected."""

    __slots__ = ("incarnation", "routing_id", "socket")

    def __init__(self, socket: "zmq.Socket[bytes]", routing_id: bytes, incarnation: int) -> None:
        self.socket = socket
        self.routing_id = routing_id
        self.incarnation = incarnation


class Bus:
    """Forwards messages between sockets that somebody else has bound."""

    def __init__(
        self,
        sockets: "Mapping[zmq.Socket[bytes], Gate | None]",
        logger: Logger,
    ) -> None:
        """Create a bus.

        Args:
            sockets: ROUTER sockets; one that others machines connect to has a gate, which says
                what name a key may use.
            logger: Where refusals go.
        """
        self._sockets = sockets
        self._log = logger
        self._peers: dict[str, Peer] = {}
        self._allowed: dict[tuple[str, str, int, str], bool] = {}
        self._incarnation = time.time_ns()
        self._next_id = 0
        self._forwarded = 0
        self.dropped: Counter[str] = Counter()

    def receive(self, socket: "zmq.Socket[bytes]") -> None:
        """Forward what has arrived at a socket, a bounded number of messages."""
        gate = self._sockets[socket]
        for _ in range(_RECEIVE_AT_ONCE):
            if gate is None:
                key = ""
                routing_id, *frames = socket.recv_multipart(zmq.NOBLOCK)
            else:
                parts = socket.recv_multipart(zmq.NOBLOCK, copy=False)
                key = gate.key_of(parts[-1])
                routing_id, *frames = [part.bytes for part in parts]
            self._on_message(socket, gate, key, routing_id, frames)
            if not int(socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN:
                return

    def _on_message(
        self,
        socket: "zmq.Socket[bytes]",
        gate: "Gate | None",
        key: str,
        routing_id: bytes,
        frames: list[bytes],
    ) -> None:
        name, incarnation = _parse_routing_id(routing_id)
        head: Head | None = None
        try:
            if len(frames) != 2:  # noqa: PLR2004 - head and body
                raise ProtocolError(f"A message has {len(frames)} frames instead of 2.")
            head = decode_head(frames[0])
            _check_signature(head, name)
            if gate is not None:
                _check_gate(gate, key, name)
            if len(frames[1]) > MAX_BODY_BYTES:
                raise ProtocolError(
                    f"A body of {len(frames[1])} bytes is over the limit of {MAX_BODY_BYTES}.",
                    code=ErrorCode.TOO_LARGE,
                )
            peer = self._peers.get(name)
            if peer is None or peer.routing_id != routing_id:
                self._on_new_connection(socket, routing_id, name, incarnation)
            if head.dst == NAME:
                self._on_own(socket, routing_id, head, frames[1])
            else:
                self._forward(head, frames)
        except ErisError as error:
            self._refuse(socket, routing_id, name, head, error)

    def _on_new_connection(
        self, socket: "zmq.Socket[bytes]", routing_id: bytes, name: str, incarnation: int
    ) -> None:
        known = self._peers.get(name)
        if known is not None and known.incarnation > incarnation:
            raise ErisError(f"{name} is served by a newer process.", code=ErrorCode.CONFLICT)
        self._peers[name] = Peer(socket, routing_id, incarnation)
        if role_of(name) not in LOCAL_ROLES:
            return  # surfaces come and go; nobody keeps anything for one that it didn't ask for
        news = encode(PeerUp(name=name, incarnation=incarnation))
        for other in list(self._peers):
            if other != name:
                self._send(other, Kind.CONTROL, news, tag_of(PeerUp))

    def _on_own(
        self, socket: "zmq.Socket[bytes]", routing_id: bytes, head: Head, data: bytes
    ) -> None:
        body = decode_body(data, Hello | Ping, head.type)
        if isinstance(body, Hello):
            if body.schema != schema_digest():
                self._log.warning("schema-mismatch", peer=head.src, theirs=body.schema)
            peers = {
                peer: place.incarnation
                for peer, place in self._peers.items()
                if role_of(peer) in LOCAL_ROLES
            }
            welcome = Welcome(peers=peers)
            self._reply(socket, routing_id, head, Kind.CONTROL, welcome)
        else:
            pong = Pong(state="ready", handled=self._forwarded, dropped=dict(self.dropped))
            self._reply(socket, routing_id, head, Kind.REPLY, pong)

    def _forward(self, head: Head, frames: list[bytes]) -> None:
        rule = (role_of(head.src), role_of(head.dst), head.kind, head.type)
        allowed = self._allowed.get(rule)
        if allowed is None:
            allowed = self._allowed[rule] = _may_send(head)
        if not allowed:
            raise ErisError(
                f"{head.src} may not send {head.type} to {head.dst}.", code=ErrorCode.FORBIDDEN
            )
        peer = self._peers.get(head.dst)
        if peer is None:
            raise _unreachable(head.dst)
        try:
            peer.socket.send_multipart((peer.routing_id, *frames), zmq.NOBLOCK)
        except zmq.Again as error:
            raise ErisError(
                f"{head.dst} doesn't take its messages; its queue is full.",
                code=ErrorCode.OVERRUN,
                retryable=True,
            ) from error
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._forget(head.dst)
            raise _unreachable(head.dst) from error
        self._forwarded += 1

    def _refuse(
        self,
        socket: "zmq.Socket[bytes]",
        routing_id: bytes,
        name: str,
        head: Head | None,
        error: ErisError,
    ) -> None:
        self.dropped[error.code] += 1
        if error.code != ErrorCode.UNREACHABLE:
            self._log.warning("refused", peer=name, error=error.message)
        body = error.body()
        if head is None:
            reply_to = self._head(name, Kind.ERROR, tag_of(body))
        else:
            if head.src != name:
                return  # whose message it was isn't known; its connection has no right to an answer
            body.details.update(dst=head.dst, kind=int(head.kind))
            own = head.kind in _ASKING
            reply_to = self._head(
                name, Kind.ERROR, tag_of(body), head.id if own else head.corr, head.trace
            )
        self._deliver(socket, routing_id, reply_to, encode(body))

    def _reply(
        self,
        socket: "zmq.Socket[bytes]",
        routing_id: bytes,
        head: Head,
        kind: Kind,
        body: Welcome | Pong,
    ) -> None:
        reply = self._head(head.src, kind, tag_of(body), head.id, head.trace)
        self._deliver(socket, routing_id, reply, encode(body))

    def _send(self, name: str, kind: Kind, data: bytes, tag: str) -> None:
        peer = self._peers[name]
        if not self._deliver(peer.socket, peer.routing_id, self._head(name, kind, tag), data):
            self._forget(name)

    def _forget(self, name: str) -> None:
        # An actor that is gone stays known by its last incarnation: whoever has asked it before
        # saying hello must learn from the next one that no answer will come.
        if role_of(name) not in LOCAL_ROLES:
            self._peers.pop(name, None)

    def _deliver(
        self, socket: "zmq.Socket[bytes]", routing_id: bytes, head: Head, data: bytes
    ) -> bool:
        try:
            socket.send_multipart((routing_id, encode(head), data), zmq.NOBLOCK)
        except zmq.ZMQError:
            return False
        return True

    def _head(self, dst: str, kind: Kind, tag: str, corr: int = 0, trace: str = "") -> Head:
        self._next_id += 1
        return Head(
            v=PROTOCOL_VERSION,
            kind=kind,
            type=tag,
            id=self._next_id,
            corr=corr,
            src=NAME,
            dst=dst,
            incarnation=self._incarnation,
            trace=trace,
        )


def _parse_routing_id(routing_id: bytes) -> tuple[str, int]:
    """Return name and incarnation; a foreign connection gets an unusable name."""
    name, _, incarnation = routing_id.partition(b"/")
    if not name or not incarnation.isdigit() or len(incarnation) > len(str(2**63)):
        return "", 0
    return name.decode("ascii", errors="replace"), int(incarnation)


def _may_send(head: Head) -> bool:
    if head.kind in _ASKING:
        return may_request(head.src, head.dst, head.type)
    if head.kind in _FOLLOWING:
        return may_answer(head.src, head.dst) or may_answer(head.dst, head.src)
    return may_answer(head.src, head.dst)


def _check_signature(head: Head, name: str) -> None:
    if head.src != name:
        raise ErisError(
            f"A connection named {name!r} signed a message as {head.src!r}.",
            code=ErrorCode.FORBIDDEN,
        )


def _check_gate(gate: "Gate", key: str, name: str) -> None:
    role = gate.role_of(key)
    if role_of(name) in LOCAL_ROLES or role_of(name) != role:
        raise ErisError(
            f"The key of this machine may not connect as {name!r}.",
            hint="Add it with: eris peer add",
            code=ErrorCode.FORBIDDEN,
        )


def _unreachable(name: str) -> ErisError:
    return ErisError(
        f"{name} isn't running or isn't reachable.",
        hint="See `eris status`.",
        code=ErrorCode.UNREACHABLE,
        retryable=True,
    )


def _router(context: "zmq.Context[zmq.Socket[bytes]]") -> "zmq.Socket[bytes]":
    socket = context.socket(zmq.ROUTER)
    # Mandatory and never blocking: what can't be delivered is an error, not a silent loss.
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
    socket.setsockopt(zmq.SNDHWM, _SEND_QUEUE)
    socket.setsockopt(zmq.RCVHWM, _SEND_QUEUE)
    socket.setsockopt(zmq.LINGER, 100)
    socket.setsockopt(zmq.MAXMSGSIZE, _LARGEST_FRAME)
    return socket


def _guarded(
    context: "zmq.Context[zmq.Socket[bytes]]", paths: Paths, endpoint: str
) -> "tuple[zmq.Socket[bytes], Gate]":
    """Bind the socket for other machines, with somebody at the door."""
    from eris.remote import Gate  # noqa: PLC0415 - 40 ms of a start that others wait for

    gate = Gate.open(context, paths)
    socket = _router(context)
    gate.guard(socket)
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        raise ConfigurationError(
            f"The bus can't listen on {endpoint}: {error.strerror}.",
            hint="Choose another port for `tcp` in the section [bus].",
        ) from error
    return socket, gate


def serve(paths: Paths, stop: Stop) -> None:
    """Bind the sockets and forward until asked to stop."""
    settings = load_settings(paths.vault, os.environ).settings
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    local = _router(context)
    # The lock is held by now, so a socket file that is there was left behind by a dead process.
    socket_file = Path(paths.bus_socket.removeprefix("ipc://"))
    socket_file.unlink(missing_ok=True)
    local.bind(paths.bus_socket)
    sockets: dict[zmq.Socket[bytes], Gate | None] = {local: None}
    if settings.bus.tcp:
        remote, door = _guarded(context, paths, settings.bus.tcp)
        sockets[remote] = door
    # Peers can connect by now; what they say waits in the socket while the log is opened.
    logger = start_logging(NAME, paths.logs, settings.log_level)
    bus = Bus(sockets, logger)
    watch = SupervisorWatch(paths)
    poller = zmq.Poller()
    poller.register(stop, zmq.POLLIN)
    for socket in sockets:
        poller.register(socket, zmq.POLLIN)
    logger.info("started", pid=os.getpid(), endpoint=paths.bus_socket, tcp=settings.bus.tcp)
    while not stop.asked.is_set():
        for ready, _ in poller.poll(_WATCH_MS if watch.grace else None):
            if isinstance(ready, zmq.Socket):
                bus.receive(ready)
            else:
                stop.drain()
        watch.check(stop)
    for socket, gate in sockets.items():
        socket.close()
        if gate is not None:
            gate.close()
    context.term()
    socket_file.unlink(missing_ok=True)


def main() -> None:
    """Run the bus process."""
    stop = Stop()
    run_process(NAME, stop, lambda paths: serve(paths, stop))


if __name__ == "__main__":
    main()
