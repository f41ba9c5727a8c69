"""The children's processes: starts, adopts, signals and collects them, and keeps the record.

It carries out what the core decides and tells it what came of it.
"""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from eris.locks import holder
from eris.logs import Logger
from eris.paths import Paths
from eris.supervisor import record
from eris.supervisor.events import Adopted, AdoptionFailed, Exited, Spawned, SpawnFailed
from eris.supervisor.process import Process, boot_id, import_environment, start_ticks
from eris.supervisor.record import ChildRecord, Record
from eris.supervisor.specification import ChildSpecification, command_of, environment_of

STATE_FILE = "state.json"

OUTPUT_LIMIT = 4 * 1024 * 1024
"""A child's raw output beyond this is cut: its own log rotates, this is for crashes."""

_LAST_WORDS = 1000
"""So many characters of its output are looked at for a child's last words."""

_STRAY_STOP_S = 10.0

_NOT_FOR_CHILDREN = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS")


class ExitNote(msgspec.Struct, frozen=True):
    """What a process leaves behind for a supervisor that isn't its parent."""

    code: int
    reason: str = ""
    pid: int = 0


class ProcessTable:
    """The processes of the children, by name."""

    def __init__(
        self,
        paths: Paths,
        children: Mapping[str, ChildSpecification],
        environment: Mapping[str, str],
        logger: Logger,
    ) -> None:
        """Create the table; nothing is started.

        Args:
            paths: Places of the vault.
            children: What may be started.
            environment: What every child's environment has.
            logger: Where to log.
        """
        self.processes: dict[str, Process] = {}
        self._paths = paths
        self._children = children
        self._environment = {
            key: value for key, value in environment.items() if key not in _NOT_FOR_CHILDREN
        }
        self._log = logger
        self._digests: dict[str, str] = {}
        self._restarts: dict[str, int] = {}
        self._output_starts: dict[str, int] = {}
        self._strays: list[tuple[str, Process, float]] = []
        self._state_file = paths.runtime / STATE_FILE

    def adopt_all(self) -> Iterator[Adopted]:
        """Adopt what an earlier supervisor left running; the rest is to be started."""
        known = record.read(self._state_file)
        if known is not None and known.boot_id == boot_id():
            for name, entry in known.children.items():
                process = Process.adopt(entry.pid, entry.start_ticks)
                if process is None:
                    continue
                if name not in self._children:
                    self._send_away(name, process)
                    continue
                self.processes[name] = process
                self._digests[name], self._restarts[name] = entry.digest, entry.restarts
        for name in self._children:
            # A supervisor that died between starting a child and recording it leaves a lock only.
            if name not in self.processes and (found := self._holder(name)) is not None:
                self.processes[name] = found
        self._save()
        for name, process in self.processes.items():
            yield Adopted(name, process.pid, self._restarts.get(name, 0), self._drift(name))

    def spawn(self, name: str, restarts: int) -> Spawned | SpawnFailed:
        """Start a child.

        Args:
            name: Which.
            restarts: For the record: how often it has been started again.
        """
        specification = self._children[name]
        self._note_file(name).unlink(missing_ok=True)
        output = self.output_file(name)
        try:
            size = output.stat().st_size if output.exists() else 0
            if size > OUTPUT_LIMIT:
                os.truncate(output, 0)
            self._output_starts[name] = size if size <= OUTPUT_LIMIT else 0
            process = Process.spawn(
                command_of(specification),
                self._environment_of(name, specification),
                output,
                self._paths.state,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError | PermissionError)
            return SpawnFailed(name, f"can't be started: {error}", hopeless=missing)
        self.processes[name] = process
        self._digests[name], self._restarts[name] = specification.digest(), restarts
        self._save()
        return Spawned(name, process.pid)

    def adopt_holder(self, name: str) -> Adopted | AdoptionFailed:
        """Adopt the process that holds a child's lock."""
        process = self._holder(name)
        if process is None:
            return AdoptionFailed(name, "found another copy of itself, which has left since")
        self.processes[name] = process
        self._digests[name] = ""
        self._save()
        return Adopted(name, process.pid)

    def terminate(self, name: str) -> None:
        """Ask a child to save and leave."""
        if name in self.processes:
            self.processes[name].terminate()

    def kill(self, name: str) -> None:
        """Kill a child and what it started."""
        if name in self.processes:
            self.processes[name].kill()

    def collect_ended(self) -> list[Exited]:
        """Collect the children that have ended since the last call."""
        ended = []
        for name, process in list(self.processes.items()):
            if process.ended():
                code, words = process.collect(), self._last_words(name, process.pid)
                note = self._note(name, process.pid)
                if code is None and note is not None:
                    code = note.code
                del self.processes[name]
                ended.append(Exited(name, code, words))
        if ended:
            self._save()
        return ended

    def limit_output(self) -> None:
        """Cut output files that a child floods."""
        for name in self.processes:
            file = self.output_file(name)
            # They are opened for appending: what comes next starts at the front again.
            if file.exists() and file.stat().st_size > OUTPUT_LIMIT:
                os.truncate(file, 0)
                self._log.warning("output-cut", actor=name, limit=OUTPUT_LIMIT)

    def expel_strays(self, now: float) -> None:
        """Kill those processes of actors no longer configured that didn't leave when asked."""
        for stray in list(self._strays):
            _, process, until = stray
            if process.ended():
                process.collect()
                self._strays.remove(stray)
            elif now > until:
                process.kill()

    def output_file(self, name: str) -> Path:
        """File with what a child wrote to its standard output and error."""
        return self._paths.logs / f"{name}.out"

    def clean(self) -> None:
        """Remove everything from the runtime directory; every child has ended."""
        for pattern in ("*.sock", "*.lock", "exit-*", STATE_FILE, "*.new"):
            for file in self._paths.runtime.glob(pattern):
                file.unlink(missing_ok=True)

    def _holder(self, name: str) -> Process | None:
        pid = holder(self._paths.lock(name))
        ticks = start_ticks(pid) if pid else None
        return None if ticks is None else Process.adopt(pid, ticks)

    def _send_away(self, name: str, process: Process) -> None:
        self._log.warning("not-configured", actor=name, pid=process.pid)
        process.terminate()
        self._strays.append((name, process, time.monotonic() + _STRAY_STOP_S))

    def _drift(self, name: str) -> str:
        if self._digests.get(name) in {None, "", self._children[name].digest()}:
            return ""
        return f"its specification has changed; `eris restart {name}` applies it"

    def _environment_of(self, name: str, specification: ChildSpecification) -> dict[str, str]:
        return {
            **self._environment,
            **import_environment(self._environment),
            **environment_of(specification),
            **self._paths.environment(),
            "ERIS_ACTOR": name,
            # The child's own watchdog is to end it, with a word about it, before we do without.
            "ERIS_STOP_SECONDS": f"{specification.stop_s * 0.9:.2f}",
        }

    def _note_file(self, name: str) -> Path:
        return self._paths.runtime / f"exit-{name}.json"

    def _note(self, name: str, pid: int) -> ExitNote | None:
        try:
            note = msgspec.json.decode(self._note_file(name).read_bytes(), type=ExitNote)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return note if note.pid in {0, pid} else None

    def _last_words(self, name: str, pid: int) -> str:
        note = self._note(name, pid)
        if note is not None and note.code:
            return note.reason
        if note is not None:
            return ""
        start = self._output_starts.get(name)
        file = self.output_file(name)
        if start is None or not file.is_file():
            return ""
        written = file.read_bytes()
        text = written[start if start <= len(written) else 0 :][-_LAST_WORDS:].decode(
            errors="replace"
        )
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    def _save(self) -> None:
        children = {
            name: ChildRecord(
                pid=process.pid,
                start_ticks=process.ticks,
                digest=self._digests.get(name, ""),
                restarts=self._restarts.get(name, 0),
            )
            for name, process in self.processes.items()
        }
        try:
            record.write(self._state_file, Record(boot_id=boot_id(), children=children))
        except OSError as error:
            # The disk is full, say. The lock files lead a successor to the children as well.
            self._log.error("record-not-written", error=str(error))
