"""What the operating system says, as sentences about the user's notes."""

import errno

from eris.errors import DeniedError, ErisError, InvalidError, NotFoundError, StorageError

_STORAGE = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again."),
    errno.EFBIG: ("the file would be too large for this system", "Write less, or to another note."),
    errno.EROFS: ("the vault is on a read-only disk", "Make the disk writable and try again."),
    errno.EACCES: ("the permission is missing", "Change the permissions of the file or folder."),
    errno.EPERM: ("the permission is missing", "Change the permissions of the file or folder."),
    errno.EIO: ("the disk reports an error", "Check the disk, and that it's still connected."),
    errno.EMFILE: ("too many files are open", "Try again; restart Eris if it goes on."),
    errno.ENFILE: ("too many files are open", "Try again; restart Eris if it goes on."),
    errno.ESTALE: ("the network disk has lost it", "Check that the disk is still connected."),
}
_OTHERS: dict[int | None, tuple[type[ErisError], str, str]] = {
    errno.ENOENT: (NotFoundError, "it isn't there (any more)", "List the folder to see what is."),
    errno.ENAMETOOLONG: (InvalidError, "the name is too long for this disk", "Use a shorter one."),
    errno.EISDIR: (InvalidError, "it's a folder", "Name a note in it."),
    errno.EILSEQ: (InvalidError, "this disk doesn't allow such a name", "Use plainer characters."),
    errno.EINVAL: (InvalidError, "this disk doesn't allow such a name", "Use plainer characters."),
    **dict.fromkeys(
        (errno.ELOOP, errno.ENOTDIR),
        (
            DeniedError,
            "a folder on the way was replaced by a link or a file",
            "List the folder and use the path shown there.",
        ),
    ),
}


def failure(error: OSError, path: str, attempt: str) -> ErisError:
    """Return the error to raise for what the system refused.

    Args:
        error: What the system said.
        path: The note or folder, relative to the vault.
        attempt: What didn't happen, such as ``wasn't written``.
    """
    if error.errno in _STORAGE:
        reason, hint = _STORAGE[error.errno]
        return StorageError(f"{path} {attempt}: {reason}.", hint=hint)
    kind, reason, hint = _OTHERS.get(
        error.errno, (StorageError, error.strerror or str(error), "Try again, or look at the disk.")
    )
    return kind(f"{path} {attempt}: {reason}.", hint=hint)
