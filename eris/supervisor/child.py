"""One supervised child as the core sees it, and the rules of restarting it."""

import signal
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from eris.supervisor.specification import ChildSpecification, RestartPolicy

EXIT_CONFIGURATION = 78
"""Exit code of a process that can't run because of its configuration."""

EXIT_LOCKED = 75
"""Exit code of a process that found another copy of itself running."""

REMEDIES: Mapping[str, str] = {
    "inference": "Rebuild llama-cpp-python for this one: python -m eris.llama_build "
    "(in a checkout: make llama).",
    "memory": "Install onnxruntime and tokenizers anew on this machine.",
}
"""What helps an actor whose native library was built for another processor."""


class State(StrEnum):
    """Where a child is in its life."""

    WAITING = "waiting"
    """For its dependencies or its back-off."""
    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    HUNG = "hung"
    """Killed, its end not yet seen."""
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"
    """Given up."""


UP = frozenset({State.READY, State.BUSY})
AT_REST = frozenset({State.STOPPED, State.FAILED})
SETTLED = UP | AT_REST


@dataclass
class Child:
    """One child; changed by the core only."""

    name: str
    specification: ChildSpecification
    state: State = State.WAITING
    pid: int = 0
    """0 while there is no process."""
    adopted: bool = False
    restarts: int = 0
    """Starts after the first one, for whatever reason."""
    lives: int = 0
    """Processes it has had so far."""
    detail: str = ""
    """What it's busy with, or why it failed."""
    note: str = ""
    """What differs from the specification of today."""
    deadline: float | None = None
    """When the present state's patience ends, or its waiting."""
    ready_since: float | None = None
    """Since when this process has been ready, or None."""
    misses: int = 0
    """Pings in a row that were not answered."""
    failures: list[float] = field(default_factory=list)
    """Times of the failures that count against the intensity."""
    replacing: str = ""
    """Why it's being stopped, where that counts as a failure."""
    restarting: int | None = None
    """Ticket of the restart in progress."""
    queue: deque[int] = field(default_factory=deque)
    """Tickets of the restarts to do after that."""

    def enter(self, state: State, *, deadline: float | None = None, detail: str = "") -> None:
        """Change to another state."""
        self.state = state
        self.deadline = deadline
        self.detail = detail

    def count_failure(self, now: float) -> bool:
        """Count a failure; return whether that's too many.

        Failures age out of the window only if the process had become ready: one that never does
        must not escape the limit by taking its time to die.
        """
        if self.ready_since is not None:
            horizon = now - self.specification.period_s
            self.failures = [time for time in self.failures if time >= horizon]
        self.failures.append(now)
        return len(self.failures) > self.specification.intensity

    def backoff(self, random: float) -> float:
        """Seconds to wait before the next start; ``random`` is from 0 to 1."""
        doublings = min(max(len(self.failures) - 1, 0), 40)
        delay = self.specification.backoff_min_s * float(2**doublings)
        # Up to a quarter less, so that children felled together don't return in lockstep.
        return min(delay, self.specification.backoff_max_s) * (1 - random / 4)

    def wants_restart(self, code: int | None) -> bool:
        """Whether its policy asks for another start after this exit."""
        match self.specification.restart:
            case RestartPolicy.PERMANENT:
                return True
            case RestartPolicy.TRANSIENT:
                return code != 0
            case RestartPolicy.TEMPORARY:
                return False


def hopeless(name: str, code: int | None, words: str) -> str:
    """Return why starting the child again can't help, or an empty string."""
    if code == EXIT_CONFIGURATION:
        return words or f"{name} says that its configuration is wrong (exit code 78)."
    if code == -signal.SIGILL:
        remedy = REMEDIES.get(name, "`eris doctor` says which.")
        return (
            f"{name} met an instruction that this processor doesn't have: a native library was "
            f"built for another processor. {remedy} Then: eris restart {name}"
        )
    return ""


def describe_exit(code: int | None, words: str) -> str:
    """Return a sentence about how a process ended."""
    if code is None:
        ending = "ended"
    elif code < 0:
        try:
            ending = f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            ending = f"was killed by signal {-code}"
    else:
        ending = f"ended with exit code {code}"
    return f"{ending}: {words}" if words else ending
