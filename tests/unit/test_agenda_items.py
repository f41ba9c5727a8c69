"""What is asked of the agenda: kept, understood, answered, refused."""

import datetime as dt

import pytest

from actors.agenda.store import Store
from eris.errors import ConfigurationError, ConflictError, ErisError, InvalidError, NotFoundError
from proto.agenda import (
    AddItem,
    AgendaChanged,
    ChangeItem,
    CheckItem,
    DeliveryStep,
    DescribeAgenda,
    ItemKind,
    ItemState,
    Missed,
    OccurrenceState,
    PauseAgenda,
    ReportDelivery,
    ResolveKind,
    ResumeAgenda,
    Schedule,
    SimulateAgenda,
)
from tests.reminding import Reminding, at

HOUR, DAY = 3600, 86_400


@pytest.fixture
def agenda(tmp_path):
    made = Reminding(tmp_path)
    yield made
    made.close()


RECEIPTS = {
    "a moment": (
        "in one minute to stretch",
        "set reminder a1 for Thursday 3 December 2026, 14:01 (Europe/Berlin), in 1 minute: stretch",
    ),
    "again and again": (
        "every weekday at 9 stand-up",
        (
            "set reminder a1, every weekday at 09:00 (Europe/Berlin), "
            "next on Friday 4 December 2026, 09:00 (Europe/Berlin): stand-up"
        ),
    ),
    "the next one that comes": (
        "at 9:30 call Ann",
        (
            "set reminder a1 for Friday 4 December 2026, 09:30 (Europe/Berlin), "
            "in 19 hours 30 minutes: call Ann"
        ),
    ),
    "German": (
        "Erinnere mich morgen um 8 an die Post",
        "set reminder a1 for Friday 4 December 2026, 08:00 (Europe/Berlin), in 18 hours: die Post",
    ),
}


@pytest.mark.parametrize(("text", "receipt"), RECEIPTS.values(), ids=RECEIPTS.keys())
def test_the_receipt_says_the_absolute_local_time(agenda, text, receipt):
    assert agenda.add(text).receipt == receipt


def test_a_zone_that_nobody_said_is_the_users(tmp_path):
    agenda = Reminding(tmp_path, zone="Pacific/Auckland")
    item = agenda.add("every day at 13:00 lunch").item
    assert item.schedule.zone == "Pacific/Auckland"
    assert item.next_local == "2026-12-04T13:00:00+13:00"
    agenda.close()


def test_a_repeated_request_is_answered_like_the_first(agenda):
    request = AddItem(key="once", kind=ItemKind.REMINDER, text="stretch", when="in an hour")
    first = agenda.ask(request)
    agenda.clock.pass_time(600)
    agenda.start()
    again = agenda.ask(request)
    assert again.repeated
    assert (again.item, again.receipt) == (first.item, first.receipt)
    assert len(agenda.items()) == 1


def test_an_open_item_is_mirrored_from_one_place_only(agenda):
    first = agenda.add("milk", ItemKind.TASK, source="ical:1").item
    again = agenda.add("milk!", ItemKind.TASK, source="ical:1")
    assert (again.repeated, again.item.id) == (True, first.id)
    agenda.done(first.id)
    assert not agenda.add("milk", ItemKind.TASK, source="ical:1").repeated
    other = agenda.add("eggs", ItemKind.TASK, source="ical:2").item
    with pytest.raises(ConflictError):
        agenda.ask(ChangeItem(key="c", item=other.id, source="ical:1"))


