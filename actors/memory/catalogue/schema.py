"""The catalogue's tables, and opening the database that holds them.

No version is ever migrated: another schema or a damaged file means a new, empty catalogue with
another id, by which an index knows that it isn't its own any more.

A source has versions. One is ``live``: what can be found. A ``new`` one takes its place when all
its chunks are in the serving index, a ``growing`` one is still being read, and the chunks of a
``dead`` one go as soon as no index has them. Rows of chunks never change and their ids are never
used twice, so that an id in an index means one text for ever.
"""

import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from eris.errors import ConfigurationError, StorageError

VERSION = 1
"""To be raised with every change of the tables or of what is kept in them."""

STAMP = f"{VERSION}/{unicodedata.unidata_version}"

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    date TEXT NOT NULL,
    day INTEGER NOT NULL,
    folders TEXT NOT NULL,
    origin TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE UNIQUE INDEX versions_by_key ON versions (key, state)
    WHERE state IN ('growing', 'new', 'live');
CREATE INDEX versions_by_state ON versions (state, kind);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    header TEXT NOT NULL,
    heading TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    page INTEGER NOT NULL,
    tags TEXT NOT NULL,
    digest BLOB NOT NULL,
    length INTEGER NOT NULL
);
CREATE INDEX chunks_by_version ON chunks (version);
CREATE INDEX chunks_by_digest ON chunks (digest);
CREATE TABLE pages (
    version INTEGER, page INTEGER, text TEXT NOT NULL, PRIMARY KEY (version, page)
) WITHOUT ROWID;
CREATE TABLE indexes (number INTEGER PRIMARY KEY);
CREATE TABLE pending (
    number INTEGER, chunk INTEGER, urgency INTEGER NOT NULL, PRIMARY KEY (number, chunk)
) WITHOUT ROWID;
CREATE INDEX pending_by_urgency ON pending (number, urgency, chunk);
CREATE TABLE removals (
    number INTEGER, chunk INTEGER, PRIMARY KEY (number, chunk)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    body, content = '',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co So'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""

_PRAGMAS = (
    "PRAGMA busy_timeout = 10000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # A power cut can lose the last batches; they're made again.
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8000",
    "PRAGMA journal_size_limit = 16000000",
)


class Database:
    """The one connection, used by one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self.connection = connection
        self.serving: int | None = None
        """Index that a new version must be in before it's live; None: it's live at once."""
        self._file = file
        self._lock = threading.RLock()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do several things or none of them; not to be nested.

        Raises:
            StorageError: The database can't be read or written; nothing was done.
        """
        with self._lock, self._said():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read.

        Raises:
            StorageError: The database can't be read.
        """
        with self._lock, self._said():
            yield self.connection

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self.connection.close()

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(
                f"The memory's catalogue {self._file} can't be used: {error}.",
                hint="Check the free space; if it's damaged, eris restart memory makes it anew.",
            ) from error


def open_database(file: Path, new_id: Callable[[], str]) -> Database:
    """Open the catalogue, or make it anew if it's another version's or damaged.

    Raises:
        ConfigurationError: It can't be made.
        StorageError: Somebody else has it open and busy.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = _connect(file)
            if _is_sound(connection):
                return Database(connection, file)
            connection.close()
        except sqlite3.DatabaseError as error:
            _refuse_locked(file, error)
        for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
            file.with_name(name).unlink(missing_ok=True)
        connection = _connect(file)
        connection.executescript(_TABLES)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [("id", new_id()), ("stamp", STAMP)]
        )
    except (sqlite3.Error, OSError) as error:
        raise ConfigurationError(
            f"The memory's catalogue {file} can't be opened: {error}.",
            hint="Check the permissions and the free space of the state folder.",
        ) from error
    return Database(connection, file)


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    return connection


def _is_sound(connection: sqlite3.Connection) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return False
    row = connection.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone()
    if row is None or row[0] != STAMP:
        return False
    # Reads every page once: 20,000 chunks take a tenth of a second.
    row = connection.execute("PRAGMA quick_check(1)").fetchone()
    return bool(row and row[0] == "ok")


def _refuse_locked(file: Path, error: sqlite3.DatabaseError) -> None:
    # Somebody else has it open and busy: that is no damage, and deleting it would do harm.
    if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        raise StorageError(
            f"The memory's catalogue {file} is in use by another process.",
            hint="Only one memory actor may run for a vault: eris status",
        ) from error
