"""Keeps the catalogue right about what others own: the notes of the vault, and what was said.

Nothing here is told what changed: it compares, by digest, what there is with what the catalogue
has, so that nothing can be missed, after whatever absence; and nothing is taken for deleted unless
the vault knows that it has told of everything.
"""

import datetime as dt
from collections.abc import Callable
from typing import Protocol

from actors.memory.catalogue import Catalogue, Source, source_digest
from actors.memory.chunking import VERSION, TokenCount, chunk_note, chunk_turn
from actors.memory.vault_notes import VaultNotes
from eris.errors import CancelledWorkError, ErisError
from eris.logs import Logger
from proto.memory import Kind
from proto.orchestrator import LoggedTurn, TurnLog

NOTE_SUFFIX = ".md"
LONGEST_NOTE = 10_000_000
"""Characters of a note, from which on it isn't recalled; searches of the vault do find it."""

_TURNS = "turns"
"""Under which the catalogue has the number of the last turn."""


def note_digest(digest: str) -> str:
    """Return the digest of a source for a note's digest as the vault has it."""
    return source_digest(digest.encode(), VERSION)


class FollowedMemories(Protocol):
    """The memories that are notes."""

    def note_changed(self, memory: str, path: str, text: str) -> Source | None:
        """Take in what the note of a memory says.

        Returns:
            What it is as a source; None if it's a note like any other.
        """

    def is_history(self, memory: str, path: str) -> bool:
        """Whether a note is of a memory that holds no longer, and isn't to be found."""

    def note_gone(self, memory: str) -> object:
        """Take in that the note of a memory isn't there any more."""


class NoteFollower:
    """Compares the notes; for one thread."""

    def __init__(
        self,
        notes: VaultNotes,
        catalogue: Catalogue,
        count: Callable[[], TokenCount],
        *,
        memories: "FollowedMemories",
        progress: Callable[[int, int], None],
        stopping: Callable[[], bool],
        log: Logger,
    ) -> None:
        """Create it.

        Args:
            notes: The vault's.
            catalogue: To be kept right.
            count: Returns what counts tokens: the embedder's tokenizer comes and goes.
            memories: Told of their notes.
            progress: Told how many of the changed notes are done, and how many there are.
            stopping: Whether to stop at the next note.
            log: Where notes that can't be read are named.
        """
        self._notes = notes
        self._catalogue = catalogue
        self._count = count
        self._memories = memories
        self._progress = progress
        self._stopping = stopping
        self._log = log
        self._left_out: dict[str, str] = {}
        """Digest by path of notes that can't be read or hold no longer, until they change."""

    def sync(self) -> bool:
        """Compare everything.

        Returns:
            Whether all notes were told of: if not, it's to be done again soon.

        Raises:
            ErisError: The vault doesn't answer, or the catalogue can't be written.
        """
        told, complete = self._notes.states()
        states = {
            path: note_digest(digest)
            for path, digest in told.items()
            if path.lower().endswith(NOTE_SUFFIX)
        }
        known = self._catalogue.located()
        gone = {path: source for path, source in known.items() if path not in states}
        changed = [
            path
            for path, digest in states.items()
            if (path not in known or known[path].digest != digest)
            and self._left_out.get(path) != digest
        ]
        changed = [path for path in changed if not self._moved(path, states[path], gone)]
        if changed:
            self._progress(0, len(changed))
        offered: set[str] = set()
        for number, path in enumerate(changed, start=1):
            if self._stopping():
                return False
            offered.add(self._read(path, states[path], known.get(path)))
            self._progress(number, len(changed))
        if complete:
            for source in gone.values():
                if source.key not in offered:  # A memory may only be elsewhere now.
                    self._lose(source)
        return complete

    def _moved(self, path: str, digest: str, gone: dict[str, Source]) -> bool:
        """Let a note that is only elsewhere now keep its chunks."""
        for before, source in gone.items():
            if source.kind is Kind.NOTE and source.digest == digest:
                target = Source(
                    key=f"note:{path}",
                    kind=Kind.NOTE,
                    path=path,
                    title=source.title,
                    date=source.date,
                    digest=digest,
                )
                # Its name is in its chunks where it's the title.
                named_by_file = source.title == _stem(before)
                if not (named_by_file and _stem(before) != _stem(path)) and self._catalogue.moved(
                    source.key, target
                ):
                    del gone[before]
                    return True
        return False

    def _read(self, path: str, digest: str, before: Source | None) -> str:
        """Take a note in; return the key that it's found by, empty if it isn't."""
        try:
            text, _ = self._notes.read(path)
        except ErisError as error:
            if error.retryable or isinstance(error, CancelledWorkError):
                raise
            # What it said before it became unreadable is kept.
            self._log.info("note-not-read", path=path, code=error.code, error=error.message)
            self._left_out[path] = digest
            return ""
        self._left_out.pop(path, None)
        if len(text) > LONGEST_NOTE:
            self._log.info("note-too-long", path=path, characters=len(text))
            self._left_out[path] = digest
            self._catalogue.gone(f"note:{path}")
            return ""
        made = chunk_note(path, text, self._count())
        source = Source(
            key=f"note:{path}",
            kind=Kind.NOTE,
            path=path,
            title=made.title,
            date=made.date,
            digest=digest,
        )
        if made.memory_id:
            if self._memories.is_history(made.memory_id, path):
                self._left_out[path] = digest
                self._catalogue.gone(source.key)
                return ""
            memory = self._memories.note_changed(made.memory_id, path, text)
            if memory is not None:
                self._catalogue.gone(source.key)
                source = Source(
                    key=memory.key,
                    kind=Kind.MEMORY,
                    path=path,
                    title=memory.title or made.title,
                    date=memory.date or made.date,
                    digest=digest,
                    origin=memory.origin,
                )
        self._catalogue.offer(source, made.chunks)
        if before is not None and before.kind is Kind.MEMORY and before.key != source.key:
            self._lose(before)  # Its property was taken out.
        return source.key

    def _lose(self, source: Source) -> None:
        self._catalogue.gone(source.key)
        if source.kind is Kind.MEMORY:
            self._memories.note_gone(source.key.partition(":")[2])


