"""Turns memories into notes, and takes them back: the plans, which `NoteWorks` carries out."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from actors.memory.remembering import note as notes
from actors.memory.remembering.desk import Desk, told
from actors.memory.remembering.placing import Place, earlier, stem
from actors.memory.remembering.record import HOLDING, Record, Statement, number_of, title_for
from actors.memory.remembering.store import NoteWrite, Work
from eris.errors import ConflictError, DeniedError, ErisError, InvalidError
from eris.vault.titles import name_for_title
from proto.errors import ErrorCode
from proto.memory import MemoryChanged, MemoryState, MemoryView


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that wasn't committed."""

    memory: MemoryView
    why: str


class CommittedAll(msgspec.Struct, frozen=True, kw_only=True):
    """What was committed, and what wasn't."""

    committed: tuple[MemoryView, ...]
    left: tuple[Left, ...]


class Committing:
    """Commits and forgets. For one thread at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def commit(self, name: str, key: str, *, replaces: str, keep_both: bool) -> MemoryChanged:
        """Write the note of a memory; see `Memories.commit`."""
        repeated = self._desk.repeated(key)
        if repeated:
            return repeated

        def plan(attempt: int) -> Work:
            record = self._committable(name)
            old = self._replaced(record, replaces) if replaces else None
            others = self._desk.contradicted(record)
            if others and old is None and not keep_both:
                raise ConflictError(
                    f"{record.id} contradicts what is remembered:\n"
                    f"{self._desk.sides(record, others)}",
                    hint=f"Ask the user which holds. Then commit {record.id} with replaces "
                    f"{others[0].id}, or with keep_both, or forget {record.id}.",
                )
            if old is not None:
                return self._replacing(record, old, key, attempt)
            committed = replace(
                record, state=MemoryState.COMMITTED, expires=0, contradicts=_numbers(others)
            )
            writes, committed = self._new_note(committed, committed.history, key, attempt)
            receipt = f"saved {record.id} in {committed.path}"
            return self._work(key, writes, (committed,), receipt, told(record.text))

        return self._run(plan)

    def commit_all(self, key: str) -> CommittedAll:
        """Commit what needs no question; see `Memories.commit_all`."""
        result = self._desk.store.result(key)
        if result:
            return msgspec.json.decode(result, type=CommittedAll)
        before = self._desk.store.results(f"{key}/")
        committed = [msgspec.json.decode(each, type=MemoryChanged).memory for each in before]
        left: list[Left] = []
        pending = self._desk.store.all((MemoryState.STAGED, MemoryState.WAITING))
        for record in reversed(pending):
            why = self._why_left(record)
            if not why:
                try:
                    done = self.commit(
                        record.id, f"{key}/{record.id}", replaces="", keep_both=False
                    )
                except ErisError as error:
                    why = f"{error.message} {error.hint}".strip()
                else:
                    committed.append(done.memory)
                    continue
            left.append(Left(memory=self._desk.view(record), why=why))
        answer = CommittedAll(committed=tuple(committed), left=tuple(left))
        self._desk.store.transaction(
            lambda: self._desk.store.keep_result(key, msgspec.json.encode(answer))
        )
        return answer

    def forget(self, name: str, key: str) -> MemoryChanged:
        """Take a memory back; see `Memories.forget`."""
        repeated = self._desk.repeated(key)
        if repeated:
            return repeated

        def plan(attempt: int) -> Work:
            record = self._desk.found(name)
            forgotten = replace(record, state=MemoryState.FORGOTTEN, expires=0)
            paths = (record.path, *earlier(record.path))
            writes = tuple(
                NoteWrite(path=path, trash=True, key=_key(key, f"{attempt}.{position}"))
                for position, path in enumerate(paths)
            )
            receipt = f"forgot {record.id}: {told(record.text)}"
            note = f"Its note {record.path} is in the trash."
            return self._work(key, writes, (forgotten,), receipt, note)

        record = self._desk.found(name)
        if record.state is MemoryState.COMMITTED:
            return self._run(plan)
        if record.state not in HOLDING:
            return self._desk.changed(record, note=f"{record.id} was {record.state} already.")
        forgotten = replace(record, state=MemoryState.FORGOTTEN, expires=0)
        return self._desk.keep(key, [forgotten], f"forgot {record.id}: {told(record.text)}")

    def revise(
        self, record: Record, before: Statement, key: str, receipt: str, note: str
    ) -> MemoryChanged:
        """Let a committed memory say something else."""

        def plan(attempt: int) -> Work:
            writes, revised = self._changed_note(record, before, key, attempt)
            return self._work(key, writes, (revised,), f"{receipt} in {revised.path}", note)

        return self._run(plan)

    def _run(self, plan: Callable[[int], Work]) -> MemoryChanged:
        return msgspec.json.decode(self._desk.works.run(plan), type=MemoryChanged)

    def _committable(self, name: str) -> Record:
        record = self._desk.found(name)
        if record.state is MemoryState.WAITING:
            raise DeniedError(
                f"{record.id} waits for the user's yes: it may come from text of others.",
                hint=f"The user can say yes with: eris memory approve {record.id}",
            )
        if record.state is MemoryState.COMMITTED:
            raise InvalidError(
                f"{record.id} is committed already: {record.path}.", hint="There's nothing to do."
            )
        if record.state is not MemoryState.STAGED:
            raise InvalidError(
                f"{record.id} can't be committed: it was {record.state}.",
                hint="Stage it anew if it holds.",
            )
        return record

    def _replaced(self, record: Record, name: str) -> Record:
        old = self._desk.found(name)
        if old.number == record.number:
            raise InvalidError(f"{old.id} can't replace itself.", hint="Name the other memory.")
        if old.state not in {MemoryState.STAGED, MemoryState.COMMITTED}:
            raise InvalidError(
                f"{old.id} can't be replaced: it's {old.state}.", hint="Leave replaces out."
            )
        return old

    def _replacing(self, record: Record, old: Record, key: str, attempt: int) -> Work:
        """Let a memory take the place of another one, whose note becomes its own."""
        before = Statement(old.text, self._desk.calendar.moment(old.said), old.id)
        others = [each for each in self._desk.contradicted(record) if each.number != old.number]
        committed = replace(
            record,
            state=MemoryState.COMMITTED,
            expires=0,
            supersedes=old.number,
            contradicts=_numbers(others),
            history=(*old.history, before, *record.history),
        )
        superseded = replace(old, state=MemoryState.SUPERSEDED, expires=0)
        if old.state is MemoryState.COMMITTED:
            if old.titled and not record.titled:
                committed = replace(committed, title=old.title, titled=True)
            committed = replace(committed, path=old.path)
            writes, committed = self._changed_note(committed, before, key, attempt)
        else:
            writes, committed = self._new_note(committed, committed.history, key, attempt)
        receipt = f"saved {record.id} in {committed.path}, in place of {old.id}"
        return self._work(key, writes, (committed, superseded), receipt, told(record.text))

    def _changed_note(
        self, record: Record, before: Statement, key: str, attempt: int
    ) -> tuple[tuple[NoteWrite, ...], Record]:
        """Return how the note of a memory becomes what it now says."""
        try:
            text, version = self._desk.notes.read(record.path)
        except ErisError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            return self._new_note(record, record.history, key, attempt)
        said = notes.read(text).text
        if self._desk.place.following(record.path) != record.path:
            return self._next_revision(record, key, attempt)
        writes: list[NoteWrite] = []
        if said != record.text:
            # What the user wrote there, and we don't know of yet, mustn't be lost either.
            before = replace(before, text=said or before.text)
            text = notes.changed(text, record, before, self._desk.calendar)
            writes.append(
                NoteWrite(path=record.path, text=text, version=version, key=_key(key, attempt))
            )
        target = self._fitting_path(record, before)
        if target != record.path:
            writes.append(
                NoteWrite(path=record.path, target=target, key=_key(key, f"{attempt}.move"))
            )
        return tuple(writes), replace(record, path=target)

    def _fitting_path(self, record: Record, before: Statement) -> str:
        """Return where a note belongs whose name was taken from what it said before."""
        named = title_for(before.text, number_of(before.memory))
        if record.titled or stem(record.path) != name_for_title(named)[0].removesuffix(".md"):
            return record.path
        here = Place(record.path.rpartition("/")[0])
        return here.first(record.title, lambda path: path != record.path and self._taken(path))

    def _next_revision(
        self, record: Record, key: str, attempt: int
    ) -> tuple[tuple[NoteWrite, ...], Record]:
        following = self._desk.place.following(record.path)
        while self._taken(following):
            following = self._desk.place.following(following)
        revised = replace(record, path=following)
        text = self._rendered(revised, record.history)
        return (NoteWrite(path=following, text=text, key=_key(key, attempt)),), revised

    def _new_note(
        self, record: Record, history: Sequence[Statement], key: str, attempt: int
    ) -> tuple[tuple[NoteWrite, ...], Record]:
        path = self._desk.place.first(record.title, self._taken)
        placed = replace(record, path=path)
        text = self._rendered(placed, history)
        return (NoteWrite(path=path, text=text, key=_key(key, attempt)),), placed

    def _rendered(self, record: Record, history: Sequence[Statement]) -> str:
        name = stem(record.path)
        related = notes.links(record.text, self._desk.known_note, record.path)
        return notes.rendered(record, history, self._desk.calendar, name=name, related=related)

    def _work(
        self,
        key: str,
        writes: tuple[NoteWrite, ...],
        records: tuple[Record, ...],
        receipt: str,
        note: str,
    ) -> Work:
        answer = self._desk.changed(records[0], receipt, note)
        return Work(
            key=key,
            writes=writes,
            records=records,
            result=msgspec.json.encode(answer),
        )

    def _why_left(self, record: Record) -> str:
        if record.state is MemoryState.WAITING:
            return f"it waits for the user's yes: eris memory approve {record.id}"
        others = self._desk.contradicted(record)
        if others:
            ids = ", ".join(each.id for each in others)
            return f"it contradicts {ids}; commit it with replaces or keep_both, or forget it"
        return ""

    def _taken(self, path: str) -> bool:
        try:
            self._desk.notes.read(path)
        except ErisError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            return False
        return True


def _key(key: str, attempt: int | str) -> str:
    return f"{key}/note.{attempt}"


def _numbers(records: Sequence[Record]) -> tuple[int, ...]:
    return tuple(each.number for each in records)
