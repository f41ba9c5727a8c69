"""Reminders over simulated days while processes are killed and the clock is set.

    python -m tests.chaos_agenda --reminders 200 --seed 7

Half of the reminders live around the end of summer time, half around its beginning. In each step
time passes; sometimes the clock is set two hours ahead or back, the user travels, or a process is
killed: agenda, orchestrator, supervisor, or a surface. Surfaces write what they show into files.
At the end every time that came, worked out here without the agenda's code, was delivered once on a
surface or skipped with a reason, no surface showed one twice, and each of Eris's own turns was one.
"""

import argparse
import contextlib
import datetime as dt
import json
import os
import random
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
from dateutil import rrule

from actors.agenda.record import Entry, Item, Occurrence
from eris.envelope import Envelope, render_envelope
from eris.errors import ErisError
from proto.agenda import (
    AddItem,
    AgendaChanged,
    AgendaReport,
    DescribeAgenda,
    ItemKind,
    Missed,
    OccurrenceState,
    Schedule,
)
from tests.problem_actors.agenda_with_clock import TurnedClock
from tests.supervised import Supervised
from tests.support import REPOSITORY, wait_until

ZONE = "Europe/Berlin"
SPANS = {"autumn": "2026-10-23T12:00:00", "spring": "2027-03-26T12:00:00"}
DAYS = 4
STEPS = 60
VICTIMS = ("agenda", "orchestrator", "erisd", "console", "desktop")
CONFIGURATION = """
[supervisor]
actors = ["bus", "inference", "gatekeeper", "router", "agenda", "orchestrator"]
[defaults]
intensity = 10000
stable_s = 0.5
backoff_max_s = 0.2
[actor.agenda]
command = ["{python}", "-m", "tests.problem_actors.agenda_with_clock"]
[actor.inference]
command = ["{python}", "-m", "tests.problem_actors.scripted_inference"]
[actor.router]
after = ["bus", "gatekeeper"]
"""
RULES = ("", "", "FREQ=DAILY", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "FREQ=HOURLY;INTERVAL=5")


@dataclass
class Tally:
    """What came of a span."""

    span: str
    reminders: int = 0
    came: int = 0
    delivered: int = 0
    skipped: int = 0
    own_turns: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    jumps: int = 0
    slowest_s: float = 0.0
    """From the agenda's first answer after a kill until everything due was fired."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


class Simulation:
    """One vault, its processes, and a clock that only this program turns."""

    def __init__(self, folder: Path, start: str, chance: random.Random) -> None:
        script = folder / "script"
        script.mkdir(parents=True)
        answer = render_envelope(Envelope(thought="", message_to_user="I did it."))
        (script / "script.json").write_text(json.dumps([{"text": answer}]))
        self.clock = TurnedClock(folder / "clock.json")
        self.start = dt.datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(ZONE)).timestamp()
        self.wall, self.run = self.start, 1000.0
        self.walls: list[float] = []
        """What the clock has shown, in order."""
        self.chance = chance
        self.folder = folder
        self.turn()
        extra = {
            "ERIS_TEST_CLOCK": str(self.clock.file),
            "ERIS_SCRIPT": str(script),
            "ERIS_MODEL_EMBEDDING": "",
            "ERIS_AGENDA_OWN_TURNS": "1000",
        }
        self.system = Supervised(folder, CONFIGURATION, extra)
        self.screens: dict[str, subprocess.Popen[bytes]] = {}
        self.names: dict[str, str] = {"console": "", "desktop": "desktop"}

    def turn(self) -> None:
        """Show the time to the agenda."""
        self.walls.append(self.wall)
        self.clock.write(wall=self.wall, run=self.run, zone=ZONE)

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.run += seconds
        self.turn()

    def set(self, seconds: float) -> None:
        """Set the clock."""
        self.wall += seconds
        self.turn()

    def begin(self) -> None:
        """Start everything."""
        self.system.start(within=120)
        self.port = self.system.connect("cli")
        for kind in self.names:
            self.show(kind)

    def show(self, kind: str) -> None:
        """Attach a surface: a console under a new name each time, as consoles do."""
        if kind == "console":
            self.names[kind] = f"console.{secrets.token_hex(4)}"
        environ = {**self.system.environ, **self.system.paths.environment()}
        name = self.names[kind]
        file = self.folder / f"screen-{name}.txt"
        command = [sys.executable, "-m", "tests.problem_actors.screen", name, str(file)]
        self.screens[kind] = subprocess.Popen(
            command, env=environ, cwd=REPOSITORY, stdin=subprocess.DEVNULL
        )

    def kill(self, victim: str) -> None:
        """End a process as a loss of power would; somebody starts it again."""
        if victim in self.screens:
            self.screens[victim].kill()
            self.screens[victim].wait(10)
            self.show(victim)
        elif victim == "erisd":
            self.system.kill_supervisor()
            self.system.start(within=120)
        else:
            pids: list[int] = []
            # Of one that is away between two lives the pid is 0, and that would be ourselves.
            self.system.wait_for(
                lambda _: pids.append(self.system.pid(victim)) or pids[-1] > 0, 60, victim
            )
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[-1], signal.SIGKILL)

    def add(self, number: int) -> tuple[str, Schedule]:
        """Add a reminder at a random time; repeated until it's answered."""
        own = number % 10 == 0
        rule = "" if own else self.chance.choice(RULES)
        # Two days back, for rules that have begun already.
        begin = self.start + self.chance.uniform(-2 if rule else 0.01, DAYS) * 86_400
        wall = dt.datetime.fromtimestamp(begin, ZoneInfo(ZONE)).replace(
            tzinfo=None, microsecond=0, fold=0
        )
        schedule = Schedule(start=wall.isoformat(), zone=ZONE, rule=rule)
        kind = ItemKind.SELF if own else self.chance.choice((ItemKind.REMINDER, ItemKind.TASK))
        request = AddItem(
            key=f"add-{number}",
            kind=kind,
            text=f"reminder {number}",
            schedule=schedule,
            missed=self.chance.choice((Missed.EACH, Missed.EACH, Missed.ONCE, Missed.SKIP)),
            grace_s=self.chance.choice((0, 300, 86_400)),
        )
        changed = self.port.ask("agenda", request, AgendaChanged, within=60, retry=True)
        return changed.item.id, schedule

    def settle(self, within: float = 60.0) -> float:
        """Wait until all that is due is fired; returns the seconds from the first answer on."""
        answered, report = 0.0, None
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            with contextlib.suppress(ErisError):
                report = self.port.ask("agenda", DescribeAgenda(), AgendaReport, within=5)
                answered = answered or time.monotonic()
                if report.now == self.wall and not 0 < report.next_due <= self.wall:
                    return time.monotonic() - answered
            time.sleep(0.02)
        raise AssertionError(f"not fired within {within} s: {report}")

    def unseen(self) -> int:
        """How many wait to be seen, or to be done by Eris itself."""
        found = 0
        with contextlib.closing(self.database()) as database:
            (found,) = database.execute(
                "SELECT count(*) FROM occurrence WHERE state IN ('claimed', 'waiting')"
            ).fetchone()
        return int(found)

    def database(self) -> sqlite3.Connection:
        """The agenda's file, to read."""
        return sqlite3.connect(f"file:{self.system.paths.state}/agenda.sqlite?mode=ro", uri=True)

    def close(self) -> None:
        """End everything."""
        for screen in self.screens.values():
            screen.kill()
            screen.wait(10)
        self.system.close()


