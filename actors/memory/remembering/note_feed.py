"""What the user does to the notes of memories: changes them, moves them, deletes them."""

import datetime as dt

from msgspec.structs import replace

from actors.memory.catalogue import Source
from actors.memory.remembering import note as notes
from actors.memory.remembering.desk import Desk
from actors.memory.remembering.placing import earlier, stem
from actors.memory.remembering.record import Record, number_of, title_for
from eris.errors import ErisError
from eris.vault.markdown import parse
from proto.errors import ErrorCode
from proto.memory import Kind, MemoryState

_RETURNING = (MemoryState.STAGED, MemoryState.FORGOTTEN, MemoryState.EXPIRED)
"""States in which there's no note. If there is one all the same, it was put back, or comes from
another machine, and it holds."""


class NoteFeed:
    """Follows the notes. For one thread at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def changed(self, memory: str, path: str, text: str) -> Source | None:
        """Take in what a note says; see `Memories.note_changed`."""
        number = number_of(memory)
        if not number or self.is_history(memory, path):
            return None
        record = self._desk.store.get(number)
        if record is None:
            record = self._taken_in(number, path, text)
        elif record.state is MemoryState.WAITING or self._is_copy(record, path):
            return None
        current = self._read_anew(record, path, text)
        if current != self._desk.store.get(number):
            # Whoever follows the notes has it found as what is returned here.
            self._desk.store.transaction(lambda: self._desk.store.save(current, shown=True))
        return Source(
            key=current.source,
            kind=Kind.MEMORY,
            path=path,
            title=current.title,
            date=self._desk.calendar.day(current.said),
            digest="",
            origin=current.origin,
        )

    def gone(self, memory: str) -> Record | None:
        """Take in that a note is gone; see `Memories.note_gone`."""
        record = self._desk.store.get(number_of(memory))
        if record is None or record.state is not MemoryState.COMMITTED:
            return None
        if self._is_its_note(record):
            return None  # It was moved, and is known to be elsewhere.
        forgotten = replace(record, state=MemoryState.FORGOTTEN)
        self._desk.store.transaction(lambda: self._desk.store.save(forgotten))
        return forgotten

    def is_history(self, memory: str, path: str) -> bool:
        """Whether a note holds no longer; see `Memories.is_history`."""
        record = self._desk.store.get(number_of(memory))
        if record is None:
            return False
        if record.state is MemoryState.SUPERSEDED:
            return True
        return path in earlier(record.path)

    def _read_anew(self, record: Record, path: str, text: str) -> Record:
        said = notes.read(text)
        fact = said.text or record.text
        title = said.title or stem(path)
        changed = record
        if record.state in _RETURNING:
            changed = replace(changed, state=MemoryState.COMMITTED, expires=0)
        if fact != record.text and notes.read(self._as_written(record)).text != fact:
            now = self._desk.calendar.clock()
            changed = replace(changed, text=fact, said=now, mentioned=now)
        if title not in {record.title, stem(record.path)}:
            changed = replace(changed, title=title, titled=True)
        return replace(changed, path=path, tags=said.tags)

    def _as_written(self, record: Record) -> str:
        return notes.rendered(record, (), self._desk.calendar)

    def _taken_in(self, number: int, path: str, text: str) -> Record:
        """Make a memory of a note that somebody else, or an Eris of before, made."""
        said = notes.read(text)
        properties = parse(text).properties

        def word(name: str) -> str:
            value = properties.get(name)
            return value if isinstance(value, str) else ""

        created = self._moment(word("created"))
        return Record(
            number=number,
            state=MemoryState.COMMITTED,
            title=said.title or stem(path) or title_for(said.text, number),
            titled=True,
            text=said.text,
            tags=said.tags,
            quote=word("quote"),
            created=created,
            said=created,
            mentioned=created,
            session=word("session"),
            turn=word("turn"),
            origin=word("origin"),
            path=path,
        )

    def _moment(self, text: str) -> float:
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            return self._desk.calendar.clock()
        return moment.timestamp()

    def _is_copy(self, record: Record, path: str) -> bool:
        return bool(record.path) and record.path != path and self._is_its_note(record)

    def _is_its_note(self, record: Record) -> bool:
        """Whether the memory's note is where it was, and still says that it's that."""
        try:
            text, _ = self._desk.notes.read(record.path)
        except ErisError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            return False
        return number_of(notes.read(text).memory) == record.number
