"""Every due time ends in one way only, whatever the clock, the process and the surfaces do.

A state machine over the real store and the real scheduler, on a clock that is turned.
"""

import datetime as dt
import shutil
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.agenda.due import due_until
from eris.errors import ConflictError
from proto.agenda import (
    DeliveryStep,
    ItemKind,
    ItemState,
    Missed,
    OccurrenceState,
    ResolveKind,
    Schedule,
)
from tests.reminding import Reminding

RULES = (
    "",
    "FREQ=DAILY",
    "FREQ=HOURLY;INTERVAL=7",
    "FREQ=WEEKLY;BYDAY=MO,WE",
    "FREQ=MINUTELY;INTERVAL=90",
)
ENDED = {
    OccurrenceState.DONE,
    OccurrenceState.SNOOZED,
    OccurrenceState.DISMISSED,
    OccurrenceState.SKIPPED,
}
# Around the clock changes of Europe/Berlin and America/New_York.
STARTS = (
    "2026-03-28T20:00:00",
    "2026-10-24T20:00:00",
    "2026-10-31T22:00:00",
    "2027-02-27T12:00:00",
)


class Killed(BaseException):
    """The process ends here."""


class EveryReminder(RuleBasedStateMachine):
    """Adds, waits, jumps, kills, shows and acknowledges."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.shown = {}
        self.acknowledged = {}
        self.agenda = None

    def teardown(self):
        if self.agenda is not None:
            self.agenda.close()
        shutil.rmtree(self.folder)

    @precondition(lambda self: self.agenda is None)
    @rule(
        start=st.sampled_from(STARTS), zone=st.sampled_from(("Europe/Berlin", "America/New_York"))
    )
    def begin(self, start, zone):
        self.agenda = Reminding(self.folder, now=start, zone=zone)

    @precondition(lambda self: self.agenda)
    @rule(
        minutes=st.integers(0, 3000),
        rule=st.sampled_from(RULES),
        missed=st.sampled_from(Missed),
        kind=st.sampled_from((ItemKind.REMINDER, ItemKind.TASK, ItemKind.TIMER)),
        zone=st.sampled_from(("", "Europe/Berlin", "America/New_York")),
        grace=st.sampled_from((0, 300, 7200)),
    )
    def add(self, minutes, rule, missed, kind, zone, grace):
        if kind is ItemKind.TIMER:
            self.agenda.add("x", kind, when=f"in {minutes + 1} minutes", missed=missed)
            return
        wall = self.agenda.desk.moment() + dt.timedelta(minutes=minutes)
        schedule = Schedule(
            start=wall.replace(tzinfo=None, fold=0, microsecond=0).isoformat(), zone=zone, rule=rule
        )
        self.agenda.add("x", kind, schedule=schedule, missed=missed, grace_s=grace)

    @precondition(lambda self: self.agenda)
    @rule(seconds=st.integers(0, 200_000))
    def time_passes(self, seconds):
        self.agenda.look(seconds)

    @precondition(lambda self: self.agenda)
    @rule(seconds=st.sampled_from((-7200, 7200, -3600, 86_400)))
    def somebody_sets_the_clock(self, seconds):
        self.agenda.clock.set(seconds)
        self.agenda.look()

    @precondition(lambda self: self.agenda)
    @rule(zone=st.sampled_from(("Europe/Berlin", "America/New_York", "Asia/Kolkata")))
    def the_user_travels(self, zone):
        self.agenda.clock.place = zone
        self.agenda.look()

    @precondition(lambda self: self.agenda)
    @rule(away=st.integers(0, 300_000), booted=st.booleans())
    def killed_and_started(self, away, booted):
        self.agenda.clock.pass_time(away)
        if booted:
            self.agenda.clock.boot += "'"
            self.agenda.clock.run = 5.0
        self.agenda.start()
        self.agenda.look()

    @precondition(lambda self: self.agenda)
    @rule(seconds=st.integers(1, 100_000), writes=st.integers(0, 12))
    def killed_while_it_fires(self, seconds, writes):
        """At any statement: what isn't committed is as if it had never been."""
        store, left = self.agenda.store, [writes]
        rows = store._rows

        def counted(statement, *values):
            if statement.startswith(("INSERT", "UPDATE")):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
            return rows(statement, *values)

        store._rows = counted
        try:
            self.agenda.look(seconds)
        except Killed:
            self.agenda.start()
        else:
            store._rows = rows
        self.agenda.look()

    @precondition(lambda self: self.agenda)
    @rule(surface=st.sampled_from(("console.1", "desktop")), dies=st.booleans())
    def a_surface_shows_what_waits(self, surface, dies):
        for reminder in self.agenda.waiting():
            if reminder.state is not OccurrenceState.WAITING:
                continue
            if self.agenda.report(reminder.occurrence, DeliveryStep.BEGAN, surface).granted:
                key = (reminder.occurrence, surface)
                self.shown[key] = self.shown.get(key, 0) + 1
                if dies:
                    return
                self.agenda.report(reminder.occurrence, DeliveryStep.SHOWN, surface)

    @precondition(lambda self: self.agenda)
    @rule(action=st.sampled_from((ResolveKind.DONE, ResolveKind.SNOOZE, ResolveKind.DISMISS)))
    def somebody_acknowledges(self, action):
        waiting = self.agenda.waiting()
        if waiting:
            self.agenda.resolve(waiting[0].occurrence, action)
            self.acknowledged[waiting[0].occurrence] = action

    @precondition(lambda self: self.agenda and self.acknowledged)
    @rule()
    def an_old_ok_changes_nothing(self):
        occurrence = next(iter(self.acknowledged))
        before = self.agenda.items(states=tuple(ItemState))
        try:
            self.agenda.resolve(occurrence, ResolveKind.DONE)
        except ConflictError:
            assert self.agenda.items(states=tuple(ItemState)) == before
        else:
            raise AssertionError(occurrence)

    @precondition(lambda self: self.agenda)
    @rule()
    def a_look_without_time_fires_nothing(self):
        self.agenda.look()
        before = len(self.agenda.told.fired())
        self.agenda.look()
        assert len(self.agenda.told.fired()) == before

    @invariant()
    def nothing_is_told_of_twice(self):
        if self.agenda is None:
            return
        fired = self.agenda.told.fired()
        assert len(fired) == len(set(fired))
        assert all(times == 1 for times in self.shown.values())

    @invariant()
    def every_time_that_came_has_one_end(self):
        """What the schedule has until now is a row each, and each row has a reason to be there."""
        if self.agenda is None:
            return
        self.agenda.look()
        now = int(self.agenda.clock.now)
        where = self.agenda.desk.where()
        for view in self.agenda.items(states=tuple(ItemState), limit=1000):
            item = self.agenda.store.item(int(view.id[1:]))
            rows = self.agenda.store.of_item(item.number)
            assert len({row.due for row in rows}) == len(rows) == item.occurrences
            if item.state is ItemState.OPEN:
                assert due_until(item, where, now) == []
            events = {
                (entry.occurrence, entry.event): entry.reason
                for entry in self.agenda.store.history(item.number, 10_000)[0]
            }
            for row in rows:
                if row.state is OccurrenceState.SKIPPED:
                    assert events[row.number, "skipped"], row
                else:
                    assert (row.number, "fired") in events or (row.number, "claimed") in events
                assert row.due <= row.fired or not row.fired
                if row.state in ENDED and row.state is not OccurrenceState.SKIPPED:
                    assert (row.number, row.state.value) in events


TestEveryReminder = EveryReminder.TestCase
TestEveryReminder.settings = settings(stateful_step_count=25, deadline=None)
