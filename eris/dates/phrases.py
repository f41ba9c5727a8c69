"""The ways in which people say when, as one table of patterns and what each of them means.

Where several match at a place, the longest wins, then the first of the table. English and German
are in one table, because people mix them and most rows differ in words only.
"""

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
    From,
    Midnight,
    Monthly,
    Part,
    Repeat,
    Times,
    Until,
    Weekly,
    Yearly,
    Zone,
)
from eris.dates.patterns import Captured, Element, compiled, first_words, match
from eris.dates.tokens import Token

GROUPS = {
    "AT": "at|by|um|gegen|@|around|about|ab|vor",
    "ON": "on|am|by|den|der|dem|zum|im|in|at",
    "THE": "the|den|der|dem|des|die|das",
    "OF": "of|in|im|des|vom|der|the|am",
    "EVERY": "every|each|jeden|jede|jedes|jeder|jedem|alle|all",
    "THIS": "this|diesen|diese|dieser|dieses|diesem",
    "NEXT": "next|nächste|nächsten|nächster|nächstes|kommende|kommenden|kommendes|coming",
    "LAST": "last|letzten|letzte|letzter|letztes|vorigen|vorige|past",
    "AFTER": "past|after|nach",
    "TO": "to|before|vor|till",
    "IN": "in|within|binnen",
    "FOR": "for|für",
    "AND": "and|und|&|,|,",
    "OTHER": "other|second|zweite|zweiten|zweites|zweiter",
    "END": "end|ende",
    "MINUTES": "minutes|minute|minuten|min",
    "MORNING": "morgen|früh",
    "MONTHLY": "month|monat|monats|monates",
    "OCLOCK": "uhr|o'clock|oclock|hours",
    "TIMES": "times|mal",
}


_CENTURIES = (19, 20)


@dataclasses.dataclass(frozen=True)
class Context:
    """What the meaning of words depends on."""

    today: dt.date
    options: Options


Reading = Callable[[Context, Captured], tuple[Part, ...]]
"""Makes parts of what a pattern captured; an empty tuple: it doesn't mean that."""


