"""Kills processes at random points of turns that write, and checks what was promised.

    python -m tests.chaos --rounds 50 --seed 7

Every round submits a turn that has a note written, kills one process, the supervisor included, at
a random moment, and waits for the turn's end. Then: the turn has ended, its note is there once,
exactly what the ledger says was written has been written, and `inference` has kept its pid unless
it was the victim. At the end no process and no socket is left.
"""

import argparse
import contextlib
import random
import secrets
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from eris.actor import Port
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
from tests.supervised import Supervised

ACTORS = (
    "bus",
    "inference",
    "router",
    "gatekeeper",
    "vault",
    "memory",
    "agenda",
    "orchestrator",
)
VICTIMS = (*ACTORS, "erisd")
EVENTS = SessionSnapshot | TurnChanged | ThoughtDelta | MessageDelta | CallChanged | Progress
ENDED = {TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED}
TURN_SECONDS = 240.0
TYPICAL_TURN_SECONDS = 4.5


@dataclass
class Round:
    """What one round did and what it broke."""

    number: int
    victim: str
    delay: float
    phase: str = ""
    state: str = "not ended"
    seconds: float = 0.0
    written: bool = False
    broken: list[str] = field(default_factory=list)


def fact_of(number: int) -> str:
    """A sentence that occurs in one round only."""
    return f"parcel {number} weighs {number + 100} grams"


def play(system: Supervised, chance: random.Random, number: int, victim: str) -> Round:
    """Play one round."""
    this = Round(number, victim, chance.uniform(0.0, TYPICAL_TURN_SECONDS))
    session = f"chaos-{number}"
    port = system.connect("console")
    pid_before = system.pid("inference")
    port.ask("orchestrator", NewSession(name=session), SessionOpened, within=30, retry=True)
    subscription = port.subscribe("orchestrator", f"session:{session}", item=EVENTS)
    started = time.monotonic()
    text = f"Save a note in notes/round-{number}.md saying that {fact_of(number)}."
    turn = submit(port, session, text)
    killed = False
    view: TurnView | None = None
    while time.monotonic() - started < TURN_SECONDS:
        event = subscription.next(0.02)
        if isinstance(event, Progress) and not killed:
            this.phase = event.phase
        if isinstance(event, SessionSnapshot):
            view = next((seen for seen in event.turns if seen.turn == turn), view)
        if isinstance(event, TurnChanged) and event.view.turn == turn:
            view = event.view
        ended = view is not None and view.state in ENDED
        # A turn that was quicker than the delay: the kill then hits what follows it.
        if not killed and (ended or time.monotonic() - started >= this.delay):
            killed = True
            kill(system, victim)
        if ended and killed:
            break
    subscription.close()
    this.seconds = time.monotonic() - started
    system.wait_for(lambda report: report.state == "ready", within=120, what="everybody up again")
    judge(system, this, view)
    if victim != "inference" and system.pid("inference") != pid_before:
        this.broken.append("inference was restarted")
    return this


def submit(port: Port, session: str, text: str) -> str:
    """Hand the turn in; with its key it can be repeated safely."""
    body = SubmitTurn(session=session, text=text, idem=secrets.token_hex(8))
    return port.ask("orchestrator", body, TurnAccepted, within=60, retry=True).turn


def kill(system: Supervised, victim: str) -> None:
    """Kill a process; somebody starts the supervisor again, as a person would."""
    if victim == "erisd":
        system.kill_supervisor()
        system.start(within=120)
    else:
        with contextlib.suppress(ProcessLookupError):
            system.kill(victim)


def judge(system: Supervised, this: Round, view: TurnView | None) -> None:
    """Compare what was promised with what is on disk."""
    if view is None or view.state not in ENDED:
        this.broken.append("the turn has not ended")
        return
    this.state = view.state
    writes = [call for call in view.calls if call.tool == "vault:write" and call.receipt]
    text = "".join(
        path.read_text("utf-8") for path in sorted(system.vault.rglob("*.md")) if path.is_file()
    )
    times = text.lower().count(fact_of(this.number))
    this.written = times > 0
    if times > 1:
        this.broken.append(f"the note was written {times} times")
    if len(writes) > 1:
        this.broken.append(f"the turn has {len(writes)} receipts for one note")
    if bool(writes) != this.written:
        this.broken.append(f"{len(writes)} receipts, {times} notes")


def leftovers(system: Supervised) -> list[str]:
    """Stop the system in order and say which processes and files are still there."""
    system.kill_supervisor(signal.SIGTERM)
    found = [f"process {pid} is still there" for pid in system.survivors()]
    runtime = system.paths.runtime
    if runtime.exists():
        found += [f"{file.name} is still there" for file in runtime.iterdir()]
    return found


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="keep the vault, state and logs")
    return parser.parse_args()


def main() -> int:
    """Play the rounds and print a table; 0 only if nothing was broken."""
    options = parse()
    chance = random.Random(options.seed)
    folder = Path(tempfile.mkdtemp(prefix="eris-chaos-"))
    # Every process is a victim equally often; only the order and the moments are random.
    victims = [VICTIMS[number % len(VICTIMS)] for number in range(options.rounds)]
    chance.shuffle(victims)
    rounds: list[Round] = []
    system = Supervised(folder)
    try:
        system.start(within=120)
        print(f"chaos: {options.rounds} rounds, seed {options.seed}", flush=True)
        print(
            "round  victim        after  during        turn      took    note  broken", flush=True
        )
        for number, victim in enumerate(victims):
            this = play(system, chance, number, victim)
            rounds.append(this)
            print(
                f"{number:>5}  {victim:<12} {this.delay:5.1f} s  {this.phase:<12}  {this.state:<8}"
                f" {this.seconds:6.1f} s  {'yes' if this.written else 'no ':<4}"
                f"  {'; '.join(this.broken) or '-'}",
                flush=True,
            )
        remains = leftovers(system)
    finally:
        system.close()
    broken = [problem for this in rounds for problem in this.broken] + remains
    done = sum(this.state == TurnState.DONE for this in rounds)
    written = sum(this.written for this in rounds)
    print(
        f"chaos: {len(rounds)} turns accepted, {done} answered, {written} notes written;"
        f" left behind: {len(remains)}; broken promises: {len(broken)}"
    )
    for problem in remains:
        print(f"  {problem}")
    if options.keep or broken:
        print(f"  state and logs: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(rounds) - sum(bool(r.broken) for r in rounds)} passed, {len(broken)} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
