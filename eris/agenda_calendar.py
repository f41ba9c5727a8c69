"""Items of the agenda as entries of a calendar and back; pure.

An entry of another calendar is mirrored: its source in the agenda has its UID and how long before
its start it's told of, so that reading the same calendar again adds nothing twice and writing it
gives back what was read.
"""

import datetime as dt
import re
from dataclasses import dataclass, replace

import msgspec

from eris.dates import Recurrence, occurrences
from eris.dates.zones import placed, zone_of
from eris.errors import InvalidError
from eris.icalendar_files import CalendarItem, ItemState, Kind, Moment
from proto.agenda import CheckItem, ItemKind, ItemView, Missed, Schedule
from proto.agenda import ItemState as AgendaState

_OURS = "@eris.invalid"
"""The end of UIDs that we make; a domain that nobody can have."""
_SOURCE = re.compile(r"ical(?P<lead>-?\d+)?:(?P<uid>.*)", re.DOTALL)
_LONGEST_TEXT = 500
"""What the agenda takes as a text."""
_NOT_LATER = dt.timedelta()
_DAY = dt.timedelta(days=1)

_STATES = {
    AgendaState.OPEN: ItemState.OPEN,
    AgendaState.DONE: ItemState.DONE,
    AgendaState.REMOVED: ItemState.CANCELLED,
}


@dataclass(frozen=True)
class Draft:
    """What is to be added to the agenda for an entry, or what an item of it should be."""

    kind: ItemKind
    text: str
    schedule: Schedule | None
    source: str
    missed: Missed | None = None
    grace_s: int | None = None
    plan: str = ""
    checklist: tuple[CheckItem, ...] = ()
    remarks: tuple[str, ...] = ()
    """What isn't taken of the entry."""


def uid_of(item: ItemView) -> str:
    """Return what names an item in every calendar."""
    mirrored = _SOURCE.fullmatch(item.source)
    if mirrored:
        return mirrored["uid"]
    created = int(dt.datetime.fromisoformat(item.created).timestamp())
    return f"{item.id}.{created:x}{_OURS}"


def entry_of(item: ItemView, day_time: dt.time) -> CalendarItem:
    """Return the entry of a calendar for an item.

    Args:
        item: The item.
        day_time: When the agenda tells of a day without a time.
    """
    task = item.kind is ItemKind.TASK
    own = {} if item.kind in {ItemKind.TASK, ItemKind.REMINDER} else {"KIND": str(item.kind)}
    if item.missed is not Missed.ONCE:
        own["MISSED"] = str(item.missed)
    if item.schedule is not None:
        own["GRACE"] = str(item.grace_s)
    if item.checklist:
        own["CHECKLIST"] = msgspec.json.encode(item.checklist).decode()
    entry = CalendarItem(
        uid=uid_of(item),
        kind=Kind.TASK if task else Kind.EVENT,
        title=item.text,
        notes=item.plan,
        state=_STATES[item.state],
        own=own,
    )
    return _at(entry, item, item.schedule, day_time) if item.schedule is not None else entry


def _at(entry: CalendarItem, item: ItemView, schedule: Schedule, day_time: dt.time) -> CalendarItem:
    mirrored = _SOURCE.fullmatch(item.source)
    lead = dt.timedelta(seconds=int((mirrored and mirrored["lead"]) or 0))
    zone, own = schedule.zone, dict(entry.own)
    if schedule.all_day:
        alarm = dt.timedelta(hours=day_time.hour, minutes=day_time.minute)
        zone = ""
    else:
        alarm = lead
    start = _moment(schedule.start, schedule)
    title = entry.title
    if lead and isinstance(start, dt.datetime):
        start -= lead
        title = title.removesuffix(_suffix(start))
    if schedule.fold and isinstance(start, dt.datetime):
        # The second of two equal times has no form of its own but UTC.
        own["ZONE"] = zone
        start, zone = _as_utc(start, zone), "UTC"
    return replace(
        entry,
        title=title,
        start=start,
        zone=zone,
        rule=schedule.rule,
        also=tuple(_moved(_moment(each, schedule), -lead) for each in schedule.also),
        excluded=tuple(_moved(_moment(each, schedule), -lead) for each in schedule.excluded),
        alarms=(alarm,),
        own=own,
    )


