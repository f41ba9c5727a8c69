"""Links, tags, aliases and headings, as the index has them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import msgspec

from actors.vault.names import stem
from eris.vault.note import Link, LinkKind, Span
from eris.vault.words import fold


class FoundLink(msgspec.Struct, frozen=True):
    """A link, as it's written and what it means."""

    source: str
    """The note that has it."""
    target: str
    """As written, without anchor."""
    anchor: str
    kind: str
    """A `LinkKind`, or `canvas` for a file on a canvas."""
    shown: str | None
    embed: bool
    line: int
    """0 on a canvas."""
    path: str | None
    """The file that it means; None if there's none."""


class TagCount(msgspec.Struct, frozen=True):
    """How often a tag is used."""

    name: str
    """As it's written most often."""
    notes: int
    uses: int


class FoundTask(msgspec.Struct, frozen=True):
    """A task of a note."""

    path: str
    line: int
    mark: str
    """The character in its box; `x` if it's done."""
    text: str


class FoundHeading(msgspec.Struct, frozen=True):
    """A heading of a note."""

    path: str
    level: int
    title: str
    line: int


_LINKS = """
SELECT source.path, links.target, links.anchor, links.kind, links.shown, links.embed, links.line,
    meant.path
FROM links JOIN files AS source ON source.id = links.file
    LEFT JOIN files AS meant ON meant.id = links.resolved
WHERE {} ORDER BY source.path, links.position
"""


_PLACES = """
SELECT kind, target, anchor, shown, embed, start, "end", target_start, target_end
FROM files JOIN texts ON texts.file = id LEFT JOIN links ON links.file = id
WHERE path = ? AND text = ? AND state = 'indexed' ORDER BY position
"""


def _link(kind: str, target: str, anchor: str, shown: str | None, embed: int, *places: int) -> Link:
    span, target_span = Span(*places[:2]), Span(*places[2:])
    return Link(span, LinkKind(kind), target, target_span, anchor, shown, bool(embed))


