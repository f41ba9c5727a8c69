"""Tasks of notes that have a date, as items: listed, told of if wanted, ticked on both sides.

An item is bound to its note and to what its line says, without the marks of being done: a line that
was changed is another task, and the vault ticks nothing that says anything else. Nothing here is
told what changed: it compares what the notes have with what there is, so that nothing is missed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from actors.agenda.desk import Desk
from actors.agenda.record import NOTE_SOURCE, Item
from actors.agenda.service import Service
from eris.errors import ErisError
from eris.logs import Logger
from eris.vault.tasks import details_of, identity
from proto.agenda import AddItem, ChangeItem, ItemKind, ResolveItem, ResolveKind, Schedule
from proto.errors import ErrorCode
from proto.vault import TaskView

MOST_FROM_NOTES = 5_000
"""Tasks of notes that are mirrored; what is more is left in the notes."""
LONGEST_TEXT = 400

_REFUSED = frozenset({ErrorCode.INVALID, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT})


class TaskNotes(Protocol):
    """The notes, as far as their tasks go. Each method raises `ErisError`."""

    def open_tasks(self) -> tuple[list[TaskView], bool]:
        """Return all open tasks that have a date, and whether all notes were looked at."""

    def done_tasks(self, path: str) -> list[TaskView]:
        """Return the ticked tasks of a note; none if it isn't there."""

    def tick(self, task: TaskView, key: str) -> None:
        """Tick a task, if its line still says the same."""


class NoteTasks:
    """Compares; for one thread."""

    def __init__(self, service: Service, notes: TaskNotes, log: Logger, *, remind: bool) -> None:
        """Make it.

        Args:
            service: The agenda.
            notes: The vault's.
            log: Where it's told what can't be mirrored.
            remind: Whether tasks are told of on their day.
        """
        self._service = service
        self._desk: Desk = service.desk
        self._notes = notes
        self._log = log
        self._remind = remind

    def sync(self) -> None:
        """Tick what is done here, take in what is new or done there, let go what is gone.

        Raises:
            ErisError: The vault doesn't answer, or the agenda can't be written.
        """
        tasks, complete = self._notes.open_tasks()
        wanted = by_source(tasks[:MOST_FROM_NOTES])
        self._tick_done(wanted, complete=complete)
        known = {item.source: item for item in self._desk.store.from_notes()}
        gone = {source: item for source, item in known.items() if source not in wanted}
        for source, task in wanted.items():
            if source not in known:
                self._take_in(source, task, gone)
            elif self._remind:
                self._set_day(known[source], task)
        if complete and len(tasks) <= MOST_FROM_NOTES:
            for item in gone.values():
                self._let_go(item)

    def _tick_done(self, wanted: dict[str, TaskView], *, complete: bool) -> None:
        """Tick in the notes what was done here."""
        for source, done in self._desk.store.to_tick().items():
            task = wanted.pop(source, None)
            if task is None and not complete:
                continue
            if task is not None:
                try:
                    self._notes.tick(task, f"tick:{source}:{done}")
                except ErisError as error:
                    if error.code not in _REFUSED:
                        raise
                    # It says something else by now, or recurs by a rule that nobody understands.
                    self._log.warning("task-not-ticked", note=task.path, reason=error.message)
            self._ticked(source)

    def _ticked(self, source: str) -> None:
        self._desk.change(lambda change: change.store.keep_to_tick(source, ""))

    def _take_in(self, source: str, task: TaskView, gone: dict[str, Item]) -> None:
        moved = next((each for each in gone if _key(each) == _key(source)), None)
        if moved is not None:
            # The note has another name: what was set for the task stays.
            item = gone.pop(moved)
            self._service.change(ChangeItem(key=_fresh(source, item), item=item.id, source=source))
            return
        text, schedule = self._told(task)
        request = AddItem(
            key=f"{source}:{self._desk.store.next_number()}",
            kind=ItemKind.TASK,
            text=text,
            schedule=schedule,
            source=source,
            as_it_is=True,
        )
        try:
            self._service.add(request)
        except ErisError as error:
            if error.code not in _REFUSED:
                raise
            self._log.warning("task-not-taken", note=task.path, reason=error.message)

    def _set_day(self, item: Item, task: TaskView) -> None:
        """Have a task told of that was only listed before."""
        if item.schedule is not None or item.version > 1:
            return
        text, schedule = self._told(task)
        if schedule is not None:
            request = ChangeItem(
                key=_fresh("day", item), item=item.id, text=text, schedule=schedule
            )
            self._service.change(request)

    def _let_go(self, item: Item) -> None:
        """End an item whose task isn't open any more: it was ticked, changed or deleted."""
        path = item.source.removeprefix(NOTE_SOURCE).rpartition("#")[0]
        done = item.source in by_source(self._notes.done_tasks(path))
        action = ResolveKind.DONE if done else ResolveKind.REMOVE
        result = "ticked in the note" if done else ""
        self._service.resolve(
            ResolveItem(key=_fresh(action, item), item=item.id, action=action, result=result)
        )
        if done:
            self._ticked(item.source)

    def _told(self, task: TaskView) -> tuple[str, Schedule | None]:
        """Return what an item says of a task, and when it's told of."""
        details = details_of(task.text)
        if details is None or details.date is None:
            return task.text[:LONGEST_TEXT], None
        name, day = details.date
        text = (details.description or task.text)[:LONGEST_TEXT]
        asides = [details.priority] if details.priority else []
        asides += [details.recurrence] if details.recurrence else []
        if self._remind:
            schedule = Schedule(start=day.isoformat(), all_day=True)
            return text + (f" ({', '.join(asides)})" if asides else ""), schedule
        return f"{text} ({', '.join([f'{name} {day.isoformat()}', *asides])})", None


def by_source(tasks: Iterable[TaskView]) -> dict[str, TaskView]:
    """Return tasks by what binds items to them: note, words of the line, which of equal ones."""
    found: dict[str, TaskView] = {}
    times: Counter[str] = Counter()
    for task in tasks:
        digest = hashlib.sha256(identity(task.text).encode()).hexdigest()[:16]
        source = f"{NOTE_SOURCE}{task.path}#{digest}"
        times[source] += 1
        found[source if times[source] == 1 else f"{source}.{times[source]}"] = task
    return found


def _key(source: str) -> str:
    return source.rpartition("#")[2]


def _fresh(name: str, item: Item) -> str:
    """Return a key that is the same for the same change of the same state of an item."""
    return f"note:{name}:{item.id}:{item.version}"
