"""From an iCalendar file to items.

A component that can't be understood is left out and told of by its line; the others are taken. Of
equal UIDs the latest version counts, as RFC 5546 has it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from eris.icalendar_files.components import Component, parts_of
from eris.icalendar_files.items import CalendarItem, ItemState, Kind, Skipped, Taken
from eris.icalendar_files.properties import Properties
from eris.icalendar_files.zones import Zones, is_zone

_OCCURRENCE = "/"
"""Between the UID of a series and the time of an occurrence that was changed."""
_CHANGED_NEXT = "THISANDFUTURE"


def read_calendar(data: bytes, *, year: int = 2026, home: str = "") -> Taken:
    """Read an iCalendar file.

    Args:
        data: The whole file, at most 16 MiB.
        year: From which year on clocks are compared to find out which zone a file describes.
        home: IANA name of the user's zone, which is meant before others with the same clocks.

    Raises:
        InvalidError: It's too large, has too many entries, or is no iCalendar file.
    """
    parts = parts_of(data)
    zones = Zones((each for each in parts.components if each.name == "VTIMEZONE"), year, home)
    default = parts.default_zone if is_zone(parts.default_zone) else ""
    skipped = list(parts.broken)
    found: list[_Read] = []
    for component in parts.components:
        if component.name == "VTIMEZONE":
            continue
        try:
            found.append(_read(component, zones, default))
        except (ValueError, OverflowError) as error:
            skipped.append(Skipped(component.line, component.uid, _reason(error)))
    items, more = _merged(_latest(found))
    remarks = [
        Skipped(read.item.line, read.item.uid, remark) for read in found for remark in read.remarks
    ]
    return Taken(
        tuple(items),
        tuple(sorted([*skipped, *more], key=lambda each: each.line)),
        tuple(remarks),
    )


class _Read:
    """A component that was understood, and which version and occurrence of its UID it is."""

    def __init__(self, item: CalendarItem, properties: Properties) -> None:
        self.item = item
        self.occurrence = properties.occurrence(item)
        self.and_later = properties.parameter("RECURRENCE-ID", "RANGE").upper() == _CHANGED_NEXT
        self.sequence = properties.number("SEQUENCE")
        self.remarks = tuple(properties.remarks)

    @property
    def key(self) -> tuple[str, str]:
        """What is the same for all versions of it."""
        return self.item.uid, self.occurrence.isoformat() if self.occurrence else ""


def _read(component: Component, zones: Zones, default_zone: str) -> _Read:
    properties = Properties(component, zones, default_zone)
    kind = Kind(component.name)
    start, zone = properties.start()
    notes = properties.text("DESCRIPTION").strip()
    item = CalendarItem(
        uid=properties.text("UID").strip() or _made_uid(component),
        kind=kind,
        title=" ".join(properties.text("SUMMARY").split()) or _first_line(notes) or "Untitled",
        notes=notes,
        start=start,
        zone=zone,
        rule=properties.rule(),
        state=_state(properties),
        own=properties.own(),
        line=component.line,
    )
    if kind is Kind.EVENT and start is None:
        raise ValueError("it has no DTSTART, so it's at no time")
    if start is None and item.rule:
        raise ValueError("it recurs, but has no DTSTART to count from")
    item = replace(
        item,
        also=tuple(sorted(set(properties.moments("RDATE", item)))),
        excluded=tuple(sorted(set(properties.moments("EXDATE", item)))),
        alarms=tuple(sorted(set(properties.alarms(item)))),
    )
    return _Read(item, properties)


def _state(properties: Properties) -> ItemState:
    status = properties.text("STATUS").upper()
    if status == "CANCELLED":
        return ItemState.CANCELLED
    if status == "COMPLETED" or properties.has("COMPLETED"):
        return ItemState.DONE
    return ItemState.OPEN


def _latest(found: Iterable[_Read]) -> list[_Read]:
    """Return one of each, the latest version; of equal versions the last."""
    latest: dict[tuple[str, str], _Read] = {}
    for read in found:
        known = latest.get(read.key)
        if known is None or read.sequence >= known.sequence:
            latest[read.key] = read
    return list(latest.values())


def _merged(found: list[_Read]) -> tuple[list[CalendarItem], list[Skipped]]:
    """Return series without the occurrences that were changed, and those as items of their own."""
    items = {read.item.uid: read.item for read in found if read.occurrence is None}
    skipped: list[Skipped] = []
    changed: list[CalendarItem] = []
    for read in found:
        if read.occurrence is None:
            continue
        if read.and_later:
            reason = "it changes an occurrence and all later ones, which isn't read"
            skipped.append(Skipped(read.item.line, read.item.uid, reason))
            continue
        series = items.get(read.item.uid)
        if series is not None:
            excluded = tuple(sorted({*series.excluded, read.occurrence}))
            items[read.item.uid] = replace(series, excluded=excluded)
        if read.item.state is not ItemState.CANCELLED:
            uid = f"{read.item.uid}{_OCCURRENCE}{read.occurrence.isoformat()}"
            changed.append(replace(read.item, uid=uid, rule="", also=(), excluded=()))
    return sorted([*items.values(), *changed], key=lambda item: item.line), skipped


def _made_uid(component: Component) -> str:
    """Return a UID for what has none: the same whenever the same is read."""
    kept = [line for line in component.lines if not line.upper().startswith("DTSTAMP")]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:32]


def _first_line(text: str) -> str:
    return text.splitlines()[0].strip() if text else ""


def _reason(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return "a time in it is outside of the years 1 to 9999"
    return str(error)
