"""What the patterns of `eris.dates.phrases` mean: from captured values to parts."""

import dataclasses
import datetime as dt
from collections.abc import Callable, Sequence

from eris.dates import calendar_days as days
from eris.dates.meaning import Options
from eris.dates.parts import (
    Clock,
    Day,
    DayPart,
    Elapsed,
    Offset,
    Part,
    Repeat,
    Weekly,
)
from eris.dates.patterns import Captured

_CENTURIES = (19, 20)


@dataclasses.dataclass(frozen=True)
class Context:
    """What the meaning of words depends on."""

    today: dt.date
    options: Options


Reading = Callable[[Context, Captured], tuple[Part, ...]]
"""Makes parts of what a pattern captured; an empty tuple: it doesn't mean that."""


def integer(value: object) -> int:
    """Return a captured number, 0 for none."""
    return int(value) if isinstance(value, int | float) else 0


def numbers(value: object) -> tuple[int, ...]:
    """Return captured numbers."""
    return tuple(integer(part) for part in value) if isinstance(value, tuple) else ()


def part_of_today(value: object) -> DayPart:
    """A part of today: the night is the one that comes."""
    return DayPart("tonight" if value == "night" else str(value))


def day_ahead(context: Context, ahead: int) -> tuple[Part, ...]:
    """A day so many days from today."""
    return (Day(days.plus(context.today, ahead)),)


def written(value: object, meridian: object) -> tuple[Part, ...]:
    """A time in digits."""
    hour, minute, second = numbers(value)
    return (Clock(hour, minute, second, meridian=str(meridian or "")),)


def offset(value: object) -> tuple[Part, ...]:
    """An offset as `UTC+02:00`."""
    sign, clock = str(value)[3], str(value)[4:]
    hours, minutes = (int(part) for part in clock.split(":"))
    east = dt.timedelta(hours=hours, minutes=minutes)
    return (Offset(-east if sign == "-" else east),)


def four(value: object) -> tuple[Part, ...]:
    """Four digits, such as `0930`, but not what could as well be a year."""
    hour, minute = numbers(value)
    return () if hour in _CENTURIES else (Clock(hour, minute),)


def spoken(said_hour: object, minutes: int, meridian: object) -> tuple[Part, ...]:
    """A time as said: so many minutes after or before an hour of the clock's face."""
    hour = integer(said_hour)
    if not -60 < minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return ()
    if minutes < 0:
        hour, minutes = (hour - 1) % 24 or 12, minutes + 60
    return (Clock(hour, minutes, spoken=not meridian, meridian=str(meridian or "")),)


def weekday_part(values: Captured) -> tuple[Part, ...]:
    """A compound such as `Freitagabend`."""
    weekday, name = values[0] if isinstance(values[0], tuple) else (0, "")
    return (Weekly(integer(weekday)), DayPart(str(name)))


def every_part(values: Captured) -> tuple[Part, ...]:
    """Every such compound."""
    weekday, name = values[0] if isinstance(values[0], tuple) else (0, "")
    return (*on_weekdays((integer(weekday),)), DayPart(str(name)))


def in_weeks(_: Context, values: Captured) -> tuple[Part, ...]:
    """A day of the week, so many weeks on."""
    return (Weekly(integer(values[0]), weeks=integer(values[1])),)


def of_week(context: Context, weekday: object, told: str = "") -> tuple[Part, ...]:
    """A day of the next week."""
    first = days.plus(days.week_start(context.today, context.options.first_weekday), 7)
    return (Day(days.on_or_after(first, integer(weekday)), told),)


def ahead(context: Context, amount: object, unit: object) -> tuple[Part, ...]:
    """So long from now: to the second for hours, to the day for days."""
    number = float(amount) if isinstance(amount, int | float) else 0.0
    if str(unit) in days.SECONDS:
        return (Elapsed(number * days.SECONDS[str(unit)]),)
    if number != int(number):
        number, unit = days.halved(number, str(unit))
    date = days.moved(context.today, int(number), str(unit))
    clipped = str(unit) in {"month", "year"} and date.day != context.today.day
    told = f"{date:%B %Y} has no {context.today.day}." if clipped else ""
    return (Day(date, told),)


