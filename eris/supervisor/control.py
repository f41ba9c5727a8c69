"""The supervisor's own socket and the client for it.

Status, restart and shutdown must work while the bus is down, so they have a socket of their own,
which speaks the same frames. The client is what the command line uses: it imports little, for
``eris status`` has to answer at once.
"""

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import zmq

from eris.codec import decode_body, decode_head, encode, tag_of
from eris.errors import ErisError, ProtocolError, RemoteError, UnavailableError
from eris.locks import holder
from eris.paths import Paths
from proto.control import Ping
from proto.envelope import PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorBody, ErrorCode
from proto.supervisor import Restart, Shutdown, Status

NAME = "erisd"

REQUESTS = Status | Restart | Shutdown | Ping
"""What the supervisor takes."""

_RECEIVE_AT_ONCE = 64

R = TypeVar("R", bound=msgspec.Struct)
Respond = Callable[[msgspec.Struct], None]
"""Sends the reply, or an `ErrorBody`."""
Serve = Callable[[Head, Status | Restart | Shutdown | Ping, Respond], None]


def reply_head(head: Head, body: msgspec.Struct, incarnation: int) -> Head:
    """Return the head of an answer to the request with the head ``head``."""
    return Head(
        v=PROTOCOL_VERSION,
        kind=Kind.ERROR if isinstance(body, ErrorBody) else Kind.REPLY,
        type=tag_of(body),
        id=secrets.randbits(48),
        corr=head.id,
        src=NAME,
        dst=head.src,
        incarnation=incarnation,
        trace=head.trace,
    )


def serve_request(head: Head, body: bytes, respond: Respond, serve: Serve) -> None:
    """Decode a request and have it served; answer with an error if it can't be."""
    if head.kind not in {Kind.REQUEST, Kind.PING}:
        return
    try:
        serve(head, decode_body(body, REQUESTS, head.type), respond)
    except ErisError as error:
        respond(error.body())


class ControlSocket:
    """The supervisor's end. Bind it only while holding the supervisor's lock."""

    def __init__(
        self, context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, incarnation: int
    ) -> None:
        """Bind the socket; a file left there by a dead supervisor is replaced."""
        self._path = Path(endpoint.removeprefix("ipc://"))
        self._path.unlink(missing_ok=True)
        self._incarnation = incarnation
        self.socket = context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 200)
        self.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.socket.bind(endpoint)

    def receive(self, serve: Serve) -> None:
        """Serve what has arrived, a bounded number of requests."""
        for _ in range(_RECEIVE_AT_ONCE):
            try:
                sender, *frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._on_message(sender, frames, serve)

    def close(self) -> None:
        """Close the socket and remove its file."""
        self.socket.close()
        self._path.unlink(missing_ok=True)

    def _on_message(self, sender: bytes, frames: list[bytes], serve: Serve) -> None:
        unknown = Head(v=1, kind=0, type="", id=0, corr=0, src="", dst=NAME, incarnation=0)
        try:
            if len(frames) != 2:  # noqa: PLR2004 - head and body
                raise ProtocolError(f"A message has {len(frames)} frames instead of 2.")
            head = decode_head(frames[0])
        except ErisError as error:
            self._send(sender, unknown, error.body())
            return
        serve_request(head, frames[1], lambda body: self._send(sender, head, body), serve)

    def _send(self, sender: bytes, head: Head, body: msgspec.Struct) -> None:
        answer = reply_head(head, body, self._incarnation)
        try:
            self.socket.send_multipart([sender, encode(answer), encode(body)], zmq.NOBLOCK)
        except zmq.ZMQError:
            return  # whoever asked has gone


def request(paths: Paths, body: msgspec.Struct, expect: type[R], *, within: float) -> R:
    """Ask the supervisor of a vault and return its answer.

    Args:
        paths: Places of the vault.
        body: `Status`, `Restart` or `Shutdown`.
        expect: Type of the answer.
        within: Seconds to wait for it.

    Raises:
        UnavailableError: No supervisor runs for this vault, or it doesn't answer in time.
        RemoteError: It answered with an error.
    """
    lock = paths.lock(NAME)
    if not holder(lock):
        raise not_running(paths)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.LINGER, 0)
    try:
        socket.connect(paths.supervisor_socket)
        head = Head(
            v=PROTOCOL_VERSION,
            kind=Kind.REQUEST,
            type=tag_of(body),
            id=secrets.randbits(48),
            corr=0,
            src=f"cli.{os.getpid():x}",
            dst=NAME,
            incarnation=time.time_ns(),
            budget_ms=int(within * 1000),
        )
        socket.send_multipart([encode(head), encode(body)])
        return _await(socket, head, expect, paths, time.monotonic() + within)
    finally:
        socket.close()
        context.term()


def not_running(paths: Paths) -> UnavailableError:
    """The error for a vault that no supervisor serves."""
    left = sorted(lock.stem for lock in paths.runtime.glob("*.lock") if holder(lock))
    if left:
        return UnavailableError(
            f"The supervisor of the vault {paths.vault} has died; {', '.join(left)} still run.",
            hint=f"Have them taken over with: eris up --vault {paths.vault}",
        )
    return UnavailableError(
        f"Eris isn't running for the vault {paths.vault}.",
        hint=f"Start it with: eris up --vault {paths.vault}",
    )


def _await(
    socket: "zmq.Socket[bytes]", sent: Head, expect: type[R], paths: Paths, until: float
) -> R:
    while (left := until - time.monotonic()) > 0:
        # Look at the lock now and then: a supervisor that has died will never answer.
        if not socket.poll(int(min(left, 0.5) * 1000) + 1):
            if not holder(paths.lock(NAME)):
                raise not_running(paths)
            continue
        head_frame, body_frame = socket.recv_multipart()
        head = decode_head(head_frame)
        if head.corr not in {sent.id, 0}:
            continue
        if head.kind == Kind.ERROR:
            raise RemoteError(decode_body(body_frame, ErrorBody, head.type), NAME)
        answer: R = decode_body(body_frame, expect, head.type)
        return answer
    raise UnavailableError(
        f"The supervisor (pid {holder(paths.lock(NAME))}) didn't answer in time.",
        hint="See `eris logs erisd`.",
        code=ErrorCode.EXPIRED,
    )
