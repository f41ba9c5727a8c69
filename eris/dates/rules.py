"""Rules of recurrence: the part of RFC 5545, section 3.3.10, that a calendar of a person needs.

`dateutil.rrule` expands the rules, on wall times without a zone; zones are put on afterwards, so
that 9:00 stays 9:00. Rules that count hours or minutes count elapsed ones.
"""

import datetime as dt
import itertools
import re
from collections.abc import Iterator

from dateutil import rrule

from eris.dates import zones
from eris.dates.meaning import Recurrence
from eris.errors import InvalidError

LONGEST_SEARCH = dt.timedelta(days=366 * 41)
"""A 29 February that is a Monday comes after 40 years at the latest: what hasn't fired in that
time never does."""
_MOST_YEARS = 100
_CYCLE = 400
"""Years after which the calendar repeats, days of the week included."""
MOST_OCCURRENCES = 10_000
_LONGEST_RULE = 500
ELAPSED = {"HOURLY": 3600, "MINUTELY": 60}
"""Frequencies that count elapsed time, in seconds."""
_DAY = r"(?:[+-]?[1-5]?\d)?(?:MO|TU|WE|TH|FR|SA|SU)"
_VALUES = {
    "FREQ": r"YEARLY|MONTHLY|WEEKLY|DAILY|HOURLY|MINUTELY",
    "INTERVAL": r"[1-9]\d{0,3}",
    "COUNT": r"[1-9]\d{0,3}|10000",
    "UNTIL": r"\d{8}(?:T\d{6}Z?)?",
    "BYDAY": rf"{_DAY}(?:,{_DAY}){{0,20}}",
    "BYMONTHDAY": r"-?[1-9]\d?(?:,-?[1-9]\d?){0,30}",
    "BYMONTH": r"[1-9]\d?(?:,[1-9]\d?){0,11}",
    "BYYEARDAY": r"-?[1-9]\d{0,2}(?:,-?[1-9]\d{0,2}){0,30}",
    "BYWEEKNO": r"-?[1-9]\d?(?:,-?[1-9]\d?){0,30}",
    "BYSETPOS": r"-?[1-9]\d{0,2}(?:,-?[1-9]\d{0,2}){0,10}",
    "BYHOUR": r"\d{1,2}(?:,\d{1,2}){0,23}",
    "BYMINUTE": r"\d{1,2}(?:,\d{1,2}){0,11}",
    "WKST": r"MO|TU|WE|TH|FR|SA|SU",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _VALUES.items()}


def parts_of(rule: str) -> dict[str, str]:
    """Return the parts of a rule by name, checked one by one.

    Raises:
        InvalidError: It isn't a rule, or one that isn't supported.
    """
    text = rule.strip().upper().removeprefix("RRULE:")
    if len(text) > _LONGEST_RULE:
        raise _wrong(rule, "it's too long")
    parts: dict[str, str] = {}
    for piece in text.rstrip(";").split(";"):
        name, _, value = piece.partition("=")
        if name not in _PATTERNS or not _PATTERNS[name].fullmatch(value):
            raise _wrong(rule, f"{piece[:40]!r} isn't one of its parts")
        if name in parts:
            raise _wrong(rule, f"{name} is there twice")
        parts[name] = value
    if "FREQ" not in parts:
        raise _wrong(rule, "FREQ is missing")
    if "COUNT" in parts and "UNTIL" in parts:
        raise _wrong(rule, "COUNT and UNTIL exclude each other")
    if parts["FREQ"] not in {"MONTHLY", "YEARLY"} and re.search(r"\d", parts.get("BYDAY", "")):
        raise _wrong(rule, f"{parts['BYDAY']} needs FREQ=MONTHLY or YEARLY")
    if parts["FREQ"] in ELAPSED and any(name.startswith("BY") for name in parts):
        raise InvalidError(
            f"The rule {rule[:80]!r} counts hours or minutes and restricts them.",
            hint="Say FREQ=DAILY with BYHOUR and BYMINUTE instead.",
        )
    return parts


def occurrences(
    rule: Recurrence, after: dt.datetime, zone: str | None = None, limit: int = 10
) -> list[dt.datetime]:
    """Return when a rule fires next.

    Args:
        rule: With its start.
        after: Aware; what is returned is later than this.
        zone: IANA name of the zone whose clock counts, for a series that goes where the user goes;
            the rule's own by default.
        limit: How many at most, 1 to 10,000.

    Returns:
        Aware local times in rising order; fewer than ``limit`` if the series ends before, or fires
        less often than within 41 years.

    Raises:
        InvalidError: The rule or the zone is wrong, the limit isn't in its range, or ``after`` is
            more than a hundred years after the start.
    """
    if not 1 <= limit <= MOST_OCCURRENCES:
        raise InvalidError(
            f"{limit} occurrences can't be listed.", hint=f"Ask for 1 to {MOST_OCCURRENCES}."
        )
    if after.year - rule.start.year > _MOST_YEARS:
        raise InvalidError(
            f"{after.date().isoformat()} is more than {_MOST_YEARS} years after the rule's start.",
            hint="Start the rule anew at a later date.",
        )
    return list(itertools.islice(_after(rule, after, zone or rule.zone), limit))


