"""What there is to be found: sources, their chunks with texts, and what is in which index.

Derived from notes, memories and documents, so the file may be deleted. Texts are here and vectors
in the index, under the same ids.
"""

from actors.memory.catalogue.catalogue import Catalogue, Counts
from actors.memory.catalogue.queue import Difference, IndexQueue
from actors.memory.catalogue.rows import (
    Entry,
    Source,
    day_number,
    folded_tags,
    folders_above,
    source_digest,
)
from actors.memory.catalogue.words import WordSearch

__all__ = [
    "Catalogue",
    "Counts",
    "Difference",
    "Entry",
    "IndexQueue",
    "Source",
    "WordSearch",
    "day_number",
    "folded_tags",
    "folders_above",
    "source_digest",
]
