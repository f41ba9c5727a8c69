"""Times in words for people: always absolute, with weekday and zone."""

import datetime as dt

from actors.agenda.due import Where
from eris.dates import say, say_rule, zones
from eris.errors import InvalidError
from proto.agenda import Schedule


def local(seconds: float, zone: str) -> dt.datetime:
    """Return an instant in a zone.

    Args:
        seconds: Since the epoch.
        zone: IANA name.
    """
    return dt.datetime.fromtimestamp(seconds, zones.zone_of(zone))


def iso(seconds: float, zone: str) -> str:
    """Return an instant as ISO 8601 with the zone's offset."""
    return local(seconds, zone).isoformat(timespec="seconds")


def instant_told(seconds: float, zone: str, now: float | None = None) -> str:
    """Return an instant in words, such as ``Friday 4 December 2026, 09:30 (Europe/Berlin)``.

    Args:
        seconds: Since the epoch.
        zone: IANA name.
        now: Seconds since the epoch; where it's given, today and tomorrow are named as such.
    """
    return say(local(seconds, zone), now=None if now is None else local(now, zone))


def schedule_told(schedule: Schedule, where: Where) -> str:
    """Return a schedule in words."""
    zone = schedule.zone or where.zone
    try:
        if schedule.all_day:
            start = dt.datetime.combine(dt.date.fromisoformat(schedule.start), where.day_time)
        else:
            start = dt.datetime.fromisoformat(schedule.start)
        placed = zones.placed(start, zone)[0].replace(fold=schedule.fold)
        if not schedule.rule:
            told = say(placed)
            return f"{told.rpartition(',')[0]}, all day" if schedule.all_day else told
        told = say_rule(schedule.rule)
    except (InvalidError, ValueError):
        return schedule.rule or schedule.start
    if any(part in schedule.rule for part in ("HOURLY", "MINUTELY", "BYHOUR")):
        return f"{told} ({zone})"
    return told if schedule.all_day else f"{told} at {start:%H:%M} ({zone})"
