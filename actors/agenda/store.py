"""`agenda.sqlite`: items, their occurrences, what surfaces showed, and the history of it all.

What is committed here survives a loss of power (WAL, ``synchronous=FULL``). It stores and returns;
what things mean is decided elsewhere.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from actors.agenda.record import NOTE_SOURCE, UNENDED, Delivery, Entry, Item, Occurrence
from eris.errors import ConfigurationError
from eris.sqlite_store import SQLiteStore
from proto.agenda import DeliveryStep, ItemKind, ItemState

FORMAT = 1
TO_TICK = "tick:"
"""How the names of facts begin that say that a task of a note is to be ticked."""

KEYS_KEPT_SECONDS = 30 * 24 * 3600.0
"""How long a request is known, so that repeating it does nothing twice."""

_SCHEMA = """
CREATE TABLE item (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    folded TEXT NOT NULL,                -- the text for searches, without case
    source TEXT NOT NULL,
    next_due INTEGER,                    -- seconds since the epoch; NULL for never
    record BLOB NOT NULL                 -- JSON of an Item
) STRICT;
CREATE INDEX item_by_due ON item (next_due) WHERE next_due IS NOT NULL;
CREATE INDEX item_by_state ON item (state, next_due, number);
CREATE UNIQUE INDEX item_by_source ON item (source) WHERE source != '' AND state = 'open';
CREATE TABLE occurrence (
    item INTEGER NOT NULL REFERENCES item (number),
    due INTEGER NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    own REAL NOT NULL,                   -- when Eris took a turn of its own for it; 0 for never
    record BLOB NOT NULL,                -- JSON of an Occurrence
    PRIMARY KEY (item, due),
    UNIQUE (item, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX occurrence_unended ON occurrence (due, item)
    WHERE state IN ('claimed', 'waiting', 'shown');
CREATE INDEX occurrence_own ON occurrence (own) WHERE own > 0;
CREATE TABLE delivery (
    item INTEGER NOT NULL,
    due INTEGER NOT NULL,
    surface TEXT NOT NULL,
    step TEXT NOT NULL,
    key TEXT NOT NULL,                   -- of the attempt
    at REAL NOT NULL,
    PRIMARY KEY (item, due, surface)
) STRICT, WITHOUT ROWID;
CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    item INTEGER NOT NULL,
    entry BLOB NOT NULL                  -- JSON of an Entry
) STRICT;
CREATE INDEX history_by_item ON history (item, number);
CREATE TABLE result (
    key TEXT PRIMARY KEY,                -- idempotency key of a request
    at REAL NOT NULL,
    result BLOB NOT NULL                 -- JSON of what was answered
) STRICT, WITHOUT ROWID;
CREATE INDEX result_by_age ON result (at);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

_ITEM = msgspec.json.Decoder(Item)
_OCCURRENCE = msgspec.json.Decoder(Occurrence)
_ENTRY = msgspec.json.Decoder(Entry)
_UNENDED = ", ".join(f"'{state.value}'" for state in sorted(UNENDED))


class Store(SQLiteStore):
    """The database; thread-safe."""

    def __init__(self, file: Path) -> None:
        """Open it, and make it if it isn't there.

        Raises:
            ConfigurationError: A newer version of Eris made it, or it's damaged.
            StorageError: It can't be opened.
        """
        super().__init__(file)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                file, check_same_thread=False, isolation_level=None, timeout=10
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._database.close()
            if type(error) is sqlite3.DatabaseError:
                # Put aside it would be forgotten, and with it every promise: somebody has to look.
                raise ConfigurationError(
                    f"{file} is damaged: {error}.",
                    hint="Restore it from a backup, or move it away to begin with nothing.",
                ) from error
            raise self._unusable(error) from error
        except BaseException:
            self._database.close()
            raise

    def _prepare(self) -> None:
        run = self._database.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise ConfigurationError(
                f"{self._file} was made by a newer Eris (format {version}).",
                hint="Install that version again, or move the file away.",
            )
        if version == 0:
            self._database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT")

    # Items.

    def next_number(self) -> int:
        """Return a number that no item has had; to be used in the same transaction."""
        rows = self._rows("SELECT seq FROM sqlite_sequence WHERE name = 'item'")
        return int(rows[0][0]) + 1 if rows else 1

    def save(self, item: Item, next_due: int | None) -> None:
        """Keep an item as it's now; one that isn't open is never due."""
        self._rows(
            "INSERT INTO item (number, kind, state, folded, source, next_due, record)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (number) DO UPDATE SET kind = ?2,"
            " state = ?3, folded = ?4, source = ?5, next_due = ?6, record = ?7",
            item.number,
            item.kind.value,
            item.state.value,
            item.text.casefold(),
            item.source,
            next_due if item.state is ItemState.OPEN else None,
            msgspec.json.encode(item),
        )

    def item(self, number: int) -> Item | None:
        """Return an item."""
        rows = self._rows("SELECT record FROM item WHERE number = ?", number)
        return _ITEM.decode(rows[0][0]) if rows else None

    def by_source(self, source: str) -> Item | None:
        """Return the open item that is mirrored from there."""
        rows = self._rows("SELECT record FROM item WHERE source = ? AND state = 'open'", source)
        return _ITEM.decode(rows[0][0]) if rows else None

    def from_notes(self) -> list[Item]:
        """Return the open items that are tasks of notes."""
        rows = self._rows(
            "SELECT record FROM item WHERE source >= ? AND source < ? AND state = 'open'",
            NOTE_SOURCE,
            f"{NOTE_SOURCE}\U0010ffff",
        )
        return [_ITEM.decode(row[0]) for row in rows]

    def find(
        self,
        states: Iterable[ItemState],
        kinds: Iterable[ItemKind] = (),
        words: Sequence[str] = (),
        limit: int = -1,
        offset: int = 0,
    ) -> tuple[list[Item], int]:
        """Return items, those that are due next first, and how many there are.

        Args:
            states: In one of these.
            kinds: Of one of these; empty for all.
            words: All of which the text has.
            limit: The most to give; negative for all.
            offset: How many to leave out.
        """
        state_names, kind_names = [s.value for s in states], [k.value for k in kinds]
        condition = f"state IN ({_marks(state_names)})"
        if kind_names:
            condition += f" AND kind IN ({_marks(kind_names)})"
        condition += " AND instr(folded, ?)" * len(words)
        values = (*state_names, *kind_names, *(word.casefold() for word in words))
        (total,) = self._rows(f"SELECT count(*) FROM item WHERE {condition}", *values)[0]  # noqa: S608 - question marks only
        rows = self._rows(
            f"SELECT record FROM item WHERE {condition} ORDER BY next_due IS NULL, next_due, number"  # noqa: S608
            " LIMIT ? OFFSET ?",
            *values,
            limit,
            offset,
        )
        return [_ITEM.decode(row[0]) for row in rows], total

    def next_due(self, *, own: bool | None = None) -> int | None:
        """Return when something is due next, or was.

        Args:
            own: Only what Eris does by itself, or only the rest; None for both.
        """
        rows = self._rows(f"SELECT min(next_due) FROM item WHERE next_due IS NOT NULL{_own(own)}")  # noqa: S608 - fixed text
        due: int | None = rows[0][0]
        return due

    def due(self, now: int, *, own: bool | None = None, limit: int = 100) -> list[Item]:
        """Return items whose time has come, the earliest first."""
        rows = self._rows(
            f"SELECT record FROM item WHERE next_due <= ?{_own(own)} ORDER BY next_due, number"  # noqa: S608 - fixed text
            " LIMIT ?",
            now,
            limit,
        )
        return [_ITEM.decode(row[0]) for row in rows]

    def with_times(self) -> list[Item]:
        """Return the open items that are due some time."""
        rows = self._rows("SELECT record FROM item WHERE next_due IS NOT NULL ORDER BY number")
        return [_ITEM.decode(row[0]) for row in rows]

    # Occurrences.

    def claim(self, occurrence: Occurrence, *, own: float = 0) -> None:
        """Keep a new occurrence.

        Args:
            occurrence: Whose item and due instant nothing else has.
            own: When Eris takes a turn of its own for it; 0 if it doesn't.
        """
        self._rows(
            "INSERT INTO occurrence (item, due, number, state, own, record)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            occurrence.item,
            occurrence.due,
            occurrence.number,
            occurrence.state.value,
            own,
            msgspec.json.encode(occurrence),
        )

    def update(self, occurrence: Occurrence) -> None:
        """Keep an occurrence as it's now."""
        self._rows(
            "UPDATE occurrence SET state = ?, record = ? WHERE item = ? AND due = ?",
            occurrence.state.value,
            msgspec.json.encode(occurrence),
            occurrence.item,
            occurrence.due,
        )

    def occurrence(self, item: int, number: int) -> Occurrence | None:
        """Return an occurrence by its number."""
        rows = self._rows(
            "SELECT record FROM occurrence WHERE item = ? AND number = ?", item, number
        )
        return _OCCURRENCE.decode(rows[0][0]) if rows else None

    def claimed(self, item: int, due: int) -> bool:
        """Whether an occurrence has this due instant."""
        return bool(self._rows("SELECT 1 FROM occurrence WHERE item = ? AND due = ?", item, due))

    def unended(self, item: int | None = None) -> list[Occurrence]:
        """Return what isn't at its end, of one item or of all, by due time."""
        condition = "" if item is None else f" AND item = {int(item)}"
        rows = self._rows(
            f"SELECT record FROM occurrence WHERE state IN ({_UNENDED}){condition}"  # noqa: S608 - fixed text and a number
            " ORDER BY due, item"
        )
        return [_OCCURRENCE.decode(row[0]) for row in rows]

    def of_item(self, item: int) -> list[Occurrence]:
        """Return all occurrences of an item, by due time."""
        rows = self._rows("SELECT record FROM occurrence WHERE item = ? ORDER BY due", item)
        return [_OCCURRENCE.decode(row[0]) for row in rows]

    def own_since(self, at: float) -> int:
        """Return how many turns of its own Eris took from then on."""
        return int(self._rows("SELECT count(*) FROM occurrence WHERE own >= max(?, 1)", at)[0][0])

    # Deliveries.

    def deliveries(self, occurrence: Occurrence) -> list[Delivery]:
        """Return how far surfaces got, in the order in which they began."""
        rows = self._rows(
            "SELECT surface, step, key FROM delivery WHERE item = ? AND due = ?"
            " ORDER BY at, surface",
            occurrence.item,
            occurrence.due,
        )
        return [Delivery(surface=row[0], step=DeliveryStep(row[1]), key=row[2]) for row in rows]

    def deliver(self, occurrence: Occurrence, delivery: Delivery, at: float) -> None:
        """Keep how far a surface got."""
        self._rows(
            "INSERT INTO delivery (item, due, surface, step, key, at)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (item, due, surface)"
            " DO UPDATE SET step = ?4, key = ?5",
            occurrence.item,
            occurrence.due,
            delivery.surface,
            delivery.step.value,
            delivery.key,
            at,
        )

    # History, requests, facts.

    def note(self, item: int, entry: Entry) -> None:
        """Add to an item's history."""
        self._rows(
            "INSERT INTO history (item, entry) VALUES (?, ?)", item, msgspec.json.encode(entry)
        )

    def history(self, item: int, limit: int) -> tuple[list[Entry], int]:
        """Return the latest entries, the oldest of them first, and how many there are."""
        (total,) = self._rows("SELECT count(*) FROM history WHERE item = ?", item)[0]
        rows = self._rows(
            "SELECT entry FROM history WHERE item = ? ORDER BY number DESC LIMIT ?", item, limit
        )
        return [_ENTRY.decode(row[0]) for row in reversed(rows)], total

    def result(self, key: str) -> bytes | None:
        """Return what was answered to a request."""
        rows = self._rows("SELECT result FROM result WHERE key = ?", key)
        return rows[0][0] if rows else None

    def keep_result(self, key: str, result: bytes, at: float) -> None:
        """Keep what is answered to a request; old ones go."""
        self._rows("DELETE FROM result WHERE at < ?", at - KEYS_KEPT_SECONDS)
        self._rows("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", key, at, result)

    def fact(self, name: str) -> str:
        """Return a value that was kept; empty if none was."""
        rows = self._rows("SELECT value FROM fact WHERE name = ?", name)
        return rows[0][0] if rows else ""

    def to_tick(self) -> dict[str, str]:
        """Return items that are done and perhaps not ticked in their notes, by source."""
        rows = self._rows(
            "SELECT name, value FROM fact WHERE name >= ? AND name < ?",
            TO_TICK,
            f"{TO_TICK}\U0010ffff",
        )
        return {row[0].removeprefix(TO_TICK): row[1] for row in rows}

    def keep_to_tick(self, source: str, done: str) -> None:
        """Keep that a task of a note is to be ticked, since an item is done; empty for no more."""
        if done:
            self.keep_fact(f"{TO_TICK}{source}", done)
        else:
            self._rows("DELETE FROM fact WHERE name = ?", f"{TO_TICK}{source}")

    def keep_fact(self, name: str, value: str) -> None:
        """Keep a value."""
        self._rows("INSERT OR REPLACE INTO fact VALUES (?, ?)", name, value)


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _own(own: bool | None) -> str:
    if own is None:
        return ""
    return f" AND kind {'=' if own else '!='} '{ItemKind.SELF.value}'"
