"""Renames that the standard library lacks: never replacing, and exchanging two files at once.

Linux (`renameat2`) and macOS (`renameatx_np`) have both; a file system may still not know them.
Then a rename that must not replace becomes a hard link and an unlink, which refuses a taken name
too, or, without hard links either, a look and a rename with a moment between them.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_NAMES = {"linux": "renameat2", "darwin": "renameatx_np"}
_NO_REPLACE, _EXCHANGE = (4, 2) if sys.platform == "darwin" else (1, 2)
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_HARD_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
)


def _system_call() -> Callable[..., int] | None:
    name = _NAMES.get(sys.platform)
    if name is None:
        return None
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):  # An old C library.
        return None
    call.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    call.restype = ctypes.c_int
    return call  # type: ignore[no-any-return]  # ctypes has no types for functions it finds


_CALL = _system_call()


def special_rename(source: int, name: str, target: int, new_name: str, flags: int) -> bool:
    """Rename with the system's flags; false if the system or the disk doesn't know them.

    Raises:
        OSError: The system refused.
    """
    if _CALL is None:
        return False
    ctypes.set_errno(0)
    if _CALL(source, os.fsencode(name), target, os.fsencode(new_name), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), name)


def rename_new(source: int, name: str, target: int, new_name: str) -> None:
    """Rename a file or folder to a name that must be free.

    Args:
        source: Descriptor of the folder that it's in.
        name: Its name there.
        target: Descriptor of the folder that it goes to.
        new_name: Its name there.

    Raises:
        FileExistsError: The name is taken.
        OSError: The system refused.
    """
    if special_rename(source, name, target, new_name, _NO_REPLACE):
        return
    try:
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
    else:
        os.unlink(name, dir_fd=source)
        return
    try:
        os.stat(new_name, dir_fd=target, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)


def exchange(folder: int, name: str, other: str) -> bool:
    """Let two files of a folder swap their names at once; false if this disk can't.

    Raises:
        OSError: One of them isn't there, or the system refused.
    """
    return special_rename(folder, name, folder, other, _EXCHANGE)
