"""From the parts of a phrase to a recurrence that starts after now."""

import datetime as dt

from eris.dates import calendar_days as days
from eris.dates import rules, zones
from eris.dates.day_times import time_of_day
from eris.dates.gathering import Said, two
from eris.dates.meaning import Options, Recurrence
from eris.dates.parts import AnyDay, Day, Monthly, Repeat, Weekly, Yearly
from eris.errors import InvalidError


def recurrence(
    said: Said, now: dt.datetime, zone: str, options: Options, told: list[str]
) -> Recurrence:
    """Return the series that was said.

    Args:
        said: The parts.
        now: Aware, in the zone.
        zone: IANA name.
        options: The user's.
        told: Takes what was assumed.

    Raises:
        InvalidError: The parts contradict each other, or the series never begins.
    """
    repeat = said.repeat or Repeat("DAILY")
    by = _restricted(said, repeat)
    begins = said.start
    if said.day is not None and by == dict(repeat.by):
        if begins is not None or not isinstance(said.day, Day | Yearly):
            raise two("dates")
        begins = said.day
        told.append("the date is where it starts")
    rule = _written(repeat, by, options)
    if repeat.frequency in rules.ELAPSED and not (said.clock or said.part):
        seconds = repeat.interval * rules.ELAPSED[repeat.frequency]
        start, time_said = zones.later(now, seconds).replace(tzinfo=None), True
        if begins is not None:
            start = dt.datetime.combine(_first_day(begins, now), options.default_time)
    else:
        time = time_of_day(said, now, options, told)
        # Midnight ends a day, but a rule names the day on which it fires.
        start, time_said = dt.datetime.combine(_first_day(begins, now), time.at), time.said
        if not by and not zones.is_after(zones.placed(start, zone)[0], now):
            start = dt.datetime.combine(days.plus(start.date(), 1), time.at)
    wall, first, note = rules.first_after(rule, start, zone, now)
    rule += _end(said, first, zone)
    told += [note] if note else []
    told += _rare_days(by, repeat.interval)
    return Recurrence(rule=rule, start=wall, first=first, zone=zone, time_said=time_said)


def _restricted(said: Said, repeat: Repeat) -> dict[str, str]:
    """Return on which days it happens: a day said along restricts a frequency of its kind."""
    by = dict(repeat.by)
    if said.weekday is not None:
        raise two("dates")
    match said.day:
        case Weekly(weekday=weekday) if repeat.frequency == "WEEKLY" and not by:
            return {"BYDAY": days.CODES[weekday]}
        case Monthly(day=day) if repeat.frequency == "MONTHLY" and not by:
            return {"BYMONTHDAY": str(day)}
        case Yearly(month=month, day=day) if repeat.frequency == "YEARLY" and not by:
            return {"BYMONTH": str(month), "BYMONTHDAY": str(day)}
    return by


def _written(repeat: Repeat, by: dict[str, str], options: Options) -> str:
    pieces = [f"FREQ={repeat.frequency}"]
    pieces += [f"INTERVAL={repeat.interval}"] if repeat.interval > 1 else []
    pieces += [f"{name}={value}" for name, value in by.items()]
    if repeat.interval > 1 and repeat.frequency == "WEEKLY" and options.first_weekday != "monday":
        pieces.append(f"WKST={options.first_weekday[:2].upper()}")
    return ";".join(pieces)


def _first_day(begins: AnyDay | None, now: dt.datetime) -> dt.date:
    if begins is None:
        return now.date()
    return max(next(days.candidates(begins, now.date())), now.date())


def _end(said: Said, first: dt.datetime, zone: str) -> str:
    if said.times and said.until:
        raise two("ends")
    if said.times:
        if not 0 < said.times.count <= rules.MOST_OCCURRENCES:
            raise InvalidError(
                f"It can't happen {said.times.count} times.",
                hint=f"Say a number from 1 to {rules.MOST_OCCURRENCES}.",
            )
        return f";COUNT={said.times.count}"
    if said.until is None:
        return ""
    date = next(days.candidates(said.until, first.date()))
    last = zones.placed(dt.datetime.combine(date, dt.time(23, 59, 59)), zone)[0]
    if zones.is_after(first, last):
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
