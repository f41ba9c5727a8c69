"""The vault as an open folder: everything in it is reached by descriptor, name by name.

Why: a path that was checked can be swapped for a link before it's used. So no path is ever given
to the system here. The vault is opened once; from there each name is opened inside the folder
before it and refused if it's a link, so that what was checked and what is used are the same open
folder. A link is followed for reading only, by looking up the names it consists of in the same
way, starting from folders that are already open; so it can't lead out of the vault either. Nothing
is ever written through a link.

Case and Unicode: a name is looked up as it is, then in the other Unicode spelling (disks of Macs
hold decomposed names), then without regard to case if that leaves exactly one.
"""

import contextlib
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

from actors.vault.failures import failure
from actors.vault.names import (
    check_new_name,
    composed,
    folded,
    is_hidden,
    is_unicode,
    printable,
    refuse_hidden,
    shown,
)
from eris.errors import (
    ConfigurationError,
    ConflictError,
    DeniedError,
    InvalidError,
    NotFoundError,
    StorageError,
)
from eris.paths import SETTINGS_FOLDER

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Never blocks on a pipe, never becomes the terminal of a serial line.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOST_LINKS = 16


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
        try:
            mode = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False).st_mode
            return Entry(name, _kind_of(mode))
        except (FileNotFoundError, ValueError):
            pass
        except OSError as error:
            raise failure(error, self.path(shown(name)), "can't be opened") from error
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
        return Entry(alike[0].raw, alike[0].kind, exact=False) if alike else None

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


@dataclass(frozen=True)
class Place:
    """Where a path leads: a folder that is open, and a name in it that may not be there."""

    folder: Folder
    name: str
    """The name asked for; empty if the path means the folder itself."""
    entry: Entry | None
    """What stands there, never a link if links were to be followed."""
    exact: bool
    """False if a name on the way was found only without regard to case."""
    linked: bool
    """Whether a link was followed on the way."""
    made: tuple[tuple[str, ...], ...] = ()
    """Folders that were made on the way, the outermost first."""

    @property
    def path(self) -> str:
        """The path, relative to the vault, with the names that are on the disk."""
        return self.folder.path(self.entry.name if self.entry else self.name)


