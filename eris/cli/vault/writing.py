"""Commands that change notes. Each change is a step that `eris undo` takes back."""

import sys

import click

from eris.cli.answers import Answer, answer
from eris.cli.asking import fresh_key
from eris.cli.texts import text as text_type
from eris.cli.vault.asking import Notes, collect
from eris.cli.vault.group import OF_NOTE, WRITING, command, note_argument
from eris.cli.vault.property_values import KINDS, value_as_json
from eris.cli.vault.telling import task as task_line
from eris.cli.vault.telling import written
from eris.errors import InvalidError, NotFoundError
from proto.vault import (
    EditKind,
    EditNote,
    ListTasks,
    MoveNote,
    OpenDaily,
    Tasks,
    TaskView,
    TrashNote,
    Written,
)

_OF_TEXT = {**OF_NOTE, "content": "text"}

_text = click.argument("text", type=text_type, nargs=-1)
_part = click.option(
    "--part", type=text_type, default="", help="In this section: a heading, or Heading#Below."
)
_version = click.option(
    "--if-version",
    "version",
    type=text_type,
    default="",
    help="Refuse if the note was changed since this version of it (see `read --json`).",
)


def given_text(words: tuple[str, ...]) -> str:
    """Return the text that a command was given; ``-``, or none in a pipe, means standard input.

    Raises:
        InvalidError: Standard input isn't UTF-8 text.
        click.UsageError: There's no text.
    """
    if words and words != ("-",):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise click.UsageError("Say what to write, or pipe the text in.")
    try:
        said = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidError(
            f"Standard input isn't UTF-8 text (byte {error.start}).",
            hint="Convert it first, such as with: iconv -f latin1 -t utf-8",
        ) from error
    if not said:
        raise click.UsageError("There is nothing to write: the text is empty.")
    return said


def _edit(
    notes: Notes,
    kind: EditKind,
    note: str,
    content: str = "",
    part: str = "",
    *,
    find: str = "",
    count: int = 1,
    line: int = 0,
    template: str = "",
    version: str = "",
) -> Answer:
    body = EditNote(
        idem=fresh_key(),
        kind=kind,
        note=note,
        content=content,
        part=part,
        find=find,
        count=count,
        line=line,
        template=template,
        version=version,
    )
    return answer(notes.ask(body, Written), written)


@command(
    "create",
    "create ideas/boat.md 'Build a boat.'",
    "create 'Trip to Paris' --template Travel",
    "create report.md - --overwrite < report.txt",
    section=WRITING,
    renamed={"path": "note", "file": "note", "name": "note", "content": "text"},
)
@note_argument()
@_text
@click.option("--template", type=text_type, default="", help="Make it from this template.")
@click.option("--overwrite", is_flag=True, help="Replace all of it if it's there.")
@_version
def create(
    notes: Notes,
    *,
    note: str,
    text: tuple[str, ...],
    template: str,
    overwrite: bool,
    version: str,
) -> Answer:
    """Make a note; one that is there already is left alone.

    It's empty unless a text is given; with - that is read from standard input. --overwrite replaces
    all of a note that is there.
    """
    content = given_text(text) if text else ""
    kind = EditKind.OVERWRITE if overwrite else EditKind.CREATE
    return _edit(notes, kind, note, content, template=template, version=version)


@command(
    "append",
    'append todo.md "- eggs"',
    'append todo.md --part "This week" "- eggs"',
    "append log.md - < letter.txt",
    "append file=todo content='- eggs\\n- milk'",
    section=WRITING,
    renamed=_OF_TEXT,
)
@note_argument()
@_text
@_part
def append(notes: Notes, *, note: str, text: tuple[str, ...], part: str) -> Answer:
    """Add text at the end of a note, or of a section.

    A note that isn't there is made. Without TEXT, or with -, the text is read from standard input.
    """
    return _edit(notes, EditKind.APPEND, note, given_text(text), part)


@command("prepend", 'prepend log.md "Read this first."', section=WRITING, renamed=_OF_TEXT)
@note_argument()
@_text
@_part
def prepend(notes: Notes, *, note: str, text: tuple[str, ...], part: str) -> Answer:
    """Add text at the start of a note, or of a section.

    That is below the note's properties. Without TEXT, or with -, the text is read from standard
    input.
    """
    return _edit(notes, EditKind.PREPEND, note, given_text(text), part)


@command(
    "replace",
    'replace todo.md "milk" "oat milk"',
    'replace plan.md "2026" "2027" --count 0',
    section=WRITING,
    renamed=OF_NOTE,
)
@note_argument()
@click.argument("old", type=text_type)
@click.argument("new", type=text_type)
@click.option(
    "--count",
    type=click.IntRange(min=0),
    default=1,
    help="How often OLD must be there (default: 1); 0 for any number.",
)
@_version
def replace(notes: Notes, *, note: str, old: str, new: str, count: int, version: str) -> Answer:
    """Replace a text in a note by another.

    Nothing is replaced unless OLD is there as often as --count says.
    """
    return _edit(notes, EditKind.REPLACE, note, new, find=old, count=count, version=version)


@command(
    "move",
    "move inbox/idea.md projects/",
    "move idea.md projects/boat.md --dry-run",
    "move file=idea to=projects/",
    section=WRITING,
    renamed={**OF_NOTE, "to": "target"},
)
@note_argument()
@click.argument("target", type=text_type)
@click.option("--dry-run", is_flag=True, help="Only say which files would be changed.")
def move(notes: Notes, *, note: str, target: str, dry_run: bool) -> Answer:
    """Move a note or folder, and rewrite every link to it.

    However many notes that changes, it's one step. TARGET is the new path, or a folder if it ends
    in a slash.
    """
    body = MoveNote(idem=fresh_key(), note=note, target=target, dry_run=dry_run)
    return answer(notes.ask(body, Written), written)


