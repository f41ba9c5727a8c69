"""From items to an iCalendar file that other calendars understand."""

import datetime as dt
import zoneinfo
from collections.abc import Iterable

from icalendar import Alarm, Calendar, Event, Todo
from icalendar.prop import vInline

from eris.icalendar_files.items import CalendarItem, ItemState, Kind, Moment, quoted

_PRODUCT = "-//Eris//Agenda//EN"
_CONTROL = {code: None for code in (*range(0x20), 0x7F) if code not in {0x09, 0x0A}}
_LAST_YEAR = 2040
"""Up to when the changes of a zone's clocks are written down, for readers that don't know it."""


def write_calendar(items: Iterable[CalendarItem], *, written: dt.datetime) -> bytes:
    """Write items as an iCalendar file.

    Args:
        items: What to write.
        written: When, aware of its zone.
    """
    calendar = Calendar()
    calendar.add("PRODID", _PRODUCT)
    calendar.add("VERSION", "2.0")
    first = written.year
    for item in items:
        first = min(first, item.start.year if item.start else first)
        calendar.add_component(_component(item, written.astimezone(dt.UTC)))
    calendar.add_missing_timezones(dt.date(first, 1, 1), dt.date(_LAST_YEAR, 1, 1))
    data: bytes = calendar.to_ical()
    return data


def _component(item: CalendarItem, written: dt.datetime) -> Event | Todo:
    component = Event() if item.kind is Kind.EVENT else Todo()
    component.add("UID", _clean(item.uid))
    component.add("DTSTAMP", written)
    component.add("SUMMARY", _clean(item.title))
    if item.notes:
        component.add("DESCRIPTION", _clean(item.notes))
    recurs = item.rule or item.also
    if item.start is not None:
        due = item.kind is Kind.TASK and not recurs
        component.add("DUE" if due else "DTSTART", _placed(item.start, item.zone))
    if item.rule:
        component["RRULE"] = vInline(item.rule)  # as it is: its parts aren't texts to escape
    for name, moments in (("RDATE", item.also), ("EXDATE", item.excluded)):
        if moments:
            component.add(name, [_placed(moment, item.zone) for moment in moments])
    if item.state is ItemState.CANCELLED:
        component.add("STATUS", "CANCELLED")
    elif item.kind is Kind.TASK:
        component.add("STATUS", "COMPLETED" if item.state is ItemState.DONE else "NEEDS-ACTION")
    for name, value in item.own.items():
        component[f"X-ERIS-{name}"] = vInline(quoted(value))
    for before in item.alarms:
        component.add_component(_alarm(item, before))
    return component


def _alarm(item: CalendarItem, before: dt.timedelta) -> Alarm:
    alarm = Alarm()
    alarm.add("ACTION", "DISPLAY")
    alarm.add("DESCRIPTION", _clean(item.title))
    alarm.add("TRIGGER", before)
    if item.kind is Kind.TASK and not (item.rule or item.also):
        # Such a task has no DTSTART, which a trigger counts from unless it says otherwise.
        alarm["TRIGGER"].params["RELATED"] = "END"
    return alarm


def _placed(moment: Moment, zone: str) -> Moment:
    if not isinstance(moment, dt.datetime) or not zone:
        return moment
    return moment.replace(tzinfo=dt.UTC if zone == "UTC" else zoneinfo.ZoneInfo(zone))


def _clean(text: str) -> str:
    """Return text without what RFC 5545 doesn't allow in one."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL)
