"""For actors that make something from the vault: which notes there are, and any file's bytes."""

import os
from collections.abc import Callable

from actors.vault.index import VaultIndex
from actors.vault.names import parse_path
from actors.vault.vault_folder import VaultFolder
from eris.errors import InvalidError, NotFoundError, StorageError
from proto.vault import FileBytes, ListStates, NoteStates, ReadFile

PART_BYTES = 1 << 20
"""Bytes of one answer."""

MOST_STATES = 20_000
"""Notes of one answer: about 2 MB."""


class Following:
    """Answers what those ask who follow the vault; thread-safe."""

    def __init__(
        self, vault: VaultFolder, index: VaultIndex, *, complete: Callable[[], bool]
    ) -> None:
        """Create it.

        Args:
            vault: The vault.
            index: Knows what is in it.
            complete: Whether the index knows all notes.
        """
        self._vault = vault
        self._index = index
        self._complete = complete

    def states(self, request: ListStates) -> NoteStates:
        """Return notes and their digests."""
        # Asked first: notes that come in between only make the answer more complete.
        complete = self._complete()
        limit = max(1, min(request.limit, MOST_STATES))
        states = self._index.states(request.after, limit)
        return NoteStates(states=states, complete=complete, more=len(states) == limit)

    def file(self, request: ReadFile) -> FileBytes:
        """Return a part of a file.

        Raises:
            NotFoundError: It isn't there.
            InvalidError: It isn't a file, or has no such part.
            ErisError: It can't be read.
        """
        with self._vault.locate(parse_path(request.path), follow=True) as place:
            if place.entry is None:
                raise NotFoundError(f"There is no file {place.path} in the vault.")
            descriptor = place.folder.open_file(place.entry)
            path = place.real_path
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            if not 0 <= request.offset <= status.st_size:
                raise InvalidError(
                    f"{path} has {status.st_size:,} bytes; there is nothing at {request.offset:,}."
                )
            most = max(0, min(request.most, PART_BYTES))
            try:
                data = os.pread(stream.fileno(), most, request.offset)
            except OSError as error:
                raise StorageError(f"{path} can't be read: {error.strerror}.") from error
        state = f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"
        return FileBytes(path=path, data=data, size=status.st_size, state=state)
