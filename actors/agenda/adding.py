"""Adding and changing items."""

import math
from collections.abc import Sequence

import msgspec

from actors.agenda import told
from actors.agenda.desk import Change, Desk
from actors.agenda.due import checked, next_due, schedule_of
from actors.agenda.naming import Named
from actors.agenda.record import Item
from actors.agenda.spans import ahead_told
from eris.dates import Meant, Recurrence, find, understand
from eris.errors import ConflictError, InvalidError
from proto.agenda import (
    AddItem,
    AgendaChanged,
    ChangeItem,
    CheckItem,
    ItemKind,
    ItemState,
    Missed,
    Schedule,
)

GRACE_SECONDS = 300
"""A delay that doesn't count as missed, if nothing else is said."""

MOST_OPEN = 100_000
LONGEST_TEXT = 500
LONGEST_PLAN = 4_000
MOST_STEPS = 50
LONGEST_STEP = 200
LONGEST_GRACE = 366 * 86_400

NAMES = {
    ItemKind.TASK: "task",
    ItemKind.REMINDER: "reminder",
    ItemKind.ALARM: "alarm",
    ItemKind.TIMER: "timer",
    ItemKind.SELF: "reminder to myself",
}
"""What items are called in receipts."""


class When(msgspec.Struct, frozen=True, kw_only=True):
    """When, as it was asked for and as it's kept."""

    text: str
    """What is left of the text without the words about time."""
    schedule: Schedule | None = None
    said: str = ""
    assumed: tuple[str, ...] = ()


class Adding:
    """Adds and changes."""

    def __init__(self, desk: Desk, named: Named) -> None:
        """Make it."""
        self._desk = desk
        self._named = named

    def add(self, request: AddItem, meant: Meant | None = None) -> AgendaChanged:
        """Add an item.

        Args:
            request: What is wanted.
            meant: A time that was understood already, instead of its words.

        Raises:
            InvalidError: It makes no sense.
        """

        def work(change: Change) -> AgendaChanged:
            if request.source and (known := self._desk.store.by_source(request.source)):
                return AgendaChanged(
                    item=self._desk.item_view(known),
                    receipt=f"{known.id} was there already",
                    repeated=True,
                )
            when = self._when(request, meant)
            return self._added(change, request, when)

        return self._desk.once(request.key, work)

    def _added(self, change: Change, request: AddItem, when: When) -> AgendaChanged:
        store = self._desk.store
        if store.find((ItemState.OPEN,), limit=0)[1] >= MOST_OPEN:
            raise InvalidError(
                f"{MOST_OPEN:,} items are open already.", hint="Remove some that aren't needed."
            )
        item = change.put(
            Item(
                number=store.next_number(),
                kind=request.kind,
                text=_text(when.text, request.kind),
                said=when.said,
                schedule=when.schedule,
                missed=request.missed or Missed.ONCE,
                grace_s=_grace(request.grace_s),
                passed=int(change.now),
                plan=_plan(request.plan),
                checklist=_checklist(request.checklist),
                source=request.source,
                created=change.now,
                changed=change.now,
            )
        )
        change.note(item, "added", f"said: {when.said}" if when.said else "")
        return AgendaChanged(
            item=self._desk.item_view(item),
            receipt=self._receipt(item, change),
            assumed=when.assumed,
        )

    def change(self, request: ChangeItem) -> AgendaChanged:
        """Change an open item.

        Raises:
            NotFoundError: There is no such item.
            ConflictError: It isn't open, or has another version.
            InvalidError: What it's to become makes no sense.
        """

        def work(change: Change) -> AgendaChanged:
            item = self._named.open_item(request.item)
            if request.version and request.version != item.version:
                raise ConflictError(
                    f"{item.id} has version {item.version}, not {request.version}.",
                    hint="Look at it again: somebody has changed it.",
                )
            item, assumed = self._changed(item, request, change)
            item = change.save(item)
            change.note(item, "changed", _differences(request))
            return AgendaChanged(
                item=self._desk.item_view(item),
                receipt=self._receipt(item, change).replace("set ", "changed ", 1),
                assumed=assumed,
            )

        return self._desk.once(request.key, work)

    def _changed(
        self, item: Item, request: ChangeItem, change: Change
    ) -> tuple[Item, tuple[str, ...]]:
        plain: dict[str, object] = {"missed": request.missed}
        if request.text is not None:
            plain["text"] = _text(request.text, item.kind)
        if request.grace_s is not None:
            plain["grace_s"] = _grace(request.grace_s)
        if request.plan is not None:
            plain["plan"] = _plan(request.plan)
        if request.checklist is not None:
            plain["checklist"] = _checklist(request.checklist)
        if request.source is not None:
            plain["source"] = self._source(item, request.source)
        given = {name: value for name, value in plain.items() if value is not None}
        return self._rescheduled(msgspec.structs.replace(item, **given), request, change)

    def _rescheduled(
        self, item: Item, request: ChangeItem, change: Change
    ) -> tuple[Item, tuple[str, ...]]:
        schedule, said = request.schedule, ""
        assumed: tuple[str, ...] = ()
        if schedule is None and request.when is None:
            return item, ()
        if schedule is not None:
            schedule = checked(schedule, change.where)
        elif request.when:
            meant = understand(request.when, self._desk.moment(), self._desk.options())
            schedule, said, assumed = self._kept(meant, item.kind), meant.words, meant.assumed
        elif item.kind is not ItemKind.TASK:
            raise InvalidError(
                f"{item.id} is a {NAMES[item.kind]} and needs a time.", hint="Or remove it."
            )
        replace = msgspec.structs.replace
        passed = int(change.now)
        item = replace(item, schedule=schedule, said=said, passed=passed, extra=())
        return item, assumed

    def _source(self, item: Item, source: str) -> str:
        other = self._desk.store.by_source(source) if source else None
        if other is not None and other.number != item.number:
            raise ConflictError(f"{other.id} has the source {source!r} already.")
        return source

    def _when(self, request: AddItem, meant: Meant | None) -> When:
        if meant is not None:
            return self._understood(meant, request.text, request.kind)
        if request.schedule is not None:
            schedule = checked(request.schedule, self._desk.where())
            return When(text=request.text, schedule=schedule)
        if request.as_it_is and not request.when:
            if request.kind is not ItemKind.TASK:
                raise InvalidError(
                    f"A {NAMES[request.kind]} needs a time.", hint="Give it, or make it a task."
                )
            return When(text=request.text)
        now, options = self._desk.moment(), self._desk.options()
        if request.when:
            words = understand(request.when, now, options)
            return self._understood(words, request.text, request.kind)
        try:
            found = find(request.text, now, options)
        except InvalidError:
            if request.kind is ItemKind.TASK:
                return When(text=request.text)
            raise
        return self._understood(found.meant, found.rest or request.text, request.kind)

    def _understood(self, meant: Meant, text: str, kind: ItemKind) -> When:
        return When(
            text=text, schedule=self._kept(meant, kind), said=meant.words, assumed=meant.assumed
        )

    def _kept(self, meant: Meant, kind: ItemKind) -> Schedule:
        if kind is ItemKind.TIMER and isinstance(meant.meaning, Recurrence):
            raise InvalidError(
                f"A timer runs once, and {meant.words!r} repeats.",
                hint="Make it a reminder or an alarm.",
            )
        return schedule_of(meant.meaning, kind)

    def _receipt(self, item: Item, change: Change) -> str:
        name = f"{NAMES[item.kind]} {item.id}"
        due = next_due(item, change.where)
        if item.schedule is None:
            return f"added {name}: {item.text}"
        if due is None:
            return f"added {name}, whose time has passed: {item.text}"
        at = told.instant_told(due, change.where.zone)
        if item.schedule.rule:
            rule = told.schedule_told(item.schedule, change.where)
            return f"set {name}, {rule}, next on {at}: {item.text}"
        return f"set {name} for {at}, {ahead_told(due - math.ceil(change.now))}: {item.text}"


