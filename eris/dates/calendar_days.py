"""Days of the calendar, counted and named; without times and zones."""

import calendar
import datetime as dt
import itertools
from collections.abc import Iterator

from eris.dates.parts import AnyDay, Clock, Day, Moment, Monthly, Part, Weekly, Yearly
from eris.dates.zones import too_far
from eris.errors import InvalidError

SECONDS = {"second": 1, "minute": 60, "hour": 3600}
LONGER = {"day": 86_400, "week": 604_800}
FREQUENCIES = {
    "minute": "MINUTELY", "hour": "HOURLY", "day": "DAILY", "week": "WEEKLY", "month": "MONTHLY",
    "year": "YEARLY",
}  # fmt: skip
CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_STARTS = {"monday": 0, "saturday": 5, "sunday": 6}
_LEAP_YEAR = 2000
_CENTURY = 100
_FEBRUARY = 2


def on_or_after(date: dt.date, weekday: int) -> dt.date:
    """Return the first such day of the week that isn't before a date."""
    return plus(date, (weekday - date.weekday()) % 7)


def before(date: dt.date, weekday: int) -> dt.date:
    """Return the last such day of the week before a date."""
    return date - dt.timedelta((date.weekday() - weekday - 1) % 7 + 1)


def plus(date: dt.date, days: int) -> dt.date:
    """Return the date so many days later.

    Raises:
        InvalidError: The calendar has no such date.
    """
    try:
        return date + dt.timedelta(days)
    except OverflowError as error:
        raise too_far() from error


def week_start(date: dt.date, first_weekday: str) -> dt.date:
    """Return the first day of the week that a date is in."""
    return date - dt.timedelta((date.weekday() - _STARTS[first_weekday]) % 7)


