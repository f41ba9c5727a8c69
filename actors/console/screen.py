"""The console with a terminal: transcript above, input and status line below."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    UIContent,
    UIControl,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import TextArea

from actors.console.commands import (
    QuitRequested,
    completions,
    is_command,
    message_of,
    run_command,
)
from actors.console.lines import TranscriptLines
from actors.console.link import Link, sentence
from actors.console.render import status_line
from actors.console.view import ThoughtToggled, Tone, ToolsToggled, status_of
from eris.actor import Port
from eris.errors import ErisError
from eris.terminal_text import harmless
from proto.agenda import ItemKind, ReminderView

AGAIN_SECONDS = 2.0
"""Within this time a second Ctrl+C leaves."""

_REDRAW_SECONDS = 0.05
_INPUT_LINES = 8
_ESCAPE_SECONDS = 0.1
"""How long to wait after Esc for the rest of a key's sequence."""

_HEARD = frozenset({ItemKind.ALARM, ItemKind.TIMER})

_STYLE = {
    "status": "reverse",
    "line": "fg:ansibrightblack",
    "completion-menu.completion.current": "reverse",
}

# Shift+Enter, as terminals send it that tell it from Enter at all.
for _sequence in ("\x1b[13;2u", "\x1b[27;2;13~"):
    ANSI_SEQUENCES[_sequence] = Keys.ControlJ


class TranscriptControl(UIControl):
    """Shows the end of the transcript, or what is further up."""

    def __init__(self, link: Link, *, color: bool) -> None:
        self._link = link
        self._rendered = TranscriptLines(color=color)
        self._total = 0
        self._height = 1
        self._back = 0

    def create_content(self, width: int, height: int) -> UIContent:
        """Return the lines that are visible now."""
        lines = self._rendered.render(self._link.view, width)
        if self._back:
            # What is being read stays where it is while lines are added below.
            self._back += len(lines) - self._total
        self._total, self._height = len(lines), height
        self._back = max(0, min(self._back, len(lines) - height))
        end = len(lines) - self._back
        visible = lines[max(0, end - height) : end]
        return UIContent(
            get_line=lambda number: visible[number],
            line_count=len(visible),
            show_cursor=False,
        )

    def is_focusable(self) -> bool:
        """The input line keeps the focus."""
        return False

    def scroll(self, pages: int) -> None:
        """Go up by so many pages (down if negative)."""
        self._back = max(0, self._back + pages * max(1, self._height - 1))

    def to_end(self) -> None:
        """Show the newest lines."""
        self._back = 0


