"""The notes of the vault, as the memory reads and writes them: by asking the vault."""

import threading
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from eris.actor import Port
from eris.errors import ConflictError, RemoteError
from proto.errors import ErrorCode
from proto.vault import (
    EditKind,
    EditNote,
    FileBytes,
    ListStates,
    MoveNote,
    NoteStates,
    NoteText,
    ReadFile,
    ReadNote,
    TrashNote,
    Written,
)

R = TypeVar("R", bound=msgspec.Struct)

VAULT = "vault"

_ANSWER_SECONDS = 60.0
"""How long an answer may take, a restart of the vault included."""
_STATE_SECONDS = 2.0


class VaultNotes:
    """Asks the vault. Its methods may be called from any thread but the actor's own.

    Each of them raises a `RemoteError` if the vault refuses, or doesn't answer in time, and a
    `CancelledWorkError` when the actor stops.
    """

    def __init__(self, port: Port, stopping: threading.Event) -> None:
        self._port = port
        self._stopping = stopping

    def states(self) -> tuple[dict[str, str], bool]:
        """Return a digest of every note by path, and whether these are all there are."""
        states: dict[str, str] = {}
        complete, after = True, ""
        while True:
            page = self._ask(ListStates(after=after), NoteStates)
            states |= page.states
            complete = complete and page.complete
            if not page.more or not page.states:
                return states, complete
            after = max(page.states)

    def read(self, path: str) -> tuple[str, str]:
        """Return a note's text, and the version that names this state of it.

        Raises:
            ConflictError: It's being changed all the time.
        """
        for _ in range(3):
            text, line = "", 1
            versions = set()
            while line:
                page = self._ask(ReadNote(note=path, first_line=line), NoteText)
                text += page.text
                versions.add(page.version)
                line = page.next_line
            if len(versions) == 1:
                return text, versions.pop()
        raise ConflictError(f"{path} changes while it's being read.")

    def create(self, path: str, text: str, key: str) -> str:
        """Make a note and return its path.

        Args:
            path: Where.
            text: All that it says.
            key: Idempotency key: repeated with it, the note isn't made twice.
        """
        edit = EditNote(idem=key, kind=EditKind.CREATE, note=path, content=text)
        return self._ask(edit, Written).path

    def replace(self, path: str, text: str, version: str, key: str) -> None:
        """Write a note anew, if it's still in the state that a version names."""
        edit = EditNote(idem=key, kind=EditKind.OVERWRITE, note=path, content=text, version=version)
        self._ask(edit, Written)

    def move(self, path: str, target: str, key: str) -> str:
        """Give a note another path, links to it included, and return that."""
        return self._ask(MoveNote(idem=key, note=path, target=target), Written).path

    def trash(self, path: str, key: str) -> None:
        """Move a note to the vault's trash."""
        self._ask(TrashNote(idem=key, note=path), Written)

    def bytes(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of any file of the vault.

        Raises:
            ConflictError: It was changed meanwhile.
        """
        offset, state = 0, ""
        while True:
            part = self._ask(ReadFile(path=path, offset=offset), FileBytes)
            if state not in {"", part.state}:
                raise ConflictError(
                    f"{part.path} was changed while it was being read.", hint="Try again."
                )
            state = part.state
            if part.data:
                yield part.data
            offset += len(part.data)
            if offset >= part.size or not part.data:
                return

    def file_state(self, path: str) -> str:
        """Return what changes when a file does; empty if it isn't there.

        It doesn't wait for a vault that is away.
        """
        request = ReadFile(path=path, most=0)
        try:
            return self._port.ask(VAULT, request, FileBytes, within=_STATE_SECONDS).state
        except RemoteError as error:
            if error.code == ErrorCode.NOT_FOUND:
                return ""
            raise

    def _ask(self, body: msgspec.Struct, expect: type[R]) -> R:
        return self._port.ask(
            VAULT,
            body,
            expect,
            within=_ANSWER_SECONDS,
            retry=True,
            cancelled=self._stopping,
        )
