"""What goes into a vector index and what comes out: the one interface of all backends.

The index holds vectors and what it filters by, no texts: those are in the catalogue, under the
same ids. So it's derived, and can be deleted, moved and built anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from proto.memory import Kind

WITHOUT_VECTORS = "words"
"""Identity of an index that has words alone."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk of text."""

    id: int
    """From 1; the chunk's row in the catalogue, never used twice."""
    text: str
    """What its words are taken from: title, headings, tags, then the text itself."""
    vector: bytes | None
    """Unit vector, little-endian float32; None in an index of words alone."""
    kind: Kind
    source: str
    """What it's a piece of: ``note:PATH``, ``memory:ID``, ``document:ID``, ``session:ID``."""
    folders: tuple[str, ...] = ()
    """Every folder above its path: ``a/b/c.md`` has ``a`` and ``a/b``."""
    tags: tuple[str, ...] = ()
    """Folded, with the tags above: ``#work/eris`` has ``work`` and ``work/eris``."""
    day: int = 0
    """Days since 1970-01-01 of when it was written or said; 0 if nobody knows."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a search looks at. Empty or 0: anything."""

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    """All of them."""
    folder: str = ""
    source: str = ""
    first_day: int = 0
    last_day: int = 0


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk that was found."""

    id: int
    score: float
    """Of the search that found it: fused, cosine or BM25."""


class VectorIndex(Protocol):
    """A set of points. One thread writes and tidies; others may search at any time."""

    @property
    def identity(self) -> str:
        """Embedder (name and revision) and dimensions of its vectors, or that it has none."""

    def put(self, points: Sequence[Point]) -> None:
        """Add points, or replace those with the same id. Durable when it returns.

        Raises:
            StorageError: The backend can't; nothing or a part may have been done.
            UnavailableError: A server can't be reached.
        """

    def remove(self, ids: Sequence[int]) -> None:
        """Take points out; ids that aren't there don't matter. Durable when it returns."""

    def hybrid(self, vector: bytes, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness and by words in one query, fused."""

    def dense(self, vector: bytes, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness alone; scores are cosines."""

    def words(self, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by words alone; scores are BM25."""

    def vectors(self, ids: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of points that are there."""

    def count(self) -> int:
        """Return how many points there are."""

    def ids(self) -> Iterator[int]:
        """Go through the ids of all points."""

    def tidy(self) -> None:
        """Make searching faster (build graphs, merge segments); may take long."""

    def close(self) -> None:
        """Write everything down and let go of it."""
