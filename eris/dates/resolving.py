"""From the parts of a phrase to an instant, a recurrence or a duration after now.

Whatever had to be assumed is told. An instant is always later than now: a time of the day, a day of
the week, of the month or of the year means the next one; a fixed day that has passed is refused.
"""

import calendar
import dataclasses
import datetime as dt
import itertools
from collections.abc import Iterator, Mapping, Sequence

from eris.dates import calendar_days as days
from eris.dates import rules, zones
from eris.dates.meaning import Duration, Instant, Meaning, Options, Recurrence
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
    Part,
    Repeat,
    Times,
    Until,
    Weekly,
    Yearly,
    Zone,
)
from eris.errors import InvalidError

DAY_PARTS = {
    "morning": 9, "forenoon": 10, "noon": 12, "afternoon": 15, "evening": 18, "tonight": 20,
    "night": 22,
}  # fmt: skip
"""The hour of a part of the day that is said without a time."""
_NOON = 12
_HOURS = 24
_SMALL_HOURS = 6
"""Until this hour the night isn't over; and said without a half of the day, an hour before it means
the afternoon."""
_MOST_SECONDS = 366 * 86_400
_MOST_CANDIDATES = 60


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


@dataclasses.dataclass(frozen=True)
class _Time:
    at: dt.time
    days_later: int = 0
    said: bool = True
    vague_until: int = 0
    """If no time was said, the hour at which the part of the day is over."""


def gathered(parts: Sequence[Part]) -> Said:  # noqa: C901 - one case for each kind
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
            case Zone():
                _put(said, "zone", part)
    if said.moment and (said.day or said.clock or said.part):
        raise _two("dates")
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
        raise _two("times" if field in {"clock", "part", "elapsed"} else "dates")
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
    raise _two("rules")


def _two(what: str) -> InvalidError:
    return InvalidError(
        f"There are two {what}; only one can be meant.", hint=f"Say one of the {what} at a time."
    )


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
    if said.elapsed:
        return _duration(said, now, zone), told
    if said.moment:
        if said.repeat:
            raise _two("dates")
        local = _zoned(said.moment.at, now)
        _refuse_past(local, now, "")
        return Instant(local=local, zone=zone, time_said=True, all_day=False), [
            f"in {zone} that's {local:%Y-%m-%d %H:%M}"
        ]
    if said.repeat:
        return _recurrence(said, now, zone, options, told), told
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
    time = _time(said, now, options, told)
    all_day = said.clock is None and said.part is None
    passed = False
    for date in itertools.islice(_candidates(said.day, today), _MOST_CANDIDATES):
        if said.weekday is not None and date >= today and date.weekday() != said.weekday:
            raise _other_weekday(date, said.weekday)
        local, note = zones.placed(
            dt.datetime.combine(days.plus(date, time.days_later), time.at), zone
        )
        if local <= now and isinstance(said.day, Day):
            if date != today or time.said:
                _refuse_past(local, now, _suggested(local, now, said))
            local, note = _later_today(time, now, zone, said), ""
            told.append(f"{time.at:%H:%M} has passed today: {local:%H:%M}")
        if local > now:
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


def _candidates(day: AnyDay | None, today: dt.date) -> Iterator[dt.date]:
    """Yield the days that can be meant, in rising order."""
    match day:
        case None:
            yield from (days.plus(today, ahead) for ahead in (-1, 0, 1, 2))
        case Day():
            yield day.date
        case Weekly():
            first = days.on_or_after(days.plus(today, int(day.strict)), day.weekday)
            yield from (days.plus(first, 7 * (day.weeks + ahead)) for ahead in range(3))
        case Monthly():
            if not -1 <= day.day <= 31 or day.day == 0:  # noqa: PLR2004 - days of a month
                raise InvalidError(f"No month has a {day.day}.", hint="Say a day from 1 to 31.")
            for ahead in itertools.count():
                yield from _day_of(days.month_start(today, ahead), day.day)
        case Yearly():
            for year in range(today.year, min(today.year + 41, dt.MAXYEAR)):
                yield from _day_of(dt.date(year, day.month, 1), day.day)


def _day_of(month: dt.date, day: int) -> Iterator[dt.date]:
    last = calendar.monthrange(month.year, month.month)[1]
    if day <= last:
        yield month.replace(day=last if day == -1 else day)


