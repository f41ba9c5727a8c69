"""Dates and times in the formats of moment.js, which Obsidian's daily notes and templates use.

The table is our own since no library has moment's tokens: arrow, the nearest, has no `gggg`, `w`,
`e`, `E`, `Q`, `k` or `L`, counts `d` from 1, makes `W` a whole date, and has `Z` and `ZZ` the other
way round. A daily note would silently get another name than Obsidian gives it.

Months, days and ordinals are English. How weeks are counted depends on the user's language in
moment, so that comes as `Weeks`.
"""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True, slots=True)
class Weeks:
    """How weeks are counted."""

    first_day: int = 0
    """The day on which they start, 0 for Sunday to 6 for Saturday."""
    january: int = 1
    """The day of January that is always in week 1."""


AMERICAN_WEEKS = Weeks()
"""From Sunday, week 1 has the 1st of January: moment's weeks in (American) English."""
ISO_WEEKS = Weeks(first_day=1, january=4)
"""From Monday, week 1 has the 4th of January: also moment's weeks in most of Europe."""


def formatted(moment: dt.datetime, pattern: str, weeks: Weeks = AMERICAN_WEEKS) -> str:
    """Return a moment as a format of moment.js says.

    Args:
        moment: In the user's time zone; one without a zone counts as UTC for `Z`, `X` and `x`.
        pattern: The format, such as `YYYY-MM-DD` or `[Week] w, dddd`.
        weeks: How `w`, `gg`, `gggg` and `e` count.
    """
    return "".join(
        piece.text(moment, weeks) if isinstance(piece, _Token) else piece
        for piece in _pieces(pattern)
    )


def parsed(text: str, pattern: str, weeks: Weeks = AMERICAN_WEEKS) -> dt.date | None:
    """Return the day of which `formatted` makes this text, or None if there's none.

    Args:
        text: All of what was formatted.
        pattern: The format. It has to say which day it is: by year, month and day; by year and day
            of the year; or by year, week and day of the week. What else it says has to agree.
        weeks: How `w`, `gg`, `gggg` and `e` count.
    """
    tokens = [piece for piece in _pieces(pattern) if isinstance(piece, _Token)]
    match = _reader(pattern).fullmatch(text)
    if match is None:
        return None
    fields: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token.value is None:
            return None
        fields[token.field] = token.value(match[number + 1])
    day = _day(fields, weeks)
    # The rest, such as a quarter or a second mention of the month, has to be that day's.
    if day is None or formatted(_moment(day, fields), pattern, weeks) != text:
        return None
    return day


# Longer tokens first, and letters that stand for themselves last; brackets keep their content.
_PIECE = re.compile(
    r"\[[^\[]*\]|\\?(?:[Hh]mm(?:ss)?|Mo|MM?M?M?|DDDo|Do|DD?D?D?|do|dd?d?d?|wo|ww?|Wo|WW?|Qo?|N{1,5}"
    r"|YYYYYY|YYYYY|YYYY|YY|Y|yo|y{1,4}|gg(?:ggg?)?|GG(?:GGG?)?|[eEaA]|hh?|HH?|kk?|mm?|ss?|S{1,9}"
    r"|[xX]|zz?|ZZ?)|.",
    re.DOTALL,
)
_SHORTHAND = re.compile(r"\[[^\[]*\]|\\?(?:LTS|LT|LL?L?L?|l{1,4})")
_SHORTHANDS = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}


@dataclass(frozen=True, slots=True)
class _Token:
    text: Callable[[dt.datetime, Weeks], str]
    field: str = ""
    """What it says, if that helps to find the day."""
    letters: str = "(.*?)"
    """What its text can be, as an expression with one group."""
    value: Callable[[str], int] | None = None
    """Makes the field's value of its text; None if it can't be read back."""


@lru_cache(maxsize=64)
def _pieces(pattern: str) -> tuple["_Token | str", ...]:
    """The tokens of a format and the text between them."""
    whole = _SHORTHAND.sub(lambda match: _SHORTHANDS.get(match[0], match[0]), pattern)
    pieces: list[_Token | str] = []
    for match in _PIECE.finditer(whole):
        piece = match[0]
        if len(piece) > 1 and piece.startswith("["):
            pieces.append(piece[1:-1])
        else:
            pieces.append(_TOKENS.get(piece) or piece.replace("\\", ""))
    return tuple(pieces)


@lru_cache(maxsize=64)
def _reader(pattern: str) -> re.Pattern[str]:
    return re.compile(
        "".join(
            piece.letters if isinstance(piece, _Token) else re.escape(piece)
            for piece in _pieces(pattern)
        )
    )


