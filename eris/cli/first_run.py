"""``python -m eris.cli.first_run``: what `make run` does, the whole of Eris in one go.

With a terminal it opens the console on a demo vault in ``demo/``. Without one it plays a turn on
a fresh vault, says what each process did, and exits 0 only if the note is there.
"""

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from eris.cli import failure
from eris.cli.init import make_vault
from eris.cli.starting import run_eris, start_system
from eris.config import load_settings
from eris.errors import ErisError
from eris.paths import paths_for
from eris.supervisor import control
from eris.surface import attach, follow_turn, submit
from eris.terminal_text import harmless
from proto.gatekeeper import ListTools, ToolList
from proto.inference import DescribeModel, ModelDescription
from proto.orchestrator import TurnView
from proto.supervisor import Status, StatusReport

DEMO = "demo"
SAID = "Save a note in notes/today.md saying that I should buy milk."
NOTE, WORD = "notes/today.md", "milk"

_TURN_SECONDS = 600.0
_ASK_SECONDS = 30.0

Say = Callable[[str], None]


def main() -> int:
    """Do it; return the exit code."""
    environ = {key: value for key, value in os.environ.items() if key != "ERIS_VAULT"}
    try:
        if sys.stdin.isatty() and sys.stdout.isatty():
            return open_console(Path.cwd() / DEMO, environ)
        with tempfile.TemporaryDirectory(prefix="eris-") as folder:
            return play(Path(folder), environ, _say)
    except ErisError as error:
        return failure.report(error, as_json=False)
    except KeyboardInterrupt:
        return failure.EXIT_INTERRUPTED


def open_console(vault: Path, environ: Mapping[str, str]) -> int:
    """Open the console on a demo vault; the system stops when it's left.

    Raises:
        ErisError: The vault can't be made, or the system can't be started.
    """
    make_vault(vault, "", dict(environ))
    start_system(vault, environ, sys.stdout)
    try:
        command = [sys.executable, "-m", "eris", "console", "--vault", str(vault)]
        return subprocess.run(command, env=dict(environ), check=False).returncode
    finally:
        run_eris("down", "--vault", str(vault), environ=environ, out=sys.stdout)


def play(folder: Path, environ: Mapping[str, str], say: Say) -> int:
    """Play one turn in a vault of its own below ``folder``; everything it makes stays there.

    Raises:
        ErisError: The system can't be started, or the turn can't be handed in.
    """
    own = {
        **environ,
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    vault = folder / DEMO
    say(f"A fresh vault: {make_vault(vault, '', own).vault}")
    start_system(vault, own, sys.stdout)
    try:
        view = _turn(vault, own, say)
    finally:
        run_eris("down", "--vault", str(vault), environ=own, out=sys.stdout)
    note = vault / NOTE
    text = note.read_text(encoding="utf-8", errors="replace") if note.is_file() else ""
    if WORD in text.lower():
        say(f"The note is there. {NOTE}: {text.strip()!r}")
        return failure.EXIT_OK
    found = f"{NOTE}: {text.strip()!r}" if note.is_file() else f"there is no {NOTE}"
    say(f"The note isn't as it was asked for: {found}. The turn ended {view.state}.")
    return failure.EXIT_FAILURE


def _turn(vault: Path, environ: Mapping[str, str], say: Say) -> TurnView:
    paths = paths_for(vault, environ)
    settings = load_settings(vault, environ).settings
    with attach("cli", paths, settings) as port:
        model = port.ask(
            "inference", DescribeModel(), ModelDescription, within=_ASK_SECONDS, retry=True
        )
        tools = port.ask("gatekeeper", ListTools(), ToolList, within=_ASK_SECONDS, retry=True).tools
        owners = {tool.declaration.name: tool.owner for tool in tools}
        say(f"{'cli':<13} {SAID}")
        turn = submit(port, "main", SAID, uuid.uuid4().hex).turn
        *_, view = follow_turn(port, "main", turn, _TURN_SECONDS)
    for process, words in account_of(view, model, owners):
        say(f"{process:<13} {words}")
    report = control.request(paths, Status(), StatusReport, within=_ASK_SECONDS)
    pids = ", ".join(f"{actor.name} {actor.pid}" for actor in report.actors)
    say(f"{'erisd':<13} pid {report.pid}; {pids}")
    return view


def account_of(
    view: TurnView, model: ModelDescription, owners: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return what each process did in a turn, as pairs of its name and a sentence."""
    usage = view.usage
    offered = ", ".join(view.offered) or "nothing"
    speed = usage.generated / usage.decode_ms * 1000 if usage.decode_ms else 0.0
    segments = ", ".join(f"{name} {count}" for name, count in usage.segments.items())
    read = f"read {usage.prefilled} tokens and took {usage.cached} from its cache"
    wrote = f"wrote {usage.generated} tokens, {usage.forced} of them forced by the grammar"
    rows = [
        ("router", f"found {offered} in {usage.route_ms:.0f} ms"),
        (
            "gatekeeper",
            f"made the grammar for these {len(view.offered)} in {usage.offer_ms:.0f} ms",
        ),
        ("inference", f"{model.name}, context of {model.context_length} tokens"),
        ("", f"last prompt: {usage.prompt} tokens ({segments})"),
        ("", f"{read} in {usage.prefill_ms / 1000:.1f} s, over {usage.rounds} rounds"),
        ("", f"{wrote}, in {usage.decode_ms / 1000:.1f} s ({speed:.1f} tokens per second)"),
    ]
    for call in view.calls:
        rows += [
            ("gatekeeper", f"{call.tool} {call.arguments}"),
            (owners.get(call.tool, "?"), f"{call.state}: {call.receipt or call.content}"),
        ]
    if view.thought:
        rows.append(("orchestrator", f"thought: {view.thought}"))
    answer = f"{view.state} after {usage.total_ms / 1000:.1f} s"
    if usage.recoveries:
        answer += f" and {usage.recoveries} attempts to recover"
    return [*rows, ("orchestrator", f"{answer}: {view.message}")]


def _say(text: str) -> None:
    sys.stdout.write(harmless(text) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
