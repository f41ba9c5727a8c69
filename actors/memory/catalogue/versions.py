"""What happens to a version of a source: its chunks wait for the indexes, are found, and leave.

Functions over a connection within a transaction. They keep three things true: the words table has
exactly the live chunks; no chunk of a dead version waits to be put anywhere; and whatever an index
may hold of a dead one is in ``removals``.
"""

import sqlite3
from collections.abc import Iterable

from actors.memory.catalogue.words import add_words, remove_words
from proto.memory import Kind

URGENCY = {Kind.MEMORY: 0, Kind.NOTE: 1, Kind.DOCUMENT: 2, Kind.SESSION: 3}
"""Which kind is put into the index first: what was just said before what takes an hour."""

_URGENCY_OF = "CASE kind " + " ".join(f"WHEN '{k}' THEN {u}" for k, u in URGENCY.items()) + " END"
_INTO_PENDING = "INSERT OR IGNORE INTO pending (number, chunk, urgency)"


def queue_version(connection: sqlite3.Connection, version: int, after: int = 0) -> None:
    """Let the chunks of a version wait for every index: all, or those with higher ids."""
    connection.execute(
        f"{_INTO_PENDING} SELECT indexes.number, chunks.id, {_URGENCY_OF} FROM versions"  # noqa: S608
        " JOIN chunks ON chunks.version = versions.id JOIN indexes"
        " WHERE versions.id = ? AND chunks.id > ?",
        (version, after),
    )


def queue_everything(connection: sqlite3.Connection, number: int) -> None:
    """Let every chunk that isn't dead wait for an index."""
    connection.execute(
        f"{_INTO_PENDING} SELECT ?, chunks.id, {_URGENCY_OF} FROM versions"  # noqa: S608
        " JOIN chunks ON chunks.version = versions.id WHERE state != 'dead'",
        (number,),
    )


def queue_chunks(connection: sqlite3.Connection, number: int, ids: Iterable[int]) -> None:
    """Let some chunks wait for an index."""
    connection.executemany(
        f"{_INTO_PENDING} SELECT ?, chunks.id, {_URGENCY_OF} FROM chunks"  # noqa: S608
        " JOIN versions ON versions.id = chunks.version WHERE chunks.id = ?",
        [(number, id_) for id_ in ids],
    )


def enliven(connection: sqlite3.Connection, version: int) -> None:
    """Make a version the one that is found, in place of the one before."""
    for (former,) in connection.execute(
        "SELECT other.id FROM versions AS other JOIN versions AS mine ON mine.key = other.key"
        " WHERE mine.id = ? AND other.state = 'live'",
        (version,),
    ).fetchall():
        retire(connection, former)
    connection.execute("UPDATE versions SET state = 'live' WHERE id = ?", (version,))
    add_words(connection, version)


def retire(connection: sqlite3.Connection, version: int) -> None:
    """Make a version dead: from now on nothing of it is found."""
    (state,) = connection.execute("SELECT state FROM versions WHERE id = ?", (version,)).fetchone()
    if state == "live":
        remove_words(connection, version)
    connection.execute("UPDATE versions SET state = 'dead' WHERE id = ?", (version,))
    # Those that wait may be in the index all the same: killed after putting, before noting it.
    connection.execute(
        "INSERT OR IGNORE INTO removals SELECT number, chunks.id FROM chunks JOIN indexes"
        " WHERE version = ?",
        (version,),
    )
    connection.execute(
        "DELETE FROM pending WHERE chunk IN (SELECT id FROM chunks WHERE version = ?)", (version,)
    )
    bury(connection, version)


def bury(connection: sqlite3.Connection, version: int | None = None) -> None:
    """Delete what is dead and in no index any more: of one version, or of all."""
    mine = "state = 'dead'" if version is None else "state = 'dead' AND versions.id = :version"
    named = {} if version is None else {"version": version}
    connection.execute(
        "DELETE FROM chunks WHERE id IN (SELECT chunks.id FROM versions"  # noqa: S608
        f" JOIN chunks ON chunks.version = versions.id WHERE {mine}"
        " AND NOT EXISTS (SELECT 1 FROM removals, indexes"
        " WHERE removals.number = indexes.number AND removals.chunk = chunks.id))",
        named,
    )
    dead = (
        f"SELECT id FROM versions WHERE {mine}"  # noqa: S608
        " AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.version = versions.id)"
    )
    connection.execute(f"DELETE FROM pages WHERE version IN ({dead})", named)  # noqa: S608
    connection.execute(f"DELETE FROM versions WHERE id IN ({dead})", named)  # noqa: S608