def draft_of(entry: CalendarItem, day_time: dt.time) -> Draft:
    """Return what is to be in the agenda for an entry of a calendar.

    It's told of at the alarm nearest to its start, or at its start if it has none; a day without
    an alarm at the agenda's time for days.

    Args:
        entry: An open one.
        day_time: When the agenda tells of a day without a time.

    Raises:
        ValueError: What Eris wrote into it makes no sense any more; the text says what.
    """
    kind = ItemKind.TASK if entry.kind is Kind.TASK else ItemKind(entry.own.get("KIND", "reminder"))
    schedule, lead, remarks = _schedule(entry, day_time)
    title = entry.title
    if lead and isinstance(entry.start, dt.datetime):
        suffix = _suffix(entry.start)
        title = title[: _LONGEST_TEXT - len(suffix)] + suffix
    grace = entry.own.get("GRACE")
    return Draft(
        kind=kind,
        text=title[:_LONGEST_TEXT],
        schedule=schedule,
        source=f"ical{int(lead.total_seconds()) or ''}:{entry.uid}",
        missed=Missed(entry.own.get("MISSED", Missed.ONCE)),
        grace_s=int(grace) if grace is not None else None,
        plan=entry.notes if kind is ItemKind.SELF else "",
        checklist=_checklist(entry.own.get("CHECKLIST", "[]")),
        remarks=remarks,
    )


def same(item: ItemView, draft: Draft) -> bool:
    """Whether an item is what an entry says already."""
    return (
        item.kind == draft.kind
        and item.text == draft.text
        and item.schedule == draft.schedule
        and item.plan == draft.plan
        and item.checklist == draft.checklist
        and draft.missed in {None, item.missed}
        and draft.grace_s in {None, item.grace_s}
    )


def _schedule(
    entry: CalendarItem, day_time: dt.time
) -> tuple[Schedule | None, dt.timedelta, tuple[str, ...]]:
    """Return when to tell of an entry, how long after its start that is, and what isn't taken."""
    start, alarm = entry.start, _nearest(entry.alarms)
    remarks = ("only the alarm nearest to its start is taken",) if len(entry.alarms) > 1 else ()
    if start is None:
        return None, _NOT_LATER, ()
    if not isinstance(start, dt.datetime):
        schedule, more = _on_days(entry, start, alarm, day_time)
        return schedule, _NOT_LATER, (*remarks, *more)
    if not alarm:
        return _written(entry, start), _NOT_LATER, remarks
    if not _recurs(entry) or _can_move(entry, start, alarm):
        return _written(entry, start, alarm), alarm, remarks
    remark = "it's told of at its start: an alarm on another day isn't taken"
    return _written(entry, start), _NOT_LATER, (*remarks, remark)


def _on_days(
    entry: CalendarItem, start: dt.date, alarm: dt.timedelta | None, day_time: dt.time
) -> tuple[Schedule, tuple[str, ...]]:
    at = dt.datetime.combine(start, dt.time())
    if alarm is None or at + alarm == dt.datetime.combine(start, day_time):
        return _written(entry, start), ()
    if _recurs(entry) and not _NOT_LATER <= alarm < _DAY:
        remark = f"it's told of on its day at {day_time:%H:%M}: an alarm on another day isn't taken"
        return _written(entry, start), (remark,)
    return _written(_on_times(entry, at + alarm), at + alarm), ()


def _nearest(alarms: tuple[dt.timedelta, ...]) -> dt.timedelta | None:
    before = [alarm for alarm in alarms if alarm <= _NOT_LATER]
    return max(before) if before else min(alarms, default=None)


