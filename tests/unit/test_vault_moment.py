"""Formats of moment.js, compared with what moment 2.31 itself makes of them, and read back."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.vault.moment import AMERICAN_WEEKS, ISO_WEEKS, Weeks, formatted, parsed

EVENING = dt.datetime(
    *(2026, 1, 2, 20, 34, 5, 678_000), tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))
)
NIGHT = dt.datetime(2027, 11, 13, 0, 9, tzinfo=dt.UTC)
ARABIC_WEEKS = Weeks(first_day=6, january=1)


@pytest.mark.parametrize(
    ("pattern", "evening", "night"),
    [
        ("YYYYYY", "+002026", "+002027"),
        ("YYYY", "2026", "2027"),
        ("YY", "26", "27"),
        ("Y", "2026", "2027"),
        ("Q", "1", "4"),
        ("Qo", "1st", "4th"),
        ("M", "1", "11"),
        ("MM", "01", "11"),
        ("Mo", "1st", "11th"),
        ("MMM", "Jan", "Nov"),
        ("MMMM", "January", "November"),
        ("D", "2", "13"),
        ("DD", "02", "13"),
        ("Do", "2nd", "13th"),
        ("DDD", "2", "317"),
        ("DDDD", "002", "317"),
        ("DDDo", "2nd", "317th"),
        ("d", "5", "6"),
        ("do", "5th", "6th"),
        ("dd", "Fr", "Sa"),
        ("ddd", "Fri", "Sat"),
        ("dddd", "Friday", "Saturday"),
        ("e", "5", "6"),
        ("E", "5", "6"),
        ("w", "1", "46"),
        ("ww", "01", "46"),
        ("wo", "1st", "46th"),
        ("W", "1", "45"),
        ("WW", "01", "45"),
        ("Wo", "1st", "45th"),
        ("gg", "26", "27"),
        ("gggg", "2026", "2027"),
        ("GG", "26", "27"),
        ("GGGG", "2026", "2027"),
        ("H", "20", "0"),
        ("HH", "20", "00"),
        ("h", "8", "12"),
        ("hh", "08", "12"),
        ("k", "20", "24"),
        ("kk", "20", "24"),
        ("m", "34", "9"),
        ("mm", "34", "09"),
        ("s", "5", "0"),
        ("ss", "05", "00"),
        ("S", "6", "0"),
        ("SS", "67", "00"),
        ("SSS", "678", "000"),
        ("SSSS", "6780", "0000"),
        ("a", "pm", "am"),
        ("A", "PM", "AM"),
        ("Z", "+05:30", "+00:00"),
        ("ZZ", "+0530", "+0000"),
        ("X", "1767366245", "1826064540"),
        ("x", "1767366245678", "1826064540000"),
        ("z", "", ""),  # as of a moment in the local zone
        ("N", "AD", "AD"),
        ("Hmm", "2034", "009"),
        ("hmmss", "83405", "120900"),
        ("L", "01/02/2026", "11/13/2027"),
        ("LL", "January 2, 2026", "November 13, 2027"),
        ("LLL", "January 2, 2026 8:34 PM", "November 13, 2027 12:09 AM"),
        ("LLLL", "Friday, January 2, 2026 8:34 PM", "Saturday, November 13, 2027 12:09 AM"),
        ("l", "1/2/2026", "11/13/2027"),
        ("ll", "Jan 2, 2026", "Nov 13, 2027"),
        ("lll", "Jan 2, 2026 8:34 PM", "Nov 13, 2027 12:09 AM"),
        ("llll", "Fri, Jan 2, 2026 8:34 PM", "Sat, Nov 13, 2027 12:09 AM"),
        ("LT", "8:34 PM", "12:09 AM"),
        ("LTS", "8:34:05 PM", "12:09:00 AM"),
        ("[Week] w [of] gggg", "Week 1 of 2026", "Week 46 of 2027"),
        ("[YYYY] YYYY", "YYYY 2026", "YYYY 2027"),
        ("\\YYYYY", "YYYYY", "YYYYY"),
        (
            "YYYY/MM-MMMM/YYYY-MM-DD-dddd",
            "2026/01-January/2026-01-02-Friday",
            "2027/11-November/2027-11-13-Saturday",
        ),
        ("GGGG-[W]WW-E", "2026-W01-5", "2027-W45-6"),
        ("MMMMM", "January1", "November11"),
        ("[a]] D", "a] 2", "a] 13"),
        ("[open D", "[op5n 2", "[op6n 13"),
        ("日 D", "日 2", "日 13"),
        ("T", "T", "T"),
    ],
)
def test_every_token_gives_what_moment_gives(pattern, evening, night):
    assert formatted(EVENING, pattern) == evening
    assert formatted(NIGHT, pattern) == night


@pytest.mark.parametrize(
    ("day", "american", "iso", "arabic"),
    [
        ("2020-12-27", "2021-W01-0", "2020-W52-6", "2021-W01-1"),
        ("2021-01-03", "2021-W02-0", "2020-W53-6", "2021-W02-1"),
        ("2023-01-01", "2023-W01-0", "2022-W52-6", "2023-W01-1"),
        ("2026-12-31", "2027-W01-4", "2026-W53-3", "2027-W01-5"),
        ("2000-01-01", "2000-W01-6", "1999-W52-5", "2000-W01-0"),
    ],
)
def test_weeks_start_where_the_language_starts_them(day, american, iso, arabic):
    moment = dt.datetime.fromisoformat(day)
    counted = {AMERICAN_WEEKS: american, ISO_WEEKS: iso, ARABIC_WEEKS: arabic}
    for weeks, expected in counted.items():
        assert formatted(moment, "gggg-[W]ww-e", weeks) == expected
        assert parsed(expected, "gggg-[W]ww-e", weeks) == moment.date()


def test_the_first_and_the_last_day_have_a_week():
    first, last = (dt.datetime.combine(day, dt.time(12)) for day in (dt.date.min, dt.date.max))
    assert formatted(first, "D gggg-ww GGGG-WW") == "1 0001-01 0001-01"
    assert formatted(last, "D gggg-ww GGGG-WW") == "31 10000-01 9999-52"


PATTERNS = st.sampled_from(
    [
        *("YYYY-MM-DD", "YYYYMMDD", "D.M.YYYY", "YY-M-D", "MMMM Do, YYYY", "dddd, MMM D YYYY"),
        *("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "gggg-[W]ww-e", "gggg/ww/dddd", "GGGG-[W]W-E", "LL"),
        *("YYYY-DDDD", "DDDo [day of] YYYY", "[Daily (] YYYY.MM.DD [)]", "Q/Qo/MM/Do/YYYY", "llll"),
        *("YYYY-MM-DD HHmmss", "YYYY-MM-DD h:mm A", "kk DD MM YYYY"),
    ]
)
DAYS = st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2068, 12, 31))  # noqa: DTZ001
WEEKS = st.sampled_from([AMERICAN_WEEKS, ISO_WEEKS, ARABIC_WEEKS])


@given(DAYS, PATTERNS, WEEKS)
def test_a_day_is_read_back_from_what_was_made_of_it(moment, pattern, weeks):
    assert parsed(formatted(moment, pattern, weeks), pattern, weeks) == moment.date()


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("2026-02-30", "YYYY-MM-DD"),
        ("2026-2-3", "YYYY-MM-DD"),
        ("2026-02-03 plan", "YYYY-MM-DD"),
        ("Monday 2026-02-03", "dddd YYYY-MM-DD"),  # a Tuesday
        ("2026-366", "YYYY-DDDD"),
        ("2026-W54-1", "GGGG-[W]WW-E"),
        ("0000-01-01", "YYYY-MM-DD"),
        ("2026-02", "YYYY-MM"),
        ("Tuesday", "dddd"),
        ("2026-W06", "gggg-[W]ww"),
        ("1770076800", "X"),
        ("", "YYYY-MM-DD"),
        ("", ""),
    ],
)
def test_what_is_no_day_or_not_one_day_is_not_read(text, pattern):
    assert parsed(text, pattern) is None


@given(st.text(max_size=20), st.text(alphabet="YMDdwWgGeE[]\\-/ LlhHmsaAQo", max_size=12))
def test_any_format_makes_some_text_and_reads_only_its_own(text, pattern):
    formatted(EVENING, pattern)
    day = parsed(text, pattern)
    assert day is None or isinstance(day, dt.date)
