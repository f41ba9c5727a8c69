"""From a question to the chunks that fit it, whatever state index and embedder are in.

The index proposes candidates, by likeness and by words. They are ordered anew by their cosine and
by how much of the question's words they have, rare ones weighing more: fusing ranks, as indexes do
it, throws away how much better the first is than the second, and found fewer answers among five
(0.82 against 0.88, by the tuning half of ``tests/data/recall``).

What the index hasn't got yet is looked for by words in the catalogue, so that nothing is missed
only because it's new or because the index is being made anew.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from actors.memory.catalogue import Catalogue, Entry
from actors.memory.ingest import Embedding, Indexes, Numbered
from actors.memory.points import WITHOUT_VECTORS, Scored, Wanted
from eris.errors import ErisError

COVERAGE_WEIGHT = 0.7
"""What all of a question's words count, where 1 is the cosine of equal texts. Answers among five
on the tuning half: 0.83 with 0.35, 0.86 with 0.5, 0.88 with 0.7, 0.87 with 0.8."""

TYPICAL_BACKGROUND = 0.1
"""Cosine of a question with just any text; of one that has no vector yet."""

_LEAST_FETCHED = 32
_FETCHED_FACTOR = 3
_MOST_FETCHED = 2000
"""Points asked for at most, when many of those found are of texts that have changed since."""
_MOST_EMBEDDED = 8
"""Chunks without a vector that are embedded while somebody waits."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that was found."""

    entry: Entry
    score: float
    """Higher is better: cosine and coverage, weighed; without vectors, between 0 and 1."""
    parts: dict[str, float] = {}
    """Where it comes from: see `proto.memory.HitView`."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, best first, and how."""

    found: list[Found]
    mode: str
    """``hybrid`` or ``words``."""
    note: str = ""
    vector: bytes | None = None
    """Of the question, where there's an embedder."""