class VaultFolder:
    """The vault, held open."""

    def __init__(self, path: Path) -> None:
        """Open the vault.

        Raises:
            ConfigurationError: It isn't a folder that can be read.
        """
        self._path = path
        self._lock = threading.Lock()
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with os.scandir(self._descriptor):
                pass
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"The vault {path} can't be opened: {getattr(error, 'strerror', error)}.",
                hint="Check that the folder is there and can be read, or name another vault.",
            ) from error
        self._marked = self._has_settings(self._descriptor)

    def close(self) -> None:
        """Close it; operations under way keep their own descriptors."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    @staticmethod
    def _has_settings(descriptor: int) -> bool:
        try:
            os.stat(SETTINGS_FOLDER, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def root(self) -> Folder:
        """Return the vault itself, opened anew.

        A vault that was taken away and came back, such as one on a removable disk, is found again;
        an empty folder in its place isn't taken for it.

        Raises:
            StorageError: The folder isn't there any more.
        """
        with self._lock:
            try:
                here = self._path.stat()
                if not os.path.samestat(here, os.fstat(self._descriptor)):
                    self._reopen()
                return Folder(os.dup(self._descriptor), ())
            except OSError as error:
                raise StorageError(
                    f"The vault {self._path} isn't there any more: {error.strerror}.",
                    hint="Put the folder back, or connect its disk.",
                ) from error

    def _reopen(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if self._marked and not self._has_settings(descriptor):
            os.close(descriptor)
            raise StorageError(
                f"The folder {self._path} was replaced by another that isn't a vault.",
                hint="Put the vault back, or connect its disk.",
            )
        os.dup2(descriptor, self._descriptor, inheritable=False)
        os.close(descriptor)

    @contextlib.contextmanager
    def locate(
        self, parts: tuple[str, ...], *, follow: bool = False, make: bool = False
    ) -> Iterator[Place]:
        """Find where a path leads; the folder is open until the ``with`` statement ends.

        Args:
            parts: Names, as `names.parse_path` returns them.
            follow: Follow links that stay in the vault; otherwise a link on the way is refused,
                and one at the end is returned as such.
            make: Make the folders on the way that aren't there.

        Raises:
            NotFoundError: A folder on the way isn't there.
            InvalidError: Something on the way isn't a folder, or a new name isn't sound.
            DeniedError: A link is in the way, or leads out of the vault or to something hidden.
            ConflictError: A name is ambiguous.
            StorageError: The system refused.
        """
        walk = _Walk(self.root(), self._path, parts)
        try:
            yield walk.run(follow=follow, make=make)
        finally:
            walk.close()

    @contextlib.contextmanager
    def open(self, parts: tuple[str, ...]) -> Iterator[Folder]:
        """Open a folder of the vault for listing, following links that stay in it.

        Raises:
            ErisError: As `locate`.
        """
        with self.locate(parts, follow=True) as place:
            if not place.name:
                yield place.folder
                return
            if place.entry is None:
                raise NotFoundError(f"There is no folder {place.path} in the vault.")
            if place.entry.kind is not Kind.FOLDER:
                raise InvalidError(
                    f"{place.path} is a note, not a folder.", hint="Read it with vault:read."
                )
            with place.folder.enter(place.entry) as folder:
                yield folder


class _Walk:
    """One path being followed, name by name, with every folder on the way kept open."""

    def __init__(self, root: Folder, vault: Path, parts: tuple[str, ...]) -> None:
        self._vault = vault
        self._asked = "/".join(parts)
        self._stack = [root]
        self._left = list(reversed(parts))
        self._links = 0
        self._exact = True
        self._made: list[tuple[str, ...]] = []

    def close(self) -> None:
        for folder in self._stack:
            folder.close()

    def run(self, *, follow: bool, make: bool) -> Place:
        while self._left:
            name = self._left.pop()
            here = self._stack[-1]
            if name == "..":  # Only ever from a link: the folder it came through, still open.
                self._climb()
                continue
            refuse_hidden(name, self._asked)
            entry = here.find(name)
            if entry:
                self._exact = self._exact and entry.exact
            if entry and entry.kind is Kind.LINK and follow:
                self._expand(here, entry)
            elif not self._left:
                return self._place(name, entry)
            elif entry is None:
                self._stack.append(self._missing(here, name, make=make))
            else:
                self._stack.append(self._enter(here, entry))
        return self._place("", None)

    def _place(self, name: str, entry: Entry | None) -> Place:
        return Place(
            self._stack[-1], name, entry, self._exact, bool(self._links), tuple(self._made)
        )

    def _enter(self, here: Folder, entry: Entry) -> Folder:
        path = here.path(entry.name)
        match entry.kind:
            case Kind.FOLDER:
                return here.enter(entry)
            case Kind.LINK:
                raise DeniedError(
                    f"{path} is a link; notes aren't written through links.",
                    hint="Use the path of the real folder.",
                )
            case Kind.FILE | Kind.OTHER:
                raise InvalidError(f"{path} is not a folder, so nothing can be in it.")

    def _missing(self, here: Folder, name: str, *, make: bool) -> Folder:
        if not make:
            raise NotFoundError(f"There is no folder {here.path(shown(name))} in the vault.")
        for coming in (name, *reversed(self._left)):  # All of them, before the first is made.
            check_new_name(coming, self._asked)
        folder = here.make(name)
        self._made.append(folder.parts)
        return folder

    def _climb(self) -> None:
        if len(self._stack) == 1:
            raise self._outside()
        self._stack.pop().close()

    def _outside(self) -> DeniedError:
        return DeniedError(
            f"{self._asked} is a link that leads out of the vault.",
            hint="Use a note inside the vault.",
        )

    def _expand(self, here: Folder, entry: Entry) -> None:
        """Put the names of a link's target in place of the link."""
        self._links += 1
        if self._links > _MOST_LINKS:
            raise DeniedError(f"{self._asked} is a chain of too many links.")
        try:
            target = os.readlink(entry.raw, dir_fd=here.descriptor)
        except OSError as error:
            raise failure(error, here.path(entry.name), "can't be opened") from error
        if target.startswith("/"):
            try:
                target = str(Path(target).relative_to(self._vault))
            except ValueError:
                raise self._outside() from None
            while len(self._stack) > 1:
                self._stack.pop().close()
        names = [name for name in target.split("/") if name not in {"", "."}]
        self._left.extend(reversed(names))