def first_after(
    rule: str, start: dt.datetime, zone: str, now: dt.datetime
) -> tuple[dt.datetime, dt.datetime, str]:
    """Return where a rule begins: wall time, instant and what has to be told about it.

    Args:
        rule: The value of an RRULE.
        start: Naive wall time: the day to search from, and the time of the day.
        zone: IANA name.
        now: Aware; the first occurrence is later.

    Raises:
        InvalidError: The rule is wrong, or never fires.
    """
    parts = parts_of(rule)
    if parts["FREQ"] in ELAPSED:
        first, told = zones.placed(start, zone)
        if not zones.is_after(first, now):
            passed = int(zones.elapsed(first, now)) // _step(parts) + 1
            first, told = zones.later(first, passed * _step(parts)), ""
        walls = [(first.replace(tzinfo=None), first, told)]
    else:
        walls = [(wall, *zones.placed(wall, zone)) for wall in _some_walls(parts, start, zone, now)]
    until = _until(parts, zone)
    for wall, local, told in walls:
        if until and zones.is_after(local, until):
            raise InvalidError(
                f"The rule {rule!r} ends before it fires for the first time.",
                hint=f"Let it end after {local:%Y-%m-%d %H:%M}.",
            )
        return wall, local, told
    raise InvalidError(
        f"The rule {rule!r} never fires.", hint="Say a day that exists, such as 28 February."
    )


def _some_walls(
    parts: dict[str, str], start: dt.datetime, zone: str, now: dt.datetime
) -> Iterator[dt.datetime]:
    # A series counts its interval from its first time, wherever in the search that is.
    left_out = {"COUNT", "UNTIL", "INTERVAL"}
    endless = {name: value for name, value in parts.items() if name not in left_out}
    for wall in _walls(endless, start, _sum(start, LONGEST_SEARCH)):
        if zones.is_after(zones.placed(wall, zone)[0], now):
            yield wall
            return


def _after(rule: Recurrence, after: dt.datetime, zone: str) -> Iterator[dt.datetime]:
    parts = parts_of(rule.rule)
    until = _until(parts, zone)
    series = _elapsed if parts["FREQ"] in ELAPSED else _local
    last = after
    for local in series(parts, rule, after, zone):
        if until and zones.is_after(local, until):
            return
        if zones.is_after(
            local, last
        ):  # what a gap in the clock's time moved onto the next one fires once
            yield local
            last = local


def _local(
    parts: dict[str, str], rule: Recurrence, after: dt.datetime, zone: str
) -> Iterator[dt.datetime]:
    kept = {name: value for name, value in parts.items() if name != "UNTIL"}
    # A day before: whatever the offset is, nothing is left out that is later than `after`.
    begin = _sum(after.astimezone(dt.UTC).replace(tzinfo=None), -dt.timedelta(days=1))
    for wall in _walls(kept, rule.start, _sum(max(begin, rule.start), LONGEST_SEARCH)):
        if wall > begin:
            yield zones.placed(wall, zone)[0]


def _elapsed(
    parts: dict[str, str], rule: Recurrence, after: dt.datetime, zone: str
) -> Iterator[dt.datetime]:
    first = zones.placed(rule.start, zone)[0]
    passed = max(0, int(zones.elapsed(first, after)) // _step(parts))
    count = int(parts["COUNT"]) if "COUNT" in parts else None
    for number in range(passed, passed + 2 + LONGEST_SEARCH // dt.timedelta(seconds=_step(parts))):
        if count is not None and number >= count:
            return
        yield zones.later(first, number * _step(parts))


def _step(parts: dict[str, str]) -> int:
    return ELAPSED[parts["FREQ"]] * int(parts.get("INTERVAL", "1"))


def _walls(
    parts: dict[str, str], start: dt.datetime, horizon: dt.datetime
) -> Iterator[dt.datetime]:
    """Expand a rule.

    `dateutil` looks for the next time until the year 9999. Of a rule that never fires that's 8,000
    years, seconds of work; so the search is moved by whole cycles of the calendar to its end.
    """
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    room = _MOST_YEARS + LONGEST_SEARCH.days // 365 + 1
    moved = (dt.MAXYEAR - room - start.year) // _CYCLE * _CYCLE
    try:
        rule = rrule.rrulestr(text, dtstart=start.replace(year=start.year + moved))
        for late in rule:
            if late.year - moved > dt.MAXYEAR:
                return
            wall = late.replace(year=late.year - moved)
            if wall > horizon:
                return
            yield wall
    except (ValueError, OverflowError, IndexError) as error:
        raise _wrong(text, str(error)) from error


def _sum(wall: dt.datetime, more: dt.timedelta) -> dt.datetime:
    """Return a wall time so much later, or the last or first that there is."""
    try:
        return wall + more
    except OverflowError:
        return dt.datetime.max if more > dt.timedelta(0) else dt.datetime.min  # noqa: DTZ901


def _until(parts: dict[str, str], zone: str) -> dt.datetime | None:
    """Return the end of a rule: a UTC time, a wall time, or the whole of a day."""
    text = parts.get("UNTIL")
    if text is None:
        return None
    try:
        wall = dt.datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError as error:
        raise InvalidError(
            f"{text!r} isn't a date that a rule can end at.", hint="Write it as 20270131T225959Z."
        ) from error
    if text.endswith("Z"):
        return wall.replace(tzinfo=dt.UTC)
    if "T" not in text:
        wall = wall.replace(hour=23, minute=59, second=59)
    return zones.placed(wall, zone)[0]


def _wrong(rule: str, why: str) -> InvalidError:
    return InvalidError(
        f"{rule[:80]!r} isn't a rule of recurrence: {why}.",
        hint="Write it as RFC 5545 does, such as FREQ=WEEKLY;BYDAY=MO,WE.",
    )
