"""What the whole system costs: turns, restarts, memory, the command line."""

import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from eris.actor import Port
from proto.inference import Chunk, Generate, Generated, Message
from proto.orchestrator import (
    CallChanged,
    MessageDelta,
    NewSession,
    Progress,
    SessionOpened,
    SessionSnapshot,
    SubmitTurn,
    ThoughtDelta,
    TurnAccepted,
    TurnChanged,
    TurnState,
    TurnView,
)
from tests.bench.decoding import ITEM, MODEL, message
from tests.supervised import Supervised, supervised
from tests.support import Processes, processes

EVENTS = SessionSnapshot | TurnChanged | ThoughtDelta | MessageDelta | CallChanged | Progress
ENDED = {TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED}
CONVERSATION = (
    "Save a note in notes/today.md saying that I should buy milk.",
    "What does my note notes/today.md say?",
    "Thank you.",
    "Add to notes/today.md that the train leaves at nine.",
    "What does my note notes/today.md say now?",
)
HEAVY = {"inference", "memory"}
PARAGRAPH = (
    "The harbour was quiet in the morning, and the boats lay side by side at the old wooden pier. "
    "A keeper walked along the wall, counted the lamps, wrote the numbers into his book, and went "
    "home to have breakfast with his daughter before the wind came up again from the west. "
)


def turn(port: Port, session: str, text: str) -> TurnView:
    """Play one turn to its end."""
    subscription = port.subscribe("orchestrator", f"session:{session}", item=EVENTS)
    body = SubmitTurn(session=session, text=text, idem=secrets.token_hex(8))
    accepted = port.ask("orchestrator", body, TurnAccepted, within=30, retry=True)
    deadline = time.monotonic() + 300
    try:
        while time.monotonic() < deadline:
            event = subscription.next(1.0)
            views = event.turns if isinstance(event, SessionSnapshot) else ()
            views = (event.view,) if isinstance(event, TurnChanged) else views
            for view in views:
                if view.turn == accepted.turn and view.state in ENDED:
                    return view
    finally:
        subscription.close()
    raise TimeoutError(f"the turn {text!r} has not ended")


def running() -> dict[str, Any]:
    """Measure on one running system: prefill, memory, restart of an actor, the command line."""
    with tempfile.TemporaryDirectory() as folder, supervised(Path(folder)) as system:
        system.start(within=180)
        idle = system.status()
        rss = sum(actor.rss_bytes for actor in idle.actors if actor.name not in HEAVY)
        rss += _rss_of(idle.pid)
        restart = _restart_router(system)
        cli = {
            "status_ms": _command(system, "status", "--json"),
            "help_ms": _command(system, "--help"),
        }
        port = system.connect("console")
        port.ask("orchestrator", NewSession(name="bench"), SessionOpened, within=30, retry=True)
        views = [turn(port, "bench", text) for text in CONVERSATION]
        fifth = views[-1].usage
        return {
            "turn": {
                "prefill_ratio": {
                    "value": round(fifth.prefilled / fifth.prompt, 3),
                    "prefilled_tokens": fifth.prefilled,
                    "prompt_tokens": fifth.prompt,
                    "rounds": fifth.rounds,
                },
                "conversation_s": {
                    "value": round(sum(view.usage.total_ms for view in views) / 1000, 1),
                    "states": " ".join(view.state for view in views),
                },
            },
            "system": {
                "rss_total_mb": {
                    "value": round(rss / 1e6, 1),
                    **{
                        f"{actor.name}_mb": round(actor.rss_bytes / 1e6, 1) for actor in idle.actors
                    },
                }
            },
            "restart": {"actor_s": restart},
            "cli": cli,
        }


def _rss_of(pid: int) -> int:
    return int(psutil.Process(pid).memory_info().rss)


def _restart_router(system: Supervised) -> dict[str, Any]:
    before = system.pid("inference")
    took = []
    for _ in range(3):
        start = time.perf_counter()
        system.restart("router")
        took.append(time.perf_counter() - start)
    return {
        "value": round(statistics.median(took), 2),
        "inference_pid_unchanged": system.pid("inference") == before,
    }


def _command(system: Supervised, *arguments: str) -> dict[str, float]:
    took = []
    vault = () if arguments[0].startswith("-") else ("--vault", str(system.vault))
    eris = Path(sys.executable).with_name("eris")
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run(
            [str(eris), *arguments, *vault],
            env=system.environ,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        took.append((time.perf_counter() - start) * 1000)
    return {"value": round(statistics.median(took), 1), "slowest": round(max(took), 1)}


def inference_restart() -> dict[str, Any]:
    """First token after a restart with the conversation saved, over one that starts cold."""
    extra = {"ERIS_MODEL_CHAT": MODEL, "ERIS_MODEL_CONTEXT_LENGTH": "4096"}
    with tempfile.TemporaryDirectory() as folder, processes(Path(folder), extra) as group:
        group.start("bus")
        group.start("inference")
        port = group.connect("orchestrator")
        history = [message("user", PARAGRAPH * 34, "history")]
        answer, tokens, _ = _first_token(port, history)
        history += [message("assistant", answer), message("user", "And then?")]
        warm = _after_restart(group, port, history, keep=True)
        cold = _after_restart(group, port, history, keep=False)
        return {
            "value": round(warm / cold, 4),
            "restored_s": round(warm, 3),
            "cold_s": round(cold, 3),
            "prompt_tokens": tokens,
        }


def _after_restart(group: Processes, port: Port, history: list[Message], *, keep: bool) -> float:
    group.children["inference"].terminate()
    group.children["inference"].wait(30)
    if not keep:
        shutil.rmtree(group.paths.state / "kv", ignore_errors=True)
    group.start("inference")
    return _first_token(port, history)[2]


def _first_token(port: Port, history: list[Message]) -> tuple[str, int, float]:
    body = Generate(messages=tuple(history), session="bench", max_tokens=24)
    start = time.perf_counter()
    reader = port.open("inference", body, item=ITEM, result=Generated)
    first, text = 0.0, ""
    for item in reader:
        if isinstance(item, Chunk):
            first = first or time.perf_counter() - start
            text += item.text
    return text, reader.result.prompt_tokens, first