class SlashCompleter(Completer):
    """Completes slash commands and their arguments."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - prompt_toolkit's signature
    ) -> Iterable[Completion]:
        """Yield completions of the whole line."""
        text = document.text_before_cursor
        for line, summary in completions(self._link, text):
            yield Completion(
                line, start_position=-len(text), display=line.strip(), display_meta=summary
            )


class Screen:
    """The application and what its keys do."""

    def __init__(self, port: Port, session: str, *, color: bool, history: Path) -> None:
        self.link = Link(port, session, self._changed, self._ring)
        name = port.settings.vault.name or port.paths.vault.name
        self._vault = harmless(name).replace("\n", " ")
        self._hint = ""
        self._interrupted = 0.0
        self._transcript = TranscriptControl(self.link, color=color)
        self._input = TextArea(
            multiline=True,
            wrap_lines=True,
            prompt="> ",
            history=FileHistory(str(history)),
            completer=SlashCompleter(self.link),
            complete_while_typing=True,
            height=Dimension(min=1, max=_INPUT_LINES),
            dont_extend_height=True,
        )
        body = HSplit(
            [
                Window(self._transcript, wrap_lines=False, always_hide_cursor=True),
                Window(height=1, char="─", style="class:line"),
                self._input,
                Window(FormattedTextControl(self._status), height=1, style="class:status"),
            ]
        )
        menu = Float(CompletionsMenu(max_height=10), xcursor=True, ycursor=True)
        self.application: Application[None] = Application(
            layout=Layout(FloatContainer(body, [menu]), focused_element=self._input),
            key_bindings=self._keys(),
            style=Style.from_dict(_STYLE),
            full_screen=True,
            mouse_support=False,
            min_redraw_interval=_REDRAW_SECONDS,
        )
        self.application.ttimeoutlen = _ESCAPE_SECONDS
        self.application.timeoutlen = _ESCAPE_SECONDS

    def run(self) -> None:
        """Show the console until the user leaves it."""
        self.link.start()
        try:
            self.application.run(pre_run=self._catch_signals)
        finally:
            self.link.stop()

    def submit(self, text: str) -> None:
        """Do what a line says: carry out a command, or send a message."""
        if not text.strip():
            return
        self._transcript.to_end()
        if is_command(text):
            self.link.port.submit(self._command, text)
        else:
            self.link.send(message_of(text).strip())

    def _changed(self) -> None:
        self.application.invalidate()

    def _ring(self, reminder: ReminderView) -> None:
        """Sound the terminal's bell for what is meant to be heard; may be called on any thread."""
        loop = self.application.loop
        if loop is not None and reminder.kind in _HEARD:
            loop.call_soon_threadsafe(self.application.output.bell)

    def _status(self) -> str:
        if self._hint:
            return f" {self._hint}"
        return f" {self._vault} · {status_line(status_of(self.link.view))}"

    def _command(self, text: str) -> None:
        try:
            said = run_command(self.link, text)
        except QuitRequested:
            self._leave()
        except ErisError as error:
            self.link.note(sentence(error), Tone.ERROR)
        else:
            if said:
                self.link.note(said)

    def _leave(self) -> None:
        """Leave; may be called on any thread, and again while leaving already."""
        loop = self.application.loop
        if loop is not None:
            loop.call_soon_threadsafe(self._exit)

    def _exit(self) -> None:
        if self.application.is_running and not self.application.future.done():  # type: ignore[union-attr]
            self.application.exit()

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._exit)

    def _show_hint(self, text: str) -> None:
        self._hint = text
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._clear_hint)

    def _clear_hint(self) -> None:
        self._hint = ""
        self._changed()

    def _accept(self, buffer: Buffer) -> None:
        text = buffer.text
        if text.strip():
            buffer.append_to_history()
        buffer.reset()
        self.submit(text)

    def _interrupt(self, buffer: Buffer) -> None:
        now = time.monotonic()
        if buffer.text:
            buffer.reset()
        elif now - self._interrupted < AGAIN_SECONDS:
            self._exit()
        else:
            self._show_hint("Ctrl+C again to leave; the system goes on running.")
            self._interrupted = now

    def _escape(self, buffer: Buffer) -> None:
        if buffer.complete_state is not None:
            buffer.cancel_completion()
            return
        running = self.link.view.conversation.running
        if running is not None:
            self.link.cancel(running.turn)

    def _tab(self, buffer: Buffer) -> None:
        if is_command(buffer.text):
            buffer.complete_next() if buffer.complete_state else buffer.start_completion(
                select_first=True
            )
        elif buffer.text and self.link.view.conversation.running is not None:
            self._accept(buffer)

    def _newline(self, buffer: Buffer) -> None:
        buffer.insert_text("\n")

    def _keys(self) -> KeyBindings:
        actions: tuple[tuple[tuple[str, ...], Callable[[Buffer], object]], ...] = (
            (("enter",), self._accept),
            (("c-j",), self._newline),
            (("escape", "enter"), self._newline),
            (("escape",), self._escape),
            (("c-c",), self._interrupt),
            (("tab",), self._tab),
            (("c-g",), lambda buffer: buffer.open_in_editor()),
            (("c-p",), lambda _: self.submit("/sessions")),
            (("c-t",), lambda _: self.link.tell(ThoughtToggled())),
            (("c-o",), lambda _: self.link.tell(ToolsToggled())),
            (("pageup",), lambda _: self._transcript.scroll(1)),
            (("pagedown",), lambda _: self._transcript.scroll(-1)),
        )
        keys = KeyBindings()
        for sequence, action in actions:
            keys.add(*sequence)(_binding(action))
        # With text in the line Ctrl+D deletes a character, as everywhere.
        keys.add("c-d", filter=Condition(lambda: not self._input.text))(
            _binding(lambda _: self._exit())
        )
        return keys


def _binding(action: Callable[[Buffer], object]) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        action(event.current_buffer)

    return handle
