"""How text from notes is put on standard output: harmless for a terminal, exact for a program."""

import datetime as dt
from dataclasses import dataclass

import click

from eris.terminal_text import harmless

_LINE_ENDS = str.maketrans({"\n": "\N{SYMBOL FOR NEWLINE}", "\r": "\N{SYMBOL FOR CARRIAGE RETURN}"})


@dataclass(frozen=True)
class Look:
    """What standard output is."""

    terminal: bool = False
    """Whether somebody looks at it; if not, every character goes out as it is in the note."""
    color: bool = False
    zone: dt.tzinfo | None = None
    """In which times are told; None for the system's."""

    def text(self, text: str) -> str:
        """Return text of any number of lines."""
        return harmless(text) if self.terminal else text

    def line(self, text: str) -> str:
        """Return text as one line: a file's name, too, may have a line end in it."""
        return self.text(text.translate(_LINE_ENDS))

    def path(self, path: str) -> str:
        """Return the path of a note."""
        return self.styled(self.line(path), fg="magenta")

    def number(self, number: int | str) -> str:
        """Return the number of a line or step."""
        return self.styled(str(number), fg="green")

    def aside(self, text: str) -> str:
        """Return a remark."""
        return self.styled(self.line(text), dim=True)

    def styled(self, text: str, *, fg: str | None = None, dim: bool = False) -> str:
        """Return text in a colour, if there are colours."""
        return click.style(text, fg=fg, dim=dim) if self.color else text

    def time(self, seconds: float) -> str:
        """Return a time given in seconds since the epoch, to the minute."""
        return dt.datetime.fromtimestamp(seconds, self.zone).strftime("%Y-%m-%d %H:%M")


def lines(each: "list[str]") -> str:
    """Return lines as text; nothing for none."""
    return "".join(f"{line}\n" for line in each)