def _text(text: str, kind: ItemKind) -> str:
    line = " ".join(text.split())
    if not line and kind in {ItemKind.ALARM, ItemKind.TIMER}:
        return kind.value.capitalize()
    if not line:
        raise InvalidError("What is it about?", hint="Say it in a few words.")
    if len(line) > LONGEST_TEXT:
        raise InvalidError(
            f"The text has {len(line)} characters; {LONGEST_TEXT} are the limit.",
            hint="Put long text into a note and name the note.",
        )
    return line


def _plan(plan: str) -> str:
    if len(plan) > LONGEST_PLAN:
        raise InvalidError(
            f"The plan has {len(plan)} characters; {LONGEST_PLAN} are the limit.",
            hint="Put it into a note and name the note.",
        )
    return plan.strip()


def _checklist(steps: Sequence[CheckItem]) -> tuple[CheckItem, ...]:
    if len(steps) > MOST_STEPS:
        raise InvalidError(
            f"The checklist has {len(steps)} steps; {MOST_STEPS} are the limit.",
            hint="Make it several items.",
        )
    for number, step in enumerate(steps, 1):
        if not step.text.strip() or len(step.text.splitlines()) > 1:
            raise InvalidError(
                f"Step {number} of the checklist isn't one line: {step.text[:60]!r}.",
                hint="Give each line as a step of its own.",
            )
        if len(step.text) > LONGEST_STEP:
            raise InvalidError(
                f"Step {number} of the checklist has {len(step.text)} characters; "
                f"{LONGEST_STEP} are the limit.",
                hint="Say it shorter.",
            )
    return tuple(CheckItem(text=step.text.strip(), done=step.done) for step in steps)


def _grace(seconds: int | None) -> int:
    if seconds is None:
        return GRACE_SECONDS
    if not 0 <= seconds <= LONGEST_GRACE:
        raise InvalidError(
            f"A grace time of {seconds} seconds makes no sense.",
            hint=f"Say 0 to {LONGEST_GRACE} seconds.",
        )
    return seconds


def _differences(request: ChangeItem) -> str:
    fields = ("text", "when", "schedule", "missed", "grace_s", "plan", "checklist", "source")
    return ", ".join(name for name in fields if getattr(request, name) is not None)
