"""The index as the rest of the actor sees it: bring it up to date, and ask."""

import datetime as dt
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.vault.index.building import LARGEST, Builder, Ignored, Pass, Progress
from actors.vault.index.graph import Graph
from actors.vault.index.properties import Properties, Table
from actors.vault.index.schema import open_reader, open_writer
from actors.vault.index.searching import MOST_FOUND, Search, SearchResults
from actors.vault.vault_folder import VaultFolder
from eris.errors import StorageError, UnavailableError
from eris.vault import properties_query
from eris.vault.links import Names

_LONGEST_QUESTION_SECONDS = 5.0
"""How long closing waits for the questions under way."""

FILE_NAME = "index.sqlite"
"""In the state folder."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index is."""

    files: int
    """All files known, attachments included."""
    indexed: int
    """Notes and canvases whose content is indexed."""
    waiting: int
    """Files that are yet to be read."""
    skipped: tuple[tuple[str, str], ...]
    """Path and reason of each file that couldn't be indexed."""
    passes: int
    """Passes made since the start."""


class VaultIndex(Graph):
    """The index. All methods may be called from any thread.

    Questions about links, tags, tasks and headings are those of `Graph`. Writing is done over one
    connection, a batch at a time; each thread that asks has a connection of its own and sees the
    last batch that was finished.
    """

    def __init__(
        self,
        file: Path,
        vault: VaultFolder,
        *,
        ignored: Ignored = lambda path: False,  # noqa: ARG005 - nothing is
        largest: int = LARGEST,
        zone: dt.tzinfo | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the index, or begin a new one; nothing is read from the vault yet.

        Args:
            file: The database, in the state folder.
            vault: The vault.
            ignored: Whether a path is excluded from search; hidden names always are. If it answers
                otherwise than before, the next `reconcile` applies it.
            largest: Bytes of the largest file whose content is indexed.
            zone: In which dates are compared with times of files; None for the system's.
            clock_ns: The time, in nanoseconds, as files have it.
            give_way: Called by a pass over many files before each one, without a lock; waits while
                there is something more urgent.

        Raises:
            ConfigurationError: The database can't be opened.
        """
        self._file = file
        self._zone = zone
        self._builder = Builder(
            open_writer(file),
            vault,
            ignored=ignored,
            largest=largest,
            clock_ns=clock_ns,
            give_way=give_way,
        )
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._free = threading.Condition()
        self._asking = 0
        self._closed = False

    @property
    def passes(self) -> int:
        """Passes over files made since the start."""
        return self._builder.passes

    @property
    def written(self) -> int:
        """Files whose rows were written since the start."""
        return self._builder.written

    def reconcile(self, progress: Progress | None = None) -> Pass:
        """Compare everything with the disk and bring the index up to date.

        Args:
            progress: Called with files done and files to do, if any are to be read.

        Raises:
            StorageError: The vault isn't there, or the index can't be written.
        """
        return self._builder.reconcile(progress)

    def update(self, *paths: str) -> Pass:
        """Bring the index up to date for some files, or folders with all that is in them.

        For a writer, after it wrote; a watcher's report of the same write then finds nothing to do.

        Args:
            paths: Relative to the vault; hidden ones are passed over.

        Raises:
            StorageError: The vault isn't there, or the index can't be written.
        """
        return self._builder.update(paths)

    def forget(self) -> None:
        """Take everything out of the index, to begin anew with the next `reconcile`.

        Raises:
            StorageError: The index can't be written.
        """
        self._builder.forget()

    def stop(self) -> None:
        """Let passes under way end after their batch; those after find nothing to do."""
        self._builder.stop()

    def close(self) -> None:
        """Close the database; questions under way are answered before, later ones refused."""
        self._builder.close()
        with self._free:
            self._closed = True
            self._free.wait_for(lambda: not self._asking, _LONGEST_QUESTION_SECONDS)
            for reader in self._readers:
                reader.close()
            self._readers.clear()

    def search(
        self,
        text: str,
        *,
        folder: str = "",
        limit: int = MOST_FOUND,
        offset: int = 0,
        today: dt.date | None = None,
    ) -> SearchResults:
        """Answer a search in Obsidian's syntax (see `eris.vault.query`).

        Args:
            text: The query.
            folder: Where to look, with what is below it; empty for everywhere.
            limit: How many notes at most.
            offset: How many of the best to leave out.
            today: What `today` means in a property's condition.

        Raises:
            InvalidError: The query can't be read, or an expression takes too long.
        """
        with self._reading() as reader:
            search = Search(reader, self._file)
            return search.search(text, folder=folder, limit=limit, offset=offset, today=today)

    def query(
        self,
        text: str,
        *,
        columns: Sequence[str] = (),
        offset: int = 0,
        limit: int | None = None,
        today: dt.date | None = None,
    ) -> Table:
        """Answer a query over properties (see `eris.vault.properties_query`).

        Args:
            text: The query; empty for all notes.
            columns: Properties to show; by default those that the query shows, else those it uses.
            offset: Rows to leave out.
            limit: How many rows at most; a lower limit in the query counts too.
            today: What `today` means in the query.

        Raises:
            InvalidError: The query can't be read.
        """
        parsed = properties_query.parse(text, today)
        with self._reading() as reader:
            return Properties(reader, self._zone).table(parsed, columns, offset, limit)

    def paths(self) -> list[str]:
        """Return the paths of all files."""
        return [path for (path,) in self._rows("SELECT path FROM files ORDER BY path")]

    def names(self) -> Names:
        """Return the names of all files as they are now, to resolve and to write links."""
        return Names(self.paths())

    def state(self) -> IndexState:
        """Return how far the index is, and what couldn't be indexed."""
        with self._reading() as reader:
            counts = dict(reader.execute("SELECT state, count(*) FROM files GROUP BY state"))
            skipped = reader.execute(
                "SELECT path, reason FROM files WHERE state = 'skipped' ORDER BY path"
            ).fetchall()
        return IndexState(
            files=sum(counts.values()),
            indexed=counts.get("indexed", 0),
            waiting=counts.get("waiting", 0),
            skipped=tuple(skipped),
            passes=self._builder.passes,
        )

    def _rows(self, select: str, *values: object) -> list[tuple[Any, ...]]:
        with self._reading() as reader:
            return reader.execute(select, values).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the index for a whole question, whatever is written meanwhile."""
        with self._free:
            if self._closed:
                raise UnavailableError("The notes can't be looked through: Eris is stopping.")
            self._asking += 1
        try:
            with self._state() as connection:
                yield connection
        finally:
            with self._free:
                self._asking -= 1
                self._free.notify_all()

    @contextmanager
    def _state(self) -> Iterator[sqlite3.Connection]:
        connection = self._reader()
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StorageError(
                f"The index can't be read: {error}.",
                hint=f"Stop Eris and delete {self._file}; it's made anew from the notes.",
            ) from error

    def _reader(self) -> sqlite3.Connection:
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = open_reader(self._file)
            with self._free:
                self._readers.append(reader)
        return reader
