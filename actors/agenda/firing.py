"""Fires what is due: claims it, on disk, before anything is told or done."""

import datetime as dt
import json
from functools import partial

import msgspec

from actors.agenda import told
from actors.agenda.desk import LATE_SECONDS, Change, Desk
from actors.agenda.due import MOST_AT_ONCE, Verdict, due_until, triage
from actors.agenda.leave import NEVER, Leave
from actors.agenda.prompting import prompt_of
from actors.agenda.record import Item, Occurrence
from actors.agenda.spans import span_told
from eris.dates import zones
from eris.errors import ErisError
from eris.logs import Logger
from proto.agenda import ItemKind, ItemState, Missed, OccurrenceState

JUMP_SECONDS = 3.0
"""A clock that runs ahead of the steady one by more than this was set."""

SEEN_SECONDS = 24 * 3600.0
"""So long after it was seen, a reminder that nobody answered is taken as acknowledged."""

RETRY_SECONDS = 60.0
"""An item that can't be fired, because of a defect, is tried again after this."""

_STEADY = "steady"
_ZONE = "zone"


class Firing:
    """Looks what is due. One thread calls `look`."""

    def __init__(self, desk: Desk, leave: Leave, log: Logger | None = None) -> None:
        """Make it.

        Args:
            desk: The agenda's desk.
            leave: Whether Eris may do something of its own accord.
            log: Where defects are told.
        """
        self._desk = desk
        self._leave = leave
        self._log = log
        self._broken: dict[int, float] = {}
        self._held: set[tuple[int, int]] = set()
        self._ahead: tuple[str, float] | None = None
        """Run of the machine, and how far the wall clock was ahead of the steady one."""

    def look(self) -> float | None:
        """Fire what is due; returns when to look again, in seconds since the epoch.

        Raises:
            StorageError: It can't be written; nothing was fired that isn't on disk.
        """
        self._desk.looks += 1
        self._notice_clock()
        self._notice_zone()
        self._let_go()
        while self._fire_some():
            pass
        return self._next()

    # The clock and the zone.

    def _notice_clock(self) -> None:
        """Move timers by as much as the clock was set: they are elapsed time."""
        boot, steady = self._desk.clock.steady()
        ahead = self._desk.clock.wall() - steady
        before = self._ahead or self._ahead_before()
        if before is None or before[0] != boot or not boot:
            self._keep_ahead(boot, ahead)
        elif abs(ahead - before[1]) > JUMP_SECONDS:
            self._clock_was_set(boot, ahead, ahead - before[1])
        self._ahead = (boot, ahead)

    def _ahead_before(self) -> tuple[str, float] | None:
        text = self._desk.store.fact(_STEADY)
        if not text:
            return None
        boot, ahead = json.loads(text)
        return str(boot), float(ahead)

    def _keep_ahead(self, boot: str, ahead: float) -> None:
        self._desk.change(lambda change: change.store.keep_fact(_STEADY, json.dumps([boot, ahead])))

    def _clock_was_set(self, boot: str, ahead: float, by: float) -> None:
        moved = f"the clock was set {span_told(abs(by))} {'forward' if by > 0 else 'back'}"

        def work(change: Change) -> None:
            for item in change.store.with_times():
                if item.kind is ItemKind.TIMER:
                    change.note(change.put(_shifted(item, by)), "moved", moved)
            change.store.keep_fact(_STEADY, json.dumps([boot, ahead]))

        self._desk.change(work)
        if self._log is not None:
            self._log.info("clock-set", seconds=round(by, 1))

    def _notice_zone(self) -> None:
        """Work out anew what floats with the user's zone."""
        zone = self._desk.where().zone
        before = self._desk.store.fact(_ZONE)
        if zone == before:
            return

        def work(change: Change) -> None:
            for item in change.store.find((ItemState.OPEN,))[0] if before else ():
                if item.schedule is not None and not item.schedule.zone:
                    moved = _travelled(item, before, zone)
                    change.note(change.put(moved), "moved", f"the time zone is {zone} now")
            change.store.keep_fact(_ZONE, zone)

        self._desk.change(work)

    def _let_go(self) -> None:
        """Take as acknowledged what was seen a day ago; a task stays until it's done."""
        limit = self._desk.clock.wall() - SEEN_SECONDS
        for occurrence in self._desk.store.unended():
            seen = occurrence.state is OccurrenceState.SHOWN and 0 < occurrence.shown < limit
            if seen:
                self._desk.change(partial(_let_go, occurrence=occurrence))

    # Firing.

    def _fire_some(self) -> bool:
        now = int(self._desk.clock.wall())
        allowed = not self._leave.held_until(now)
        fired = False
        for item in self._desk.store.due(now, own=None if allowed else False):
            if self._broken.get(item.number, 0) > now:
                continue
            try:
                self._desk.change(partial(self._fire, number=item.number))
                fired = True
            except ErisError:
                raise
            except Exception:
                # A defect with one item must not keep all others from being told of.
                self._broken[item.number] = now + RETRY_SECONDS
                if self._log is None:
                    raise
                self._log.exception("item-not-fired", item=item.id)
            allowed = not self._leave.held_until(now)
            if not allowed and item.kind is ItemKind.SELF:
                break
        if not allowed:
            self._note_held(now)
        return fired

    def _fire(self, change: Change, number: int) -> None:
        item = change.store.item(number)
        if item is None or item.state is not ItemState.OPEN:
            return
        now = int(change.now)
        dues = due_until(item, change.where, now)
        verdicts = triage(item, dues, now, more=len(dues) >= MOST_AT_ONCE)
        for verdict in verdicts:
            if not change.store.claimed(item.number, verdict.due):
                item = self._claim(change, item, verdict)
        passed = max((due for due in dues if due not in item.extra), default=item.passed)
        left = tuple(due for due in item.extra if due not in dues)
        item = msgspec.structs.replace(item, passed=max(item.passed, passed), extra=left)
        change.put(change.ended(item, keep_tasks=True))

    def _claim(self, change: Change, item: Item, verdict: Verdict) -> Item:
        own = item.kind is ItemKind.SELF
        number = item.occurrences + 1
        item = msgspec.structs.replace(item, occurrences=number)
        state = OccurrenceState.SKIPPED
        if verdict.tell:
            state = OccurrenceState.CLAIMED if own else OccurrenceState.WAITING
        occurrence = Occurrence(
            item=item.number,
            due=verdict.due,
            number=number,
            state=state,
            fired=change.now,
            asked=prompt_of(item) if own else "",
        )
        if not verdict.tell:
            change.store.claim(occurrence)
            change.note(item, "skipped", verdict.reason, occurrence)
            return item
        if item.missed is not Missed.EACH:
            supersede(change, item, occurrence)
        change.store.claim(occurrence, own=change.now if own else 0)
        late = int(change.now) - verdict.due
        reason = f"{span_told(late)} late" if late >= LATE_SECONDS else ""
        change.note(item, "claimed" if own else "fired", reason, occurrence)
        if own:
            change.own_claimed = True
        else:
            change.told(item, occurrence, fired=True)
        return item

    # When to look again.

    def _next(self) -> float | None:
        now = self._desk.clock.wall()
        self._broken = {number: at for number, at in self._broken.items() if at > now}
        if self._broken:
            return now + RETRY_SECONDS
        others = self._desk.store.next_due(own=False)
        own = self._desk.store.next_due(own=True)
        if own is not None:
            until = self._leave.held_until(max(now, own))
            own = None if until == NEVER else int(max(own, until))
        return min((float(due) for due in (others, own) if due is not None), default=None)

    def _note_held(self, now: int) -> None:
        """Record, once, why a turn of Eris's own waits although it's due."""
        why = self._leave.why(now)
        for item in self._desk.store.due(now, own=True):
            held = (item.number, item.passed)
            if held not in self._held:
                self._held.add(held)
                self._desk.change(partial(Change.note, item=item, event="held", reason=why))


