"""Tool vectors on disk, so that a restart needs no embedder to know the tools.

A vector is found by the digest of model and text. The file can be deleted at any time; one that
can't be read is replaced by an empty one.
"""

import contextlib
import hashlib
import sqlite3
import threading
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path

from actors.router.vectors import pack, unpack

LIMIT = 5000
"""Vectors kept: about 8 MB, enough for 800 tools. The least recently stored go first."""

_SCHEMA = """
create table if not exists vectors (age integer primary key, key text unique, vector blob not null);
create table if not exists model (one integer primary key check (one = 1), name text not null);
"""


def key_of(model: str, text: str) -> str:
    """Return the digest under which a text's vector is kept."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()


class VectorCache:
    """Vectors by model and text. Its methods may be called from any thread."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        """Open the cache, or begin an empty one where the file is broken."""
        self._path = path
        self._limit = limit
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._database = self._open()
        except sqlite3.DatabaseError:
            self._discard()
            self._database = self._open()

    @property
    def model(self) -> str:
        """The embedder that made the vectors stored last; empty if there is none."""
        rows = self._read("select name from model")
        return str(rows[0][0]) if rows else ""

    def find(self, model: str, texts: Iterable[str]) -> dict[str, "array[float]"]:
        """Return the vectors that are known, by text."""
        found = {}
        for text in texts:
            rows = self._read("select vector from vectors where key = ?", key_of(model, text))
            data = rows[0][0] if rows else b""
            if isinstance(data, bytes) and data and len(data) % 4 == 0:
                found[text] = unpack(data, len(data) // 4, 1)[0]
        return found

    def store(self, model: str, vectors: Mapping[str, "array[float]"]) -> None:
        """Keep vectors by text, and forget the oldest above the limit.

        A cache that can't be written is no reason to fail: the vectors are computed again.
        """
        rows = [(key_of(model, text), pack(vector)) for text, vector in vectors.items()]
        with self._lock:
            try:
                self._write(model, rows)
            except sqlite3.DatabaseError:
                with contextlib.suppress(sqlite3.DatabaseError, OSError):
                    self._database.close()
                    self._discard()
                    self._database = self._open()
                    self._write(model, rows)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _write(self, model: str, rows: list[tuple[str, bytes]]) -> None:
        with self._database as database:
            # Replacing a row gives it a new, larger number: the order of age.
            database.executemany("replace into vectors (key, vector) values (?, ?)", rows)
            database.execute("replace into model values (1, ?)", (model,))
            database.execute(
                "delete from vectors where age <= (select max(age) from vectors) - ?",
                (self._limit,),
            )

    def _read(self, query: str, *arguments: str) -> list[tuple[object, ...]]:
        with self._lock:
            try:
                return self._database.execute(query, arguments).fetchall()
            except sqlite3.DatabaseError:
                return []

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, check_same_thread=False)
        try:
            database.executescript(_SCHEMA)
            _check(database)
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def _check(database: sqlite3.Connection) -> None:
    if database.execute("pragma quick_check").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("the vector cache is damaged")