def _about_day(
    day: AnyDay | None, date: dt.date, local: dt.datetime, now: dt.datetime, *, passed: bool
) -> list[str]:
    told = []
    if day is None and local.date() == days.plus(now.date(), 1) and passed:
        told.append(f"{local:%H:%M} has passed today: tomorrow")
    if isinstance(day, Day | Weekly) and day.told:
        told.append(day.told)
    if isinstance(day, Day) and now.hour < _SMALL_HOURS and date <= days.plus(now.date(), 2):
        told.append(f"it's {now:%H:%M} on {now:%A}: the day meant is {local:%A %Y-%m-%d}")
    if isinstance(day, Yearly) and (day.month, day.day) == (2, 29):
        told.append(f"the next 29 February is in {date.year}")
    if isinstance(day, Monthly) and date.month != now.month and day.day > 28:  # noqa: PLR2004
        told.append(f"the next {day.day}. is in {date:%B %Y}")
    return told


def _later_today(time: _Time, now: dt.datetime, zone: str, said: Said) -> dt.datetime:
    hour = now.hour + 1
    if hour < time.vague_until:
        wall = dt.datetime.combine(now.date(), dt.time(hour))
        local = zones.placed(wall, zone)[0]
        if local > now:
            return local
    local = zones.placed(dt.datetime.combine(now.date(), time.at), zone)[0]
    raise _past(local, now, _suggested(local, now, said))


def _time(said: Said, now: dt.datetime, options: Options, told: list[str]) -> _Time:
    """Return the time of the day that was said, or the one that is assumed."""
    part = said.part.name if said.part else ""
    match said.clock:
        case Midnight():
            return _Time(dt.time(0), 1)
        case Clock():
            return _on_clock(said.clock, part, said.day, now, told)
        case None if part == "noon":
            return _Time(dt.time(_NOON))
        case None if part:
            hour = DAY_PARTS[part]
            told.append(f"no time said, {part}: {hour}:00")
            end = {"morning": _NOON, "forenoon": _NOON, "afternoon": 18}.get(part, _HOURS)
            return _Time(dt.time(hour), said=False, vague_until=end)
        case None:
            time = options.default_time
            told.append(f"no time said: {time.hour}:{time.minute:02}")
            return _Time(time, said=False, vague_until=_HOURS)


def _on_clock(
    clock: Clock, part: str, day: AnyDay | None, now: dt.datetime, told: list[str]
) -> _Time:
    hour, later = clock.hour, 0
    if clock.meridian and not 1 <= hour <= _NOON:
        raise InvalidError(
            f"There is no {hour} {clock.meridian}m.", hint="Say an hour from 1 to 12 with am or pm."
        )
    if hour == _HOURS and clock.minute == clock.second == 0:
        return _Time(dt.time(0), 1)
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
    elif clock.spoken and not part and 0 < hour < _SMALL_HOURS:
        hour += _NOON
        told.append(f"{hour - _NOON} is taken as {hour}:{clock.minute:02}; for the night say 'am'")
    try:
        return _Time(dt.time(hour, clock.minute, clock.second), later)
    except ValueError as error:
        raise InvalidError(
            f"There is no time {clock.hour}:{clock.minute:02}.",
            hint="Say a time from 0:00 to 24:00, such as 21:30.",
        ) from error


def _at_night(hour: int, part: str, day: AnyDay | None, now: dt.datetime) -> tuple[int, int]:
    """Return the hour and the days later: a night begins in the evening and ends after midnight."""
    if _SMALL_HOURS <= hour < _NOON:
        return hour + _NOON, 0
    hour %= _NOON
    in_it = now.hour < _SMALL_HOURS and (hour, 0) > (now.hour, 0) and isinstance(day, Day)
    return hour, int((part == "tonight" or day is not None) and not in_it)


