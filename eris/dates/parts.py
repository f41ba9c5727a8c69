"""What a phrase about time can be made of, before it's known what it means together."""

import dataclasses
import datetime as dt


@dataclasses.dataclass(frozen=True)
class Day:
    """One fixed day; if it has passed there is no other."""

    date: dt.date
    told: str = ""


@dataclasses.dataclass(frozen=True)
class Weekly:
    """A day of the week: the next one."""

    weekday: int
    strict: bool = False
    """Not today."""
    weeks: int = 0
    """So many weeks after that."""
    told: str = ""


@dataclasses.dataclass(frozen=True)
class Monthly:
    """A day of any month, from 1; the last is -1."""

    day: int


@dataclasses.dataclass(frozen=True)
class Yearly:
    """A day of any year; the last day of its month is -1."""

    month: int
    day: int


@dataclasses.dataclass(frozen=True)
class Clock:
    """A time of the day."""

    hour: int
    minute: int = 0
    second: int = 0
    spoken: bool = False
    """Said so that a half of the day is missing, such as `at three`."""
    meridian: str = ""


@dataclasses.dataclass(frozen=True)
class Midnight:
    """The end of a day."""


@dataclasses.dataclass(frozen=True)
class DayPart:
    """Morning, evening and so on."""

    name: str


@dataclasses.dataclass(frozen=True)
class Moment:
    """A complete time with an offset from UTC."""

    at: dt.datetime


@dataclasses.dataclass(frozen=True)
class Elapsed:
    """An amount of time."""

    seconds: float
    firm: bool = True
    """Said as when (`in an hour`), not as how long (`for an hour`)."""


@dataclasses.dataclass(frozen=True)
class Repeat:
    """A frequency of RFC 5545 with its restrictions."""

    frequency: str
    interval: int = 1
    by: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Times:
    """How often."""

    count: int


@dataclasses.dataclass(frozen=True)
class Until:
    """The next day is where a series ends."""


@dataclasses.dataclass(frozen=True)
class From:
    """The next day is where a series starts."""


@dataclasses.dataclass(frozen=True)
class Zone:
    """An IANA name."""

    name: str


@dataclasses.dataclass(frozen=True)
class Span:
    """From one time to another, which no instant is."""


@dataclasses.dataclass(frozen=True)
class Offset:
    """From UTC: which of two equal times is meant when the clocks go back."""

    east: dt.timedelta


AnyDay = Day | Weekly | Monthly | Yearly
Part = (
    AnyDay
    | Clock
    | Midnight
    | DayPart
    | Moment
    | Elapsed
    | Repeat
    | Times
    | Until
    | From
    | Zone
    | Offset
    | Span
)
