"""The journal's database file: its format, its upkeep, and what to do when it's damaged.

Format 2. Format 1, which knew single writes without their contents and was never released, is
emptied and taken over. An older Eris refuses the file by its number.
"""

import sqlite3
import zlib
from dataclasses import dataclass
from pathlib import Path

from actors.vault.replacing import digest_of
from actors.vault.steps import State
from eris.errors import ConfigurationError

VERSION = 2

KEPT_STEPS = 20
"""The last steps stay whole whatever their age, and up to twice the bound of the size."""

CALLS_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long a call is known, even if its contents were given up before."""

_ROOM = 0.9
"""Part of the bound that is left after compaction, so that not every step needs one."""

_SCHEMA = """
DROP TABLE IF EXISTS writes;
CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL,
    at REAL NOT NULL,        -- seconds since the epoch
    call_id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    undoes INTEGER NOT NULL,
    entry BLOB NOT NULL      -- JSON of an Entry without changes
) STRICT;
CREATE INDEX steps_by_state ON steps (state);
CREATE INDEX steps_by_turn ON steps (turn);
CREATE INDEX steps_by_undone ON steps (undoes);
CREATE TABLE changes (
    step INTEGER NOT NULL REFERENCES steps (number),
    position INTEGER NOT NULL,
    before TEXT NOT NULL,    -- SHA-256
    after TEXT NOT NULL,
    change BLOB NOT NULL,    -- JSON of a Change
    PRIMARY KEY (step, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_before ON changes (before);
CREATE INDEX changes_by_after ON changes (after);
CREATE TABLE contents (
    digest TEXT PRIMARY KEY, -- SHA-256
    stored INTEGER NOT NULL, -- bytes of packed
    packed BLOB NOT NULL     -- zlib
) STRICT;
CREATE INDEX contents_by_size ON contents (stored);
"""


@dataclass(frozen=True)
class Bounds:
    """How large and old the journal may become."""

    most_bytes: int = 200_000_000
    """Compressed contents."""
    most_seconds: float = 90 * 24 * 3600.0


@dataclass(frozen=True)
class Verdict:
    """What verifying the journal found."""

    contents: int
    """How many contents were looked at."""
    damaged: tuple[str, ...]
    """Digests of those that aren't what they were."""
    missing: tuple[str, ...]
    """Digests that steps name and that aren't kept."""
    problems: tuple[str, ...]
    """What the database itself reports."""

    @property
    def sound(self) -> bool:
        """Whether everything is as it should be."""
        return not (self.damaged or self.missing or self.problems)


def open_file(file: Path) -> sqlite3.Connection:
    """Open the database, or make it.

    Raises:
        sqlite3.Error: It can't be used; a plain `sqlite3.DatabaseError` means that it's damaged.
        ConfigurationError: A newer version of Eris made it.
    """
    database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version in {0, 1}:
            database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    except BaseException:
        database.close()
        raise
    if version not in {0, 1, VERSION}:
        database.close()
        raise ConfigurationError(
            f"{file} was made by another version of Eris (format {version}).",
            hint="Install that version again, or move the file away.",
        )
    return database


def put_aside(file: Path, at: float) -> Path:
    """Rename a damaged database with what belongs to it, so that it can still be looked at."""
    for each in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        if each.exists():
            each.rename(f"{each}.damaged-{int(at)}")
    return Path(f"{file}.damaged-{int(at)}")


def stored_bytes(database: sqlite3.Connection) -> int:
    """Return the size of all contents, compressed."""
    (total,) = database.execute("SELECT coalesce(sum(stored), 0) FROM contents").fetchone()
    return int(total)


def compact(database: sqlite3.Connection, bounds: Bounds, now: float) -> int:
    """Give up the contents of the oldest steps until the rest is within the bounds.

    Args:
        database: In a transaction.
        bounds: The bounds.
        now: Seconds since the epoch.

    Returns:
        How many steps lost their contents.
    """
    steps = database.execute(
        "SELECT number, at FROM steps WHERE state IN (?, ?)"
        " AND EXISTS (SELECT 1 FROM changes WHERE step = number) ORDER BY number",
        (State.DONE, State.UNCERTAIN),
    ).fetchall()
    dropped = 0
    left = stored_bytes(database)
    for number, at in steps:
        last = dropped >= len(steps) - KEPT_STEPS
        small = left <= bounds.most_bytes * _ROOM * (2 if last else 1)
        if small and (last or at >= now - bounds.most_seconds):
            break
        left -= _drop(database, number)
        dropped += 1
    database.execute(
        "DELETE FROM steps WHERE state != ? AND at < ?"
        " AND NOT EXISTS (SELECT 1 FROM changes WHERE step = number)",
        (State.PENDING, now - CALLS_KEPT_SECONDS),
    )
    return dropped


def _drop(database: sqlite3.Connection, number: int) -> int:
    """Give up the contents that only this step needs; returns their size."""
    before = stored_bytes(database)
    database.execute(
        "UPDATE steps SET state = ? WHERE number = ? AND state = ?",
        (State.DROPPED, number, State.DONE),
    )
    delete_changes(database, number)
    return before - stored_bytes(database)


def delete_changes(database: sqlite3.Connection, number: int) -> None:
    """Delete the changes of a step, and the contents that no other step names."""
    named = database.execute(
        "SELECT before FROM changes WHERE step = ?1 UNION SELECT after FROM changes"
        " WHERE step = ?1",
        (number,),
    ).fetchall()
    database.execute("DELETE FROM changes WHERE step = ?", (number,))
    database.executemany(
        "DELETE FROM contents WHERE digest = ?1"
        " AND NOT EXISTS (SELECT 1 FROM changes WHERE before = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM changes WHERE after = ?1)",
        named,
    )


def verify(database: sqlite3.Connection) -> Verdict:
    """Compare every content with its digest, and what steps name with what is kept."""
    contents = 0
    damaged: list[str] = []
    for digest, packed in database.execute("SELECT digest, packed FROM contents"):
        contents += 1
        try:
            whole = digest_of(zlib.decompress(packed)) == digest
        except zlib.error:
            whole = False
        if not whole:
            damaged.append(digest)
    missing = database.execute(
        "SELECT digest FROM (SELECT before AS digest FROM changes UNION SELECT after FROM changes)"
        " WHERE digest != '' AND digest NOT IN (SELECT digest FROM contents) ORDER BY digest"
    )
    problems = [row[0] for row in database.execute("PRAGMA quick_check") if row[0] != "ok"]
    return Verdict(contents, tuple(damaged), tuple(row[0] for row in missing), tuple(problems))
