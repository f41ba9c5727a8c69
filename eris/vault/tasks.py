"""The tasks of a note: listed with what is written about them, added, ticked and unticked.

Dates, priority and recurrence are read as Obsidian's Tasks plugin writes them (`📅 2027-01-03`) and
as Dataview does (`[due:: 2027-01-03]`).
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence

import msgspec

from eris.errors import InvalidError, NotFoundError
from eris.vault.editing import appended, inserted_after
from eris.vault.markdown import parse
from eris.vault.names import folded
from eris.vault.note import Item, Note, Span, Task, line_end
from eris.vault.recurrence import next_date
from eris.vault.sections import body_text, heading_named, own_text

_EMOJI = {
    "due": "📅📆🗓",
    "scheduled": "⏳⌛",
    "start": "🛫",
    "created": "➕",  # noqa: RUF001
    "completion": "✅",
    "cancelled": "❌",
}
"""What is in front of each date, the usual one first; the names are Dataview's."""
_FOR = ("due", "scheduled", "start")
"""What a task is for, the one that counts first."""
_NAMES = {emoji: name for name, several in _EMOJI.items() for emoji in several}
_PRIORITIES = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}

_DATE_FIELD = re.compile(
    rf"(?P<emoji>[{''.join(_NAMES)}])\ufe0f?[ \t]*(?P<date>\d{{4}}-\d\d-\d\d)"
    rf"|(?P<open>[\[(])[ \t]*(?P<name>{'|'.join(_EMOJI)})[ \t]*::[ \t]*"
    r"(?P<written>\d{4}-\d\d-\d\d)[ \t]*[\])]"
)
_PRIORITY = re.compile(
    rf"([{''.join(_PRIORITIES)}])\ufe0f?|[\[(][ \t]*priority[ \t]*::[ \t]*(\w+)[ \t]*[\])]"
)
_RECURRENCE = re.compile(
    r"🔁\ufe0f?[ \t]*([A-Za-z0-9, !]*[A-Za-z0-9])"
    r"|[\[(][ \t]*repeat[ \t]*::[ \t]*([A-Za-z0-9, !]*[A-Za-z0-9])[ \t]*[\])]"
)
_OWN_FIELD = re.compile(
    r"🆔\ufe0f?[ \t]*[\w-]+|⛔\ufe0f?[ \t]*[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*"
    r"|[\[(][ \t]*(?:id|dependsOn)[ \t]*::[^\[\]()]*[\])]"
)
"""What is one task's only, so that its next occurrence doesn't get it."""
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*\Z")
_WRITTEN_AS_TASK = re.compile(r"\s*(?:(?:[*+-]|\d{1,9}[.)])\s+)?\[.\]\s+|\s*[*+-]\s+")
_MOST_LISTED = 12


class TaskDetails(msgspec.Struct, frozen=True):
    """A task, with what is written about it."""

    place: Task
    line: int
    """Of the note, from 1."""
    mark: str
    """The character in its box."""
    text: str
    """As written after the box."""
    description: str
    """The same without dates, priority, recurrence and block id."""
    dates: dict[str, dt.date]
    """By `due`, `scheduled`, `start`, `created`, `completion` and `cancelled`."""
    priority: str = ""
    """`highest`, `high`, `medium`, `low` or `lowest`; empty if nothing is said."""
    recurrence: str = ""
    """Such as `every week when done`; empty if it doesn't recur."""

    @property
    def date(self) -> tuple[str, dt.date] | None:
        """The date that it's for, and what that is: `due`, `scheduled` or `start`."""
        return next(((name, self.dates[name]) for name in _FOR if name in self.dates), None)

    @property
    def done(self) -> bool:
        """Whether it's ticked."""
        return self.mark in "xX"

    @property
    def open(self) -> bool:
        """Whether it's still to be done: neither ticked nor cancelled."""
        return self.mark not in "xX-"


def tasks_of(note: Note) -> tuple[TaskDetails, ...]:
    """Return the tasks of a note, in its order."""
    return tuple(_task(note, place) for place in note.tasks)


def has_date(text: str) -> bool:
    """Whether a task's text has a date that it's for: due, scheduled or start."""
    return any(_name_of(field) in _FOR and _date_of(field) for field in _DATE_FIELD.finditer(text))


def details_of(text: str) -> TaskDetails | None:
    """Return what a task's text says, as `TaskDetails.text` has it; None if it's none."""
    found = tasks_of(parse(f"- [ ] {text}"))
    return found[0] if found else None


def identity(text: str) -> str:
    """Return what stays of a task's text when it's ticked and unticked."""
    return " ".join(_without_dates(text, {"completion", "cancelled"}).split())


