"""Keeps the right vector index in service: opens it, builds another beside it, fills it.

The thread that fills an index is the one that writes to it and tidies it; others only search.
"""

import threading
from collections.abc import Callable
from contextlib import suppress

from actors.memory.catalogue import Catalogue
from actors.memory.index import Indexes
from actors.memory.ingest import Embedding, Ingest, Numbered
from actors.memory.points import WITHOUT_VECTORS
from actors.memory.recall.floor import FloorKeeper
from eris.errors import ErisError, StorageError

MOST_FAILURES = 3
"""So often in a row the index fails before it's looked at whether it can be read at all."""


class SharedIndexes:
    """The indexes, once they can be opened, for several threads."""

    def __init__(self, open_indexes: Callable[[], Indexes]) -> None:
        """Create it; nothing is opened yet."""
        self._open = open_indexes
        self._lock = threading.RLock()
        self._inner: Indexes | None = None

    def opened(self) -> Indexes:
        """Return them; for the thread that fills them.

        Raises:
            UnavailableError: The server that has one is away.
            StorageError: Their folder can't be used.
        """
        with self._lock:
            if self._inner is None:
                self._inner = self._open()
            return self._inner

    @property
    def serving(self) -> Numbered | None:
        """The one that is searched."""
        return self._inner.serving if self._inner else None

    @property
    def building(self) -> Numbered | None:
        """The one that isn't complete yet."""
        return self._inner.building if self._inner else None

    @property
    def damage(self) -> str:
        """What couldn't be opened, as a sentence."""
        return self._inner.damage if self._inner else ""

    @property
    def place(self) -> str:
        """Where the one that serves is; empty if none does."""
        entry = self._inner.entries[0] if self._inner else None
        return entry.backend if entry else ""

    def swap(self) -> None:
        """Let the one that was built serve."""
        with self._lock:
            self.opened().swap()

    def close(self) -> None:
        """Let go of them."""
        with self._lock:
            if self._inner is not None:
                self._inner.close()


class IndexKeeper:
    """Does what has to be done with the indexes. For one thread, but for what is said."""

    def __init__(
        self,
        catalogue: Catalogue,
        indexes: SharedIndexes,
        floor: FloorKeeper,
        *,
        embedding: Callable[[], tuple[Embedding, int] | None],
        hopeless: Callable[[], bool],
        wanted_place: str,
    ) -> None:
        """Create it.

        Args:
            catalogue: What there is.
            indexes: Where it goes.
            floor: Is to be learned.
            embedding: Returns the embedder for bulk work and its dimensions, if it's loaded.
            hopeless: Whether there won't be one, as far as is known now.
            wanted_place: The setting: where the index has to be.
        """
        self._catalogue = catalogue
        self._indexes = indexes
        self._floor = floor
        self._embedding = embedding
        self._hopeless = hopeless
        self._place = wanted_place
        self._anew = False
        self._ingest: Ingest | None = None
        self._failures = 0

    def rebuild(self, place: str) -> None:
        """Have the index built anew beside the present one. From any thread.

        Args:
            place: Where; empty for where it is.
        """
        if place:
            self._place = place
        self._anew = True

    def waiting(self) -> int:
        """Return how many chunks aren't in the index yet. From any thread."""
        slot = self._indexes.building or self._indexes.serving
        if slot is None:
            return self._catalogue.counts().chunks
        return self._catalogue.queue.waiting(slot.number)

    def step(self) -> bool:
        """Do one bounded piece of work.

        Returns:
            Whether there's more to do right now.

        Raises:
            StorageError: Index or catalogue can't be used; nothing is lost.
            UnavailableError: The embedder or the index's server is away; the same.
        """
        indexes = self._indexes.opened()
        found = self._embedding()
        if self._ingest is None:
            self._ingest = Ingest(self._catalogue, self._indexes, found[0] if found else None)
        elif (found[0] if found else None) != self._ingest.embedding:
            self._ingest.embedding = found[0] if found else None
        self._begin_if_needed(indexes, found)
        try:
            more = self._ingest.step()
        except StorageError as error:
            self._failed(indexes, error)
            raise
        self._failures = 0
        return more or self._floor.step()

    def _begin_if_needed(self, indexes: Indexes, found: tuple[Embedding, int] | None) -> None:
        """Begin to build what should serve, if nothing of that kind serves or is being built."""
        if found is None and not self._hopeless():
            return  # The embedder is being loaded.
        serving, building = indexes.entries
        wanted = found[0].identity if found else WITHOUT_VECTORS
        if found is None and serving is not None:
            # Its vectors will be wanted again; until then its words are searched.
            wanted = serving.identity
        if not self._anew:
            for entry in (building, serving):
                if entry and (entry.identity, entry.backend) == (wanted, self._place):
                    return
        indexes.begin(wanted, found[1] if found else 0, self._place)
        self._anew = False

    def _failed(self, indexes: Indexes, error: StorageError) -> None:
        """Give up an index that can't even be counted any more: another is built then."""
        self._failures += 1
        serving = indexes.serving
        if self._failures < MOST_FAILURES or serving is None:
            return
        self._failures = 0
        try:
            serving.index.count()
        except StorageError:
            with suppress(ErisError):
                indexes.give_up_serving(error.message)