@command("rename", 'rename idea.md "Boat"', section=WRITING, renamed=OF_NOTE)
@note_argument()
@click.argument("name", type=text_type)
@click.option("--dry-run", is_flag=True, help="Only say which files would be changed.")
def rename(notes: Notes, *, note: str, name: str, dry_run: bool) -> Answer:
    """Rename a note or folder, and rewrite every link to it."""
    if "/" in name:
        raise click.UsageError(f"{name!r} is a path; `eris vault move` moves a note to one.")
    body = MoveNote(idem=fresh_key(), note=note, target=name, dry_run=dry_run)
    return answer(notes.ask(body, Written), written)


@command("delete", "delete old/draft.md", section=WRITING, renamed=OF_NOTE)
@note_argument()
def delete(notes: Notes, *, note: str) -> Answer:
    """Move a note to the vault's trash."""
    return answer(notes.ask(TrashNote(idem=fresh_key(), note=note), Written), written)


@command(
    "daily:append",
    'daily:append "- [ ] call the plumber"',
    "daily:append content='- [ ] call the plumber'",
    section=WRITING,
    renamed={"content": "text"},
)
@_text
def daily_append(notes: Notes, *, text: tuple[str, ...]) -> Answer:
    """Add text at the end of today's note.

    It's made from its template if it isn't there. Without TEXT, or with -, the text is read from
    standard input.
    """
    body = OpenDaily(idem=fresh_key(), content=given_text(text))
    return answer(notes.ask(body, Written), written)


@command(
    "property:set",
    "property:set todo.md status done",
    "property:set recipe.md tags soup winter",
    "property:set name=due value=2027-01-31 type=date file=todo",
    section=WRITING,
    renamed=OF_NOTE,
)
@note_argument()
@click.argument("name", type=text_type)
@click.argument("value", type=text_type, nargs=-1, required=True)
@click.option(
    "--type", "type_", type=click.Choice(KINDS), default=None, help="Type (default: as written)."
)
def property_set(
    notes: Notes, *, note: str, name: str, value: tuple[str, ...], type_: str | None
) -> Answer:
    """Set a property of a note.

    Everything else in the note stays as it is. Several values are a list.
    """
    return _edit(notes, EditKind.SET_PROPERTY, note, value_as_json(value, type_), name)


@command("property:remove", "property:remove todo.md due", section=WRITING, renamed=OF_NOTE)
@note_argument()
@click.argument("name", type=text_type)
def property_remove(notes: Notes, *, note: str, name: str) -> Answer:
    """Remove a property from a note."""
    return _edit(notes, EditKind.REMOVE_PROPERTY, note, "", name)


# Tasks.


@command(
    "task:add",
    'task:add todo.md "buy milk"',
    'task:add todo.md "buy milk" --part Shopping',
    section=WRITING,
    renamed=_OF_TEXT,
)
@note_argument()
@_text
@_part
def task_add(notes: Notes, *, note: str, text: tuple[str, ...], part: str) -> Answer:
    """Add a task to a note, or to a section of it."""
    return _edit(notes, EditKind.ADD_TASK, note, given_text(text).strip(), part)


@command("task:tick", "task:tick todo.md milk", section=WRITING, renamed=_OF_TEXT)
@note_argument()
@_text
def task_tick(notes: Notes, *, note: str, text: tuple[str, ...]) -> Answer:
    """Tick the task of a note that has this text.

    A part of the text is enough if no other task has it.
    """
    return _edit(notes, EditKind.TICK_TASK, note, given_text(text).strip())


@command(
    "task",
    "task todo.md:8",
    "task todo.md:8 --done",
    "task ref=todo.md:8 toggle",
    "task daily line=3 done",
    section=WRITING,
    renamed={**OF_NOTE, "ref": "note"},
)
@note_argument(required=False)
@click.option("--line", type=click.IntRange(min=1), help="Its line, if not said as NOTE:LINE.")
@click.option("--daily", is_flag=True, help="In today's note.")
@click.option("--done", "to", flag_value="done", help="Tick it.")
@click.option("--todo", "to", flag_value="todo", help="Untick it.")
@click.option("--toggle", "to", flag_value="toggle", help="Tick it, or untick it if it's ticked.")
def task(notes: Notes, *, note: str, line: int | None, daily: bool, to: str | None) -> Answer:
    """Print the task at NOTE:LINE, or tick it.

    That is how `tasks` lists it. It's ticked only if that line still says what it said a moment
    ago.
    """
    if line is None:
        note, _, digits = note.rpartition(":")
        line = int(digits) if digits.isdecimal() else 0
    if not line or bool(note) == daily:
        raise click.UsageError("Say which task: NOTE:LINE, or --daily --line LINE.")
    place = notes.daily() if daily else note

    def page(offset: int, most: int) -> tuple[tuple[TaskView, ...], int]:
        reply = notes.ask(ListTasks(note=place, limit=most, offset=offset), Tasks)
        return reply.tasks, reply.total

    found = {each.line: each for each in collect(page, None)[0]}
    if line not in found:
        at = ", ".join(map(str, found))
        raise NotFoundError(
            f"There is no task at line {line} of {place}.",
            hint=f"There are tasks at: {at}." if at else "It has no tasks.",
        )
    view = found[line]
    if to is None:
        document = {"ok": True, "path": view.path, "line": line, "text": view.text}
        document |= {"done": view.done, "due": view.due}
        return Answer(document, lambda look: task_line(view, look) + "\n")
    ticks = not view.done if to == "toggle" else to == "done"
    kind = EditKind.TICK_TASK if ticks else EditKind.UNTICK_TASK
    return _edit(notes, kind, view.path, view.text, line=line)
