"""When a task that recurs is due again, by the rules of Obsidian's Tasks plugin that are plain."""

import calendar
import datetime as dt
import re

_RULE = re.compile(
    r"every(?: (?P<number>\d{1,3}|other))? (?P<unit>day|week|month|year|weekday)s?"
    r"(?P<when_done> when done)?",
    re.IGNORECASE,
)
_SATURDAY = 5


def next_date(rule: str, reference: dt.date | None, today: dt.date) -> dt.date | None:
    """Return when a task recurs.

    Args:
        rule: Such as `every week`, `every 2 months when done`, `every weekday`.
        reference: The date that the task is for; None if it has none.
        today: The day that it's done, from which a rule `when done` counts.

    Returns:
        A date after the reference; None if the rule isn't one of those.
    """
    found = _RULE.fullmatch(" ".join(rule.split()))
    if not found:
        return None
    start = today if found["when_done"] or reference is None else reference
    number = {None: 1, "other": 2}.get(found["number"] and found["number"].lower())
    number = int(found["number"]) if number is None else number
    unit = found["unit"].lower()
    try:
        match unit:
            case "weekday":
                return _weekday_after(start) if number == 1 else None
            case "day" | "week":
                days = number * (7 if unit == "week" else 1)
                return start + dt.timedelta(days=days) if days else None
            case _:
                months = number * (12 if unit == "year" else 1)
                return _months_after(start, months) if months else None
    except (OverflowError, ValueError):  # after the year 9999
        return None


def _weekday_after(date: dt.date) -> dt.date:
    date += dt.timedelta(days=1)
    while date.weekday() >= _SATURDAY:
        date += dt.timedelta(days=1)
    return date


def _months_after(date: dt.date, months: int) -> dt.date:
    """Return the same day of a later month, or its last day if it has no such day."""
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return dt.date(year, month + 1, min(date.day, last))
