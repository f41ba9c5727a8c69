"""Reading and listing notes, in portions that fit a small model's context."""

from collections.abc import Callable
from dataclasses import dataclass

from actors.vault.folder import Folder, Kind
from actors.vault.lookup import Lookup
from actors.vault.names import parse_path
from actors.vault.scan import Budget, scan
from actors.vault.service.answers import part_of
from actors.vault.service.finding import Finder, NoteFile
from eris.errors import InvalidError, NotFoundError
from eris.vault.note import Heading, Note, Span
from eris.vault.sections import heading_like

PAGE_CHARACTERS = 8000
"""Longest text that one read returns."""

MOST_LISTED = 100
"""Most lines of one listing."""


@dataclass(frozen=True)
class Page:
    """A portion of a note, or of a part of it."""

    file: NoteFile
    """All of the note."""
    text: str
    start: int
    """Position of its first character in the note or part."""
    total: int
    """Characters of the whole note or part."""
    first_line: int
    """Line of the note that it begins on, from 1."""
    part: str = ""
    """The heading or block, if only that was asked for."""
    asked: str = ""
    """The path that was asked for, if it's another."""

    @property
    def path(self) -> str:
        """The note."""
        return self.file.path

    @property
    def end(self) -> int:
        """Position after its last character."""
        return self.start + len(self.text)

    @property
    def outline(self) -> tuple[tuple[int, Heading], ...]:
        """The note's headings, each behind its line."""
        note = self.file.note
        return tuple((note.line(each.span.start), each) for each in note.headings)


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

    def __init__(self, finder: Finder, lookup: Lookup, *, clock: Callable[[], float]) -> None:
        """Create the reader.

        Args:
            finder: Opens notes by name.
            lookup: Opens folders.
            clock: A clock that only goes forward, in seconds.
        """
        self._finder = finder
        self._lookup = lookup
        self._clock = clock

    def read(self, path: str, offset: int = 0, *, part: str = "", line: int = 0) -> Page:
        """Return a portion of a note.

        Args:
            path: The note, as a model wrote it: ``Note#Heading`` means a part of it, and the title
                of a heading that only one note has means that.
            offset: Character of the note or part to begin at.
            part: Heading, words that only one heading has, or ``^block``; empty for all.
            line: Line of the note to begin at, in place of an offset; 0 for none.

        Raises:
            ErisError: It can't be read; the sentence says why, and which notes are close.
        """
        asked = "/".join(parse_path(path))
        file, part = self._opened(path, asked, part)
        part = _part_meant(file.note, part) if part else ""
        note, text = file.lines, file.text
        mark = 1 if text.startswith("\ufeff") else 0
        span = part_of(file.note, part) if part else Span(mark, len(text))
        if line:
            lines = len(note.line_starts)
            if line > lines:
                raise InvalidError(
                    f"{file.path} has {lines} lines; line {line} is behind its end.",
                    hint="Read it from an earlier line.",
                )
            offset = max(0, note.line_starts[line - 1] - span.start)
        whole = span.of(text)
        if offset > len(whole) or (offset == len(whole) and whole):
            raise InvalidError(
                f"{file.path} has {len(whole)} characters; offset {offset} is behind its end.",
                hint="Read it with a smaller offset, or with none from the start.",
            )
        return Page(
            file=file,
            text=whole[offset : _page_end(whole, offset)],
            start=offset,
            total=len(whole),
            first_line=note.line(span.start + offset),
            part=part,
            asked="" if asked in {file.path, f"{file.path}#{part}"} else asked,
        )

    def _opened(self, path: str, asked: str, part: str) -> tuple[NoteFile, str]:
        name, mark, anchor = asked.partition("#")
        if part or not mark or self._lookup.find(path, follow=True).exists:
            try:
                return self._finder.load(path), part
            except NotFoundError:
                owner = "" if part else self._lookup.with_heading(asked)
                if not owner:
                    raise
                return self._finder.load(owner), asked
        return self._finder.load(name), anchor

    def list(self, folder: str = "") -> Listing:
        """Return what is in a folder: with all that is below if that's little.

        Raises:
            ErisError: There is no such folder, or it can't be read.
        """
        with self._lookup.folder(folder) as opened:
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


def _part_meant(note: Note, part: str) -> str:
    """Return the part's name: the whole title of the heading that some words of it mean."""
    try:
        part_of(note, part)
    except NotFoundError:
        like = heading_like(note, part)
        return like.title if like else part
    return part


def _page_end(text: str, start: int) -> int:
    """Where a portion ends: at the end of a line if one is near, never inside a CRLF."""
    end = start + PAGE_CHARACTERS
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", start + PAGE_CHARACTERS // 2, end)
    return line + 1 if line >= 0 else end
