"""The commands that take calendars in and write them: import, export."""

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from eris.cli.agenda.group import agenda, answering
from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask
from eris.cli.invocation import Invocation, example, pass_invocation
from eris.cli.looks import Look, lines
from eris.cli.texts import text as text_type
from eris.errors import NotFoundError, StorageError
from proto.agenda import ItemState

if TYPE_CHECKING:
    from eris.cli.agenda.importing import Imported

_MOST_READ = 64 * 1024 * 1024
"""More isn't even looked at; what is taken says `eris.icalendar_files`."""
_SHOWN = 20
_STANDARD = "-"


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    path: str
    """Empty for standard output."""
    items: int
    calendar: str = ""
    """The calendar itself, if it's for standard output."""


@example(
    "eris agenda import calendar.ics",
    "eris agenda import calendar.ics --dry-run",
    "curl https://example.org/team.ics | eris agenda import -",
)
@agenda.command("import")
@click.argument("file", type=text_type)
@click.option("--past", is_flag=True, help="Also what is over, as a record; it never fires.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@answering
@pass_invocation
def import_(invocation: Invocation, ask: Ask, *, file: str, past: bool, dry_run: bool) -> Answer:
    """Take in the events and tasks of an iCalendar file (.ics); - reads standard input.

    An entry is known by its UID: read again it's changed if it has changed, and never added twice.
    What can't be read is told of with its line, and the rest is taken.
    """
    from eris.cli.agenda.importing import import_calendar  # noqa: PLC0415 - not for help

    data = _read(invocation, file)
    reply = import_calendar(ask, data, _day_time(invocation), past=past, dry_run=dry_run)
    return answer(reply, _imported, remark=_not_taken(reply))


@example("eris agenda export agenda.ics", "eris agenda export --all > everything.ics")
@agenda.command()
@click.argument("file", type=text_type, default=_STANDARD)
@click.option("--all", "every", is_flag=True, help="Done ones, too.")
@answering
@pass_invocation
def export(invocation: Invocation, ask: Ask, *, file: str, every: bool) -> Answer:
    """Write the open items as an iCalendar file; by default to the output.

    Any calendar reads it. What calendars don't know is in properties of Eris's own, so that
    `eris agenda import` makes the same items of it.
    """
    from eris.cli.agenda.importing import export_calendar  # noqa: PLC0415

    states = (ItemState.OPEN, *([ItemState.DONE] if every else []))
    data, items = export_calendar(ask, states, _day_time(invocation))
    if file == _STANDARD:
        shown = Exported(path="", items=items, calendar=data.decode())
        return answer(shown, lambda reply, look: look.text(reply.calendar))
    path = invocation.cwd / Path(file).expanduser()
    try:
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(
            f"{path} can't be written: {error.strerror}.", hint="Give another path."
        ) from error
    return answer(Exported(path=str(path), items=items), _exported)


def _day_time(invocation: Invocation) -> dt.time:
    return dt.time.fromisoformat(invocation.settings().settings.agenda.default_time)


def _read(invocation: Invocation, file: str) -> bytes:
    if file == _STANDARD:
        return sys.stdin.buffer.read(_MOST_READ)
    path = invocation.cwd / Path(file).expanduser()
    try:
        with path.open("rb") as opened:
            return opened.read(_MOST_READ)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file {path}.", hint="Give the path of an .ics."
        ) from error
    except OSError as error:
        raise StorageError(
            f"{path} can't be read: {error.strerror}.", hint="Give the path of an .ics."
        ) from error


def _imported(reply: "Imported", look: Look) -> str:
    would = "would be " if reply.dry_run else ""
    told = [f"{len(reply.added)} {would}added, {len(reply.changed)} {would}changed"]
    if reply.unchanged:
        told.append(f"{reply.unchanged} {'was' if reply.unchanged == 1 else 'were'} there already")
    if reply.over == 1:
        told.append("1 is over and was left out (--past takes it)")
    elif reply.over:
        told.append(f"{reply.over} are over and were left out (--past takes them)")
    return lines([look.line("; ".join(told) + ".")])


def _exported(reply: Exported, look: Look) -> str:
    number = "1 item" if reply.items == 1 else f"{reply.items} items"
    return f"Wrote {number} to {look.path(reply.path)}.\n"


def _not_taken(reply: "Imported") -> str:
    told: list[str] = []
    for title, each in (("not taken", reply.skipped), ("not wholly taken", reply.remarks)):
        told += [f"{title}: {one}" for one in each[:_SHOWN]]
        if len(each) > _SHOWN:
            told.append(f"{title}: {len(each) - _SHOWN} more (--json lists them all)")
    return "\n".join(told)