def task_named(
    note: Note, which: str | int, *, prefer: Callable[[TaskDetails], bool]
) -> TaskDetails:
    """Return the task that a text or a line means.

    Args:
        note: The note.
        which: Its line, from 1; or its text or description, or any part of that which no other has.
        prefer: Which are meant if a text is that of several.

    Raises:
        NotFoundError: There's no such task; the hint lists those that there are.
        InvalidError: Several are meant; they are listed with their lines.
    """
    tasks = tasks_of(note)
    if isinstance(which, int):
        found = [task for task in tasks if task.line == which]
        shown = f"on line {which}"
    else:
        found = _with_text(tasks, _WRITTEN_AS_TASK.sub("", which, count=1).strip())
        shown = f"`{which.strip()}`"
    preferred = [task for task in found if prefer(task)] or found
    if len(preferred) == 1:
        return preferred[0]
    if preferred:
        raise InvalidError(
            f"{len(preferred)} tasks of the note fit {shown}: {_listed(preferred)}.",
            hint="Give the line of the one that is meant.",
        )
    others = [task for task in tasks if prefer(task)] or tasks
    raise NotFoundError(
        f"The note has no task {shown}.",
        hint=f"Its tasks are: {_listed(others)}." if others else "It has no tasks.",
    )


def with_task(text: str, task: str, *, heading: str = "", due: dt.date | None = None) -> str:
    """Return the note with a task more, marked as those before it are.

    It goes to the end of the last list that has tasks, under the heading or in all of the note; if
    there's no such list, it goes below all that is there.

    Args:
        text: The note.
        task: What is to be done; a box in front of it may be given or not.
        heading: Under which one, as `eris.vault.sections.heading_named` takes it; empty for any.
        due: By when; written as the note's other tasks write it.

    Raises:
        InvalidError: It's no text, or several headings are meant.
        NotFoundError: There's no such heading.
    """
    description = " ".join(_WRITTEN_AS_TASK.sub("", task, count=1).split())
    if not description:
        raise InvalidError("There's no task to add.", hint="Say what is to be done.")
    note = parse(text)
    if due:
        date = _field(note, "due", due)
        block_id = _BLOCK_ID.search(description)
        end = block_id.start() if block_id else len(description)
        description = f"{description[:end]} {date}{description[end:]}"
    region = own_text(note, heading_named(note, heading)) if heading else body_text(note)
    items = _outermost_items(note, region)
    last = next((item for item in reversed(items) if _has_task(note, item)), None)
    if last:
        line = note.line_span(note.line(last.span.start))
        margin = text[line.start : last.span.start].removeprefix("\ufeff")
        position = last.span.end
        new = f"{margin}{_next_marker(last.marker)} [ ] {description}"
        return text[:position] + line_end(text) + new + text[position:]
    marker = next((item.marker for item in reversed(items) if item.marker in "-*+"), "-")
    new = f"{marker} [ ] {description}"
    if region.start == region.end and not heading:
        return appended(text, new)
    return inserted_after(text, region.end, new)


def ticked(text: str, which: str | int, *, today: dt.date, dated: bool | None = None) -> str:
    """Return the note with a task ticked; one that is already stays as it is.

    Of a task that recurs the next occurrence is written above it, as the Tasks plugin does.

    Args:
        text: The note.
        which: Its line or text, as `task_named` takes it.
        today: The day that it's done, in the user's zone.
        dated: Whether that is written behind it; by default if any task of the note has it so.

    Raises:
        NotFoundError: There's no such task.
        InvalidError: Several are meant, or it recurs by a rule that isn't understood.
    """
    note = parse(text)
    task = task_named(note, which, prefer=lambda each: each.open)
    if task.done:
        return text
    if dated is None:
        dated = any("completion" in each.dates for each in tasks_of(note))
    above = _next_occurrence(note, task, today) + line_end(text) if task.recurrence else ""
    place = task.place
    start, mark, end = place.span.start, place.mark.start, place.span.end
    rest = text[mark + 1 : end]
    if dated and "completion" not in task.dates:
        content = len(rest.rstrip())
        block_id = _BLOCK_ID.search(rest)
        content = block_id.start() if block_id else content
        rest = f"{rest[:content]} {_field(note, 'completion', today, task)}{rest[content:]}"
    return f"{text[:start]}{above}{text[start:mark]}x{rest}{text[end:]}"


def unticked(text: str, which: str | int) -> str:
    """Return the note with a task to be done again, without the date that it was done on.

    Args:
        text: The note.
        which: Its line or text, as `task_named` takes it.

    Raises:
        NotFoundError: There's no such task.
        InvalidError: Several are meant.
    """
    note = parse(text)
    task = task_named(note, which, prefer=lambda each: not each.open)
    if task.open:
        return text
    mark, end = task.place.mark.start, task.place.span.end
    rest = _without_dates(text[mark + 1 : end], {"completion", "cancelled"})
    return f"{text[:mark]} {rest}{text[end:]}"


