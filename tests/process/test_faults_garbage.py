"""Bodies that are no message, sent to every actor by everybody who may send to it.

The bus doesn't decode bodies: what is wrong with one meets the actor itself.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from eris.codec import decode_body, decode_head, encode, tag_of
from proto.control import Hello, Welcome
from proto.envelope import PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorBody, ErrorCode
from proto.rights import RIGHTS
from tests.process.faults_support import actors
from tests.supervised import supervised

pytestmark = [pytest.mark.process, pytest.mark.model]

GARBAGE = {
    "empty": b"",
    "no msgpack": b"\xc1",
    "cut off": b"\x85\xa1t\xa3abc",
    "no structure": b"\x2a",
    "another message": b"\x81\xa1t\xabno.such.tag",
    "deeply nested": b"\x91" * 2000 + b"\x90",
    "an invalid text": b"\x81\xa1t\xa2\xff\xfe",
}
SENDERS = {
    "console.1": ("orchestrator", "gatekeeper", "inference", "erisd"),
    "orchestrator": ("router", "gatekeeper", "inference", "erisd"),
    "router": ("gatekeeper", "memory"),
    "gatekeeper": ("vault", "agenda"),
    "vault": ("gatekeeper",),
}


class Stranger:
    """A connection that speaks the frames and says what it likes."""

    def __init__(self, socket: "zmq.Socket[bytes]", name: str) -> None:
        self._socket = socket
        self._name = name
        self._incarnation = time.time_ns()
        self._number = 0
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.IDENTITY, f"{name}/{self._incarnation}".encode())

    def ask(self, dst: str, tag: str, body: bytes, kind: Kind = Kind.REQUEST) -> tuple[Head, bytes]:
        """Send a body and return the answer to it."""
        self._number += 1
        head = Head(
            v=PROTOCOL_VERSION,
            kind=kind,
            type=tag,
            id=self._number,
            corr=0,
            src=self._name,
            dst=dst,
            incarnation=self._incarnation,
        )
        self._socket.send_multipart([encode(head), body])
        until = time.monotonic() + 20
        while (left := until - time.monotonic()) > 0 and self._socket.poll(int(left * 1000)):
            frames = self._socket.recv_multipart()
            received = decode_head(frames[0])
            if received.corr == self._number or received.type == tag_of(Welcome):
                return received, frames[1]
        raise AssertionError(f"no answer from {dst} to {tag}")


@contextmanager
def stranger(endpoint: str, name: str) -> Iterator[Stranger]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        one = Stranger(socket, name)
        socket.connect(endpoint)
        hello = Hello(schema="", pid=1)
        welcome, _ = one.ask("bus", tag_of(hello), encode(hello), Kind.CONTROL)
        assert welcome.type == tag_of(Welcome)
        yield one


@pytest.mark.parametrize("sender", SENDERS)
def test_a_body_that_is_no_message_is_refused_and_the_actor_goes_on(
    tmp_path: Path, sender: str
) -> None:
    receivers = SENDERS[sender]
    started = [name for name in receivers if name != "erisd"]
    extra = {"ERIS_MODEL_CHAT": "smollm2-135m"}
    with supervised(tmp_path, actors("bus", *started), extra) as system:
        before = system.start(within=120)
        assert before.state == "ready"
        with stranger(system.paths.bus_socket, sender) as one:
            for receiver in receivers:
                for tag in RIGHTS[sender.partition(".")[0]][receiver]:
                    for name, body in GARBAGE.items():
                        head, answer = one.ask(receiver, tag, body)
                        assert head.kind == Kind.ERROR, (receiver, tag, name)
                        error = decode_body(answer, ErrorBody, head.type)
                        assert error.code == ErrorCode.BAD_MESSAGE, (receiver, tag, name)
        after = system.status()
        assert [actor.pid for actor in after.actors] == [actor.pid for actor in before.actors]
        assert (after.state, {actor.failed for actor in after.actors}) == ("ready", {0})
