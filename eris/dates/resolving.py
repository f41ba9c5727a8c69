"""From the parts of a phrase to an instant, a recurrence or a duration after now.

Whatever had to be assumed is told. An instant is always later than now: a time of the day, a day of
the week, of the month or of the year means the next one; a fixed day that has passed is refused.
"""

import calendar
import datetime as dt
import itertools

from eris.dates import calendar_days as days
from eris.dates import zones
from eris.dates.day_times import SMALL_HOURS, TimeOfDay, time_of_day
from eris.dates.gathering import Said, two
from eris.dates.meaning import Duration, Instant, Meaning, Options
from eris.dates.parts import AnyDay, Clock, Day, Monthly, Weekly, Yearly
from eris.dates.recurring import recurrence
from eris.errors import InvalidError

_NOON = 12
_MOST_SECONDS = 366 * 86_400
_MOST_CANDIDATES = 60


def resolve(said: Said, now: dt.datetime, options: Options) -> tuple[Meaning, list[str]]:
    """Return what was meant and what was assumed.

    Args:
        said: The parts.
        now: Aware, in the user's zone.
        options: The user's.

    Raises:
        InvalidError: It's in the past, never, or contradicts itself.
    """
    zone = zones.name_of(now)
    if said.zone:
        zone = {"gmt": "UTC", "utc": "UTC"}.get(said.zone.name.lower(), said.zone.name)
        now = now.astimezone(zones.zone_of(zone))
    told: list[str] = []
    if said.offset and (said.elapsed or said.moment or said.repeat):
        raise two("dates")
    if said.elapsed:
        return _duration(said, now, zone), told
    if said.moment:
        if said.repeat:
            raise two("dates")
        local = _zoned(said.moment.at, now)
        _refuse_past(local, now, "")
        return Instant(local=local, zone=zone, time_said=True, all_day=False), [
            f"in {zone} that's {local:%Y-%m-%d %H:%M}"
        ]
    if said.repeat:
        return recurrence(said, now, zone, options, told), told
    if said.until or said.start or said.times:
        raise InvalidError(
            "There is an end or a start, but nothing that repeats.",
            hint="Say how often, such as 'every day until 31 January'.",
        )
    return _instant(said, now, zone, options, told), told


def _zoned(at: dt.datetime, now: dt.datetime) -> dt.datetime:
    try:
        return at.astimezone(now.tzinfo)
    except OverflowError as error:
        raise zones.too_far() from error


def _duration(said: Said, now: dt.datetime, zone: str) -> Duration:
    others = (said.day, said.clock, said.part, said.moment, said.repeat, said.times)
    if any(others) or said.until or said.start:
        raise InvalidError(
            "There is an amount of time and a date; only one can be meant.",
            hint="Say when, or in how long, but not both.",
        )
    seconds = round(said.elapsed.seconds) if said.elapsed else 0
    if not 0 < seconds <= _MOST_SECONDS:
        raise InvalidError(
            f"{seconds} seconds can't be waited for.",
            hint="Say a time between a second and a year.",
        )
    return Duration(seconds=seconds, ends=zones.later(now, seconds), zone=zone)


def _instant(said: Said, now: dt.datetime, zone: str, options: Options, told: list[str]) -> Instant:
    today = now.date()
    time = time_of_day(said, now, options, told)
    all_day = said.clock is None and said.part is None
    passed = False
    for date in itertools.islice(days.candidates(said.day, today), _MOST_CANDIDATES):
        if said.weekday is not None and date >= today and date.weekday() != said.weekday:
            raise _other_weekday(date, said.weekday)
        wall = dt.datetime.combine(days.plus(date, time.days_later), time.at)
        if said.offset:
            local, note = zones.at_offset(wall, said.offset.east, zone), ""
        else:
            local, note = zones.placed(wall, zone)
        second = zones.second_of(local)
        if said.offset is None and zones.is_after(second, now) and not zones.is_after(local, now):
            local, note = second, f"the first {wall:%H:%M} has passed: the second one"
        if not zones.is_after(local, now) and isinstance(said.day, Day):
            if date != today or time.said:
                _refuse_past(local, now, _suggested(local, now, said))
            local, note = _later_today(time, now, zone, said), ""
            told.append(f"{time.at:%H:%M} has passed today: {local:%H:%M}")
        if zones.is_after(local, now):
            told += _about_day(said.day, date, local, now, passed=passed)
            told += [note] if note else []
            return Instant(local=local, zone=zone, time_said=time.said, all_day=all_day)
        passed = True
    raise zones.too_far()