class Finder:
    """Finds chunks. For one thread, the same that changes the index."""

    def __init__(self, catalogue: Catalogue, indexes: Indexes, embedding: Embedding | None) -> None:
        self._catalogue = catalogue
        self._indexes = indexes
        self.embedding = embedding
        """For questions; to be set when an embedder comes or goes."""

    def find(self, text: str, wanted: Wanted, limit: int) -> Findings:
        """Return what fits a text best: more than asked for, where there's more."""
        slot = self._indexes.serving
        vector, note = self._question(slot, text)
        if slot is None:
            return self._by_words(None, text, wanted, limit, note)
        try:
            if vector is None:
                return self._by_words(slot, text, wanted, limit, note)
            # Asked first: what comes into the index meanwhile is found in it.
            waiting = self._catalogue.queue.waiting(slot.number)
            missing = self.missing(text, wanted, limit) if waiting else []
            found = self._from_index(
                lambda number: slot.index.hybrid(vector, text, wanted, number), wanted, limit
            )
            weighed = self._weighed(vector, text, found, missing)
        except ErisError as error:
            note = f"The index can't be searched, so this was found by words alone: {error.message}"
            return self._by_words(None, text, wanted, limit, note)
        if waiting:
            note = f"{_pieces(waiting)} in the index yet, and looked for by words alone."
        by_vectors = any("fused" in each.parts for each in weighed) or not weighed
        return Findings(
            found=weighed, mode="hybrid" if by_vectors else "words", note=note, vector=vector
        )

    def dense(self, vector: bytes, wanted: Wanted, limit: int) -> list[Found]:
        """Return what is nearest to a vector of the serving index's kind; scores are cosines."""
        slot = self._indexes.serving
        if slot is None or slot.index.identity == WITHOUT_VECTORS:
            return []
        return self._from_index(
            lambda number: slot.index.dense(vector, wanted, number), wanted, limit
        )

    def question(self, text: str) -> bytes | None:
        """Return the vector of a text if the serving index can be searched with it."""
        return self._question(self._indexes.serving, text)[0]

    def cosines(self, vector: bytes, entries: Sequence[Entry]) -> dict[int, float]:
        """Return how like a question chunks are, those without a vector not.

        A few that the index hasn't got yet are embedded for it, if the embedder is there.
        """
        slot = self._indexes.serving
        if slot is None or slot.index.identity == WITHOUT_VECTORS:
            return {}
        vectors = slot.index.vectors([entry.id for entry in entries])
        missing = [entry for entry in entries if entry.id not in vectors][:_MOST_EMBEDDED]
        if missing and self.embedding is not None:
            made = self.embedding.embed([entry.embedded for entry in missing])
            vectors |= {entry.id: each for entry, each in zip(missing, made, strict=True)}
        if not vectors:
            return {}
        matrix = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(len(vectors), -1)
        return dict(zip(vectors, (matrix @ np.frombuffer(vector, "<f4")).tolist(), strict=True))

    def vectors(self, entries: Sequence[Entry]) -> list[bytes]:
        """Return those vectors of chunks that the serving index has."""
        slot = self._indexes.serving
        if slot is None or slot.index.identity == WITHOUT_VECTORS:
            return []
        return list(slot.index.vectors([entry.id for entry in entries]).values())

    def missing(self, text: str, wanted: Wanted, limit: int) -> list[Entry]:
        """Return what has words of a text and isn't in the serving index yet."""
        slot = self._indexes.serving
        if slot is None or not self._catalogue.queue.waiting(slot.number):
            return []
        scored = self._catalogue.words.search(text, wanted, _fetched(limit), missing_in=slot.number)
        return list(self._live(scored, wanted))

    def explained(self, found: Sequence[Found], text: str, wanted: Wanted) -> list[Found]:
        """Return what was found with what the index says of its words."""
        slot = self._indexes.serving
        if slot is None:
            return list(found)
        scored = slot.index.words(text, wanted, _MOST_FETCHED)
        words = {each.id: {"words": each.score} for each in scored}
        return [
            msgspec.structs.replace(each, parts=words.get(each.entry.id, {}) | each.parts)
            for each in found
        ]

    def _weighed(
        self, vector: bytes, text: str, found: Sequence[Found], missing: Sequence[Entry]
    ) -> list[Found]:
        """Candidates in order of cosine and coverage."""
        fused = {each.entry.id: {"fused": each.score} for each in found}
        entries = [each.entry for each in found]
        entries += [entry for entry in missing if entry.id not in fused]
        cosines = self.cosines(vector, entries)
        coverage = self._catalogue.words.coverage(text, entries)
        weighed = [
            Found(
                entry=entry,
                score=cosines.get(entry.id, TYPICAL_BACKGROUND)
                + COVERAGE_WEIGHT * coverage[entry.id],
                parts=fused.get(entry.id, {})
                | {"coverage": coverage[entry.id]}
                | _part("dense", cosines.get(entry.id)),
            )
            for entry in entries
        ]
        return sorted(weighed, key=lambda each: (-each.score, each.entry.id))

    def _question(self, slot: Numbered | None, text: str) -> tuple[bytes | None, str]:
        """The question's vector, or why there's none."""
        if self.embedding is None:
            return None, "There's no embedder, so this was found by words alone."
        if slot is None:
            return None, "There's no index yet, so this was found by words alone."
        if slot.index.identity == WITHOUT_VECTORS:
            return None, "The index has no vectors, so this was found by words alone."
        if slot.index.identity != self.embedding.identity:
            return None, (
                "The index was made with another embedder and is being made anew; until that's"
                " done things are found by words alone."
            )
        try:
            return self.embedding.embed([text])[0], ""
        except ErisError as error:
            return None, f"The embedder is away, so this was found by words alone: {error.message}"

    def _by_words(
        self, slot: Numbered | None, text: str, wanted: Wanted, limit: int, note: str
    ) -> Findings:
        """Find by words: in the index if it has everything, in the catalogue otherwise."""
        if slot is not None and not self._catalogue.queue.waiting(slot.number):
            found = self._from_index(
                lambda number: slot.index.words(text, wanted, number), wanted, limit
            )
            scored = [Scored(id=each.entry.id, score=each.score) for each in found]
            entries = [each.entry for each in found]
        else:
            scored = self._catalogue.words.search(text, wanted, _fetched(limit))
            entries = list(self._live(scored, wanted))
        scores = {each.id: each.score for each in scored}
        coverage = self._catalogue.words.coverage(text, entries)
        best = max(scores.values(), default=1.0) or 1.0
        top = max(coverage.values(), default=0.0)
        return Findings(
            found=[
                Found(
                    entry=entry,
                    score=top * scores[entry.id] / best,
                    parts={"words": scores[entry.id], "coverage": coverage[entry.id]},
                )
                for entry in entries
            ],
            mode="words",
            note=note,
        )

    def _from_index(
        self, search: Callable[[int], list[Scored]], wanted: Wanted, limit: int
    ) -> list[Found]:
        number = _fetched(limit)
        while True:
            scored = search(number)
            entries = list(self._live(scored, wanted))
            if len(entries) >= limit or len(scored) < number or number >= _MOST_FETCHED:
                scores = {each.id: each.score for each in scored}
                return [
                    Found(entry=e, score=scores[e.id], parts={"fused": scores[e.id]})
                    for e in entries
                ]
            number = min(_MOST_FETCHED, 4 * number)

    def _live(self, scored: Sequence[Scored], wanted: Wanted) -> Iterable[Entry]:
        """The chunks that may be found, in this order."""
        entries = self._catalogue.entries([each.id for each in scored])
        for each in scored:
            entry = entries.get(each.id)
            # The index may not know yet that a note has moved.
            if entry is not None and fits(entry, wanted):
                yield entry


def fits(entry: Entry, wanted: Wanted) -> bool:
    """Tell whether a chunk is of those that are looked at."""
    return (
        (not wanted.kinds or entry.kind in wanted.kinds)
        and (not wanted.source or entry.key == wanted.source)
        and (not wanted.folder or wanted.folder in entry.folders)
        and set(wanted.tags) <= set(entry.tags)
        and (not wanted.first_day or entry.day >= wanted.first_day)
        and (not wanted.last_day or 0 < entry.day <= wanted.last_day)
    )


def cosine(one: bytes, other: bytes) -> float:
    """Return the likeness of two unit vectors."""
    return float(np.dot(np.frombuffer(one, "<f4"), np.frombuffer(other, "<f4")))


def _fetched(limit: int) -> int:
    return max(_LEAST_FETCHED, _FETCHED_FACTOR * limit)


def _part(name: str, value: float | None) -> dict[str, float]:
    return {} if value is None else {name: value}


def _pieces(number: int) -> str:
    return "One piece of text isn't" if number == 1 else f"{number} pieces of text aren't"
