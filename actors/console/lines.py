"""The transcript as lines of styled text for prompt_toolkit, rendered only where it changed."""

from io import StringIO

from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.formatted_text.utils import split_lines
from rich.console import Console, RenderableType

from actors.console.render import transcript
from actors.console.view import View

Lines = list[StyleAndTextTuples]


class TranscriptLines:
    """Renders views one after the other and keeps what hasn't changed in between."""

    def __init__(self, *, color: bool) -> None:
        self._color = color
        self._width = 0
        self._parts: list[tuple[tuple[object, ...], Lines]] = []

    def render(self, view: View, width: int) -> Lines:
        """Return all lines of the transcript for a screen of this width."""
        before = self._parts if width == self._width else []
        self._width = width
        parts = []
        for number, (key, make) in enumerate(transcript(view)):
            known = before[number] if number < len(before) else None
            if known is not None and known[0] == key:
                parts.append(known)
            else:
                parts.append((key, self._lines(make(), width)))
        self._parts = parts
        return [line for _, lines in parts for line in lines]

    def _lines(self, part: RenderableType, width: int) -> Lines:
        console = Console(
            file=StringIO(),
            width=max(width, 8),
            force_terminal=True,
            color_system="standard" if self._color else None,
            no_color=not self._color,
            legacy_windows=False,
            highlight=False,
            emoji=False,
        )
        with console.capture() as capture:
            console.print(part)
        text = capture.get().removesuffix("\n")
        return [list(line) for line in split_lines(to_formatted_text(ANSI(text)))]
