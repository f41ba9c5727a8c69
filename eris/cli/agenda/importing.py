"""Taking a calendar into the agenda, and writing the agenda as one."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from eris.agenda_calendar import Draft, draft_of, entry_of, is_over, same, uid_of
from eris.cli.asking import Ask, fresh_key
from eris.errors import InvalidError, RemoteError
from eris.icalendar_files import CalendarItem, ItemState, Skipped, read_calendar, write_calendar
from proto.agenda import (
    AddItem,
    AgendaChanged,
    AgendaReport,
    ChangeItem,
    DescribeAgenda,
    Items,
    ItemView,
    ListItems,
)
from proto.agenda import ItemState as AgendaState
from proto.errors import ErrorCode

_PAGE = 500


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a calendar."""

    added: tuple[str, ...] = ()
    """Ids; of a dry run empty texts."""
    changed: tuple[str, ...] = ()
    unchanged: int = 0
    """Entries that were there already, or whose item is done or removed."""
    over: int = 0
    """Entries that were left out because they're done, cancelled or in the past."""
    skipped: tuple[str, ...] = ()
    """Why entries couldn't be taken: line, UID and reason."""
    remarks: tuple[str, ...] = ()
    """What wasn't taken of entries that were."""
    dry_run: bool = False


def import_calendar(
    ask: Ask, data: bytes, day_time: dt.time, *, past: bool, dry_run: bool
) -> Imported:
    """Take a calendar in.

    Args:
        ask: Asks the agenda.
        data: The file.
        day_time: When the agenda tells of a day without a time.
        past: Whether to take what is over, too.
        dry_run: Only say what would be done.

    Raises:
        InvalidError: It's no calendar, or too large.
    """
    report = ask(DescribeAgenda(), AgendaReport)
    now = dt.datetime.fromtimestamp(report.now, dt.UTC)
    taken = read_calendar(data, year=now.year, home=report.zone)
    work = _Import(ask, _known(ask), day_time, report, dry_run=dry_run)
    for entry in taken.items:
        work.take(entry, past=past)
    return Imported(
        added=tuple(work.added),
        changed=tuple(work.changed),
        unchanged=work.unchanged,
        over=work.over,
        skipped=tuple(map(str, [*taken.skipped, *work.skipped])),
        remarks=tuple(map(str, [*taken.remarks, *work.remarks])),
        dry_run=dry_run,
    )


def export_calendar(
    ask: Ask, states: tuple[AgendaState, ...], day_time: dt.time
) -> tuple[bytes, int]:
    """Return the agenda as a calendar, and how many items are in it."""
    entries = [entry_of(item, day_time) for item in _items(ask, states)]
    return write_calendar(entries, written=dt.datetime.now(dt.UTC)), len(entries)


@dataclass
class _Import:
    """An import under way."""

    ask: Ask
    known: dict[str, ItemView]
    """Items of the agenda by UID: the open one, if there's one."""
    day_time: dt.time
    report: AgendaReport
    dry_run: bool
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    over: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    remarks: list[Skipped] = field(default_factory=list)

    def take(self, entry: CalendarItem, *, past: bool) -> None:
        """Take one entry in."""
        if entry.state is not ItemState.OPEN:
            self.over += 1
            return
        try:
            draft = draft_of(entry, self.day_time)
            item = self.known.get(entry.uid)
            if item is None:
                self._add(draft, past=past)
            elif item.state is not AgendaState.OPEN or same(item, draft):
                self.unchanged += 1
            else:
                self._change(item, draft)
        except (ValueError, InvalidError) as error:
            self.skipped.append(Skipped(entry.line, entry.uid, str(error)))
        except RemoteError as error:
            if error.code not in {ErrorCode.INVALID, ErrorCode.CONFLICT}:
                raise
            self.skipped.append(Skipped(entry.line, entry.uid, error.message))
        else:
            self.remarks += [Skipped(entry.line, entry.uid, each) for each in draft.remarks]

    def _add(self, draft: Draft, *, past: bool) -> None:
        if not past and self._is_over(draft):
            self.over += 1
            return
        if self.dry_run:
            self.added.append("")
            return
        request = AddItem(
            key=fresh_key(),
            kind=draft.kind,
            text=draft.text,
            schedule=draft.schedule,
            missed=draft.missed,
            grace_s=draft.grace_s,
            plan=draft.plan,
            checklist=draft.checklist,
            source=draft.source,
            as_it_is=True,
        )
        self.added.append(self.ask(request, AgendaChanged).item.id)

    def _change(self, item: ItemView, draft: Draft) -> None:
        if not self.dry_run:
            self._put(item, draft)
        self.changed.append(item.id)

    def _put(self, item: ItemView, draft: Draft) -> None:
        request = ChangeItem(
            key=fresh_key(),
            item=item.id,
            version=item.version,
            text=draft.text,
            when="" if draft.schedule is None else None,
            schedule=draft.schedule,
            missed=draft.missed,
            grace_s=draft.grace_s,
            plan=draft.plan,
            checklist=draft.checklist,
            # What was exported from here stays ours.
            source=draft.source if item.source else None,
        )
        self.ask(request, AgendaChanged)

    def _is_over(self, draft: Draft) -> bool:
        if draft.schedule is None:
            return False
        now = dt.datetime.fromtimestamp(self.report.now, dt.UTC)
        return is_over(draft.schedule, now, self.report.zone, self.day_time)


def _known(ask: Ask) -> dict[str, ItemView]:
    known: dict[str, ItemView] = {}
    for item in _items(ask, tuple(AgendaState)):
        uid = uid_of(item)
        if uid not in known or item.state is AgendaState.OPEN:
            known[uid] = item
    return known


def _items(ask: Ask, states: tuple[AgendaState, ...]) -> Iterator[ItemView]:
    offset = 0
    while True:
        page = ask(ListItems(states=states, limit=_PAGE, offset=offset), Items)
        yield from page.items
        offset += len(page.items)
        if not page.items or offset >= page.total:
            return
