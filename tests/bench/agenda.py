"""The agenda with 10,000 items: adding, finding what is due next, and sleeping until then.

``lost`` and ``doubled`` come from a shorter run of `tests.chaos_agenda`.
"""

import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from actors.agenda.store import Store
from eris.actor import Port
from proto.agenda import (
    AddItem,
    AgendaChanged,
    AgendaReport,
    DescribeAgenda,
    ItemKind,
    Items,
    ListItems,
    Schedule,
    SimulateAgenda,
    Simulated,
)
from tests import chaos_agenda
from tests.support import processes

ITEMS = int(os.environ.get("ERIS_BENCH_ITEMS", "10000"))
REMINDERS = int(os.environ.get("ERIS_BENCH_REMINDERS", "60"))
IDLE_SECONDS = int(os.environ.get("ERIS_BENCH_IDLE", "180"))
LOOKS = 300
RULES = ("", "", "", "FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=MONTHLY;BYMONTHDAY=31")


def measure() -> dict[str, Any]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="eris-bench-agenda-") as name:
        folder = Path(name)
        kept = _kept(folder / "chaos")
        return {"agenda": {**kept, **_large(folder)}}


def _kept(folder: Path) -> dict[str, Any]:
    tallies = chaos_agenda.measured(REMINDERS, 7, folder)
    came = sum(one.came for one in tallies)
    kills = sum(sum(one.kills.values()) for one in tallies)
    slowest = max(one.slowest_s for one in tallies)
    return {
        "lost": {
            "value": sum(len(one.lost) + len(one.broken) for one in tallies),
            "came": came,
            "kills": kills,
            "after_restart_s": round(slowest, 2),
        },
        "doubled": {"value": sum(len(one.doubled) for one in tallies), "came": came},
    }


def _large(folder: Path) -> dict[str, Any]:
    with processes(folder, {"TZ": "Europe/Berlin"}) as group:
        group.start("bus")
        group.start("agenda")
        port = group.connect("cli")
        added = _added(port)
        listed = _timed(port, ListItems(limit=20), Items)
        simulated = _timed(port, SimulateAgenda(until="in two weeks"), Simulated)
        store = Store(group.paths.state / "agenda.sqlite")
        found = []
        for _ in range(LOOKS):
            begun = time.perf_counter()
            store.next_due()
            found.append(time.perf_counter() - begun)
        store.close()
        wakeups = _wakeups(port, group.children["agenda"].pid)
        open_items = port.ask("agenda", DescribeAgenda(), AgendaReport, within=30).open
    return {
        "add_ms_p95": {
            "value": _milliseconds(statistics.quantiles(added, n=20)[-1]),
            "median": _milliseconds(statistics.median(added)),
            "last_1000_p95": _milliseconds(statistics.quantiles(added[-1000:], n=20)[-1]),
            "items": open_items,
        },
        "next_due_ms": {
            "value": _milliseconds(statistics.quantiles(found, n=20)[-1]),
            "list_ms": _milliseconds(listed),
            "simulate_ms": _milliseconds(simulated),
        },
        "idle_wakeups_per_min": wakeups,
    }


def _added(port: Port) -> list[float]:
    """Add the items one after the other, through the bus; seconds each."""
    chance = random.Random(5)
    taken = []
    for number in range(ITEMS):
        day, hour = chance.randrange(1, 29), chance.randrange(24)
        schedule = Schedule(
            start=f"{chance.randrange(2030, 2040)}-{chance.randrange(1, 13):02}-{day:02}"
            f"T{hour:02}:00:00",
            zone=chance.choice(("Europe/Berlin", "America/New_York", "")),
            rule=chance.choice(RULES),
        )
        request = AddItem(
            key=f"bench-{number}",
            kind=ItemKind.REMINDER,
            text=f"reminder number {number}",
            schedule=schedule,
        )
        begun = time.perf_counter()
        port.ask("agenda", request, AgendaChanged, within=30)
        taken.append(time.perf_counter() - begun)
    return taken


def _timed(port: Port, request: Any, expect: Any) -> float:
    begun = time.perf_counter()
    port.ask("agenda", request, expect, within=60)
    return time.perf_counter() - begun


def _wakeups(port: Port, pid: int) -> dict[str, Any]:
    """How often the agenda wakes to look what is due, while nobody asks anything.

    Beside it are the context switches of the whole process, whose other threads keep the connection
    alive and watch for the supervisor, as in every actor.
    """
    looks, switches = _looks(port), _switches(pid)
    time.sleep(IDLE_SECONDS)
    switched = _switches(pid) - switches
    minutes = IDLE_SECONDS / 60
    return {
        "value": round((_looks(port) - looks) / minutes, 2),
        "switches_of_the_process": round(switched / minutes),
        "seconds": IDLE_SECONDS,
    }


def _looks(port: Port) -> int:
    return port.ask("agenda", DescribeAgenda(), AgendaReport, within=30).looks


def _switches(pid: int) -> int:
    lines = [
        line
        for task in Path(f"/proc/{pid}/task").iterdir()
        for line in (task / "status").read_text().splitlines()
    ]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
