"""What stores share that keep their promises in one SQLite file."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from eris.errors import StorageError

T = TypeVar("T")


class SQLiteStore:
    """One connection that several threads share; a subclass opens it as `_database`."""

    _database: sqlite3.Connection

    def __init__(self, file: Path) -> None:
        """Create it; the file isn't opened yet.

        Args:
            file: Where the database is.
        """
        self._file = file
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close it; everything that was promised is on disk already."""
        with self._lock:
            self._database.close()

    def transaction(self, work: Callable[[], T]) -> T:
        """Do all of something or nothing; durable when this returns.

        One inside another is a part of it.

        Raises:
            StorageError: It can't be written; then nothing was done.
        """
        with self._lock:
            if self._database.in_transaction:
                return work()
            try:
                self._database.execute("BEGIN IMMEDIATE")
                done = work()
                self._database.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise StorageError(
                    f"{self._file} can't be written: {error}.", hint="Nothing was done; try again."
                ) from error
            except BaseException:
                self._roll_back()
                raise
            return done

    def _roll_back(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def _rows(self, statement: str, *values: str | float | bytes | None) -> list[sqlite3.Row]:
        """Run a statement; an error inside a transaction is told by that.

        Raises:
            StorageError: The database can't be used.
        """
        with self._lock:
            try:
                return self._database.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                if self._database.in_transaction:
                    raise
                raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(
            f"{self._file} can't be used: {error}.",
            hint="Check its permissions and the room on the disk.",
        )
