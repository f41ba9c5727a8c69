"""When items are due, and what becomes of times that went by: pure functions."""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from actors.agenda.record import Item
from actors.agenda.spans import span_told
from eris.dates import Duration, Instant, Meaning, Recurrence, occurrences, zones
from eris.dates.rules import MOST_OCCURRENCES
from eris.errors import InvalidError
from proto.agenda import ItemKind, Missed, Schedule

MOST_AT_ONCE = 500
"""Due times of one item that are dealt with in one transaction."""

MOST_EXCEPTIONS = 1_000
"""Single times that a schedule may have besides its rule."""

_FIRST_LOOK = 2
"""So many times of a rule are worked out first: mostly one has come."""

_A_MOMENT = dt.timedelta(seconds=1)


@dataclass(frozen=True)
class Where:
    """What a wall time depends on."""

    zone: str
    """The user's, an IANA name."""
    day_time: dt.time
    """When a day without a time is told of."""


@dataclass(frozen=True)
class Verdict:
    """What to do about one due time."""

    due: int
    tell: bool
    reason: str = ""
    """Why it's not told of."""


def schedule_of(meaning: Meaning, kind: ItemKind) -> Schedule:
    """Return what is kept of words that were understood.

    A timer is elapsed time: it's kept in UTC, which no zone moves.
    """
    match meaning:
        case Recurrence():
            return Schedule(
                start=meaning.start.replace(microsecond=0).isoformat(),
                zone=meaning.zone,
                rule=meaning.rule,
            )
        case Instant(all_day=True):
            return Schedule(start=meaning.local.date().isoformat(), all_day=True)
        case Instant():
            local, zone = meaning.local, meaning.zone
        case Duration():
            local, zone = meaning.ends, meaning.zone
    whole = dt.datetime.fromtimestamp(math.ceil(local.timestamp()), local.tzinfo)
    if kind is ItemKind.TIMER:
        whole, zone = whole.astimezone(dt.UTC), "UTC"
    return Schedule(
        start=whole.replace(tzinfo=None, fold=0).isoformat(), zone=zone, fold=whole.fold
    )


def checked(schedule: Schedule, where: Where) -> Schedule:
    """Return a schedule that can be kept.

    Raises:
        InvalidError: Its start isn't a time, its zone doesn't exist, or its rule is wrong or never
            fires.
    """
    start = _start(schedule, where)
    zone = schedule.zone or where.zone
    zones.zone_of(zone)
    if len(schedule.also) + len(schedule.excluded) > MOST_EXCEPTIONS:
        raise InvalidError(
            f"The schedule has more than {MOST_EXCEPTIONS:,} single times besides its rule.",
            hint="Begin it anew, without those that have passed.",
        )
    _each(schedule, (*schedule.also, *schedule.excluded), where)
    if schedule.rule:
        before = zones.placed(start, zone)[0] - _A_MOMENT
        if not _by_rule(schedule, where, before, 1):
            raise InvalidError(
                f"The rule {schedule.rule[:80]!r} never fires from {schedule.start} on.",
                hint="Let it end after it starts, and name days that exist.",
            )
    return schedule


def instants(schedule: Schedule, where: Where, after: int, limit: int) -> list[int]:
    """Return the schedule's times after an instant, in seconds since the epoch, rising.

    Raises:
        InvalidError: It can't be worked out any more, such as a century after its start.
    """
    also = _each(schedule, schedule.also, where)
    if not schedule.rule:
        return sorted(due for due in also | {_once(schedule, where)} if due > after)[:limit]
    zone = zones.zone_of(schedule.zone or where.zone)
    excluded = _each(schedule, schedule.excluded, where)
    wanted = min(limit + len(excluded), MOST_OCCURRENCES)
    moments = _by_rule(schedule, where, dt.datetime.fromtimestamp(after, zone), wanted)
    by_rule = {math.ceil(moment.timestamp()) for moment in moments} - excluded
    return sorted(by_rule | {due for due in also if due > after})[:limit]


def next_due(item: Item, where: Where) -> int | None:
    """Return when an item is due next; None for never. Times that have passed count, too."""
    scheduled: list[int] = []
    if item.schedule is not None:
        try:
            scheduled = instants(item.schedule, where, item.passed, 1)
        except InvalidError:
            scheduled = []
    return min((*scheduled, *item.extra), default=None)


def due_until(item: Item, where: Where, now: int, limit: int = MOST_AT_ONCE) -> list[int]:
    """Return the times of an item that have come and aren't dealt with, the earliest first."""
    scheduled: list[int] = []
    wanted = _FIRST_LOOK
    while item.schedule is not None:
        try:
            scheduled = instants(item.schedule, where, item.passed, min(wanted, limit))
        except InvalidError:
            break
        if len(scheduled) < wanted or scheduled[-1] > now or wanted >= limit:
            break
        wanted *= 8
    return sorted({due for due in (*scheduled, *item.extra) if due <= now})[:limit]


def triage(item: Item, dues: Sequence[int], now: int, *, more: bool = False) -> list[Verdict]:
    """Decide which due times are told of.

    Args:
        item: With its rule for missed ones.
        dues: All of its times that have come, rising.
        now: Seconds since the epoch.
        more: Whether later ones have come, too, that aren't among these.
    """
    verdicts = []
    for place, due in enumerate(dues):
        late = now - due
        last = place == len(dues) - 1 and not more
        if item.missed is Missed.EACH or due in item.extra:
            reason = ""
        elif item.missed is Missed.SKIP and late > item.grace_s:
            reason = f"missed by {span_told(late)}, and this one skips what it missed"
        elif last:
            reason = ""
        else:
            reason = f"missed by {span_told(late)}, and a later one is told of instead"
        verdicts.append(Verdict(due, tell=not reason, reason=reason))
    return verdicts


def _start(schedule: Schedule, where: Where) -> dt.datetime:
    try:
        if schedule.all_day:
            return dt.datetime.combine(dt.date.fromisoformat(schedule.start), where.day_time)
        wall = dt.datetime.fromisoformat(schedule.start)
    except ValueError as error:
        raise InvalidError(
            f"{schedule.start[:60]!r} isn't a {'date' if schedule.all_day else 'time'}.",
            hint="Write it as ISO 8601, such as "
            + ("2027-03-03." if schedule.all_day else "2027-03-03T09:30:00."),
        ) from error
    if wall.tzinfo is not None:
        raise InvalidError(
            f"{schedule.start[:60]!r} has an offset.",
            hint="Give the wall time, and the zone by its IANA name.",
        )
    return wall.replace(microsecond=0)


def _each(schedule: Schedule, starts: Sequence[str], where: Where) -> set[int]:
    return {
        _once(msgspec.structs.replace(schedule, start=start, fold=0), where) for start in starts
    }


def _once(schedule: Schedule, where: Where) -> int:
    wall = _start(schedule, where)
    zone = schedule.zone or where.zone
    placed = zones.placed(wall, zone)[0]
    if schedule.fold and placed.replace(tzinfo=None) == wall:
        placed = placed.replace(fold=1)
    return math.ceil(placed.timestamp())


def _by_rule(schedule: Schedule, where: Where, after: dt.datetime, limit: int) -> list[dt.datetime]:
    start = _start(schedule, where)
    zone = schedule.zone or where.zone
    rule = Recurrence(
        rule=schedule.rule,
        start=start,
        first=zones.placed(start, zone)[0],
        zone=zone,
        time_said=not schedule.all_day,
    )
    return occurrences(rule, after, limit=limit)
