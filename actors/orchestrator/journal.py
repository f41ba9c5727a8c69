"""The turn journal: what the orchestrator has promised and how far it got, on disk.

Durable before it's acknowledged: WAL with ``synchronous=FULL``. It stores and returns; what a step
means is `actors.orchestrator.machine`'s business.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from actors.orchestrator.condensing import Condensing
from actors.orchestrator.steps import Step, untrusted_in
from eris.errors import ConfigurationError, ConflictError, StorageError
from proto.orchestrator import LoggedTurn, SessionSummary, TurnState, TurnView
from proto.tools import Origin

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE session (
    name TEXT PRIMARY KEY,
    last_active REAL NOT NULL,
    full_from INTEGER NOT NULL DEFAULT 0,
    lines_from INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE turn (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session (name),
    sequence INTEGER NOT NULL,
    idem TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    origin TEXT NOT NULL,
    surface TEXT NOT NULL,
    accepted REAL NOT NULL,
    state TEXT NOT NULL,
    view BLOB,
    UNIQUE (session, sequence)
) STRICT;
CREATE INDEX turn_by_state ON turn (state);
CREATE TABLE step (
    turn TEXT NOT NULL REFERENCES turn (turn),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (turn, number)
) STRICT, WITHOUT ROWID;
"""

