"""Asking the vault actor about notes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from eris.cli.asking import Ask, asking, fresh_key
from eris.cli.invocation import Invocation
from eris.errors import ConflictError
from proto.vault import Files, ListFolder, NoteText, OpenDaily, ReadNote, Written

T = TypeVar("T")

VAULT = "vault"

_PAGE = 1000
"""The most things to ask for at once."""

_READINGS = 5


@contextmanager
def attached(invocation: Invocation, *, start: bool) -> Iterator["Notes"]:
    """Give the notes of the running system; see `eris.cli.asking`.

    Args:
        invocation: Which vault.
        start: Whether to start its system if it doesn't run.
    """
    with asking(invocation, VAULT, start=start) as ask:
        yield Notes(ask)


class Notes:
    """The notes of a vault, as one command asks about them."""

    def __init__(self, ask: Ask) -> None:
        """Create it over a way to ask."""
        self.ask = ask

    def read(self, note: str, part: str = "", first_line: int = 1, lines: int = 0) -> NoteText:
        """Return all that is asked for of a note, however many messages it takes.

        Args:
            note: Path, name, title or alias.
            part: Heading or block; empty for all of it.
            first_line: Where to begin.
            lines: How many lines; 0 for all.

        Raises:
            ConflictError: It was changed again and again while it was being read.
        """
        for _ in range(_READINGS):
            page = self.ask(
                ReadNote(note=note, part=part, first_line=first_line, lines=lines), NoteText
            )
            pages = [page]
            last = first_line + lines
            while pages[-1].next_line and (not lines or pages[-1].next_line < last):
                on = pages[-1].next_line
                body = ReadNote(
                    note=page.path, part=part, first_line=on, lines=last - on if lines else 0
                )
                pages.append(self.ask(body, NoteText))
            if all(each.version == page.version for each in pages):
                text = "".join(each.text for each in pages)
                return msgspec.structs.replace(page, text=text, next_line=pages[-1].next_line)
        raise ConflictError(
            f"{note} was changed again and again while it was being read.",
            hint="Try again when it's left alone.",
        )

    def files(self, folder: str = "", *, folders: bool = False) -> Files:
        """Return the paths of all files, or folders, below a folder."""
        paths: list[str] = []
        while True:
            after = paths[-1] if paths else ""
            page = self.ask(ListFolder(folder=folder, folders=folders, after=after), Files)
            paths += page.paths
            if not page.paths or len(paths) >= page.total:
                return msgspec.structs.replace(page, paths=tuple(paths), total=len(paths))

    def daily(self) -> str:
        """Return the path of today's note.

        Raises:
            RemoteError: ``not-found``: there is none yet.
        """
        return self.ask(OpenDaily(idem=fresh_key(), create=False), Written).path


def collect(
    fetch: Callable[[int, int], tuple[Sequence[T], int]], most: int | None
) -> tuple[tuple[T, ...], int]:
    """Return things that come in pages, and how many there are in all.

    Args:
        fetch: Takes how many to leave out and how many to give at most; returns them and the total.
        most: How many to return at most; None for all.
    """
    found: list[T] = []
    while True:
        page, total = fetch(len(found), _PAGE if most is None else min(_PAGE, most - len(found)))
        found += page
        if not page or len(found) >= total or (most is not None and len(found) >= most):
            return tuple(found), total