def _moment(day: dt.date, fields: dict[str, int]) -> dt.datetime:
    noon = 12 * fields.get("afternoon", 0)
    hour = fields.get("hour", fields.get("hour of half", 0) % 12 + noon) % 24
    time = dt.time(hour, fields.get("minute", 0), fields.get("second", 0))
    return dt.datetime.combine(day, time)


def _day(fields: dict[str, int], weeks: Weeks) -> dt.date | None:
    year = fields.get("year")
    try:
        if year is not None and {"month", "day"} <= fields.keys():
            return dt.date(year, fields["month"], fields["day"])
        if year is not None and "day of year" in fields:
            return dt.date.fromordinal(_new_year(year) + fields["day of year"] - 1)
        if {"ISO year", "ISO week"} <= fields.keys():
            return _day_of_week(fields["ISO year"], fields["ISO week"], fields, ISO_WEEKS, weeks)
        if {"week year", "week"} <= fields.keys():
            return _day_of_week(fields["week year"], fields["week"], fields, weeks, weeks)
    except (ValueError, OverflowError):  # no such day, or none that a date can hold
        return None
    return None


def _day_of_week(
    year: int, week: int, fields: dict[str, int], counted: Weeks, local: Weeks
) -> dt.date | None:
    weekday = fields.get("weekday")
    if weekday is None and "place" in fields:
        weekday = fields["place"] + local.first_day
    if weekday is None:
        return None
    days = 7 * (week - 1) + (weekday - counted.first_day) % 7
    return dt.date.fromordinal(_first_week(year, counted) + days)


def _new_year(year: int) -> int:
    """The number, as of `date.toordinal`, of the 1st of January; also of years no date can have."""
    before = year - 1
    return 365 * before + before // 4 - before // 100 + before // 400 + 1


def _weekday(number: int) -> int:
    """The day of the week, 0 for Sunday, of the day of this number."""
    return number % 7


def _first_week(year: int, weeks: Weeks) -> int:
    """The number of the day on which week 1 starts."""
    inside = _new_year(year) + weeks.january - 1
    return inside - (_weekday(inside) - weeks.first_day) % 7


def _week(day: dt.date, weeks: Weeks) -> tuple[int, int]:
    """The year that a day's week belongs to, and the week's number."""
    number = day.toordinal()
    year = day.year
    if number >= _first_week(year + 1, weeks):
        year += 1
    elif number < _first_week(year, weeks):
        year -= 1
    return year, (number - _first_week(year, weeks)) // 7 + 1


def _ordinal(number: int) -> str:
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _offset(moment: dt.datetime, colon: str) -> str:
    minutes = int((moment.utcoffset() or dt.timedelta()).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}{colon}{rest:02}"


def _milliseconds(moment: dt.datetime) -> int:
    whole = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (whole - epoch) // dt.timedelta(milliseconds=1)


def _half(hour: int) -> int:
    return hour % 12 or 12


def _full_year(two_digits: str) -> int:
    number = int(two_digits)
    return number + (1900 if number > 68 else 2000)  # noqa: PLR2004 - moment's border


def _numbered(
    letter: str, number: Callable[[dt.datetime, Weeks], int], field: str, letters: str
) -> dict[str, _Token]:
    """Tokens of a number: plain, with two digits, and as an ordinal."""
    return {
        letter: _Token(lambda m, w: str(number(m, w)), field, f"({letters})", int),
        letter * 2: _Token(lambda m, w: f"{number(m, w):02}", field, r"(\d\d)", int),
        f"{letter}o": _Token(
            lambda m, w: _ordinal(number(m, w)), field, f"({letters})(?:st|nd|rd|th)", int
        ),
    }


def _years(letter: str, year: Callable[[dt.datetime, Weeks], int], field: str) -> dict[str, _Token]:
    """Tokens of a year: with two, four and five digits."""
    return {
        letter * 2: _Token(lambda m, w: f"{year(m, w) % 100:02}", field, r"(\d\d)", _full_year),
        letter * 4: _Token(lambda m, w: f"{year(m, w):04}", field, r"(\d{4})", int),
        letter * 5: _Token(lambda m, w: f"{year(m, w):05}", field, r"(\d{5})", int),
    }


def _named(names: tuple[str, ...], index: Callable[[dt.datetime], int], field: str) -> _Token:
    """A token of a name, whose value is its place among the names."""
    return _Token(lambda m, _: names[index(m)], field, f"({'|'.join(names)})", names.index)


def _day_number(moment: dt.datetime) -> int:
    return _weekday(moment.toordinal())


def _day_of_year(moment: dt.datetime) -> int:
    return moment.toordinal() - _new_year(moment.year) + 1


def _fraction(digits: int) -> _Token:
    return _Token(lambda m, _: f"{m.microsecond // 1000:03}".ljust(9, "0")[:digits])


