"""What the supervisor decides, told as stories with a clock that the story turns."""

import signal

import pytest

from eris.supervisor.child import State
from eris.supervisor.core import Core
from eris.supervisor.events import (
    Action,
    Adopt,
    Adopted,
    AdoptionFailed,
    Answer,
    Event,
    Exited,
    Finished,
    Kill,
    MemoryMeasured,
    Missed,
    Ponged,
    Report,
    Restart,
    Shutdown,
    Spawn,
    Spawned,
    SpawnFailed,
    Terminate,
    Tick,
)
from eris.supervisor.specification import ChildSpecification, RestartPolicy


def specification(**changes: object) -> ChildSpecification:
    values: dict[str, object] = {
        "command": ("program",),
        "intensity": 3,
        "period_s": 60,
        "stable_s": 20,
        "backoff_min_s": 1,
        "backoff_max_s": 8,
        "ready_s": 10,
        "busy_s": 30,
        "stop_s": 5,
    }
    return ChildSpecification(**(values | changes))


class Story:
    """A core, a clock and processes that start when they're told to."""

    def __init__(self, **children: ChildSpecification) -> None:
        self.core = Core(children or {"vault": specification()}, random=lambda: 0.0)
        self.now = 100.0
        self.pids = iter(range(1000, 9999))
        self.log: list[Action] = []

    def tell(self, event: Event) -> list[Action]:
        done: list[Action] = []
        for action in self.core.handle(event, self.now):
            done.append(action)
            if isinstance(action, Spawn):
                done += self.tell(Spawned(action.name, next(self.pids)))
        self.log += done
        return done

    def wait(self, seconds: float = 0.0, step: float = 1.0) -> list[Action]:
        """Let time pass."""
        done: list[Action] = []
        until = self.now + seconds
        while True:
            done += self.tell(Tick())
            if self.now >= until:
                return done
            self.now = min(until, self.now + step)

    def ready(self, name: str) -> list[Action]:
        return self.tell(Ponged(name, "ready"))

    def start(self) -> None:
        """Bring everybody up."""
        for _ in self.core.children:
            self.wait()
            for name, child in self.core.children.items():
                if child.state is State.STARTING:
                    self.ready(name)

    def state(self, name: str = "vault") -> State:
        return self.core.children[name].state

    def detail(self, name: str = "vault") -> str:
        return self.core.children[name].detail


def started(**children: ChildSpecification) -> Story:
    story = Story(**children)
    story.start()
    return story


def spawned(actions: list[Action]) -> list[str]:
    return [action.name for action in actions if isinstance(action, Spawn)]


def test_a_child_starts_when_those_before_it_are_ready() -> None:
    story = Story(bus=specification(), vault=specification(after=("bus",)))
    assert spawned(story.wait()) == ["bus"]
    assert spawned(story.wait(3)) == []
    assert spawned(story.ready("bus")) == ["vault"]
    assert story.core.state() == "starting"
    story.ready("vault")
    assert story.core.state() == "ready"


@pytest.mark.parametrize("code", [78, -signal.SIGILL])
def test_a_child_does_not_wait_for_one_that_is_given_up(code: int) -> None:
    story = Story(bus=specification(), vault=specification(after=("bus",)))
    story.wait()
    assert spawned(story.tell(Exited("bus", code))) == ["vault"]
    story.ready("vault")
    assert story.core.state() == "degraded"


def test_a_crashed_child_waits_longer_every_time() -> None:
    story = Story(vault=specification(intensity=9))
    waits = []
    story.wait()
    for _ in range(6):
        story.tell(Exited("vault", 1))
        begun = story.now
        while not spawned(story.wait(0.5, step=0.5)):
            pass
        waits.append(story.now - begun)
    assert waits == [1, 2, 4, 8, 8, 8]