BAD = {
    "nothing to say": ({"text": "   ", "when": "tomorrow"}, "What is it about"),
    "no time": ({"text": "stretch"}, "doesn't say when"),
    "in the past": ({"text": "stretch", "when": "yesterday at 9"}, ""),
    "never": ({"text": "x", "when": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "never fires"),
    "never, exactly": (
        {"text": "x", "schedule": Schedule(start="2027-02-01T09:00:00", rule="FREQ=DAILY;COUNT=0")},
        "",
    ),
    "a start after its end": (
        {
            "text": "x",
            "schedule": Schedule(
                start="2027-02-01T09:00:00", rule="FREQ=DAILY;UNTIL=20260101T000000Z"
            ),
        },
        "never fires",
    ),
    "a zone that isn't there": (
        {"text": "x", "schedule": Schedule(start="2027-02-01T09:00:00", zone="Europe/Berlni")},
        "Europe/Berlni",
    ),
    "a start that is no time": ({"text": "x", "schedule": Schedule(start="soon")}, "'soon'"),
    "an offset": (
        {"text": "x", "schedule": Schedule(start="2027-02-01T09:00:00+01:00")},
        "has an offset",
    ),
    "a step of two lines": (
        {"text": "x", "when": "tomorrow", "checklist": (CheckItem(text="one\ntwo"),)},
        "isn't one line",
    ),
    "too many steps": (
        {"text": "x", "when": "tomorrow", "checklist": (CheckItem(text="one"),) * 51},
        "51 steps",
    ),
    "a long text": ({"text": "x" * 501, "when": "tomorrow"}, "501 characters"),
    "a long plan": ({"text": "x", "when": "tomorrow", "plan": "x" * 5000}, "5000 characters"),
    "a negative grace": ({"text": "x", "when": "tomorrow", "grace_s": -1}, "grace"),
    "a timer that repeats": ({"text": "x", "kind": ItemKind.TIMER, "when": "every day"}, "repeats"),
}


@pytest.mark.parametrize(("asked", "told"), BAD.values(), ids=BAD.keys())
def test_what_makes_no_sense_is_refused_and_nothing_is_kept(agenda, asked, told):
    with pytest.raises(InvalidError) as caught:
        agenda.add(**{"kind": ItemKind.REMINDER, **asked})
    assert told in caught.value.message
    assert caught.value.hint
    assert agenda.items(states=tuple(ItemState)) == ()
    assert agenda.add("in a minute to stretch").item.id == "a1"


# Missed ones.

MISSED = {
    "skip": (Missed.SKIP, [], 3),
    "once": (Missed.ONCE, ["2 hours late"], 2),
    "each": (Missed.EACH, ["2 days 2 hours late", "1 day 2 hours late", "2 hours late"], 0),
}


@pytest.mark.parametrize(("missed", "late", "skipped"), MISSED.values(), ids=MISSED.keys())
def test_what_was_missed_is_dealt_with_as_the_item_says(agenda, missed, late, skipped):
    agenda.add("every day at 16:00 walk", missed=missed)
    agenda.look(2 * DAY + 4 * HOUR)
    told = [each.reminder.late for each in agenda.told.events if hasattr(each, "reminder")]
    assert told == late
    reasons = [reason for event, reason in agenda.history("a1") if event == "skipped"]
    assert len(reasons) == skipped
    assert all("missed by" in reason for reason in reasons)


def test_only_what_has_come_is_caught_up(agenda):
    for hour in ("13:30", "14:30", "17:00", "19:30"):
        schedule = Schedule(start="2026-12-01T" + hour + ":00", rule="FREQ=DAILY")
        agenda.add(f"pill at {hour}", schedule=schedule)
    agenda.look(HOUR)
    assert [each.text for each in agenda.waiting()] == ["pill at 14:30"]


def test_within_its_grace_it_is_in_time(agenda):
    agenda.add("at 16:00 walk", missed=Missed.SKIP, grace_s=HOUR)
    agenda.look(2 * HOUR + 1800)
    (reminder,) = agenda.waiting()
    assert reminder.late == "30 minutes late"


def test_thousands_of_missed_ones_are_dealt_with(agenda):
    agenda.add("every minute breathe")
    agenda.look(2 * DAY)
    assert len(agenda.waiting()) == 1
    skipped = [each for each, _ in agenda.history("a1") if each == "skipped"]
    assert agenda.look() > agenda.clock.now
    assert len(skipped) == 199
    assert agenda.told.fired() == [agenda.waiting()[0].occurrence]


def test_an_unseen_one_makes_room_for_the_next(agenda):
    agenda.add("every day at 16:00 walk")
    agenda.look(2 * HOUR)
    agenda.look(DAY)
    assert [each.occurrence for each in agenda.waiting()] == ["a1.2"]
    assert ("skipped", "nobody is known to have seen it before the next one") in [
        (event, reason.partition(",")[0]) for event, reason in agenda.history("a1")
    ]


# The clock and the zone.


def test_the_clock_set_back_fires_nothing_again(agenda):
    agenda.add("at 16:00 walk", ItemKind.TASK)
    agenda.add("every day at 16:00 run")
    agenda.look(2 * HOUR)
    agenda.clock.set(-2 * HOUR)
    for _ in range(4):
        agenda.look(HOUR)
    assert agenda.told.fired() == ["a1.1", "a2.1"]


def test_a_timer_keeps_its_length_when_the_clock_is_set(agenda):
    agenda.look()
    agenda.add("eggs", ItemKind.TIMER, when="10 minutes")
    agenda.add("at 14:10 walk")
    agenda.clock.set(-HOUR)
    agenda.look(599)
    assert agenda.told.fired() == []
    agenda.look(2)
    assert agenda.told.fired() == ["a1.1"]
    agenda.clock.set(5 * DAY)
    agenda.look()
    assert agenda.told.fired() == ["a1.1", "a2.1"]
    assert ("moved", "the clock was set 1 hour back") in agenda.history("a1")


def test_a_timer_goes_on_over_a_restart_of_the_process_and_of_the_machine(agenda):
    agenda.look()
    agenda.add("eggs", ItemKind.TIMER, when="10 minutes")
    agenda.add("tea", ItemKind.TIMER, when="20 minutes")
    agenda.clock.pass_time(300)
    agenda.clock.set(HOUR)
    agenda.start()
    agenda.look(290)
    assert agenda.told.fired() == []
    agenda.look(11)
    assert agenda.told.fired() == ["a1.1"]
    agenda.clock.boot, agenda.clock.run = "second", 3.0
    agenda.start()
    agenda.look(600)
    assert agenda.told.fired() == ["a1.1", "a2.1"]


def test_a_time_that_the_clocks_skip_comes_after_the_gap_and_says_so(tmp_path):
    agenda = Reminding(tmp_path, now="2027-03-27T12:00:00")
    added = agenda.add("tomorrow at 2:30 check the oven")
    assert added.item.next_local == "2027-03-28T03:30:00+02:00"
    assert any("doesn't exist" in each for each in added.assumed)
    daily = Schedule(start="2027-03-26T02:30:00", zone="Europe/Berlin", rule="FREQ=DAILY")
    agenda.add("backup", schedule=daily)
    firings = agenda.ask(SimulateAgenda(until="in 3 days", item="a2")).firings
    assert [each.local[11:16] for each in firings] == ["03:30", "02:30", "02:30"]
    assert [bool(each.note) for each in firings] == [True, False, False]
    agenda.close()


def test_a_time_that_comes_twice_is_told_of_once(tmp_path):
    agenda = Reminding(tmp_path, now="2026-10-25T01:00:00")
    schedule = Schedule(start="2026-10-20T02:30:00", zone="Europe/Berlin", rule="FREQ=DAILY")
    agenda.add("backup", schedule=schedule)
    later = Schedule(start="2026-10-25T02:30:00", zone="Europe/Berlin", fold=1)
    agenda.add("the second one", schedule=later)
    for _ in range(8):
        agenda.look(HOUR // 2)
    assert agenda.told.fired() == ["a1.1", "a2.1"]
    first, second = agenda.waiting()
    assert second.due - first.due == HOUR
    agenda.close()


def test_a_day_goes_where_the_user_goes_and_comes_once(agenda):
    agenda.add("Ann's birthday", ItemKind.TASK, when="tomorrow")
    agenda.look(18 * HOUR + 1800)  # 8:30 in Berlin
    agenda.clock.place = "Asia/Kolkata"  # 13:00 there
    agenda.look()
    assert agenda.told.fired() == ["a1.1"]
    agenda.clock.place = "America/New_York"  # 2:30 there, and 9:00 comes again
    for _ in range(10):
        agenda.look(HOUR)
    assert agenda.told.fired() == ["a1.1"]


# Answers.


def test_an_answer_belongs_to_one_occurrence_only(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.add("at 15:00 call Bob")
    agenda.look(HOUR)
    agenda.done("a1.1")
    with pytest.raises(ConflictError, match="Ann"):
        agenda.done("a1.1")
    assert [each.text for each in agenda.items()] == ["call Bob"]


def test_done_ends_a_series_for_this_time_only(agenda):
    agenda.add("every day at 15:00 walk")
    agenda.look(HOUR)
    assert "for this time, next on Friday 4 December 2026, 15:00" in agenda.done("a1").receipt
    assert "next on Saturday 5 December" in agenda.done("a1").receipt  # before it was due
    agenda.look(DAY)
    assert agenda.told.fired() == ["a1.1"]
    agenda.look(DAY)
    assert agenda.told.fired() == ["a1.1", "a1.3"]


def test_put_off_it_comes_again_at_the_time_that_was_said(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.look(HOUR)
    told = agenda.resolve("a1.1", ResolveKind.SNOOZE, when="in 20 minutes").receipt
    assert told == (
        "snoozed a1 until Thursday 3 December 2026, 15:20 (Europe/Berlin), in 20 minutes: call Ann"
    )
    agenda.look(19 * 60)
    assert agenda.waiting() == ()
    agenda.look(60)
    assert [each.occurrence for each in agenda.waiting()] == ["a1.2"]
    agenda.resolve("a1.2", ResolveKind.SNOOZE)
    agenda.look(10 * 60)
    assert [each.occurrence for each in agenda.waiting()] == ["a1.3"]


def test_dismissed_a_reminder_is_over_and_a_task_is_not(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.add("at 15:00 pay rent", ItemKind.TASK)
    agenda.look(HOUR)
    assert agenda.resolve("a1.1", ResolveKind.DISMISS).item.state is ItemState.DONE
    assert agenda.resolve("a2.1", ResolveKind.DISMISS).item.state is ItemState.OPEN
    agenda.look(DAY)
    assert agenda.told.fired() == ["a1.1", "a2.1"]


def test_removed_it_is_not_told_of_and_its_history_stays(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.resolve("call ann", ResolveKind.REMOVE)
    agenda.look(DAY)
    assert agenda.told.fired() == []
    assert [event for event, _ in agenda.history("a1")] == ["added", "removed"]


def test_words_name_an_item_if_they_fit_one_only(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.add("at 16:00 call Bob")
    agenda.add("pasta", ItemKind.TIMER, when="10 minutes")
    with pytest.raises(InvalidError) as caught:
        agenda.done("call")
    assert caught.value.hint == "Say which: a1 (call Ann), a2 (call Bob)."
    with pytest.raises(NotFoundError) as missing:
        agenda.done("the dentist")
    assert "a1 (call Ann)" in missing.value.hint
    assert agenda.done("reminder a1").item.id == "a1"
    assert agenda.resolve("cancel the timer", ResolveKind.REMOVE).item.id == "a3"


def test_a_change_of_another_version_is_refused(agenda):
    item = agenda.add("at 15:00 call Ann").item
    changed = agenda.ask(ChangeItem(key="1", item="a1", version=item.version, when="at 16:00"))
    assert changed.item.next_local == "2026-12-03T16:00:00+01:00"
    with pytest.raises(ConflictError):
        agenda.ask(ChangeItem(key="2", item="a1", version=item.version, text="call Bob"))
    assert agenda.items()[0].text == "call Ann"
    with pytest.raises(InvalidError):
        agenda.ask(ChangeItem(key="3", item="a1", when=""))


def test_a_surface_shows_each_once_and_says_what_it_does_not_know(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.look(HOUR)
    assert agenda.report("a1.1", DeliveryStep.BEGAN).granted
    # It died here: unknown, so not again on this one, but on another.
    agenda.start()
    assert not agenda.report("a1.1", DeliveryStep.BEGAN).granted
    (reminder,) = agenda.waiting()
    assert reminder.state is OccurrenceState.WAITING
    assert reminder.deliveries == {"console.1": DeliveryStep.BEGAN}
    assert agenda.report("a1.1", DeliveryStep.BEGAN, "console.2").granted
    assert not agenda.report("a1.1", DeliveryStep.FAILED, "console.2").granted
    assert agenda.report("a1.1", DeliveryStep.BEGAN, "console.2").granted
    agenda.report("a1.1", DeliveryStep.SHOWN, "console.2")
    assert agenda.waiting()[0].state is OccurrenceState.SHOWN
    agenda.done("a1.1")
    assert not agenda.report("a1.1", DeliveryStep.BEGAN, "web").granted


def test_a_surface_whose_answer_was_lost_is_granted_it_again(agenda):
    agenda.add("at 15:00 call Ann")
    agenda.look(HOUR)

    def began(key):
        request = ReportDelivery(
            occurrence="a1.1", surface="desktop", step=DeliveryStep.BEGAN, key=key
        )
        return agenda.ask(request).granted

    assert [began("one"), began("one"), began("two"), began("one")] == [True, True, False, True]
    agenda.report("a1.1", DeliveryStep.SHOWN, "desktop")
    assert not began("one")


# Looking ahead and back.


def test_what_would_fire_is_told_and_nothing_is_written(agenda):
    agenda.add("every weekday at 9 stand-up")
    agenda.add("tomorrow at 8 call Ann")
    before = agenda.history("a1")
    told = agenda.ask(SimulateAgenda(until="in two weeks"))
    assert len(told.firings) == 11
    assert told.firings[0].told == "Friday 4 December 2026, 08:00 (Europe/Berlin)"
    assert [each.local[:10] for each in told.firings[1:4]] == [
        "2026-12-04",
        "2026-12-07",
        "2026-12-08",
    ]
    assert agenda.ask(SimulateAgenda(until="in two weeks", limit=5)).cut
    assert agenda.history("a1") == before
    agenda.look(7 * DAY)
    assert len(agenda.store.of_item(1)) == 5


def test_the_future_comes_as_it_was_simulated(agenda):
    agenda.add("every 2 days at 9 water the plants", missed=Missed.EACH)
    agenda.add("every month on the 31st at 8 rent", missed=Missed.EACH)
    foreseen = agenda.ask(SimulateAgenda(until="in 200 days")).firings
    agenda.look(200 * DAY)
    came = sorted(
        (float(row.due), f"a{row.item}")
        for number in (1, 2)
        for row in agenda.store.of_item(number)
    )
    assert came == [(each.due, each.item) for each in foreseen]


# Eris's own turns.


def test_own_turns_keep_to_quiet_hours_limit_and_pause(tmp_path):
    agenda = Reminding(tmp_path, quiet="22:00-07:00", own_turns=2)
    agenda.add("at 23:00 look around", ItemKind.SELF)
    assert agenda.look(9 * HOUR + 60) == at("2026-12-04T07:00:00")
    assert ("held", "it's within the quiet hours, 22:00-07:00") in agenda.history("a1")
    firing = agenda.ask(SimulateAgenda(until="tomorrow")).firings[0]
    assert "held back until" in firing.note
    agenda.look(8 * HOUR)
    assert agenda.store.of_item(1)[0].state is OccurrenceState.CLAIMED
    for number in range(2, 5):
        agenda.add(f"in {number} minutes look around", ItemKind.SELF)
    assert agenda.look(600) == at("2026-12-05T00:00:00")
    report = agenda.ask(DescribeAgenda())
    assert (report.own_turns_today, report.own_turns_limit) == (2, 2)
    agenda.ask(PauseAgenda(until="in 3 days"))
    assert agenda.ask(DescribeAgenda()).paused_until
    agenda.add("in 2 minutes to stretch")
    agenda.look(3 * 60)
    assert [each.text for each in agenda.waiting()] == ["stretch"]
    assert agenda.look(2 * DAY) == agenda.leave.paused_until(agenda.clock.now)
    agenda.ask(ResumeAgenda())
    assert agenda.leave.held_until(agenda.clock.now) == 0
    agenda.close()


# The file.


def test_a_file_that_cannot_be_read_is_not_begun_anew(tmp_path):
    file = tmp_path / "agenda.sqlite"
    file.write_bytes(b"not a database" * 100)
    with pytest.raises(ConfigurationError):
        Store(file)
    assert file.read_bytes().startswith(b"not a database")


def test_an_agenda_of_a_newer_eris_is_left_alone(agenda):
    agenda.store._rows("PRAGMA user_version = 99")
    agenda.close()
    with pytest.raises(ConfigurationError, match="newer"):
        Store(agenda.file)


def test_unknown_names_are_refused_by_every_request(agenda):
    for ask in (
        lambda: agenda.done("a99"),
        lambda: agenda.history("a99"),
        lambda: agenda.history("nonsense"),
        lambda: agenda.report("a99.1"),
        lambda: agenda.ask(ChangeItem(key="x", item="a99", text="y")),
    ):
        with pytest.raises(ErisError):
            ask()


def test_an_answer_survives_the_wire_of_its_own_table(agenda):
    """What is kept to answer a repetition is read back as the type that was answered."""
    agenda.ask(AddItem(key="k", kind=ItemKind.TASK, text="x", plan="p"))
    again = agenda.ask(AddItem(key="k", kind=ItemKind.TASK, text="x", plan="p"))
    assert isinstance(again, AgendaChanged)
    assert dt.datetime.fromisoformat(again.item.created).tzinfo is not None
