"""What is on the disk: files with what tells whether they changed, reading them, proof of absence.

Everything is reached name by name from the open vault, as `vault_folder` explains.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from actors.vault.failures import failure
from actors.vault.folder import Entry, Folder, Kind
from actors.vault.names import DEEPEST_PATH
from eris.errors import ConflictError, ErisError


@dataclass(frozen=True, slots=True)
class Signature:
    """What differs, as good as certainly, after a file was written."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file that was met."""

    path: str
    signature: Signature
    regular: bool
    """False for a pipe, socket or device."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A folder that couldn't be looked into: what's in it isn't known, so nothing of it is gone."""

    path: str
    """Empty for the vault itself."""


def walk(folder: Folder) -> Iterator[OnDisk | Unreadable]:
    """Yield every file below a folder that is open; hidden ones and links are left out."""
    try:
        entries = folder.entries()
    except ErisError:
        yield Unreadable(join(folder.parts))
        return
    seen: set[str] = set()
    for entry in sorted(entries, key=lambda entry: entry.raw != entry.name):
        # Two spellings of one name, composed and not, are two files here and one path: the
        # composed one has it, as in a look-up.
        if entry.kind in {Kind.FILE, Kind.OTHER} and entry.name not in seen:
            seen.add(entry.name)
            found = look(folder, entry)
            if found:
                yield found
    for entry in entries:
        if entry.kind is not Kind.FOLDER:
            continue
        if len(folder.parts) >= DEEPEST_PATH:
            yield Unreadable(join((*folder.parts, entry.name)))
            continue
        try:
            child = folder.enter(entry)
        except ErisError:
            yield Unreadable(join((*folder.parts, entry.name)))
            continue
        with child:
            yield from walk(child)


def look(folder: Folder, entry: Entry) -> OnDisk | None:
    """Return what a file is like now; None if it has gone or can't be looked at."""
    try:
        status = os.stat(entry.raw, dir_fd=folder.descriptor, follow_symlinks=False)
    except OSError:
        return None
    return OnDisk(
        join((*folder.parts, entry.name)), _signature(status), regular=entry.kind is Kind.FILE
    )


def join(parts: tuple[str, ...]) -> str:
    """Return the path of these names; not escaped, unlike `Folder.path`, which is for people."""
    return "/".join(parts)


def _signature(status: os.stat_result) -> Signature:
    return Signature(status.st_size, status.st_mtime_ns, status.st_ino)


def read(folder: Folder, entry: Entry, most: int) -> tuple[Signature, bytes | None]:
    """Read a file; None in place of its bytes if there are more than `most`.

    Raises:
        ErisError: It can't be read, or is no file.
    """
    descriptor = folder.open_file(entry)
    try:
        before = os.fstat(descriptor)
        pieces: list[bytes] = []
        left = most + 1
        while before.st_size <= most and left > 0:
            piece = os.read(descriptor, left)
            if not piece:
                return _signature(before), b"".join(pieces)
            pieces.append(piece)
            left -= len(piece)
    except OSError as error:
        raise failure(error, folder.path(entry.name), "can't be read") from error
    finally:
        os.close(descriptor)
    return _signature(before), None


def _exactly(folder: Folder, name: str) -> Entry | None:
    try:
        entry = folder.find(name)
    except ConflictError:  # It isn't there, but several that differ by case only.
        return None
    return entry if entry and entry.exact else None


class Reach:
    """Folders of the vault, opened on the way to files and kept for the next ones near by."""

    def __init__(self, root: Folder) -> None:
        self._stack = [root]
        self._listings: dict[tuple[str, ...], frozenset[str] | None] = {}

    def close(self) -> None:
        """Close all folders, the first one included."""
        for folder in self._stack:
            folder.close()

    def folder(self, parts: tuple[str, ...]) -> Folder | None:
        """Return a folder, open until another one is asked for; None if there is none.

        Raises:
            ErisError: It can't be told.
        """
        while self._stack[-1].parts != parts[: len(self._stack) - 1]:
            self._stack.pop().close()
        for name in parts[len(self._stack) - 1 :]:
            here = self._stack[-1]
            entry = _exactly(here, name)
            if entry is None or entry.kind is not Kind.FOLDER:
                return None
            self._stack.append(here.enter(entry))
        return self._stack[-1]

    def find(self, path: str) -> tuple[Folder, Entry] | None:
        """Return where a path is and what's there; None if there's nothing of just this name.

        Raises:
            ErisError: It can't be told.
        """
        *above, name = path.split("/")
        folder = self.folder(tuple(above))
        entry = _exactly(folder, name) if folder else None
        return (folder, entry) if folder and entry else None

    def walk(self, path: str) -> Iterator[OnDisk | Unreadable]:
        """Yield the file of a path, or every file below the folder that it is."""
        try:
            place = self.find(path) if path else None
            folder = self.folder(tuple(path.split("/")) if path else ())
        except ErisError:
            yield Unreadable(path)
            return
        if folder:
            yield from walk(folder)
        elif place and place[1].kind in {Kind.FILE, Kind.OTHER}:
            found = look(*place)
            if found:
                yield found

    def absent(self, path: str) -> bool:
        """Whether it's certain that there's no such file: a folder could be listed and lacks it.

        A listing and not a look at the one name, for a disk that ignores case would find `Plan.md`
        under the name `plan.md` it had before. What a folder listed stays valid for this object.
        """
        parts = tuple(path.split("/"))
        for depth in range(len(parts)):
            above = parts[:depth]
            if above not in self._listings:
                self._listings[above] = self._names(above)
            names = self._listings[above]
            if names is None:
                return False
            if parts[depth] not in names:
                return True
        return False

    def _names(self, parts: tuple[str, ...]) -> frozenset[str] | None:
        try:
            folder = self.folder(parts)
            if folder is None:  # A file or a link now: nothing can be in it.
                return frozenset()
            return frozenset(
                entry.name for entry in folder.entries() if entry.kind is not Kind.LINK
            )
        except ErisError:
            return None
