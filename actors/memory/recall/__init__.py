"""Finding what is known: asked for, or brought into a turn unasked."""

from actors.memory.recall.excerpts import excerpt
from actors.memory.recall.finding import Finder, Findings, Found
from actors.memory.recall.floor import DEFAULT_FLOOR, FloorKeeper
from actors.memory.recall.ranking import Ranking, ranked
from actors.memory.recall.recaller import Recaller
from actors.memory.recall.small_talk import is_small_talk

__all__ = [
    "DEFAULT_FLOOR",
    "Finder",
    "Findings",
    "FloorKeeper",
    "Found",
    "Ranking",
    "Recaller",
    "excerpt",
    "is_small_talk",
    "ranked",
]