def test_a_child_that_crashes_too_often_is_given_up_and_the_rest_stays_up() -> None:
    story = started(bus=specification(), vault=specification(after=("bus",)))
    for _ in range(4):
        story.tell(Exited("vault", -signal.SIGSEGV, "no such table"))
        story.wait(8)
        story.ready("vault")
    assert story.state() is State.FAILED
    assert "more than 3 in 60 s" in story.detail()
    assert "SIGSEGV: no such table" in story.detail()
    assert story.state("bus") is State.READY
    assert spawned(story.wait(1000, step=10)) == []


def test_stable_time_forgets_failures() -> None:
    story = started()
    for _ in range(20):
        story.tell(Exited("vault", 1))
        story.wait(2)
        story.ready("vault")
        story.wait(21)
    assert story.state() is State.READY


def test_failures_of_a_child_that_was_never_ready_do_not_age() -> None:
    story = Story(vault=specification(period_s=5, ready_s=100))
    for _ in range(4):
        story.wait(50)
        story.tell(Exited("vault", 1))
    assert story.state() is State.FAILED


@pytest.mark.parametrize(
    ("policy", "code", "after"),
    [
        (RestartPolicy.PERMANENT, 0, State.WAITING),
        (RestartPolicy.PERMANENT, 1, State.WAITING),
        (RestartPolicy.PERMANENT, None, State.WAITING),
        (RestartPolicy.TRANSIENT, 0, State.STOPPED),
        (RestartPolicy.TRANSIENT, 1, State.WAITING),
        (RestartPolicy.TRANSIENT, -9, State.WAITING),
        (RestartPolicy.TEMPORARY, 0, State.STOPPED),
        (RestartPolicy.TEMPORARY, 1, State.FAILED),
        (RestartPolicy.PERMANENT, 78, State.FAILED),
        (RestartPolicy.PERMANENT, -4, State.FAILED),
    ],
)
def test_what_follows_an_exit(policy: RestartPolicy, code: int | None, after: State) -> None:
    story = started(vault=specification(restart=policy))
    story.tell(Exited("vault", code))
    assert story.state() is after


def test_a_configuration_error_is_told_once_in_the_childs_own_words() -> None:
    story = Story()
    story.wait()
    story.tell(Exited("vault", 78, "model.chat names no file. Set it with: eris config edit"))
    story.wait(600, step=10)
    told = [a.words for a in story.log if isinstance(a, Report) and a.event == "given up"]
    assert told == ["model.chat names no file. Set it with: eris config edit"]
    assert story.detail() == told[0]


def test_an_illegal_instruction_is_not_a_crash_loop() -> None:
    story = Story(inference=specification())
    story.wait()
    story.tell(Exited("inference", -signal.SIGILL))
    assert story.state("inference") is State.FAILED
    assert "built for another processor" in story.detail("inference")


def test_a_missing_program_is_not_tried_again() -> None:
    core = Core({"vault": specification()}, random=lambda: 0.0)
    assert spawned(list(core.handle(Tick(), 0))) == ["vault"]
    core.handle(SpawnFailed("vault", "can't be started: no such file", hopeless=True), 0)
    assert core.children["vault"].state is State.FAILED


def test_a_child_that_finds_its_name_taken_leads_to_the_one_that_has_it() -> None:
    story = Story()
    story.wait()
    assert Adopt("vault") in story.tell(Exited("vault", 75))
    story.tell(Adopted("vault", 77))
    story.ready("vault")
    assert story.state() is State.READY
    assert story.core.children["vault"].pid == 77


def test_a_holder_that_cannot_be_adopted_counts_as_a_failure() -> None:
    story = Story()
    for _ in range(4):
        story.wait(10)
        story.tell(Exited("vault", 75))
        story.tell(AdoptionFailed("vault", "found another copy of itself"))
    assert story.state() is State.FAILED


# Adoption.