class Graph(ABC):
    """Questions about how notes hang together; none of them touches the disk."""

    @abstractmethod
    def _rows(self, select: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a selection, all from one state of the index."""

    def backlinks(self, path: str) -> list[FoundLink]:
        """Return the links of other files that mean this one."""
        return self._links(
            "links.resolved = (SELECT id FROM files WHERE path = ?)"
            " AND links.file != links.resolved",
            path,
        )

    def outgoing(self, path: str) -> list[FoundLink]:
        """Return all links of a file, those to places in itself included."""
        return self._links("links.file = (SELECT id FROM files WHERE path = ?)", path)

    def links_in(self, path: str, text: str) -> tuple[Link, ...] | None:
        """Return the links of a note with their places, as parsing it would, in a fraction of that.

        Args:
            path: The note.
            text: What it says now.

        Returns:
            None if the index doesn't know the note with just this text.
        """
        rows = self._rows(_PLACES, path, text)
        if not rows:
            return None
        return tuple(_link(*row) for row in rows if row[0] is not None)

    def unresolved(self) -> list[FoundLink]:
        """Return the links that mean no file."""
        return self._links("links.resolved IS NULL")

    def linking(self, keys: Iterable[str]) -> list[str]:
        """Return the files with a link of one of these keys (see `link_key`), whatever it means."""
        found: dict[str, None] = {}
        for key in keys:
            rows = self._rows(
                "SELECT DISTINCT path FROM links JOIN files ON id = file WHERE links.key = ?", key
            )
            found |= dict.fromkeys(path for (path,) in rows)
        return list(found)

    def property_counts(self) -> dict[str, int]:
        """Return how many notes have each property, the most frequent first."""
        return dict(
            self._rows(
                "SELECT key, count(*) AS notes FROM properties"
                " WHERE key NOT LIKE 'file.%' GROUP BY key ORDER BY notes DESC, key"
            )
        )

    def _links(self, condition: str, *values: str) -> list[FoundLink]:
        rows = self._rows(_LINKS.format(condition), *values)
        return [
            FoundLink(source, target, anchor, kind, shown, bool(embed), line, path)
            for source, target, anchor, kind, shown, embed, line, path in rows
        ]

    def orphans(self) -> list[str]:
        """Return the notes that no other file links to."""
        return self._notes("NOT EXISTS (SELECT 1 FROM links WHERE resolved = id AND file != id)")

    def dead_ends(self) -> list[str]:
        """Return the notes that link to no other file, be it there or not."""
        return self._notes(
            "NOT EXISTS (SELECT 1 FROM links"
            " WHERE file = id AND (resolved IS NULL OR resolved != id))"
        )

    def states(self, after: str, limit: int) -> dict[str, str]:
        """Return a digest of each note by path, of so many paths that sort after one."""
        return dict(
            self._rows(
                "SELECT path, lower(hex(digest)) FROM files"
                " WHERE state = 'indexed' AND path > ? ORDER BY path LIMIT ?",
                after,
                limit,
            )
        )

    def _notes(self, condition: str) -> list[str]:
        select = f"SELECT path FROM files WHERE state = 'indexed' AND {condition} ORDER BY path"  # noqa: S608 - parts of ours
        return [path for (path,) in self._rows(select)]

    def tasks(self, folder: str = "") -> list[FoundTask]:
        """Return all tasks of a note, of the notes in a folder and below it, or of all notes."""
        below = folder.strip("/")
        rows = self._rows(
            "SELECT path, line, mark, text FROM tasks JOIN files ON id = file"
            " WHERE ? = '' OR (path >= ? AND path < ?) OR path = ? ORDER BY path, position",
            below,
            f"{below}/",
            f"{below}0",
            below,
        )
        return [FoundTask(*row) for row in rows]

    def tags(self) -> list[TagCount]:
        """Return all tags, the most used first."""
        rows = self._rows(
            "SELECT name,"
            " (SELECT count(DISTINCT file) FROM tags AS same WHERE same.key = all_.key) AS notes,"
            " sum(uses) AS every, max(uses)"  # With max, the name is that one's.
            " FROM (SELECT key, name, count(*) AS uses FROM tags GROUP BY key, name) AS all_"
            " GROUP BY key ORDER BY notes DESC, every DESC, key"
        )
        return [TagCount(*row[:3]) for row in rows]

    def named(self, text: str) -> list[str]:
        """Return the notes of this name, title or alias, without regard to case and accents.

        The file names' ending may be left out. Notes of that name come before those of that title
        or alias.
        """
        key = fold(text.strip())
        if not key:
            return []
        found: dict[str, None] = {}
        for path, name in self._rows(
            "SELECT path, name FROM files WHERE instr(folded, ?) ORDER BY path", key
        ):
            if key in {fold(name), fold(stem(name)), fold(path), fold(stem(path))}:
                found[path] = None
        for (path,) in self._rows(
            "SELECT path FROM aliases JOIN files ON id = file WHERE aliases.key = ? ORDER BY path",
            key,
        ):
            found[path] = None
        for path, title in self._rows(
            "SELECT path, title FROM files WHERE title != '' ORDER BY path"
        ):
            if fold(title) == key:
                found[path] = None
        return list(found)

    def note_names(self) -> list[tuple[str, str]]:
        """Return names, titles and aliases of all notes, each with the note's path."""
        notes = self._rows("SELECT path, name, title FROM files WHERE state = 'indexed'")
        return [
            *((stem(name), path) for path, name, _ in notes),
            *((title, path) for path, _, title in notes if title),
            *self._rows("SELECT alias, path FROM aliases JOIN files ON id = file"),
        ]

    def aliases(self, path: str) -> list[str]:
        """Return the aliases of a note."""
        return [alias for (alias,) in self._of("SELECT alias FROM aliases", path)]

    def headings(self, path: str) -> list[FoundHeading]:
        """Return the headings of a note."""
        rows = self._of("SELECT level, title, line FROM headings", path)
        return [FoundHeading(path, *row) for row in rows]

    def headings_named(self, title: str) -> list[FoundHeading]:
        """Return all headings of this title, without regard to case and accents."""
        rows = self._rows(
            "SELECT path, level, headings.title, line FROM headings JOIN files ON id = file"
            " WHERE headings.key = ? ORDER BY path, position",
            fold(title.strip()),
        )
        return [FoundHeading(*row) for row in rows]

    def _of(self, select: str, path: str) -> list[tuple[Any, ...]]:
        return self._rows(
            f"{select} WHERE file = (SELECT id FROM files WHERE path = ?) ORDER BY position",  # noqa: S608 - parts of ours
            path,
        )
