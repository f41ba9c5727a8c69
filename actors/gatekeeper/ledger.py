"""The ledger of tool calls: what was about to be done, and what came of it, on disk.

An intent is committed before a call is carried out and the outcome after it, so that a call that
was interrupted is known, and one that was finished is never carried out again. WAL with
``synchronous=FULL``: what is promised survives a power cut.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from eris.errors import ConfigurationError, StorageError
from proto.gatekeeper import Invoke, Invoked

SCHEMA_VERSION = 1

KEPT_SECONDS = 90 * 24 * 3600.0
"""Calls older than this are forgotten."""

KEPT_BYTES = 64 * 1024 * 1024
"""Beyond this the oldest finished calls are forgotten, however young."""

_SCHEMA = """
CREATE TABLE call (
    number INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    request TEXT NOT NULL,    -- digest of tool and arguments as they were written
    intended REAL NOT NULL,   -- seconds since the epoch
    executed INTEGER NOT NULL,
    outcome BLOB              -- JSON of an Invoked; null until it's known
) STRICT;
CREATE INDEX call_by_turn ON call (turn, number);
"""
_FINISHED = "SELECT outcome FROM call WHERE turn = ? AND outcome IS NOT NULL ORDER BY number"
_ADD = """
INSERT INTO call (call_id, turn, session, tool, request, intended, executed)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (call_id) DO UPDATE SET
    tool = excluded.tool, request = excluded.request, executed = excluded.executed,
    -- The outcome of a refused call isn't that of the one that takes its place.
    outcome = CASE
        WHEN call.executed = 1 AND call.request = excluded.request THEN call.outcome
    END
"""
_OLD = "DELETE FROM call WHERE intended < ?"
_EXCESS = """
DELETE FROM call WHERE number <= (
    SELECT max(number) FROM (
        SELECT number, sum(length(outcome)) OVER (ORDER BY number DESC) AS kept
        FROM call WHERE outcome IS NOT NULL
    ) WHERE kept > ?
) AND outcome IS NOT NULL
"""


@dataclass(frozen=True)
class Entry:
    """What is known about a call id."""

    request: str
    """Digest of the tool and the arguments that it was used for."""
    executed: bool
    """Whether the call was given to its owner, or was about to be."""
    outcome: Invoked | None
    """Missing if the call was interrupted."""


def digest_of(invoke: Invoke) -> str:
    """Return the digest that tells whether a repeated call id means the same call."""
    return hashlib.sha256(f"{invoke.tool}\0{invoke.arguments}".encode()).hexdigest()[:32]


class CallLedger:
    """One SQLite database, used from several threads under one lock."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        """Open the ledger, or create it; ``clock`` gives seconds since the epoch.

        A damaged file is set aside, for its owners' own ledgers still keep a call from being
        carried out twice.

        Raises:
            StorageError: The file can't be opened or written.
            ConfigurationError: A newer Eris wrote it.
        """
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._decoder = msgspec.json.Decoder(Invoked)
        self.set_aside: Path | None = None
        """Where a damaged file was moved to."""
        try:
            self._connection = self._open()
        except sqlite3.OperationalError as error:
            raise self._storage_error("opened", error) from error
        except sqlite3.DatabaseError:
            self.set_aside = path.with_suffix(".damaged")
            path.replace(self.set_aside)
            for suffix in ("-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            self._connection = self._open()

    def find(self, call_id: str) -> Entry | None:
        """Return what is known about a call id.

        Raises:
            StorageError: The ledger can't be read.
        """
        with self._translated("read"):
            row = self._connection.execute(
                "SELECT request, executed, outcome FROM call WHERE call_id = ?", (call_id,)
            ).fetchone()
        if row is None:
            return None
        outcome = None if row[2] is None else self._decoder.decode(row[2])
        return Entry(request=row[0], executed=bool(row[1]), outcome=outcome)

    def intend(self, invoke: Invoke, *, executed: bool = True) -> None:
        """Commit that a call is about to be carried out.

        Args:
            invoke: The call.
            executed: False for one that is refused before anybody carries it out.

        Raises:
            StorageError: It can't be written; then it must not be carried out.
        """
        with self._translated("written"):
            self._connection.execute(
                _ADD,
                (
                    invoke.call_id,
                    invoke.turn,
                    invoke.session,
                    invoke.tool,
                    digest_of(invoke),
                    self._clock(),
                    int(executed),
                ),
            )

    def finish(self, outcome: Invoked) -> None:
        """Commit the outcome of a call that was intended.

        Raises:
            StorageError: It can't be written; asking the owner again returns the same result.
        """
        with self._translated("written"):
            self._connection.execute(
                "UPDATE call SET outcome = ? WHERE call_id = ?",
                (msgspec.json.encode(outcome), outcome.call_id),
            )

    def entries(self, turn: str) -> tuple[Invoked, ...]:
        """Return the finished calls of a turn, in the order in which they began.

        Raises:
            StorageError: The ledger can't be read.
        """
        with self._translated("read"):
            rows = self._connection.execute(_FINISHED, (turn,)).fetchall()
        return tuple(self._decoder.decode(row[0]) for row in rows)

    def prune(self, kept_seconds: float = KEPT_SECONDS, kept_bytes: int = KEPT_BYTES) -> int:
        """Forget what is too old or too much; returns how many calls.

        Raises:
            StorageError: The ledger can't be written.
        """
        with self._translated("written"):
            old = self._connection.execute(_OLD, (self._clock() - kept_seconds,)).rowcount
            return old + self._connection.execute(_EXCESS, (kept_bytes,)).rowcount

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(
            self._path, check_same_thread=False, isolation_level=None, timeout=5
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise ConfigurationError(
                f"{self._path} was written by a newer Eris.",
                hint="Install that version again, or move the file away.",
            )
        if version == 0:
            connection.executescript(
                f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )

    @contextmanager
    def _translated(self, attempt: str) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise self._storage_error(attempt, error) from error

    def _storage_error(self, attempt: str, error: sqlite3.Error) -> StorageError:
        return StorageError(
            f"The ledger {self._path} can't be {attempt}: {error}.",
            hint="Check the free space and the permissions there.",
        )
