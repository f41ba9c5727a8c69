"""Which files may be taken in, and how they're opened so that it's these and no others."""

import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from eris.errors import DeniedError, ErisError, InvalidError, NotFoundError, StorageError

VaultBytes = Callable[[str], Iterable[bytes]]
"""Gives the bytes of a file of the vault, by its path there; raises an `ErisError` if it can't."""

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ_FILE = _READ | getattr(os, "O_NONBLOCK", 0)  # A pipe of that name must not block.
_READ_FOLDER = _READ | getattr(os, "O_DIRECTORY", 0)


@dataclass(frozen=True)
class Place:
    """A file that may be read."""

    path: str
    """In the vault, with `/`; or absolute, with no link in it."""
    in_vault: bool
    folder: Path | None = None
    """The allowed folder that it's in; None for one in the vault or named by the user."""


class Reach:
    """The vault's files, those of some folders, and those that the user names at the machine."""

    def __init__(
        self,
        folders: Sequence[str | Path],
        vault_bytes: VaultBytes,
        vault_state: Callable[[str], str],
        scratch: Path,
        most_bytes: int,
        vault: Path | None = None,
    ) -> None:
        """Create it.

        Args:
            folders: The setting `memory.document_folders`; `~` is the user's home.
            vault_bytes: Reads files of the vault, which only the vault's actor opens.
            vault_state: Tells what changes when such a file does; empty if it isn't there.
            scratch: Private folder for copies of them, which live as long as they're read.
            most_bytes: Size of the largest file.
            vault: Where the vault is, so that an absolute path into it is understood.
        """
        self._folders = [Path(each).expanduser() for each in folders]
        self._vault_bytes = vault_bytes
        self._vault_state = vault_state
        self._scratch = scratch
        self._most_bytes = most_bytes
        self._vault = vault

    def may_read(self, path: str, *, named_by_user: bool = False) -> Place:
        """Return the place of a file, if it may be read.

        Args:
            path: In the vault, or absolute.
            named_by_user: Whether the user named it on the command line of this machine, not a
                model or somebody from elsewhere: then it may be any file that they can read.

        Raises:
            DeniedError: It's neither in the vault nor in one of the folders.
            NotFoundError: There's no such file outside of the vault.
            InvalidError: It's no path.
        """
        if not path.strip() or "\0" in path:
            raise InvalidError(f"{path!r} is no path.", hint="Name a file, such as Papers/a.pdf.")
        given = Path(path).expanduser() if path.startswith("~") else Path(path)
        if not given.is_absolute():
            return Place(_vault_path(path), in_vault=True)
        allowed = self._allowed(given)
        if allowed is None and not named_by_user and not self._in_vault(given):
            # The same sentence whether there's such a file or not.
            raise self._denied(path)
        try:
            real = given.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise NotFoundError(
                f"There's no file {path}.", hint="Check the path; give it in full."
            ) from error
        if self._vault is not None and self._in_vault(real):
            inside = real.relative_to(self._vault.resolve())
            return Place(_vault_path(inside.as_posix()), in_vault=True)
        folder = self._allowed(real)
        if folder is None and not named_by_user:
            raise self._denied(path)
        return Place(str(real), in_vault=False, folder=folder)

    @contextmanager
    def opened(self, place: Place) -> Iterator[BinaryIO]:
        """Open a file for reading.

        Raises:
            NotFoundError: It's gone.
            DeniedError: It can't be read, or a link is on the way now.
            InvalidError: It's no file, or too large.
            StorageError: The copy of a file of the vault can't be written.
        """
        if place.in_vault:
            with self._copied(place.path) as stream:
                yield stream
            return
        path = Path(place.path)
        try:
            descriptor = _opened_within(place.folder or Path(path.anchor), path)
        except FileNotFoundError as error:
            raise NotFoundError(f"The file {path} is gone.", hint="Check the path.") from error
        except OSError as error:
            raise DeniedError(
                f"The file {path} can't be opened: {error.strerror}.",
                hint="Check its permissions, and that no folder above it became a link.",
            ) from error
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            os.close(descriptor)
            raise InvalidError(f"{path} is no file.", hint="Name one document at a time.")
        with os.fdopen(descriptor, "rb") as stream:
            self._check_size(place.path, about.st_size)
            yield stream

    def state(self, place: Place) -> str | None:
        """Return what tells whether a file was changed.

        Returns:
            Empty if it's gone, None if it can't be told now.
        """
        if place.in_vault:
            try:
                return self._vault_state(place.path)
            except ErisError:
                return None
        try:
            about = Path(place.path).stat()
        except OSError:
            return ""
        return f"{about.st_size}/{about.st_mtime_ns}"

    @contextmanager
    def _copied(self, path: str) -> Iterator[BinaryIO]:
        self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            # It has no name, so nothing of it stays after a crash.
            with tempfile.TemporaryFile(dir=self._scratch) as copy:
                size = 0
                for part in self._vault_bytes(path):
                    size += len(part)
                    self._check_size(path, size)
                    copy.write(part)
                copy.flush()
                copy.seek(0)
                yield copy
        except OSError as error:
            raise StorageError(
                f"{path} can't be copied out of the vault to be read: {error.strerror}.",
                hint="Check the free space of the state folder.",
            ) from error

    def _check_size(self, path: str, size: int) -> None:
        if size > self._most_bytes:
            raise InvalidError(
                f"{path} has {size / 1e6:,.0f} MB or more; documents of at most "
                f"{self._most_bytes / 1e6:,.0f} MB are taken in.",
                hint="Part it, or make its pictures smaller.",
            )

    def _allowed(self, path: Path) -> Path | None:
        """Return the folder that a path is in, no name below it being hidden."""
        normal = Path(os.path.normpath(path))
        for each in self._folders:
            for folder in {each, each.resolve()}:
                if normal.is_relative_to(folder) and normal != folder:
                    hidden = any(n.startswith(".") for n in normal.relative_to(folder).parts)
                    return None if hidden else folder
        return None

    def _in_vault(self, path: Path) -> bool:
        if self._vault is None:
            return False
        normal = Path(os.path.normpath(path))
        return any(normal.is_relative_to(each) for each in (self._vault, self._vault.resolve()))

    def _denied(self, path: str) -> DeniedError:
        folders = ", ".join(map(str, self._folders)) or "none so far"
        return DeniedError(
            f"{path} may not be read: it's neither in the vault nor in a folder for documents.",
            hint=f"Folders are named by the setting memory.document_folders ({folders}); any file "
            "can be taken in with: eris doc ingest FILE",
        )


def _vault_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if any(each == ".." or each.startswith(".") for each in parts) or not parts:
        raise DeniedError(
            f"{path} may not be read: it leads out of the vault or to something hidden.",
            hint="Name a file by its path in the vault, such as Papers/a.pdf.",
        )
    return "/".join(parts)


def _opened_within(folder: Path, path: Path) -> int:
    """Open a file below a folder, each name in the folder before it, none of them a link.

    Checking a path and opening it later can be raced; this can't.
    """
    *names, last = path.relative_to(folder).parts
    current = os.open(folder, _READ_FOLDER)
    try:
        for name in names:
            inner = os.open(name, _READ_FOLDER, dir_fd=current)
            os.close(current)
            current = inner
        return os.open(last, _READ_FILE, dir_fd=current)
    finally:
        os.close(current)
