"""Which zone of the IANA database a calendar means.

`TZID` is only a name within its file. Read in this order: the name of an IANA zone, also behind a
path; a Windows name; the name that the file's VTIMEZONE gives as `X-LIC-LOCATION`; and the zone
whose clocks show the same as those that the VTIMEZONE describes.
"""

import datetime as dt
import functools
import zoneinfo
from collections.abc import Iterable

from icalendar import Timezone
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from eris.icalendar_files.components import Component

_COMPARED_DAYS = range(0, 731, 6)
"""Two years in steps that no change of the clocks falls through for long."""
_WINDOWS = {name.casefold(): zone for name, zone in WINDOWS_TO_OLSON.items()}


class Zones:
    """The zones of one file."""

    def __init__(self, described: Iterable[Component], year: int, home: str) -> None:
        """Create it.

        Args:
            described: The file's VTIMEZONE components.
            year: Of which year on clocks are compared.
            home: IANA name of the zone that is meant if its clocks fit; may be empty.
        """
        self._year = year
        self._home = home if is_zone(home) else ""
        self._described = {_value(component, "TZID"): component for component in described}
        self._known: dict[str, str] = {}

    def named(self, tzid: str) -> str:
        """Return the IANA name of a zone.

        Raises:
            ValueError: It isn't known which one is meant.
        """
        if tzid not in self._known:
            self._known[tzid] = self._find(tzid)
        if not self._known[tzid]:
            raise ValueError(f"there is no time zone {tzid[:60]!r}")
        return self._known[tzid]

    def _find(self, tzid: str) -> str:
        name = tzid.strip().strip('"')
        if by_name := _by_name(name):
            return by_name
        component = self._described.get(name)
        if component is None:
            return ""
        return _by_name(_value(component, "X-LIC-LOCATION")) or self._by_clocks(component)

    def _by_clocks(self, component: Component) -> str:
        try:
            described = Timezone.from_ical("\r\n".join(component.lines))
            if not isinstance(described, Timezone):
                return ""
            shown = _shown(described.to_tz(lookup_tzid=False), self._year)
        except (ValueError, KeyError, AttributeError, TypeError, IndexError, OverflowError):
            return ""  # however it's broken: no zone is known by it
        if self._home and _shown(zoneinfo.ZoneInfo(self._home), self._year) == shown:
            return self._home
        return _by_shown_time(self._year).get(shown, "")


def _by_name(name: str) -> str:
    """Return the zone that a name is, or that its end is: `/example.org/Europe/Berlin`."""
    pieces = name.strip("/").split("/")
    for first in range(len(pieces)):
        candidate = "/".join(pieces[first:])
        if is_zone(candidate):
            return candidate
    return _WINDOWS.get(name.casefold(), "")


def is_zone(name: str) -> bool:
    """Whether the IANA database has a zone of this name."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return bool(name)


_Shown = tuple[dt.timedelta | None, ...]
"""How a zone's clocks are set in two years."""


@functools.lru_cache(maxsize=4)
def _by_shown_time(year: int) -> dict[_Shown, str]:
    """Return a zone for each way that clocks are set.

    Of several the one that Windows, too, has a name for, and then the first by name.
    """
    usual = sorted(set(WINDOWS_TO_OLSON.values()))
    others = sorted(zoneinfo.available_timezones() - set(usual))
    found: dict[_Shown, str] = {}
    for name in (*usual, *others):
        if is_zone(name):
            found.setdefault(_shown(zoneinfo.ZoneInfo(name), year), name)
    return found


def _shown(zone: dt.tzinfo, year: int) -> _Shown:
    first = dt.datetime(year, 1, 1, 12)  # noqa: DTZ001 - a wall time of any zone
    return tuple(zone.utcoffset(first + dt.timedelta(days=days)) for days in _COMPARED_DAYS)


def _value(component: Component, name: str) -> str:
    for line in component.lines:
        found, colon, value = line.partition(":")
        if colon and found.partition(";")[0].upper() == name:
            return value.strip().strip('"')
    return ""