_TURNS = """
SELECT turn, session, sequence, idem, text, origin, surface, accepted, state, view FROM turn
"""
_INSERT_TURN = """
INSERT INTO turn (turn, session, sequence, idem, text, origin, surface, accepted, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it's journalled."""

    turn: str
    session: str
    sequence: int
    """Position in its session, from 0."""
    idem: str
    text: str
    origin: Origin
    surface: str
    """Name of the connection that submitted it: where answers and questions about it belong."""
    accepted: float
    """Seconds since the epoch."""
    state: TurnState
    view: TurnView | None = None
    """What surfaces see; only once the turn has ended."""


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a submission."""

    record: TurnRecord
    position: int
    """Unfinished turns of its session in front of it."""
    repeated: bool
    """Its idempotency key had been used before; nothing new was written."""


class Journal:
    """One SQLite database, used from several threads under one lock."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        """Open or create the journal at ``path``; ``clock`` gives seconds since the epoch.

        Raises:
            StorageError: The file can't be opened or isn't a database.
            ConfigurationError: A newer Eris wrote it.
        """
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        self._encoder = msgspec.json.Encoder()
        self._steps = msgspec.json.Decoder(Step)
        self._views = msgspec.json.Decoder(TurnView)
        with self._translated("open"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, check_same_thread=False, isolation_level=None, timeout=5
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA foreign_keys = ON")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise ConfigurationError(
                f"The journal {self._path} was written by a newer Eris (format {version}, "
                f"this one reads {SCHEMA_VERSION}).",
                hint="Install that version again, or move the file away to start afresh.",
            )
        if version == 0:
            with self._transaction("create"):
                for statement in _SCHEMA.split(";"):
                    run(statement)
                run(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def close(self) -> None:
        """Close the database; everything acknowledged is on disk already."""
        with self._lock:
            self._connection.close()

    def submit(
        self, *, turn: str, session: str, text: str, idem: str, origin: Origin, surface: str
    ) -> Submitted:
        """Journal a new turn under the id ``turn``, or find the one with the same ``idem``.

        Raises:
            ConflictError: The idempotency key belongs to a different message.
            StorageError: It can't be written; nothing was promised.
        """
        with self._transaction("journal a turn in") as run:
            known = run(_TURNS + "WHERE idem = ?", (idem,)).fetchone()
            if known is not None:
                record = self._record(known)
                if (record.session, record.text) != (session, text):
                    raise ConflictError(
                        f"The idempotency key {idem!r} was used for another message.",
                        hint="Use a fresh key for each message.",
                    )
                return Submitted(record=record, position=self._before(record), repeated=True)
            now = self._clock()
            run(
                "INSERT INTO session (name, last_active) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET last_active = excluded.last_active",
                (session, now),
            )
            (sequence,) = run(
                "SELECT coalesce(max(sequence) + 1, 0) FROM turn WHERE session = ?", (session,)
            ).fetchone()
            record = TurnRecord(
                turn=turn,
                session=session,
                sequence=sequence,
                idem=idem,
                text=text,
                origin=origin,
                surface=surface,
                accepted=now,
                state=TurnState.QUEUED,
            )
            run(
                _INSERT_TURN,
                (turn, session, sequence, idem, text, origin, surface, now, record.state),
            )
            return Submitted(record=record, position=self._before(record), repeated=False)

    def start(self, turn: str) -> None:
        """Note that work on a queued turn has begun."""
        with self._transaction("start a turn in") as run:
            run(
                "UPDATE turn SET state = ? WHERE turn = ? AND state = ?",
                (TurnState.RUNNING, turn, TurnState.QUEUED),
            )

    def append(self, turn: str, step: Step) -> int:
        """Add a step to an unfinished turn and return its number, from 0."""
        with self._transaction("write a step to"):
            return self._append(turn, step)

    def finish(self, turn: str, view: TurnView, step: Step) -> None:
        """Write a turn's last step, its state and what surfaces see of it, all or nothing."""
        with self._transaction("finish a turn in") as run:
            self._append(turn, step)
            run(
                "UPDATE turn SET state = ?, view = ? WHERE turn = ?",
                (view.state, self._encoder.encode(view), turn),
            )
            run(
                "UPDATE session SET last_active = ? "
                "WHERE name = (SELECT session FROM turn WHERE turn = ?)",
                (self._clock(), turn),
            )

    def steps(self, turn: str) -> list[Step]:
        """All steps of a turn, in order."""
        with self._reading() as run:
            rows = run("SELECT payload FROM step WHERE turn = ? ORDER BY number", (turn,))
            return [self._steps.decode(payload) for (payload,) in rows]

    def find(self, turn: str) -> TurnRecord | None:
        """The turn of that id, if there is one."""
        return next(iter(self._select("WHERE turn = ?", (turn,))), None)

    def knows(self, idem: str) -> bool:
        """Whether a turn was submitted under this idempotency key."""
        return bool(self._select("WHERE idem = ?", (idem,)))

    def unfinished(self) -> list[TurnRecord]:
        """Turns that were accepted and haven't ended, in the order of acceptance."""
        return self._select("WHERE state IN (?, ?) ORDER BY rowid", (TurnState.RUNNING, "queued"))

    def recent(self, session: str, limit: int) -> list[TurnRecord]:
        """The latest turns of a session, oldest first."""
        return self._select("WHERE session = ? ORDER BY sequence DESC LIMIT ?", (session, limit))[
            ::-1
        ]

    def before(self, record: TurnRecord, start: int) -> list[TurnRecord]:
        """Ended turns in front of ``record`` in its session, from sequence ``start``."""
        return self._select(
            "WHERE session = ? AND sequence >= ? AND sequence < ? AND view IS NOT NULL "
            "ORDER BY sequence",
            (record.session, start, record.sequence),
        )

    def ended(self, after: int, limit: int) -> tuple[LoggedTurn, ...]:
        """Return ended turns of all sessions behind a number, up to the first that hasn't ended."""
        with self._reading() as run:
            rows = run(
                "SELECT rowid, turn, session, text, accepted, state, view FROM turn WHERE rowid > ?"
                " AND rowid < coalesce((SELECT min(rowid) FROM turn WHERE view IS NULL), rowid + 1)"
                " ORDER BY rowid LIMIT ?",
                (after, limit),
            ).fetchall()
        return tuple(
            LoggedTurn(
                number=number,
                turn=turn,
                session=session,
                said=text,
                answer=self._views.decode(view).message if state == TurnState.DONE else "",
                accepted=accepted,
                untrusted=untrusted_in(self.steps(turn)),
            )
            for number, turn, session, text, accepted, state, view in rows
        )

    def open_session(self, name: str) -> bool:
        """Make an empty session; whether it's new."""
        with self._transaction("open a session in") as run:
            made = run(
                "INSERT INTO session (name, last_active) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, self._clock()),
            )
            return made.rowcount > 0

    def sessions(self) -> list[SessionSummary]:
        """All sessions, the most recently used first."""
        with self._reading() as run:
            rows = run(
                "SELECT name, last_active, (SELECT count(*) FROM turn WHERE session = name) "
                "FROM session ORDER BY last_active DESC, name"
            )
            return [
                SessionSummary(session=name, turns=turns, last_active=last_active)
                for name, last_active, turns in rows
            ]

    def condensing(self, session: str) -> Condensing:
        """How much of a session is still sent to the model."""
        with self._reading() as run:
            row = run(
                "SELECT full_from, lines_from FROM session WHERE name = ?", (session,)
            ).fetchone()
            return Condensing() if row is None else Condensing(full_from=row[0], lines_from=row[1])

    def condensed(self, session: str) -> int:
        """How many ended turns of a session are no longer sent in full."""
        with self._reading() as run:
            (count,) = run(
                "SELECT count(*) FROM turn JOIN session ON name = session "
                "WHERE name = ? AND view IS NOT NULL AND sequence < full_from",
                (session,),
            ).fetchone()
            return int(count)

    def condense(self, session: str, condensing: Condensing) -> None:
        """Keep how much of a session is sent, so that the prompt stays the same from now on."""
        with self._transaction("condense a session in") as run:
            run(
                "UPDATE session SET full_from = ?, lines_from = ? WHERE name = ?",
                (condensing.full_from, condensing.lines_from, session),
            )

    def _append(self, turn: str, step: Step) -> int:
        run = self._connection.execute
        (number,) = run(
            "SELECT coalesce(max(number) + 1, 0) FROM step WHERE turn = ?", (turn,)
        ).fetchone()
        kind = type(step).__struct_config__.tag
        run(
            "INSERT INTO step (turn, number, kind, payload) "
            "SELECT turn, ?, ?, ? FROM turn WHERE turn = ? AND view IS NULL",
            (number, kind, self._encoder.encode(step), turn),
        )
        if run("SELECT changes()").fetchone() != (1,):
            raise ConflictError(f"The turn {turn!r} is unknown or has ended; no step was written.")
        return int(number)

    def _before(self, record: TurnRecord) -> int:
        (count,) = self._connection.execute(
            "SELECT count(*) FROM turn WHERE session = ? AND sequence < ? AND view IS NULL",
            (record.session, record.sequence),
        ).fetchone()
        return int(count)

    def _select(self, where: str, values: Sequence[str | int]) -> list[TurnRecord]:
        with self._reading() as run:
            return [self._record(row) for row in run(_TURNS + where, values)]

    def _record(self, row: tuple[object, ...]) -> TurnRecord:
        fields = dict(zip(TurnRecord.__struct_fields__, row, strict=True))
        view = fields["view"]
        fields["view"] = self._views.decode(view) if isinstance(view, bytes) else None
        return msgspec.convert(fields, TurnRecord)

    @contextmanager
    def _reading(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock, self._translated("read"):
            yield self._connection.execute

    @contextmanager
    def _transaction(self, action: str) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock, self._translated(action):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _translated(self, action: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                f"Couldn't {action} the turn journal {self._path}: {error}.",
                hint="Check free disk space and the permissions of its folder.",
            ) from error
