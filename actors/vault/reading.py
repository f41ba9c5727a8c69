"""Reading and listing notes, in portions that fit a small model's context."""

from collections.abc import Callable
from dataclasses import dataclass

from actors.vault.folder import Folder, Kind
from actors.vault.lookup import find_note, missing, open_folder
from actors.vault.names import parse_path
from actors.vault.replacing import read_file
from actors.vault.scan import Budget, scan
from actors.vault.text import decode
from actors.vault.vault_folder import VaultFolder
from eris.errors import InvalidError, NotFoundError

PAGE_CHARACTERS = 8000
"""Longest text that one read returns."""

MOST_LISTED = 100
"""Most lines of one listing."""


@dataclass(frozen=True)
class Page:
    """A portion of a note."""

    path: str
    text: str
    start: int
    """Position of its first character in the note."""
    total: int
    """Characters of the whole note."""
    asked: str = ""
    """The path that was asked for, if it's another."""

    @property
    def end(self) -> int:
        """Position after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Listing:
    """What is in a folder."""

    folder: str
    """Path of the folder, relative to the vault."""
    lines: tuple[str, ...]
    """Paths, those of folders with ``/`` at the end."""
    more: int
    """How many weren't listed."""
    links: int
    """Links that were left out."""


class Reader:
    """Reads notes."""

    def __init__(self, vault: VaultFolder, *, clock: Callable[[], float]) -> None:
        """Create the reader.

        Args:
            vault: The vault.
            clock: A clock that only goes forward, in seconds.
        """
        self._vault = vault
        self._clock = clock

    def read(self, path: str, offset: int = 0) -> Page:
        """Return a portion of a note.

        Args:
            path: The note, as a model wrote it.
            offset: Character to begin at.

        Raises:
            ErisError: It can't be read; the sentence says why, and which notes are close.
        """
        parts = parse_path(path)
        found = find_note(self._vault, parts, Budget.starting(self._clock), follow=True)
        if not found.exists:
            raise missing(self._vault, parts, Budget.starting(self._clock))
        with self._vault.locate(found.parts) as place:
            if place.entry is None:
                raise NotFoundError(f"{place.path} was removed at this moment.")
            text = decode(read_file(place.folder, place.entry).data, place.path)
        if offset > len(text) or (offset == len(text) and text):
            raise InvalidError(
                f"{place.path} has {len(text)} characters; offset {offset} is behind its end.",
                hint="Read it with a smaller offset, or with none from the start.",
            )
        asked = "/".join(parts)
        return Page(
            path=place.path,
            text=text[offset : _page_end(text, offset)],
            start=offset,
            total=len(text),
            asked="" if asked == place.path else asked,
        )

    def list(self, folder: str = "") -> Listing:
        """Return what is in a folder: with all that is below if that's little.

        Raises:
            ErisError: There is no such folder, or it can't be read.
        """
        with open_folder(self._vault, folder) as opened:
            everything, whole = self._everything(opened)
            if whole:
                return Listing(opened.path(), everything, 0, _links_in(opened))
            lines = [
                opened.path(entry.name) + ("/" if entry.kind is Kind.FOLDER else "")
                for entry in opened.entries()
                if entry.kind in {Kind.FILE, Kind.FOLDER}
            ]
            lines.sort(key=lambda line: not line.endswith("/"))
            return Listing(
                opened.path(),
                tuple(lines[:MOST_LISTED]),
                max(0, len(lines) - MOST_LISTED),
                _links_in(opened),
            )

    def _everything(self, opened: Folder) -> tuple[tuple[str, ...], bool]:
        """Everything in and below a folder, and whether it's few enough to list."""
        lines: list[str] = []
        budget = Budget.starting(self._clock)
        for folder, entry in scan(opened, budget):
            if len(lines) == MOST_LISTED:
                return (), False
            lines.append(folder.path(entry.name) + ("/" if entry.kind is Kind.FOLDER else ""))
        return tuple(sorted(lines)), not budget.spent


def _links_in(folder: Folder) -> int:
    return sum(entry.kind is Kind.LINK for entry in folder.entries())


def _page_end(text: str, start: int) -> int:
    """Where a portion ends: at the end of a line if one is near, never inside a CRLF."""
    end = start + PAGE_CHARACTERS
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", start + PAGE_CHARACTERS // 2, end)
    return line + 1 if line >= 0 else end
