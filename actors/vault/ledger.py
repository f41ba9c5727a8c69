"""What was about to be written, and what was: so that a repeated call writes once.

Before a note is replaced, the ledger commits the intent, with digests of the note before and
after. After a crash the digest of the note on the disk says which of the two it is.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import msgspec

from eris.errors import ConfigurationError, StorageError

KEPT_SECONDS = 30 * 24 * 3600.0
"""Finished writes older than this are forgotten."""

_VERSION = 1
_SCHEMA = """
CREATE TABLE writes (
    call_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    at REAL NOT NULL,      -- seconds since the epoch
    intent BLOB NOT NULL   -- JSON of an Intent
) STRICT;
CREATE INDEX writes_by_state ON writes (state, at);
"""


class State(StrEnum):
    """How far a write came."""

    PENDING = "pending"
    DONE = "done"
    UNCERTAIN = "uncertain"
    """Interrupted, and the note was changed by somebody else before it could be looked at."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did."""

    path: str
    """The note, relative to the vault."""
    action: str
    """``created``, ``appended`` or ``overwrote``."""
    size: int
    """Bytes that were written, without those that were there before."""
    asked: str = ""
    """The path that was asked for, if it's another."""
    folder: str = ""
    """The outermost folder that was made for it."""


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A write that is about to happen."""

    call_id: str
    request: str
    """Digest of what was asked for: the same call never means two things."""
    parts: tuple[str, ...]
    """Names of the note's path."""
    temporary: str
    """Name of the hidden file beside it."""
    before: str
    """SHA-256 of the note; empty if there's none."""
    after: str
    receipt: Receipt


class WriteLedger:
    """The database of writes; thread-safe."""

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        """Open it, and make it if it isn't there. A damaged one is put aside.

        Args:
            file: Where it is.
            now: Seconds since the epoch.

        Raises:
            ConfigurationError: It can't be opened, or a newer version of Eris made it.
        """
        self._lock = threading.Lock()
        self._now = now
        try:
            self._database = self._open(file)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise _unusable(file, error) from error
            self._put_aside(file)
            try:
                self._database = self._open(file)
            except sqlite3.Error as again:
                raise _unusable(file, again) from again
        with self._writing() as database:
            database.execute(
                "DELETE FROM writes WHERE state != ? AND at < ?",
                (State.PENDING, now() - KEPT_SECONDS),
            )

    @staticmethod
    def _open(file: Path) -> sqlite3.Connection:
        database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                database.executescript(
                    f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;"
                )
        except BaseException:
            database.close()
            raise
        if version not in {0, _VERSION}:
            database.close()
            raise ConfigurationError(
                f"{file} was made by another version of Eris (format {version}).",
                hint="Install that version again, or move the file away.",
            )
        return database

    def _put_aside(self, file: Path) -> None:
        for each in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
            if each.exists():
                each.rename(f"{each}.damaged-{int(self._now())}")

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                raise StorageError(
                    f"The record of writes can't be kept: {error}.",
                    hint="Free some space on the disk of the state folder, then try again.",
                ) from error

    def find(self, call_id: str) -> tuple[Intent, State] | None:
        """Return what is known of a call, or nothing.

        Raises:
            StorageError: The database can't be read.
        """
        with self._writing() as database:
            row = database.execute(
                "SELECT intent, state FROM writes WHERE call_id = ?", (call_id,)
            ).fetchone()
        return (msgspec.json.decode(row[0], type=Intent), State(row[1])) if row else None

    def pending(self) -> list[Intent]:
        """Return the writes that were begun and not finished, the oldest first."""
        with self._writing() as database:
            rows = database.execute(
                "SELECT intent FROM writes WHERE state = ? ORDER BY at", (State.PENDING,)
            ).fetchall()
        return [msgspec.json.decode(row[0], type=Intent) for row in rows]

    def begin(self, intent: Intent) -> None:
        """Commit an intent; durable when this returns.

        Raises:
            StorageError: It can't be kept; then nothing may be written.
        """
        with self._writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO writes (call_id, state, at, intent) VALUES (?, ?, ?, ?)",
                (intent.call_id, State.PENDING, self._now(), msgspec.json.encode(intent)),
            )

    def finish(self, call_id: str, state: State) -> None:
        """Record how a write ended."""
        with self._writing() as database:
            database.execute("UPDATE writes SET state = ? WHERE call_id = ?", (state, call_id))

    def forget(self, call_id: str) -> None:
        """Drop an intent of which nothing was carried out."""
        with self._writing() as database:
            database.execute("DELETE FROM writes WHERE call_id = ?", (call_id,))


def _unusable(file: Path, error: sqlite3.Error) -> ConfigurationError:
    return ConfigurationError(
        f"The record of writes {file} can't be opened: {error}.",
        hint="Check the permissions and the free space of the state folder.",
    )
