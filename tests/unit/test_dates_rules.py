"""Rules of recurrence: what they give over clock changes, and that hostile ones cost little."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.dates import Instant, Recurrence, occurrences, say, say_rule, understand
from eris.errors import InvalidError

BERLIN = ZoneInfo("Europe/Berlin")
NOW = dt.datetime(2026, 12, 3, 21, 13, tzinfo=BERLIN)

NEVER = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=WEEKLY;BYMONTH=13",
    "FREQ=MONTHLY;BYMONTHDAY=99",
    "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
    "FREQ=YEARLY;BYDAY=53MO;BYMONTH=2",
    "FREQ=DAILY;UNTIL=20200101",
    "FREQ=DAILY;UNTIL=20261203T200000Z",
]
WRONG = [
    "FREQ=SECONDLY",
    "FREQ=DAILY;COUNT=1000000000",
    "FREQ=DAILY;INTERVAL=100000",
    "FREQ=DAILY;INTERVAL=0",
    "FREQ=DAILY;UNTIL=20260230",
    "FREQ=DAILY;BYHOUR=99",
    "FREQ=WEEKLY;BYDAY=1MO",
    "FREQ=DAILY;COUNT=2;UNTIL=20270101",
    "FREQ=DAILY;FREQ=DAILY",
    "FREQ=MONTHLY;BYSETPOS=400;BYDAY=MO",
    "FREQ=MINUTELY;BYHOUR=9",
    "FREQ=DAILY;BYEASTER=1",
    f"FREQ=DAILY;BYMONTHDAY={',1' * 500}",
]
RARE = [
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2044-02-29"),
    ("FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO", "2040-12-31"),
    ("FREQ=YEARLY;INTERVAL=9999", "2027-12-03"),
    ("FREQ=DAILY;INTERVAL=9999", "2026-12-04"),
    ("FREQ=HOURLY;INTERVAL=9999", "2028-01-24"),
    ("FREQ=DAILY;UNTIL=99991231T235959Z", "2026-12-04"),
    ("FREQ=MINUTELY", "2026-12-03"),
]
PARTS = st.sampled_from([
    "INTERVAL=2", "INTERVAL=9999", "COUNT=1", "COUNT=10000", "UNTIL=20270101", "UNTIL=99991231",
    "BYDAY=MO", "BYDAY=5FR", "BYDAY=-1SU,MO", "BYMONTHDAY=31", "BYMONTHDAY=-31", "BYMONTH=2",
    "BYMONTH=13", "BYYEARDAY=366", "BYYEARDAY=-366", "BYWEEKNO=53", "BYSETPOS=-1", "BYSETPOS=366",
    "BYHOUR=2", "BYHOUR=0,23", "BYMINUTE=30", "WKST=SU",
])  # fmt: skip
FREQUENCIES = st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"])


def series(rule, start, zone="Europe/Berlin"):
    wall = dt.datetime.fromisoformat(start)
    first = wall.replace(tzinfo=ZoneInfo(zone))
    return Recurrence(rule=rule, start=wall, first=first, zone=zone, time_said=True)


def fires(rule, start, *, zone="Europe/Berlin", **options):
    after = dt.datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(zone)) - dt.timedelta(1)
    times = occurrences(series(rule, start, zone), after, **options)
    return [time.isoformat(timespec="minutes") for time in times]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("rule", NEVER)
def test_rule_that_never_fires_is_refused(rule):
    with pytest.raises(InvalidError, match=r"never fires|ends before|isn't a rule") as raised:
        understand(rule, NOW)
    assert raised.value.hint


@pytest.mark.parametrize("rule", WRONG)
def test_wrong_rule_is_refused_with_its_part(rule):
    with pytest.raises(InvalidError) as raised:
        understand(rule, NOW)
    assert raised.value.hint


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("rule", "first"), RARE)
def test_rare_and_endless_rules_give_their_first_times(rule, first):
    meaning = understand(rule, NOW).meaning
    times = occurrences(meaning, NOW, limit=10_000)
    assert times[0] == meaning.first
    assert f"{meaning.first:%Y-%m-%d}" == first


@given(FREQUENCIES, st.lists(PARTS, max_size=4))
def test_any_rule_is_refused_or_fires_as_it_says(frequency, parts):
    rule = ";".join([f"FREQ={frequency}", *parts])
    try:
        meaning = understand(rule, NOW).meaning
    except InvalidError:
        return
    times = occurrences(meaning, NOW, limit=5)
    assert times[0] == meaning.first > NOW
    assert times == sorted(set(times))
    assert say_rule(rule)


def test_wall_time_stays_over_both_clock_changes():
    assert fires("FREQ=DAILY", "2027-03-27T09:00", limit=2) == [
        "2027-03-27T09:00+01:00", "2027-03-28T09:00+02:00",
    ]  # fmt: skip
    assert fires("FREQ=DAILY", "2027-10-30T09:00", limit=2) == [
        "2027-10-30T09:00+02:00", "2027-10-31T09:00+01:00",
    ]  # fmt: skip


def test_skipped_time_is_moved_and_doubled_time_fires_once():
    assert fires("FREQ=DAILY", "2027-03-28T02:30", limit=2) == [
        "2027-03-28T03:30+02:00", "2027-03-29T02:30+02:00",
    ]  # fmt: skip
    assert fires("FREQ=DAILY", "2027-10-31T02:30", limit=2) == [
        "2027-10-31T02:30+02:00", "2027-11-01T02:30+01:00",
    ]  # fmt: skip


def test_time_moved_onto_another_one_fires_once():
    rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30"
    assert fires(rule, "2027-03-28T02:30", limit=2) == [
        "2027-03-28T03:30+02:00", "2027-03-29T02:30+02:00",
    ]  # fmt: skip


def test_hours_are_elapsed_ones():
    assert fires("FREQ=HOURLY", "2027-10-31T01:30", limit=4) == [
        "2027-10-31T01:30+02:00", "2027-10-31T02:30+02:00", "2027-10-31T02:30+01:00",
        "2027-10-31T03:30+01:00",
    ]  # fmt: skip


def test_series_follows_the_zone_it_is_asked_for():
    assert fires("FREQ=DAILY", "2026-12-04T09:00", limit=1, zone="Pacific/Auckland") == [
        "2026-12-04T09:00+13:00"
    ]


def test_count_and_until_end_a_series():
    assert len(fires("FREQ=DAILY;COUNT=3", "2026-12-04T09:00")) == 3
    assert len(fires("FREQ=DAILY;UNTIL=20261206T080000Z", "2026-12-04T09:00")) == 3
    assert len(fires("FREQ=DAILY;UNTIL=20261206", "2026-12-04T09:00")) == 3
    assert fires("FREQ=DAILY;UNTIL=20261203", "2026-12-04T09:00") == []


@pytest.mark.parametrize("limit", [0, -1, 10_001])
def test_limit_out_of_range_is_refused(limit):
    with pytest.raises(InvalidError, match="can't be listed"):
        occurrences(series("FREQ=DAILY", "2026-12-04T09:00"), NOW, limit=limit)


@pytest.mark.parametrize(
    ("phrase", "said", "german"),
    [
        ("every other Tuesday", "every 2 weeks on Tuesday", "alle 2 Wochen am Dienstag"),
        ("every weekday at 9", "every weekday", "jeden Werktag"),
        ("last Friday of every month", "every month on the last Friday",
         "jeden Monat am letzten Freitag"),
        ("on the 31st of every month", "every month on the 31st", "jeden Monat am 31."),
        ("every Monday 5 times", "every week on Monday 5 times", "jede Woche am Montag 5 mal"),
    ],
)  # fmt: skip
def test_rule_is_said_in_words(phrase, said, german):
    rule = understand(phrase, NOW).meaning.rule
    assert say_rule(rule) == said
    assert say_rule(rule, "de") == german


def test_assumptions_are_said():
    october = dt.datetime(2027, 10, 30, 12, tzinfo=BERLIN)
    march = dt.datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    assert "comes twice" in understand("tomorrow at 2:30", october).assumed[0]
    assert "doesn't exist" in understand("tomorrow at 2:30", march).assumed[0]
    assert understand("tomorrow", NOW).assumed == ("no time said: 9:00",)


def test_past_time_is_refused_with_a_suggestion():
    with pytest.raises(InvalidError, match="has passed") as raised:
        understand("today at 9:30", NOW)
    assert raised.value.hint == "Say 'tomorrow at 09:30' or 'today at 21:30'."


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_of_two_equal_times_is_said_and_read_as_itself(fold, language):
    local = dt.datetime(2027, 10, 31, 2, 30, fold=fold, tzinfo=BERLIN)
    meaning = understand(say(local, language), NOW).meaning
    assert isinstance(meaning, Instant)
    assert meaning.local.timestamp() == local.timestamp()


def test_said_with_today_and_tomorrow_where_now_is_known():
    assert say(NOW, now=NOW) == "today, Thursday 3 December 2026, 21:13 (Europe/Berlin)"
    later = understand("tomorrow at 9:30", NOW).meaning
    assert say(later, "de", NOW) == "morgen, Freitag 4. Dezember 2026, 09:30 (Europe/Berlin)"
