"""iCalendar files: what others write is understood, what we write comes in again as it was."""

import contextlib
import datetime as dt
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError
from eris.icalendar_files import CalendarItem, ItemState, Kind, read_calendar, write_calendar
from eris.icalendar_files.components import MOST_BYTES, MOST_COMPONENTS

CALENDARS = Path(__file__).parents[1] / "data" / "calendars"
WRITTEN = dt.datetime(2026, 12, 3, 10, tzinfo=dt.UTC)


def at(*numbers):
    return dt.datetime(*numbers)  # noqa: DTZ001 - wall times


def minutes(number):
    return dt.timedelta(minutes=number)


def fields(item):
    return {
        name: value
        for name in ("start", "zone", "rule", "also", "excluded", "alarms")
        if (value := getattr(item, name))
    }


def read(name, **options):
    taken = read_calendar((CALENDARS / name).read_bytes(), **options)
    assert (taken.skipped, taken.remarks) == ((), ())
    return {item.title: item for item in taken.items}


def calendar(*components):
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *components, "END:VCALENDAR", ""]
    return "\r\n".join(lines).encode()


def event(*lines, uid="1"):
    named = [f"UID:{uid}"] if uid else []
    return "\r\n".join(["BEGIN:VEVENT", *named, *lines, "END:VEVENT"])


def test_a_calendar_of_google():
    items = read("google.ics")
    assert fields(items["Stand-up, short"]) == {
        "start": at(2027, 1, 4, 9, 30),
        "zone": "Europe/Berlin",
        "rule": "FREQ=WEEKLY;WKST=MO;UNTIL=20270630T215959Z;BYDAY=MO,TH",
        # By EXDATE, moved to another time, cancelled.
        "excluded": (at(2027, 1, 11, 9, 30), at(2027, 1, 14, 9, 30), at(2027, 1, 18, 9, 30)),
        "alarms": (minutes(-10),),
    }
    assert items["Stand-up, short"].notes == ("<b>Notes</b>\nRoom 3, second floor; bring tea")
    late = items["Stand-up, late this once"]
    assert late.uid == "standup@google.com/2027-01-14T09:30:00"
    assert fields(late) == {"start": at(2027, 1, 14, 11), "zone": "Europe/Berlin"}
    # Given as UTC, shown on the clocks of the calendar's zone.
    assert fields(items["Call with Tom 📞"]) == {
        "start": at(2027, 7, 1, 19),
        "zone": "Europe/Berlin",
    }
    assert fields(items["Geburtstag von Jörg"]) == {
        "start": dt.date(2027, 3, 3),
        "rule": "FREQ=YEARLY",
    }
    assert len(items) == 4


def test_a_calendar_of_apple():
    items = read("apple.ics")
    assert fields(items["Run, wherever I am"]) == {
        "start": at(2027, 1, 10, 8),
        "alarms": (minutes(-30), minutes(35)),
    }
    assert items["Renew the passport"].state is ItemState.DONE
    # A folded line, an alarm at an instant.
    assert fields(items["Hand in the tax return"]) == {
        "start": at(2027, 2, 15, 17),
        "zone": "America/New_York",
        "alarms": (minutes(-60),),
    }
    assert fields(items["Someday: learn to sail"]) == {}
    assert {item.kind for item in items.values()} == {Kind.EVENT, Kind.TASK}


def test_a_calendar_of_outlook():
    items = read("outlook.ics", home="America/New_York")
    assert fields(items["Monatsrunde"]) == {
        "start": at(2027, 4, 5, 10),
        "zone": "Europe/Berlin",
        "rule": "FREQ=MONTHLY;COUNT=6;BYDAY=1MO",
        "alarms": (minutes(-15),),
    }
    # A zone of the file's own, known by how its clocks are set.
    assert items["Call New York"].zone == "America/New_York"
    assert items["From an Evolution user"].zone == "Europe/Vienna"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (event("SUMMARY:x", "DTSTART:tomorrow"), "DTSTART can't be read"),
        (event("SUMMARY:x", "DTSTART:20270230T100000"), "DTSTART can't be read"),
        (event("SUMMARY:x"), "it has no DTSTART"),
        (event("DTSTART:20270101", "RRULE:FREQ=OFTEN"), "RRULE can't be read"),
        (event("DTSTART:20270101", "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"), "several rules"),
        (event("DTSTART;TZID=Mars/Base:20270101T100000"), "no time zone 'Mars/Base'"),
        (event("DTSTART:20270101", "EXDATE:someday", "RRULE:FREQ=DAILY"), "EXDATE can't be read"),
        ("BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20270101", "it has no end before line 5"),
        ("BEGIN:VEVENT\r\nUID:1\r\nBEGIN:VALARM\r\nEND:VEVENT", "'VEVENT' where 'VALARM' was"),
        (event("DTSTART:20270101", "SUMMARY:" + 300_000 * "x"), "up to 262,144 are read"),
    ],
)
def test_what_is_broken_is_told_by_line_and_uid_and_the_rest_is_taken(broken, reason):
    good = event("DTSTART:20270101", "SUMMARY:Good", uid="2")
    before, after = (read_calendar(calendar(*order)) for order in ((good, broken), (broken, good)))
    # Behind a component without an end nothing is lost but that component.
    assert [item.title for item in after.items] == ["Good"]
    assert [item.title for item in before.items] == ["Good"]
    (told,) = after.skipped
    assert (told.line, told.uid) == (3, "1")
    assert reason in str(told) or broken.startswith("BEGIN:VEVENT\r\nUID:1\r\nDTSTART")
    assert str(told).startswith("line 3 (UID 1): ")


