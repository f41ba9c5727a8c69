"""What all that changes memories has in common."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from actors.memory.remembering.placing import Place
from actors.memory.remembering.ports import KnownNote, Notes
from actors.memory.remembering.record import CURRENT, HOLDING, Calendar, Record, number_of, view
from actors.memory.remembering.store import Store
from actors.memory.remembering.works import NoteWorks
from eris.errors import InvalidError, NotFoundError
from proto.memory import MemoryChanged, MemoryView

DAY_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Desk:
    """Where memories are kept, and what they are kept by."""

    store: Store
    calendar: Calendar
    notes: Notes
    works: NoteWorks
    place: Place
    known_note: KnownNote
    lifetime: float
    """Seconds that a staged memory stays."""

    def contradicted(self, record: Record) -> tuple[Record, ...]:
        """Return those of the memories that it contradicts that still hold."""
        found = map(self.store.get, record.contradicts)
        return tuple(each for each in found if each is not None and each.state in CURRENT)

    def view(self, record: Record) -> MemoryView:
        """Return a memory as it's shown."""
        holding = tuple(each.number for each in self.contradicted(record))
        return view(record, self.calendar, holding if record.state in HOLDING else ())

    def changed(self, record: Record, receipt: str = "", note: str = "") -> MemoryChanged:
        """Return an answer."""
        return MemoryChanged(memory=self.view(record), receipt=receipt, note=note)

    def repeated(self, key: str) -> MemoryChanged | None:
        """Return what was answered to a request before."""
        result = self.store.result(key)
        return msgspec.json.decode(result, type=MemoryChanged) if result else None

    def keep(
        self, key: str, records: Sequence[Record], receipt: str = "", note: str = ""
    ) -> MemoryChanged:
        """Keep memories, the first of which the answer is about, and the answer to a request."""

        def work() -> MemoryChanged:
            for record in records:
                self.store.save(record)
            answer = self.changed(records[0], receipt, note)
            self.store.keep_result(key, msgspec.json.encode(answer))
            return answer

        return self.store.transaction(work)

    def found(self, name: str) -> Record:
        """Return the memory that an id or an exact title means.

        Raises:
            NotFoundError: There's none.
            InvalidError: Several that hold have this title.
        """
        number = number_of(name)
        record = self.store.get(number) if number else None
        if record is not None:
            return record
        holding = self.store.all(HOLDING)
        titled = " ".join(name.split()).casefold()
        same = [each for each in holding if each.title.casefold() == titled]
        if len(same) == 1:
            return same[0]
        if same:
            raise InvalidError(
                f"{len(same)} memories are titled '{name}': {listed(same)}.", hint="Give the id."
            )
        raise NotFoundError(
            f"There is no memory '{name}'.",
            hint=f"There are: {listed(holding)}." if holding else "Nothing is remembered yet.",
        )

    def sides(self, record: Record, others: Sequence[Record]) -> str:
        """Show what contradicts each other, with ids and days."""
        return "\n".join(
            f"{each.id} ({self.calendar.day(each.said)}): {told(each.text)}"
            for each in (*others, record)
        )


_MOST_LISTED = 8
_LONGEST_TOLD = 300


def told(text: str) -> str:
    """Return a text on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TOLD else f"{line[: _LONGEST_TOLD - 1]}…"


def listed(records: Sequence[Record]) -> str:
    """Name memories in a sentence."""
    shown = ", ".join(f"{each.id} '{each.title}'" for each in records[:_MOST_LISTED])
    more = len(records) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
