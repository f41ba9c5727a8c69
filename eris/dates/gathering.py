"""The parts of a phrase sorted by kind, each said once."""

import dataclasses
from collections.abc import Sequence

from eris.dates.parts import (
    AnyDay,
    Clock,
    Day,
    DayPart,
    Elapsed,
    From,
    Midnight,
    Moment,
    Monthly,
    Offset,
    Part,
    Repeat,
    Span,
    Times,
    Until,
    Weekly,
    Yearly,
    Zone,
)
from eris.errors import InvalidError

_EVENINGS = {DayPart("evening"), DayPart("night"), DayPart("tonight")}


@dataclasses.dataclass
class Said:
    """What was said, each kind once."""

    day: AnyDay | None = None
    weekday: int | None = None
    """Said along with a date, which must be one."""
    clock: Clock | Midnight | None = None
    part: DayPart | None = None
    moment: Moment | None = None
    elapsed: Elapsed | None = None
    repeat: Repeat | None = None
    times: Times | None = None
    until: AnyDay | None = None
    start: AnyDay | None = None
    zone: Zone | None = None
    offset: Offset | None = None


def gathered(parts: Sequence[Part]) -> Said:  # noqa: C901, PLR0912 - one case for each kind
    """Sort parts by kind.

    Raises:
        InvalidError: There are two of a kind, which can't be both meant.
    """
    said = Said()
    field = "day"
    for part in parts:
        match part:
            case Until():
                field = "until"
                continue
            case From():
                field = "start"
                continue
            case Day() | Weekly() | Monthly() | Yearly():
                _put_day(said, field, part)
                field = "day"
            case Clock() | Midnight():
                _put(said, "clock", part)
            case DayPart():
                _put(said, "part", part)
            case Moment():
                _put(said, "moment", part)
            case Elapsed():
                _put(said, "elapsed", part)
            case Repeat():
                said.repeat = _joined(said.repeat, part)
            case Times():
                _put(said, "times", part)
            case Span():
                raise InvalidError(
                    "From one time to another is a span; a single time is needed.",
                    hint="Say when it begins, such as 'tomorrow at 9:00'.",
                )
            case Zone():
                _put(said, "zone", part)
            case Offset():
                _put(said, "offset", part)
    if said.moment and (said.day or said.clock or said.part):
        raise two("dates")
    return said


def _put_day(said: Said, field: str, day: AnyDay) -> None:
    """Take a day; a day of the week beside a date, such as `Friday 5 March`, checks it."""
    old: AnyDay | None = getattr(said, field)
    if field == "day" and isinstance(old, Weekly) and _is_date(day) and not old.weeks:
        said.weekday, said.day = old.weekday, day
    elif field == "day" and isinstance(day, Weekly) and _is_date(old) and not day.weeks:
        said.weekday = day.weekday
    else:
        _put(said, field, day)


def _is_date(day: AnyDay | None) -> bool:
    return isinstance(day, Day | Yearly | Monthly)


def _put(said: Said, field: str, part: Part) -> None:
    old = getattr(said, field)
    if old is not None and old != part:
        if {old, part} <= _EVENINGS:
            return
        raise two("times" if field in {"clock", "part", "elapsed"} else "dates")
    setattr(said, field, part)


def _joined(old: Repeat | None, new: Repeat) -> Repeat:
    """A frequency alone and its restriction make one rule, such as `every week` and `mondays`."""
    if old is None or old == new:
        return new
    if not old.by and old.frequency == new.frequency:
        return dataclasses.replace(new, interval=max(old.interval, new.interval))
    daily, weekly = (old, new) if old.frequency == "DAILY" else (new, old)
    if (daily.frequency, weekly.frequency) == ("DAILY", "WEEKLY") and daily.interval % 7 == 0:
        return dataclasses.replace(weekly, interval=daily.interval // 7)
    raise two("rules")


def two(what: str) -> InvalidError:
    """The error of two things of which only one can be."""
    return InvalidError(
        f"There are two {what}; only one can be meant.", hint=f"Say one of the {what} at a time."
    )
