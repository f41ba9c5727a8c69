"""Rows in and out of the index's tables, and which file each link means. No disk, no decisions."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from actors.vault.index.extracting import Extract, Unfit, body, link_key, name_words
from actors.vault.index.schema import BY_FILE
from actors.vault.index.walking import Signature
from eris.vault.links import Names, resolve
from eris.vault.names import name_of
from eris.vault.words import fold


class State(StrEnum):
    """What the index has of a file."""

    WAITING = "waiting"
    """It was seen, its content is yet to be read."""
    INDEXED = "indexed"
    NAMED = "named"
    """Only its name, as for an attachment."""
    IGNORED = "ignored"
    """Only its name, so that links to it lead somewhere; searches don't find it."""
    SKIPPED = "skipped"
    """It should have been indexed but couldn't; the reason is told."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the index knows of a file."""

    id: int
    signature: Signature
    state: State


_COLUMNS = {
    "aliases": 4,
    "headings": 6,
    "links": 14,
    "tags": 5,
    "properties": 3,
    "tasks": 5,
}
_INSERT = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * count)})"  # noqa: S608 - names of ours
    for table, count in _COLUMNS.items()
}


class Store:
    """The writer's side of the database, with the names of all files in memory for the links."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.names = Names(path for (path,) in connection.execute("SELECT path FROM files"))
        self._changed: set[str] = set()

    def known(self, path: str = "") -> dict[str, Known]:
        """Return what is known of a file, of all files in a folder and below it, or of all."""
        rows = self.connection.execute(
            "SELECT path, id, size, mtime_ns, inode, state FROM files WHERE path = ?"
            " OR path >= ? AND path < ?",
            (path, f"{path}/" if path else "", f"{path}0" if path else "\U0010ffff"),
        )
        return {
            name: Known(id_, Signature(*signature), State(state))
            for name, id_, *signature, state in rows
        }

    def find(self, path: str) -> Known | None:
        """Return what is known of one file."""
        row = self.connection.execute(
            "SELECT id, size, mtime_ns, inode, state FROM files WHERE path = ?", (path,)
        ).fetchone()
        return Known(row[0], Signature(*row[1:4]), State(row[4])) if row else None

    def digest(self, known: Known) -> bytes | None:
        """Return the digest of what was read of a file."""
        row = self.connection.execute(
            "SELECT digest FROM files WHERE id = ?", (known.id,)
        ).fetchone()
        return row[0] if row else None

    def add(self, path: str, signature: Signature, state: State = State.WAITING) -> Known:
        """Add a file of which only the name is known."""
        on_disk = (signature.size, signature.mtime_ns, signature.inode)
        cursor = self.connection.execute(
            "INSERT INTO files (path, name, folded, size, mtime_ns, inode, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (path, name_of(path), fold(path), *on_disk, state),
        )
        self.names.add(path)
        self._changed.add(link_key(path))
        return Known(int(cursor.lastrowid or 0), signature, state)

    def remove(self, path: str) -> None:
        """Remove a file and all that came from it."""
        known = self.find(path)
        if not known:
            return
        self._clear(known.id, path)
        self.connection.execute("DELETE FROM files WHERE id = ?", (known.id,))
        self.connection.execute("UPDATE links SET resolved = NULL WHERE resolved = ?", (known.id,))
        self.names.remove(path)
        self._changed.add(link_key(path))

    def touch(self, known: Known, signature: Signature) -> None:
        """Note that a file was written without being changed."""
        self.connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, inode = ? WHERE id = ?",
            (signature.size, signature.mtime_ns, signature.inode, known.id),
        )

    def put(
        self,
        path: str,
        known: Known,
        signature: Signature,
        content: Extract | Unfit | State,
        digest: bytes | None = None,
    ) -> None:
        """Put in place of all that is known of a file what it is now.

        Args:
            path: The file.
            known: What is known of it.
            signature: What it was like when it was read.
            content: Its content, or why there is none: a reason, or the state `NAMED` or `IGNORED`.
            digest: Of its content, if it was read.
        """
        self._clear(known.id, path)
        state, title, reason = State.INDEXED, "", ""
        match content:
            case State():
                state = content
            case Unfit():
                state, reason = State.SKIPPED, content.reason
            case Extract():
                title = content.title
        on_disk = (signature.size, signature.mtime_ns, signature.inode)
        self.connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, digest = ?, state = ?, title = ?,"
            " reason = ? WHERE id = ?",
            (*on_disk, digest, state, title, reason, known.id),
        )
        if isinstance(content, Extract):
            self._fill(path, known.id, content)
        elif state is State.SKIPPED:
            self._index_words(known.id, path, "", (), "")

    def _fill(self, path: str, file: int, content: Extract) -> None:
        self.connection.execute("INSERT INTO texts VALUES (?, ?)", (file, content.text))
        for table, rows in (
            ("aliases", content.aliases),
            ("headings", content.headings),
            ("tags", content.tags),
            ("properties", content.properties),
            ("tasks", content.tasks),
        ):
            self.connection.executemany(_INSERT[table], [(file, *row) for row in rows])
        self.connection.executemany(
            _INSERT["links"],
            [(file, *row, self._resolved(row[1], path, file)) for row in content.links],
        )
        aliases = tuple(row[1] for row in content.aliases)
        self._index_words(file, path, content.title, aliases, content.body)

    def _index_words(
        self, file: int, path: str, title: str, aliases: Iterable[str], text: str
    ) -> None:
        self.connection.execute(
            "INSERT INTO words (rowid, name, folder, title, body) VALUES (?, ?, ?, ?, ?)",
            (file, *name_words(path), _titles(title, aliases), text),
        )

    def _clear(self, file: int, path: str) -> None:
        """Remove all rows of a file but the one in `files`."""
        title, state, text = self.connection.execute(
            "SELECT title, state, text FROM files LEFT JOIN texts ON file = id WHERE id = ?",
            (file,),
        ).fetchone()
        if state in {State.INDEXED, State.SKIPPED}:
            aliases = self.connection.execute(
                "SELECT alias FROM aliases WHERE file = ? ORDER BY position", (file,)
            ).fetchall()
            titles = _titles(title, (alias for (alias,) in aliases))
            self.connection.execute(
                "INSERT INTO words (words, rowid, name, folder, title, body)"
                " VALUES ('delete', ?, ?, ?, ?, ?)",
                (file, *name_words(path), titles, body(text or "")),
            )
        if state == State.INDEXED:
            for table in BY_FILE:
                self.connection.execute(f"DELETE FROM {table} WHERE file = ?", (file,))  # noqa: S608

    def _resolved(self, target: str, source: str, file: int) -> int | None:
        if not target:
            return file
        path = resolve(target, source, self.names)
        if path is None:
            return None
        if path == source:
            return file
        row = self.connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        return int(row[0]) if row else None

    def settle_links(self) -> None:
        """Resolve anew the links that may mean a file that was added or removed."""
        changed, self._changed = self._changed, set()
        changed.discard("")
        for key in changed:
            rows = self.connection.execute(
                "SELECT file, position, target, resolved, path FROM links"
                " JOIN files ON id = file WHERE links.key = ?",
                (key,),
            ).fetchall()
            updates = []
            for file, position, target, before, source in rows:
                after = self._resolved(target, source, file)
                if after != before:
                    updates.append((after, file, position))
            self.connection.executemany(
                "UPDATE links SET resolved = ? WHERE file = ? AND position = ?", updates
            )

    def forget_changes(self, before: Mapping[str, Known]) -> None:
        """Take the names back that a transaction added or removed which was rolled back."""
        self.names = Names(before)
        self._changed.clear()


def _titles(title: str, aliases: Iterable[str]) -> str:
    return body("\n".join((title, *aliases)))