def test_nothing_is_started_before_it_is_known_who_can_be_adopted() -> None:
    story = Story(bus=specification(), vault=specification())
    assert story.tell(Adopted("bus", 7, restarts=2)) == []
    assert story.tell(Adopted("vault", 8)) == []
    assert spawned(story.wait(5)) == []
    story.ready("bus")
    assert story.core.children["bus"].restarts == 2
    assert story.core.children["bus"].adopted


def test_an_adopted_child_that_dies_is_started_again() -> None:
    story = Story()
    story.tell(Adopted("vault", 8, restarts=2))
    story.wait()
    story.ready("vault")
    story.tell(Exited("vault", None))
    assert spawned(story.wait(2)) == ["vault"]
    assert story.core.children["vault"].restarts == 3
    assert not story.core.children["vault"].adopted


def test_a_busy_child_is_up_when_adopted_but_a_loading_one_is_not() -> None:
    story = Story(inference=specification(), memory=specification())
    story.tell(Adopted("inference", 7))
    story.tell(Adopted("memory", 8))
    story.tell(Ponged("inference", "busy", "prefill", 3.0))
    story.tell(Ponged("memory", "busy", "loading", 3.0))
    assert story.state("inference") is State.BUSY
    assert story.state("memory") is State.STARTING


# Liveness.


def test_a_wedged_child_is_killed_and_started_again() -> None:
    story = started()
    actions = [a for _ in range(3) for a in story.tell(Missed("vault"))]
    assert Kill("vault") in actions
    assert story.state() is State.HUNG
    story.tell(Exited("vault", -9))
    assert "left 3 pings unanswered" in story.detail()
    assert spawned(story.wait(1)) == ["vault"]


def test_an_answer_forgives_missed_pings() -> None:
    story = started()
    for _ in range(5):
        story.tell(Missed("vault"))
        story.tell(Missed("vault"))
        story.ready("vault")
    assert story.state() is State.READY


def test_a_busy_child_gets_more_patience() -> None:
    story = started()
    story.tell(Ponged("vault", "busy", "prefill", 1.0))
    for _ in range(14):
        story.tell(Missed("vault"))
    assert story.state() is State.BUSY
    assert Kill("vault") in story.tell(Missed("vault"))


def test_a_child_that_is_busy_for_too_long_is_hung() -> None:
    story = started()
    story.tell(Ponged("vault", "busy", "prefill", 29.0))
    assert story.state() is State.BUSY
    assert Kill("vault") in story.tell(Ponged("vault", "busy", "prefill", 31.0))


@pytest.mark.parametrize("bus_is", ["dead", "silent"])
def test_while_the_bus_is_away_nobody_else_is_to_blame(bus_is: str) -> None:
    story = started(bus=specification(), vault=specification())
    story.tell(Exited("bus", -9) if bus_is == "dead" else Missed("bus"))
    for _ in range(10):
        story.tell(Missed("vault"))
    assert story.state() is State.READY


def test_a_silent_bus_is_killed_itself() -> None:
    story = started(bus=specification(), vault=specification())
    actions = [a for _ in range(3) for a in story.tell(Missed("bus"))]
    assert Kill("bus") in actions


def test_a_child_that_is_not_ready_in_time_is_killed() -> None:
    story = Story()
    assert Kill("vault") in story.wait(11)


def test_without_the_bus_nobody_has_to_be_ready_in_time() -> None:
    story = Story(bus=specification(), vault=specification(after=("bus",)))
    story.wait()
    assert spawned(story.tell(Exited("bus", 78, "the port is taken"))) == ["vault"]
    assert Kill("vault") not in story.wait(60)
    assert story.state() is State.STARTING
    story.tell(Restart("bus", 1))
    story.wait(5)
    story.ready("bus")
    assert Kill("vault") in story.wait(21)


def test_time_in_which_the_supervisor_itself_was_stopped_does_not_count() -> None:
    story = Story()
    story.wait(5)
    story.now += 3600
    assert Kill("vault") not in story.wait(4)
    assert Kill("vault") in story.wait(4)


