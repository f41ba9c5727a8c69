"""What was asked to be remembered: staged at once, committed as notes, replaced, taken back.

The one entry to this package but for the core memory.
"""

import threading
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from actors.memory.catalogue import Source, source_digest
from actors.memory.chunking import TokenCount, chunk_note
from actors.memory.remembering import note as notes
from actors.memory.remembering.committing import CommittedAll, Committing
from actors.memory.remembering.desk import DAY_SECONDS, Desk
from actors.memory.remembering.note_feed import NoteFeed
from actors.memory.remembering.placing import Place
from actors.memory.remembering.ports import KnownNote, Notes, Offer, Similar, Withdraw
from actors.memory.remembering.record import CURRENT, HOLDING, Calendar, Record
from actors.memory.remembering.staging import Fact, Staging
from actors.memory.remembering.store import Store
from actors.memory.remembering.works import NoteWorks
from eris.errors import UnavailableError
from eris.vault.names import folded
from proto.memory import (
    Kind,
    ListMemories,
    MemoryChanged,
    MemoryState,
    MemoryView,
)
from proto.memory import Memories as MemoryList

NOTICE_SECONDS = DAY_SECONDS
"""How long before it goes the user must have been told of a memory."""

_CHUNKING = "memory-1"
"""Other than that of notes: the note of a memory is chunked by whoever follows the notes."""
_CANDIDATES = 20


