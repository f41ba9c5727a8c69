"""What everything that changes the agenda works with: the store, the clock, and who is told.

A change is one transaction; what it has to tell is told after it's on disk and before anybody can
attach in between.
"""

import datetime as dt
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import msgspec

from actors.agenda import told
from actors.agenda.due import Where, next_due
from actors.agenda.record import ANSWERABLE, NOTE_SOURCE, Entry, Item, Occurrence
from actors.agenda.spans import span_told
from actors.agenda.store import Store
from actors.agenda.timekeeping import Clock
from eris.config import AgendaSettings
from eris.dates import Options
from eris.errors import InvalidError
from proto.agenda import (
    AgendaChanged,
    ItemChanged,
    ItemKind,
    ItemState,
    ItemView,
    OccurrenceState,
    ReminderChanged,
    ReminderFired,
    ReminderView,
)

T = TypeVar("T")
Event = ReminderFired | ReminderChanged | ItemChanged

LATE_SECONDS = 60
"""From here on a reminder says that it's late."""

_CHANGED = msgspec.json.Decoder(AgendaChanged)


class Telling(Protocol):
    """Tells those who follow."""

    lock: threading.RLock
    """Held from before a change until it's told, so that a new follower misses nothing."""

    def tell(self, event: Event) -> None:
        """Tell of a change that is on disk. Never waits."""


class Desk:
    """One for the process. Every method may be called from any thread."""

    def __init__(
        self, store: Store, clock: Clock, telling: Telling, settings: AgendaSettings
    ) -> None:
        """Make it; nothing is read or written."""
        self.store = store
        self.clock = clock
        self.settings = settings
        self.looks = 0
        """How often it was looked what is due."""
        self.own_claimed: Callable[[], None] = lambda: None
        """Called when a turn of Eris's own has been claimed."""
        self._telling = telling
        self._zone = ""

    # Time.

    def where(self) -> Where:
        """Return what wall times depend on now."""
        zone = self.clock.zone()
        if zone != self._zone:
            if self._zone:
                self.clock.wake()  # what floats with the user is to be worked out anew
            self._zone = zone
        return Where(zone, dt.time.fromisoformat(self.settings.default_time))

    def moment(self) -> dt.datetime:
        """Return the time in the user's zone."""
        return told.local(self.clock.wall(), self.clock.zone())

    def options(self) -> Options:
        """Return how this user says dates."""
        return Options(
            first_weekday=self.settings.first_weekday,
            order=self.settings.date_order,
            default_time=dt.time.fromisoformat(self.settings.default_time),
        )

    # Changes.

    def change(self, work: Callable[["Change"], T]) -> T:
        """Do all of a change or nothing, then tell of it.

        Raises:
            StorageError: It can't be written; then nothing was done.
        """
        with self._telling.lock:
            change = Change(self.store, self.where(), self.clock.wall())
            done = self.store.transaction(lambda: work(change))
            for event in change.events:
                self._telling.tell(event)
        if change.saved:
            self.clock.wake()
        if change.own_claimed:
            self.own_claimed()
        return done

    def once(self, key: str, work: Callable[["Change"], AgendaChanged]) -> AgendaChanged:
        """Do a change that was asked for under a key; a second time it's only answered.

        Raises:
            InvalidError: There is no key.
        """
        if not key:
            raise InvalidError("The request has no key.", hint="Send a fresh random one.")

        def keyed(change: Change) -> AgendaChanged:
            known = self.store.result(key)
            if known is not None:
                return msgspec.structs.replace(_CHANGED.decode(known), repeated=True)
            answer = work(change)
            self.store.keep_result(key, msgspec.json.encode(answer), change.now)
            return answer

        return self.change(keyed)

    # Views.

    def item_view(self, item: Item) -> ItemView:
        """Return an item as others see it."""
        return item_view(self.store, item, self.where())

    def reminder_view(self, occurrence: Occurrence, item: Item | None = None) -> ReminderView:
        """Return an occurrence as surfaces see it."""
        return reminder_view(self.store, occurrence, self.where(), item)


