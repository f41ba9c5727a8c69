"""Putting a file in place at once: whoever looks sees the old content or the new, never a part.

What is guaranteed when another program writes the same file at the same moment:

- The new content is complete, in a hidden file beside its place, before the place is touched.
- Where the disk can exchange two names (Linux and macOS with their usual file systems), there is no
  window between looking and replacing: the two files change places in one step, and only then is
  what came out compared, byte for byte, with what was expected. If it's something else, somebody
  saved in between; the files change places again, and nobody's content is lost. A file that is
  removed is likewise taken aside first and compared after.
- Where the disk can't, some microseconds remain between the last look and the rename.
- Nothing helps against a program that opened the old file before the exchange and writes into it
  afterwards: it writes into a file that no name leads to any more. That takes a program which
  saves in place and is in the middle of doing so; its window is between its `open` and its
  `write`.
- A name that must be free is never replaced (see `renaming`).

Permissions are kept. Owner, extended attributes and hard links of the replaced file aren't: a new
file takes its place.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from actors.vault.failures import failure
from actors.vault.folder import Entry, Folder, Kind
from actors.vault.renaming import exchange, rename_new
from actors.vault.steps import Write
from eris.errors import ConflictError, InvalidError

MOST_BYTES = 4 * 1024 * 1024
"""Size of the largest note that is read or written."""

_PRIVATE = 0o600


class ChangedMeanwhileError(ConflictError):
    """A file isn't as it was when the change was worked out; working it out again may succeed."""


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a content, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


VERSION_DIGITS = 16
"""Digits of a digest that name a version of a note."""


def version_of(data: bytes) -> str:
    """Return the name of a content that callers pass back: the first 16 digits of its digest."""
    return digest_of(data)[:VERSION_DIGITS]


@dataclass(frozen=True)
class Content:
    """A file's bytes, and which file it was."""

    data: bytes
    inode: int
    mode: int
    """Its permissions."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes."""
        return digest_of(self.data)


def read_file(folder: Folder, entry: Entry) -> Content:
    """Read a file whole.

    Raises:
        InvalidError: It's no file, or over `MOST_BYTES`.
        DeniedError: It's a link.
        StorageError: The system refused.
    """
    descriptor = folder.open_file(entry)
    try:
        status = os.fstat(descriptor)
        data = bytearray()
        while status.st_size <= MOST_BYTES and len(data) <= MOST_BYTES:
            piece = os.read(descriptor, MOST_BYTES + 1 - len(data))
            if not piece:
                return Content(bytes(data), status.st_ino, stat.S_IMODE(status.st_mode))
            data += piece
    except OSError as error:
        raise failure(error, folder.path(entry.name), "can't be read") from error
    finally:
        os.close(descriptor)
    size = max(status.st_size, len(data))
    raise InvalidError(
        f"{folder.path(entry.name)} has {size:,} bytes; the limit for notes is {MOST_BYTES:,}.",
        hint="Split it into smaller notes.",
    )


