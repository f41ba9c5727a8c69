"""A supervisor and its children for tests, with a vault of their own."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from eris.actor import Connection, Port
from eris.config import Settings
from eris.locks import holder
from eris.paths import Paths, paths_for
from eris.supervisor import control, record
from eris.supervisor.process import start_ticks
from proto.supervisor import ActorStatus, Restart, Status, StatusReport
from tests.support import REPOSITORY, wait_until

SURFACES = frozenset({"console", "cli", "web", "api", "discord", "bench"})


class Supervised:
    """One vault, its configuration, and whoever serves it."""

    python = sys.executable

    def __init__(
        self, folder: Path, configuration: str = "", extra: Mapping[str, str] | None = None
    ) -> None:
        """Prepare a vault.

        Args:
            folder: Where everything of it goes.
            configuration: The user's ``supervisor.toml``.
            extra: More environment variables.
        """
        self.vault = folder / "vault"
        (self.vault / ".eris").mkdir(parents=True, exist_ok=True)
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith("ERIS_")}
        self._runtime = Path(f"/tmp/eris-test-{secrets.token_hex(4)}")
        self.environ |= {
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(self._runtime),
            "PYTHONPATH": str(REPOSITORY),
            **(extra or {}),
        }
        self.paths: Paths = paths_for(self.vault, self.environ)
        self.configuration = folder / "config" / "eris" / "supervisor.toml"
        self.configuration.parent.mkdir(parents=True, exist_ok=True)
        self.configuration.write_text(configuration)
        self._connections: list[Connection] = []
        self.supervisors: list[subprocess.Popen[bytes]] = []
        """Those started with `erisd`, the newest last."""
        self._seen: dict[int, int] = {}

    # The supervisor.

    def erisd(self, *options: str, stderr: int | None = None) -> "subprocess.Popen[bytes]":
        """Start a supervisor in the foreground of nothing."""
        process = subprocess.Popen(
            [sys.executable, "-m", "eris.supervisor", "--vault", str(self.vault), *options],
            env=self.environ,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stderr=stderr,
        )
        self.supervisors.append(process)
        return process

    def start(self, *options: str, within: float = 60.0) -> StatusReport:
        """Start a supervisor and wait until everybody is up or given up."""
        self.erisd(*options)
        return self.wait_for(
            lambda report: report.state in {"ready", "degraded"}, within=within, what="everybody up"
        )

    def kill_supervisor(self, number: int = signal.SIGKILL) -> None:
        """End the supervisor and wait until it's gone."""
        pid = holder(self.paths.lock(control.NAME))
        os.kill(pid, number)
        for process in self.supervisors:
            if process.pid == pid:
                process.wait(30)
        wait_until(lambda: not holder(self.paths.lock(control.NAME)), 30, "erisd gone")

    # Asking it.

    def status(self) -> StatusReport:
        """Return the state of everything."""
        report = control.request(self.paths, Status(), StatusReport, within=10)
        self._remember(report)
        return report

    def actor(self, name: str) -> ActorStatus:
        """Return the state of one actor."""
        return next(actor for actor in self.status().actors if actor.name == name)

    def pid(self, name: str) -> int:
        """Return the pid of an actor; of the supervisor for ``erisd``."""
        return self.status().pid if name == control.NAME else self.actor(name).pid

    def restart(self, name: str, within: float = 60.0) -> StatusReport:
        """Restart an actor and wait until it's ready."""
        body = Restart(name=name, idem=secrets.token_hex(8))
        report = control.request(self.paths, body, StatusReport, within=within)
        self._remember(report)
        return report

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to an actor; returns its pid."""
        pid = self.pid(name)
        os.kill(pid, number)
        return pid

    def wait_for(
        self, condition: Callable[[StatusReport], object], within: float = 30.0, what: str = ""
    ) -> StatusReport:
        """Wait until a report fulfils the condition, and return it."""
        found: list[StatusReport] = []

        def look() -> bool:
            if not holder(self.paths.lock(control.NAME)):
                return False
            found[:] = [self.status()]
            return bool(condition(found[0]))

        try:
            wait_until(look, within, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{found}\n{self.log()}") from None
        return found[0]

    def wait_state(self, name: str, *states: str, within: float = 30.0) -> ActorStatus:
        """Wait until an actor is in one of these states, and return it."""
        report = self.wait_for(
            lambda r: any(a.name == name and a.state in states for a in r.actors),
            within,
            f"{name} {'/'.join(states)}",
        )
        return next(actor for actor in report.actors if actor.name == name)

    def connect(self, role: str, settings: Settings | None = None) -> Port:
        """Return a port to the bus under ``role`` (a fresh name for surfaces)."""
        name = f"{role}.{secrets.token_hex(4)}" if role in SURFACES else role
        connection = Connection(name, self.paths.bus_socket)
        connection.start()
        self._connections.append(connection)
        return Port(connection, self.paths, settings or Settings())

    def eris(self, *arguments: str, within: float = 90.0) -> "subprocess.CompletedProcess[str]":
        """Run ``eris`` with arguments on this vault."""
        return subprocess.run(
            [sys.executable, "-m", "eris", "--vault", str(self.vault), *arguments],
            env=self.environ,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )

    def log(self) -> str:
        """Return the supervisor's log."""
        file = self.paths.logs / "erisd.log"
        return file.read_text() if file.exists() else ""

    def events(self, event: str, actor: str = "") -> list[dict[str, object]]:
        """Return the supervisor's log entries of one kind."""
        entries = [json.loads(line) for line in self.log().splitlines()]
        return [e for e in entries if e["event"] == event and actor in {"", e.get("actor")}]

    def survivors(self) -> list[int]:
        """Return the pids of processes ever seen that still run."""
        return [pid for pid, ticks in self._seen.items() if start_ticks(pid) == ticks]

    def close(self) -> None:
        """End everything, however it's doing, and leave nothing behind."""
        for connection in self._connections:
            connection.stop()
        known = record.read(self.paths.runtime / "state.json")
        if known is not None:
            self._seen |= {c.pid: c.start_ticks for c in known.children.values()}
        pid = holder(self.paths.lock(control.NAME))
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            with contextlib.suppress(AssertionError):
                wait_until(lambda: not holder(self.paths.lock(control.NAME)), 20)
        for process in self.supervisors:
            if process.poll() is None:
                process.kill()
            process.wait(10)
        for survivor in self.survivors():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(survivor, signal.SIGKILL)
        shutil.rmtree(self._runtime, ignore_errors=True)

    def _remember(self, report: StatusReport) -> None:
        for actor in report.actors:
            ticks = start_ticks(actor.pid) if actor.pid else None
            if ticks is not None:
                self._seen[actor.pid] = ticks


@contextlib.contextmanager
def supervised(
    folder: Path, configuration: str = "", extra: Mapping[str, str] | None = None
) -> Iterator[Supervised]:
    """A vault with a supervisor to start; nothing of it is left afterwards."""
    system = Supervised(folder, configuration, extra)
    try:
        yield system
    finally:
        system.close()
