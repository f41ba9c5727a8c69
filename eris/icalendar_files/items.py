"""What is taken from an iCalendar file, and what is put into one."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Moment = dt.date | dt.datetime
"""A day, or a wall time without a zone; `CalendarItem.zone` says whose clock shows it."""


class Kind(StrEnum):
    """Which component it is."""

    EVENT = "VEVENT"
    TASK = "VTODO"


class ItemState(StrEnum):
    """What became of it."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class CalendarItem:
    """An event or a task."""

    uid: str
    """Names it in every calendar. A single occurrence that was changed has the series' UID, a `/`
    and the time that it stood at before."""
    kind: Kind
    title: str
    notes: str = ""
    """What is said about it at length."""
    start: Moment | None = None
    """When it begins; for a task without a rule, when it's due. None for a task without a time."""
    zone: str = ""
    """IANA name, or `UTC`; empty for a day, and for a time that goes where the user goes."""
    rule: str = ""
    """The value of its RRULE; empty if it doesn't recur."""
    also: tuple[Moment, ...] = ()
    """RDATE: further times, in the same zone."""
    excluded: tuple[Moment, ...] = ()
    """EXDATE: times of the rule that don't count, in the same zone."""
    alarms: tuple[dt.timedelta, ...] = ()
    """When to tell of it, from the start on: negative before it."""
    state: ItemState = ItemState.OPEN
    own: Mapping[str, str] = field(default_factory=dict)
    """Properties that only Eris knows, written as `X-ERIS-NAME`."""
    line: int = field(default=0, compare=False)
    """Where in its file it begins, from 1; 0 if it's from none."""


@dataclass(frozen=True)
class Skipped:
    """Something in a file that wasn't taken, or not wholly."""

    line: int
    """Where it begins, from 1."""
    uid: str
    """Empty if it has none."""
    reason: str
    """Why, as the rest of a sentence about it."""

    def __str__(self) -> str:
        """Say it in a line."""
        named = f" (UID {self.uid})" if self.uid else ""
        return f"line {self.line}{named}: {self.reason}"


@dataclass(frozen=True)
class Taken:
    """What a file has."""

    items: tuple[CalendarItem, ...]
    skipped: tuple[Skipped, ...]
    """What isn't among the items."""
    remarks: tuple[Skipped, ...] = ()
    """What is among them, though not wholly."""


def quoted(text: str) -> str:
    """Return text as one line that `unquoted` makes the same text of: a JSON string.

    What isn't in RFC 5545 is read unchanged, escapes included, so that they have to be ours.
    """
    return json.dumps(text, ensure_ascii=False)


def unquoted(line: str) -> str:
    """Return the text of a JSON string; of what is none, itself."""
    try:
        text = json.loads(line)
    except ValueError:
        return line
    return text if isinstance(text, str) else line