def write_temporary(
    folder: Folder, temporary: str, data: bytes, *, mode: int = 0, sync: bool = True
) -> None:
    """Write a content to a new hidden file.

    Args:
        folder: The folder that it's for.
        temporary: The hidden name, as `names.TEMPORARY_NAME` has it.
        data: All of it.
        mode: Its permissions; 0 for those that a new file in this folder gets.
        sync: Wait until it's on the disk.

    Raises:
        OSError: The system refused; a part may have been written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, _PRIVATE, dir_fd=folder.descriptor)
    try:
        permissions = mode or os.fstat(folder.descriptor).st_mode & 0o666
        with contextlib.suppress(PermissionError):  # Disks without permissions.
            os.fchmod(descriptor, permissions)
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def place_new(folder: Folder, temporary: str, name: str) -> None:
    """Give a hidden file its name, which must be free.

    Raises:
        ChangedMeanwhileError: The name is taken.
        OSError: The system refused.
    """
    try:
        rename_new(folder.descriptor, temporary, folder.descriptor, name)
    except FileExistsError as error:
        raise _changed(folder.path(name)) from error


def place_over(folder: Folder, name: str, write: Write, between: Callable[[str], None]) -> None:
    """Put a hidden file in the place of a file that must be as it was.

    Args:
        folder: The folder of both.
        name: The file to replace, exactly as on the disk.
        write: What is to be replaced, and by which hidden file; that is gone afterwards.
        between: Called before each thing that is done to the disk.

    Raises:
        ChangedMeanwhileError: The file isn't as it was; it stays as it is now.
        OSError: The system refused.
    """
    here, temporary = folder.descriptor, write.temporary
    if digest_at(folder, name) != write.before:
        raise _changed(folder.path(name))
    between("exchange")
    if not exchange(here, temporary, name):
        os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
        return
    between("unlink")
    if digest_at(folder, temporary) == write.before:
        os.unlink(temporary, dir_fd=here)
        return
    # Somebody saved between the look and the exchange: theirs goes back where they put it.
    try:
        exchange(here, temporary, name)
    except FileNotFoundError:  # They have removed it again since; the content isn't lost for that.
        put_back(folder, temporary, name)
    else:
        if digest_at(folder, temporary) != write.after:
            # They saved once more, over ours: that is their last word; the first stays beside it.
            exchange(here, temporary, name)
            put_back(folder, temporary, name)
    raise _changed(folder.path(name))


def take_away(
    folder: Folder, name: str, temporary: str, *, before: str, between: Callable[[str], None]
) -> None:
    """Remove a file that must be as it was.

    Args:
        folder: Its folder.
        name: Its name, exactly as on the disk.
        temporary: A hidden name that it has for a moment.
        before: Digest of what is to be removed.
        between: Called before each thing that is done to the disk.

    Raises:
        ChangedMeanwhileError: The file isn't as it was; it stays as it is now.
        OSError: The system refused.
    """
    here = folder.descriptor
    if digest_at(folder, name) != before:
        raise _changed(folder.path(name))
    between("take aside")
    rename_new(here, name, here, temporary)
    between("unlink")
    if digest_at(folder, temporary) != before:
        put_back(folder, temporary, name)
        raise _changed(folder.path(name))
    os.unlink(temporary, dir_fd=here)


def put_back(folder: Folder, temporary: str, name: str) -> str:
    """Give a hidden file that holds somebody's content its name, or a visible one beside it.

    Returns:
        The name that it has now.

    Raises:
        ErisError: It couldn't be renamed; then it's still there.
    """
    front, dot, extension = name.rpartition(".")
    stem, ending = (front, f"{dot}{extension}") if front else (name, "")
    for visible in (name, f"{stem} (recovered {temporary[6:14]}){ending}"):
        try:
            rename_new(folder.descriptor, temporary, folder.descriptor, visible)
        except FileExistsError:
            continue
        except OSError as error:
            raise failure(error, folder.path(visible), "can't be brought back") from error
        return visible
    raise ConflictError(
        f"{folder.path(temporary)} holds what somebody saved, and its names are taken.",
        hint="Rename the file yourself.",
    )


def digest_at(folder: Folder, name: str) -> str:
    """Return the digest of a file; empty if it isn't there, a word if it's no note at all.

    Raises:
        StorageError: The system refused.
    """
    try:
        kind = stat.S_IFMT(os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise failure(error, folder.path(name), "can't be opened") from error
    if kind != stat.S_IFREG:
        return "folder" if kind == stat.S_IFDIR else "other"
    try:
        return read_file(folder, Entry(name, Kind.FILE)).digest
    except InvalidError:
        return "too large"


def _changed(path: str) -> ChangedMeanwhileError:
    return ChangedMeanwhileError(
        f"{path} was changed by somebody else at this moment, so it wasn't written.",
        hint="Read it again, then write.",
    )
