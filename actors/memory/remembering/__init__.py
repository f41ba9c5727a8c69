"""Remembering: facts that people asked to be kept, and the core memory."""

from actors.memory.remembering.committing import CommittedAll, Left
from actors.memory.remembering.core import CoreChanged, CoreMemory
from actors.memory.remembering.memories import Memories
from actors.memory.remembering.placing import NoteLayout, Place
from actors.memory.remembering.ports import KnownNote, Notes, Offer, Similar, Withdraw
from actors.memory.remembering.record import Calendar
from actors.memory.remembering.staging import Fact

__all__ = [
    "Calendar",
    "CommittedAll",
    "CoreChanged",
    "CoreMemory",
    "Fact",
    "KnownNote",
    "Left",
    "Memories",
    "NoteLayout",
    "Notes",
    "Offer",
    "Place",
    "Similar",
    "Withdraw",
]
