"""How a command ends: exit codes, and what is said when it fails."""

import json
import sys

import click

from eris.errors import ErisError
from eris.terminal_text import harmless
from proto.errors import ErrorCode

EXIT_OK = 0
EXIT_FAILURE = 1
"""It ran and failed, or found something."""
EXIT_CANNOT_RUN = 2
"""Wrong usage, or something that it needs isn't there."""
EXIT_CONFIGURATION = 78
"""``EX_CONFIG``: trying again can't help until a setting is changed."""
EXIT_INTERRUPTED = 130
"""Ctrl-C."""

_EXIT_BY_CODE: dict[str, int] = {
    ErrorCode.CONFIGURATION: EXIT_CONFIGURATION,
    ErrorCode.UNAVAILABLE: EXIT_CANNOT_RUN,
    ErrorCode.CANCELLED: EXIT_INTERRUPTED,
}


def exit_code_of(error: ErisError) -> int:
    """Return the exit code for an error."""
    return _EXIT_BY_CODE.get(error.code, EXIT_FAILURE)


def failure_document(kind: str, message: str, hint: str) -> str:
    """Return what ``--json`` prints on stdout when a command fails."""
    error = {"type": kind, "message": message, "hint": hint}
    return json.dumps({"ok": False, "error": error}, ensure_ascii=False)


def report(error: ErisError, *, as_json: bool) -> int:
    """Say why a command failed and return its exit code."""
    say(error.code, error.message, error.hint, as_json=as_json)
    return exit_code_of(error)


def report_usage(error: click.ClickException, *, as_json: bool) -> int:
    """Say how a command is used and return its exit code."""
    hint = ""
    context = getattr(error, "ctx", None)
    if context is not None:
        hint = f"See: {context.command_path} --help"
    say("usage", error.format_message(), hint, as_json=as_json)
    return EXIT_CANNOT_RUN if isinstance(error, click.UsageError) else EXIT_FAILURE


def say(kind: str, message: str, hint: str, *, as_json: bool) -> None:
    """Print an error: one JSON document on stdout, or two lines on stderr."""
    if as_json:
        click.echo(failure_document(kind, message, hint))
        return
    # A sentence may name a note, whose name may be anything.
    click.echo(f"eris: {harmless(message)}", err=True)
    if hint:
        click.echo(f"      {harmless(hint)}", err=True)


def silence_stdout() -> None:
    """After a reader such as `head` went away: keep the interpreter's last flush from failing."""
    sys.stdout = open("/dev/null", "w", encoding="utf-8")  # noqa: PTH123, SIM115 - until the exit
