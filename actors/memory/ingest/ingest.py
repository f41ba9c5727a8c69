"""The work between catalogue and index: embed and put, take out, repair, swap.

Everything it knows is in the catalogue's queues and in the index, so it can be killed anywhere:
what wasn't noted as done is done again, under the same ids, with the vectors that are there.
"""

import msgspec

from actors.memory.catalogue import Catalogue, Entry
from actors.memory.ingest.serving import Embedding, Indexes, Numbered
from actors.memory.points import WITHOUT_VECTORS
from actors.memory.work import batches

_WINDOW = 128
"""Chunks among which those of like length are embedded together."""
_REMOVED_AT_ONCE = 512
_MOST_REMOVALS = 256
"""From so many dead chunks on they go before others come: they take places in every search."""
_TIDY_AFTER = 5000
"""Chunks put since the last time, from which on tidying pays; done when nothing waits."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far it is."""

    done: int
    """Chunks put since this object was made."""
    waiting: int
    """Chunks that aren't in the index yet: of the one that is built, if there's one."""
    building: bool
    """Whether an index is built to take the place of the present one."""


class Ingest:
    """Does the work. For one thread, the same that searches the index."""

    def __init__(self, catalogue: Catalogue, indexes: Indexes, embedding: Embedding | None) -> None:
        """Look at what is there; repairing begins with the first step.

        Args:
            catalogue: What there is.
            indexes: Where it goes. They may be exchanged at any time.
            embedding: Bulk work of the embedder; None if there's none.
        """
        self._catalogue = catalogue
        self._indexes = indexes
        self._embedding = embedding
        self._known: tuple[Numbered, ...] = ()
        self._serving: int | None = None
        self._plans: dict[int, list[list[int]]] = {}
        self._untidy: dict[int, int] = {}
        self._done = 0
        self._align()

    @property
    def embedding(self) -> Embedding | None:
        """The embedder; to be set when one comes or goes."""
        return self._embedding

    @embedding.setter
    def embedding(self, embedding: Embedding | None) -> None:
        self._embedding = embedding
        self._align()

    def step(self) -> bool:
        """Do one bounded piece of work.

        Returns:
            False if there's nothing to do until something is offered or taken back.

        Raises:
            StorageError: Index or catalogue can't be used; nothing is lost, try again.
            UnavailableError: The embedder or the index's server is away; the same.
        """
        self._align()
        slots = self._slots()
        return (
            any(self._remove(slot, _MOST_REMOVALS) for slot in slots)
            or any(self._put(slot) for slot in slots)
            or any(self._remove(slot, 1) for slot in slots)
            or self._finish()
        )

    def progress(self) -> Progress:
        """Return how far it is."""
        building = self._indexes.building
        watched = building or self._indexes.serving
        return Progress(
            done=self._done,
            waiting=0 if watched is None else self._catalogue.queue.waiting(watched.number),
            building=building is not None,
        )

    def _slots(self) -> list[Numbered]:
        return [slot for slot in (self._indexes.serving, self._indexes.building) if slot]

    def _align(self) -> None:
        """Let the catalogue know the indexes as they are, and compare those that are new to us."""
        slots = tuple(self._slots())
        queue = self._catalogue.queue
        # Not by number alone: an index made anew may have the number of one that was damaged.
        if slots != self._known:
            queue.keep(slot.number for slot in slots)
            for slot in slots:
                if slot not in self._known:
                    queue.watch(slot.number)
                    queue.compare(slot.number, slot.index.ids())
            self._plans.clear()
            self._known = slots
        serving = self._indexes.serving
        fed = serving.number if serving and serving.takes(self._embedding) else None
        if fed != self._serving or fed is None:
            # Without an index that takes them, new versions mustn't wait for one.
            queue.serve(fed)
            self._serving = fed

    def _put(self, slot: Numbered) -> bool:
        if not slot.takes(self._embedding):
            return False
        ids = self._next_batch(slot.number)
        if not ids:
            return False
        entries = list(self._catalogue.entries(ids, live=False).values())
        vectors = self._vectors(slot, entries)
        slot.index.put([entry.point(vectors.get(entry.id)) for entry in entries])
        self._catalogue.queue.put(slot.number, entries)
        self._done += len(entries)
        self._untidy[slot.number] = self._untidy.get(slot.number, 0) + len(entries)
        return True

    def _next_batch(self, number: int) -> list[int]:
        queue = self._catalogue.queue
        plan = self._plans.setdefault(number, [])
        first = queue.window(number, 1)
        if not first:
            plan.clear()
            return []
        if not any(first[0][0] in ids for ids in plan):
            plan.clear()  # Something more urgent has come.
        while plan:
            ids = plan.pop(0)
            waiting = queue.waits(number, ids)
            if waiting:
                return [id_ for id_ in ids if id_ in waiting]
        window = queue.window(number, _WINDOW)
        found = batches(["x" * length for _, length in window])
        plan.extend([window[position][0] for position in batch] for batch in found)
        return plan.pop(0)

    def _vectors(self, slot: Numbered, entries: list[Entry]) -> dict[int, bytes]:
        if slot.index.identity == WITHOUT_VECTORS:
            return {}
        ids = [entry.id for entry in entries]
        found = self._known_vectors(slot, ids)
        missing = [entry for entry in entries if entry.id not in found]
        if missing and self._embedding is not None:
            texts = list(dict.fromkeys(entry.embedded for entry in missing))
            vectors = dict(zip(texts, self._embedding.embed(texts), strict=True))
            found.update((entry.id, vectors[entry.embedded]) for entry in missing)
        return found

    def _known_vectors(self, slot: Numbered, ids: list[int]) -> dict[int, bytes]:
        """Vectors that needn't be computed: of the same chunk or of another with the same text."""
        found: dict[int, bytes] = {}
        for source in self._slots():
            if source.index.identity != slot.index.identity:
                continue
            twins = self._catalogue.queue.twins(source.number, ids)
            vectors = source.index.vectors({*ids, *twins.values()})
            for id_ in ids:
                vector = vectors.get(id_) or vectors.get(twins.get(id_, 0))
                if vector and id_ not in found:
                    found[id_] = vector
        return found

    def _remove(self, slot: Numbered, least: int) -> bool:
        ids = self._catalogue.queue.leaving(slot.number, _REMOVED_AT_ONCE)
        if len(ids) < least:
            return False
        slot.index.remove(ids)
        self._catalogue.queue.left(slot.number, ids)
        return True

    def _finish(self) -> bool:
        """Tidy what has grown, and let what was built serve."""
        for slot in self._slots():
            if self._untidy.get(slot.number, 0) >= _TIDY_AFTER:
                self._untidy[slot.number] = 0
                slot.index.tidy()
                return True
        building = self._indexes.building
        if building is None or self._catalogue.queue.waiting(building.number):
            return False
        self._indexes.swap()
        self._align()
        return True
