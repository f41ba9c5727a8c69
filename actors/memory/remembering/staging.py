"""Takes in what is to be remembered, and finds out what it is to what is known already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.memory.remembering.committing import Committing
from actors.memory.remembering.desk import Desk, told
from actors.memory.remembering.grounds import unsupported
from actors.memory.remembering.likeness import Judgement, Relation, judged, restated
from actors.memory.remembering.record import CURRENT, Record, Statement, title_for
from eris.errors import InvalidError
from proto.memory import MemoryChanged, MemoryState

_ORDER = (Relation.SAME, Relation.CONTRADICTION, Relation.UPDATE)


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be remembered."""

    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    quote: str = ""
    """The words it comes from: what it says must have a ground in them."""
    session: str = ""
    turn: str = ""
    origin: str = ""
    """Where untrusted text that may have caused it comes from; empty for none."""
    tainted: bool = False
    """Whether untrusted text, or somebody else than the user, may have caused it."""


@dataclass(frozen=True)
class _Matches:
    relation: Relation
    judgement: Judgement | None
    records: tuple[Record, ...]


class Staging:
    """Stages and approves. For one thread at a time."""

    def __init__(self, desk: Desk, committing: Committing) -> None:
        self._desk = desk
        self._committing = committing

    def stage(
        self,
        fact: Fact,
        key: str,
        recalled: Sequence[str],
        core: Sequence[str],
        cosines: Mapping[int, float],
    ) -> MemoryChanged:
        """Keep a fact; see `Memories.stage`."""
        repeated = self._desk.repeated(key)
        if repeated:
            return repeated
        text = fact.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()
        if not text:
            raise InvalidError("There is nothing to remember.", hint="Give the fact as text.")
        fact = replace(fact, text=text, title=" ".join(fact.title.split()), tags=_tags(fact.tags))
        among = (MemoryState.WAITING,) if fact.tainted else CURRENT
        matches = self._matched(text, cosines, among)
        if matches.relation is Relation.SAME and matches.judgement:
            return self._again(fact, key, matches.records[0], whole=matches.judgement.whole)
        self._check(fact, recalled, core)
        if fact.tainted:
            return self._stage(fact, key, MemoryState.WAITING)
        if matches.relation is Relation.UPDATE:
            return self._update(fact, key, matches.records[0])
        return self._stage(fact, key, MemoryState.STAGED, matches.records)

    def approve(self, name: str, key: str, cosines: Mapping[int, float]) -> MemoryChanged:
        """Let the user say yes to what untrusted text caused; see `Memories.approve`."""
        repeated = self._desk.repeated(key)
        if repeated:
            return repeated
        record = self._desk.found(name)
        if record.state is not MemoryState.WAITING:
            raise InvalidError(
                f"{record.id} doesn't wait for a yes: it's {record.state}.",
                hint="eris memory list shows which do.",
            )
        matches = self._matched(record.text, cosines, CURRENT)
        if matches.relation is Relation.SAME:
            known = f"It's known already, as {matches.records[0].id}."
            dropped = replace(record, state=MemoryState.FORGOTTEN)
            return self._desk.keep(key, [dropped], f"dropped {record.id}", known)
        now = self._desk.calendar.clock()
        staged = replace(
            record,
            state=MemoryState.STAGED,
            expires=now + self._desk.lifetime,
            told=0,
            contradicts=tuple(each.number for each in matches.records),
        )
        return self._desk.keep(
            key,
            [staged],
            f"approved {record.id}: {told(record.text)}",
            self._question(staged, matches.records),
        )

    def _check(self, fact: Fact, recalled: Sequence[str], core: Sequence[str]) -> None:
        known = restated(fact.text, core)
        if not known and not restated(fact.text, (fact.quote,)):
            known = restated(fact.text, recalled)
        if known:
            raise InvalidError(
                f"That is known already, it says: {told(known)}",
                hint="Only what the user says anew is kept. Nothing was saved.",
            )
        problem = unsupported(fact.text, fact.quote)
        if problem:
            raise InvalidError(
                f"The user didn't say that: {problem}.",
                hint="Keep only what they said, in their own words and language. "
                "Nothing was saved.",
            )

    def _matched(
        self, text: str, cosines: Mapping[int, float], among: Sequence[MemoryState]
    ) -> _Matches:
        """Find what the text is to memories in some states: the gravest relation, and with which.

        Said already goes before contradicting: then it's recorded that it does.
        """
        found: dict[Relation, list[tuple[Record, Judgement]]] = {}
        for record in self._desk.store.all(among):
            judgement = judged(text, record.text, cosines.get(record.number))
            found.setdefault(judgement.relation, []).append((record, judgement))
        for relation in _ORDER:
            if relation in found:
                records = tuple(record for record, _ in found[relation])
                return _Matches(relation, found[relation][0][1], records)
        return _Matches(Relation.UNRELATED, None, ())

    def _stage(
        self, fact: Fact, key: str, state: MemoryState, others: Sequence[Record] = ()
    ) -> MemoryChanged:
        now = self._desk.calendar.clock()

        def work() -> MemoryChanged:
            number = self._desk.store.next_number()
            record = Record(
                number=number,
                state=state,
                title=fact.title or title_for(fact.text, number),
                text=fact.text,
                titled=bool(fact.title),
                tags=fact.tags,
                quote=fact.quote,
                created=now,
                said=now,
                mentioned=now,
                expires=now + self._desk.lifetime,
                session=fact.session,
                turn=fact.turn,
                origin=fact.origin,
                contradicts=tuple(each.number for each in others),
            )
            waits = state is MemoryState.WAITING
            receipt = (
                f"put aside {record.id} until you approve it: {told(record.text)}"
                if waits
                else f"remembered {record.id}: {told(record.text)}"
            )
            note = self._waits(record) if waits else self._question(record, others)
            return self._desk.keep(key, [record], receipt, note)

        return self._desk.store.transaction(work)

    def _again(self, fact: Fact, key: str, record: Record, *, whole: bool) -> MemoryChanged:
        """Count what was said again; its newest wording holds, where it says no less."""
        now = self._desk.calendar.clock()
        again = replace(record, mentions=record.mentions + 1, mentioned=now)
        if record.state is MemoryState.STAGED:
            again = replace(again, expires=now + self._desk.lifetime, told=0)
            if whole:
                again = replace(
                    again,
                    text=fact.text,
                    title=_title(record, fact),
                    titled=record.titled or bool(fact.title),
                    tags=_tags((*record.tags, *fact.tags)),
                )
        waits = record.state is MemoryState.WAITING
        day = self._desk.calendar.day(record.said)
        return self._desk.keep(
            key,
            [again],
            f"noted that {record.id} was said again: {told(again.text)}",
            self._waits(record) if waits else f"It's known since {day} as {record.id}.",
        )

    def _update(self, fact: Fact, key: str, record: Record) -> MemoryChanged:
        """Let a memory say more; what it said before goes to its history."""
        now = self._desk.calendar.clock()
        before = Statement(record.text, self._desk.calendar.moment(record.said), record.id)
        updated = replace(
            record,
            text=fact.text,
            title=_title(record, fact),
            titled=record.titled or bool(fact.title),
            tags=_tags((*record.tags, *fact.tags)),
            quote=fact.quote or record.quote,
            said=now,
            mentioned=now,
            mentions=record.mentions + 1,
            history=(*record.history, before),
        )
        receipt = f"updated {record.id}: {told(fact.text)}"
        note = f"Before, it said: {told(record.text)}"
        if record.state is MemoryState.COMMITTED:
            return self._committing.revise(updated, before, key, receipt, note)
        updated = replace(updated, expires=now + self._desk.lifetime, told=0)
        return self._desk.keep(key, [updated], receipt, note)

    def _waits(self, record: Record) -> str:
        source = f" ({record.origin})" if record.origin else ""
        return (
            f"It may come from text of others{source}, so it isn't remembered before the user "
            f"says yes with: eris memory approve {record.id}"
        )

    def _question(self, record: Record, others: Sequence[Record]) -> str:
        if not others:
            return ""
        other = others[0].id
        return (
            "This contradicts what is remembered; both sides:\n"
            f"{self._desk.sides(record, others)}\n"
            f"Ask the user which holds. If {record.id} replaces {other}, commit {record.id} with "
            f"replaces {other}. If both hold, commit {record.id} with keep_both. If {other} holds, "
            f"forget {record.id}."
        )


def _title(record: Record, fact: Fact) -> str:
    if fact.title:
        return fact.title
    return record.title if record.titled else title_for(fact.text, record.number)


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as Obsidian knows them, each once."""
    plain = ("-".join(tag.strip().lstrip("#").split()) for tag in tags)
    return tuple(dict.fromkeys(tag for tag in plain if tag))
