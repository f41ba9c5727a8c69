"""Every decision of the supervisor, as a state machine without I/O.

`Core.handle` takes an event and the time and returns what is to be done. It never looks at a
clock, a process or a socket, so that tests can walk through days of crashes in milliseconds.
"""

from collections.abc import Callable, Iterator, Mapping

from eris.supervisor.child import (
    AT_REST,
    EXIT_LOCKED,
    SETTLED,
    UP,
    Child,
    State,
    describe_exit,
    hopeless,
)
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
from eris.supervisor.specification import ChildSpecification

BUS = "bus"

BUSY_PATIENCE = 5
"""A busy child may leave so many times more pings unanswered than an idle one."""

LONGEST_GAP_S = 3.0
"""Ticks come more often; after a longer gap the supervisor itself had been stopped."""

LOADING_PHASES = frozenset({"loading", "starting", "connecting"})
"""What a busy process that isn't up yet says it's doing."""


class Core:
    """The children and everything that is known about them."""

    def __init__(
        self,
        children: Mapping[str, ChildSpecification],
        *,
        random: Callable[[], float],
        missed_pings: int = 3,
    ) -> None:
        """Create the core; nothing happens before the first `Tick`.

        Args:
            children: In starting order.
            random: Gives numbers from 0 to 1.
            missed_pings: So many in a row make a child hung.
        """
        self.children = {name: Child(name, spec) for name, spec in children.items()}
        self.stopping = False
        self._random = random
        self._missed_pings = missed_pings
        self._last_tick: float | None = None

    def handle(self, event: Event, now: float) -> tuple[Action, ...]:
        """Take in what happened and return what to do.

        Args:
            event: What happened.
            now: Seconds on a clock that never goes back.
        """
        return (*self._happened(event, now), *self._move(now))

    def state(self) -> str:
        """State of the whole: ``ready``, ``starting``, ``degraded`` or ``stopping``."""
        states = {child.state for child in self.children.values()}
        if self.stopping:
            return "stopping"
        if not states <= SETTLED:
            return "starting"
        return "degraded" if State.FAILED in states else "ready"

    def next_deadline(self, now: float) -> float | None:
        """When the next patience or back-off ends, if one does."""
        deadlines = (child.deadline for child in self.children.values())
        return min((time for time in deadlines if time is not None and time > now), default=None)

    def _happened(self, event: Event, now: float) -> Iterator[Action]:
        match event:
            case Tick():
                yield from self._tick(now)
            case Shutdown():
                yield from self._shutdown()
            case Restart(name, ticket):
                self.children[name].queue.append(ticket)
            case Ponged():
                yield from self._ponged(event, now)
            case Missed(name):
                yield from self._missed(self.children[name])
            case MemoryMeasured():
                yield from self._measured(event, now)
            case Spawned() | Adopted() | SpawnFailed() | AdoptionFailed() | Exited():
                yield from self._changed(event, now)

    def _changed(
        self, event: Spawned | Adopted | SpawnFailed | AdoptionFailed | Exited, now: float
    ) -> Iterator[Action]:
        """A process came or went."""
        match event:
            case Spawned() | Adopted():
                self._began(event, now)
            case Exited():
                yield from self._exited(event, now)
            case SpawnFailed(name, reason, hopeless=True):
                yield from self._give_up(self.children[name], reason)
            case SpawnFailed(name, reason) | AdoptionFailed(name, reason):
                yield from self._failed(self.children[name], now, reason)

    def _began(self, event: Spawned | Adopted, now: float) -> None:
        child = self.children[event.name]
        child.pid = event.pid
        child.misses = 0
        child.ready_since = None
        child.replacing = ""
        child.adopted = isinstance(event, Adopted)
        child.note = ""
        if isinstance(event, Adopted):
            child.restarts = max(event.restarts, child.restarts)
            child.note = event.note
        elif child.lives:
            child.restarts += 1
        child.lives += 1
        child.enter(State.STARTING, deadline=now + child.specification.ready_s)

    def _ponged(self, event: Ponged, now: float) -> Iterator[Action]:
        child = self.children[event.name]
        child.misses = 0
        if not child.pid or child.state not in UP | {State.STARTING}:
            return
        if event.state == "busy" and event.busy_s > child.specification.busy_s:
            words = f"busy with {event.phase or 'one thing'} for {event.busy_s:.0f} s"
            yield from self._hang(child, words)
        elif event.state == "busy" and event.phase in LOADING_PHASES:
            child.detail = event.phase
        elif event.state in {"ready", "busy"}:
            busy = event.state == "busy"
            yield from self._up(child, State.BUSY if busy else State.READY, event.phase, now)

    def _up(self, child: Child, state: State, detail: str, now: float) -> Iterator[Action]:
        child.enter(state, detail=detail if state is State.BUSY else "")
        if child.ready_since is not None:
            return
        child.ready_since = now
        yield Report(child.name, "ready")
        if child.name == BUS:
            # Nobody could answer while it was away.
            for other in self.children.values():
                other.misses = 0
        if child.restarting is not None:
            yield Answer(child.restarting)
            child.restarting = None

    def _missed(self, child: Child) -> Iterator[Action]:
        bus = self.children.get(BUS)
        if child is not bus and bus is not None and (bus.state not in UP or bus.misses):
            # Pings travel through the bus: while it's silent nobody else is to blame.
            child.misses = 0
            return
        child.misses += 1
        patience = self._missed_pings * (BUSY_PATIENCE if child.state is State.BUSY else 1)
        if child.state in UP and child.misses >= patience:
            yield from self._hang(child, f"left {child.misses} pings unanswered")

    def _measured(self, event: MemoryMeasured, now: float) -> Iterator[Action]:
        child = self.children[event.name]
        limit = child.specification.memory_limit()
        if limit and event.rss > limit and child.state in UP:
            words = f"used {event.rss >> 20} MiB, more than its memory_max of {limit >> 20} MiB"
            yield Report(child.name, "memory", words, serious=True)
            yield from self._stop(child, now)
            child.replacing = words

    def _hang(self, child: Child, words: str) -> Iterator[Action]:
        child.enter(State.HUNG, detail=words)
        yield Report(child.name, "hung", words, serious=True)
        yield Kill(child.name)

    def _stop(self, child: Child, now: float) -> Iterator[Action]:
        child.enter(State.STOPPING, deadline=now + child.specification.stop_s)
        yield Terminate(child.name)

    def _exited(self, event: Exited, now: float) -> Iterator[Action]:
        child = self.children[event.name]
        ending = describe_exit(event.code, event.words)
        hung = child.state is State.HUNG
        reason = child.detail if hung else child.replacing or ending
        expected = child.state is State.STOPPING and not child.replacing
        child.pid, child.replacing = 0, ""
        yield Report(child.name, "exited", ending, serious=not (expected or self.stopping))
        if self.stopping:
            child.enter(State.STOPPED)
        elif expected:
            child.ready_since = None
            child.enter(State.WAITING, deadline=now)
        elif hopeless(child.name, event.code, event.words):
            yield from self._give_up(child, hopeless(child.name, event.code, event.words))
        elif event.code == EXIT_LOCKED:
            child.enter(State.STARTING, detail="looking for the copy that is running already")
            yield Adopt(child.name)
        elif child.wants_restart(None if reason != ending else event.code):
            yield from self._failed(child, now, reason)
        elif event.code == 0:
            child.enter(State.STOPPED, detail=reason)
            yield from self._unfulfilled(child, reason)
        else:
            yield from self._give_up(child, reason)

    def _failed(self, child: Child, now: float, words: str) -> Iterator[Action]:
        too_many = child.count_failure(now)
        child.ready_since = None
        if self.stopping:
            child.enter(State.STOPPED)
        elif too_many:
            spec = child.specification
            yield from self._give_up(
                child,
                f"failed {len(child.failures)} times, more than {spec.intensity} in "
                f"{spec.period_s:g} s; the last time it {words}",
            )
        else:
            delay = child.backoff(self._random())
            child.enter(State.WAITING, deadline=now + delay, detail=words)

    def _give_up(self, child: Child, words: str) -> Iterator[Action]:
        child.enter(State.FAILED, detail=words)
        yield Report(child.name, "given up", words, serious=True)
        yield from self._unfulfilled(child, words)

    def _unfulfilled(self, child: Child, words: str) -> Iterator[Action]:
        if child.restarting is not None:
            yield Answer(child.restarting, f"{child.name} didn't come back: {words}")
            child.restarting = None

    def _shutdown(self) -> Iterator[Action]:
        if self.stopping:
            return
        self.stopping = True
        for child in self.children.values():
            if child.state is State.WAITING:
                child.enter(State.STOPPED)
            if child.restarting is not None:
                child.queue.appendleft(child.restarting)
                child.restarting = None
            while child.queue:
                yield Answer(child.queue.popleft(), "Eris is shutting down.")

    def _tick(self, now: float) -> Iterator[Action]:
        gap = now - self._last_tick if self._last_tick is not None else 0.0
        self._last_tick = now
        for child in self.children.values():
            if gap > LONGEST_GAP_S and child.deadline is not None:
                # We were stopped, perhaps they were too: nobody used up time meanwhile.
                child.deadline += gap
            if child.ready_since is not None and child.state in UP:
                if now - child.ready_since >= child.specification.stable_s:
                    child.failures.clear()
            elif child.deadline is not None and now >= child.deadline:
                yield from self._patience_ended(child, now)

    def _patience_ended(self, child: Child, now: float) -> Iterator[Action]:
        if child.state is State.STARTING and child.pid:
            limit = child.specification.ready_s
            bus = self.children.get(BUS)
            if child is not bus and bus is not None and bus.state not in UP:
                # Without the bus it can't get ready: time counts from when there is one.
                child.deadline = now + limit
                return
            yield from self._hang(child, f"wasn't ready {limit:g} s after its start")
        elif child.state is State.STOPPING:
            limit = child.specification.stop_s
            child.deadline = now + max(limit, 1.0)
            yield Report(
                child.name, "killed", f"didn't leave {limit:g} s after SIGTERM", serious=True
            )
            yield Kill(child.name)

    def _move(self, now: float) -> Iterator[Action]:
        """Do what has become possible: commands, starts, the next step of a shutdown."""
        if self._last_tick is None:
            return  # who can be adopted isn't known yet
        if self.stopping:
            yield from self._go_on_stopping(now)
            return
        for child in self.children.values():
            if child.queue and child.restarting is None and not child.replacing:
                yield from self._begin_restart(child, now)
            if child.state is State.WAITING and self._may_start(child, now):
                child.enter(State.STARTING, detail=child.detail)
                yield Spawn(child.name)

    def _begin_restart(self, child: Child, now: float) -> Iterator[Action]:
        child.restarting = child.queue.popleft()
        child.failures.clear()
        if child.state in AT_REST | {State.WAITING}:
            child.enter(State.WAITING, deadline=now)
        elif child.pid and child.state is not State.HUNG:
            yield from self._stop(child, now)

    def _may_start(self, child: Child, now: float) -> bool:
        if child.deadline is not None and now < child.deadline:
            return False
        others = (self.children.get(name) for name in child.specification.after)
        return all(other is None or other.state in UP | AT_REST for other in others)

    def _go_on_stopping(self, now: float) -> Iterator[Action]:
        """Stop the last started child that still runs; one at a time, so that order holds."""
        for child in reversed(self.children.values()):
            if child.pid:
                if child.state not in {State.STOPPING, State.HUNG}:
                    yield from self._stop(child, now)
                return
        yield Finished()