@dataclass
class Change:
    """A transaction under way."""

    store: Store
    where: Where
    now: float
    """Seconds since the epoch."""
    events: list[Event] = field(default_factory=list)
    saved: bool = False
    own_claimed: bool = False

    def save(self, item: Item) -> Item:
        """Keep a changed item, with a new version, and tell of it."""
        item = msgspec.structs.replace(item, version=item.version + 1, changed=self.now)
        return self.put(item)

    def put(self, item: Item) -> Item:
        """Keep an item as it is, and tell of it."""
        self.store.save(item, next_due(item, self.where))
        if item.state is ItemState.DONE and item.source.startswith(NOTE_SOURCE):
            self.store.keep_to_tick(item.source, f"{item.id}.{item.version}")
        self.events.append(ItemChanged(item=item_view(self.store, item, self.where)))
        self.saved = True
        return item

    def move(
        self, item: Item, occurrence: Occurrence, state: OccurrenceState, reason: str = ""
    ) -> Occurrence:
        """Keep that an occurrence is in another state now, and tell of it."""
        occurrence = msgspec.structs.replace(occurrence, state=state)
        self.store.update(occurrence)
        self.note(item, state.value, reason, occurrence)
        self.told(item, occurrence)
        return occurrence

    def told(self, item: Item, occurrence: Occurrence, *, fired: bool = False) -> None:
        """Tell of an occurrence."""
        view = reminder_view(self.store, occurrence, self.where, item)
        self.events.append(
            ReminderFired(reminder=view) if fired else ReminderChanged(reminder=view)
        )

    def note(
        self, item: Item, event: str, reason: str = "", occurrence: Occurrence | None = None
    ) -> None:
        """Add to an item's history."""
        self.store.note(
            item.number,
            Entry(
                at=self.now,
                event=event,
                occurrence=occurrence.number if occurrence else 0,
                due=occurrence.due if occurrence else 0,
                reason=reason,
            ),
        )

    def ended(self, item: Item, *, keep_tasks: bool) -> Item:
        """Return an item, done if nothing more is to come of it.

        Args:
            item: An open one.
            keep_tasks: Whether a task stays open: nobody has said that it's done.
        """
        over = (
            item.state is ItemState.OPEN
            and next_due(item, self.where) is None
            and not self.store.unended(item.number)
        )
        if not over or (keep_tasks and item.kind is ItemKind.TASK):
            return item
        return msgspec.structs.replace(item, state=ItemState.DONE)


def item_view(store: Store, item: Item, where: Where) -> ItemView:
    """Return an item as others see it."""
    upcoming = next_due(item, where) if item.state is ItemState.OPEN else None
    waiting = store.unended(item.number) if item.occurrences else ()
    return ItemView(
        id=item.id,
        version=item.version,
        kind=item.kind,
        state=item.state,
        text=item.text,
        said=item.said,
        schedule=item.schedule,
        when=told.schedule_told(item.schedule, where) if item.schedule else "",
        next_due=float(upcoming or 0),
        next_local=told.iso(upcoming, where.zone) if upcoming else "",
        missed=item.missed,
        grace_s=item.grace_s,
        plan=item.plan,
        checklist=item.checklist,
        waiting=tuple(each.id for each in waiting),
        source=item.source,
        result=item.result,
        created=told.iso(item.created, where.zone),
        changed=told.iso(item.changed, where.zone),
    )


def reminder_view(
    store: Store, occurrence: Occurrence, where: Where, item: Item | None = None
) -> ReminderView:
    """Return an occurrence as surfaces see it."""
    item = item or store.item(occurrence.item)
    if item is None:
        raise InvalidError(f"The occurrence {occurrence.id} has no item.")
    late = max(0, int(occurrence.fired) - occurrence.due) if occurrence.fired else 0
    return ReminderView(
        occurrence=occurrence.id,
        item=item.id,
        kind=item.kind,
        state=occurrence.state,
        text=item.text,
        due=float(occurrence.due),
        due_local=told.instant_told(occurrence.due, where.zone),
        fired=occurrence.fired,
        late_s=late,
        late=f"{span_told(late)} late" if late >= LATE_SECONDS else "",
        answer=occurrence.answer,
        session=occurrence.session,
        turn=occurrence.turn,
        deliveries={each.surface: each.step for each in store.deliveries(occurrence)},
    )


def answerable(occurrences: Collection[Occurrence]) -> list[Occurrence]:
    """Return those that were told of and aren't acknowledged."""
    return [each for each in occurrences if each.state in ANSWERABLE]
