"""What the bus and the mailboxes cost, against the barest exchange that ZeroMQ offers."""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import zmq

from eris.actor import Port
from proto.control import Done, Ping, Pong
from tests.problem_actors.echo import Count, Number, Repeat, Took
from tests.support import Processes, processes

SERVER, CLIENT = "bench.server", "bench.client"
ECHO = "tests.problem_actors.echo"
PAYLOAD = "x" * 1000
BLOCK = 400
BLOCKS = 7

_RAW_SERVER = """
import sys, zmq
socket = zmq.Context().socket(zmq.ROUTER)
socket.bind(sys.argv[1])
while True:
    socket.send_multipart(socket.recv_multipart())
"""


@contextlib.contextmanager
def _echo_system(folder: Path) -> Iterator[tuple[Processes, Port]]:
    with processes(folder) as group:
        group.start("bus")
        for name in (SERVER, CLIENT):
            group.start(name, ECHO, ready=False)
        port = group.connect("bench")
        for name in (SERVER, CLIENT):
            port.ask(name, Ping(), Pong, within=20, retry=True)
        yield group, port


def _raw_block(socket: "zmq.Socket[bytes]") -> float:
    message = [b"head", PAYLOAD.encode()]
    took = []
    for _ in range(BLOCK):
        start = time.perf_counter()
        socket.send_multipart(message)
        socket.recv_multipart()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def round_trip() -> dict[str, float]:
    """Median round trip of 1 KB between two mailboxes through the bus, over the bare one.

    Blocks of both alternate, so that whatever else the machine does hits both alike.
    """
    with tempfile.TemporaryDirectory() as folder, _echo_system(Path(folder)) as (group, port):
        endpoint = f"ipc://{group.paths.runtime}/raw.sock"
        server = subprocess.Popen([sys.executable, "-c", _RAW_SERVER, endpoint])
        context = zmq.Context()
        socket = context.socket(zmq.DEALER)
        socket.connect(endpoint)
        ours, raw = [], []
        try:
            _raw_block(socket)
            for _ in range(BLOCKS):
                raw.append(_raw_block(socket))
                took = port.ask(
                    CLIENT, Repeat(dst=SERVER, data=PAYLOAD, times=BLOCK), Took, within=60
                )
                ours.append(took.median_seconds)
        finally:
            socket.close(linger=0)
            context.term()
            server.kill()
            server.wait()
    ratio = statistics.median(mine / bare for mine, bare in zip(ours, raw, strict=True))
    return {
        "value": round(ratio, 2),
        "ours_us": round(statistics.median(ours) * 1e6, 1),
        "raw_us": round(statistics.median(raw) * 1e6, 1),
    }


def kill_and_resume(kills: int = 20) -> dict[str, dict[str, float]]:
    """Kill the bus in mid-stream: time until the next item, and items lost."""
    waits, lost = [], 0
    with tempfile.TemporaryDirectory() as folder, _echo_system(Path(folder)) as (group, port):
        for _ in range(kills):
            reader = port.open(SERVER, Count(upto=400, pause=0.005), item=Number, result=Done)
            numbers = [reader.next(10).number for _ in range(50)]
            killed = time.perf_counter()
            os.kill(group.children["bus"].pid, signal.SIGKILL)
            group.children["bus"].wait()
            # Items that had arrived before the kill don't count as resumed.
            while not reader._arrived.empty():
                numbers.append(reader.next(0).number)
            group.start("bus")
            numbers.append(reader.next(10).number)
            waits.append((time.perf_counter() - killed) * 1000)
            numbers.extend(item.number for item in reader)
            lost += 400 - len(set(numbers))
    waits.sort()
    return {
        "kill_resume_ms": {
            "value": round(waits[max(0, int(len(waits) * 0.95) - 1)], 1),
            "p50": round(statistics.median(waits), 1),
            "kills": kills,
        },
        "tokens_lost": {"value": lost, "kills": kills},
    }
