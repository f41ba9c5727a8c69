"""One open folder: what's in it, and opening that without following links.

Case and Unicode: a name is looked up as it is, then in the other Unicode spelling (disks of Macs
hold decomposed names), then without regard to case if that leaves exactly one. The answer is the
same on a disk that ignores case, as those of Macs and Windows do: the name there, and whether it
is exactly the one that was asked for.
"""

import contextlib
import os
import stat
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Self

from actors.vault.failures import failure
from actors.vault.names import (
    composed,
    folded,
    is_hidden,
    is_unicode,
    printable,
    shown,
)
from eris.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
)

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Never blocks on a pipe, never becomes the terminal of a serial line.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Kind(Enum):
    """What a name stands for."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    """A pipe, socket or device."""


def _kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return Kind.FILE
    if stat.S_ISDIR(mode):
        return Kind.FOLDER
    return Kind.LINK if stat.S_ISLNK(mode) else Kind.OTHER


@dataclass(frozen=True)
class Entry:
    """A name in a folder."""

    raw: str
    """The name exactly as it is on the disk."""
    kind: Kind
    exact: bool = True
    """False if it was found only without regard to case."""

    @property
    def name(self) -> str:
        """The name in composed form."""
        return composed(self.raw)


class Folder:
    """A folder of the vault, open; close it, or use it in a ``with`` statement."""

    def __init__(self, descriptor: int, parts: tuple[str, ...]) -> None:
        self.descriptor = descriptor
        self.parts = parts
        """Its names from the vault on, in composed form."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; doing so twice is harmless."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def path(self, name: str = "") -> str:
        """Return the path of something in this folder, relative to the vault, for people."""
        return printable("/".join((*self.parts, name) if name else self.parts)) or "the vault"

    def entries(self) -> list[Entry]:
        """Return what is in the folder, sorted by name.

        Hidden things are left out, and names that aren't Unicode: nobody could ask for them.

        Raises:
            StorageError: It can't be read.
        """
        try:
            with os.scandir(self.descriptor) as found:
                entries = [Entry(each.name, _kind_of_entry(each)) for each in found]
        except OSError as error:
            raise failure(error, self.path(), "can't be listed") from error
        return sorted(
            (entry for entry in entries if is_unicode(entry.raw) and not is_hidden(entry.name)),
            key=lambda entry: (folded(entry.raw), entry.raw),
        )

    def find(self, name: str) -> Entry | None:
        """Return what ``name`` stands for here, or nothing.

        Raises:
            ConflictError: It isn't there, but several names differ from it by case only.
            StorageError: The folder can't be read.
        """
        kind = self._kind(name)
        if kind and (is_hidden(name) or not self._kind(_other_case(name))):
            return Entry(name, kind)
        entries = self.entries()
        same = [entry for entry in entries if entry.name == name]
        if same:
            return same[0]
        alike = [entry for entry in entries if folded(entry.raw) == folded(name)]
        if len(alike) > 1:
            choices = ", ".join(self.path(entry.name) for entry in alike)
            raise ConflictError(
                f"{self.path(name)} isn't there, but several names are like it: {choices}.",
                hint="Use one of these.",
            )
        if alike:
            return Entry(alike[0].raw, alike[0].kind, exact=False)
        # There, for this disk has rules of its own about which letters are the same.
        return Entry(name, kind, exact=False) if kind else None

    def _kind(self, name: str) -> Kind | None:
        """What the disk has under a name, in whatever capitals."""
        if not name:
            return None
        try:
            status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise failure(error, self.path(shown(name)), "can't be opened") from error
        return _kind_of(status.st_mode)

    def enter(self, entry: Entry) -> "Folder":
        """Open a folder in this one.

        Raises:
            DeniedError: It has become a link or a file.
            StorageError: It can't be opened.
        """
        try:
            descriptor = os.open(entry.raw, _FOLDER_FLAGS, dir_fd=self.descriptor)
        except OSError as error:
            raise failure(error, self.path(entry.name), "can't be opened") from error
        return Folder(descriptor, (*self.parts, entry.name))

    def make(self, name: str) -> "Folder":
        """Make a folder in this one, with this one's permissions, and open it.

        Raises:
            StorageError: It can't be made.
        """
        permissions = stat.S_IMODE(os.fstat(self.descriptor).st_mode) & 0o777
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, permissions | 0o700, dir_fd=self.descriptor)
                os.fsync(self.descriptor)
            folder = self.enter(Entry(name, Kind.FOLDER))
        except OSError as error:
            raise failure(error, self.path(name), "can't be made") from error
        # The process's umask is strict for its sockets; the user's notes follow the user's folders.
        with contextlib.suppress(OSError):
            os.fchmod(folder.descriptor, permissions | 0o700)
        return folder

    def inode(self, name: str) -> int:
        """Return the number of a file or folder here, or 0 if there's none of that name."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False).st_ino
        except OSError:
            return 0

    def remove(self, name: str) -> None:
        """Remove a folder in this one if it's empty."""
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=self.descriptor)

    def open_file(self, entry: Entry) -> int:
        """Open a file for reading and return its descriptor.

        Raises:
            InvalidError: It's a folder, or a pipe, socket or device.
            DeniedError: It's a link.
            StorageError: It can't be opened.
        """
        path = self.path(entry.name)
        _refuse_other_than_file(entry.kind, path)
        try:
            descriptor = os.open(entry.raw, _FILE_FLAGS, dir_fd=self.descriptor)
        except OSError as error:
            raise failure(error, path, "can't be read") from error
        try:
            _refuse_other_than_file(_kind_of(os.fstat(descriptor).st_mode), path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _other_case(name: str) -> str:
    """Return a name that only a disk which ignores case takes for this one; empty if none is."""
    other = "".join(each.swapcase() if len(each.swapcase()) == 1 else each for each in name)
    return other if other != name else ""


def _refuse_other_than_file(kind: Kind, path: str) -> None:
    match kind:
        case Kind.FILE:
            return
        case Kind.FOLDER:
            raise InvalidError(f"{path} is a folder, not a note.", hint="List it with vault:list.")
        case Kind.LINK:
            raise DeniedError(f"{path} is a link; notes aren't written through links.")
        case Kind.OTHER:
            raise InvalidError(f"{path} is a pipe, socket or device, not a note.")


def _kind_of_entry(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
