"""Sources and their versions: what is offered, what is gone, what moved."""

import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from actors.memory.catalogue.queue import IndexQueue
from actors.memory.catalogue.rows import (
    Entry,
    Source,
    day_number,
    folders_above,
)
from actors.memory.catalogue.schema import Database, open_database
from actors.memory.catalogue.storing import (
    ENTRY,
    SOURCE,
    add,
    as_json,
    complete,
    entry_of,
    growing,
    insert,
    newest,
    retire_all,
    source_of,
)
from actors.memory.catalogue.versions import queue_version
from actors.memory.catalogue.words import WordSearch
from actors.memory.chunking import Chunk
from proto.memory import Kind


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is to be found."""

    chunks: int
    sources: dict[Kind, int]


class Catalogue:
    """Sources and chunks. Its methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.queue = IndexQueue(database)
        """What has to be put into which index, and taken out."""
        self.words = WordSearch(database)
        """Search by words, without any index."""
        self.id = self.remembered("id")
        """Random, of this file: an index of another catalogue knows other chunks by its ids."""
        self.changed: Callable[[], None] = lambda: None
        """Called when there may be something to put into an index or to take out."""

    @classmethod
    def open(
        cls, file: Path, new_id: Callable[[], str] = lambda: secrets.token_hex(8)
    ) -> "Catalogue":
        """Open the catalogue, or make a new, empty one if it's damaged or of another version.

        Raises:
            ConfigurationError: It can't be made.
            StorageError: Another process is writing to it.
        """
        return cls(open_database(file, new_id))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def offer(
        self, source: Source, chunks: Sequence[Chunk], pages: Sequence[tuple[int, str]] = ()
    ) -> bool:
        """Give a source as it is now, whole.

        The first version of it can be found at once, by words until its vectors are there; a later
        one takes the place of the former when it's in the serving index completely.

        Args:
            source: What it is.
            chunks: Its text in pieces.
            pages: Numbers and exact texts of a document's pages.

        Returns:
            Whether anything is to be done: false if it's known just like that.
        """
        with self._changing() as connection:
            if newest(connection, source.key) == source:
                return False
            retire_all(connection, source.key, "growing", "new")
            version = insert(connection, source, "growing")
            add(connection, version, pages, chunks)
            complete(connection, version, self._database.serving)
        return True

    def begin(self, source: Source) -> int:
        """Begin to give a source in parts, or go on where it was interrupted.

        Returns:
            The last page that is there already; 0 if none is.
        """
        with self._database.transaction() as connection:
            row = connection.execute(
                f"SELECT id, {SOURCE} FROM versions WHERE key = ? AND state = 'growing'",  # noqa: S608
                (source.key,),
            ).fetchone()
            if row is not None and source_of(row[1:]) == source:
                last = connection.execute(
                    "SELECT max(page) FROM pages WHERE version = ?", (row[0],)
                ).fetchone()
                return int(last[0] or 0)
            retire_all(connection, source.key, "growing")
            insert(connection, source, "growing")
            return 0

    def grow(self, key: str, pages: Sequence[tuple[int, str]], chunks: Sequence[Chunk]) -> None:
        """Add some pages to what `begin` began, all or none of them.

        Raises:
            NotFoundError: Nothing was begun, or it was taken back meanwhile.
        """
        with self._changing() as connection:
            add(connection, growing(connection, key), pages, chunks)

    def finish(self, key: str) -> None:
        """Say that what `begin` began is complete: as if it had been offered whole.

        Raises:
            NotFoundError: Nothing was begun, or it was taken back meanwhile.
        """
        with self._changing() as connection:
            version = growing(connection, key)
            retire_all(connection, key, "new")
            complete(connection, version, self._database.serving)

    def gone(self, key: str) -> bool:
        """Take a source back: from now on it isn't found. False if it isn't known."""
        with self._changing() as connection:
            return retire_all(connection, key, "growing", "new", "live")

    def moved(self, key: str, source: Source) -> bool:
        """Give a source another key and path, with the same chunks and vectors.

        Returns:
            False if that isn't the same text, or has another title, which its chunks begin with:
            then offer the new one, and only after that say that the old one is gone, so that equal
            chunks keep their vectors.
        """
        with self._changing() as connection:
            known = newest(connection, key)
            if known is None or (known.digest, known.title) != (source.digest, source.title):
                return False
            if source.key != key:
                retire_all(connection, source.key, "growing", "new", "live")
            for (version,) in connection.execute(
                "SELECT id FROM versions WHERE key = ? AND state IN ('new', 'live')", (key,)
            ).fetchall():
                connection.execute(
                    "UPDATE versions SET key = ?, path = ?, folders = ?, date = ?, day = ?,"
                    " origin = ? WHERE id = ?",
                    (
                        source.key,
                        source.path,
                        as_json(folders_above(source.path)),
                        source.date,
                        day_number(source.date),
                        source.origin,
                        version,
                    ),
                )
                queue_version(connection, version)
        return True

    def digests(self, kind: Kind) -> dict[str, str]:
        """Return the digest of each source of a kind, by key: of its newest version."""
        with self._database.reading() as connection:
            # 'live' comes before 'new', and the last one stays.
            return dict(
                connection.execute(
                    "SELECT key, digest FROM versions WHERE kind = ? AND state IN ('new', 'live')"
                    " ORDER BY state",
                    (kind,),
                )
            )

    def located(self) -> dict[str, Source]:
        """Return the notes and the memories that are notes, each in its newest version, by path."""
        with self._database.reading() as connection:
            # 'live' comes before 'new', and the last one stays.
            rows = connection.execute(
                f"SELECT {SOURCE} FROM versions WHERE path != '' AND kind IN (?, ?)"  # noqa: S608
                " AND state IN ('new', 'live') ORDER BY state",
                (Kind.NOTE, Kind.MEMORY),
            ).fetchall()
        return {source.path: source for source in map(source_of, rows)}

    def source(self, key: str) -> Source | None:
        """Return the newest version of a source; None if it isn't known."""
        with self._database.reading() as connection:
            return newest(connection, key)

    def entries(self, ids: Iterable[int], *, live: bool = True) -> dict[int, Entry]:
        """Return chunks by id, without those that aren't there any more.

        Args:
            ids: Of the chunks.
            live: Only those that may be found.
        """
        wanted = as_json(tuple(ids))
        condition = "WHERE state = 'live'" if live else ""
        with self._database.reading() as connection:
            rows = connection.execute(
                # In this order: left to itself, SQLite reads all live chunks, and then looks.
                f"SELECT {ENTRY} FROM (SELECT value AS asked FROM json_each(?))"  # noqa: S608
                " CROSS JOIN chunks ON chunks.id = asked"
                f" CROSS JOIN versions ON versions.id = chunks.version {condition}",
                (wanted,),
            ).fetchall()
        return {row[0]: entry_of(row) for row in rows}

    def texts(self, key: str) -> list[Entry]:
        """Return the live chunks of a source, in their order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {ENTRY} FROM versions JOIN chunks ON chunks.version = versions.id"  # noqa: S608
                " WHERE key = ? AND state = 'live' ORDER BY chunks.id",
                (key,),
            ).fetchall()
        return [entry_of(row) for row in rows]

    def sample(self, number: int) -> list[Entry]:
        """Return live chunks from all over, at most so many, the same ones each time."""
        with self._database.reading() as connection:
            ids = [
                row[0]
                for row in connection.execute(
                    "SELECT chunks.id FROM versions JOIN chunks ON chunks.version = versions.id"
                    " WHERE state = 'live' ORDER BY chunks.id"
                )
            ]
        every = max(1, len(ids) // number) if number else 1
        return list(self.entries(ids[::every][:number]).values())

    def page(self, key: str, page: int) -> str | None:
        """Return the exact text of a document's page, from 1; None if there's no such page."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT pages.text FROM versions JOIN pages ON pages.version = versions.id"
                " WHERE key = ? AND page = ? AND state IN ('live', 'new')"
                " ORDER BY state = 'new' LIMIT 1",
                (key, page),
            ).fetchone()
        return None if row is None else str(row[0])

    def pages(self, key: str) -> int:
        """Return how many pages a document has; 0 if it's none."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT max(page) FROM versions JOIN pages ON pages.version = versions.id"
                " WHERE key = ? AND state IN ('live', 'new') GROUP BY state"
                " ORDER BY state = 'new' LIMIT 1",
                (key,),
            ).fetchone()
        return 0 if row is None else int(row[0])

    def counts(self) -> Counts:
        """Return how much can be found."""
        with self._database.reading() as connection:
            sources = connection.execute(
                "SELECT kind, count(*) FROM versions WHERE state = 'live' GROUP BY kind"
            ).fetchall()
            chunks = connection.execute(
                "SELECT count(*) FROM versions JOIN chunks ON chunks.version = versions.id"
                " WHERE state = 'live'"
            ).fetchone()
        return Counts(
            chunks=chunks[0], sources=dict.fromkeys(Kind, 0) | {Kind(k): n for k, n in sources}
        )

    def remembered(self, name: str) -> str:
        """Return what was noted down under a name: the last change of the vault's feed, say."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def remember(self, name: str, value: str) -> None:
        """Note something down for as long as this catalogue lives."""
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._database.transaction() as connection:
            yield connection
        self.changed()
