"""The ways in which people say when, as one table of patterns and what each of them means.

Where several match at a place, the longest wins, then the first of the table. English and German
are in one table, because people mix them and most rows differ in words only.
"""

import datetime as dt
import enum
from collections.abc import Sequence

from eris.dates import calendar_days as days
from eris.dates import readings as read
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
from eris.dates.patterns import Captured, compiled, first_words, match
from eris.dates.readings import Context, Reading, integer
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


def _times() -> list[tuple[str, Reading]]:
    return [
        ("AT? <clock> OCLOCK? <meridian>?", lambda _, v: read.written(v[0], v[1])),
        ("AT <pointed> OCLOCK? <meridian>?", lambda _, v: read.written(v[0], v[1])),
        ("AT? <pointed> OCLOCK", lambda _, v: read.written(v[0], None)),
        ("<pointed> <meridian>", lambda _, v: read.written(v[0], v[1])),
        ("AT? <integer> <meridian>", lambda _, v: read.written((v[0], 0, 0), v[1])),
        ("AT? <integer> uhr <integer>", lambda _, v: (Clock(integer(v[0]), integer(v[1])),)),
        ("AT? <amount> OCLOCK <meridian>?", lambda _, v: read.spoken(v[0], 0, v[1])),
        ("AT? <four> OCLOCK", lambda _, v: read.written((*read.numbers(v[0]), 0), None)),
        ("AT <four>", lambda _, v: read.written((*read.numbers(v[0]), 0), None)),
        ("AT? half past <integer> <meridian>?", lambda _, v: read.spoken(v[0], 30, v[1])),
        ("at half <integer> <meridian>?", lambda _, v: read.spoken(v[0], 30, v[1])),
        ("AT? halb <integer> uhr?", lambda _, v: read.spoken(v[0], -30, None)),
        ("AT? dreiviertel <integer> uhr?", lambda _, v: read.spoken(v[0], -15, None)),
        ("AT? a? quarter|viertel AFTER <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[0], 15, v[1])),
        ("AT? a? quarter|viertel TO <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[0], -15, v[1])),
        ("AT <integer> MINUTES? AFTER <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[1], integer(v[0]), v[2])),
        ("AT <integer> MINUTES? TO <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[1], -integer(v[0]), v[2])),
        ("AT? <integer> MINUTES? vor halb <integer>",
         lambda _, v: read.spoken(v[1], -30 - integer(v[0]), None)),
        ("AT? <integer> MINUTES? nach halb <integer>",
         lambda _, v: read.spoken(v[1], -30 + integer(v[0]), None)),
        ("AT? noon|midday", lambda *_: (DayPart("noon"),)),
        ("AT? midnight|mitternacht", lambda *_: (Midnight(),)),
        ("AT? <by_day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("in|on the <day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("am|in|at der? <day_part>", lambda _, v: (DayPart(str(v[0])),)),
        ("früh", lambda *_: (DayPart("morning"),)),
    ]  # fmt: skip


def _days() -> list[tuple[str, Reading]]:
    return [
        ("ON? today|heute", lambda c, _: read.day_ahead(c, 0)),
        ("tonight", lambda c, _: (*read.day_ahead(c, 0), DayPart("tonight"))),
        ("today|heute <day_part>", lambda c, v: (*read.day_ahead(c, 0), read.part_of_today(v[0]))),
        ("THIS <day_part>", lambda c, v: (*read.day_ahead(c, 0), read.part_of_today(v[0]))),
        ("heute früh", lambda c, _: (*read.day_ahead(c, 0), DayPart("morning"))),
        ("tomorrow|morgen", lambda c, _: read.day_ahead(c, 1)),
        ("tomorrow|morgen <day_part>", lambda c, v: (*read.day_ahead(c, 1), DayPart(str(v[0])))),
        ("the? day after tomorrow", lambda c, _: read.day_ahead(c, 2)),
        ("übermorgen <day_part>?",
         lambda c, v: (*read.day_ahead(c, 2), *((DayPart(str(v[0])),) if v[0] else ()))),
        ("yesterday|gestern <day_part>?", lambda c, _: read.day_ahead(c, -1)),
        ("vorgestern", lambda c, _: read.day_ahead(c, -2)),
        ("ON? LAST <weekday>", lambda c, v: (Day(days.before(c.today, integer(v[0]))),)),
        ("LAST week|woche", lambda c, _: (Day(days.moved(c.today, -1, "week")),)),
        ("LAST month|monat", lambda c, _: (Day(days.moved(c.today, -1, "month")),)),
        ("LAST year|jahr", lambda c, _: (Day(days.moved(c.today, -1, "year")),)),
        ("<amount> <unit> ago", read.past),
        ("vor <amount> <unit>", read.past),
        ("ON? THE? <weekday>", lambda _, v: (Weekly(integer(v[0])),)),
        ("ON? <weekday> <day_part>", lambda _, v: (Weekly(integer(v[0])), DayPart(str(v[1])))),
        ("ON? <weekday_part>", lambda _, v: read.weekday_part(v)),
        ("ON? THIS <weekday>", lambda _, v: (Weekly(integer(v[0])),)),
        ("ON? THE? NEXT <weekday>", lambda _, v: (
            Weekly(integer(v[0]), strict=True, told="the next one, not the one of next week"),)),
        ("ON? THIS|NEXT <weekday> <day_part>",
         lambda _, v: (Weekly(integer(v[0])), DayPart(str(v[1])))),
        ("ON? übernächsten|übernächste <weekday>",
         lambda _, v: (Weekly(integer(v[0]), strict=True, weeks=1),)),
        ("ON? THE? <weekday> after next", lambda _, v: (
            Weekly(integer(v[0]), strict=True, weeks=1),)),
        ("ON? NEXT weekend|wochenende", lambda c, _: read.of_week(
            c, 5, "the weekend of next week: its Saturday")),
        ("ON? <weekday> week", lambda _, v: (Weekly(integer(v[0]), weeks=1),)),
        ("a week from|on <weekday>", lambda _, v: (Weekly(integer(v[0]), weeks=1),)),
        ("ON? <weekday> in <amount> week|weeks|woche|wochen", read.in_weeks),
        ("NEXT week|woche ON? <weekday>", lambda c, v: read.of_week(c, v[0])),
        ("ON? <weekday> OF? NEXT week|woche", lambda c, v: read.of_week(c, v[0])),
        ("NEXT week|woche", lambda c, _: (
            Day(days.week_start(c.today, c.options.first_weekday) + dt.timedelta(7),
                "next week: its first day"),)),
        ("NEXT MONTHLY", lambda c, _: (
            Day(days.month_start(c.today, 1), "next month: its first day"),)),
        ("NEXT year|jahr", lambda c, _: (
            Day(dt.date(c.today.year + 1, 1, 1), "next year: its first day"),)),
        ("ON? THIS? THE? weekend|wochenende", lambda *_: (
            Weekly(5, told="the weekend: Saturday"),)),
        ("IN <amount> <unit>", lambda c, v: read.ahead(c, v[0], v[1])),
        ("IN a|one fortnight", lambda c, _: read.ahead(c, 2, "week")),
        ("heute|today in <amount> <unit>", lambda c, v: read.ahead(c, v[0], v[1])),
        ("<amount> <unit> from now|today", lambda c, v: read.ahead(c, v[0], v[1])),
        ("ON? THE? <ordinal> OF? <month> <year>?", lambda _, v: read.date_of(v[2], v[1], v[0])),
        ("ON? <integer> <month> <year>?", lambda _, v: read.date_of(v[2], v[1], v[0])),
        ("ON? <month> THE? <ordinal> ,? <year>?", lambda _, v: read.date_of(v[2], v[0], v[1])),
        ("ON? <month> <integer> ,? <year>?", lambda _, v: read.date_of(v[2], v[0], v[1])),
        ("ON? <dotted>", lambda _, v: days.written(read.numbers(v[0]), first="day")),
        ("ON? <iso>", lambda _, v: days.iso(str(v[0]))),
        ("ON? THE? END OF? THE? MONTHLY", lambda *_: (Monthly(-1),)),
        ("ON? THE? last|letzten day|tag|tages OF? THE|THIS? MONTHLY",
         lambda *_: (Monthly(-1),)),
        ("ON? monatsende", lambda *_: (Monthly(-1),)),
        ("ON? THE? END OF? NEXT|nächsten MONTHLY", lambda c, _: (
            Day(days.month_start(c.today, 2) - dt.timedelta(1)),)),
        ("ON? THE? END OF? <month>", lambda _, v: (Yearly(integer(v[0]), -1),)),
        ("ON? THE? END OF? THE? year|jahres", lambda *_: (Yearly(12, 31),)),
        ("ON? jahresende", lambda *_: (Yearly(12, 31),)),
        ("ON? THE? END OF? THE? week|woche", lambda c, _: (
            Day(days.week_start(c.today, c.options.first_weekday) + dt.timedelta(6)),)),
        ("ON? THE? <ordinal> <weekday> OF <month>",
         lambda c, v: days.nth_of_month(
             c.today, integer(v[0]), integer(v[1]), month=integer(v[2]))),
        ("ON? THE? <ordinal> <weekday> OF? NEXT MONTHLY",
         lambda c, v: days.nth_of_month(c.today, integer(v[0]), integer(v[1]), ahead=1)),
        ("ON? THE? <ordinal> <weekday> OF THE|THIS? MONTHLY",
         lambda c, v: days.nth_of_month(c.today, integer(v[0]), integer(v[1]), ahead=0)),
    ]  # fmt: skip


def _amounts() -> list[tuple[str, Reading]]:
    return [
        ("FOR <amount> <unit>", lambda _, v: read.lasting(v[0], v[1])),
        ("IN half an hour", lambda *_: (Elapsed(1800),)),
        ("FOR? half an hour", lambda *_: (Elapsed(1800, firm=False),)),
        ("IN einer|ner halben stunde", lambda *_: (Elapsed(1800),)),
        ("FOR? eine halbe stunde lang?", lambda *_: (Elapsed(1800, firm=False),)),
        (
            "IN <amount> and a half <unit>",
            lambda _, v: read.lasting_more(v[0], v[1], 0.5, firm=True),
        ),
        (
            "FOR? <amount> and a half <unit>",
            lambda _, v: read.lasting_more(v[0], v[1], 0.5, firm=False),
        ),
        (
            "IN <amount> <unit> and a half",
            lambda _, v: read.lasting_more(v[0], v[1], 0.5, firm=True),
        ),
        (
            "FOR? <amount> <unit> and a half",
            lambda _, v: read.lasting_more(v[0], v[1], 0.5, firm=False),
        ),
        ("IN <amount> <unit> AND? <amount> <unit>", lambda _, v: read.lasting_both(v, firm=True)),
        (
            "FOR? <amount> <unit> AND? <amount> <unit>",
            lambda _, v: read.lasting_both(v, firm=False),
        ),
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
        ("EVERY <unit>", lambda _, v: read.every(v[0], 1)),
        ("EVERY <amount> <unit>", lambda _, v: read.every(v[1], v[0])),
        ("once|einmal a|per|pro|die|im|am <unit>", lambda _, v: read.every(v[0], 1)),
        ("EVERY fortnight", lambda *_: read.every("week", 2)),
        ("EVERY half|halbe an? hour|stunde", lambda *_: read.every("minute", 30)),
        ("EVERY OTHER <unit>", lambda _, v: read.every(v[0], 2)),
        ("EVERY OTHER <weekday>", lambda _, v: read.on_weekdays((v[0],), interval=2)),
        ("EVERY <ordinal> <weekday>", lambda _, v: read.on_weekdays((v[1],), interval=v[0])),
        ("EVERY <amount> weeks|wochen ON? <weekday>",
         lambda _, v: read.on_weekdays((v[1],), interval=v[0])),
        ("on? EVERY <weekday>", lambda _, v: read.on_weekdays(v)),
        ("on? EVERY <weekday> AND EVERY? <weekday>", lambda _, v: read.on_weekdays(v)),
        ("on? EVERY <weekday> AND <weekday> AND and? <weekday>", lambda _, v: read.on_weekdays(v)),
        ("on? EVERY <weekday> AND <weekday> AND <weekday> AND and? <weekday>",
         lambda _, v: read.on_weekdays(v)),
        ("on? <weekdays>", lambda _, v: read.on_weekdays(v)),
        ("on? <weekdays> AND <weekdays>", lambda _, v: read.on_weekdays(v)),
        ("on? <weekdays> AND <weekdays> AND and? <weekdays>", lambda _, v: read.on_weekdays(v)),
        ("on? EVERY? weekdays|werktags|wochentags", lambda *_: read.on_weekdays(range(5))),
        ("on|an? EVERY weekday|werktag|wochentag|workday",
         lambda *_: read.on_weekdays(range(5))),
        ("ON? EVERY weekend|wochenende", lambda *_: read.on_weekdays((5, 6))),
        ("EVERY <day_part>", lambda _, v: (Repeat("DAILY"), DayPart(str(v[0])))),
        ("EVERY <weekday> <day_part>", lambda _, v: (*read.on_weekdays(v[:1]), DayPart(str(v[1])))),
        ("EVERY <weekday_part>", lambda _, v: read.every_part(v)),
        ("<frequency>", lambda _, v: (Repeat(str(v[0])),)),
        ("ON? THE? EVERY <ordinal> <weekday> OF THE|EVERY? MONTHLY",
         lambda _, v: read.nth(v[0], v[1])),
        ("ON? THE? <ordinal> <weekday> OF? EVERY MONTHLY", lambda _, v: read.nth(v[0], v[1])),
        ("EVERY MONTHLY ON THE? <ordinal> <weekday>", lambda _, v: read.nth(v[0], v[1])),
        ("ON? THE? last|letzten day|tag|tages OF? EVERY MONTHLY", lambda *_: read.of_month(-1)),
        ("EVERY MONTHLY ON THE? last|letzten day|tag", lambda *_: read.of_month(-1)),
        ("ON? THE? END OF? EVERY MONTHLY", lambda *_: read.of_month(-1)),
        ("ON? THE? <ordinal> day? OF? EVERY MONTHLY", lambda _, v: read.of_month(v[0])),
        ("EVERY MONTHLY ON THE? <ordinal>", lambda _, v: read.of_month(v[0])),
        ("EVERY <ordinal> OF? THE? MONTHLY?", lambda _, v: read.of_month(v[0])),
        ("ON? THE? EVERY <ordinal> <weekday> OF <month>",
         lambda _, v: read.nth(v[0], v[1], month=v[2])),
        ("EVERY <integer> <month>", lambda _, v: read.of_year(v[1], v[0])),
        ("EVERY <ordinal> OF? <month>", lambda _, v: read.of_year(v[1], v[0])),
        ("EVERY <month> <integer>", lambda _, v: read.of_year(v[0], v[1])),
        ("EVERY <month> <ordinal>", lambda _, v: read.of_year(v[0], v[1])),
        ("<integer> TIMES", lambda _, v: (Times(integer(v[0])),)),
        ("until|till|bis zum?", lambda *_: (Until(),)),
        ("starting|beginning|from|ab|from on?", lambda *_: (From(),)),
    ]  # fmt: skip


def _alone() -> list[tuple[str, Reading]]:
    return [
        ("<four>", lambda _, v: read.four(v[0])),
        ("<integer>", lambda _, v: read.spoken(v[0], 0, None)),
        ("half <integer>", lambda _, v: read.spoken(v[0], 30, None)),
        ("<pointed>", lambda _, v: read.written(v[0], None)),
        ("<ordinal>", lambda _, v: (Monthly(integer(v[0])),)),
        ("<day_part>", lambda _, v: (DayPart(str(v[0])),)),
    ]


def _beside() -> list[tuple[str, Reading]]:
    return [
        ("<integer> MINUTES? AFTER <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[1], integer(v[0]), v[2])),
        ("<integer> MINUTES? TO <integer> uhr? <meridian>?",
         lambda _, v: read.spoken(v[1], -integer(v[0]), v[2])),
        ("<amount> <unit>", lambda _, v: read.lasting(v[0], v[1])),
        ("<amount> and a half <unit>", lambda _, v: read.lasting_more(v[0], v[1], 0.5, firm=False)),
        ("<amount> <unit> AND? <amount> <unit>", lambda _, v: read.lasting_both(v, firm=False)),
        ("ON? <slash>", lambda c, v: days.slashed(read.numbers(v[0]), c.options.order)),
        ("in? <zone> time?", lambda _, v: (Zone(str(v[0])),)),
    ]  # fmt: skip


def _closing() -> list[tuple[str, Reading]]:
    return [
        ("AT <integer>", lambda _, v: read.spoken(v[0], 0, None)),
        ("on? the|den|dem|zum|am <ordinal>", lambda _, v: (Monthly(integer(v[0])),)),
    ]


def _unmeasured() -> list[tuple[str, Reading]]:
    return [
        ("at|um|@ <integer>", lambda _, v: read.spoken(v[0], 0, None)),
        ("so gegen <integer>", lambda _, v: read.spoken(v[0], 0, None)),
    ]


class Place(enum.Enum):
    """Where in a sentence a pattern means a time; in what is nothing but a time, all do."""

    ANYWHERE = "anywhere"
    UNMEASURED = "not before a measure: `at 5`, but `at 5 percent`"
    CLOSING = "not before a noun: `on the 3rd`, but `on the 3rd floor`"
    BESIDE = "beside another time: `3/4 at noon`, but `3/4 of it`"
    ALONE = "in no sentence: `9`"


_TABLES = {
    Place.ANYWHERE: (*_times(), *_days(), *_amounts(), *_repeats()),
    Place.UNMEASURED: _unmeasured(),
    Place.CLOSING: _closing(),
    Place.BESIDE: _beside(),
    Place.ALONE: _alone(),
}
_RULES = tuple(
    (compiled(pattern, GROUPS), reading, place)
    for place, table in _TABLES.items()
    for pattern, reading in table
)


def parts_at(
    tokens: Sequence[Token], start: int, context: Context, *, whole: bool
) -> tuple[int, tuple[Part, ...], Place]:
    """Return the parts that begin at a place, the place after them, and where they count.

    Args:
        tokens: The text.
        start: The place.
        context: What their meaning depends on.
        whole: Whether the text is nothing but a time.

    Raises:
        InvalidError: A date that doesn't exist.
    """
    token = tokens[start]
    found: list[tuple[int, Captured, Reading, Place]] = []
    for pattern, reading, place in _RULES:
        if place is Place.ALONE and not whole:
            continue
        words, categories = first_words(pattern)
        if token.text not in words and not categories & token.meanings.keys():
            continue
        matched = match(pattern, tokens, start)
        if matched and matched[0] > start:
            found.append((*matched, reading, place))
    for end, captured, reading, place in sorted(found, key=lambda one: -one[0]):
        parts = reading(context, captured)
        if parts:
            return end, parts, place
    return start, (), Place.ALONE