class TurnFollower:
    """Takes in what was said; for one thread."""

    def __init__(
        self,
        ask: Callable[[int], TurnLog],
        catalogue: Catalogue,
        count: Callable[[], TokenCount],
        zone: dt.tzinfo | None = None,
    ) -> None:
        """Create it.

        Args:
            ask: Returns ended turns behind a number.
            catalogue: To be kept right.
            count: Returns what counts tokens.
            zone: The user's, in which days begin; None for the system's.
        """
        self._ask = ask
        self._catalogue = catalogue
        self._count = count
        self._zone = zone

    def sync(self) -> None:
        """Take in all turns that have ended.

        Raises:
            ErisError: The orchestrator doesn't answer, or the catalogue can't be written.
        """
        while True:
            last = int(self._catalogue.remembered(_TURNS) or 0)
            turns = self._ask(last).turns
            for turn in turns:
                self._take(turn)
            if not turns:
                return
            self._catalogue.remember(_TURNS, str(turns[-1].number))

    def _take(self, turn: LoggedTurn) -> None:
        date = dt.datetime.fromtimestamp(turn.accepted, self._zone).date().isoformat()
        said = f"{turn.said}\0{turn.answer}"
        source = Source(
            key=f"session:{turn.session}/{turn.turn}",
            kind=Kind.SESSION,
            title=turn.session,
            date=date,
            digest=source_digest(said.encode(), VERSION),
            origin=turn.untrusted,
        )
        self._catalogue.offer(source, chunk_turn(turn.said, turn.answer, date, self._count()))


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[: -len(NOTE_SUFFIX)] if name.lower().endswith(NOTE_SUFFIX) else name
