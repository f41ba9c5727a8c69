"""The console without a terminal: one message a line in, answers as lines out."""

import time
import uuid
from collections.abc import Iterable
from typing import TextIO

from actors.console.commands import QuitRequested, is_command, message_of, run_command
from actors.console.link import Link, sentence
from actors.console.view import REMINDER_MARK, answers_to
from eris.actor import Port
from eris.answer_printer import AnswerPrinter
from eris.errors import ErisError
from eris.reminding import details, headline
from eris.surface import cancel, follow_turn, submit
from eris.terminal_text import harmless
from proto.agenda import ReminderView
from proto.orchestrator import TurnState

EXIT_OK = 0
EXIT_FAILURE = 1


def run_plain(port: Port, session: str, lines: Iterable[str], out: TextIO, notes: TextIO) -> int:
    """Answer line after line until there are no more; return the exit code.

    Args:
        port: Connection to the running system.
        session: Session that the messages belong to.
        lines: What the user says.
        out: Where answers go.
        notes: Where receipts, failures and reminders go. If it's no terminal, nobody is known to
            look at it, and a reminder that is written to it isn't counted as seen.
    """
    link = Link(
        port,
        session,
        changed=lambda: None,
        reminded=lambda reminder: _remind(notes, reminder),
        seen=notes.isatty(),
    )
    link.start_reminders()
    try:
        return _run(link, lines, out, notes)
    finally:
        link.stop()


def _run(link: Link, lines: Iterable[str], out: TextIO, notes: TextIO) -> int:
    code = EXIT_OK
    for line in lines:
        text = line.strip()
        if not text:
            continue
        try:
            if is_command(text):
                out.write(harmless(run_command(link, text)) + "\n")
                out.flush()
            elif not _turn(link, message_of(text), AnswerPrinter(out, notes, streaming=False)):
                code = EXIT_FAILURE
        except QuitRequested:
            break
        except ErisError as error:
            notes.write(harmless(sentence(error)) + "\n")
            notes.flush()
            code = EXIT_FAILURE
    return code


def _remind(notes: TextIO, reminder: ReminderView) -> None:
    """Print a reminder, in one piece: the answer to a message may be under way."""
    name = reminder.occurrence
    rows = [
        f"{REMINDER_MARK} {headline(reminder)}",
        *(reminder.answer.splitlines() if reminder.answer else ()),
        f"{name} · {details(reminder)}",
        answers_to(name),
    ]
    notes.write(harmless("\n  ".join(rows)) + "\n")
    notes.flush()


def _turn(link: Link, text: str, printer: AnswerPrinter) -> bool:
    """Play one turn; return whether it was answered."""
    port, session = link.port, link.session
    budget = float(port.settings.turn.budget_seconds)
    began = time.monotonic()
    turn = submit(port, session, text, uuid.uuid4().hex).turn
    view = None
    try:
        for view in follow_turn(port, session, turn, budget, spent=time.monotonic() - began):
            printer.show(view)
    except (KeyboardInterrupt, ErisError):
        cancel(port, session, turn)
        raise
    if view is None:
        return False
    printer.finish(view)
    return view.state is TurnState.DONE
