"""The memory's own search over the notes, without processes: catalogue, index, recall."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from actors.memory.catalogue import Catalogue, Source, source_digest
from actors.memory.chunking import NoteChunks
from actors.memory.embedder import MiniLM
from actors.memory.index import EdgeBackend
from actors.memory.ingest import Embedding, Ingest, Numbered
from actors.memory.points import VectorIndex
from actors.memory.recall import Recaller
from proto.memory import HitView, Kind, Recall, SearchMemory
from tests.eval.recall_data import Place

TODAY = dt.date(2026, 6, 30)
"""The day on which the notes' questions are asked."""


@dataclass
class OneIndex:
    """An index that serves, and none being built."""

    serving: Numbered | None
    building: Numbered | None = None

    def swap(self) -> None:
        """Nothing is built, so there's nothing to swap."""


class MemorySearch:
    """Everything that `SearchMemory` and `Recall` go through."""

    def __init__(
        self,
        folder: Path,
        notes: dict[str, NoteChunks],
        index: VectorIndex,
        model: MiniLM,
        identity: str,
    ) -> None:
        """Take the notes in.

        Args:
            folder: Where the catalogue is to be.
            notes: Notes in pieces, by path.
            index: Empty.
            model: The embedder.
            identity: What the index calls it.
        """
        catalogue = Catalogue.open(folder / "catalogue.sqlite")
        indexes = OneIndex(Numbered(1, index))
        embedding = Embedding(identity, model.embed)
        ingest = Ingest(catalogue, indexes, embedding)
        for path, note in notes.items():
            catalogue.offer(
                Source(
                    key=f"note:{path}",
                    kind=Kind.NOTE,
                    path=path,
                    title=note.title,
                    date=note.date,
                    digest=source_digest(path.encode(), "eval"),
                ),
                note.chunks,
            )
        while ingest.step():
            pass
        self._recaller = Recaller(catalogue, indexes, embedding, today=lambda: TODAY)
        while self._recaller.floor.step():
            pass

    @property
    def floor(self) -> float:
        """Likeness below which nothing is told unasked."""
        return self._recaller.floor.floor()

    def search(self, question: str) -> list[Place]:
        """Return what is found on request."""
        hits = self._recaller.search(SearchMemory(text=question, limit=50)).hits
        return [_place(hit) for hit in hits]

    def recall(self, question: str) -> list[Place]:
        """Return what is brought into a turn unasked."""
        return [_place(hit) for hit in self._recaller.recall(Recall(text=question)).hits]


def edge_index(folder: Path, identity: str, dimensions: int) -> VectorIndex:
    """Return an empty index of the default backend."""
    return EdgeBackend(folder).create(1, identity, dimensions)


def _place(hit: HitView) -> Place:
    return Place(hit.path, hit.first_line, hit.last_line)
