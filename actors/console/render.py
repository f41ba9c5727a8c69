"""The view as rich renderables; pure.

Everything that comes from a model, a note or the user passes `harmless` and is never read as rich
markup. An answer is shown as Markdown; nothing in it is loaded, links and images are text.
"""

from collections.abc import Callable, Iterator
from functools import partial

from markdown_it import MarkdownIt
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from actors.console.view import (
    REMINDER_MARK,
    Note,
    Pending,
    Shown,
    Status,
    Tone,
    View,
    answers_to,
    notes_after,
    place_in_queue,
)
from eris.reminding import details, headline
from eris.terminal_text import harmless
from proto.orchestrator import ToolCallView, TurnState, TurnView

_INDENT = (0, 0, 0, 2)
_ARGUMENTS_SHOWN = 160
_MARKS = {"running": ("…", "yellow"), "ok": ("✓", "green"), "failed": ("✗", "red")}

GREETING = "Say something, or /help."

Part = tuple[tuple[object, ...], Callable[[], RenderableType]]
"""A part of the transcript: a key, equal for equal parts, and what makes it (which takes time)."""

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
"""Tags of HTML are text like any other: rich would leave them out, and with them what they say."""


def transcript(view: View) -> Iterator[Part]:
    """Yield the parts of the transcript, top down."""
    notes = notes_after(view)
    said = view.conversation.turns or view.pending or view.notes
    if view.ever_reached and not said:
        yield ("greeting",), partial(_aside, GREETING)
    for note in notes.get("", ()):
        yield (note,), partial(_beside, note)
    for turn in view.conversation.turns:
        doing = _doing(view, turn)
        yield (
            (turn, doing, view.show_thought, view.show_tools),
            partial(turn_part, turn, doing, thought=view.show_thought, tools=view.show_tools),
        )
        for note in notes.get(turn.turn, ()):
            yield (note,), partial(_beside, note)
    for pending in view.pending:
        yield (pending,), partial(pending_part, pending)


def pending_part(pending: Pending) -> RenderableType:
    """Return a message that isn't a turn yet."""
    return Group(_said(pending.text), _aside("queued…" if pending.turn else "sending…"), Text())


def _doing(view: View, turn: TurnView) -> str:
    """What an unfinished turn is doing, in a word or two; empty for a finished one."""
    progress = view.conversation.progress
    match turn.state:
        case TurnState.QUEUED:
            return f"queued, {place_in_queue(view, turn)} in front"
        case TurnState.RUNNING if progress is not None and progress.turn == turn.turn:
            return f"{progress.phase}…"
        case TurnState.RUNNING:
            return "…"
        case _:
            return ""


def turn_part(turn: TurnView, doing: str, *, thought: bool, tools: bool) -> RenderableType:
    """Return one turn: what was said, thought, called and answered, and what it's doing."""
    parts: list[RenderableType] = [_said(turn.text)]
    if turn.recalled:
        parts.append(_aside(harmless(f"recalled: {'; '.join(turn.recalled)}")))
    if turn.thought:
        parts.append(_thought(turn.thought, shown=thought))
    for call in turn.calls:
        parts.extend(_call(call, shown=tools))
    parts.extend(_answer(turn))
    if turn.notice:
        parts.append(_aside(harmless(turn.notice)))
    if doing:
        parts.append(_aside(doing))
    return Group(*parts, Text())


def _answer(turn: TurnView) -> Iterator[RenderableType]:
    message = harmless(turn.message)
    match turn.state:
        case TurnState.FAILED:
            yield Padding(Text(message or "The turn failed.", style="red"), _INDENT)
        case TurnState.CANCELLED:
            if message:
                yield Padding(markdown(message), _INDENT)
            yield _aside("cancelled")
        case _:
            if message:
                yield Padding(markdown(message), _INDENT)
    if turn.truncated:
        yield _aside("cut by the token limit (generation.max_tokens)")


def _beside(each: Note | Shown) -> RenderableType:
    return note_part(each) if isinstance(each, Note) else reminder_part(each)


def reminder_part(shown: Shown) -> RenderableType:
    """Return a reminder: what it's about, when it was due, and how to answer it."""
    reminder = shown.reminder
    name = harmless(reminder.occurrence)
    parts: list[RenderableType] = [
        Text(f"{REMINDER_MARK} {harmless(headline(reminder))}", style="bold yellow")
    ]
    if reminder.answer:
        parts.append(Padding(markdown(harmless(reminder.answer)), _INDENT))
    parts.append(_aside(f"{name} · {harmless(details(reminder))}"))
    if shown.waits:
        parts.append(_aside(answers_to(name)))
    else:
        parts.append(_aside("answered elsewhere" if shown.gone else str(reminder.state)))
    return Group(*parts, Text())


def note_part(note: Note) -> RenderableType:
    """Return something that the console itself says."""
    style = "red" if note.tone is Tone.ERROR else "cyan"
    return Group(Padding(Text(harmless(note.text), style=style), _INDENT), Text())


def markdown(text: str) -> Markdown:
    """Return Markdown of text that is harmless already; links as text, nothing loaded."""
    document = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    document.markup = text
    document.parsed = _PARSER.parse(text)
    return document


def status_line(status: Status) -> str:
    """Return the status line as plain text."""
    parts = [status.session]
    if not status.reached:
        parts.append("reconnecting…")
    if status.total:
        parts.append(f"actors {status.ready}/{status.total}")
    if status.away:
        parts.append("not ready: " + ", ".join(status.away))
    if not status.total:
        parts.append("supervisor away")
    if status.phase:
        parts.append(status.phase)
    parts.append(f"{status.prompt_tokens}+{status.generated_tokens} tokens")
    if status.tokens_per_second:
        parts.append(f"{status.tokens_per_second:.1f} tok/s")
    parts.append(f"queue {status.queued}")
    return harmless(" · ".join(parts)).replace("\n", " ")


def plain_text(part: RenderableType, width: int) -> str:
    """Return a renderable as text without any style."""
    console = Console(width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(part)
    return capture.get()


def _said(text: str) -> RenderableType:
    said = Text("> ", style="bold green")
    said.append(harmless(text), style="bold")
    return said


def _aside(text: str) -> RenderableType:
    return Padding(Text(text, style="dim italic"), _INDENT)


def _thought(thought: str, *, shown: bool) -> RenderableType:
    if not shown:
        return _aside(f"thought, {len(thought)} characters (Ctrl+T shows it)")
    return Padding(Text(harmless(thought), style="dim italic"), _INDENT)


def _call(call: ToolCallView, *, shown: bool) -> Iterator[RenderableType]:
    mark, colour = _MARKS.get(call.state, ("?", "yellow"))
    arguments = " ".join(harmless(call.arguments).split())
    if not shown and len(arguments) > _ARGUMENTS_SHOWN:
        arguments = arguments[: _ARGUMENTS_SHOWN - 1] + "…"
    line = Text.assemble((f"{mark} ", colour), (harmless(call.tool), "bold"), f" {arguments}")
    if call.elapsed_ms:
        line.append(f"  {call.elapsed_ms} ms", style="dim")
    yield Padding(line, _INDENT)
    if call.receipt:
        yield Padding(Text(f"  {harmless(call.receipt)}", style="green"), _INDENT)
    if call.content and (shown or call.state == "failed"):
        yield Padding(Text(harmless(call.content), style="dim"), (0, 0, 0, 4))
