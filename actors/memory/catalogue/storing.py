"""Rows of sources and chunks, written and read: functions over a connection."""

import sqlite3
from collections.abc import Sequence

import msgspec

from actors.memory.catalogue.rows import (
    Entry,
    Source,
    day_number,
    folded_tags,
    folders_above,
    text_digest,
)
from actors.memory.catalogue.versions import enliven, queue_version, retire
from actors.memory.chunking import Chunk
from eris.errors import NotFoundError
from proto.memory import Kind

SOURCE = "key, kind, path, title, date, digest, origin"
ENTRY = """
    chunks.id, kind, key, path, title, date, day, origin, folders, text, header, heading,
    first_line, last_line, page, tags
"""


def newest(connection: sqlite3.Connection, key: str) -> Source | None:
    """The newest version of a source that is complete; None if it isn't known."""
    row = connection.execute(
        f"SELECT {SOURCE} FROM versions WHERE key = ? AND state IN ('new', 'live')"  # noqa: S608
        " ORDER BY state = 'live' LIMIT 1",
        (key,),
    ).fetchone()
    return None if row is None else source_of(row)


def source_of(row: Sequence[str]) -> Source:
    """What a row of `SOURCE` says."""
    key, kind, path, title, date, digest, origin = row
    return Source(
        key=key, kind=Kind(kind), path=path, title=title, date=date, digest=digest, origin=origin
    )


def growing(connection: sqlite3.Connection, key: str) -> int:
    """The version of a source that is being given in parts.

    Raises:
        NotFoundError: There's none.
    """
    row = connection.execute(
        "SELECT id FROM versions WHERE key = ? AND state = 'growing'", (key,)
    ).fetchone()
    if row is None:
        raise NotFoundError(
            f"Nothing is being taken in as {key}: it was taken back, or never begun.",
            hint="Take it in anew.",
        )
    return int(row[0])


def insert(connection: sqlite3.Connection, source: Source, state: str) -> int:
    """Add a version without chunks and return its id."""
    cursor = connection.execute(
        "INSERT INTO versions (key, kind, path, title, date, day, folders, origin, digest, state)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            source.key,
            source.kind,
            source.path,
            source.title,
            source.date,
            day_number(source.date),
            as_json(folders_above(source.path)),
            source.origin,
            source.digest,
            state,
        ),
    )
    return int(cursor.lastrowid or 0)


def add(
    connection: sqlite3.Connection,
    version: int,
    pages: Sequence[tuple[int, str]],
    chunks: Sequence[Chunk],
) -> None:
    """Add pages and chunks to a version; the chunks wait for every index."""
    (last,) = connection.execute(
        "SELECT coalesce(max(id), 0) FROM chunks WHERE version = ?", (version,)
    ).fetchone()
    connection.executemany(
        "INSERT INTO pages VALUES (?, ?, ?)", [(version, page, text) for page, text in pages]
    )
    connection.executemany(
        "INSERT INTO chunks (version, text, header, heading, first_line, last_line, page, tags,"
        " digest, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                version,
                chunk.text,
                chunk.header,
                chunk.heading,
                chunk.first_line,
                chunk.last_line,
                chunk.page,
                as_json(folded_tags(chunk.tags)),
                text_digest(chunk.embedded),
                len(chunk.embedded),
            )
            for chunk in chunks
        ],
    )
    queue_version(connection, version, after=last)


def complete(connection: sqlite3.Connection, version: int, serving: int | None) -> None:
    """Make a version that has all its chunks live, or let it wait until it's indexed."""
    connection.execute("UPDATE versions SET state = 'new' WHERE id = ?", (version,))
    (replaces,) = connection.execute(
        "SELECT count(*) FROM versions AS other JOIN versions AS mine ON mine.key = other.key"
        " WHERE mine.id = ? AND other.state = 'live'",
        (version,),
    ).fetchone()
    (missing,) = connection.execute(
        "SELECT count(*) FROM chunks JOIN pending ON pending.chunk = chunks.id"
        " WHERE version = ? AND number = ?",
        (version, -1 if serving is None else serving),
    ).fetchone()
    if not replaces or not missing:
        enliven(connection, version)


def retire_all(connection: sqlite3.Connection, key: str, *states: str) -> bool:
    """Make those versions of a source dead that are in one of these states; false if none is."""
    rows = connection.execute(
        "SELECT id FROM versions WHERE key = ? AND state IN (SELECT value FROM json_each(?))",
        (key, as_json(states)),
    ).fetchall()
    for (version,) in rows:
        retire(connection, version)
    return bool(rows)


def as_json(values: Sequence[str] | Sequence[int]) -> str:
    """A list, as it's kept in a column and handed to a statement."""
    return msgspec.json.encode(values).decode()


def entry_of(row: Sequence[str | int]) -> Entry:
    """What a row of `ENTRY` says."""
    values = list(row)
    values[8] = msgspec.json.decode(str(row[8]))
    values[15] = msgspec.json.decode(str(row[15]))
    return msgspec.convert(dict(zip(Entry.__struct_fields__, values, strict=False)), Entry)
