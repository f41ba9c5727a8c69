"""What a command of the vault comes to, and how it's printed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import click
import msgspec

from eris.cli.looks import Look
from eris.terminal_text import harmless

R = TypeVar("R", bound=msgspec.Struct)


@dataclass(frozen=True)
class Answer:
    """What a command comes to."""

    document: Mapping[str, object]
    """What ``--json`` prints."""
    text: Callable[[Look], str]
    """What is printed otherwise, line ends included."""
    count: int = 0
    """What ``--total`` prints: the number of things listed."""
    remark: str = ""
    """Said on standard error, for people."""

    def print(self, look: Look, *, as_json: bool, total: bool) -> None:
        """Print it."""
        if as_json:
            document = msgspec.json.format(msgspec.json.encode(self.document), indent=2)
            text = look.text(document.decode()) + "\n"
        else:
            text = f"{self.count}\n" if total else self.text(look)
            if self.remark:
                click.echo(harmless(self.remark), err=True)
        # As bytes: click would take escape sequences out of what a program is to read.
        click.echo(text.encode(), nl=False)


def answer(reply: R, text: Callable[[R, Look], str], *, count: int = 0, remark: str = "") -> Answer:
    """Return the answer that a reply of the vault makes."""
    return Answer(document_of(reply), lambda look: text(reply, look), count, remark)


def document_of(reply: msgspec.Struct) -> dict[str, object]:
    """Return the JSON document for a reply: its fields."""
    fields: dict[str, object] = msgspec.to_builtins(reply)
    fields.pop("t", None)
    return {"ok": True, **fields}
