"""A child as the operating system sees it: start, identity, signals, end.

A process is known by its pid *and* its start time *and* the boot it belongs to, for pids are used
again. On Linux a pidfd is opened first and compared afterwards, so that a signal can't reach a
stranger. Elsewhere the same is done by polling, which leaves a gap of microseconds.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import eris

_FOLDER = Path(eris.__file__).parent.parent
"""Where the packages are: a checkout, or site-packages."""

LINUX = sys.platform == "linux"

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_START_FIELD = 22 - 3
"""Index of the start time among the fields of ``/proc/<pid>/stat`` that follow the name."""
_RSS_FIELD = 24 - 3


def import_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which a Python started elsewhere imports the same Eris as we do."""
    searched = [part for part in environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    if _FOLDER.name not in {"site-packages", "dist-packages"} and str(_FOLDER) not in searched:
        searched.insert(0, str(_FOLDER))
    # Safe: the working directory is not searched.
    return {"PYTHONPATH": os.pathsep.join(searched), "PYTHONSAFEPATH": "1"}


def boot_id() -> str:
    """Return what tells this boot of the machine from every other."""
    if LINUX:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    import psutil  # noqa: PLC0415 - 8 MB that Linux doesn't need

    return str(int(psutil.boot_time()))


def start_ticks(pid: int) -> int | None:
    """Return when a process started, in hundredths since boot; None if it isn't running."""
    if LINUX:
        fields = _stat(pid)
        return None if fields is None or fields[0] in "ZX" else int(fields[_START_FIELD])
    import psutil  # noqa: PLC0415

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return int(process.create_time() * 100)
    except psutil.Error:
        return None


def resident_bytes(pid: int) -> int:
    """Return the memory a process occupies; 0 if it isn't running."""
    if LINUX:
        fields = _stat(pid)
        return int(fields[_RSS_FIELD]) * _PAGE if fields else 0
    import psutil  # noqa: PLC0415

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in parentheses and may hold anything, spaces and parentheses included.
    return text.rpartition(")")[2].split()


@dataclass
class Process:
    """A running child, started by us or by an earlier supervisor."""

    pid: int
    ticks: int
    """Its start time, as `start_ticks` gives it."""
    descriptor: int = -1
    """A pidfd, readable once the process has ended; -1 where the system has none."""
    own: subprocess.Popen[bytes] | None = None
    """Set if we are its parent; only then is there an exit status."""

    @classmethod
    def spawn(
        cls, command: Sequence[str], environment: Mapping[str, str], output: Path, folder: Path
    ) -> Self:
        """Start a process in a session of its own. Call it from the main thread.

        Args:
            command: Program and arguments.
            environment: All of its environment.
            output: File that its output is appended to; a pipe would block it once we are gone.
            folder: Its working directory.

        Raises:
            OSError: It can't be started.
        """
        target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            # It outlives us on purpose: nobody waits for it in a `with` block.
            own = subprocess.Popen(
                list(command),
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=target,
                start_new_session=True,
            )
        finally:
            os.close(target)
        # It's our child and not yet reaped: its pid can't have passed to anybody else.
        return cls(own.pid, start_ticks(own.pid) or 0, _open(own.pid), own)

    @classmethod
    def adopt(cls, pid: int, ticks: int) -> Self | None:
        """Take over a process that is known by pid and start time; None if it has ended."""
        try:
            descriptor = _open(pid)
        except (ProcessLookupError, PermissionError):
            return None
        if start_ticks(pid) == ticks:
            return cls(pid, ticks, descriptor)
        if descriptor >= 0:
            os.close(descriptor)
        return None

    def ended(self) -> bool:
        """Whether the process has ended. Doesn't collect it."""
        if self.descriptor >= 0:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLIN)
            return bool(poll.poll(0))
        return start_ticks(self.pid) != self.ticks

    def terminate(self) -> None:
        """Ask it to save and leave."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it and everything in its process group."""
        if not self.ended():
            _kill_group(self.pid)
            self._signal(signal.SIGKILL)

    def collect(self) -> int | None:
        """Collect a process that has ended, and kill what it left behind.

        Returns:
            Its exit code, minus the number of the signal that killed it, or None for a process
            whose parent we aren't.
        """
        if self.own is not None or start_ticks(self.pid) is None:
            # Not reaped, or gone with nobody else using the number: the group is still its own.
            _kill_group(self.pid)
        code = self.own.wait() if self.own is not None else None
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        return code

    def uptime(self) -> float:
        """Seconds since it started."""
        if LINUX:
            return max(
                0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - self.ticks / _TICKS_PER_SECOND
            )
        return max(0.0, time.time() - self.ticks / 100)

    def _signal(self, number: signal.Signals) -> None:
        try:
            if self.descriptor >= 0:
                signal.pidfd_send_signal(self.descriptor, number)
            elif start_ticks(self.pid) == self.ticks:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass  # it has just ended, which is what was wanted


def _open(pid: int) -> int:
    return os.pidfd_open(pid) if LINUX else -1


def _kill_group(pid: int) -> None:
    # Nobody is left in it; macOS says EPERM for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