def supersede(change: Change, item: Item, newer: Occurrence) -> None:
    """End what is still unanswered of an item when it's due again.

    Args:
        change: The transaction.
        item: The item.
        newer: What takes their place.
    """
    told_for = told.iso(newer.due, change.where.zone)
    for older in change.store.unended(item.number):
        if older.state is OccurrenceState.SHOWN:
            reason = f"nobody answered before the next one, {told_for}"
            change.move(item, older, OccurrenceState.DISMISSED, reason)
        elif older.state is OccurrenceState.WAITING:
            reason = f"nobody is known to have seen it before the next one, {told_for}"
            change.move(item, older, OccurrenceState.SKIPPED, reason)


def _let_go(change: Change, occurrence: Occurrence) -> None:
    item = change.store.item(occurrence.item)
    if item is None or item.kind is ItemKind.TASK:
        return
    change.move(item, occurrence, OccurrenceState.DISMISSED, "seen a day ago, and not answered")
    if item.state is ItemState.OPEN:
        change.save(change.ended(item, keep_tasks=True))


def _travelled(item: Item, before: str, zone: str) -> Item:
    """Return an item that floats with the user, who is in another zone now.

    What is dealt with is dealt with by the wall clock: nobody is told of nine o'clock twice for
    having flown west.
    """
    wall = told.local(item.passed, before).replace(tzinfo=None)
    return msgspec.structs.replace(item, passed=int(zones.placed(wall, zone)[0].timestamp()))


def _shifted(item: Item, by: float) -> Item:
    if item.schedule is None or item.schedule.zone != "UTC" or item.schedule.rule:
        return item
    start = dt.datetime.fromisoformat(item.schedule.start) + dt.timedelta(seconds=round(by))
    schedule = msgspec.structs.replace(item.schedule, start=start.isoformat())
    passed = item.passed + round(by)
    return msgspec.structs.replace(item, schedule=schedule, passed=passed)
