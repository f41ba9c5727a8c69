"""Whose turn it is at the model."""

import threading
from dataclasses import dataclass, field

import pytest

from actors.inference.schedule import Schedule
from proto.inference import Priority


@dataclass
class Job:
    name: str
    priority: Priority
    yielding: threading.Event = field(default_factory=threading.Event)


def interactive(name: str) -> Job:
    return Job(name, Priority.INTERACTIVE)


def background(name: str) -> Job:
    return Job(name, Priority.BACKGROUND)


def drain(schedule: Schedule[Job]) -> list[str]:
    names = []
    while (job := schedule.take(within=0)) is not None:
        names.append(job.name)
    return names


@pytest.mark.parametrize(
    ("jobs", "order"),
    [
        ([interactive("a"), interactive("b")], ["a", "b"]),
        ([background("a"), background("b")], ["a", "b"]),
        ([background("a"), interactive("b"), interactive("c")], ["b", "c", "a"]),
        ([interactive("a"), background("b"), interactive("c")], ["a", "c", "b"]),
    ],
)
def test_interactive_goes_first_and_equals_in_order(jobs: list[Job], order: list[str]) -> None:
    schedule: Schedule[Job] = Schedule()
    for job in jobs:
        assert schedule.put(job)
    assert drain(schedule) == order


@pytest.mark.parametrize(
    ("running", "newcomer", "gives_way"),
    [
        (background("a"), interactive("b"), True),
        (background("a"), background("b"), False),
        (interactive("a"), interactive("b"), False),
        (interactive("a"), background("b"), False),
    ],
)
def test_only_background_work_gives_way_and_only_to_interactive(
    running: Job, newcomer: Job, gives_way: bool
) -> None:
    schedule: Schedule[Job] = Schedule()
    schedule.put(running)
    schedule.take(within=0)
    schedule.put(newcomer)
    assert running.yielding.is_set() is gives_way


def test_work_that_gave_way_goes_on_before_other_background_work() -> None:
    schedule: Schedule[Job] = Schedule()
    for job in (background("first"), background("second")):
        schedule.put(job)
    first = schedule.take(within=0)
    assert first is not None
    schedule.put(interactive("urgent"))
    schedule.put_back(first)
    assert drain(schedule) == ["urgent", "first", "second"]


def test_work_that_goes_on_is_no_longer_asked_to_give_way() -> None:
    schedule: Schedule[Job] = Schedule()
    schedule.put(job := background("a"))
    job.yielding.set()
    schedule.take(within=0)
    assert not job.yielding.is_set()


def test_a_full_schedule_refuses_more() -> None:
    schedule: Schedule[Job] = Schedule(limit=1)
    assert schedule.put(interactive("a"))
    assert schedule.full
    assert not schedule.put(interactive("b"))


def test_closing_returns_what_waits_and_interrupts_what_runs() -> None:
    schedule: Schedule[Job] = Schedule()
    for job in (interactive("a"), interactive("b"), background("c")):
        schedule.put(job)
    running = schedule.take(within=0)
    assert [job.name for job in schedule.close()] == ["b", "c"]
    assert running is not None
    assert running.yielding.is_set()
    assert schedule.take() is None
    assert not schedule.put(interactive("d"))


def test_a_waiting_worker_is_woken_by_new_work() -> None:
    schedule: Schedule[Job] = Schedule()
    taken: list[Job | None] = []
    worker = threading.Thread(target=lambda: taken.append(schedule.take(within=10)))
    worker.start()
    schedule.put(interactive("a"))
    worker.join(10)
    assert [job.name for job in taken if job] == ["a"]