def past(context: Context, values: Captured) -> tuple[Part, ...]:
    """So long ago: a day that has passed."""
    unit = str(values[1])
    return (Day(days.moved(context.today, -1, "day" if unit in days.SECONDS else unit)),)


def date_of(year: object, month: object, day: object) -> tuple[Part, ...]:
    """A day and month, with a year or not."""
    return days.named(integer(day), integer(month), integer(year) if year is not None else None)


def lasting(amount: object, unit: object, *, firm: bool = False) -> tuple[Part, ...]:
    """An amount of time; months and years have none."""
    number = float(amount) if isinstance(amount, int | float) else 0.0
    seconds = days.SECONDS.get(str(unit)) or days.LONGER.get(str(unit))
    return (Elapsed(number * seconds, firm),) if seconds else ()


def lasting_more(amount: object, unit: object, more: float, *, firm: bool) -> tuple[Part, ...]:
    """An amount and a part of one."""
    return lasting(integer(amount) + more, unit, firm=firm)


def lasting_both(values: Captured, *, firm: bool) -> tuple[Part, ...]:
    """An amount in two units."""
    both = [*lasting(values[0], values[1]), *lasting(values[2], values[3])]
    amounts = [part.seconds for part in both if isinstance(part, Elapsed)]
    return (Elapsed(sum(amounts), firm),) if len(amounts) == len("ab") else ()


def hours_minutes(hours: object, minutes: object) -> tuple[Part, ...]:
    """An amount such as `1h30`; `14h30` could be a time of the day as well."""
    if integer(hours) >= 10:  # noqa: PLR2004 - two digits, as the clock has
        return ()
    return lasting_both((integer(hours), "hour", integer(minutes), "minute"), firm=False)


def every(unit: object, interval: object) -> tuple[Part, ...]:
    """Every so many units."""
    frequency = days.FREQUENCIES.get(str(unit))
    return (Repeat(frequency, max(1, integer(interval))),) if frequency else ()


def on_weekdays(weekdays: Sequence[object], interval: object = 1) -> tuple[Part, ...]:
    """Every so many weeks on these days."""
    weeks = integer(interval)
    if weeks < 1:
        return ()
    chosen = sorted({integer(day) for day in weekdays})
    return (Repeat("WEEKLY", weeks, (("BYDAY", ",".join(days.CODES[day] for day in chosen)),)),)


def weekday_span(first: int, last: int) -> tuple[Part, ...]:
    """Every week from one day to another."""
    return on_weekdays([(first + ahead) % 7 for ahead in range((last - first) % 7 + 1)])


def nth(number: object, weekday: object, month: object = None) -> tuple[Part, ...]:
    """Every n-th such day of the week in the month or in one month of the year."""
    count = integer(number)
    if not -1 <= count <= 5:  # noqa: PLR2004 - a month has five Mondays at most
        return ()
    by = (("BYDAY", f"{count}{days.CODES[integer(weekday)]}"),)
    if month is not None:
        return (Repeat("YEARLY", by=(("BYMONTH", str(month)), *by)),)
    return (Repeat("MONTHLY", by=by),)


def nth_in(
    context: Context, number: object, weekday: object, month: int | None = None, ahead: int = 0
) -> tuple[Part, ...]:
    """The n-th such day of the week in a month."""
    return days.nth_of_month(
        context.today, integer(number), integer(weekday), month=month, ahead=ahead
    )


def of_month(day: object) -> tuple[Part, ...]:
    """Every such day of the month."""
    return (Repeat("MONTHLY", by=(("BYMONTHDAY", str(integer(day))),)),)


def of_year(month: object, day: object) -> tuple[Part, ...]:
    """Every such day of the year."""
    days.named(integer(day), integer(month), None)
    return (Repeat("YEARLY", by=(("BYMONTH", str(month)), ("BYMONTHDAY", str(day)))),)
