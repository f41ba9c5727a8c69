"""KV state on disk, one file for each session, so that a restart doesn't read everything again.

The transcript is the truth and this is a cache: anything that doesn't fit is deleted, never
trusted. A state is two files: llama.cpp's own, and a note with the tokens it covers and the
likeliest next token, by which a restored state is checked, and the state's length and checksum:
llama.cpp aborts the process on a state that was cut short or garbled.
"""

import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from actors.inference.native import NativeContext
from eris.logs import Logger

DEFAULT_LIMIT_BYTES: Final = 1 << 30
"""All states together; the ones not used for longest go first."""

_STATE: Final = ".bin"
_NOTE: Final = ".json"
_PARTIAL: Final = ".part"
_CHUNK: Final = 1 << 20


class SavedState(msgspec.Struct, frozen=True):
    """What is known about a saved state without loading it."""

    tokens: tuple[int, ...]
    """The tokens whose state it is."""
    digest: str
    """Of the tokens."""
    likeliest: int
    """The likeliest token after them."""
    size: int
    """Bytes of the state."""
    checksum: int
    """CRC-32 of the state. Against accidents; whoever may write here is the user anyway."""


def digest_of(tokens: Sequence[int]) -> str:
    """Return a digest of a token sequence."""
    return hashlib.sha256(b"".join(token.to_bytes(4, "little") for token in tokens)).hexdigest()


class StateStore:
    """The states of one model in one folder."""

    def __init__(
        self,
        folder: Path,
        identity: str,
        log: Logger,
        *,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
    ) -> None:
        """Use a folder, made on the first save.

        Args:
            folder: Private to the user, for a state contains the conversation.
            identity: Says which model file, context and build the states belong to.
            log: Where trouble with the disk goes.
            limit_bytes: For everything in the folder, other models' states included.
        """
        self._folder = folder
        self._identity = identity
        self._log = log
        self._limit = limit_bytes

    def find(self, session: str) -> SavedState | None:
        """Return what is saved for a session, if anything is."""
        note, state = self._path(session, _NOTE), self._path(session, _STATE)
        try:
            saved = msgspec.json.decode(note.read_bytes(), type=SavedState)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if saved.digest != digest_of(saved.tokens) or not state.is_file():
            self.forget(session)
            return None
        return saved

    def save(
        self, session: str, context: NativeContext, tokens: Sequence[int], likeliest: int
    ) -> bool:
        """Write the state of ``context``, which holds ``tokens``; False if it couldn't be.

        A full disk costs speed after a restart and nothing else, so it's logged only.
        """
        state, note = self._path(session, _STATE), self._path(session, _NOTE)
        partial = state.with_suffix(_PARTIAL)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Made private before anything is in it; llama.cpp opens the file by its name.
            partial.unlink(missing_ok=True)
            os.close(os.open(partial, os.O_CREAT | os.O_WRONLY, 0o600))
            size = context.save(partial, tokens)
            if not size or size > self._limit:
                partial.unlink(missing_ok=True)
                self._log.warning("kv state not saved", session=session, bytes=size)
                return False
            saved = SavedState(
                tokens=tuple(tokens),
                digest=digest_of(tokens),
                likeliest=likeliest,
                size=partial.stat().st_size,
                checksum=_checksum(partial),
            )
            # The note goes last: one that is older than its state is found out on loading.
            partial.replace(state)
            partial.touch(mode=0o600)
            partial.write_bytes(msgspec.json.encode(saved))
            partial.replace(note)
            self._shrink(keep=state.stem)
        except OSError as error:
            self._log.warning("kv state not saved", session=session, error=str(error))
            return False
        return True

    def load(self, session: str, context: NativeContext, saved: SavedState) -> bool:
        """Put a saved state into ``context``; on False it's empty and the state is deleted."""
        state = self._path(session, _STATE)
        tokens = None
        if self._intact(state, saved):
            tokens = context.load(state, max(context.length, len(saved.tokens)))
        if tokens is None or tuple(tokens) != saved.tokens:
            self._log.warning("kv state refused", session=session)
            context.truncate(0)
            self.forget(session)
            return False
        try:
            os.utime(state)
        except OSError as error:
            self._log.debug("kv state not touched", session=session, error=str(error))
        return True

    def _intact(self, state: Path, saved: SavedState) -> bool:
        try:
            return state.stat().st_size == saved.size and _checksum(state) == saved.checksum
        except OSError as error:
            self._log.warning("kv state not read", error=str(error))
            return False

    def forget(self, session: str) -> None:
        """Delete what is saved for a session."""
        for suffix in (_NOTE, _STATE, _PARTIAL):
            try:
                self._path(session, suffix).unlink(missing_ok=True)
            except OSError as error:
                self._log.warning("kv state not deleted", session=session, error=str(error))

    def _path(self, session: str, suffix: str) -> Path:
        name = hashlib.sha256(f"{self._identity}\n{session}".encode()).hexdigest()
        return self._folder / (name + suffix)

    def _shrink(self, keep: str) -> None:
        """Delete the states not used for longest until the rest is under the limit."""
        files = [(path.stat(), path) for path in self._folder.iterdir()]
        total = sum(status.st_size for status, _ in files)
        states = sorted(
            (status.st_mtime, path)
            for status, path in files
            if path.suffix == _STATE and path.stem != keep
        )
        for _, path in states:
            if total <= self._limit:
                return
            total -= path.stat().st_size
            path.unlink()
            path.with_suffix(_NOTE).unlink(missing_ok=True)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum
