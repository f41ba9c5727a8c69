"""`memories.sqlite`: what was promised to be remembered, and what is being done about it.

What is committed here survives a loss of power. Notes are written by *works*: an intention is
committed first, so that it's carried on after a crash.
"""

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from actors.memory.remembering.record import Record
from eris.errors import ConfigurationError
from eris.sqlite_store import SQLiteStore
from proto.memory import MemoryState

FORMAT = 1

KEYS_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long a request is known, so that repeating it does nothing twice."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS memory_format (version INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,  -- counts up with each save
    shown INTEGER NOT NULL DEFAULT -1,   -- the `changes` that the catalogue has been told of
    record BLOB NOT NULL                 -- JSON of a Record
) STRICT;
CREATE INDEX IF NOT EXISTS memories_by_state ON memories (state);
CREATE TABLE IF NOT EXISTS memory_works (
    key TEXT PRIMARY KEY,                -- idempotency key of the request
    work BLOB NOT NULL                   -- JSON of a Work
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory_results (
    key TEXT PRIMARY KEY,
    at REAL NOT NULL,                    -- seconds since the epoch
    result BLOB NOT NULL                 -- JSON of what was answered
) STRICT, WITHOUT ROWID;
"""

_RECORD = msgspec.json.Decoder(Record)


class NoteWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A note to be made, written anew, moved, or put into the trash."""

    path: str
    text: str = ""
    version: str = ""
    """What it's written in place of; empty to make it."""
    key: str
    """Idempotency key at the vault."""
    target: str = ""
    """Where it's moved to; empty to leave it where it is."""
    trash: bool = False


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Something with notes, all that is needed to do it or to carry it on."""

    key: str
    writes: tuple[NoteWrite, ...]
    """In this order."""
    records: tuple[Record, ...] = ()
    """What memories are like once the notes are written."""
    result: bytes
    """JSON of the answer."""


class Store(SQLiteStore):
    """The database; thread-safe."""

    def __init__(self, file: Path, clock: Callable[[], float]) -> None:
        """Open it, and make it if it isn't there. A damaged one is put aside.

        Args:
            file: Where it is.
            clock: Seconds since the epoch.

        Raises:
            ConfigurationError: A newer version of Eris made it.
            StorageError: It can't be opened.
        """
        self.damage = ""
        """A sentence for the user if a damaged one was put aside; empty otherwise."""
        super().__init__(file)
        self._clock = clock
        try:
            self._database = self._opened()
        except sqlite3.Error as error:
            if type(error) is not sqlite3.DatabaseError:
                raise self._unusable(error) from error
            aside = _put_aside(file, clock())
            self.damage = (
                f"The memories that had no note yet are lost: their database was damaged and was "
                f"put aside as {aside.name}. Those with a note are taken from the notes."
            )
            self._database = self._opened()

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, check_same_thread=False, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            # Another part keeps the names of documents in the same file.
            database.execute("PRAGMA busy_timeout = 10000")
            database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
            row = database.execute("SELECT version FROM memory_format").fetchone()
            if row is None:
                database.execute("INSERT INTO memory_format VALUES (?)", (FORMAT,))
            _check(database)
        except BaseException:
            database.close()
            raise
        if row is not None and row[0] != FORMAT:
            database.close()
            raise ConfigurationError(
                f"{self._file} was made by another version of Eris (format {row[0]}).",
                hint="Install that version again, or move the file away.",
            )
        return database

    # Memories.

    def next_number(self) -> int:
        """Return a number that no memory has had; to be used in the same transaction."""
        rows = self._rows("SELECT seq FROM sqlite_sequence WHERE name = 'memories'")
        return int(rows[0][0]) + 1 if rows else 1

    def save(self, record: Record, *, shown: bool = False) -> None:
        """Keep a memory as it's now.

        Args:
            record: The memory.
            shown: Whether the catalogue needn't be told of it.
        """
        self._rows(
            "INSERT INTO memories (number, state, record) VALUES (?1, ?2, ?3) ON CONFLICT (number)"
            " DO UPDATE SET state = ?2, record = ?3, changes = changes + 1",
            record.number,
            record.state.value,
            msgspec.json.encode(record),
        )
        if shown:
            self._rows("UPDATE memories SET shown = changes WHERE number = ?", record.number)

    def get(self, number: int) -> Record | None:
        """Return a memory."""
        rows = self._rows("SELECT record FROM memories WHERE number = ?", number)
        return _RECORD.decode(rows[0][0]) if rows else None

    def all(self, states: Iterable[MemoryState]) -> list[Record]:
        """Return the memories in some states, the newest first."""
        names = [state.value for state in states]
        marks = ", ".join("?" * len(names))
        rows = self._rows(
            f"SELECT record FROM memories WHERE state IN ({marks}) ORDER BY number DESC",  # noqa: S608 - question marks only
            *names,
        )
        return [_RECORD.decode(row[0]) for row in rows]

    def unshown(self) -> list[tuple[Record, int]]:
        """Return the memories that the catalogue wasn't told of as they are, with a mark each."""
        rows = self._rows(
            "SELECT record, changes FROM memories WHERE shown != changes ORDER BY number"
        )
        return [(_RECORD.decode(row[0]), int(row[1])) for row in rows]

    def mark_shown(self, number: int, mark: int) -> None:
        """Keep that the catalogue was told; without effect if it has changed meanwhile."""
        self._rows(
            "UPDATE memories SET shown = changes WHERE number = ? AND changes = ?", number, mark
        )

    def show_again(self) -> None:
        """Have the catalogue told of everything anew."""
        self._rows("UPDATE memories SET shown = -1")

    # Requests.

    def result(self, key: str) -> bytes | None:
        """Return what was answered to a request."""
        rows = self._rows("SELECT result FROM memory_results WHERE key = ?", key)
        return rows[0][0] if rows else None

    def results(self, prefix: str) -> list[bytes]:
        """Return what was answered to requests whose keys begin so; the prefix ends in `/`."""
        end = f"{prefix[:-1]}0"  # the character after the slash
        rows = self._rows(
            "SELECT result FROM memory_results WHERE key >= ? AND key < ? ORDER BY at, key",
            prefix,
            end,
        )
        return [row[0] for row in rows]

    def keep_result(self, key: str, result: bytes) -> None:
        """Keep what is answered to a request; old ones go."""
        now = self._clock()
        self._rows("DELETE FROM memory_results WHERE at < ?", now - KEYS_KEPT_SECONDS)
        self._rows("INSERT OR REPLACE INTO memory_results VALUES (?, ?, ?)", key, now, result)

    def begin(self, work: Work) -> None:
        """Commit an intention, in place of an earlier one of the same request."""
        self._rows(
            "INSERT OR REPLACE INTO memory_works VALUES (?, ?)", work.key, msgspec.json.encode(work)
        )

    def works(self) -> list[Work]:
        """Return what was begun and isn't done."""
        rows = self._rows("SELECT work FROM memory_works ORDER BY key")
        return [msgspec.json.decode(row[0], type=Work) for row in rows]

    def end(self, key: str) -> None:
        """Forget an intention: it's done, or can't be."""
        self._rows("DELETE FROM memory_works WHERE key = ?", key)


def _check(database: sqlite3.Connection) -> None:
    if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise sqlite3.DatabaseError("it fails its own check")


def _put_aside(file: Path, at: float) -> Path:
    for each in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        if each.exists():
            each.rename(f"{each}.damaged-{int(at)}")
    return Path(f"{file}.damaged-{int(at)}")
