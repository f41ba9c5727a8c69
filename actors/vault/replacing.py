"""Putting a file in place at once: whoever looks sees the old content or the new, never a part."""

import contextlib
import errno
import os
import stat
from dataclasses import dataclass

from actors.vault.failures import failure
from actors.vault.folder import Entry, Folder
from actors.vault.names import TEMPORARY_NAME
from eris.errors import ConflictError, DeniedError, InvalidError, StorageError

MOST_BYTES = 4 * 1024 * 1024
"""Size of the largest note that is read or written."""

_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
)


@dataclass(frozen=True)
class Content:
    """A file's bytes, and which file it was."""

    data: bytes
    inode: int
    modified: int
    """Nanoseconds since the epoch."""
    mode: int

    def is_still(self, status: os.stat_result) -> bool:
        """Whether the file is the same and unchanged."""
        return (status.st_ino, status.st_mtime_ns, status.st_size) == (
            self.inode,
            self.modified,
            len(self.data),
        )


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
                return Content(
                    bytes(data), status.st_ino, status.st_mtime_ns, stat.S_IMODE(status.st_mode)
                )
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


def put_file(
    folder: Folder, name: str, data: bytes, *, before: Content | None, temporary: str
) -> None:
    """Write a file under a hidden name beside its place, then rename it there.

    Durable when this returns. If it raises, the file is as it was and nothing is left behind.

    Args:
        folder: The open folder it goes to.
        name: Its name exactly as on the disk.
        data: All of it.
        before: The file as it was read; None if there must be none yet.
        temporary: The hidden name, as `names.TEMPORARY_NAME` has it.

    Raises:
        ConflictError: The file isn't as it was any more.
        DeniedError: The file is marked as read-only.
        StorageError: The system refused.
    """
    path = folder.path(name)
    if before and not before.mode & 0o222:
        raise DeniedError(
            f"{path} is marked as read-only, so it wasn't changed.",
            hint="Write to another note, or make this one writable.",
        )
    if len(data) > MOST_BYTES:
        raise InvalidError(
            f"{path} would have {len(data):,} bytes; the limit for notes is {MOST_BYTES:,}.",
            hint="Write less, or to another note.",
        )
    try:
        _write_temporary(folder, temporary, data, before)
        if before is None:
            _place_new(folder, temporary, name)
        else:
            _place_over(folder, temporary, name, before)
    except FileExistsError as error:
        remove_temporary(folder, temporary)
        raise _changed(path) from error
    except OSError as error:
        remove_temporary(folder, temporary)
        raise failure(error, path, "wasn't written, and nothing was changed") from error
    except BaseException:
        remove_temporary(folder, temporary)
        raise
    try:
        os.fsync(folder.descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # Some disks can't do it for folders.
            raise StorageError(
                f"{path} was written, but the disk didn't confirm it: {error.strerror}.",
                hint="Read it to see, and check the disk.",
            ) from error


def remove_temporary(folder: Folder, temporary: str) -> None:
    """Remove the hidden file of a write that didn't finish, if it's there."""
    if TEMPORARY_NAME.fullmatch(temporary):
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder.descriptor)


def _write_temporary(folder: Folder, temporary: str, data: bytes, before: Content | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder.descriptor)
    try:
        mode = before.mode if before else os.fstat(folder.descriptor).st_mode & 0o666
        with contextlib.suppress(PermissionError):  # Disks without permissions.
            os.fchmod(descriptor, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _place_new(folder: Folder, temporary: str, name: str) -> None:
    # A hard link refuses a name that somebody took meanwhile; a rename would replace their file.
    here = folder.descriptor
    try:
        os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=here, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, "the name is taken", name) from None
        os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
    else:
        os.unlink(temporary, dir_fd=here)


def _place_over(folder: Folder, temporary: str, name: str, before: Content) -> None:
    here = folder.descriptor
    if not before.is_still(os.stat(name, dir_fd=here, follow_symlinks=False)):
        raise _changed(folder.path(name))
    os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)


def _changed(path: str) -> ConflictError:
    return ConflictError(
        f"{path} was changed by somebody else at this moment, so it wasn't written.",
        hint="Read it again, then write.",
    )