class Memories:
    """All memories. Its methods may be called from any thread.

    They go one after the other, and one may wait for the vault. `similar` isn't called meanwhile,
    and neither is `offer`: what they call may wait for one of these methods.
    """

    def __init__(
        self,
        file: Path,
        notes: Notes,
        similar: Similar,
        offer: Offer,
        withdraw: Withdraw,
        *,
        calendar: Calendar,
        place: Place,
        known_note: KnownNote,
        count: TokenCount,
        lifetime_days: float = 30,
    ) -> None:
        """Open them. What a crash left undone is done by `resume`.

        Args:
            file: `memories.sqlite`.
            notes: The vault.
            similar: What says something like a text; empty where there's no embedder.
            offer: Has a source found, in place of what it was before.
            withdraw: Has a source found no longer.
            calendar: The user's.
            place: Where notes of memories go.
            known_note: The path of the note of a name.
            count: Tells how many tokens a text has.
            lifetime_days: How long a staged memory stays.

        Raises:
            ConfigurationError: A newer version of Eris made the file.
            StorageError: It can't be opened.
        """
        self.store = Store(file, calendar.clock)
        self.calendar = calendar
        self._similar = similar
        self._offer = offer
        self._withdraw = withdraw
        self._count = count
        self._works = NoteWorks(self.store, notes)
        self._desk = Desk(
            store=self.store,
            calendar=calendar,
            notes=notes,
            works=self._works,
            place=place,
            known_note=known_note,
            lifetime=lifetime_days * DAY_SECONDS,
        )
        self._committing = Committing(self._desk)
        self._staging = Staging(self._desk, self._committing)
        self._feed = NoteFeed(self._desk)
        self._lock = threading.RLock()
        self._showing = threading.Lock()

    @property
    def damage(self) -> str:
        """A sentence for the user if the database was damaged; empty otherwise."""
        return self.store.damage

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def resume(self) -> None:
        """Do what was begun before a crash, and tell the catalogue what it doesn't know yet.

        Raises:
            UnavailableError: The vault doesn't answer; call it again later.
        """
        with self._lock:
            self._works.carry_on()
        self.show()

    def show(self, *, anew: bool = False) -> None:
        """Tell the catalogue of what has changed.

        Args:
            anew: Tell it of everything: it was lost.
        """
        if anew:
            self.store.transaction(self.store.show_again)
        with self._showing:
            for record, mark in self.store.unshown():
                self._show(record, mark)

    # What is remembered.

    def stage(
        self, fact: Fact, key: str, recalled: Sequence[str] = (), core: Sequence[str] = ()
    ) -> MemoryChanged:
        """Keep a fact, durably when this returns.

        What is said again counts for the memory that says it, and updates it if it says more.
        What contradicts another is staged with both sides shown. What untrusted text may have
        caused waits for the user's yes.

        Args:
            fact: The fact.
            key: Idempotency key: repeating it returns the first answer.
            recalled: What was recalled for the model in this turn. It isn't kept again unless the
                user says it now.
            core: The core memory; what it says is never kept a second time.

        Raises:
            InvalidError: It's empty, only restates what was recalled, or has no ground in the
                words it's said to come from.
            UnavailableError: It's more of what a note says, and the vault doesn't answer.
        """
        cosines = self._cosines(fact.text)
        with self._lock:
            changed = self._staging.stage(fact, key, recalled, core, cosines)
        self.show()
        return changed

    def approve(self, name: str, key: str) -> MemoryChanged:
        """Make a staged memory of one that waits. For the user alone, never for a model.

        Raises:
            NotFoundError: There's no such memory.
            InvalidError: It doesn't wait.
        """
        cosines = self._cosines(self._desk.found(name).text)
        with self._lock:
            changed = self._staging.approve(name, key, cosines)
        self.show()
        return changed

    def commit(
        self, name: str, key: str, *, replaces: str = "", keep_both: bool = False
    ) -> MemoryChanged:
        """Write the note of a staged memory.

        Args:
            name: Id or exact title.
            key: Idempotency key.
            replaces: Id or exact title of the memory that it takes the place of: its note becomes
                this one's, and what it said goes to the note's history.
            keep_both: Commit it although it contradicts another.

        Raises:
            NotFoundError: There's no such memory.
            InvalidError: It's no staged one.
            DeniedError: It waits for the user's yes.
            ConflictError: It contradicts another, and it wasn't said what becomes of that one.
            UnavailableError: The vault doesn't answer; it's done when it does.
        """
        with self._lock:
            self._works.carry_on()
            changed = self._committing.commit(name, key, replaces=replaces, keep_both=keep_both)
        self.show()
        return changed

    def commit_all(self, key: str) -> CommittedAll:
        """Commit every staged memory about which there's no question, and say which there were."""
        with self._lock:
            self._works.carry_on()
            answer = self._committing.commit_all(key)
        self.show()
        return answer

    def forget(self, name: str, key: str) -> MemoryChanged:
        """Take a memory back: it's no longer found, and its note goes to the trash.

        Raises:
            NotFoundError: There's no such memory.
            UnavailableError: The vault doesn't answer; it's done when it does.
        """
        with self._lock:
            self._works.carry_on()
            changed = self._committing.forget(name, key)
        self.show()
        return changed

    def list(self, request: ListMemories | None = None) -> MemoryList:
        """Return memories, the newest first."""
        asked = request or ListMemories()
        tag = folded(asked.tag).strip("#/")
        found = [
            record
            for record in self.store.all(asked.states or HOLDING)
            if not tag or any(_has(each, tag) for each in record.tags)
        ]
        shown = found[: max(0, asked.limit)]
        return MemoryList(memories=tuple(map(self._desk.view, shown)), total=len(found))

    # Lifetime.

    def expiring(self, within_days: float) -> tuple[MemoryView, ...]:
        """Return what goes soon and the user wasn't told of; tell them, then call `told`."""
        latest = self.calendar.clock() + within_days * DAY_SECONDS
        return tuple(
            self._desk.view(each)
            for each in self._mortal()
            if not each.told and each.expires <= latest
        )

    def told(self, ids: Sequence[str]) -> None:
        """Keep that the user was told that these go."""
        now = self.calendar.clock()

        def work() -> None:
            for each in self._mortal():
                if each.id in ids and not each.told:
                    # However long this machine was off, there's a day left to say no.
                    goes = max(each.expires, now + NOTICE_SECONDS)
                    self.store.save(replace(each, told=now, expires=goes))

        self.store.transaction(work)

    def expire(self) -> tuple[MemoryView, ...]:
        """Give up what is overdue and the user was told of; return it."""
        now = self.calendar.clock()

        def work() -> list[Record]:
            overdue = [each for each in self._mortal() if each.told and each.expires <= now]
            gone = [replace(each, state=MemoryState.EXPIRED) for each in overdue]
            for each in gone:
                self.store.save(each)
            return gone

        gone = self.store.transaction(work)
        self.show()
        return tuple(map(self._desk.view, gone))

    # Notes, as the user changes them.

    def note_changed(self, memory: str, path: str, text: str) -> Source | None:
        """Take in what the note of a memory says now.

        Args:
            memory: The id in its properties. One that isn't known is taken in: the notes are the
                truth, and may come from another machine.
            path: Of the note.
            text: The whole note.

        Returns:
            What it's to be found as; None if it isn't that memory's note but a copy of it.
        """
        with self._lock:
            source = self._feed.changed(memory, path, text)
        self.show()
        return source

    def is_history(self, memory: str, path: str) -> bool:
        """Whether a note is an earlier revision, or of a replaced memory: not to be found."""
        return self._feed.is_history(memory, path)

    def note_gone(self, memory: str) -> MemoryView | None:
        """Take in that the note of a memory is gone.

        Returns:
            The memory, if it's forgotten by that; the user is to be told. None otherwise.
        """
        with self._lock:
            forgotten = self._feed.gone(memory)
        self.show()
        return self._desk.view(forgotten) if forgotten else None

    def _mortal(self) -> Sequence[Record]:
        records = self.store.all((MemoryState.STAGED, MemoryState.WAITING))
        return [each for each in records if each.expires]

    def _cosines(self, text: str) -> dict[int, float]:
        try:
            found = self._similar(text, (Kind.MEMORY,), _CANDIDATES)
        except UnavailableError:
            # Without an embedder, words alone say what is alike.
            return {}
        cosines: dict[int, float] = {}
        for key, cosine, _ in found:
            number = key.removeprefix("memory:m")
            if number.isdigit():
                cosines[int(number)] = max(cosine, cosines.get(int(number), -1.0))
        return cosines

    def _show(self, record: Record, mark: int) -> None:
        if record.state in CURRENT:
            self._have_found(record)
        else:
            self._withdraw(record.source)
        self.store.transaction(lambda: self.store.mark_shown(record.number, mark))

    def _have_found(self, record: Record) -> None:
        name = f"{record.title.replace('/', '-')}.md"
        text = notes.rendered(record, record.history, self.calendar)
        made = chunk_note(record.path or name, text, self._count)
        source = Source(
            key=record.source,
            kind=Kind.MEMORY,
            path=record.path,
            title=record.title,
            date=self.calendar.day(record.said),
            digest=source_digest(text.encode(), _CHUNKING),
            origin=record.origin,
        )
        # The lines are those of the note, which only whoever reads the note knows.
        self._offer(source, [replace(each, first_line=0, last_line=0) for each in made.chunks])


def _has(tag: str, wanted: str) -> bool:
    plain = folded(tag)
    return plain == wanted or plain.startswith(f"{wanted}/")