def expected(schedule: Schedule, added: float, latest: float) -> set[int]:
    """When something is due, worked out by the library and the zone's rules alone."""
    zone = ZoneInfo(ZONE)
    start = dt.datetime.fromisoformat(schedule.start)
    if "HOURLY" in schedule.rule:
        first = _instant(start, zone)
        dues = {first + 5 * 3600 * number for number in range(200)}
    elif schedule.rule:
        walls = rrule.rrulestr(schedule.rule, dtstart=start)
        end = start + dt.timedelta(days=3 * DAYS + 8)
        dues = {_instant(wall, zone) for wall in walls.between(start, end, inc=True)}
    else:
        dues = {_instant(start, zone)}
    return {due for due in dues if int(added) < due <= latest}


def _instant(wall: dt.datetime, zone: ZoneInfo) -> int:
    """The first of two equal wall times; one in a gap moves forward by the gap's length."""
    return int(wall.replace(tzinfo=zone, fold=0).timestamp())


def play(span: str, reminders: int, chance: random.Random, folder: Path) -> Tally:
    """Play one span of days."""
    tally = Tally(span, reminders)
    simulation = Simulation(folder, SPANS[span], chance)
    asked: dict[str, tuple[Schedule, int]] = {}
    try:
        simulation.begin()
        to_add = list(range(reminders))
        for step in range(STEPS):
            share = len(to_add) // max(1, STEPS // 2 - step) if step < STEPS // 2 else len(to_add)
            for number in [to_add.pop() for _ in range(min(share, len(to_add)))]:
                item, schedule = simulation.add(number)
                asked[item] = (schedule, len(simulation.walls) - 1)
            _disturb(simulation, chance, tally)
        _end(simulation, tally)
        _judge(simulation, tally, asked)
    finally:
        simulation.close()
    return tally


def _disturb(simulation: Simulation, chance: random.Random, tally: Tally) -> None:
    """Let time pass, with or without an accident."""
    victim = chance.choice((*VICTIMS, "", "")) if chance.random() < 0.8 else ""
    jump = chance.choice((7200, -7200)) if chance.random() < 0.15 else 0
    seconds = DAYS * 86_400 / STEPS * chance.uniform(0.3, 1.7)
    if victim and chance.random() < 0.5:
        simulation.kill(victim)  # before: the time comes while it's away
    simulation.pass_time(seconds)
    if jump:
        simulation.set(jump)
        tally.jumps += 1
    if victim:
        time.sleep(chance.uniform(0, 0.1))  # at any moment of what is under way now
        simulation.kill(victim)
        tally.kills[victim] += 1
    took = simulation.settle()
    if victim == "agenda":
        tally.slowest_s = max(tally.slowest_s, took)


