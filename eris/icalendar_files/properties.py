"""The properties of one component, as `icalendar` parses them, in our terms."""

import datetime as dt
import warnings
import zoneinfo
from collections.abc import Iterator
from typing import Any

from icalendar import Event, Todo

from eris.icalendar_files.components import Component
from eris.icalendar_files.items import CalendarItem, Kind, Moment, unquoted
from eris.icalendar_files.zones import Zones

_OURS = "X-ERIS-"
_NEEDED = frozenset({"DTSTART", "DUE", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"})
"""Without these an item would be at another time than it says: if one can't be read, none is."""


class Properties:
    """What a component says."""

    def __init__(self, component: Component, zones: Zones, default_zone: str) -> None:
        """Parse it.

        Args:
            component: An event or a task.
            zones: The zones of its file.
            default_zone: IANA name of the zone that the calendar says is its own; may be empty.

        Raises:
            ValueError: It can't be parsed, or a property that says when it is.
        """
        try:
            self._parsed = self._parse(component)
        except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
            raise ValueError(f"it can't be parsed: {_short(error)}") from error
        for name, problem in self._parsed.errors:
            if str(name).upper() in _NEEDED or name is None:
                raise ValueError(f"its {name or 'content'} can't be read: {_short(problem)}")
        self._lines = component.lines
        self._zones = zones
        self._default_zone = default_zone
        self.remarks: list[str] = []
        """What isn't taken of it."""

    @staticmethod
    def _parse(component: Component) -> Any:
        kind = Todo if component.name == Kind.TASK else Event
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of zones, which are looked up in `zones`
            return kind.from_ical("\r\n".join(component.lines))

    def has(self, name: str) -> bool:
        """Whether it has a property."""
        return name in self._parsed

    def text(self, name: str) -> str:
        """Return a text; empty if there's none, the first if there are several."""
        value = self._first(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> int:
        """Return a number; 0 if there's none."""
        value = self._first(name)
        return value if isinstance(value, int) else 0

    def parameter(self, name: str, parameter: str) -> str:
        """Return a parameter of a property; empty if there's none."""
        value = self._first(name)
        return "" if value is None else str(value.params.get(parameter, ""))

    def own(self) -> dict[str, str]:
        """Return what only Eris writes."""
        return {
            name.removeprefix(_OURS): unquoted(self.text(name))
            for name in map(str.upper, self._parsed)
            if name.startswith(_OURS)
        }

    def rule(self) -> str:
        """Return the value of the RRULE as it's written; empty if there's none.

        Raises:
            ValueError: There are several.
        """
        depth = 0
        rules: list[str] = []
        for line in self._lines:
            name = line.partition(":")[0].partition(";")[0].upper()
            depth += (name == "BEGIN") - (name == "END")
            if name == "RRULE" and depth == 1:
                rules.append(line.partition(":")[2].strip().upper())
        if len(rules) > 1:
            raise ValueError("it has several rules of recurrence")
        return rules[0] if rules else ""

    def start(self) -> tuple[Moment | None, str]:
        """Return when the item is, and in which zone; see `CalendarItem.start`."""
        recurs = self.has("RRULE") or self.has("RDATE")
        due_first = not recurs and isinstance(self._parsed, Todo)
        names = ("DUE", "DTSTART") if due_first else ("DTSTART", "DUE")
        for name in names if isinstance(self._parsed, Todo) else ("DTSTART",):
            value = self._first(name)
            if value is not None:
                return self._start(value.dt, str(value.params.get("TZID", "")), recurs=recurs)
        return None, ""

    def occurrence(self, item: CalendarItem) -> Moment | None:
        """Return which occurrence of the series it is; None for the series itself."""
        value = self._first("RECURRENCE-ID")
        if value is None:
            return None
        return self._moment(value.dt, str(value.params.get("TZID", "")), item)

    def moments(self, name: str, item: CalendarItem) -> Iterator[Moment]:
        """Yield the times of an RDATE or EXDATE, in the item's zone."""
        for value in self._all(name):
            tzid = str(value.params.get("TZID", ""))
            for each in value.dts:
                moment = each.dt[0] if isinstance(each.dt, tuple) else each.dt
                yield self._moment(moment, tzid, item)

    def alarms(self, item: CalendarItem) -> Iterator[dt.timedelta]:
        """Yield when it wants to be told of, from its start on."""
        for alarm in self._parsed.walk("VALARM"):
            trigger = alarm.get("TRIGGER")
            if trigger is None or item.start is None or not hasattr(trigger, "dt"):
                self.remarks.append("an alarm of it is at no time that can be read")
                continue
            if isinstance(trigger.dt, dt.timedelta):
                at_end = str(trigger.params.get("RELATED", "")).upper() == "END"
                yield trigger.dt + (self._length(item) if at_end else dt.timedelta())
            else:
                instant = self._instant(trigger.dt, str(trigger.params.get("TZID", "")), item)
                yield instant - self._instant(item.start, "", item)

    def _length(self, item: CalendarItem) -> dt.timedelta:
        duration = self._first("DURATION")
        if duration is not None and isinstance(duration.dt, dt.timedelta):
            return duration.dt
        end = self._first("DUE" if item.kind is Kind.TASK else "DTEND")
        if end is None or item.start is None:
            return dt.timedelta()
        finish = self._instant(end.dt, str(end.params.get("TZID", "")), item)
        return finish - self._instant(item.start, "", item)

    def _start(self, value: Moment, tzid: str, *, recurs: bool) -> tuple[Moment, str]:
        if not isinstance(value, dt.datetime):
            return value, ""
        if tzid and tzid.upper() != "UTC":
            return value.replace(tzinfo=None), self._zones.named(tzid)
        if value.tzinfo is None and not tzid:
            return value, ""
        # Google writes what recurs in the calendar's own zone as UTC at times: its clocks count.
        if self._default_zone:
            there = value.astimezone(zoneinfo.ZoneInfo(self._default_zone))
            if recurs or not there.fold:
                return there.replace(tzinfo=None, fold=0), self._default_zone
        return value.replace(tzinfo=None), "UTC"

    def _moment(self, value: Moment, tzid: str, item: CalendarItem) -> Moment:
        """Return a time of the item's series as its start is written: a day, or in its zone."""
        if not isinstance(item.start, dt.datetime):
            return value.date() if isinstance(value, dt.datetime) else value
        if not isinstance(value, dt.datetime):
            return dt.datetime.combine(value, item.start.time())
        if value.tzinfo is None and not tzid:
            return value
        zone = self._zone(tzid)
        if zone == item.zone or not item.zone:
            return value.replace(tzinfo=None)
        aware = value.replace(tzinfo=zoneinfo.ZoneInfo(zone))
        return aware.astimezone(zoneinfo.ZoneInfo(item.zone)).replace(tzinfo=None, fold=0)

    def _instant(self, value: Moment, tzid: str, item: CalendarItem) -> dt.datetime:
        """Return a time as one to count with; a floating one as if it were UTC."""
        wall = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
        zone = self._zone(tzid) if tzid or wall.tzinfo is not None else item.zone
        return wall.replace(tzinfo=zoneinfo.ZoneInfo(zone or "UTC")).astimezone(dt.UTC)

    def _zone(self, tzid: str) -> str:
        return self._zones.named(tzid) if tzid and tzid.upper() != "UTC" else "UTC"

    def _all(self, name: str) -> list[Any]:
        value = self._parsed.get(name)
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def _first(self, name: str) -> Any:
        return next(iter(self._all(name)), None)


def _short(problem: object) -> str:
    return " ".join(str(problem).split())[:120]