def _times() -> list[tuple[str, Reading]]:
    return [
        ("AT? <clock> OCLOCK? <meridian>?", lambda _, v: _written(v[0], v[1])),
        ("AT <pointed> OCLOCK? <meridian>?", lambda _, v: _written(v[0], v[1])),
        ("AT? <pointed> OCLOCK", lambda _, v: _written(v[0], None)),
        ("<pointed> <meridian>", lambda _, v: _written(v[0], v[1])),
        ("AT? <integer> <meridian>", lambda _, v: _written((v[0], 0, 0), v[1])),
        ("AT? <integer> uhr <integer>", lambda _, v: (Clock(_int(v[0]), _int(v[1])),)),
        ("AT? <amount> OCLOCK <meridian>?", lambda _, v: _spoken(_int(v[0]), 0, v[1])),
        ("AT <integer> <meridian>?", lambda _, v: _spoken(_int(v[0]), 0, v[1])),
        ("AT? <four> OCLOCK", lambda _, v: _written((*_tuple(v[0]), 0), None)),
        ("AT <four>", lambda _, v: _written((*_tuple(v[0]), 0), None)),
        ("AT? half past <integer> <meridian>?", lambda _, v: _spoken(_int(v[0]), 30, v[1])),
        ("at half <integer> <meridian>?", lambda _, v: _spoken(_int(v[0]), 30, v[1])),
        ("AT? halb <integer> uhr?", lambda _, v: _spoken(_int(v[0]), -30, None)),
        ("AT? dreiviertel <integer> uhr?", lambda _, v: _spoken(_int(v[0]), -15, None)),
        ("AT? a? quarter|viertel AFTER <integer> uhr? <meridian>?",
         lambda _, v: _spoken(_int(v[0]), 15, v[1])),
        ("AT? a? quarter|viertel TO <integer> uhr? <meridian>?",
         lambda _, v: _spoken(_int(v[0]), -15, v[1])),
        ("AT? <integer> MINUTES? AFTER <integer> uhr? <meridian>?",
         lambda _, v: _spoken(_int(v[1]), _int(v[0]), v[2])),
        ("AT? <integer> MINUTES? TO <integer> uhr? <meridian>?",
         lambda _, v: _spoken(_int(v[1]), -_int(v[0]), v[2])),
        ("AT? <integer> MINUTES? vor halb <integer>",
         lambda _, v: _spoken(_int(v[1]), -30 - _int(v[0]), None)),
        ("AT? <integer> MINUTES? nach halb <integer>",
         lambda _, v: _spoken(_int(v[1]), -30 + _int(v[0]), None)),
        ("AT? noon|midday", lambda *_: (DayPart("noon"),)),
        ("AT? midnight|mitternacht", lambda *_: (Midnight(),)),
        ("AT? <by_day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("in|on the <day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("am|in|at der? <day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("früh", lambda *_: (DayPart("morning"),)),
        ("in? <zone> time?", lambda _, v: (Zone(str(v[0])),)),
    ]  # fmt: skip


def _days() -> list[tuple[str, Reading]]:
    return [
        ("ON? today|heute", lambda c, _: _day(c, 0)),
        ("tonight", lambda c, _: (*_day(c, 0), DayPart("tonight"))),
        ("today|heute <day_part>", lambda c, v: (*_day(c, 0), _part(v[0]))),
        ("THIS <day_part>", lambda c, v: (*_day(c, 0), _part(v[0]))),
        ("heute früh", lambda c, _: (*_day(c, 0), DayPart("morning"))),
        ("tomorrow|morgen", lambda c, _: _day(c, 1)),
        ("tomorrow|morgen <day_part>", lambda c, v: (*_day(c, 1), DayPart(str(v[0])))),
        ("the? day after tomorrow", lambda c, _: _day(c, 2)),
        ("übermorgen <day_part>?",
         lambda c, v: (*_day(c, 2), *((DayPart(str(v[0])),) if v[0] else ()))),
        ("yesterday|gestern <day_part>?", lambda c, _: _day(c, -1)),
        ("vorgestern", lambda c, _: _day(c, -2)),
        ("ON? LAST <weekday>", lambda c, v: (Day(days.before(c.today, _int(v[0]))),)),
        ("LAST <unit>", lambda c, v: (Day(days.moved(c.today, -1, str(v[0]))),)),
        ("<amount> <unit> ago", _past),
        ("vor <amount> <unit>", _past),
        ("ON? THE? <weekday>", lambda _, v: (Weekly(_int(v[0])),)),
        ("ON? <weekday> <day_part>", lambda _, v: (Weekly(_int(v[0])), DayPart(str(v[1])))),
        ("ON? <weekday_part>", lambda _, v: _weekday_part(v)),
        ("ON? THIS <weekday>", lambda _, v: (Weekly(_int(v[0])),)),
        ("ON? THE? NEXT <weekday>", lambda _, v: (
            Weekly(_int(v[0]), strict=True, told="the next one, not the one of next week"),)),
        ("ON? THIS|NEXT <weekday> <day_part>",
         lambda _, v: (Weekly(_int(v[0])), DayPart(str(v[1])))),
        ("ON? übernächsten|übernächste <weekday>",
         lambda _, v: (Weekly(_int(v[0]), strict=True, weeks=1),)),
        ("ON? <weekday> week", lambda _, v: (Weekly(_int(v[0]), weeks=1),)),
        ("a week on <weekday>", lambda _, v: (Weekly(_int(v[0]), weeks=1),)),
        ("ON? <weekday> in <amount> week|weeks|woche|wochen", _in_weeks),
        ("NEXT week|woche ON? <weekday>", lambda c, v: _of_week(c, v[0])),
        ("ON? <weekday> OF? NEXT week|woche", lambda c, v: _of_week(c, v[0])),
        ("NEXT week|woche", lambda c, _: (
            Day(days.week_start(c.today, c.options.first_weekday) + dt.timedelta(7),
                "next week: its first day"),)),
        ("NEXT MONTHLY", lambda c, _: (
            Day(days.month_start(c.today, 1), "next month: its first day"),)),
        ("NEXT year|jahr", lambda c, _: (
            Day(dt.date(c.today.year + 1, 1, 1), "next year: its first day"),)),
        ("ON? THIS? THE? weekend|wochenende", lambda *_: (
            Weekly(5, told="the weekend: Saturday"),)),
        ("IN <amount> <unit>", lambda c, v: _ahead(c, v[0], v[1])),
        ("heute|today in <amount> <unit>", lambda c, v: _ahead(c, v[0], v[1])),
        ("<amount> <unit> from now|today", lambda c, v: _ahead(c, v[0], v[1])),
        ("ON? THE? <ordinal> OF? <month> <year>?", lambda _, v: _date(v[2], v[1], v[0])),
        ("ON? <integer> <month> <year>?", lambda _, v: _date(v[2], v[1], v[0])),
        ("ON? <month> THE? <ordinal> ,? <year>?", lambda _, v: _date(v[2], v[0], v[1])),
        ("ON? <month> <integer> ,? <year>?", lambda _, v: _date(v[2], v[0], v[1])),
        ("on? the|den|dem|zum|am <ordinal>", lambda _, v: (Monthly(_int(v[0])),)),
        ("ON? <dotted>", lambda _, v: days.written(_tuple(v[0]), first="day")),
        ("ON? <slash>", lambda c, v: days.slashed(_tuple(v[0]), c.options.order)),
        ("ON? <iso>", lambda _, v: days.iso(str(v[0]))),
        ("ON? THE? END OF? THE? MONTHLY", lambda *_: (Monthly(-1),)),
        ("ON? monatsende", lambda *_: (Monthly(-1),)),
        ("ON? THE? END OF? NEXT|nächsten MONTHLY", lambda c, _: (
            Day(days.month_start(c.today, 2) - dt.timedelta(1)),)),
        ("ON? THE? END OF? <month>", lambda _, v: (Yearly(_int(v[0]), -1),)),
        ("ON? THE? END OF? THE? year|jahres", lambda *_: (Yearly(12, 31),)),
        ("ON? jahresende", lambda *_: (Yearly(12, 31),)),
        ("ON? THE? END OF? THE? week|woche", lambda c, _: (
            Day(days.week_start(c.today, c.options.first_weekday) + dt.timedelta(6)),)),
        ("ON? THE? <ordinal> <weekday> OF <month>",
         lambda c, v: days.nth_of_month(c.today, _int(v[0]), _int(v[1]), month=_int(v[2]))),
        ("ON? THE? <ordinal> <weekday> OF? NEXT MONTHLY",
         lambda c, v: days.nth_of_month(c.today, _int(v[0]), _int(v[1]), ahead=1)),
        ("ON? THE? <ordinal> <weekday> OF THE|THIS? MONTHLY",
         lambda c, v: days.nth_of_month(c.today, _int(v[0]), _int(v[1]), ahead=0)),
    ]  # fmt: skip


def _amounts() -> list[tuple[str, Reading]]:
    return [
        ("<amount> <unit>", lambda _, v: _long(v[0], v[1])),
        ("FOR <amount> <unit>", lambda _, v: _long(v[0], v[1])),
        ("IN half an hour", lambda *_: (Elapsed(1800),)),
        ("FOR? half an hour", lambda *_: (Elapsed(1800, firm=False),)),
        ("IN einer halben stunde", lambda *_: (Elapsed(1800),)),
        ("FOR? eine halbe stunde lang?", lambda *_: (Elapsed(1800, firm=False),)),
        ("IN <amount> and a half <unit>", lambda _, v: _more(v[0], v[1], 0.5, firm=True)),
        ("FOR? <amount> and a half <unit>", lambda _, v: _more(v[0], v[1], 0.5, firm=False)),
        ("IN <amount> <unit> and a half", lambda _, v: _more(v[0], v[1], 0.5, firm=True)),
        ("FOR? <amount> <unit> and a half", lambda _, v: _more(v[0], v[1], 0.5, firm=False)),
        ("IN <amount> <unit> AND? <amount> <unit>", lambda _, v: _sum(v, firm=True)),
        ("FOR? <amount> <unit> AND? <amount> <unit>", lambda _, v: _sum(v, firm=False)),
        ("IN einer|eine viertelstunde", lambda *_: (Elapsed(900),)),
        ("FOR? eine viertelstunde", lambda *_: (Elapsed(900, firm=False),)),
        ("IN einer|eine dreiviertelstunde", lambda *_: (Elapsed(2700),)),
        ("FOR? eine dreiviertelstunde", lambda *_: (Elapsed(2700, firm=False),)),
        ("IN a? quarter of an hour", lambda *_: (Elapsed(900),)),
        ("FOR? a? quarter of an hour", lambda *_: (Elapsed(900, firm=False),)),
        ("IN three quarters of an hour", lambda *_: (Elapsed(2700),)),
    ]


def _repeats() -> list[tuple[str, Reading]]:
    return [
        ("EVERY <unit>", lambda _, v: _every(v[0], 1)),
        ("EVERY <amount> <unit>", lambda _, v: _every(v[1], v[0])),
        ("EVERY OTHER <unit>", lambda _, v: _every(v[0], 2)),
        ("EVERY OTHER <weekday>", lambda _, v: _on((v[0],), interval=2)),
        ("EVERY <ordinal> <weekday>", lambda _, v: _on((v[1],), interval=_int(v[0]))),
        ("EVERY <amount> weeks|wochen ON? <weekday>",
         lambda _, v: _on((v[1],), interval=_int(v[0]))),
        ("on? EVERY <weekday>", lambda _, v: _on(v)),
        ("on? EVERY <weekday> AND EVERY? <weekday>", lambda _, v: _on(v)),
        ("on? EVERY <weekday> AND <weekday> AND and? <weekday>", lambda _, v: _on(v)),
        ("on? EVERY <weekday> AND <weekday> AND <weekday> AND and? <weekday>",
         lambda _, v: _on(v)),
        ("on? <weekdays>", lambda _, v: _on(v)),
        ("on? <weekdays> AND <weekdays>", lambda _, v: _on(v)),
        ("on? <weekdays> AND <weekdays> AND and? <weekdays>", lambda _, v: _on(v)),
        ("on? EVERY? weekdays|werktags|wochentags", lambda *_: _on((0, 1, 2, 3, 4))),
        ("on|an? EVERY weekday|werktag|wochentag|workday", lambda *_: _on((0, 1, 2, 3, 4))),
        ("ON? EVERY weekend|wochenende", lambda *_: _on((5, 6))),
        ("EVERY <day_part>", lambda _, v: (Repeat("DAILY"), DayPart(str(v[0])))),
        ("EVERY <weekday> <day_part>", lambda _, v: (*_on(v[:1]), DayPart(str(v[1])))),
        ("EVERY <weekday_part>", lambda _, v: _every_part(v)),
        ("<frequency>", lambda _, v: (Repeat(str(v[0])),)),
        ("ON? THE? EVERY <ordinal> <weekday> OF THE|EVERY? MONTHLY",
         lambda _, v: _nth(v[0], v[1])),
        ("ON? THE? <ordinal> <weekday> OF? EVERY MONTHLY", lambda _, v: _nth(v[0], v[1])),
        ("EVERY MONTHLY ON THE? <ordinal> <weekday>", lambda _, v: _nth(v[0], v[1])),
        ("ON? THE? last|letzten day|tag|tages OF? EVERY MONTHLY", lambda *_: _of_month(-1)),
        ("EVERY MONTHLY ON THE? last|letzten day|tag", lambda *_: _of_month(-1)),
        ("ON? THE? END OF? EVERY MONTHLY", lambda *_: _of_month(-1)),
        ("ON? THE? <ordinal> day? OF? EVERY MONTHLY", lambda _, v: _of_month(_int(v[0]))),
        ("EVERY MONTHLY ON THE? <ordinal>", lambda _, v: _of_month(_int(v[0]))),
        ("EVERY <ordinal> OF? THE? MONTHLY?", lambda _, v: _of_month(_int(v[0]))),
        ("EVERY <integer> <month>", lambda _, v: _of_year(v[1], v[0])),
        ("EVERY <ordinal> OF? <month>", lambda _, v: _of_year(v[1], v[0])),
        ("EVERY <month> <integer>", lambda _, v: _of_year(v[0], v[1])),
        ("EVERY <month> <ordinal>", lambda _, v: _of_year(v[0], v[1])),
        ("<integer> TIMES", lambda _, v: (Times(_int(v[0])),)),
        ("until|till|bis zum?", lambda *_: (Until(),)),
        ("starting|beginning|from|ab|from on?", lambda *_: (From(),)),
    ]  # fmt: skip


_WHOLE: tuple[tuple[str, Reading], ...] = (
    ("<four>", lambda _, v: _four(v[0])),
    ("<integer>", lambda _, v: _spoken(_int(v[0]), 0, None)),
    ("half <integer>", lambda _, v: _spoken(_int(v[0]), 30, None)),
    ("<pointed>", lambda _, v: _written(v[0], None)),
    ("<ordinal>", lambda _, v: (Monthly(_int(v[0])),)),
    ("<day_part>", lambda _, v: (DayPart(str(v[0])),)),
)
"""Too little to be a time in a sentence, but enough in what is nothing but a time."""


def _rules(
    *tables: Sequence[tuple[str, Reading]],
) -> tuple[tuple[tuple[Element, ...], Reading], ...]:
    return tuple(
        (compiled(pattern, GROUPS), reading) for table in tables for pattern, reading in table
    )


def _int(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _tuple(value: object) -> tuple[int, ...]:
    return tuple(_int(part) for part in value) if isinstance(value, tuple) else ()


def _part(value: object) -> DayPart:
    """A part of today: the night is the one that comes."""
    return DayPart("tonight" if value == "night" else str(value))


def _day(context: Context, ahead: int) -> tuple[Part, ...]:
    return (Day(context.today + dt.timedelta(ahead)),)


def _written(value: object, meridian: object) -> tuple[Part, ...]:
    hour, minute, second = _tuple(value)
    return (Clock(hour, minute, second, meridian=str(meridian or "")),)


def _four(value: object) -> tuple[Part, ...]:
    """Four digits, such as `0930`, but not what could as well be a year."""
    hour, minute = _tuple(value)
    return () if hour in _CENTURIES else (Clock(hour, minute),)


def _spoken(hour: int, minutes: int, meridian: object) -> tuple[Part, ...]:
    """A time as said: so many minutes after or before an hour of the clock's face."""
    if not -60 < minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return ()
    if minutes < 0:
        hour, minutes = (hour - 1) % 24 or 12, minutes + 60
    return (Clock(hour, minutes, spoken=not meridian, meridian=str(meridian or "")),)


def _weekday_part(values: Captured) -> tuple[Part, ...]:
    weekday, name = values[0] if isinstance(values[0], tuple) else (0, "")
    return (Weekly(_int(weekday)), DayPart(str(name)))


def _every_part(values: Captured) -> tuple[Part, ...]:
    weekday, name = values[0] if isinstance(values[0], tuple) else (0, "")
    return (*_on((_int(weekday),)), DayPart(str(name)))


def _in_weeks(_: Context, values: Captured) -> tuple[Part, ...]:
    return (Weekly(_int(values[0]), weeks=_int(values[1])),)


def _of_week(context: Context, weekday: object) -> tuple[Part, ...]:
    first = days.week_start(context.today, context.options.first_weekday) + dt.timedelta(7)
    return (Day(days.on_or_after(first, _int(weekday))),)


def _ahead(context: Context, amount: object, unit: object) -> tuple[Part, ...]:
    number = float(amount) if isinstance(amount, int | float) else 0.0
    if str(unit) in days.SECONDS:
        return (Elapsed(number * days.SECONDS[str(unit)]),)
    if number != int(number):
        number, unit = days.halved(number, str(unit))
    date = days.moved(context.today, int(number), str(unit))
    clipped = str(unit) in {"month", "year"} and date.day != context.today.day
    told = f"{date:%B %Y} has no {context.today.day}." if clipped else ""
    return (Day(date, told),)


def _past(context: Context, values: Captured) -> tuple[Part, ...]:
    unit = str(values[1])
    return (Day(days.moved(context.today, -1, "day" if unit in days.SECONDS else unit)),)


def _date(year: object, month: object, day: object) -> tuple[Part, ...]:
    return days.named(_int(day), _int(month), _int(year) if year is not None else None)


def _long(amount: object, unit: object, *, firm: bool = False) -> tuple[Part, ...]:
    number = float(amount) if isinstance(amount, int | float) else 0.0
    seconds = days.SECONDS.get(str(unit)) or days.LONGER.get(str(unit))
    return (Elapsed(number * seconds, firm),) if seconds else ()


def _more(amount: object, unit: object, more: float, *, firm: bool) -> tuple[Part, ...]:
    return _long(_int(amount) + more, unit, firm=firm)


def _sum(values: Captured, *, firm: bool) -> tuple[Part, ...]:
    both = [*_long(values[0], values[1]), *_long(values[2], values[3])]
    amounts = [part.seconds for part in both if isinstance(part, Elapsed)]
    return (Elapsed(sum(amounts), firm),) if len(amounts) == len("ab") else ()


def _every(unit: object, interval: object) -> tuple[Part, ...]:
    frequency = days.FREQUENCIES.get(str(unit))
    return (Repeat(frequency, max(1, _int(interval))),) if frequency else ()


def _on(weekdays: Sequence[object], interval: int = 1) -> tuple[Part, ...]:
    if interval < 1:
        return ()
    chosen = sorted({_int(day) for day in weekdays})
    return (Repeat("WEEKLY", interval, (("BYDAY", ",".join(days.CODES[day] for day in chosen)),)),)


def _nth(number: object, weekday: object) -> tuple[Part, ...]:
    count = _int(number)
    if not -1 <= count <= 5:  # noqa: PLR2004 - a month has five Mondays at most
        return ()
    return (Repeat("MONTHLY", by=(("BYDAY", f"{count}{days.CODES[_int(weekday)]}"),)),)


def _of_month(day: int) -> tuple[Part, ...]:
    return (Repeat("MONTHLY", by=(("BYMONTHDAY", str(day)),)),)


def _of_year(month: object, day: object) -> tuple[Part, ...]:
    days.named(_int(day), _int(month), None)
    return (Repeat("YEARLY", by=(("BYMONTH", str(month)), ("BYMONTHDAY", str(day)))),)


_SENTENCE = _rules(_times(), _days(), _amounts(), _repeats())
_ALONE = _rules(_times(), _days(), _amounts(), _repeats(), _WHOLE)


def parts_at(
    tokens: Sequence[Token], start: int, context: Context, *, whole: bool
) -> tuple[int, tuple[Part, ...]]:
    """Return the parts that begin at a place, and the place after them.

    Args:
        tokens: The text.
        start: The place.
        context: What their meaning depends on.
        whole: Whether the text is nothing but a time.

    Raises:
        InvalidError: A date that doesn't exist.
    """
    token = tokens[start]
    found: list[tuple[int, Reading, Captured]] = []
    for pattern, reading in _ALONE if whole else _SENTENCE:
        words, categories = first_words(pattern)
        if token.text not in words and not categories & token.meanings.keys():
            continue
        matched = match(pattern, tokens, start)
        if matched and matched[0] > start:
            found.append((matched[0], reading, matched[1]))
    for end, reading, captured in sorted(found, key=lambda one: -one[0]):
        parts = reading(context, captured)
        if parts:
            return end, parts
    return start, ()
