"""The journal: every change of the vault, with before and after, written down before it happens.

It serves three ends. A repeated call is carried out once. A step that a crash interrupted is
finished or taken back, from the contents that are kept here. And any step can be undone, looked at
and blamed later.

Contents are kept once each, named by their SHA-256 and compressed. The journal is bounded by size
and age: the oldest steps lose their contents first, always whole steps. What remains of such a step
is who asked for it and its receipt, so that its call still isn't carried out twice; that is
forgotten after `journal_file.CALLS_KEPT_SECONDS`.

It lives outside of the vault, in the state folder: syncing the vault doesn't sync it, and nothing
in the vault can damage it. If it's damaged all the same, it's put aside and a new one begun: then
what was recorded can't be undone any more, but the notes themselves are never at stake.
"""

import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from actors.vault.journal_file import (
    Bounds,
    Verdict,
    compact,
    delete_changes,
    open_file,
    put_aside,
    stored_bytes,
    verify,
)
from actors.vault.replacing import digest_of
from actors.vault.steps import Change, Entry, Recorded, Rename, State
from eris.errors import ConfigurationError, NotFoundError, StorageError

_AFTER_HEX = "g"
_FAST = 1
_MANY = 100
"""Contents from which on two threads compress them."""
_DECODE_CHANGE = msgspec.json.Decoder(Change)
T = TypeVar("T")