def _other_weekday(date: dt.date, weekday: int) -> InvalidError:
    return InvalidError(
        f"{date.isoformat()} is a {date:%A}, not a {calendar.day_name[weekday]}.",
        hint="Say the date or the day of the week, but not both.",
    )


def _about_day(
    day: AnyDay | None, date: dt.date, local: dt.datetime, now: dt.datetime, *, passed: bool
) -> list[str]:
    told = []
    if day is None and local.date() == days.plus(now.date(), 1) and passed:
        told.append(f"{local:%H:%M} has passed today: tomorrow")
    if isinstance(day, Day | Weekly) and day.told:
        told.append(day.told)
    if isinstance(day, Day) and now.hour < SMALL_HOURS and date <= days.plus(now.date(), 2):
        told.append(f"it's {now:%H:%M} on {now:%A}: the day meant is {local:%A %Y-%m-%d}")
    if isinstance(day, Yearly) and (day.month, day.day) == (2, 29):
        told.append(f"the next 29 February is in {date.year}")
    if isinstance(day, Monthly) and date.month != now.month and day.day > 28:  # noqa: PLR2004
        told.append(f"the next {day.day}. is in {date:%B %Y}")
    return told


def _later_today(time: TimeOfDay, now: dt.datetime, zone: str, said: Said) -> dt.datetime:
    hour = now.hour + 1
    if hour < time.vague_until:
        wall = dt.datetime.combine(now.date(), dt.time(hour))
        local = zones.placed(wall, zone)[0]
        if zones.is_after(local, now):
            return local
    local = zones.placed(dt.datetime.combine(now.date(), time.at), zone)[0]
    raise _past(local, now, _suggested(local, now, said))


def _refuse_past(local: dt.datetime, now: dt.datetime, suggestion: str) -> None:
    if not zones.is_after(local, now):
        raise _past(local, now, suggestion)


def _past(local: dt.datetime, now: dt.datetime, suggestion: str) -> InvalidError:
    return InvalidError(
        f"{local:%A %Y-%m-%d %H:%M} has passed: it's {now:%Y-%m-%d %H:%M}.",
        hint=suggestion or "Say a time that is still to come, such as 'tomorrow at 9:00'.",
    )


def _suggested(local: dt.datetime, now: dt.datetime, said: Said) -> str:
    """Return the nearest thing that can have been meant."""
    time = f"{local:%H:%M}"
    suggestions = []
    if local.date() == now.date():
        suggestions.append(f"'tomorrow at {time}'")
        if isinstance(said.clock, Clock) and local.hour < _NOON:
            evening = local.replace(hour=local.hour + _NOON)
            suggestions += [f"'today at {evening:%H:%M}'"] if zones.is_after(evening, now) else []
    else:
        later = (
            next(
                year for year in (now.year, now.year + 1, now.year + 4) if _can_be(local, year, now)
            )
            if local.year + 9 < dt.MAXYEAR and now.year + 9 < dt.MAXYEAR
            else 0
        )
        suggestions += [f"'{local.day} {local:%B} {later}'"] if later else []
    return f"Say {' or '.join(suggestions)}." if suggestions else ""


def _can_be(local: dt.datetime, year: int, now: dt.datetime) -> bool:
    try:
        return zones.is_after(local.replace(year=year), now)
    except ValueError:
        return year > now.year + 1
