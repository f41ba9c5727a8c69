"""Which chunks have to be put into which index, and taken out of it.

A chunk is noted as put after the index has it, and an index is asked to take out what it may not
even have. So a kill between the two costs a batch that is put again under the same ids.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from actors.memory.catalogue.rows import Entry
from actors.memory.catalogue.schema import Database
from actors.memory.catalogue.versions import bury, enliven, queue_chunks, queue_everything


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How an index differed from what it should hold."""

    missing: int
    """Chunks that it had lost: they wait to be put again."""
    surplus: int
    """Points of no chunk: they wait to be taken out."""


class IndexQueue:
    """The queues of all indexes, each known by its number."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def watch(self, number: int) -> None:
        """Know an index from now on: everything waits for it, if it wasn't known before."""
        with self._database.transaction() as connection:
            if number in _numbers(connection):
                return
            connection.execute("INSERT INTO indexes VALUES (?)", (number,))
            queue_everything(connection, number)

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all other indexes: they're gone."""
        kept = set(numbers)
        with self._database.transaction() as connection:
            for number in _numbers(connection) - kept:
                for table in ("indexes", "pending", "removals"):
                    connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))  # noqa: S608
            bury(connection)

    def serve(self, number: int | None) -> None:
        """Say which index a new version has to be in before it takes the former one's place.

        Args:
            number: Of an index that is being fed; None if there's none, so that nothing waits for
                what won't come.
        """
        with self._database.transaction() as connection:
            self._database.serving = number
            rows = connection.execute("SELECT id FROM versions WHERE state = 'new'").fetchall()
            _promote(connection, number, [row[0] for row in rows])

    def waiting(self, number: int) -> int:
        """Return how many chunks aren't in an index yet."""
        with self._database.reading() as connection:
            return _count(connection, "SELECT count(*) FROM pending WHERE number = ?", number)

    def unseen(self, number: int) -> int:
        """Return how many of the chunks that can be found aren't in an index yet."""
        with self._database.reading() as connection:
            return _count(
                connection,
                "SELECT count(*) FROM pending JOIN chunks ON chunks.id = pending.chunk"
                " JOIN versions ON versions.id = chunks.version"
                " WHERE number = ? AND state = 'live'",
                number,
            )

    def window(self, number: int, limit: int) -> list[tuple[int, int]]:
        """Return the next chunks to put, urgent ones first: their ids and lengths (characters)."""
        with self._database.reading() as connection:
            return connection.execute(
                "SELECT chunk, length FROM pending JOIN chunks ON chunks.id = pending.chunk"
                " WHERE number = ? ORDER BY urgency, chunk LIMIT ?",
                (number, limit),
            ).fetchall()

    def twins(self, number: int, ids: Sequence[int]) -> dict[int, int]:
        """Return, for chunks whose very text is in an index already, the id that it's under."""
        with self._database.reading() as connection:
            return dict(
                connection.execute(
                    "SELECT mine.id, min(other.id) FROM json_each(?) AS asked"
                    " JOIN chunks AS mine ON mine.id = asked.value"
                    " JOIN chunks AS other ON other.digest = mine.digest AND other.id != mine.id"
                    " WHERE NOT EXISTS (SELECT 1 FROM pending"
                    " WHERE number = ? AND chunk = other.id) GROUP BY mine.id",
                    (_json(ids), number),
                )
            )

    def waits(self, number: int, ids: Sequence[int]) -> set[int]:
        """Return those of some chunks that still wait for an index."""
        with self._database.reading() as connection:
            return {
                row[0]
                for row in connection.execute(
                    "SELECT chunk FROM json_each(?) AS asked JOIN pending"
                    " ON chunk = asked.value AND number = ?",
                    (_json(ids), number),
                )
            }

    def put(self, number: int, entries: Sequence[Entry]) -> None:
        """Note that an index has these chunks. New versions that are complete by it go live.

        One whose source has moved since it was read goes on waiting: the index has its old path.
        """
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM pending WHERE number = ? AND chunk = ? AND EXISTS (SELECT 1 FROM"
                " chunks JOIN versions ON versions.id = version WHERE chunks.id = ?"
                " AND key = ? AND path = ? AND date = ?)",
                [(number, e.id, e.id, e.key, e.path, e.date) for e in entries],
            )
            if number == self._database.serving:
                ids = [entry.id for entry in entries]
                _promote(connection, number, _versions(connection, ids))

    def leaving(self, number: int, limit: int) -> list[int]:
        """Return ids that an index has to take out."""
        with self._database.reading() as connection:
            return [
                row[0]
                for row in connection.execute(
                    "SELECT chunk FROM removals WHERE number = ? ORDER BY chunk LIMIT ?",
                    (number, limit),
                )
            ]

    def left(self, number: int, ids: Sequence[int]) -> None:
        """Note that an index hasn't got these any more."""
        with self._database.transaction() as connection:
            connection.executemany(
                "DELETE FROM removals WHERE number = ? AND chunk = ?", [(number, i) for i in ids]
            )
            for version in _versions(connection, ids):
                bury(connection, version)

    def compare(self, number: int, present: Iterator[int]) -> Difference:
        """Compare an index's ids with what it should have, and queue what repairs it."""
        there = set(present)
        with self._database.transaction() as connection:
            expected = {
                row[0]
                for row in connection.execute(
                    "SELECT chunks.id FROM versions JOIN chunks ON chunks.version = versions.id"
                    " WHERE state != 'dead' AND NOT EXISTS"
                    " (SELECT 1 FROM pending WHERE number = ? AND chunk = chunks.id)",
                    (number,),
                )
            }
            waiting = {
                row[0]
                for row in connection.execute(
                    "SELECT chunk FROM pending WHERE number = :n"
                    " UNION SELECT chunk FROM removals WHERE number = :n",
                    {"n": number},
                )
            }
            missing, surplus = expected - there, there - expected - waiting
            queue_chunks(connection, number, missing)
            connection.executemany(
                "INSERT OR IGNORE INTO removals VALUES (?, ?)", [(number, i) for i in surplus]
            )
        return Difference(missing=len(missing), surplus=len(surplus))


def _numbers(connection: sqlite3.Connection) -> set[int]:
    return {row[0] for row in connection.execute("SELECT number FROM indexes")}


def _versions(connection: sqlite3.Connection, ids: Sequence[int]) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT version FROM json_each(?) AS asked JOIN chunks ON chunks.id = asked.value",
        (_json(ids),),
    )
    return [row[0] for row in rows]


def _promote(connection: sqlite3.Connection, number: int | None, versions: Iterable[int]) -> None:
    """Make those new versions live that an index has all chunks of."""
    for version in versions:
        ready = connection.execute(
            "SELECT 1 FROM versions WHERE id = ? AND state = 'new' AND NOT EXISTS (SELECT 1"
            " FROM chunks JOIN pending ON chunk = chunks.id AND number = ? WHERE version = ?)",
            (version, -1 if number is None else number, version),
        ).fetchone()
        if ready:
            enliven(connection, version)


def _count(connection: sqlite3.Connection, statement: str, number: int) -> int:
    return int(connection.execute(statement, (number,)).fetchone()[0])


def _json(values: Sequence[int]) -> str:
    return msgspec.json.encode(values).decode()
