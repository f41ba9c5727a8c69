"""The time of the day that was said, or that is assumed."""

import dataclasses
import datetime as dt

from eris.dates.gathering import Said
from eris.dates.meaning import Options
from eris.dates.parts import AnyDay, Clock, Day, Midnight
from eris.errors import InvalidError

DAY_PARTS = {
    "morning": 9, "forenoon": 10, "noon": 12, "afternoon": 15, "evening": 18, "tonight": 20,
    "night": 22,
}  # fmt: skip
"""The hour of a part of the day that is said without a time."""
_NOON = 12
_HOURS = 24
SMALL_HOURS = 6
"""Until this hour the night isn't over; and said without a half of the day, an hour before it means
the afternoon."""


@dataclasses.dataclass(frozen=True)
class TimeOfDay:
    """A time of the day on the wall."""

    at: dt.time
    days_later: int = 0
    said: bool = True
    vague_until: int = 0
    """If no time was said, the hour at which the part of the day is over."""


def time_of_day(said: Said, now: dt.datetime, options: Options, told: list[str]) -> TimeOfDay:
    """Return the time of the day that was said, or the one that is assumed."""
    part = said.part.name if said.part else ""
    match said.clock:
        case Midnight():
            return TimeOfDay(dt.time(0), 1)
        case Clock():
            return _on_clock(said.clock, part, said.day, now, told)
        case None if part == "noon":
            return TimeOfDay(dt.time(_NOON))
        case None if part:
            hour = DAY_PARTS[part]
            told.append(f"no time said, {part}: {hour}:00")
            end = {"morning": _NOON, "forenoon": _NOON, "afternoon": 18}.get(part, _HOURS)
            return TimeOfDay(dt.time(hour), said=False, vague_until=end)
        case None:
            time = options.default_time
            told.append(f"no time said: {time.hour}:{time.minute:02}")
            return TimeOfDay(time, said=False, vague_until=_HOURS)


def _on_clock(
    clock: Clock, part: str, day: AnyDay | None, now: dt.datetime, told: list[str]
) -> TimeOfDay:
    hour, later = clock.hour, 0
    if clock.meridian and not 1 <= hour <= _NOON:
        raise InvalidError(
            f"There is no {hour} {clock.meridian}m.", hint="Say an hour from 1 to 12 with am or pm."
        )
    if hour == _HOURS and clock.minute == clock.second == 0:
        return TimeOfDay(dt.time(0), 1)
    if clock.meridian:
        hour = hour % _NOON + (_NOON if clock.meridian == "p" else 0)
    elif part in {"night", "tonight"} and hour <= _NOON:
        hour, later = _at_night(hour, part, day, now)
    elif part == "evening" and hour == _NOON:
        hour, later = 0, 1
    elif (part in {"afternoon", "evening"} and hour < _NOON) or (
        part == "noon" and hour < DAY_PARTS["morning"]
    ):
        hour += _NOON
    elif part == "morning" and hour == _NOON:
        hour = 0
    elif clock.spoken and not part and 0 < hour < SMALL_HOURS:
        hour += _NOON
        told.append(f"{hour - _NOON} is taken as {hour}:{clock.minute:02}; for the night say 'am'")
    try:
        return TimeOfDay(dt.time(hour, clock.minute, clock.second), later)
    except ValueError as error:
        raise InvalidError(
            f"There is no time {clock.hour}:{clock.minute:02}.",
            hint="Say a time from 0:00 to 24:00, such as 21:30.",
        ) from error


def _at_night(hour: int, part: str, day: AnyDay | None, now: dt.datetime) -> tuple[int, int]:
    """Return the hour and the days later: a night begins in the evening and ends after midnight."""
    if SMALL_HOURS <= hour < _NOON:
        return hour + _NOON, 0
    hour %= _NOON
    in_it = now.hour < SMALL_HOURS and (hour, 0) > (now.hour, 0) and isinstance(day, Day)
    return hour, int((part == "tonight" or day is not None) and not in_it)
