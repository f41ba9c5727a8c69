"""Starting `erisd` in the background and waiting until it's up."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eris.errors import ConfigurationError, ErisError, UnavailableError
from eris.locks import holder
from eris.paths import Paths
from eris.supervisor import control
from eris.supervisor.child import EXIT_CONFIGURATION
from eris.supervisor.process import import_environment
from proto.supervisor import Status, StatusReport

_POLL_S = 0.1
_SETTLED = frozenset({"ready", "busy", "stopped", "failed"})


def start_detached(
    paths: Paths, environ: Mapping[str, str], options: Sequence[str] = ()
) -> "subprocess.Popen[bytes]":
    """Start a supervisor that outlives this process and this terminal.

    Args:
        paths: Places of the vault.
        environ: Its environment.
        options: More options of `erisd`.
    """
    paths.create()
    with _output_file(paths).open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "eris.supervisor", "--vault", str(paths.vault), *options],
            env={**environ, **import_environment(environ)},
            cwd=paths.state,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def wait_until_up(
    paths: Paths,
    process: "subprocess.Popen[bytes] | None",
    within: float,
    progress: Callable[[StatusReport], None] = lambda _report: None,
    *,
    answering: bool = False,
) -> StatusReport:
    """Wait until every child is up or given up, or the bus is given up.

    Args:
        paths: Places of the vault.
        process: The supervisor, if it was started just now.
        within: Seconds to wait.
        progress: Called with every report on the way.
        answering: Whether it's enough that the supervisor answers.

    Raises:
        ErisError: The supervisor ended, or isn't done in time.
    """
    until = time.monotonic() + within
    report: StatusReport | None = None
    while time.monotonic() < until:
        if process is not None and process.poll() is not None and not _somebody(paths):
            raise _ended(paths, process.returncode)
        if (paths.runtime / "erisd.sock").exists() and _somebody(paths):
            left = max(0.1, until - time.monotonic())
            report = control.request(paths, Status(), StatusReport, within=left)
            progress(report)
            if answering or _is_settled(report):
                return report
        time.sleep(_POLL_S)
    raise UnavailableError(
        f"Eris isn't up after {within:g} s; not ready: {_not_ready(report)}.",
        hint="See `eris status` and `eris logs erisd`; it goes on starting.",
    )


def complaints(paths: Paths) -> list[str]:
    """What the supervisor that was started last found to complain about."""
    file = _output_file(paths)
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    return [line for line in text.splitlines() if line.startswith(f"{control.NAME}: ")]


def _somebody(paths: Paths) -> int:
    return holder(paths.lock(control.NAME))


def _is_settled(report: StatusReport) -> bool:
    """Whether nothing more is to come; without the bus nobody else can get ready."""
    states = {actor.name: actor.state for actor in report.actors}
    return states.get("bus") == "failed" or all(state in _SETTLED for state in states.values())


def _not_ready(report: StatusReport | None) -> str:
    if report is None:
        return control.NAME
    return ", ".join(actor.name for actor in report.actors if actor.state not in _SETTLED)


def _ended(paths: Paths, code: int) -> ErisError:
    words = _output_file(paths).read_text(encoding="utf-8", errors="replace").strip()
    last = words.splitlines()[-1] if words else f"It ended with exit code {code}."
    if code == EXIT_CONFIGURATION:
        return ConfigurationError(last.removeprefix("erisd: "))
    return ErisError(f"The supervisor couldn't start: {last}", hint="See `eris logs erisd`.")


def _output_file(paths: Paths) -> Path:
    return paths.logs / f"{control.NAME}.out"
