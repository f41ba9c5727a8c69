"""Commands that show what was done to notes, and take it back."""

import click

from eris.cli.answering import answering
from eris.cli.answers import Answer, answer
from eris.cli.asking import fresh_key
from eris.cli.invocation import example
from eris.cli.vault import telling
from eris.cli.vault.asking import Notes, attached
from eris.cli.vault.group import OF_NOTE, PAST, command, note_argument
from proto.vault import (
    Blame,
    BlameNote,
    Difference,
    DiffNote,
    History,
    ListHistory,
    RestoreNote,
    Undo,
    Written,
)

_STEP = click.IntRange(min=1)


@command("history", "history todo.md", "history --limit 10", section=PAST, renamed=OF_NOTE)
@note_argument(required=False)
@click.option("--limit", type=click.IntRange(min=1), default=50, help="How many (default: 50).")
def history(notes: Notes, *, note: str, limit: int) -> Answer:
    """List what was done to a note, or to any, latest first."""
    # One more than is shown tells whether there are more.
    reply = notes.ask(ListHistory(note=note, limit=limit + 1), History)
    more = len(reply.steps) > limit
    reply = History(path=reply.path, steps=reply.steps[:limit])
    remark = f"Older steps aren't shown: --limit {limit * 10}" if more else ""
    return answer(reply, telling.history, remark=remark)


@command("diff", "diff todo.md", "diff todo.md 12 --since", section=PAST, renamed=OF_NOTE)
@note_argument()
@click.argument("step", type=_STEP, required=False)
@click.option("--since", is_flag=True, help="What was changed since the step, by anybody.")
def diff(notes: Notes, *, note: str, step: int | None, since: bool) -> Answer:
    """Print what a step changed in a note.

    By default that's the last step that changed it.
    """
    reply = notes.ask(DiffNote(note=note, step=step or 0, since=since), Difference)
    return answer(reply, telling.difference)


@note_argument()
@click.argument("step", type=_STEP)
@click.option("--before", is_flag=True, help="To what it was before the step.")
def _restore(notes: Notes, *, note: str, step: int, before: bool) -> Answer:
    """Bring a note back to what it was after a step.

    `eris vault history NOTE` lists the steps. This is a step, too.
    """
    body = RestoreNote(idem=fresh_key(), note=note, step=step, before=before)
    return answer(notes.ask(body, Written), telling.written)


for _name in ("restore", "history:restore"):
    command(
        _name,
        f"{_name} todo.md 12",
        f"{_name} todo.md 12 --before",
        f"{_name} file=todo version=12",
        section=PAST,
        renamed={**OF_NOTE, "version": "step"},
    )(_restore)


@command("blame", "blame todo.md", section=PAST, renamed=OF_NOTE)
@note_argument()
def blame(notes: Notes, *, note: str) -> Answer:
    """Print which step and turn wrote each line of a note.

    Lines without are the user's, or another program's.
    """
    return answer(notes.ask(BlameNote(note=note), Blame), telling.blame)


@example("eris undo", "eris undo 12")
@click.command()
@click.argument("step", type=_STEP, required=False)
@answering(attached)
def undo(notes: Notes, *, step: int | None) -> Answer:
    """Take back what was done last to notes: all of a turn's steps, or one step by its number.

    `eris vault history` lists the steps. Whatever was changed since is kept where the changes
    don't touch; where they do, nothing is undone and it says what is in the way.
    """
    return answer(notes.ask(Undo(idem=fresh_key(), step=step or 0), Written), telling.written)
