"""Whatever happens in whatever order, the supervisor keeps its promises."""

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from eris.supervisor.child import AT_REST, UP, State
from eris.supervisor.core import Core
from eris.supervisor.events import (
    Adopt,
    AdoptionFailed,
    Answer,
    Event,
    Exited,
    Finished,
    Kill,
    Missed,
    Ponged,
    Restart,
    Shutdown,
    Spawn,
    Spawned,
    SpawnFailed,
    Terminate,
    Tick,
)
from eris.supervisor.specification import ChildSpecification, RestartPolicy

CHILDREN = {
    "bus": ChildSpecification(command=("bus",), intensity=3),
    "vault": ChildSpecification(command=("vault",), after=("bus",), intensity=3),
    "task": ChildSpecification(
        command=("task",), after=("bus", "vault"), restart=RestartPolicy.TRANSIENT
    ),
}
NAMES = st.sampled_from(sorted(CHILDREN))


class Supervision(RuleBasedStateMachine):
    """A core and the processes that it believes in."""

    def __init__(self) -> None:
        super().__init__()
        self.core = Core(CHILDREN, random=lambda: 0.5)
        self.now = 0.0
        self.alive: dict[str, int] = {}
        self.next_pid = 1
        self.next_ticket = 1
        self.open: set[int] = set()
        self.finished = False
        self.spawn_fails = False
        self.tell(Tick())

    def tell(self, event: Event) -> None:
        for action in self.core.handle(event, self.now):
            match action:
                case Spawn(name):
                    assert not self.core.stopping
                    assert name not in self.alive, f"{name} would run twice"
                    for other in CHILDREN[name].after:
                        assert self.core.children[other].state in UP | AT_REST
                    if self.spawn_fails:
                        self.spawn_fails = False
                        self.tell(SpawnFailed(name, "no memory"))
                        continue
                    self.alive[name] = self.next_pid
                    self.next_pid += 1
                    self.tell(Spawned(name, self.alive[name]))
                case Adopt(name):
                    assert name not in self.alive
                    self.tell(AdoptionFailed(name, "gone"))
                case Terminate(name) | Kill(name):
                    assert name in self.alive
                    if self.core.stopping and isinstance(action, Terminate):
                        later = list(CHILDREN)[list(CHILDREN).index(name) + 1 :]
                        assert not [other for other in later if other in self.alive]
                case Answer(ticket, _):
                    assert ticket in self.open, "answered twice, or never asked"
                    self.open.discard(ticket)
                case Finished():
                    assert not self.alive
                    self.finished = True

    @rule(seconds=st.sampled_from([0.05, 0.5, 2.0, 31.0, 120.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.tell(Tick())

    @rule(name=NAMES, code=st.sampled_from([0, 1, 70, 75, 78, -4, -9, -11, None]))
    def a_process_ends(self, name: str, code: int | None) -> None:
        if self.alive.pop(name, None) is not None:
            self.tell(Exited(name, code))

    @rule(
        name=NAMES,
        state=st.sampled_from(["ready", "busy", "draining"]),
        phase=st.sampled_from(["", "loading", "prefill"]),
        busy_s=st.sampled_from([0.0, 1.0, 1000.0]),
    )
    def a_process_answers(self, name: str, state: str, phase: str, busy_s: float) -> None:
        self.tell(Ponged(name, state, phase, busy_s))

    @rule(name=NAMES, times=st.integers(1, 4))
    def pings_are_missed(self, name: str, times: int) -> None:
        for _ in range(times):
            if name in self.alive:
                self.tell(Missed(name))

    @rule()
    def the_next_start_fails(self) -> None:
        self.spawn_fails = True

    @precondition(lambda self: not self.core.stopping)
    @rule(name=NAMES)
    def somebody_wants_a_restart(self, name: str) -> None:
        self.open.add(self.next_ticket)
        self.next_ticket += 1
        self.tell(Restart(name, self.next_ticket - 1))

    @precondition(lambda self: self.next_pid > 4)
    @rule()
    def somebody_wants_the_end(self) -> None:
        self.tell(Shutdown())

    @invariant()
    def the_core_knows_what_runs(self) -> None:
        assert {n: c.pid for n, c in self.core.children.items() if c.pid} == self.alive

    @invariant()
    def who_has_no_process_says_so(self) -> None:
        for child in self.core.children.values():
            if child.state in UP | {State.STARTING, State.HUNG, State.STOPPING}:
                assert child.pid
            else:
                assert not child.pid

    @invariant()
    def the_limit_holds(self) -> None:
        for child in self.core.children.values():
            assert len(child.failures) <= child.specification.intensity + 1
            if len(child.failures) > child.specification.intensity:
                assert child.state in {State.FAILED, State.STOPPED}

    def teardown(self) -> None:
        """Whatever happened: it can be ended, and everybody gets an answer."""
        self.tell(Shutdown())
        for _ in range(len(CHILDREN) + 1):
            stopping = [n for n, c in self.core.children.items() if c.pid]
            if not stopping:
                break
            last = stopping[-1]
            assert self.core.children[last].state in {State.STOPPING, State.HUNG}
            self.alive.pop(last)
            self.tell(Exited(last, 0))
        self.tell(Tick())
        assert self.finished
        assert not self.open


Supervision.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestSupervision = Supervision.TestCase