def _month(names: tuple[str, ...]) -> _Token:
    return _Token(
        lambda m, _: names[m.month - 1],
        "month",
        f"({'|'.join(names)})",
        lambda name: names.index(name) + 1,
    )


_HOUR, _MINUTE = "2[0-3]|1[0-9]|[0-9]", "[1-5][0-9]|[0-9]"
_HALF = "1[0-2]|[1-9]"
_WEEK = "[1-5][0-9]|[1-9]"

_TOKENS: dict[str, _Token] = {
    **_years("Y", lambda m, _: m.year, "year"),
    "Y": _Token(lambda m, _: f"{m.year:04}", "year", r"(\d{4})", int),
    "YYYYYY": _Token(lambda m, _: f"+{m.year:06}", "year", r"\+(\d{6})", int),
    **{"y" * digits: _Token(lambda m, _, d=digits: f"{m.year:0{d}}") for digits in range(1, 5)},  # type: ignore[misc]
    "yo": _Token(lambda m, _: _ordinal(m.year)),
    **dict.fromkeys(("N", "NN", "NNN", "NNNNN"), _Token(lambda *_: "AD")),
    "NNNN": _Token(lambda *_: "Anno Domini"),
    **_numbered("Q", lambda m, _: (m.month + 2) // 3, "quarter", "[1-4]"),
    **_numbered("M", lambda m, _: m.month, "month", "1[0-2]|[1-9]"),
    "MMM": _month(tuple(name[:3] for name in MONTHS)),
    "MMMM": _month(MONTHS),
    **_numbered("D", lambda m, _: m.day, "day", "3[01]|[12][0-9]|[1-9]"),
    "DDD": _Token(lambda m, _: str(_day_of_year(m)), "day of year", r"(\d{1,3})", int),
    "DDDD": _Token(lambda m, _: f"{_day_of_year(m):03}", "day of year", r"(\d{3})", int),
    "DDDo": _Token(
        lambda m, _: _ordinal(_day_of_year(m)), "day of year", r"(\d{1,3})(?:st|nd|rd|th)", int
    ),
    **_numbered("d", lambda m, _: _day_number(m), "weekday", "[0-6]"),
    "dd": _named(tuple(name[:2] for name in DAYS), _day_number, "weekday"),
    "ddd": _named(tuple(name[:3] for name in DAYS), _day_number, "weekday"),
    "dddd": _named(DAYS, _day_number, "weekday"),
    "e": _Token(lambda m, w: str((_day_number(m) - w.first_day) % 7), "place", "([0-6])", int),
    "E": _Token(lambda m, _: str(m.isoweekday()), "weekday", "([1-7])", lambda text: int(text) % 7),
    **_numbered("w", lambda m, w: _week(m.date(), w)[1], "week", _WEEK),
    **_numbered("W", lambda m, _: _week(m.date(), ISO_WEEKS)[1], "ISO week", _WEEK),
    **_years("g", lambda m, w: _week(m.date(), w)[0], "week year"),
    **_years("G", lambda m, _: _week(m.date(), ISO_WEEKS)[0], "ISO year"),
    **_numbered("H", lambda m, _: m.hour, "hour", _HOUR),
    **_numbered("h", lambda m, _: _half(m.hour), "hour of half", _HALF),
    **_numbered("k", lambda m, _: m.hour or 24, "hour", "2[0-4]|1[0-9]|[1-9]"),
    **_numbered("m", lambda m, _: m.minute, "minute", _MINUTE),
    **_numbered("s", lambda m, _: m.second, "second", _MINUTE),
    "Hmm": _Token(lambda m, _: f"{m.hour}{m:%M}"),
    "Hmmss": _Token(lambda m, _: f"{m.hour}{m:%M%S}"),
    "hmm": _Token(lambda m, _: f"{_half(m.hour)}{m:%M}"),
    "hmmss": _Token(lambda m, _: f"{_half(m.hour)}{m:%M%S}"),
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
    "a": _named(("am", "pm"), lambda m: m.hour // 12, "afternoon"),
    "A": _named(("AM", "PM"), lambda m: m.hour // 12, "afternoon"),
    "Z": _Token(lambda m, _: _offset(m, ":")),
    "ZZ": _Token(lambda m, _: _offset(m, "")),
    # A moment in the user's own zone has no abbreviation in moment.
    **dict.fromkeys(("z", "zz"), _Token(lambda *_: "")),
    "X": _Token(lambda m, _: str(_milliseconds(m) // 1000)),
    "x": _Token(lambda m, _: str(_milliseconds(m))),
}
for _letters in ("QQ", "Ho", "ho", "ko", "mo", "so"):  # no tokens of moment's
    del _TOKENS[_letters]