def _recurrence(
    said: Said, now: dt.datetime, zone: str, options: Options, told: list[str]
) -> Recurrence:
    repeat = said.repeat or Repeat("DAILY")
    by = dict(repeat.by)
    start_day = said.start
    if said.weekday is not None:
        raise _two("dates")
    match said.day:
        case Weekly() if repeat.frequency == "WEEKLY" and not by:
            by = {"BYDAY": days.CODES[said.day.weekday]}
        case Monthly() if repeat.frequency == "MONTHLY" and not by:
            by = {"BYMONTHDAY": str(said.day.day)}
        case Yearly() if repeat.frequency == "YEARLY" and not by:
            by = {"BYMONTH": str(said.day.month), "BYMONTHDAY": str(said.day.day)}
        case None:
            pass
        case _ if start_day is None:
            start_day = said.day
            told.append("the date is where it starts")
        case _:
            raise _two("dates")
    rule = _rule(repeat, by, options)
    elapsed = repeat.frequency in {"HOURLY", "MINUTELY"} and not (said.clock or said.part)
    if elapsed:
        seconds = (
            repeat.interval * days.SECONDS["hour" if repeat.frequency == "HOURLY" else "minute"]
        )
        time = _Time((zones.later(now, seconds)).time().replace(second=0, microsecond=0))
        start = zones.later(now, seconds).replace(tzinfo=None)
    else:
        time = _time(said, now, options, told)
        # Midnight ends a day, but a rule names the day on which it fires.
        start = dt.datetime.combine(now.date(), time.at)
    if start_day is not None:
        date = next(iter(_candidates(start_day, now.date())))
        start = dt.datetime.combine(max(date, now.date()), time.at)
    if not by and not elapsed and zones.placed(start, zone)[0] <= now:
        start = dt.datetime.combine(days.plus(start.date(), 1), time.at)
    wall, first, note = rules.first_after(rule, start, zone, now)
    rule += _end(said, first, zone)
    told += [repeat.told] if repeat.told else []
    told += [note] if note else []
    told += _rare_days(by, repeat.interval)
    return Recurrence(rule=rule, start=wall, first=first, zone=zone, time_said=time.said)


def _rule(repeat: Repeat, by: Mapping[str, str], options: Options) -> str:
    pieces = [f"FREQ={repeat.frequency}"]
    pieces += [f"INTERVAL={repeat.interval}"] if repeat.interval > 1 else []
    pieces += [f"{name}={value}" for name, value in by.items()]
    if repeat.interval > 1 and repeat.frequency == "WEEKLY" and options.first_weekday != "monday":
        pieces.append(f"WKST={options.first_weekday[:2].upper()}")
    return ";".join(pieces)


def _end(said: Said, first: dt.datetime, zone: str) -> str:
    if said.times and said.until:
        raise _two("ends")
    if said.times:
        if not 0 < said.times.count <= rules.MOST_OCCURRENCES:
            raise InvalidError(
                f"It can't happen {said.times.count} times.",
                hint=f"Say a number from 1 to {rules.MOST_OCCURRENCES}.",
            )
        return f";COUNT={said.times.count}"
    if said.until is None:
        return ""
    date = next(_candidates(said.until, first.date()))
    last = zones.placed(dt.datetime.combine(date, dt.time(23, 59, 59)), zone)[0]
    if last < first:
        raise InvalidError(
            f"It would end on {date.isoformat()}, before it begins on {first:%Y-%m-%d}.",
            hint=f"Let it end after {first:%Y-%m-%d}.",
        )
    return f";UNTIL={last.astimezone(dt.UTC):%Y%m%dT%H%M%SZ}"


def _rare_days(by: dict[str, str], interval: int) -> list[str]:
    day = by.get("BYMONTHDAY", "")
    if by.get("BYMONTH") == "2" and day == "29":
        return ["there is a 29 February only in leap years: other years are skipped"]
    if "BYMONTH" not in by and day in {"29", "30", "31"}:
        return [
            f"months without a {day}. are skipped; for the last day say 'last day of every month'"
        ]
    if by.get("BYDAY", "").startswith("5"):
        return ["months without a fifth one are skipped; for the last one say 'last'"]
    if interval > 1 and "BYDAY" in by:
        return [f"every {interval} weeks, counted from the first time"]
    return []


def _refuse_past(local: dt.datetime, now: dt.datetime, suggestion: str) -> None:
    if local <= now:
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
            suggestions += [f"'today at {evening:%H:%M}'"] if evening > now else []
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
        return local.replace(year=year) > now
    except ValueError:
        return year > now.year + 1
