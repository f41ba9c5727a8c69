"""What each kind of edit does to a note's text, and how it's told; pure."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from actors.vault.planning import Edit
from actors.vault.text import told_size
from eris.errors import ConflictError, InvalidError
from eris.vault.anchors import find_anchor
from eris.vault.editing import (
    appended,
    inserted_after,
    inserted_under,
    prepended,
    replaced,
    with_block,
    with_section,
)
from eris.vault.file_names import shown
from eris.vault.frontmatter import with_property, without_property
from eris.vault.markdown import parse
from eris.vault.names import folded
from eris.vault.note import PropertyValue, line_end
from eris.vault.sections import heading_named
from eris.vault.tasks import task_named, ticked, unticked, with_task
from proto.vault import EditKind, EditNote

_LONGEST_TOLD = 60


@dataclass(frozen=True)
class NoteEdit:
    """A change of a note's text."""

    edit: Edit
    message: Callable[[str], str]
    """What it did to the note at a path, in the past tense."""
    replaces: bool = False
    """Whether it can replace what it doesn't name."""
    new: str | None = None
    """The text of the note if it isn't there; None if it has to be."""


def edit_of(request: EditNote, today: dt.date) -> NoteEdit:  # noqa: PLR0911 - one for each kind
    """Return the change that is asked for.

    Args:
        request: Of any kind but `CREATE`, or `OVERWRITE` of a whole note.
        today: In the user's zone.

    Raises:
        InvalidError: The request makes no sense.
    """
    content, part = request.content, request.part
    size = told_size(len(content.encode(errors="replace")))
    under = f", under {_told(part)}" if part else ""
    match request.kind:
        case EditKind.APPEND if part:
            return NoteEdit(
                lambda text: _appended_under(text, part, content),
                lambda path: f"appended {size} to {path}{under}",
            )
        case EditKind.APPEND:
            return NoteEdit(
                lambda text: appended(text, content),
                lambda path: f"appended {size} to {path}",
                new=ended(content),
            )
        case EditKind.PREPEND:
            return NoteEdit(
                lambda text: (
                    _first_under(text, part, content) if part else prepended(text, content)
                ),
                lambda path: f"added {size} at the start of {path}{under}",
            )
        case EditKind.OVERWRITE:
            return NoteEdit(
                lambda text: (
                    with_block(text, part, content)
                    if part.startswith("^")
                    else with_section(text, part, content, whole=True)
                ),
                lambda path: f"replaced {_told(part)} in {path}",
                replaces=True,
            )
        case EditKind.REPLACE:
            return NoteEdit(
                lambda text: replaced(text, request.find, content, request.count or None),
                lambda path: f"replaced {_told(request.find)} by {_told(content)} in {path}",
            )
        case EditKind.SET_PROPERTY | EditKind.REMOVE_PROPERTY:
            return _property_edit(request)
        case EditKind.ADD_TASK | EditKind.TICK_TASK | EditKind.UNTICK_TASK:
            return _task_edit(request, today)
        case EditKind.CREATE:
            raise InvalidError("Making a note is no edit of one.")


def _property_edit(request: EditNote) -> NoteEdit:
    part, content = request.part, request.content
    if request.kind is EditKind.REMOVE_PROPERTY:
        return NoteEdit(
            lambda text: without_property(text, part),
            lambda path: f"removed the property {_told(part)} from {path}",
            replaces=True,
        )
    value = property_value(content)
    return NoteEdit(
        lambda text: with_property(text, part, value),
        lambda path: f"set {_told(part)} to {_told(content)} in {path}",
        replaces=True,
    )


def _task_edit(request: EditNote, today: dt.date) -> NoteEdit:
    part, content = request.part, request.content
    told = _told(content) or f"line {request.line}"
    if request.kind is EditKind.ADD_TASK:
        under = f", under {_told(part)}" if part else ""
        return NoteEdit(
            lambda text: with_task(text, content, heading=part),
            lambda path: f"added the task {told} to {path}{under}",
            new=None if part else ended(with_task("", content)),
        )
    if request.kind is EditKind.TICK_TASK:
        return NoteEdit(
            lambda text: ticked(text, _task(text, request), today=today),
            lambda path: f"ticked {told} in {path}",
        )
    return NoteEdit(
        lambda text: unticked(text, _task(text, request)), lambda path: f"unticked {told} in {path}"
    )


def ended(content: str) -> str:
    """Return a text with its last line ended."""
    return content if content.endswith(("\n", "\r")) else content + line_end(content)


def property_value(written: str) -> PropertyValue:
    """Return a property's value from JSON; a text that is an ISO date is a date.

    Raises:
        InvalidError: It's no JSON.
    """
    try:
        value: PropertyValue = msgspec.json.decode(written)
    except msgspec.DecodeError as error:
        raise InvalidError(
            f"{shown(written)} is no value of a property.", hint='Write a text as "text".'
        ) from error
    if isinstance(value, str):
        for kind in (dt.date, dt.datetime):
            try:
                return kind.fromisoformat(value)
            except ValueError:
                continue
    return value


def _task(text: str, request: EditNote) -> str | int:
    """Which task of a note is meant: by its line, if that still says what it did, or its text."""
    if not request.line:
        return request.content
    task = task_named(parse(text), request.line, prefer=lambda _: True)
    if folded(" ".join(request.content.split())) not in folded(" ".join(task.text.split())):
        raise ConflictError(
            f"Line {request.line} says {_told(task.text)} now, not {_told(request.content)}.",
            hint="List the tasks again.",
        )
    return request.line


def _appended_under(text: str, part: str, content: str) -> str:
    if part.startswith("^"):
        note = parse(text)
        span = find_anchor(note, part)
        if span is None:
            raise InvalidError(f"The note has no block {part}.", hint="Name a heading instead.")
        return inserted_after(text, span.end, content)
    return inserted_under(text, part, content)


def _first_under(text: str, part: str, content: str) -> str:
    return inserted_after(text, heading_named(parse(text), part).span.end, content)


def _told(text: str) -> str:
    short = " ".join(text.split())
    if not short:
        return ""
    return f"'{shown(short if len(short) <= _LONGEST_TOLD else f'{short[:_LONGEST_TOLD]}…')}'"
