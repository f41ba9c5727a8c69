"""A memory as it's kept."""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from eris.vault.words import tokens
from proto.memory import MemoryState, MemoryView

HOLDING = (MemoryState.STAGED, MemoryState.WAITING, MemoryState.COMMITTED)
"""States of memories that weren't replaced, taken back or given up."""

CURRENT = (MemoryState.STAGED, MemoryState.COMMITTED)
"""States of memories that are recalled, and that others are compared with."""

LONGEST_TITLE = 60
"""Characters of a title that is taken from the text."""

_ID = re.compile(r"m([1-9][0-9]{0,8})")
_SENTENCE = re.compile(r"(?<=[^\W\d_]{4}[.!?])\s|\n")
_MARKS = re.compile(r"^[#>*\-\s]+|[.!?,;:\s]+$")


class Statement(msgspec.Struct, frozen=True):
    """Something that a memory said before."""

    text: str
    said: str
    """Local time, ISO 8601."""
    memory: str
    """Id of the memory that it was."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One memory."""

    number: int
    state: MemoryState
    title: str
    text: str
    titled: bool = False
    """Whether somebody gave it its title: otherwise it follows the text."""
    tags: tuple[str, ...] = ()
    quote: str = ""
    created: float
    """Seconds since the epoch, as the others."""
    said: float
    """When what it says now was said."""
    mentioned: float
    mentions: int = 1
    expires: float = 0
    told: float = 0
    """When the user was told that it will go; 0 if they weren't."""
    session: str = ""
    turn: str = ""
    origin: str = ""
    path: str = ""
    supersedes: int = 0
    contradicts: tuple[int, ...] = ()
    history: tuple[Statement, ...] = ()
    """The oldest first."""

    @property
    def id(self) -> str:
        """Short and stable, such as ``m7``."""
        return f"m{self.number}"

    @property
    def source(self) -> str:
        """Key under which it's found."""
        return f"memory:{self.id}"


@dataclass(frozen=True)
class Calendar:
    """What time it is for the user."""

    clock: Callable[[], float]
    """Seconds since the epoch."""
    zone: dt.tzinfo | None = None
    """The user's; None for the system's."""

    def moment(self, seconds: float) -> str:
        """Return a time as local ISO 8601 with offset, to the second."""
        return self._local(seconds).isoformat(timespec="seconds")

    def day(self, seconds: float) -> str:
        """Return the local day, ISO 8601."""
        return self._local(seconds).date().isoformat()

    def _local(self, seconds: float) -> dt.datetime:
        return dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone(self.zone)


def number_of(memory_id: str) -> int:
    """Return the number in an id; 0 if it isn't one."""
    found = _ID.fullmatch(memory_id.strip().casefold())
    return int(found[1]) if found else 0


def title_for(text: str, number: int) -> str:
    """Return a title for a text without one: how it begins, or its id if that says nothing."""
    first = _MARKS.sub("", _SENTENCE.split(text.strip(), maxsplit=1)[0])
    title = " ".join(first.split())
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE + 1].rpartition(" ")[0] or title[:LONGEST_TITLE]
        title = f"{title.rstrip(' ,;:-')}…"
    return title if tokens(title) else f"Memory m{number}"


def view(record: Record, calendar: Calendar, contradicts: tuple[int, ...] = ()) -> MemoryView:
    """Return a memory as it's shown.

    Args:
        record: The memory.
        calendar: The user's.
        contradicts: Those of the memories it contradicts that still hold.
    """
    goes = record.state in {MemoryState.STAGED, MemoryState.WAITING} and record.expires
    return MemoryView(
        id=record.id,
        title=record.title,
        text=record.text,
        state=record.state,
        tags=record.tags,
        quote=record.quote,
        created=calendar.moment(record.created),
        expires=calendar.moment(record.expires) if goes else "",
        session=record.session,
        turn=record.turn,
        origin=record.origin,
        path=record.path if record.state is MemoryState.COMMITTED else "",
        supersedes=f"m{record.supersedes}" if record.supersedes else "",
        contradicts=tuple(f"m{number}" for number in contradicts),
    )