class Journal:
    """The database of steps; thread-safe."""

    def __init__(
        self, file: Path, now: Callable[[], float], *, bounds: Bounds | None = None
    ) -> None:
        """Open it, and make it if it isn't there. A damaged one is put aside.

        Args:
            file: Where it is.
            now: Seconds since the epoch.
            bounds: How large and old it may become.

        Raises:
            ConfigurationError: It can't be opened, or a newer version of Eris made it.
        """
        self.now = now
        self.damage = ""
        """A sentence for the user if a damaged journal was put aside; empty otherwise."""
        self._file = file
        self._lock = threading.Lock()
        self._bounds = bounds or Bounds()
        self._database = self._open()
        self._stored = 0
        try:
            self.compact()
        except StorageError:
            if not self.damage:
                raise

    def _open(self) -> sqlite3.Connection:
        try:
            return open_file(self._file)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise _unusable(self._file, error) from error
        return self._begin_anew()

    def _begin_anew(self) -> sqlite3.Connection:
        try:
            aside = put_aside(self._file, self.now())
            self.damage = (
                f"The record of writes was damaged. It was put aside as {aside.name} and a new one "
                "begun: earlier changes can't be undone any more, the notes are as they were."
            )
            return open_file(self._file)
        except (sqlite3.Error, OSError) as error:
            raise _unusable(self._file, error) from error

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the database, all of it or nothing."""
        with self._lock:
            try:
                self._database.execute("BEGIN")
                done = work(self._database)
                self._database.execute("COMMIT")
            except sqlite3.Error as error:
                if _is_damage(error):
                    self._database.close()
                    self._database = self._begin_anew()
                    raise StorageError(self.damage, hint="Try again.") from error
                self._roll_back()
                raise _not_kept(error) from error
            except BaseException:
                self._roll_back()
                raise
            return done

    def _roll_back(self) -> None:
        try:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _not_kept(error) from error

    # Steps as they happen.

    def begin(self, entry: Entry, contents: Mapping[str, bytes]) -> int:
        """Commit a step that is about to happen; durable when this returns.

        Args:
            entry: The step.
            contents: Every content that its changes name, by digest.

        Returns:
            The step's number.

        Raises:
            StorageError: It can't be kept; then nothing may be written.
        """
        kept = self._run(lambda database: set(filter(partial(_keeps, database), contents)))
        packed = _packed([digest for digest in contents if digest not in kept], contents)
        cause = entry.cause

        def work(database: sqlite3.Connection) -> tuple[int, int]:
            number = database.execute(
                "INSERT INTO steps (state, at, call_id, turn, session, undoes, entry)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number",
                (
                    State.PENDING,
                    self.now(),
                    cause.call_id,
                    cause.turn,
                    cause.session,
                    entry.undoes,
                    msgspec.json.encode(msgspec.structs.replace(entry, changes=())),
                ),
            ).fetchone()[0]
            database.executemany(
                "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
                (
                    (number, position, *_digests(change), msgspec.json.encode(change))
                    for position, change in enumerate(entry.changes)
                ),
            )
            added = 0
            for digest in kept:
                if not _keeps(database, digest):  # Given up at this very moment.
                    packed.update(_packed([digest], contents))
            for digest, blob in packed.items():
                added += (
                    len(blob)
                    * database.execute(
                        "INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", (digest, len(blob), blob)
                    ).rowcount
                )
            return number, added

        number, added = self._run(work)
        self._stored += added
        return number

    def finish(self, number: int, state: State) -> None:
        """Record how a step ended.

        Raises:
            StorageError: It can't be kept.
        """
        self._run(
            lambda database: database.execute(
                "UPDATE steps SET state = ? WHERE number = ?", (state, number)
            )
        )
        if self._stored > self._bounds.most_bytes:
            self.compact()

    def forget(self, number: int) -> None:
        """Drop a step of which nothing was carried out.

        Raises:
            StorageError: It can't be dropped.
        """

        def work(database: sqlite3.Connection) -> None:
            delete_changes(database, number)
            database.execute("DELETE FROM steps WHERE number = ?", (number,))

        self._run(work)

    # Looking up.

    def find(self, call_id: str) -> Recorded | None:
        """Return the step of a call, or nothing."""
        return next(iter(self._select("WHERE call_id = ?", (call_id,))), None)

    def calls_starting(self, prefix: str) -> list[Recorded]:
        """Return the steps whose call ids begin with ``prefix``, the oldest first."""
        return self._select(
            "WHERE substr(call_id, 1, ?) = ? ORDER BY number", (len(prefix), prefix)
        )

    def pending(self) -> list[Recorded]:
        """Return the steps that were begun and not finished, the oldest first."""
        return self._select("WHERE state = ? ORDER BY number", (State.PENDING,))

    def step(self, number: int) -> Recorded:
        """Return a step.

        Raises:
            NotFoundError: There's none of that number.
        """
        found = self._select("WHERE number = ?", (number,))
        if not found:
            raise NotFoundError(
                f"There is no step {number} in the journal.",
                hint="Look at the history for the numbers; very old steps are forgotten.",
            )
        return found[0]

    def latest(self, count: int, *, session: str = "") -> list[Recorded]:
        """Return the last steps that were done, the newest first.

        Args:
            count: How many at most.
            session: Only those of this session; all if empty.
        """
        return self._select(
            "WHERE state = ? AND ? IN ('', session) ORDER BY number DESC LIMIT ?",
            (State.DONE, session, count),
        )

    def of_turn(self, turn: str) -> list[Recorded]:
        """Return the steps of a turn that were done, the newest first."""
        return self._select("WHERE turn = ? AND state = ? ORDER BY number DESC", (turn, State.DONE))

    def changes(self, since: int = 1) -> list[tuple[int, Change]]:
        """Return the changes of all steps that were done, each with its step, the oldest first.

        Args:
            since: The first step of interest.
        """
        rows = self._run(
            lambda database: database.execute(
                "SELECT step, change FROM changes JOIN steps ON number = step"
                " WHERE state = ? AND step >= ? ORDER BY step, position",
                (State.DONE, since),
            ).fetchall()
        )
        return [(step, _DECODE_CHANGE.decode(change)) for step, change in rows]

    def undone_by(self, number: int) -> int:
        """Return the step that has undone this one and isn't undone itself, or 0."""
        undoers = self._select("WHERE undoes = ? AND state = ?", (number, State.DONE))
        return next((each.number for each in undoers if not self.undone_by(each.number)), 0)

    def content(self, digest: str) -> bytes:
        """Return a content; that of no digest is empty.

        Raises:
            NotFoundError: It isn't kept (any more).
            StorageError: It's damaged.
        """
        if not digest:
            return b""
        row = self._run(
            lambda database: database.execute(
                "SELECT packed FROM contents WHERE digest = ?", (digest,)
            ).fetchone()
        )
        if row is None:
            raise NotFoundError(
                f"The content {digest[:16]} isn't in the journal any more.",
                hint="The journal keeps the latest changes only.",
            )
        try:
            data = zlib.decompress(row[0])
        except zlib.error:
            data = b""
        if digest_of(data) != digest:
            raise StorageError(
                f"The content {digest[:16]} in the journal is damaged.",
                hint="Check the disk of the state folder.",
            )
        return data

    def digest_starting(self, version: str) -> str:
        """Return the digest of the content that a version means, or nothing if it isn't kept."""
        row = self._run(
            lambda database: database.execute(
                "SELECT digest FROM contents WHERE digest BETWEEN ? AND ? LIMIT 1",
                (version, f"{version}{_AFTER_HEX}"),
            ).fetchone()
        )
        return str(row[0]) if row and version else ""

    def _select(self, clause: str, values: Iterable[Any]) -> list[Recorded]:
        def work(database: sqlite3.Connection) -> Iterator[Recorded]:
            rows = database.execute(
                f"SELECT number, at, state, entry FROM steps {clause}",  # noqa: S608 - our own words
                tuple(values),
            )
            for number, at, state, entry in rows.fetchall():
                changes = database.execute(
                    "SELECT change FROM changes WHERE step = ? ORDER BY position", (number,)
                )
                known = msgspec.json.decode(entry, type=Entry)
                yield Recorded(
                    number=number,
                    at=at,
                    state=State(state),
                    cause=known.cause,
                    request=known.request,
                    line=known.line,
                    receipt=msgspec.structs.replace(known.receipt, step=number),
                    undoes=known.undoes,
                    folders=known.folders,
                    changes=tuple(_DECODE_CHANGE.decode(row[0]) for row in changes),
                )

        return self._run(lambda database: list(work(database)))

    # Upkeep.

    def compact(self) -> int:
        """Give up what is over the bounds; returns how many steps lost their contents.

        Raises:
            StorageError: The database can't be written.
        """
        dropped = self._run(lambda database: compact(database, self._bounds, self.now()))
        if dropped:
            with self._lock:
                self._database.execute("PRAGMA incremental_vacuum").fetchall()
        self._stored = self._run(stored_bytes)
        return dropped

    def verify(self) -> Verdict:
        """Compare every content that is kept with its digest; takes a while.

        Raises:
            StorageError: The database can't be read.
        """
        return self._run(verify)


