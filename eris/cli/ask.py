"""`eris ask`: one turn from the command line."""

import contextlib
import sys
import time
import uuid

import click
import msgspec

from eris.answer_printer import AnswerPrinter
from eris.cli import failure
from eris.cli.invocation import Invocation, example, json_option, pass_invocation, vault_option
from eris.cli.starting import start_system
from eris.errors import ErisError, UnavailableError
from eris.paths import unicode_text
from eris.surface import (
    SUBMIT_SECONDS,
    attach,
    cancel,
    follow_turn,
    is_running,
    require_running,
    submit,
)
from proto.orchestrator import ToolCallView, TurnState, TurnView

MAIN_SESSION = "main"

_LAST_SECONDS = 5.0
"""How long an interrupted command tries to learn which turn it began."""


@example(
    'eris ask --vault ~/notes "What did I write about the garden?"',
    'eris ask --json "Save a note in todo.md saying that I should buy milk."',
    "cat letter.txt | eris ask -",
)
@click.command()
@click.argument("text", nargs=-1)
@click.option("--session", metavar="NAME", default=MAIN_SESSION, help="Conversation it belongs to.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    help="Cancel the turn if it takes longer (default: 600).",
)
@click.option("--up", "start", is_flag=True, help="Start the system first if it isn't running.")
@json_option
@vault_option
@pass_invocation
def ask(
    invocation: Invocation,
    *,
    text: tuple[str, ...],
    session: str,
    timeout: float,
    start: bool,
    as_json: bool,
) -> int:
    """Ask one thing and print the answer.

    Needs the running system (`eris up`). Without TEXT, or with -, the text is read from standard
    input. The answer goes to standard output, as it's written if that is a terminal; what was
    changed is told on standard error. Ctrl-C cancels the turn.
    """
    said, session = _said(text), unicode_text(session)
    paths = invocation.paths()
    if start and not is_running(paths):
        start_system(paths.vault, invocation.child_environment(), sys.stderr)
    require_running(paths)
    began = time.monotonic()
    printer = AnswerPrinter(sys.stdout, sys.stderr, streaming=not as_json and sys.stdout.isatty())
    view: TurnView | None = None
    turn, idem = "", uuid.uuid4().hex
    with attach("cli", paths, invocation.settings().settings) as port:
        try:
            within = min(timeout, SUBMIT_SECONDS)
            turn = submit(port, session, said, idem, within=within).turn
            for view in follow_turn(port, session, turn, timeout, spent=time.monotonic() - began):
                printer.show(view)
        except (KeyboardInterrupt, ErisError) as reason:
            with contextlib.suppress(ErisError):
                if not turn and isinstance(reason, KeyboardInterrupt):
                    # It may have begun already: asking again only tells which turn it is.
                    turn = submit(port, session, said, idem, within=_LAST_SECONDS).turn
                if turn:
                    cancel(port, session, turn)
            printer.end_line()
            if isinstance(reason, KeyboardInterrupt):
                failure.say("cancelled", "The turn was cancelled.", "", as_json=as_json)
                return failure.EXIT_INTERRUPTED
            raise
    if view is None:
        raise UnavailableError("The turn ended without a word.", hint="See `eris logs`.")
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(document_of(view, session)), indent=2))
    else:
        printer.finish(view)
    return exit_code_of(view)


def exit_code_of(view: TurnView) -> int:
    """Return the exit code for how a turn ended."""
    match view.state:
        case TurnState.DONE:
            return failure.EXIT_OK
        case TurnState.CANCELLED:
            return failure.EXIT_INTERRUPTED
        case _:
            return failure.EXIT_FAILURE


def document_of(view: TurnView, session: str) -> dict[str, object]:
    """Return what ``--json`` prints: all that is known of a finished turn."""
    usage = view.usage
    document: dict[str, object] = {
        "ok": view.state is TurnState.DONE,
        "turn": view.turn,
        "session": session,
        "state": view.state,
        "message": view.message,
        "thought": view.thought,
        "truncated": view.truncated,
        "tool_calls": [_call_document(call) for call in view.calls],
        "receipts": [call.receipt for call in view.calls if call.receipt],
        "offered_tools": view.offered,
        "tokens": {
            "prompt": usage.prompt,
            "cached": usage.cached,
            "prefilled": usage.prefilled,
            "generated": usage.generated,
            "forced": usage.forced,
            "segments": usage.segments,
        },
        "rounds": usage.rounds,
        "recoveries": usage.recoveries,
        "timings_ms": {
            "route": usage.route_ms,
            "offer": usage.offer_ms,
            "prefill": usage.prefill_ms,
            "decode": usage.decode_ms,
            "tools": usage.tools_ms,
            "first_text": usage.first_text_ms,
            "total": usage.total_ms,
        },
    }
    if view.state is not TurnState.DONE:
        kind = view.error or str(view.state)
        document["error"] = {"type": kind, "message": view.message, "hint": ""}
    return document


def _call_document(call: ToolCallView) -> dict[str, object]:
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        arguments = call.arguments
    return {
        "id": call.call_id,
        "tool": call.tool,
        "arguments": arguments,
        "ok": call.state == "ok",
        "state": call.state,
        "result": call.content,
        "receipt": call.receipt,
        "elapsed_ms": call.elapsed_ms,
    }


def _said(text: tuple[str, ...]) -> str:
    if text and text != ("-",):
        said = unicode_text(" ".join(text))
    elif not text and sys.stdin.isatty():
        raise click.UsageError("Say what to ask: eris ask TEXT, or pipe the text in.")
    else:
        said = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    said = said.strip()
    if not said:
        raise click.UsageError("There is nothing to ask: the text is empty.")
    return said
