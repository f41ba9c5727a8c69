"""Children that misbehave as ``FAULT`` says; otherwise they connect and answer pings.

``ILL`` names a file: the fault shows only while it's there, so that a test can cure the child.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from eris.actor import Connection, Request
from eris.errors import ConflictError
from eris.locks import HeldLock
from eris.paths import paths_from_environment
from eris.supervisor.child import EXIT_CONFIGURATION, EXIT_LOCKED

NAME = os.environ["ERIS_ACTOR"]


STUCK = threading.Event()
CONNECTIONS: list[Connection] = []


def answer(request: Request) -> None:
    """Stand in for a behaviour: answer pings, unless it's stuck."""
    if not STUCK.is_set():
        request.reply(CONNECTIONS[0].pong())


def dies_while_loading() -> None:
    sys.stderr.write("the disk of dreams is full\n")
    sys.stderr.flush()
    os._exit(3)


def segfaults() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def meets_an_unknown_instruction() -> None:
    os.kill(os.getpid(), signal.SIGILL)


def is_configured_wrongly() -> None:
    sys.stderr.write("model.chat names no file. Set it with: eris config edit\n")
    sys.stderr.flush()
    os._exit(EXIT_CONFIGURATION)


def never_connects() -> None:
    time.sleep(1000)


def ignores_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def wedges_when_told() -> None:
    """On SIGUSR1, hold the interpreter's lock: no thread of this process runs any more."""

    def wedge(_number: int, _frame: object) -> None:
        ctypes.PyDLL(None).sleep(1000)

    signal.signal(signal.SIGUSR1, wedge)


def stops_answering() -> None:
    """On SIGUSR1, the behaviour gets stuck while the connection goes on working."""
    signal.signal(signal.SIGUSR1, lambda *_: STUCK.set())


def gets_busy() -> None:
    """On SIGUSR1, the behaviour gets stuck but says what with."""

    def begin(_number: int, _frame: object) -> None:
        STUCK.set()
        CONNECTIONS[0].push_phase("prefill")

    signal.signal(signal.SIGUSR1, begin)


def forks() -> None:
    """Leave a process behind that isn't looked after by anybody."""
    child = subprocess.Popen(["sleep", "1000"])
    sys.stderr.write(f"grandchild {child.pid}\n")
    sys.stderr.flush()


def floods() -> None:
    line = "x" * 1023 + "\n"
    for _ in range(6 * 1024):
        sys.stdout.write(line)
    sys.stdout.flush()


FAULTS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        dies_while_loading,
        segfaults,
        meets_an_unknown_instruction,
        is_configured_wrongly,
        never_connects,
        ignores_sigterm,
        wedges_when_told,
        stops_answering,
        gets_busy,
        forks,
        floods,
    )
}


def main() -> int:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    paths = paths_from_environment(os.environ)
    try:
        lock = HeldLock.acquire(paths.lock(NAME))
    except ConflictError:
        return EXIT_LOCKED
    fault = os.environ.get("FAULT", "")
    ill = os.environ.get("ILL", "")
    with lock:
        if fault and (not ill or Path(ill).exists()):
            FAULTS[fault]()
        with Connection(NAME, paths.bus_socket, deliver=answer) as connection:
            CONNECTIONS.append(connection)
            stop.wait()
    return 0


if __name__ == "__main__":
    os._exit(main())
