"""Which index serves, which one is being built to take its place, and how that's written down.

``current.json`` is replaced as a whole, so that after a kill there's always one that serves, or
none at all. An index that belongs to another catalogue knows other chunks by its ids, and isn't
used. One that can't be opened is set aside, and deleted when another one serves. Numbers are never
used twice, for the catalogue knows by them what is where. One process at a time has the folder.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import structs

from actors.memory.ingest import Numbered
from actors.memory.points import WITHOUT_VECTORS, VectorIndex
from eris.errors import ConflictError, ErisError, StorageError, UnavailableError
from eris.locks import HeldLock

FILE_NAME = "current.json"
LOCK_NAME = "lock"


class Backend(Protocol):
    """Where indexes are."""

    @property
    def name(self) -> str:
        """``edge``, or the address of a server."""

    def create(self, number: int, identity: str, dimensions: int) -> VectorIndex:
        """Make an index; what is left of one with this number goes."""

    def open(self, number: int, identity: str, dimensions: int) -> VectorIndex:
        """Open an index."""

    def delete(self, number: int) -> None:
        """Delete an index, if it's there."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One index, as it's written down."""

    number: int
    identity: str
    dimensions: int
    backend: str
    catalogue: str
    """Id of the catalogue whose chunks it has."""


class _Current(msgspec.Struct, frozen=True, kw_only=True):
    serving: Entry | None = None
    building: Entry | None = None
    aside: tuple[Entry, ...] = ()
    """Not used any more, and not deleted yet."""
    last: int = 0
    """The highest number there ever was."""


class Indexes:
    """The index that serves and the one that is built. For one thread, but for what is said."""

    def __init__(self, folder: Path, catalogue: str, backend: Callable[[str], Backend]) -> None:
        """Open what is written down, as far as it's there.

        Args:
            folder: Where it's written down.
            catalogue: Id of the catalogue.
            backend: Returns the backend of a name.

        Raises:
            ConflictError: Another process has the folder.
            StorageError: The folder can't be written.
            UnavailableError: A server can't be reached, or the disk is full: try again.
        """
        self._folder = folder
        self._catalogue = catalogue
        self._backend = backend
        self._lock = threading.Lock()
        self._damage = ""
        self._folder_lock = _locked(folder)
        self._serving: Numbered | None = None
        self._building: Numbered | None = None
        try:
            current = self._read()
            self._current = current = _with_unnamed(current, self._folder)
            self._serving, serving = self._opened(current.serving)
            self._building, building = self._opened(current.building)
            lost = [
                before
                for before, now in ((current.serving, serving), (current.building, building))
                if before is not None and now is None
            ]
            self._current = structs.replace(
                current, serving=serving, building=building, aside=(*current.aside, *lost)
            )
            self._write(self._current)
        except ErisError:
            self.close()
            raise

    @property
    def damage(self) -> str:
        """What couldn't be opened, as a sentence; empty if all could. From any thread."""
        return self._damage

    @property
    def serving(self) -> Numbered | None:
        """The one that is searched. From any thread."""
        with self._lock:
            return self._serving

    @property
    def building(self) -> Numbered | None:
        """The one that isn't complete yet. From any thread."""
        with self._lock:
            return self._building

    @property
    def entries(self) -> tuple[Entry | None, Entry | None]:
        """What is written down of both. From any thread."""
        with self._lock:
            return self._current.serving, self._current.building

    def begin(self, identity: str, dimensions: int, backend: str) -> Numbered:
        """Begin to build an index beside the one that serves; one begun before goes.

        Args:
            identity: Embedder of its vectors, or `WITHOUT_VECTORS`.
            dimensions: Of its vectors.
            backend: Where.

        Raises:
            StorageError: It can't be made.
            UnavailableError: The server can't be reached.
        """
        number = self._current.last + 1
        self._change(structs.replace(self._current, last=number))
        dimensions = 0 if identity == WITHOUT_VECTORS else dimensions
        index = self._backend(backend).create(number, identity, dimensions)
        entry = Entry(
            number=number,
            identity=identity,
            dimensions=dimensions,
            backend=backend,
            catalogue=self._catalogue,
        )
        before, made = self._building, Numbered(number, index)
        current = self._current
        aside = (*current.aside, *([current.building] if current.building else []))
        self._write(structs.replace(current, building=entry, aside=aside))
        with self._lock:
            self._current = structs.replace(current, building=entry, aside=aside)
            self._building = made
        self._let_go(before)
        if self._serving is not None:
            self._delete_aside()
        return made

    def swap(self) -> None:
        """Let the one that was built serve, and delete all others.

        Raises:
            StorageError: It can't be written down; nothing has changed.
        """
        building, current = self._building, self._current
        if building is None or current.building is None:
            return
        before = self._serving
        aside = (*current.aside, *([current.serving] if current.serving else []))
        swapped = structs.replace(current, serving=current.building, building=None, aside=aside)
        self._write(swapped)
        with self._lock:
            self._current = swapped
            self._serving, self._building = building, None
            self._damage = ""
        self._let_go(before)
        self._delete_aside()

    def give_up_serving(self, why: str) -> None:
        """Search the present one no more: it turned out to be damaged."""
        before, current = self._serving, self._current
        if current.serving is None:
            return
        without = structs.replace(current, serving=None, aside=(*current.aside, current.serving))
        self._write(without)
        with self._lock:
            self._current = without
            self._serving = None
            self._damage = why
        self._let_go(before)

    def close(self) -> None:
        """Let go of both, and of the folder."""
        for slot in (self._serving, self._building):
            self._let_go(slot)
        self._folder_lock.release()

    def _opened(self, entry: Entry | None) -> tuple[Numbered | None, Entry | None]:
        if entry is None:
            return None, None
        if entry.catalogue != self._catalogue:
            self._damage = f"The index {entry.number} belongs to another list of pieces."
            return None, None
        try:
            index = self._backend(entry.backend).open(
                entry.number, entry.identity, entry.dimensions
            )
        except UnavailableError:
            raise
        except ErisError as error:
            self._damage = error.message
            return None, None
        return Numbered(entry.number, index), entry

    def _let_go(self, slot: Numbered | None) -> None:
        """Close an index; what doesn't want to be closed is left to the end of the process."""
        try:
            if slot is not None:
                slot.index.close()
        except ErisError as error:
            self._damage = self._damage or error.message

    def _delete_aside(self) -> None:
        """Delete what isn't used; what can't be deleted now is, the next time."""
        left = []
        for entry in self._current.aside:
            try:
                self._backend(entry.backend).delete(entry.number)
            except ErisError:
                left.append(entry)
        self._change(structs.replace(self._current, aside=tuple(left)))

    def _change(self, current: _Current) -> None:
        self._write(current)
        with self._lock:
            self._current = current

    def _read(self) -> _Current:
        try:
            return msgspec.json.decode((self._folder / FILE_NAME).read_bytes(), type=_Current)
        except FileNotFoundError:
            return _Current()
        except msgspec.DecodeError as error:
            self._damage = f"{self._folder / FILE_NAME} can't be read: {error}."
            return _Current()
        except OSError as error:
            raise StorageError(
                f"{self._folder / FILE_NAME} can't be read: {error.strerror}."
            ) from error

    def _write(self, current: _Current) -> None:
        file = self._folder / FILE_NAME
        new = file.with_suffix(".new")
        try:
            with new.open("wb") as stream:
                stream.write(msgspec.json.encode(current))
                stream.flush()
                os.fsync(stream.fileno())
            new.replace(file)
        except OSError as error:
            raise StorageError(
                f"{file} can't be written: {error.strerror}.",
                hint="Check free disk space and the permissions of its folder.",
            ) from error


def _with_unnamed(current: _Current, folder: Path) -> _Current:
    """Set aside what lies in the folder and isn't written down: half made, or all was lost."""
    named = {
        entry.number
        for entry in (current.serving, current.building, *current.aside)
        if entry is not None
    }
    lying = {int(each.name) for each in folder.iterdir() if each.name.isdigit()}
    unnamed = tuple(
        Entry(number=number, identity="", dimensions=0, backend="edge", catalogue="")
        for number in sorted(lying - named)
    )
    last = max({current.last} | lying | named)
    return structs.replace(current, aside=(*current.aside, *unnamed), last=last)


def _locked(folder: Path) -> HeldLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return HeldLock.acquire(folder / LOCK_NAME)
    except ConflictError as error:
        raise ConflictError(
            f"The indexes in {folder} are used by process {error.details['pid'] or 'unknown'}.",
            hint="Two processes can't use them: stop the other one.",
            details=error.details,
        ) from error
    except OSError as error:
        raise StorageError(
            f"The folder {folder} can't be used: {error.strerror}.",
            hint="Check free disk space and the permissions of the folder.",
        ) from error
