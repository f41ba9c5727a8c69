"""Done, put off, seen, taken away: what people and models do with items and occurrences."""

import math

import msgspec

from actors.agenda import told
from actors.agenda.adding import NAMES
from actors.agenda.desk import Change, Desk, answerable
from actors.agenda.due import next_due
from actors.agenda.naming import Named
from actors.agenda.record import ANSWERABLE, Item, Occurrence
from actors.agenda.spans import ahead_told
from eris.dates import Duration, Instant, Recurrence, understand
from eris.errors import ConflictError, InvalidError
from proto.agenda import (
    AgendaChanged,
    ItemState,
    OccurrenceState,
    ResolveItem,
    ResolveKind,
)

LONGEST_RESULT = 1_000


class Resolving:
    """Resolves."""

    def __init__(self, desk: Desk, named: Named) -> None:
        """Make it."""
        self._desk = desk
        self._named = named

    def resolve(self, request: ResolveItem) -> AgendaChanged:
        """Do with an item or an occurrence what is asked.

        Raises:
            NotFoundError: Nothing is called that.
            InvalidError: Several things are, or it makes no sense.
            ConflictError: It isn't open, or not waiting, any more.
        """

        def work(change: Change) -> AgendaChanged:
            item, occurrence = self._named.any(request.item)
            if item.state is not ItemState.OPEN:
                raise ConflictError(
                    f"{item.id} ({item.text}) is {item.state} already.", hint="Nothing was changed."
                )
            if occurrence is not None and occurrence.state not in ANSWERABLE:
                raise ConflictError(
                    f"{occurrence.id} ({item.text}) is {occurrence.state} already.",
                    hint="Nothing was changed.",
                )
            match request.action:
                case ResolveKind.DONE:
                    item, receipt = self._done(change, item, occurrence, request.result)
                case ResolveKind.DISMISS:
                    item, receipt = self._dismissed(change, item, occurrence)
                case ResolveKind.SNOOZE:
                    item, receipt = self._snoozed(change, item, occurrence, request.when)
                case ResolveKind.REMOVE:
                    item, receipt = self._removed(change, item)
            return AgendaChanged(item=self._desk.item_view(item), receipt=receipt)

        return self._desk.once(request.key, work)

    def _done(
        self, change: Change, item: Item, occurrence: Occurrence | None, result: str
    ) -> tuple[Item, str]:
        waiting = self._meant(change, item, occurrence)
        ahead = next_due(item, change.where)
        if not waiting and item.schedule is not None and item.schedule.rule and ahead is not None:
            item, done = self._done_before(change, item, ahead)
            waiting = [done]
        for each in waiting:
            change.move(item, each, OccurrenceState.DONE, result[:LONGEST_RESULT])
        item = msgspec.structs.replace(item, result=result[:LONGEST_RESULT] or item.result)
        repeats = item.schedule is not None and bool(item.schedule.rule)
        following = next_due(item, change.where)
        if (repeats or occurrence is not None) and following is not None:
            item = change.save(item)
            next_told = told.instant_told(following, change.where.zone)
            return item, f"completed {item.id} for this time, next on {next_told}: {item.text}"
        item = change.save(msgspec.structs.replace(item, state=ItemState.DONE, extra=()))
        if not waiting:
            change.note(item, "done", result[:LONGEST_RESULT])
        return item, f"completed {item.id}: {item.text}"

    def _done_before(self, change: Change, item: Item, due: int) -> tuple[Item, Occurrence]:
        """Take the next time of a recurring item as done before it was due."""
        number = item.occurrences + 1
        occurrence = Occurrence(
            item=item.number, due=due, number=number, state=OccurrenceState.WAITING
        )
        item = _without(item, due, number)
        change.store.claim(occurrence)
        change.note(item, "claimed", "done before it was due", occurrence)
        return item, occurrence

    def _dismissed(
        self, change: Change, item: Item, occurrence: Occurrence | None
    ) -> tuple[Item, str]:
        waiting = self._meant(change, item, occurrence)
        if not waiting:
            raise ConflictError(f"Nothing of {item.id} ({item.text}) waits for an answer.")
        for each in waiting:
            change.move(item, each, OccurrenceState.DISMISSED)
        item = change.save(change.ended(item, keep_tasks=True))
        return item, f"dismissed {occurrence.id if occurrence else item.id}: {item.text}"

    def _snoozed(
        self, change: Change, item: Item, occurrence: Occurrence | None, when: str
    ) -> tuple[Item, str]:
        due = self._put_off_to(when)
        while change.store.claimed(item.number, due):
            due += 1
        waiting = self._meant(change, item, occurrence)
        at = told.instant_told(due, change.where.zone)
        ahead = next_due(item, change.where)
        if not waiting and ahead is not None:
            number = item.occurrences + 1
            skipped = Occurrence(
                item=item.number, due=ahead, number=number, state=OccurrenceState.WAITING
            )
            item = _without(item, ahead, number)
            change.store.claim(skipped)
            waiting = [skipped]
        for each in waiting:
            change.move(item, each, OccurrenceState.SNOOZED, f"until {at}")
        item = msgspec.structs.replace(item, extra=tuple(sorted({*item.extra, due})))
        item = change.save(item)
        if not waiting:
            change.note(item, "snoozed", f"until {at}")
        return (
            item,
            f"snoozed {item.id} until {at}, {ahead_told(due - math.ceil(change.now))}: {item.text}",
        )

    def _put_off_to(self, when: str) -> int:
        words = when.strip() or f"in {self._desk.settings.snooze_minutes} minutes"
        meaning = understand(words, self._desk.moment(), self._desk.options()).meaning
        match meaning:
            case Recurrence():
                raise InvalidError(
                    f"{words!r} repeats; a reminder is put off once.",
                    hint="Say one time, such as 'in 10 minutes'.",
                )
            case Instant(local=moment) | Duration(ends=moment):
                return math.ceil(moment.timestamp())

    def _removed(self, change: Change, item: Item) -> tuple[Item, str]:
        for each in change.store.unended(item.number):
            change.move(item, each, OccurrenceState.DISMISSED, "the item was removed")
        item = change.save(msgspec.structs.replace(item, state=ItemState.REMOVED, extra=()))
        change.note(item, "removed")
        return item, f"removed {NAMES[item.kind]} {item.id}: {item.text}"

    def _meant(self, change: Change, item: Item, occurrence: Occurrence | None) -> list[Occurrence]:
        if occurrence is not None:
            return [occurrence]
        return answerable(change.store.unended(item.number))


def _without(item: Item, due: int, number: int) -> Item:
    """Return an item whose next time is dealt with."""
    extra = tuple(each for each in item.extra if each != due)
    passed = item.passed if due in item.extra else max(item.passed, due)
    return msgspec.structs.replace(item, extra=extra, passed=passed, occurrences=number)
