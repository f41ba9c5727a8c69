"""The documents that were taken in: ids, paths and what they were like, in `memories.sqlite`.

Their pages and chunks are in the catalogue, which can be deleted; what is here can't be found out
again. What is committed survives a loss of power.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from eris.errors import StorageError

_RESULTS_KEPT = 1000
_COLUMNS = "number, path, in_vault, by_user, known, unfinished"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    in_vault INTEGER NOT NULL,
    by_user INTEGER NOT NULL,       -- whether the user named it at the machine
    known BLOB,                     -- JSON of a Known; null until it was taken in once
    unfinished INTEGER NOT NULL     -- whether taking it in has begun and not ended
) STRICT;
CREATE TABLE IF NOT EXISTS document_results (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,       -- idempotency key of a request
    result BLOB NOT NULL            -- JSON of what was answered
) STRICT;
"""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a document was like when it was taken in."""

    title: str
    form: str
    pages: int
    chunks: int
    empty_pages: tuple[int, ...]
    note: str
    added: str
    """Local time, ISO 8601 with offset."""
    digest: str
    """Of its bytes and of how they were cut."""
    state: str
    """Of its file when it was taken in, see `Reach.state`; empty if it couldn't be told."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A document by name."""

    number: int
    path: str
    in_vault: bool
    by_user: bool
    """Whether the user named it at the machine, so that it may be anywhere."""
    known: Known | None
    unfinished: bool

    @property
    def id(self) -> str:
        """Short and stable, such as ``d3``; never used for another one."""
        return f"d{self.number}"

    @property
    def key(self) -> str:
        """Of its source in the catalogue."""
        return f"document:{self.id}"


class DocumentNames:
    """The table of documents; thread-safe."""

    def __init__(self, file: Path) -> None:
        """Open it, after the memories' own part of the file.

        Raises:
            StorageError: It can't be opened.
        """
        self._file = file
        self._lock = threading.RLock()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 10000"):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                f"The names of the documents in {file} can't be opened: {error}.",
                hint="Check the permissions and the free space of the state folder.",
            ) from error

    def close(self) -> None:
        """Close it."""
        with self._lock:
            self._database.close()

    def all(self) -> list[Named]:
        """Return all documents by path, those included that were never taken in to the end."""
        with self._using() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM documents ORDER BY path"  # noqa: S608
            )
            return [_named(row) for row in rows]

    def begin(self, path: str, *, in_vault: bool, by_user: bool) -> Named:
        """Note that a document is being taken in; it gets an id if it has none."""
        with self._using() as database:
            row = database.execute(
                "INSERT INTO documents (path, in_vault, by_user, unfinished)"  # noqa: S608
                " VALUES (?, ?, ?, 1)"
                " ON CONFLICT (path) DO UPDATE SET unfinished = 1, by_user = excluded.by_user"
                f" RETURNING {_COLUMNS}",
                (path, in_vault, by_user),
            ).fetchone()
            return _named(row)

    def finish(self, number: int, known: Known) -> None:
        """Note that it was taken in, or what else has become of it."""
        with self._using() as database:
            database.execute(
                "UPDATE documents SET known = ?, unfinished = 0 WHERE number = ?",
                (msgspec.json.encode(known), number),
            )

    def give_up(self, number: int) -> None:
        """Note that taking it in failed: one that was never taken in is forgotten."""
        with self._using() as database:
            database.execute("DELETE FROM documents WHERE number = ? AND known IS NULL", (number,))
            database.execute("UPDATE documents SET unfinished = 0 WHERE number = ?", (number,))

    def forget(self, number: int, key: str, result: bytes) -> None:
        """Forget a document, and keep what was answered to the request."""
        with self._using() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                database.execute("DELETE FROM documents WHERE number = ?", (number,))
                database.execute(
                    "INSERT OR REPLACE INTO document_results (key, result) VALUES (?, ?)",
                    (key, result),
                )
                database.execute(
                    "DELETE FROM document_results WHERE number <="
                    " (SELECT max(number) FROM document_results) - ?",
                    (_RESULTS_KEPT,),
                )
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")

    def result(self, key: str) -> bytes | None:
        """Return what was answered to a request, if it was carried out."""
        with self._using() as database:
            row = database.execute(
                "SELECT result FROM document_results WHERE key = ?", (key,)
            ).fetchone()
            return None if row is None else bytes(row[0])

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                raise StorageError(
                    f"The names of the documents in {self._file} can't be used: {error}.",
                    hint="Check the free space of the state folder, then try again.",
                ) from error


def _named(row: tuple[int, str, int, int, bytes | None, int]) -> Named:
    number, path, in_vault, by_user, known, unfinished = row
    return Named(
        number=number,
        path=path,
        in_vault=bool(in_vault),
        by_user=bool(by_user),
        known=None if known is None else msgspec.json.decode(known, type=Known),
        unfinished=bool(unfinished),
    )
