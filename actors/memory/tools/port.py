"""What the tools need: everything that is done for a model, in terms of messages."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from actors.memory.remembering import CommittedAll, CoreChanged
from eris.tools import Call
from proto.memory import (
    DocumentView,
    Hits,
    MemoryChanged,
    MemoryView,
    PageText,
    SearchMemory,
)
from proto.tools import Origin


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """For whom a model acts, and on what grounds."""

    key: str
    """Idempotency key."""
    session: str
    turn: str = ""
    said: str = ""
    """What the user said in this turn."""
    untrusted: str = ""
    """Where text from outside comes from that may have caused this; empty for none."""

    @classmethod
    def by(cls, call: Call) -> "Asked":
        """Return what is known of a call."""
        outside = "a message from outside" if call.origin is Origin.CHANNEL else ""
        return cls(
            key=call.call_id,
            session=call.session,
            turn=call.turn,
            said=call.said,
            untrusted=call.untrusted or outside,
        )


class MemoryService(Protocol):
    """What tools ask for. A failure is an `ErisError`, whose sentence the model is told."""

    def stage(self, asked: Asked, text: str, title: str, tags: Sequence[str]) -> MemoryChanged:
        """Keep a fact, durably when this returns."""

    def staged(self) -> Sequence[MemoryView]:
        """Return what is staged or waits, the newest first."""

    def commit(self, asked: Asked, name: str, replaces: str, *, keep_both: bool) -> MemoryChanged:
        """Write the note of a staged memory."""

    def commit_all(self, asked: Asked) -> CommittedAll:
        """Write the notes of all about which there's no question."""

    def forget(self, asked: Asked, name: str) -> MemoryChanged:
        """Take a memory back."""

    def about_me(self, asked: Asked, add: str, remove: str) -> CoreChanged:
        """Change the core memory."""

    def find(self, asked: Asked, request: SearchMemory) -> Hits:
        """Search."""

    def ingest(self, asked: Asked, path: str) -> DocumentView:
        """Take a document in."""

    def documents(self) -> Sequence[DocumentView]:
        """Return the documents."""

    def read_document(self, name: str, page: int) -> PageText:
        """Return a page."""

    def forget_document(self, asked: Asked, name: str) -> DocumentView:
        """Take a document out."""
