"""Questions about the agenda: what there is, what happened, what would fire, how things stand."""

import datetime as dt
from contextlib import suppress

from actors.agenda import told
from actors.agenda.desk import Desk
from actors.agenda.due import Where, due_until, instants, triage
from actors.agenda.leave import NEVER, Leave
from actors.agenda.naming import Named
from actors.agenda.record import Entry, Item
from actors.agenda.spans import span_told
from eris.dates import Duration, Instant, Recurrence, understand
from eris.errors import InvalidError
from proto.agenda import (
    AgendaReport,
    ExplainItem,
    HistoryEntry,
    ItemHistory,
    ItemKind,
    Items,
    ItemState,
    ListItems,
    SimulateAgenda,
    Simulated,
    SimulatedFiring,
)

MOST_LISTED = 1_000
MOST_ENTRIES = 2_000
MOST_FIRINGS = 5_000


class Asking:
    """Answers; changes nothing."""

    def __init__(self, desk: Desk, named: Named, leave: Leave) -> None:
        """Make it."""
        self._desk = desk
        self._named = named
        self._leave = leave

    def items(self, request: ListItems) -> Items:
        """Return items, those that are due next first."""
        found, total = self._desk.store.find(
            request.states or tuple(ItemState),
            request.kinds,
            request.query.split(),
            limit=max(0, min(request.limit, MOST_LISTED)),
            offset=max(0, request.offset),
        )
        return Items(items=tuple(self._desk.item_view(item) for item in found), total=total)

    def explain(self, request: ExplainItem) -> ItemHistory:
        """Return the history of an item.

        Raises:
            NotFoundError: There is no such item.
        """
        item, _ = self._named.item(request.item)
        limit = max(1, min(request.limit, MOST_ENTRIES))
        entries, total = self._desk.store.history(item.number, limit)
        zone = self._desk.clock.zone()
        return ItemHistory(
            item=self._desk.item_view(item),
            entries=tuple(_entry(item, each, zone) for each in entries),
            total=total,
        )

    def simulate(self, request: SimulateAgenda) -> Simulated:
        """Return what would fire from now on.

        Raises:
            InvalidError: It isn't clear until when.
            NotFoundError: There is no such item.
        """
        now = int(self._desk.clock.wall())
        until = self._until(request.until)
        limit = max(1, min(request.limit, MOST_FIRINGS))
        where = self._desk.where()
        if request.item:
            items = [self._named.open_item(request.item)]
        else:
            items = self._desk.store.with_times()
        firings: list[SimulatedFiring] = []
        for item in items:
            firings += self._firings(item, where, now, until, limit + 1)
        firings.sort(key=lambda firing: (firing.due, firing.item))
        return Simulated(
            until=told.instant_told(until, where.zone),
            firings=tuple(firings[:limit]),
            cut=len(firings) > limit,
        )

    def _firings(
        self, item: Item, where: Where, now: int, until: int, limit: int
    ) -> list[SimulatedFiring]:
        come = due_until(item, where, now)
        dues = [verdict.due for verdict in triage(item, come, now) if verdict.tell]
        if item.schedule is not None:
            with suppress(InvalidError):  # a century after its start: it doesn't fire any more
                dues += instants(item.schedule, where, max(item.passed, now), limit)
        dues = sorted({*dues, *(due for due in item.extra if due > now)})
        return [
            SimulatedFiring(
                item=item.id,
                kind=item.kind,
                text=item.text,
                due=float(due),
                local=told.iso(due, where.zone),
                told=told.instant_told(due, where.zone),
                note=self._note(item, where, due, now),
            )
            for due in dues[:limit]
            if due <= until
        ]

    def _note(self, item: Item, where: Where, due: int, now: int) -> str:
        notes = []
        if due <= now:
            notes.append(f"it's due since {span_told(now - due)}")
        if item.kind is ItemKind.SELF:
            held = self._leave.held_until(due)
            if held == NEVER:
                notes.append(f"held back: {self._leave.why(due)}")
            elif held:
                at = told.instant_told(held, where.zone)
                notes.append(f"held back until {at}: {self._leave.why(due)}")
        schedule = item.schedule
        if schedule is not None and "BYHOUR" not in schedule.rule and due not in item.extra:
            elapsed = "HOURLY" in schedule.rule or "MINUTELY" in schedule.rule
            said = where.day_time if schedule.all_day else _time_of(schedule.start)
            at_time = told.local(due, schedule.zone or where.zone).time()
            if not elapsed and at_time != said:
                notes.append(f"the clocks skip {said:%H:%M} on that day")
        return "; ".join(notes)

    def _until(self, words: str) -> int:
        moment = self._desk.moment()
        meaning = understand(words, moment, self._desk.options()).meaning
        match meaning:
            case Recurrence():
                raise InvalidError(
                    f"{words!r} repeats; it doesn't say until when.",
                    hint="Say a date, such as 'in two weeks'.",
                )
            case Duration(ends=end):
                return int(end.timestamp())
            case Instant(all_day=True, local=local):
                end = dt.datetime.combine(local.date(), dt.time(23, 59, 59), local.tzinfo)
                return int(end.timestamp())
            case Instant(local=local):
                return int(local.timestamp())

    def describe(self) -> AgendaReport:
        """Return how things stand."""
        now = self._desk.clock.wall()
        zone = self._desk.where().zone
        store = self._desk.store
        due = store.next_due()
        upcoming, _ = store.find((ItemState.OPEN,), limit=1)
        pause = self._leave.paused_until(now)
        return AgendaReport(
            now=now,
            local=told.instant_told(int(now), zone),
            zone=zone,
            open=store.find((ItemState.OPEN,), limit=0)[1],
            waiting=len(store.unended()),
            next_item=upcoming[0].id if upcoming and due is not None else "",
            next_due=float(due or 0),
            next_told=told.instant_told(due, zone, now) if due is not None else "",
            own_turns_today=self._leave.taken_today(now),
            own_turns_limit=self._desk.settings.own_turns,
            quiet=self._leave.quiet(now),
            paused=bool(pause),
            paused_until=told.instant_told(pause, zone) if 0 < pause < NEVER else "",
            looks=self._desk.looks,
        )

    def pause_until(self, words: str) -> float:
        """Return the end of a pause that was said in words; `NEVER` for none.

        Raises:
            InvalidError: They aren't understood.
        """
        return float(self._until(words)) if words.strip() else NEVER


def _entry(item: Item, entry: Entry, zone: str) -> HistoryEntry:
    return HistoryEntry(
        at=entry.at,
        local=told.iso(entry.at, zone),
        event=entry.event,
        occurrence=f"{item.id}.{entry.occurrence}" if entry.occurrence else "",
        due_local=told.iso(entry.due, zone) if entry.due else "",
        reason=entry.reason,
    )


def _time_of(start: str) -> dt.time:
    return dt.datetime.fromisoformat(start).time().replace(microsecond=0)
