"""What time it is, in the user's own zone, in words and in figures."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

# Written out, for the names of `strftime` change with the locale.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LOCALTIME = Path("/etc/localtime")
_TIMEZONE = Path("/etc/timezone")
_DATABASE = "zoneinfo/"


@dataclass(frozen=True)
class Zone:
    """A time zone as the system has it."""

    rules: tzinfo | None
    """None for the C library's own, which knows rules that have no name."""
    name: str
    """Such as ``Europe/Berlin``; empty if the zone has none."""
    remark: str = ""
    """What is wrong with the setting, for people."""


def system_zone(
    environ: Mapping[str, str], localtime: Path = _LOCALTIME, timezone: Path = _TIMEZONE
) -> Zone:
    """Return the zone of the system, looked up afresh: users travel.

    Args:
        environ: Environment; ``TZ`` goes before the system's setting.
        localtime: The system's link to the rules of its zone.
        timezone: A file with the zone's name, where the link is a copy.
    """
    setting = environ.get("TZ", "").removeprefix(":")
    if setting:
        named = _named(_after_database(setting))
        if named:
            return named
        if any(character.isdigit() for character in setting):
            return Zone(rules=None, name=setting)  # Rules in full, such as CET-1CEST,M3.5.0,M10.5.0
        return Zone(
            rules=None, name="", remark=f"TZ={setting} is not a known time zone; this may be UTC."
        )
    try:
        link = _after_database(str(localtime.readlink()))
    except OSError:
        link = ""
    try:
        written = timezone.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        written = ""
    return _named(link) or _named(written) or Zone(rules=None, name="")


def _after_database(path: str) -> str:
    return path.rpartition(_DATABASE)[2]


def _named(name: str) -> Zone | None:
    if not name:
        return None
    try:
        return Zone(rules=ZoneInfo(name), name=name)
    except (OSError, ValueError, KeyError):  # A KeyError is how ZoneInfo says "not found".
        return None


def local_moment(seconds: float, zone: Zone) -> datetime:
    """Return a moment in a zone.

    Args:
        seconds: Since the epoch.
        zone: The zone.
    """
    if zone.rules is not None:
        return datetime.fromtimestamp(seconds, zone.rules)
    time.tzset()
    return datetime.fromtimestamp(seconds).astimezone()


def time_told(moment: datetime, zone: Zone) -> str:
    """Say what time it is.

    Args:
        moment: The local time, aware of its offset.
        zone: The zone it's in.
    """
    day = f"{_WEEKDAYS[moment.weekday()]}, {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    short = moment.tzname() or ""
    names = ", ".join(dict.fromkeys(name for name in (short, utc_offset(moment)) if name))
    lines = [
        f"It is {moment:%H:%M} on {day}.",
        f"Local time {moment.isoformat(timespec='seconds')}, time zone {zone.name} ({names})."
        if zone.name
        else f"Local time {moment.isoformat(timespec='seconds')} ({names}).",
    ]
    return "\n".join([*lines, zone.remark] if zone.remark else lines)


def utc_offset(moment: datetime) -> str:
    """Return an offset as people write it, such as ``UTC+05:30``."""
    offset = moment.utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def weekday(moment: datetime) -> str:
    """Return the English name of the day."""
    return _WEEKDAYS[moment.weekday()]