def test_the_latest_version_of_a_uid_counts():
    taken = read_calendar(
        calendar(
            event("DTSTART:20270102", "SUMMARY:Second", "SEQUENCE:2"),
            event("DTSTART:20270101", "SUMMARY:First", "SEQUENCE:1"),
        )
    )
    assert [item.title for item in taken.items] == ["Second"]


def test_what_has_no_uid_gets_the_same_each_time_whenever_it_was_written():
    uids = {
        read_calendar(calendar(event("DTSTART:20270101", stamp, uid=""))).items[0].uid
        for stamp in ("DTSTAMP:20260101T000000Z", "DTSTAMP:20260102T000000Z")
    }
    assert len(uids) == 1
    assert uids != {""}


def test_a_series_in_utc_is_on_the_clocks_of_its_calendar():
    text = calendar(
        "X-WR-TIMEZONE:Europe/Berlin", event("DTSTART:20270104T080000Z", "RRULE:FREQ=DAILY")
    )
    (item,) = read_calendar(text).items
    assert (item.start, item.zone) == (at(2027, 1, 4, 9), "Europe/Berlin")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_other_encodings_and_line_ends_are_read(encoding, end):
    text = calendar(event("DTSTART:20270101", "SUMMARY:Jörg")).decode().replace("\r\n", end)
    (item,) = read_calendar(text.encode(encoding)).items
    assert item.title == "Jörg"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "isn't an iCalendar file"),
        (b"# A note\n", "isn't an iCalendar file"),
        (b"\x00\xff" * 1000, "isn't an iCalendar file"),
        (b" " * (MOST_BYTES + 1), "up to 16.8 MB are read"),
        (calendar(*["BEGIN:VTODO\nEND:VTODO"] * (MOST_COMPONENTS + 1)), "more than 20,000 entries"),
    ],
)
def test_what_is_no_calendar_or_too_much_is_refused(data, message):
    with pytest.raises(InvalidError, match=message) as caught:
        read_calendar(data)
    assert caught.value.hint


def test_ten_megabytes_take_no_more_memory_than_a_few_times_as_much():
    attached = "ATTACH;ENCODING=BASE64;VALUE=BINARY:" + 5_000_000 * "A"
    many = [
        event(
            "DTSTART:20270101T100000Z", f"SUMMARY:{number}", "DESCRIPTION:" + 5000 * "x", uid=number
        )
        for number in range(1000)
    ]
    data = calendar(event("DTSTART:20270101", attached, uid="attached"), *many)
    assert len(data) > 10_000_000
    tracemalloc.start()
    try:
        taken = read_calendar(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(taken.items) == 1001
    assert not taken.skipped
    assert most < 10 * len(data)


TEXTS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=80
)
TIMES = st.datetimes(at(2000, 1, 1), at(2039, 12, 31)).map(lambda time: time.replace(microsecond=0))
DAYS = st.dates(dt.date(2000, 1, 1), dt.date(2039, 12, 31))
RULES = st.sampled_from(
    [
        "",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "FREQ=DAILY;BYHOUR=9;UNTIL=20300101T000000Z;INTERVAL=2",
    ]
)


@st.composite
def calendar_items(draw):
    kind = draw(st.sampled_from(Kind))
    all_day = draw(st.booleans())
    moments = DAYS if all_day else TIMES
    needs_start = kind is Kind.EVENT
    start = draw(moments if needs_start else st.none() | moments)
    rule = draw(RULES) if start else ""
    zone = draw(st.sampled_from(["", "UTC", "Europe/Berlin", "Australia/Lord_Howe"]))
    several = st.lists(moments, max_size=3, unique=True).map(lambda some: tuple(sorted(some)))
    states = [ItemState.OPEN, ItemState.CANCELLED]
    return CalendarItem(
        uid=draw(TEXTS.map(str.strip).filter(bool)),
        kind=kind,
        title=draw(TEXTS.map(lambda text: " ".join(text.split())).filter(bool)),
        notes=draw(st.lists(TEXTS, max_size=3).map("\n".join).map(str.strip)),
        start=start,
        zone=zone if start and not all_day else "",
        rule=rule,
        also=draw(several) if rule else (),
        excluded=draw(several) if rule else (),
        alarms=tuple(sorted(draw(st.sets(st.integers(-9999, 9999).map(minutes), max_size=2))))
        if start
        else (),
        state=draw(st.sampled_from(states + [ItemState.DONE] * (kind is Kind.TASK))),
        own=draw(st.dictionaries(st.sampled_from(["KIND", "PLAN"]), TEXTS, max_size=2)),
    )


@given(st.lists(calendar_items(), max_size=5, unique_by=lambda item: item.uid))
def test_what_is_written_comes_in_again_as_it_was(items):
    taken = read_calendar(write_calendar(items, written=WRITTEN))
    assert list(taken.items) == items
    assert (taken.skipped, taken.remarks) == ((), ())


@given(st.binary(max_size=300), st.integers(0, 400))
def test_no_damage_makes_it_fail_but_in_words(junk, where):
    data = (CALENDARS / "apple.ics").read_bytes()
    damaged = data[: where * 3] + junk + data[where * 3 + len(junk) :]
    with contextlib.suppress(InvalidError):
        assert len(read_calendar(damaged).items) <= 4
