"""What holds for every text, every moment and every zone."""

import datetime as dt
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.dates import (
    Duration,
    Instant,
    Options,
    Recurrence,
    find,
    occurrences,
    say,
    say_rule,
    understand,
)
from eris.dates.phrases import GROUPS
from eris.dates.words_english import MONTHS, NUMBERS, UNITS, WEEKDAYS
from eris.errors import InvalidError

TABLE = Path(__file__).parent.parent / "data" / "date_phrases.jsonl"
PHRASES = [json.loads(line)["phrase"] for line in TABLE.read_text(encoding="utf-8").splitlines()]
WORDS = sorted(
    {
        *(word for words in GROUPS.values() for word in words.split("|")),
        *MONTHS,
        *NUMBERS,
        *UNITS,
        *WEEKDAYS,
        *" ".join(PHRASES).split(),
    }
)

ZONES = st.sampled_from(
    [
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Pacific/Auckland",
        "Europe/London",
        "Australia/Lord_Howe",
        "America/St_Johns",
        "Africa/Casablanca",
        "UTC",
    ]
)
MOMENTS = st.builds(
    lambda wall, zone: wall.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)),
    st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2100, 1, 1)),  # noqa: DTZ001
    ZONES,
)
PHRASE_LIKE = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.lists(st.sampled_from(PHRASES), max_size=2).map(" ".join),
    st.text("0123456789:./-TZ+ apmuhr", max_size=25),
)
OPTIONS = st.builds(
    Options,
    first_weekday=st.sampled_from(["monday", "sunday", "saturday"]),
    order=st.sampled_from(["day_first", "month_first"]),
    languages=st.sampled_from([("en",), ("de",), ("en", "de")]),
    default_time=st.times(),
)


def when(meaning):
    match meaning:
        case Instant(local=local):
            return local
        case Recurrence(first=first):
            return first
        case Duration(ends=ends):
            return ends


@given(PHRASE_LIKE, MOMENTS, OPTIONS)
def test_any_text_is_understood_as_later_or_refused_with_a_hint(text, now, options):
    for reading in (understand, find):
        try:
            got = reading(text, now, options)
        except InvalidError as refusal:
            hint = refusal.hint
            got = None
        if got is None:
            assert hint
            continue
        meant = got if reading is understand else got.meant
        assert when(meant.meaning).timestamp() > now.timestamp()
        assert reading(text, now, options) == got


@given(MOMENTS, st.integers(60, 366 * 86_400), st.sampled_from(["en", "de"]))
def test_instant_that_is_said_is_understood_as_the_same(now, seconds, language):
    local = (now.astimezone(dt.UTC) + dt.timedelta(seconds=seconds)).astimezone(now.tzinfo)
    local = local.replace(microsecond=0)
    meaning = understand(say(local, language), now).meaning
    assert isinstance(meaning, Instant)
    assert meaning.local.timestamp() == local.timestamp()
    assert meaning.zone == now.tzinfo.key


@given(st.sampled_from(PHRASES), MOMENTS, st.sampled_from(["en", "de"]))
def test_series_goes_on_from_its_first_time_in_rising_order(phrase, now, language):
    try:
        series = understand(phrase, now).meaning
    except InvalidError:
        return
    if not isinstance(series, Recurrence):
        return
    times = occurrences(series, now, limit=12)
    assert times[0] == series.first
    stamps = [time.timestamp() for time in times]
    assert stamps == sorted(set(stamps))
    assert say_rule(series.rule, language)


@pytest.mark.parametrize("now", ["2027-03-26T12:00", "2027-10-29T12:00"])
@given(time=st.times())
def test_series_keeps_its_wall_time_over_clock_changes(now, time):
    zone = ZoneInfo("Europe/Berlin")
    begin = dt.datetime.fromisoformat(now).replace(tzinfo=zone)
    time = time.replace(second=0, microsecond=0)
    series = understand(f"every day at {time:%H:%M}", begin).meaning
    days = [local.date() for local in occurrences(series, begin, limit=6)]
    assert days == [days[0] + dt.timedelta(number) for number in range(6)]
    for local in occurrences(series, begin, limit=6):
        exists = local.astimezone(dt.UTC).astimezone(zone).replace(tzinfo=None)
        assert exists == local.replace(tzinfo=None)
        skipped = local.date() == dt.date(2027, 3, 28) and time.hour == 2
        assert local.time() == (time.replace(hour=3) if skipped else time)
