"""Bringing chunks from the catalogue into the vector index, a bounded batch at a time."""

from actors.memory.ingest.ingest import Ingest, Progress
from actors.memory.ingest.serving import Embedding, Indexes, Numbered

__all__ = ["Embedding", "Indexes", "Ingest", "Numbered", "Progress"]
