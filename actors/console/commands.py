"""The slash commands: one table, from which help, completion and dispatch come."""

import difflib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from actors.console import answering
from actors.console.answering import waiting_names
from actors.console.link import Link
from actors.console.view import Acted
from eris.errors import InvalidError
from eris.supervisor import control
from eris.surface import ORCHESTRATOR
from proto.gatekeeper import ListTools, ToolList
from proto.orchestrator import ContextReport, DescribeContext, ListSessions, SessionList
from proto.supervisor import Restart, Status, StatusReport

PREFIX = "/"
"""What a command begins with; two of them send a message that begins with one."""

_WITHIN_SECONDS = 10.0
_RESTART_SECONDS = 300.0
_STATUS_SECONDS = 5.0


class QuitRequested(Exception):  # noqa: N818 - not an error: it ends the console
    """The user wants to leave."""


@dataclass(frozen=True)
class Command:
    """One slash command."""

    name: str
    argument: str
    """How the argument is called in the help; empty for none."""
    summary: str
    run: Callable[[Link, str], str]
    """Takes the link and the argument; returns what to say."""
    choices: Callable[[Link], Sequence[str]] = lambda _link: ()
    """Arguments to complete with."""


def _help(_link: Link, _argument: str) -> str:
    usages = {command.name: f"/{command.name} {command.argument}".strip() for command in COMMANDS}
    width = max(map(len, usages.values()))
    lines = [f"{usages[command.name]:<{width}}  {command.summary}" for command in COMMANDS]
    return "\n".join([*lines, "", *KEYS])


def _context(link: Link, _argument: str) -> str:
    report = link.port.ask(
        ORCHESTRATOR,
        DescribeContext(session=link.session),
        ContextReport,
        within=_WITHIN_SECONDS,
        retry=True,
    )
    width = max(map(len, [*report.segments, "reserved"]), default=0)
    rows = [f"{name:<{width}}  {count:>7}" for name, count in report.segments.items()]
    free = report.context_length - report.total - report.reserved
    return "\n".join(
        [
            f"The latest prompt has {report.total} of {report.context_length} tokens:",
            *rows,
            f"{'reserved':<{width}}  {report.reserved:>7}  for the answer",
            f"{'free':<{width}}  {free:>7}",
            *([f"{report.condensed_turns} turns are condensed."] if report.condensed_turns else []),
        ]
    )


def _tools(link: Link, _argument: str) -> str:
    tools = link.port.ask(
        "gatekeeper", ListTools(), ToolList, within=_WITHIN_SECONDS, retry=True
    ).tools
    if not tools:
        return "No tools are registered."
    width = max(len(tool.declaration.name) for tool in tools)
    return "\n".join(
        f"{tool.declaration.name:<{width}}  {tool.declaration.effect:<5}  "
        f"{tool.declaration.description}"
        for tool in tools
    )


def _report(link: Link) -> StatusReport:
    return control.request(link.port.paths, Status(), StatusReport, within=_STATUS_SECONDS)


def _status(link: Link, _argument: str) -> str:
    report = _report(link)
    lines = [f"{report.vault}: {report.state}, erisd {report.version} (pid {report.pid})"]
    width = max((len(actor.name) for actor in report.actors), default=0)
    for actor in report.actors:
        line = (
            f"{actor.name:<{width}}  {actor.state:<8}  pid {actor.pid:<7}  "
            f"{actor.rss_bytes / 1e6:>6.0f} MB  {actor.restarts} restarts"
        )
        dropped = sum(actor.dropped.values())
        lines.append(line + (f"  {dropped} dropped" if dropped else "") + _detail(actor.detail))
    return "\n".join(lines)


def _detail(detail: str) -> str:
    return f"  {detail}" if detail else ""


def _restart(link: Link, argument: str) -> str:
    if not argument:
        raise InvalidError("Say which process: /restart NAME", hint="/status lists them.")
    body = Restart(name=argument, idem=secrets.token_hex(8))
    began = time.monotonic()
    report = control.request(link.port.paths, body, StatusReport, within=_RESTART_SECONDS)
    actor = next((actor for actor in report.actors if actor.name == argument), None)
    if actor is None:
        return f"{argument} was restarted."
    took = time.monotonic() - began
    return f"{argument} is {actor.state} again after {took:.1f} s (pid {actor.pid})."


def _process_names(link: Link) -> Sequence[str]:
    report = link.view.report
    return [actor.name for actor in report.actors] if report is not None else []


