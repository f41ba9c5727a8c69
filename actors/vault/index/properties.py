"""Tables of notes by their properties."""

import datetime as dt
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from actors.vault.names import stem
from eris.vault.links import folded
from eris.vault.names import folder_of, name_of
from eris.vault.note import PropertyValue
from eris.vault.properties_query import Condition, PropertiesQuery
from eris.vault.property_values import MISSING, TAG_KEYS, fulfils, mentioned, shown, sort_key

DEFAULT_ROWS = 100
"""Limit of a query that has none."""


@dataclass(frozen=True, slots=True)
class Row:
    """A note that was found."""

    path: str
    values: tuple[PropertyValue, ...]
    """One for each column; None if the note hasn't the property."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a query found."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    found: int
    """Notes found, those over the limit included."""


class Properties:
    """Questions about properties; none of them touches the disk."""

    def __init__(self, connection: sqlite3.Connection, zone: dt.tzinfo | None = None) -> None:
        self._connection = connection
        self._zone = zone

    def ids(self, condition: Condition) -> set[int]:
        """Return the ids of the notes that fulfil a condition."""
        notes = self._notes(mentioned(condition))
        return {id_ for id_, note in notes.items() if fulfils(note, condition)}

    def table(
        self,
        query: PropertiesQuery,
        columns: Sequence[str] = (),
        offset: int = 0,
        limit: int | None = None,
    ) -> Table:
        """Return the notes that a query means.

        Args:
            query: The query.
            columns: Properties to show; by default those that the query shows, else those it
                compares and sorts by.
            offset: Rows to leave out.
            limit: How many rows at most; `DEFAULT_ROWS` if neither it nor the query says.
        """
        condition = query.condition
        used = [] if condition is None else list(mentioned(condition))
        used += [key.name for key in query.sort]
        chosen = tuple(columns) or query.columns or tuple(dict.fromkeys(used))
        notes = self._notes(["file.path", *used, *chosen])
        found = [note for note in notes.values() if condition is None or fulfils(note, condition)]
        found.sort(key=lambda note: str(note["file.path"]))
        for key in reversed(query.sort):
            name = folded(key.name)
            found.sort(key=lambda note: sort_key(note.get(name)), reverse=key.descending)
            # Notes without a value come last in both directions.
            found.sort(key=lambda note: sort_key(note.get(name)) == MISSING)
        rows = tuple(
            Row(str(note["file.path"]), tuple(shown(note.get(folded(name))) for name in chosen))
            for note in found[: query.limit][
                offset : offset + (limit or query.limit or DEFAULT_ROWS)
            ]
        )
        return Table(chosen, rows, len(found[: query.limit] if limit else found))

    def _notes(self, names: Iterable[str]) -> dict[int, dict[str, PropertyValue]]:
        """The named properties of all notes that have been indexed, by the folded names."""
        keys = set(map(folded, names))
        notes: dict[int, dict[str, PropertyValue]] = {}
        for id_, path, size, mtime_ns in self._connection.execute(
            "SELECT id, path, size, mtime_ns FROM files WHERE state = 'indexed'"
        ):
            notes[id_] = {
                key: self._of_file(key, path, size, mtime_ns)
                for key in keys
                if key.startswith("file.")
            }
        for key in keys - TAG_KEYS:
            for id_, value in self._connection.execute(
                "SELECT file, value FROM properties WHERE key = ?", (key,)
            ):
                notes[id_][key] = json.loads(value)
        for key in keys & TAG_KEYS:
            for id_, tags in self._connection.execute(
                "SELECT file, json_group_array(DISTINCT name) FROM tags GROUP BY file"
            ):
                notes[id_][key] = json.loads(tags)
        return notes

    def _of_file(self, key: str, path: str, size: int, mtime_ns: int) -> PropertyValue:
        match key:
            case "file.name":
                return stem(name_of(path))
            case "file.path":
                return path
            case "file.folder":
                return folder_of(path)
            case "file.size":
                return size
            case "file.mtime":
                moment = dt.datetime.fromtimestamp(mtime_ns // 1_000_000_000, self._zone)
                return moment.replace(tzinfo=None)
            case _:
                return None
