"""iCalendar files, RFC 5545: read and written, without any idea of what is done with the items.

- `items`: what is taken from a file, and what is put into one.
- `components`: a file taken apart into its events, tasks and time zones; bounded.
- `zones`: which zone of the IANA database a file means.
- `reading`, `writing`: from components to items and back; what was written comes in again as the
  same items.

The properties themselves are parsed and written by the library `icalendar`.
"""

from eris.icalendar_files.items import CalendarItem, ItemState, Kind, Moment, Skipped, Taken
from eris.icalendar_files.reading import read_calendar
from eris.icalendar_files.writing import write_calendar

__all__ = [
    "CalendarItem",
    "ItemState",
    "Kind",
    "Moment",
    "Skipped",
    "Taken",
    "read_calendar",
    "write_calendar",
]
