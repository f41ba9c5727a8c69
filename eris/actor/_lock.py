"""Lock files: who serves a name, and whether the supervisor lives."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from eris.errors import ConflictError


class ProcessLock:
    """An exclusive lock on a file, held while the process lives, with its pid inside.

    The kernel gives it up when the process ends, however it ends: no lock is ever stale.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            ConflictError: Another process has it; the message says which.
        """
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise ConflictError(
                f"{self.path.stem} is running already (pid {holder}).",
                hint="See `eris status`.",
                details={"pid": holder},
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock up and remove its file."""
        if self._descriptor >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a live process holds the lock file ``path``."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # A shared lock for an instant: two that look at the same time don't see each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
