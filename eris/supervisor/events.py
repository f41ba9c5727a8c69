"""What happens to children, and what is to be done about it: the core's input and output."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Spawned:
    """A child's process was started."""

    name: str
    pid: int


@dataclass(frozen=True)
class SpawnFailed:
    """A child's process could not be started at all."""

    name: str
    reason: str
    hopeless: bool = False
    """Whether trying again can't help, as with a program that isn't there."""


@dataclass(frozen=True)
class Adopted:
    """A process that an earlier supervisor started is this child."""

    name: str
    pid: int
    restarts: int = 0
    """Restarts counted by the earlier supervisor."""
    note: str = ""
    """What differs from the specification of today."""


@dataclass(frozen=True)
class AdoptionFailed:
    """Somebody holds the child's lock, and it can't be adopted."""

    name: str
    reason: str


@dataclass(frozen=True)
class Exited:
    """A child's process ended."""

    name: str
    code: int | None
    """Exit code, minus the signal's number, or None where nobody can tell."""
    words: str = ""
    """What the child itself said about it."""


@dataclass(frozen=True)
class Ponged:
    """A child answered a ping."""

    name: str
    state: str
    """``ready``, ``busy`` or ``draining``."""
    phase: str = ""
    busy_s: float = 0


@dataclass(frozen=True)
class Missed:
    """A ping to a child was not answered in time."""

    name: str


@dataclass(frozen=True)
class MemoryMeasured:
    """How much memory a child uses."""

    name: str
    rss: int
    """Resident bytes."""


@dataclass(frozen=True)
class Restart:
    """Somebody wants a child to be restarted; answered by `Answer` with the same ticket."""

    name: str
    ticket: int


@dataclass(frozen=True)
class Shutdown:
    """Everything is to be stopped, in order."""


@dataclass(frozen=True)
class Tick:
    """Time has passed."""


Event = (
    Spawned
    | SpawnFailed
    | Adopted
    | AdoptionFailed
    | Exited
    | Ponged
    | Missed
    | MemoryMeasured
    | Restart
    | Shutdown
    | Tick
)


@dataclass(frozen=True)
class Spawn:
    """Start the child's process; answer with `Spawned` or `SpawnFailed`."""

    name: str


@dataclass(frozen=True)
class Adopt:
    """Adopt whoever holds the child's lock; answer with `Adopted` or `AdoptionFailed`."""

    name: str


@dataclass(frozen=True)
class Terminate:
    """Ask the child to save and leave (SIGTERM)."""

    name: str


@dataclass(frozen=True)
class Kill:
    """Kill the child and everything it started (SIGKILL)."""

    name: str


@dataclass(frozen=True)
class Answer:
    """A `Restart` is done, or failed with these words."""

    ticket: int
    error: str = ""


@dataclass(frozen=True)
class Report:
    """Something for the log."""

    name: str
    event: str
    words: str = ""
    serious: bool = False


@dataclass(frozen=True)
class Finished:
    """Everything has stopped."""


Action = Spawn | Adopt | Terminate | Kill | Answer | Report | Finished