def _end(simulation: Simulation, tally: Tally) -> None:
    """Let a fresh console see what is left."""
    simulation.kill("console")
    simulation.settle()
    try:
        wait_until(lambda: simulation.unseen() == 0, 120, "everything seen")
    except AssertionError:
        tally.broken.append(f"{simulation.unseen()} were not seen in the end")


def _judge(simulation: Simulation, tally: Tally, asked: dict[str, tuple[Schedule, int]]) -> None:
    """Compare what should have come with what is on disk and on the screens."""
    shown: Counter[str] = Counter()
    for file in simulation.folder.glob("screen-*.txt"):
        lines = Counter(line.partition("\t")[0] for line in file.read_text().splitlines())
        tally.doubled += [f"{one} {n} times on {file.stem}" for one, n in lines.items() if n > 1]
        shown.update(set(lines))
    with contextlib.closing(simulation.database()) as database:
        items = _rows(database, "SELECT record FROM item", Item)
        occurrences = _rows(database, "SELECT record FROM occurrence", Occurrence)
        reasons = {
            (number, entry.occurrence): entry.reason
            for number, text in database.execute("SELECT item, entry FROM history")
            if (entry := msgspec.json.decode(text, type=Entry)).event == "skipped"
        }
    by_item: dict[int, dict[int, Occurrence]] = {item.number: {} for item in items}
    for one in occurrences:
        by_item[one.item][one.due] = one
    for item, (schedule, added) in asked.items():
        shown_since = simulation.walls[added:]
        came = expected(schedule, shown_since[0], max(shown_since))
        rows = by_item[int(item[1:])]
        tally.came += len(came)
        tally.lost += [f"{item} due {due} never came" for due in came - set(rows)]
        tally.broken += [f"{item} came at {due}, unasked" for due in set(rows) - came]
        for one in rows.values():
            if one.state is OccurrenceState.SKIPPED:
                tally.skipped += 1
                if not reasons.get((one.item, one.number)):
                    tally.broken.append(f"{one.id} was skipped without a reason")
            elif shown[one.id]:
                tally.delivered += 1
            else:
                tally.lost.append(f"{one.id} is {one.state} and was on no screen")
    tally.own_turns = _own_turns(simulation, tally, occurrences)


def _own_turns(simulation: Simulation, tally: Tally, occurrences: list[Occurrence]) -> int:
    """Each of Eris's own turns was one, and was answered."""
    path = simulation.system.paths.state / "orchestrator.sqlite"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        keys = [row[0] for row in database.execute("SELECT idem FROM turn")]
    wanted = {f"agenda/{one.id}" for one in occurrences if one.turn}
    tally.broken += [f"{key} has no turn" for key in wanted - set(keys)]
    tally.doubled += [f"{key} has {n} turns" for key, n in Counter(keys).items() if n > 1]
    tally.broken += [
        f"{one.id} was answered {one.answer!r}"
        for one in occurrences
        if one.turn and one.answer != "I did it."
    ]
    return len(wanted)


def _rows(database: sqlite3.Connection, statement: str, kind: type) -> list:
    return [msgspec.json.decode(row[0], type=kind) for row in database.execute(statement)]


def measured(reminders: int, seed: int, folder: Path) -> list[Tally]:
    """Play both spans, half of the reminders in each."""
    chance = random.Random(seed)
    return [play(span, reminders // len(SPANS), chance, folder / span) for span in SPANS]


def main() -> int:
    """Play, and print what came of it; 0 only if nothing was lost, doubled or broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--reminders", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="keep the vault, state and logs")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="eris-chaos-agenda-"))
    began = time.monotonic()
    tallies = measured(options.reminders, options.seed, folder)
    for one in tallies:
        kills = ", ".join(f"{name} {number}" for name, number in sorted(one.kills.items()))
        print(
            f"{one.span}: {one.reminders} reminders, {one.came} times came: {one.delivered}"
            f" delivered, {one.skipped} skipped with a reason, {one.own_turns} own turns;"
            f" killed: {kills}; clock set {one.jumps} times;"
            f" fired {one.slowest_s:.2f} s after a restart at most"
        )
        for problem in (*one.lost, *one.doubled, *one.broken)[:20]:
            print(f"  {problem}")
    bad = [problem for one in tallies for problem in (*one.lost, *one.doubled, *one.broken)]
    lost, doubled = (sum(len(getattr(t, name)) for t in tallies) for name in ("lost", "doubled"))
    print(f"chaos of reminders: lost {lost}, doubled {doubled}, {time.monotonic() - began:.0f} s")
    if options.keep or bad:
        print(f"  state and logs: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.pop("TZ", None)
    sys.exit(main())
