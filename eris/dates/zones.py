"""Wall times and zones: what a local time is when the clocks change.

Zones are those of the IANA time zone database (https://www.iana.org/time-zones), by name, through
`zoneinfo`. What happens to a wall time that doesn't exist or exists twice follows RFC 5545,
section 3.3.5: one in a gap is read with the offset before the gap, so that it moves forward by the
length of the gap; of two equal ones the first is meant.
"""

import datetime as dt
import zoneinfo

from eris.errors import InvalidError


def zone_of(name: str) -> zoneinfo.ZoneInfo:
    """Return a zone by its IANA name.

    Raises:
        InvalidError: There is no such zone.
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidError(
            f"There is no time zone {name[:60]!r}.",
            hint="Use a name of the IANA database, such as Europe/Berlin, or UTC.",
        ) from error


def name_of(moment: dt.datetime) -> str:
    """Return the IANA name of an aware time's zone.

    Raises:
        InvalidError: The time has no zone of the IANA database.
    """
    if isinstance(moment.tzinfo, zoneinfo.ZoneInfo) and moment.tzinfo.key:
        return moment.tzinfo.key
    if moment.tzinfo is dt.UTC:
        return "UTC"
    raise InvalidError(
        f"The time {moment.isoformat()} has no time zone by name.",
        hint="Give it a zone of the IANA database with zoneinfo.ZoneInfo.",
    )


def placed(wall: dt.datetime, zone: str) -> tuple[dt.datetime, str]:
    """Return the instant of a wall time, and what has to be told about it.

    Args:
        wall: Naive.
        zone: IANA name.

    Raises:
        InvalidError: The zone is unknown, or the instant is outside of the years 1 to 9999.
    """
    local = wall.replace(tzinfo=zone_of(zone), fold=0)
    try:
        there_and_back = local.astimezone(dt.UTC).astimezone(local.tzinfo)
    except OverflowError as error:
        raise too_far() from error
    if there_and_back.replace(tzinfo=None) != wall:
        return there_and_back, (
            f"{wall:%H:%M} doesn't exist on {wall:%Y-%m-%d} in {zone}, the clocks go forward: "
            f"{there_and_back:%H:%M}"
        )
    if comes_twice(local):
        return local, (
            f"{wall:%H:%M} comes twice on {wall:%Y-%m-%d} in {zone}, the clocks go back: "
            "the first one"
        )
    return local, ""


def at_offset(wall: dt.datetime, east: dt.timedelta, zone: str) -> dt.datetime:
    """Return the instant of a wall time at an offset from UTC, in a zone.

    Raises:
        InvalidError: There is no such offset or zone, or the instant is too far.
    """
    try:
        return wall.replace(tzinfo=dt.timezone(east)).astimezone(zone_of(zone))
    except ValueError as error:
        raise InvalidError(
            f"There is no time zone {east} from UTC.", hint="Say an offset such as UTC+02:00."
        ) from error
    except OverflowError as error:
        raise too_far() from error


def is_after(one: dt.datetime, other: dt.datetime) -> bool:
    """Whether an aware time is later than another.

    Python compares times of one zone by their wall times, which go back with the clocks.
    """
    return elapsed(other, one) > 0


def elapsed(begin: dt.datetime, end: dt.datetime) -> float:
    """Return the seconds from one aware time to another, whatever the clocks do meanwhile."""
    walls = end.replace(tzinfo=None) - begin.replace(tzinfo=None)
    offsets = (end.utcoffset() or dt.timedelta(0)) - (begin.utcoffset() or dt.timedelta(0))
    return (walls - offsets).total_seconds()


def second_of(local: dt.datetime) -> dt.datetime:
    """Return the second of two equal times when the clocks go back; otherwise the time itself."""
    return local.replace(fold=1) if comes_twice(local) else local


def comes_twice(local: dt.datetime) -> bool:
    """Whether an aware local time is one of two equal ones."""
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def later(moment: dt.datetime, seconds: int) -> dt.datetime:
    """Return the time after so many elapsed seconds, whatever the clocks do meanwhile.

    Raises:
        InvalidError: That's after the year 9999.
    """
    try:
        return (moment.astimezone(dt.UTC) + dt.timedelta(seconds=seconds)).astimezone(moment.tzinfo)
    except OverflowError as error:
        raise too_far() from error


def too_far() -> InvalidError:
    """The error of a date that the calendar doesn't have."""
    return InvalidError(
        "That's outside of the years that can be counted.", hint="Say a date before the year 9999."
    )
