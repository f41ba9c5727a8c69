"""Whatever arrives at the bus: an answer that says why, or a log line; never a crash."""

import time
from collections.abc import Callable, Iterator

import pytest
import zmq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eris.codec import decode_body, decode_head, encode, tag_of
from proto.control import Hello, Ping, Pong
from proto.envelope import PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorBody, ErrorCode
from tests.support import Processes

pytestmark = pytest.mark.process

NAME = "console.raw"
Raw = Callable[..., list[bytes]]


@pytest.fixture
def socket(bus: Processes) -> Iterator["zmq.Socket[bytes]"]:
    """A foreign program's socket, connected under a surface's name."""
    context = zmq.Context()
    raw = context.socket(zmq.DEALER)
    raw.setsockopt(zmq.ROUTING_ID, f"{NAME}/1".encode())
    raw.setsockopt(zmq.LINGER, 0)
    raw.connect(bus.paths.bus_socket)
    yield raw
    raw.close()
    context.term()


def head(**changes: object) -> bytes:
    fields = {
        "v": PROTOCOL_VERSION,
        "kind": Kind.REQUEST,
        "type": "ping.1",
        "id": 7,
        "corr": 0,
        "src": NAME,
        "dst": "bus",
        "incarnation": 1,
    }
    return encode(Head(**(fields | changes)))  # type: ignore[arg-type]


def answer(socket: "zmq.Socket[bytes]", within: float = 10.0) -> tuple[Head, object]:
    assert socket.poll(int(within * 1000)), "no answer"
    frames = socket.recv_multipart()
    received = decode_head(frames[0])
    return received, decode_body(frames[1], ErrorBody | Pong, received.type)


CASES = {
    "unknown receiver": (head(dst="nobody"), encode(Ping()), ErrorCode.FORBIDDEN),
    "absent receiver": (
        head(dst="orchestrator", type="subscribe.1"),
        encode(Ping()),
        ErrorCode.UNREACHABLE,
    ),
    "unknown message": (head(type="no.such.1"), b"\x81\xa1t\xa3abc", ErrorCode.BAD_MESSAGE),
    "wrong version": (head(v=2), encode(Ping()), ErrorCode.BAD_VERSION),
    "truncated head": (head()[:9], encode(Ping()), ErrorCode.BAD_MESSAGE),
    "truncated body": (head(), encode(Hello(schema="x", pid=1))[:5], ErrorCode.BAD_MESSAGE),
    "another's name": (head(src="orchestrator"), encode(Ping()), None),
    "a tool call by a surface": (
        head(dst="vault", type="tool.call.1"),
        encode(Ping()),
        ErrorCode.FORBIDDEN,
    ),
    "a forged answer": (
        head(dst="gatekeeper", kind=Kind.REPLY, type="tool.result.1", src=NAME),
        encode(Ping()),
        ErrorCode.FORBIDDEN,
    ),
    "100 MB": (head(), b"x" * 100_000_000, ErrorCode.TOO_LARGE),
}


@pytest.mark.parametrize(("frame", "body", "code"), CASES.values(), ids=CASES)
def test_a_bad_message_is_refused_and_the_bus_goes_on(
    bus: Processes, socket: "zmq.Socket[bytes]", frame: bytes, body: bytes, code: str | None
) -> None:
    socket.send_multipart([frame, body])
    if code is not None:
        received, error = answer(socket)
        assert received.kind == Kind.ERROR
        assert isinstance(error, ErrorBody)
        assert error.code == code
        assert error.message
    assert alive(socket)


@pytest.mark.parametrize("frames", [[b""], [b"", b"", b""], [b"x" * 2000, b""], [b"\xff", b"\xff"]])
def test_frames_that_are_no_message_get_an_answer(
    socket: "zmq.Socket[bytes]", frames: list[bytes]
) -> None:
    socket.send_multipart(frames)
    _, error = answer(socket)
    assert isinstance(error, ErrorBody)
    assert alive(socket)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames=st.lists(st.binary(max_size=60), min_size=1, max_size=4))
def test_the_bus_survives_any_bytes(socket: "zmq.Socket[bytes]", frames: list[bytes]) -> None:
    socket.send_multipart(frames)
    assert alive(socket)


def test_a_flood_from_one_peer_does_not_silence_the_others(
    bus: Processes, socket: "zmq.Socket[bytes]"
) -> None:
    for _ in range(20_000):
        socket.send_multipart([head(dst="nobody"), encode(Ping())])
    other = bus.connect("erisd")
    assert other.ask("bus", Ping(), Pong, within=20).dropped[ErrorCode.FORBIDDEN] >= 1


def alive(socket: "zmq.Socket[bytes]") -> bool:
    """Whether the bus still answers a ping; skips the errors in front of it."""
    socket.send_multipart([head(id=99, kind=Kind.PING), encode(Ping())])
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        received, body = answer(socket)
        if received.corr == 99 and isinstance(body, Pong):
            return True
    return False


def test_the_tag_of_a_ping_is_what_the_rights_say() -> None:
    assert tag_of(Ping()) == "ping.1"