def _digests(change: Change) -> tuple[str, str]:
    if isinstance(change, Rename):
        return change.digest, change.digest
    return change.before, change.after


def _keeps(database: sqlite3.Connection, digest: str) -> bool:
    found = database.execute("SELECT 1 FROM contents WHERE digest = ?", (digest,))
    return found.fetchone() is not None


def _packed(digests: Sequence[str], contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Compress contents; half of many in one more thread, since Python isn't held up by that."""

    def pack(some: Sequence[str]) -> dict[str, bytes]:
        return {digest: zlib.compress(contents[digest], _FAST) for digest in some}

    if len(digests) < _MANY:
        return pack(digests)
    half = len(digests) // 2
    with ThreadPoolExecutor(1) as other:
        rest = other.submit(pack, digests[half:])
        return pack(digests[:half]) | rest.result()


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is damaged: only then SQLite raises the plain class."""
    return type(error) is sqlite3.DatabaseError


def _not_kept(error: sqlite3.Error) -> StorageError:
    return StorageError(
        f"The record of writes can't be kept: {error}.",
        hint="Free some space on the disk of the state folder, then try again.",
    )


def _unusable(file: Path, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"The record of writes {file} can't be opened: {error}.",
        hint="Check the permissions and the free space of the state folder.",
    )