def _task(note: Note, place: Task) -> TaskDetails:
    text = place.text
    dates: dict[str, dt.date] = {}
    for field in _DATE_FIELD.finditer(text):
        date = _date_of(field)
        if date:
            dates.setdefault(_name_of(field), date)
    priority = _PRIORITY.search(text)
    recurrence = _RECURRENCE.search(text)
    description = _BLOCK_ID.sub("", text)
    for pattern in (_DATE_FIELD, _RECURRENCE, _PRIORITY, _OWN_FIELD):
        description = pattern.sub("", description)
    return TaskDetails(
        place,
        note.line(place.mark.start),
        place.mark.of(note.text),
        text,
        " ".join(description.split()),
        dates,
        (_PRIORITIES.get(priority[1]) or priority[2]).lower() if priority else "",
        recurrence[1] or recurrence[2] if recurrence else "",
    )


def _name_of(field: re.Match[str]) -> str:
    return field["name"] or _NAMES[field["emoji"]]


def _date_of(field: re.Match[str]) -> dt.date | None:
    try:
        return dt.date.fromisoformat(field["date"] or field["written"])
    except ValueError:
        return None


def _without_dates(text: str, names: set[str]) -> str:
    """Return a task's text without some of its dates and the space before each."""
    for field in reversed(list(_DATE_FIELD.finditer(text))):
        if _name_of(field) in names:
            before = text[: field.start()]
            kept = before.rstrip(" \t") if before.strip() else before
            text = kept + text[field.end() :]
    return text


def _with_text(tasks: Sequence[TaskDetails], wanted: str) -> list[TaskDetails]:
    """Return the tasks that a text means, by the strictest reading that finds any."""
    if not wanted:
        return []
    key = folded(" ".join(wanted.split()))
    readings: tuple[Callable[[TaskDetails], bool], ...] = (
        lambda task: wanted in {task.text, task.description},
        lambda task: key in {folded(" ".join(task.text.split())), folded(task.description)},
        lambda task: key in folded(" ".join(task.text.split())),
    )
    for fits in readings:
        if found := [task for task in tasks if fits(task)]:
            return found
    return []


def _listed(tasks: Sequence[TaskDetails]) -> str:
    shown = [f"line {task.line} `[{task.mark}] {task.text}`" for task in tasks[:_MOST_LISTED]]
    more = len(tasks) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _outermost_items(note: Note, region: Span) -> list[Item]:
    """Return the items in a part of the note that are in no other item and in no quote."""
    found: list[Item] = []
    for item in note.items:
        if item.span.start not in region or (found and item.span.start < found[-1].span.end):
            continue
        line = note.line_span(note.line(item.span.start))
        if not note.text[line.start : item.span.start].removeprefix("\ufeff").strip():
            found.append(item)
    return found


def _has_task(note: Note, item: Item) -> bool:
    return any(task.mark.start in item.span for task in note.tasks)


def _next_marker(marker: str) -> str:
    return marker if marker in "-*+" else f"{int(marker[:-1]) + 1}{marker[-1]}"


def _field(note: Note, name: str, date: dt.date, task: TaskDetails | None = None) -> str:
    """Return a date as the task writes others, or else as the note's other tasks do."""
    texts = [each.text for each in ([task.place] if task else []) + list(note.tasks)]
    for text in texts:
        if field := _DATE_FIELD.search(text):
            if field["emoji"]:
                break
            closing = "]" if field["open"] == "[" else ")"
            return f"{field['open']}{name}:: {date.isoformat()}{closing}"
    return f"{_EMOJI[name][0]} {date.isoformat()}"


def _next_occurrence(note: Note, task: TaskDetails, today: dt.date) -> str:
    """Return the line of a recurring task's next occurrence."""
    reference = next((task.dates[name] for name in _FOR if name in task.dates), None)
    following = next_date(task.recurrence, reference, today)
    if following is None:
        raise InvalidError(
            f"The task on line {task.line} recurs by a rule that isn't understood: "
            f"`{task.recurrence}`.",
            hint="Tick it in Obsidian, so that the next one isn't lost; nothing was changed.",
        )
    later = following - reference if reference else dt.timedelta()

    def moved(field: re.Match[str]) -> str:
        date = _date_of(field)
        if date is None:
            return field[0]
        new = today if _name_of(field) == "created" else date + later
        return field[0].replace(date.isoformat(), new.isoformat())

    place = task.place
    text = _BLOCK_ID.sub("", note.text[place.mark.end : place.span.end])
    text = _without_dates(text, {"completion", "cancelled"})
    text = re.sub(rf"[ \t]*(?:{_OWN_FIELD.pattern})", "", text)
    start = note.text[place.span.start : place.mark.start]
    return f"{start} {_DATE_FIELD.sub(moved, text)}"
