"""Real processes for tests: a bus, single actors, and the whole system.

Everything started here is stopped here, and every wait has a bound.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from eris.actor import Connection, Port
from eris.config import Settings
from eris.paths import Paths, paths_for
from proto.control import Ping, Pong

REPOSITORY = Path(__file__).parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


def wait_until(condition: Callable[[], object], within: float = 10.0, what: str = "") -> None:
    """Wait until ``condition`` is true; fail after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what or condition}")
        time.sleep(0.01)


class Processes:
    """Actor processes of one vault, without a supervisor."""

    def __init__(self, folder: Path, extra: Mapping[str, str] | None = None) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(parents=True, exist_ok=True)
        self.environ = {
            key: value for key, value in os.environ.items() if not key.startswith("ERIS_")
        }
        runtime = Path(f"/tmp/eris-test-{secrets.token_hex(4)}")
        self.environ.update(
            XDG_STATE_HOME=str(folder / "state"),
            XDG_CACHE_HOME=str(folder / "cache"),
            XDG_CONFIG_HOME=str(folder / "config"),
            ERIS_RUNTIME_DIR=str(runtime),
            ERIS_ORPHAN_GRACE="0",
            OMP_WAIT_POLICY="PASSIVE",
            GOMP_SPINCOUNT="0",
            PYTHONPATH=str(REPOSITORY),
            **(extra or {}),
        )
        self.paths: Paths = paths_for(self.vault, self.environ)
        self.environ.update(self.paths.environment())
        self.paths.create()
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self._connections: list[Connection] = []

    def start(self, name: str, module: str = "", ready: bool = True) -> subprocess.Popen[bytes]:
        """Start ``python -m <module>`` (by default the bus or ``actors.<name>``)."""
        module = module or ("eris.bus" if name == "bus" else f"actors.{name}")
        child = subprocess.Popen(
            [sys.executable, "-m", module],
            env=self.environ | {"ERIS_ACTOR": name},
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.children[name] = child
        if ready and name != "bus":
            self.wait_ready(name)
        return child

    def wait_ready(self, name: str, within: float = 30.0) -> Pong:
        """Wait until the behaviour of an actor answers; returns its first sign of life."""
        port = self.connect("erisd")
        deadline = time.monotonic() + within
        while True:
            pong = port.ask(
                name, Ping(), Pong, within=max(0.1, deadline - time.monotonic()), retry=True
            )
            if pong.state == "ready":
                return pong
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} is still {pong.state} ({pong.phase})")
            time.sleep(0.02)

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a process and wait for its end; returns its exit status."""
        child = self.children[name]
        child.send_signal(number)
        return child.wait(20)

    def connect(self, role: str, settings: Settings | None = None) -> Port:
        """Return a port to the bus under ``role`` (a fresh name for surfaces)."""
        surfaces = {"console", "cli", "web", "api", "discord", "bench"}
        name = f"{role}.{secrets.token_hex(4)}" if role in surfaces else role
        connection = Connection(name, self.paths.bus_socket)
        connection.start()
        self._connections.append(connection)
        return Port(connection, self.paths, settings or Settings())

    def close(self) -> None:
        """Stop everything and remove the runtime directory."""
        for connection in self._connections:
            connection.stop()
        for child in reversed(self.children.values()):
            if child.poll() is None:
                child.terminate()
        for child in reversed(self.children.values()):
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait(10)
        with contextlib.suppress(FileNotFoundError):
            for file in self.paths.runtime.iterdir():
                file.unlink()
            self.paths.runtime.rmdir()


@contextlib.contextmanager
def processes(folder: Path, extra: Mapping[str, str] | None = None) -> Iterator[Processes]:
    """Real processes without a supervisor; all are gone afterwards."""
    group = Processes(folder, extra)
    try:
        yield group
    finally:
        group.close()