def test_a_child_that_outgrows_its_memory_is_replaced() -> None:
    story = started(vault=specification(memory_max="100 MiB"))
    assert story.tell(MemoryMeasured("vault", 100 << 20)) == []
    assert Terminate("vault") in story.tell(MemoryMeasured("vault", 101 << 20))
    story.tell(Exited("vault", 0))
    assert "more than its memory_max of 100 MiB" in story.detail()
    assert spawned(story.wait(1)) == ["vault"]


# Commands.


def test_a_restart_stops_starts_and_answers_when_ready() -> None:
    story = started()
    assert story.tell(Restart("vault", 1)) == [Terminate("vault")]
    assert spawned(story.tell(Exited("vault", 0))) == ["vault"]
    assert Answer(1) in story.ready("vault")
    assert story.core.children["vault"].restarts == 1
    assert story.core.children["vault"].failures == []


def test_a_restart_touches_nobody_else() -> None:
    story = started(bus=specification(), inference=specification(), router=specification())
    story.log.clear()
    story.tell(Restart("router", 1))
    story.tell(Exited("router", 0))
    story.ready("router")
    touched = {a.name for a in story.log if isinstance(a, Spawn | Terminate | Kill)}
    assert touched == {"router"}


def test_restarts_queue_up_and_are_all_answered() -> None:
    story = started()
    for ticket in (1, 2, 3):
        story.tell(Restart("vault", ticket))
    for _ in range(3):
        story.tell(Exited("vault", 0))
        story.ready("vault")
    assert [a.ticket for a in story.log if isinstance(a, Answer)] == [1, 2, 3]


@pytest.mark.parametrize("code", [78, -4])
def test_a_restart_revives_a_child_that_was_given_up(code: int) -> None:
    story = Story()
    story.wait()
    story.tell(Exited("vault", code))
    assert spawned(story.tell(Restart("vault", 1))) == ["vault"]
    assert Answer(1) in story.ready("vault")


def test_a_restart_that_ends_badly_is_answered_with_the_childs_words() -> None:
    story = started()
    story.tell(Restart("vault", 1))
    story.tell(Exited("vault", 0))
    answers = [a for a in story.tell(Exited("vault", 78, "no folder")) if isinstance(a, Answer)]
    assert answers == [Answer(1, "vault didn't come back: no folder")]


def test_a_child_that_ignores_sigterm_is_killed() -> None:
    story = started()
    story.tell(Restart("vault", 1))
    assert Kill("vault") not in story.wait(4)
    assert Kill("vault") in story.wait(2)
    assert spawned(story.tell(Exited("vault", -9))) == ["vault"]


# Shutdown.


def test_everything_stops_one_after_the_other_and_the_bus_last() -> None:
    story = started(
        bus=specification(), inference=specification(), orchestrator=specification(after=("bus",))
    )
    order = []
    actions = story.tell(Shutdown())
    while Finished() not in actions:
        (stopped,) = [a.name for a in actions if isinstance(a, Terminate)]
        order.append(stopped)
        actions = story.tell(Exited(stopped, 0))
    assert order == ["orchestrator", "inference", "bus"]


def test_a_shutdown_answers_those_who_wait_and_starts_nobody() -> None:
    story = started(bus=specification(), vault=specification())
    story.tell(Restart("vault", 1))
    story.tell(Restart("vault", 2))
    answers = [a for a in story.tell(Shutdown()) if isinstance(a, Answer)]
    assert [(a.ticket, bool(a.error)) for a in answers] == [(1, True), (2, True)]
    assert spawned(story.tell(Exited("vault", 0))) == []
    assert Finished() in story.tell(Exited("bus", 0))


def test_a_crash_during_the_shutdown_is_not_repaired() -> None:
    story = started(bus=specification(), vault=specification())
    story.tell(Shutdown())
    story.tell(Exited("bus", -9))
    assert Finished() in story.tell(Exited("vault", 0))
