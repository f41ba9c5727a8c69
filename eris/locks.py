"""Locks on files: who serves a vault, or a name, right now.

The kernel gives a lock up when its holder ends, however it ends: no lock is ever stale, and a lock
file that lies about means nothing by itself.
"""

import fcntl
import os
from pathlib import Path
from typing import Self

from eris.errors import ConflictError


class HeldLock:
    """An exclusive lock with the holder's pid inside; use it as a context manager."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path) -> Self:
        """Take the lock.

        Raises:
            ConflictError: Another process holds it; ``details["pid"]`` says which.
        """
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(descriptor)
                pid = holder(path)
                raise ConflictError(
                    f"{path} is held by pid {pid or 'unknown'}.", details={"pid": pid}
                ) from error
            if _is_file_at(descriptor, path):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
                return cls(path, descriptor)
            # The holder before us removed the file between our opening and our locking it.
            os.close(descriptor)

    def intact(self) -> bool:
        """Whether the file is still the one that is locked, and not removed or replaced."""
        return _is_file_at(self._descriptor, self.path)

    def release(self) -> None:
        """Remove the file, if it's still ours, and give the lock up."""
        if self.intact():
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def holder(path: Path) -> int:
    """Return the pid of whoever holds the lock ``path``; 0 if nobody does or it can't be told."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.pread(descriptor, 32, 0).strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)
    return 0


def _is_file_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