def month_start(date: dt.date, ahead: int) -> dt.date:
    """Return the first day of the month so many months later."""
    year, month = divmod(date.year * 12 + date.month - 1 + ahead, 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise too_far()
    return dt.date(year, month + 1, 1)


def moved(date: dt.date, number: int, unit: str) -> dt.date:
    """Return the date so many days, weeks, months or years later; a month's last day at most.

    Raises:
        InvalidError: The calendar has no such date.
    """
    if unit in {"month", "year"}:
        first = month_start(date, number * (12 if unit == "year" else 1))
        return first.replace(day=min(date.day, calendar.monthrange(first.year, first.month)[1]))
    return plus(date, number * (7 if unit == "week" else 1))


def halved(number: float, unit: str) -> tuple[int, str]:
    """Return a fraction of a year, week or month in whole units of a smaller kind."""
    smaller = {"year": (12, "month"), "month": (30, "day"), "week": (7, "day"), "day": (1, "day")}
    factor, name = smaller[unit]
    return round(number * factor), name


def nth_of_month(
    today: dt.date, number: int, weekday: int, *, month: int | None = None, ahead: int = 0
) -> tuple[Part, ...]:
    """Return the n-th such weekday of a month, or its last (-1): the next one if it has passed."""
    first = month_start(today, ahead if month is None else (month - today.month) % 12)
    step = 1 if month is None else 12
    for start in (first, month_start(first, step)):
        if number == -1:
            date = before(month_start(start, 1), weekday)
        else:
            date = on_or_after(start, weekday) + dt.timedelta(7 * (number - 1))
        if date >= today and (date.month == start.month or month is not None):
            break
    if number > 0 and date.month != start.month:
        raise InvalidError(
            f"{start:%B %Y} has no {number}. {calendar.day_name[weekday]}.",
            hint="Say 'the last', or a number from 1 to 4.",
        )
    return (Day(date),)


def named(day: int, month: int, year: int | None) -> tuple[Part, ...]:
    """Return a day of a month, of the year given or of the next year that has it.

    Raises:
        InvalidError: There is no such day.
    """
    if not 1 <= month <= 12:  # noqa: PLR2004 - months of the year
        raise InvalidError(f"There is no month {month}.", hint="Say the month by its name.")
    if year is not None and year < _CENTURY:
        year += 2000
    last = calendar.monthrange(_LEAP_YEAR if year is None else max(year, 1), month)[1]
    if not 1 <= day <= last:
        name = calendar.month_name[month]
        leap = f", or 29 February {year + 4 - year % 4}" if year and (day, month) == (29, 2) else ""
        raise InvalidError(
            f"There is no {day} {name}{'' if year is None else f' {year}'}.",
            hint=f"{name} has {last} days: say {last} {name}, "
            f"1 {calendar.month_name[month % 12 + 1]}{leap}.",
        )
    return (Yearly(month, day) if year is None else Day(_date(year, month, day)),)


def _date(year: int, month: int, day: int) -> dt.date:
    try:
        return dt.date(year, month, day)
    except ValueError as error:
        raise too_far() from error


def written(numbers: tuple[int, ...], *, first: str) -> tuple[Part, ...]:
    """Return a date written in numbers, with the day or the month first."""
    day, month = numbers[:2] if first == "day" else (numbers[1], numbers[0])
    return named(day, month, numbers[2] if len(numbers) > 2 else None)  # noqa: PLR2004


def slashed(numbers: tuple[int, ...], order: str) -> tuple[Part, ...]:
    """Return a date such as `3/4` in the user's order, or in the only one that makes sense."""
    first = "day" if order == "day_first" else "month"
    month = numbers[1] if first == "day" else numbers[0]
    other = numbers[0] if first == "day" else numbers[1]
    if month > 12 >= other:  # noqa: PLR2004 - months of the year
        first = "month" if first == "day" else "day"
    return written(numbers, first=first)


def iso(text: str) -> tuple[Part, ...]:
    """Return a date of ISO 8601, with or without a time and an offset from UTC.

    Raises:
        InvalidError: There is no such date or time.
    """
    pieces = text.upper().replace(" Z", "Z").replace(" ", "T").partition("T")
    date = written(tuple(int(part) for part in reversed(pieces[0].split("-"))), first="day")
    if not pieces[2]:
        return date
    day = date[0]
    if pieces[2].startswith("24:00") and isinstance(day, Day):
        return (day, Clock(24))
    clock = pieces[2] if pieces[2][1] != ":" else f"0{pieces[2]}"
    try:
        time = dt.time.fromisoformat(clock)
    except ValueError as error:
        raise InvalidError(
            f"{text!r} has a time that doesn't exist.", hint="Write it as 2027-01-31T18:30."
        ) from error
    if time.tzinfo is not None and isinstance(day, Day):
        try:
            return (Moment(dt.datetime.combine(day.date, time).astimezone(dt.UTC)),)
        except OverflowError as error:
            raise too_far() from error
    return (*date, Clock(time.hour, time.minute, time.second))


def candidates(day: AnyDay | None, today: dt.date) -> Iterator[dt.date]:
    """Yield the days that can be meant, in rising order."""
    match day:
        case None:
            yield from (plus(today, ahead) for ahead in (-1, 0, 1, 2))
        case Day():
            yield day.date
        case Weekly():
            first = on_or_after(plus(today, int(day.strict)), day.weekday)
            yield from (plus(first, 7 * (day.weeks + ahead)) for ahead in range(3))
        case Monthly():
            if not -1 <= day.day <= 31 or day.day == 0:  # noqa: PLR2004 - days of a month
                raise InvalidError(f"No month has a {day.day}.", hint="Say a day from 1 to 31.")
            for ahead in itertools.count():
                yield from _day_of(month_start(today, ahead), day.day)
        case Yearly():
            for year in range(today.year, min(today.year + 41, dt.MAXYEAR)):
                yield from _day_of(dt.date(year, day.month, 1), day.day)


def _day_of(month: dt.date, day: int) -> Iterator[dt.date]:
    last = calendar.monthrange(month.year, month.month)[1]
    if day <= last:
        yield month.replace(day=last if day == -1 else day)
