"""Commands that read notes and list files."""

import datetime as dt
import random
from typing import Any

import click
import msgspec

from eris.cli.answers import Answer, answer, document_of
from eris.cli.asking import fresh_key
from eris.cli.texts import text
from eris.cli.vault import telling
from eris.cli.vault.asking import Notes
from eris.cli.vault.group import OF_NOTE, READING, command, note_argument
from eris.errors import NotFoundError
from proto.vault import (
    Headings,
    ListProperties,
    OpenDaily,
    Outline,
    Properties,
    Written,
)


@command(
    "read",
    "read todo.md",
    'read "Trip to Paris" --part "Packing list"',
    "read file=Recipe",
    section=READING,
    renamed=OF_NOTE,
)
@note_argument()
@click.option("--part", type=text, default="", help="Only this heading, Heading#Below or ^block.")
@click.option(
    "--first-line", type=click.IntRange(min=1), default=1, help="Line to begin at (default: 1)."
)
@click.option("--lines", type=click.IntRange(min=1), default=None, help="How many lines.")
def read(notes: Notes, *, note: str, part: str, first_line: int, lines: int | None) -> Answer:
    """Print a note, or a part of it.

    To a file or another program the note goes out byte for byte; on a terminal control characters
    are shown as symbols.
    """
    return answer(notes.read(note, part, first_line, lines or 0), telling.note)


@command("outline", "outline todo.md", section=READING, renamed=OF_NOTE, total=True)
@note_argument()
def outline(notes: Notes, *, note: str) -> Answer:
    """Print the headings of a note, each with its line."""
    reply = notes.ask(Outline(note=note), Headings)
    return answer(reply, telling.headings, count=len(reply.headings))


@command("list", "list", "list projects", section=READING, renamed={"path": "folder"}, total=True)
@click.argument("folder", type=text, default="")
def list_folder(notes: Notes, *, folder: str) -> Answer:
    """List what is directly in a folder, or in the vault."""
    files, folders = notes.files(folder), notes.files(folder, folders=True)
    inside = telling.children(files.paths, folders.paths, files.folder)
    return _paths(inside, files.folder)


@command(
    "files",
    "files",
    "files projects --ext md",
    section=READING,
    renamed={"path": "folder"},
    total=True,
)
@click.argument("folder", type=text, default="")
@click.option("--ext", type=text, default="", help="Only files with this extension.")
def files(notes: Notes, *, folder: str, ext: str) -> Answer:
    """List all files, or those of a folder and all below it."""
    reply = notes.files(folder)
    end = f".{ext.removeprefix('.')}".casefold() if ext else ""
    return _paths(
        tuple(path for path in reply.paths if path.casefold().endswith(end)), reply.folder
    )


@command("folders", "folders", section=READING, renamed={"path": "folder"}, total=True)
@click.argument("folder", type=text, default="")
def folders(notes: Notes, *, folder: str) -> Answer:
    """List all folders, or those below a folder."""
    reply = notes.files(folder, folders=True)
    return _paths(reply.paths, reply.folder)


def _paths(paths: tuple[str, ...], folder: str) -> Answer:
    document = {"ok": True, "folder": folder, "paths": paths, "total": len(paths)}
    return Answer(document, lambda look: telling.paths(paths, look), len(paths))


@command("properties", "properties todo.md", "properties", section=READING, renamed=OF_NOTE)
@note_argument(required=False)
@click.option("--counts", is_flag=True, help="Without a note: how many notes have each of them.")
def properties(notes: Notes, *, note: str, counts: bool) -> Answer:
    """Print the properties of a note, or the names of all."""
    reply = notes.ask(ListProperties(note=note), Properties)
    values = _values(reply)
    document = {**document_of(reply), "values": values}
    if note or counts:
        return Answer(document, lambda look: telling.properties(values, look))
    return Answer(document, lambda look: telling.paths(values, look))


@command("property:read", "property:read todo.md status", section=READING, renamed=OF_NOTE)
@note_argument()
@click.argument("name", type=text)
def property_read(notes: Notes, *, note: str, name: str) -> Answer:
    """Print the value of one property of a note."""
    reply = notes.ask(ListProperties(note=note), Properties)
    values = _values(reply)
    known = {each.casefold(): each for each in values}
    if name.casefold() not in known:
        has = f"It has: {', '.join(values)}." if values else "It has none."
        raise NotFoundError(f"{reply.path} has no property {name}.", hint=has)
    name = known[name.casefold()]
    document = {"ok": True, "path": reply.path, "name": name, "value": values[name]}
    return Answer(document, lambda look: look.text(telling.property_value(values[name])) + "\n")


def _values(reply: Properties) -> dict[str, Any]:
    return msgspec.json.decode(reply.values, type=dict[str, Any])


@command("daily", "daily", "daily --day 2027-01-01", section=READING)
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="Another day's (default: today).")
def daily(notes: Notes, *, day: dt.datetime | None) -> Answer:
    """Print the path of today's note; it's made if need be.

    It's made from the template, in the folder and by the format that the vault's settings name.
    """
    iso = day.date().isoformat() if day else ""
    reply = notes.ask(OpenDaily(idem=fresh_key(), day=iso), Written)
    remark = telling.sentence(reply) if reply.step else ""
    return answer(reply, lambda said, look: telling.paths([said.path], look), remark=remark)


@command("daily:read", "daily:read", section=READING)
def daily_read(notes: Notes) -> Answer:
    """Print today's note."""
    return answer(notes.read(notes.daily()), telling.note)


@command("random", "random", "random --folder ideas", section=READING)
@click.option("--folder", type=text, default="", help="Choose from this folder and all below it.")
def random_note(notes: Notes, *, folder: str) -> Answer:
    """Print the path of a note chosen at random."""
    reply = notes.files(folder)
    found = [path for path in reply.paths if path.casefold().endswith(".md")]
    if not found:
        raise NotFoundError(f"There are no notes in {reply.folder or 'the vault'}.")
    path = random.choice(found)  # noqa: S311 - no secret
    return Answer({"ok": True, "path": path}, lambda look: telling.paths([path], look))
