"""The index's tables, and opening the database that holds them.

Everything in it comes from the notes, so no version is ever migrated: another schema, a damaged
file or another Unicode database (folding depends on it) means a new, empty index.

Tables by file are clustered by it (`WITHOUT ROWID`), so that replacing a note's rows touches a few
neighbouring pages. The full-text table has no content of its own: the text is kept once, in
`texts`, as it was written, for excerpts and regular expressions; taking a note out of the
full-text table needs the very words put in, which `storing` makes again from that text.
"""

import sqlite3
import unicodedata
from pathlib import Path

from eris.errors import ConfigurationError

VERSION = 2
"""To be raised with every change of the tables, of what `extracting` finds, or of folding."""

STAMP = f"{VERSION}/{unicodedata.unidata_version}"

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    digest BLOB,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
);
CREATE INDEX files_by_state ON files (state) WHERE state IN ('waiting', 'skipped');
CREATE TABLE texts (file INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE aliases (
    file INTEGER, position INTEGER, alias TEXT, key TEXT, PRIMARY KEY (file, position)
) WITHOUT ROWID;
CREATE INDEX aliases_by_key ON aliases (key);
CREATE TABLE headings (
    file INTEGER, position INTEGER, level INTEGER, title TEXT, key TEXT, line INTEGER,
    PRIMARY KEY (file, position)
) WITHOUT ROWID;
CREATE INDEX headings_by_key ON headings (key);
CREATE TABLE links (
    file INTEGER, position INTEGER, target TEXT, anchor TEXT, key TEXT, kind TEXT, shown TEXT,
    embed INTEGER, line INTEGER, start INTEGER, "end" INTEGER, target_start INTEGER,
    target_end INTEGER, resolved INTEGER, PRIMARY KEY (file, position)
) WITHOUT ROWID;
CREATE INDEX links_by_key ON links (key);
CREATE INDEX links_by_resolved ON links (resolved) WHERE resolved IS NOT NULL;
CREATE TABLE tags (
    file INTEGER, position INTEGER, name TEXT, key TEXT, line INTEGER, PRIMARY KEY (file, position)
) WITHOUT ROWID;
CREATE INDEX tags_by_key ON tags (key);
CREATE TABLE properties (
    file INTEGER, key TEXT, value TEXT, PRIMARY KEY (file, key)
) WITHOUT ROWID;
CREATE INDEX properties_by_key ON properties (key);
CREATE TABLE tasks (
    file INTEGER, position INTEGER, mark TEXT, text TEXT, line INTEGER, PRIMARY KEY (file, position)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    name, folder, title, body, content = '',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co So'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""

BY_FILE = ("texts", "aliases", "headings", "links", "tags", "properties", "tasks")
"""Tables with the rows of one file each."""

_PRAGMAS = (
    "PRAGMA busy_timeout = 10000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # A power cut can lose the last batches; they're read again.
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",
    "PRAGMA journal_size_limit = 16000000",
)


def open_writer(file: Path) -> sqlite3.Connection:
    """Open the index for writing, or make it anew if it's another version's or damaged.

    Raises:
        ConfigurationError: It can't be made.
    """
    try:
        try:
            connection = _connect(file)
            if _stamp(connection) == STAMP:
                return connection
            connection.close()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and file.exists():
                _refuse_locked(error)
        for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
            file.with_name(name).unlink(missing_ok=True)
        connection = _connect(file)
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO meta VALUES ('stamp', ?)", (STAMP,))
    except (sqlite3.Error, OSError) as error:
        raise ConfigurationError(
            f"The index {file} can't be opened: {error}.",
            hint="Check the permissions and the free space of the state folder.",
        ) from error
    return connection


def open_reader(file: Path) -> sqlite3.Connection:
    """Open the index for reading; each thread needs a connection of its own."""
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA busy_timeout = 10000")
    connection.execute("PRAGMA cache_size = -8000")
    return connection


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    return connection


def _stamp(connection: sqlite3.Connection) -> str:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return ""
    row = connection.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone()
    return str(row[0]) if row else ""


def _refuse_locked(error: sqlite3.OperationalError) -> None:
    # Somebody else has it open and busy: that is no damage, and deleting it would do harm.
    if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        raise error
