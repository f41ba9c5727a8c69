"""What words about time can mean, as values; and the choices that a user makes about them."""

import datetime as dt
from typing import Literal

import msgspec

Language = Literal["en", "de"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How this user says dates."""

    languages: tuple[Language, ...] = ("en", "de")
    first_weekday: Literal["monday", "sunday", "saturday"] = "monday"
    order: Literal["day_first", "month_first"] = "day_first"
    """Of `3/4`. Dates with dots are always day first, ISO dates always year first."""
    default_time: dt.time = dt.time(9)
    """Of a day that was said without a time."""


class Instant(msgspec.Struct, frozen=True, kw_only=True, tag="instant"):
    """One point in time."""

    local: dt.datetime
    """Aware, in ``zone``."""
    zone: str
    """IANA name."""
    time_said: bool
    """Whether a time of the day was said; if not, it's assumed."""
    all_day: bool
    """Whether only a day was said: the time may then float with the user's zone."""


class Recurrence(msgspec.Struct, frozen=True, kw_only=True, tag="recurrence"):
    """A rule of RFC 5545 and where it starts."""

    rule: str
    """The value of an RRULE, without the name."""
    start: dt.datetime
    """DTSTART: naive wall time in ``zone``, the first time that the rule is meant for."""
    first: dt.datetime
    """The same as an instant; differs from ``start`` where the clocks skip it."""
    zone: str
    """IANA name."""
    time_said: bool


class Duration(msgspec.Struct, frozen=True, kw_only=True, tag="duration"):
    """An amount of elapsed time, for timers."""

    seconds: int
    ends: dt.datetime
    """That long after now; aware, in ``zone``."""
    zone: str
    """IANA name."""


Meaning = Instant | Recurrence | Duration


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """What was understood, from which words, and what was assumed to get there."""

    meaning: Meaning
    words: str
    """The words about time, as they were written."""
    assumed: tuple[str, ...] = ()
    """Sentences for the echo, such as `no time said: 9:00`."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A date in a sentence."""

    meant: Meant
    rest: str
    """The sentence without the date and without its opening, such as `remind me to`."""