def _recurs(entry: CalendarItem) -> bool:
    return bool(entry.rule or entry.also)


def _can_move(entry: CalendarItem, start: dt.datetime, alarm: dt.timedelta) -> bool:
    """Whether a rule means the same days if all its times are moved so much."""
    hours = "BYHOUR" in entry.rule or "BYMINUTE" in entry.rule or "HOURLY" in entry.rule
    times = [start, *entry.also, *entry.excluded]
    return not hours and all(
        isinstance(each, dt.datetime) and (each + alarm).date() == each.date() for each in times
    )


def _on_times(entry: CalendarItem, at: dt.datetime) -> CalendarItem:
    """Return an entry for days as one for times of those days."""
    time = at.time()
    return replace(
        entry,
        also=tuple(dt.datetime.combine(each, time) for each in entry.also),
        excluded=tuple(dt.datetime.combine(each, time) for each in entry.excluded),
    )


def _written(entry: CalendarItem, start: Moment, later: dt.timedelta = _NOT_LATER) -> Schedule:
    zone, fold = entry.zone, 0
    if isinstance(start, dt.datetime) and zone == "UTC" and (own := entry.own.get("ZONE")):
        local = start.replace(tzinfo=dt.UTC).astimezone(zone_of(own))
        start, zone, fold = local.replace(tzinfo=None, fold=0), own, local.fold
    return Schedule(
        start=_moved(start, later).isoformat(),
        zone=zone,
        all_day=not isinstance(start, dt.datetime),
        rule=entry.rule,
        fold=fold,
        excluded=tuple(_moved(each, later).isoformat() for each in entry.excluded),
        also=tuple(_moved(each, later).isoformat() for each in entry.also),
    )


def _moved(moment: Moment, later: dt.timedelta) -> Moment:
    return moment + later


def _moment(text: str, schedule: Schedule) -> Moment:
    return dt.date.fromisoformat(text) if schedule.all_day else dt.datetime.fromisoformat(text)


def _suffix(start: dt.datetime) -> str:
    """What says when an entry begins that is told of at another time."""
    return f" ({start:%H:%M})"


def _as_utc(wall: dt.datetime, zone: str) -> dt.datetime:
    return wall.replace(tzinfo=zone_of(zone), fold=1).astimezone(dt.UTC).replace(tzinfo=None)


def _checklist(text: str) -> tuple[CheckItem, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[CheckItem, ...])
    except msgspec.DecodeError as error:
        raise ValueError("its X-ERIS-CHECKLIST isn't one") from error


def is_over(schedule: Schedule, now: dt.datetime, home: str, day_time: dt.time) -> bool:
    """Whether nothing of a schedule is to come.

    Args:
        schedule: The schedule.
        now: Aware.
        home: The user's zone, in which floating times are.
        day_time: When the agenda tells of a day without a time.

    Raises:
        InvalidError: Its rule or zone makes no sense.
    """
    zone = schedule.zone or home or "UTC"
    start = _wall(schedule.start, day_time)
    if any(placed(_wall(each, day_time), zone)[0] > now for each in schedule.also):
        return False
    if not schedule.rule:
        return placed(start, zone)[0] <= now
    rule = Recurrence(
        rule=schedule.rule,
        start=start,
        first=placed(start, zone)[0],
        zone=zone,
        time_said=not schedule.all_day,
    )
    if not occurrences(rule, rule.first - dt.timedelta(seconds=1), limit=1):
        raise InvalidError(
            f"The rule {schedule.rule[:80]!r} never fires from {schedule.start} on.",
            hint="Let it end after it starts, and name days that exist.",
        )
    return not occurrences(rule, now, limit=1)


def _wall(text: str, day_time: dt.time) -> dt.datetime:
    wall = dt.datetime.fromisoformat(text)
    return wall if "T" in text else dt.datetime.combine(wall, day_time)
