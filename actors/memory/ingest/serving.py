"""What ingest and recall need of an embedder and of the indexes: small interfaces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.memory.points import WITHOUT_VECTORS, VectorIndex


@dataclass(frozen=True)
class Embedding:
    """An embedder that is there."""

    identity: str
    """As an index made with it has it."""
    embed: Callable[[Sequence[str]], list[bytes]]
    """Return a unit vector for each text; raises what says that there's no embedder any more."""


@dataclass(frozen=True)
class Numbered:
    """A vector index, and the number that the catalogue knows it by."""

    number: int
    index: VectorIndex

    def takes(self, embedding: Embedding | None) -> bool:
        """Tell whether chunks can be put into it: by this embedder, or without vectors."""
        identity = self.index.identity
        return identity == WITHOUT_VECTORS or (
            embedding is not None and identity == embedding.identity
        )


class Indexes(Protocol):
    """The index that serves and the one that is built to take its place."""

    @property
    def serving(self) -> Numbered | None:
        """The one that is searched."""

    @property
    def building(self) -> Numbered | None:
        """The one that isn't complete yet."""

    def swap(self) -> None:
        """Let the one that was built serve, and delete the other; all or nothing."""