def _cancel(link: Link, _argument: str) -> str:
    running = link.view.conversation.running
    if running is None:
        return "No turn is running."
    link.cancel(running.turn)
    return ""


def _new(link: Link, argument: str) -> str:
    session = link.open_session(argument)
    link.join(session)
    return f"This is the session {session}."


def _session_list(link: Link) -> SessionList:
    return link.port.ask(
        ORCHESTRATOR, ListSessions(), SessionList, within=_WITHIN_SECONDS, retry=True
    )


def _sessions(link: Link, argument: str) -> str:
    sessions = _session_list(link).sessions
    names = [one.session for one in sessions]
    if argument:
        if argument not in names:
            near = difflib.get_close_matches(argument, names, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Make it with: /new {argument}"
            raise InvalidError(f"There is no session {argument!r}.", hint=hint)
        link.join(argument)
        return f"This is the session {argument}."
    if not sessions:
        return "There are no sessions yet."
    width = max(map(len, names))
    return "\n".join(
        f"{'*' if one.session == link.session else ' '} {one.session:<{width}}  "
        f"{one.turns:>4} turns  {_when(one.last_active)}"
        for one in sessions
    )


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""


def _quit(_link: Link, _argument: str) -> str:
    raise QuitRequested


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "Show this.", _help),
    Command("context", "", "What fills the context, in tokens.", _context),
    Command("tools", "", "The tools and what they may touch.", _tools),
    Command("status", "", "Every process of the system.", _status),
    Command("restart", "NAME", "Restart one process.", _restart, _process_names),
    Command("cancel", "", "Stop the running turn (also: Esc).", _cancel),
    Command(
        "reminders", "", "What waits for an answer, and what is due next.", answering.reminders
    ),
    Command("done", "[ID]", "What a reminder is about is done.", answering.done, waiting_names),
    Command(
        "snooze", "[ID] [WHEN]", "Put a reminder off, in words.", answering.snooze, waiting_names
    ),
    Command("dismiss", "[ID]", "A reminder was seen.", answering.dismiss, waiting_names),
    Command("new", "[NAME]", "Start an empty session.", _new),
    Command("sessions", "[NAME]", "List the sessions, or join one.", _sessions),
    Command("quit", "", "Leave; the system goes on running (also: Ctrl+D).", _quit),
)

KEYS = (
    "Enter sends; Alt+Enter, Shift+Enter or Ctrl+J begins a new line.",
    "Esc stops the turn. Ctrl+C clears the line, twice leaves. Ctrl+D leaves.",
    "Ctrl+T thought. Ctrl+O tool calls in full. Ctrl+P sessions. Ctrl+G opens $EDITOR.",
    "Up and Down go through what you said before; PageUp and PageDown scroll.",
)

BY_NAME = {command.name: command for command in COMMANDS}


def is_command(text: str) -> bool:
    """Whether a line is a slash command rather than a message."""
    return text.startswith(PREFIX) and not text.startswith(PREFIX * 2)


def message_of(text: str) -> str:
    """Return the message that a line stands for."""
    return text.removeprefix(PREFIX) if text.startswith(PREFIX * 2) else text


def run_command(link: Link, text: str) -> str:
    """Carry out a slash command and return what to say, or an empty string.

    Raises:
        QuitRequested: It was /quit.
        ErisError: It's unknown, or it failed.
    """
    name, _, argument = text.removeprefix(PREFIX).strip().partition(" ")
    command = BY_NAME.get(name)
    if command is None:
        near = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.5)
        hint = f"Did you mean /{near[0]}?" if near else "/help lists them."
        raise InvalidError(f"There is no command /{name}.", hint=hint)
    try:
        return command.run(link, argument.strip())
    finally:
        link.tell(Acted())


def completions(link: Link, text: str) -> Iterator[tuple[str, str]]:
    """Yield what a line may be completed to, with a summary each."""
    if not is_command(text) or "\n" in text:
        return
    name, space, argument = text.removeprefix(PREFIX).partition(" ")
    if not space:
        for command in COMMANDS:
            if command.name.startswith(name):
                yield f"/{command.name}{' ' if command.argument else ''}", command.summary
        return
    command_found = BY_NAME.get(name)
    if command_found is not None:
        for choice in command_found.choices(link):
            if choice.startswith(argument):
                yield f"/{name} {choice}", ""
