"""Items of the agenda as entries of a calendar, and back."""

import datetime as dt

import msgspec
import pytest

from eris.agenda_calendar import Draft, draft_of, entry_of, is_over, same, uid_of
from eris.icalendar_files import CalendarItem, Kind, read_calendar, write_calendar
from proto.agenda import CheckItem, ItemKind, ItemState, ItemView, Missed, Schedule

NINE = dt.time(9)
NOW = dt.datetime(2026, 12, 3, 10, tzinfo=dt.UTC)


def item(kind=ItemKind.REMINDER, text="call Tom", **fields):
    return ItemView(
        id="a7",
        version=1,
        kind=kind,
        state=ItemState.OPEN,
        text=text,
        created="2026-12-01T10:00:00+01:00",
        **fields,
    )


def as_item(draft: Draft) -> ItemView:
    """The item that the agenda makes of a draft."""
    fields = {"missed": draft.missed, "grace_s": draft.grace_s}
    return item(
        draft.kind,
        draft.text,
        schedule=draft.schedule,
        source=draft.source,
        plan=draft.plan,
        checklist=draft.checklist,
        **{name: value for name, value in fields.items() if value is not None},
    )


def through_a_file(entries):
    taken = read_calendar(write_calendar(entries, written=NOW))
    assert (taken.skipped, taken.remarks) == ((), ())
    return taken.items


WEEKDAYS = Schedule(
    start="2026-12-04T09:00:00",
    zone="Europe/Berlin",
    rule="FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9",
    excluded=("2026-12-07T09:00:00",),
    also=("2026-12-12T10:00:00",),
)


@pytest.mark.parametrize(
    "one",
    [
        item(schedule=Schedule(start="2026-12-04T09:30:00", zone="Europe/Berlin"), grace_s=60),
        item(schedule=Schedule(start="2026-12-04T09:30:00"), missed=Missed.SKIP, grace_s=600),
        item(schedule=Schedule(start="2026-12-04", all_day=True)),
        item(schedule=Schedule(start="2026-12-04", all_day=True, rule="FREQ=YEARLY")),
        item(ItemKind.ALARM, schedule=WEEKDAYS, missed=Missed.EACH),
        item(ItemKind.TIMER, schedule=Schedule(start="2026-12-04T09:30:00", zone="UTC")),
        item(ItemKind.TASK, schedule=WEEKDAYS),
        item(ItemKind.TASK, schedule=Schedule(start="2026-12-04", all_day=True)),
        item(ItemKind.TASK, text="no time; a \\ and a, b"),
        item(
            ItemKind.SELF,
            schedule=WEEKDAYS,
            plan="Read the notes.\nSay what's new.",
            checklist=(CheckItem(text='say "it"'), CheckItem(text="2; 3", done=True)),
        ),
        # The second of two equal times.
        item(schedule=Schedule(start="2027-10-31T02:30:00", zone="Europe/Berlin", fold=1)),
    ],
)
def test_an_exported_item_comes_in_again_as_the_same(one):
    (entry,) = through_a_file([entry_of(one, NINE)])
    draft = draft_of(entry, NINE)
    assert same(one, draft)
    assert draft.remarks == ()
    assert entry.uid == uid_of(one)
    # Taken in elsewhere it's mirrored, and goes out again under its own name.
    assert through_a_file([entry_of(as_item(draft), NINE)]) == (entry,)


def event(start, *alarms, rule="", kind=Kind.EVENT, zone="Europe/Berlin", **fields):
    return CalendarItem(
        uid="x@y",
        kind=kind,
        title="Dentist",
        start=start,
        zone=zone if isinstance(start, dt.datetime) else "",
        rule=rule,
        alarms=tuple(dt.timedelta(minutes=each) for each in alarms),
        **fields,
    )


TEN = dt.datetime(2027, 1, 4, 10)  # noqa: DTZ001 - a wall time
MIDNIGHT = dt.datetime(2027, 1, 4, 0, 5)  # noqa: DTZ001
DAY = dt.date(2027, 1, 4)


@pytest.mark.parametrize(
    ("entry", "told_at", "text", "remarks"),
    [
        (event(TEN), "2027-01-04T10:00:00", "Dentist", 0),
        (event(TEN, 0), "2027-01-04T10:00:00", "Dentist", 0),
        (event(TEN, -15), "2027-01-04T09:45:00", "Dentist (10:00)", 0),
        (event(TEN, -15, -1440), "2027-01-04T09:45:00", "Dentist (10:00)", 1),
        (event(TEN, -1440), "2027-01-03T10:00:00", "Dentist (10:00)", 0),
        (event(TEN, -15, rule="FREQ=DAILY"), "2027-01-04T09:45:00", "Dentist (10:00)", 0),
        # Moved across midnight a rule would mean other days.
        (event(MIDNIGHT, -15, rule="FREQ=WEEKLY;BYDAY=MO"), "2027-01-04T00:05:00", "Dentist", 1),
        (event(DAY), "2027-01-04", "Dentist", 0),
        (event(DAY, 9 * 60), "2027-01-04", "Dentist", 0),
        (event(DAY, 7 * 60), "2027-01-04T07:00:00", "Dentist", 0),
        (event(DAY, -15 * 60), "2027-01-03T09:00:00", "Dentist", 0),
        (event(DAY, -15 * 60, rule="FREQ=YEARLY"), "2027-01-04", "Dentist", 1),
    ],
)
def test_an_entry_is_told_of_at_its_alarm(entry, told_at, text, remarks):
    draft = draft_of(entry, NINE)
    assert draft.schedule.start == told_at
    assert (draft.text, len(draft.remarks)) == (text, remarks)
    if isinstance(entry.start, dt.datetime) and not remarks:
        # What goes out again is what came in.
        back = entry_of(as_item(draft), NINE)
        assert (back.title, back.start, back.uid) == (entry.title, entry.start, entry.uid)


@pytest.mark.parametrize(
    ("schedule", "over"),
    [
        (Schedule(start="2026-12-03T11:01:00"), False),
        (Schedule(start="2026-12-03T11:00:00"), True),
        (Schedule(start="2026-12-03", all_day=True), True),
        (Schedule(start="2020-01-01T09:00:00", rule="FREQ=DAILY"), False),
        (Schedule(start="2020-01-01T09:00:00", rule="FREQ=DAILY;COUNT=3"), True),
        (Schedule(start="2020-01-01", all_day=True, also=("2027-01-01",)), False),
    ],
)
def test_what_is_over_is_known(schedule, over):
    assert is_over(schedule, NOW, "Europe/Berlin", NINE) is over


@pytest.mark.parametrize("own", [{"KIND": "dinner"}, {"CHECKLIST": "[1]"}, {"GRACE": "soon"}])
def test_what_is_written_into_our_own_properties_is_checked(own):
    with pytest.raises(ValueError):
        draft_of(event(TEN, own=own), NINE)


def test_uids_of_different_items_differ():
    later = msgspec.structs.replace(item(), created="2026-12-01T10:00:01+01:00")
    assert uid_of(item()) != uid_of(later)
    moved = msgspec.structs.replace(item(), created="2026-12-01T09:00:00+00:00")
    assert uid_of(item()) == uid_of(moved)
