"""Items and occurrences as the agenda keeps them."""

import msgspec

from proto.agenda import (
    CheckItem,
    DeliveryStep,
    ItemKind,
    ItemState,
    Missed,
    OccurrenceState,
    Schedule,
)

ANSWERABLE = frozenset({OccurrenceState.WAITING, OccurrenceState.SHOWN})
"""States of an occurrence that was told of and isn't acknowledged."""

NOTE_SOURCE = "note:"
"""How the source of an item begins that is a task of a note."""

UNENDED = ANSWERABLE | {OccurrenceState.CLAIMED}


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    number: int
    version: int = 1
    kind: ItemKind
    state: ItemState = ItemState.OPEN
    text: str
    said: str = ""
    """The words about time."""
    schedule: Schedule | None = None
    missed: Missed = Missed.ONCE
    grace_s: int = 0
    passed: int
    """Of the schedule's times all up to this one are dealt with; seconds since the epoch."""
    extra: tuple[int, ...] = ()
    """Due besides the schedule, because it was put off; seconds since the epoch."""
    occurrences: int = 0
    """How many there have been: the next one's number is one more."""
    plan: str = ""
    checklist: tuple[CheckItem, ...] = ()
    source: str = ""
    result: str = ""
    created: float
    """Seconds since the epoch, like the next."""
    changed: float

    @property
    def id(self) -> str:
        """What people and models call it."""
        return f"a{self.number}"


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """A time at which an item is, or was, due."""

    item: int
    due: int
    """Seconds since the epoch; with the item it's the key of all that must happen once."""
    number: int
    """From 1, in the order in which they were claimed."""
    state: OccurrenceState
    fired: float = 0
    """When it was claimed; seconds since the epoch."""
    shown: float = 0
    """When it was first seen; 0 if it wasn't."""
    asked: str = ""
    """What Eris's own turn is asked, as it was when it was claimed."""
    answer: str = ""
    """What it came to."""
    session: str = ""
    turn: str = ""

    @property
    def id(self) -> str:
        """What people and models call it."""
        return f"a{self.item}.{self.number}"


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """How far a surface got with an occurrence."""

    surface: str
    step: DeliveryStep
    key: str = ""
    """Of the attempt."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to an item."""

    at: float
    event: str
    occurrence: int = 0
    """Number of the occurrence; 0 if it's about the whole item."""
    due: int = 0
    reason: str = ""
