"""Where everything that the memory is asked ends, by messages and by tools."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import msgspec

from actors.memory.remembering import CommittedAll, CoreChanged, CoreMemory, Fact, Memories
from actors.memory.tools import Asked
from eris.errors import DeniedError, ErisError, InvalidError
from proto.memory import (
    Core,
    Documents,
    DocumentView,
    ForgetDocument,
    Hits,
    IngestDocument,
    KeepMemory,
    ListDocuments,
    ListMemories,
    MemoryChanged,
    MemoryState,
    MemoryView,
    PageText,
    ReadCore,
    ReadDocument,
    Recall,
    Recalled,
    ResolveKind,
    ResolveMemory,
    SearchMemory,
)
from proto.memory import Memories as MemoryList

Answered = (
    SearchMemory
    | Recall
    | ReadCore
    | ListMemories
    | KeepMemory
    | ResolveMemory
    | IngestDocument
    | ListDocuments
    | ReadDocument
    | ForgetDocument
)
"""What `Service.answer` answers; the embedder and the index are the actor's own matter."""

_SESSIONS = 64
_MOST_RECALLED = 40


class Searching(Protocol):
    """Finds things; a `Recaller`, on whatever thread it has to be."""

    def search(self, request: SearchMemory) -> Hits:
        """Return what fits a question best."""

    def recall(self, request: Recall) -> Recalled:
        """Return what belongs into a turn."""


class DocumentShelf(Protocol):
    """The documents."""

    def ingest(self, request: IngestDocument, *, by_user: bool) -> DocumentView:
        """Take one in; doing it twice does nothing twice.

        Args:
            request: Which.
            by_user: Whether the user named it at the machine: then it may be any file.
        """

    def list(self) -> Documents:
        """Return all of them."""

    def read(self, request: ReadDocument) -> PageText:
        """Return a page."""

    def forget(self, request: ForgetDocument) -> DocumentView:
        """Take one out."""


class Service:
    """Answers. Its methods may be called from any thread, as far as its parts' may."""

    def __init__(
        self, memories: Memories, core: CoreMemory, searching: Searching, documents: DocumentShelf
    ) -> None:
        self._memories = memories
        self._core = core
        self._searching = searching
        self._documents = documents
        self._recalled: OrderedDict[str, list[str]] = OrderedDict()
        """What the model was told in the current turn, by session: not to be learned again."""
        self._lock = threading.Lock()

    def answer(self, request: Answered) -> msgspec.Struct:  # noqa: C901, PLR0911 - one case for each message
        """Answer a message.

        Raises:
            ErisError: As the parts do.
        """
        match request:
            case SearchMemory():
                return self._searching.search(request)
            case Recall():
                return self.recall(request)
            case ReadCore():
                return self.core()
            case ListMemories():
                return self.list(request)
            case KeepMemory():
                return self.keep(request)
            case ResolveMemory():
                return self.resolve(request)
            case IngestDocument():
                return self._documents.ingest(request, by_user=True)
            case ListDocuments():
                return self._documents.list()
            case ReadDocument():
                return self._documents.read(request)
            case ForgetDocument():
                return self._documents.forget(request)

    # People, by messages.

    def recall(self, request: Recall) -> Recalled:
        """Return what belongs into a turn; a new turn of the session has begun."""
        with self._lock:
            self._recalled.pop(request.session, None)
        recalled = self._searching.recall(request)
        self._note(request.session, [hit.text for hit in recalled.hits])
        return recalled

    def core(self) -> Core:
        """Return the core memory."""
        return self._core.read()

    def list(self, request: ListMemories) -> MemoryList:
        """Return memories, the newest first."""
        return self._memories.list(request)

    def keep(self, request: KeepMemory) -> MemoryChanged:
        """Keep what somebody at the machine says."""
        fact = Fact(text=request.text, title=request.title, tags=request.tags)
        kept = self._memories.stage(fact, request.key)
        if not request.commit or kept.memory.state is not MemoryState.STAGED:
            return kept
        return self._memories.commit(kept.memory.id, f"{request.key}/commit")

    def resolve(self, request: ResolveMemory) -> MemoryChanged:
        """Do with a memory what somebody at the machine decides."""
        match request.action:
            case ResolveKind.COMMIT | ResolveKind.KEEP_BOTH:
                return self._memories.commit(
                    request.memory,
                    request.key,
                    replaces=request.replaces,
                    keep_both=request.action is ResolveKind.KEEP_BOTH,
                )
            case ResolveKind.APPROVE:
                return self._memories.approve(request.memory, request.key)
            case ResolveKind.FORGET:
                return self._memories.forget(request.memory, request.key)

    # Models, by tools.

    def stage(self, asked: Asked, text: str, title: str, tags: Sequence[str]) -> MemoryChanged:
        """Keep a fact. The quote is what the user said: a model doesn't choose it."""
        fact = Fact(
            text=text,
            title=title,
            tags=tuple(tags),
            quote="" if asked.untrusted and not asked.said else asked.said,
            session=asked.session,
            turn=asked.turn,
            origin=asked.untrusted,
            tainted=bool(asked.untrusted),
        )
        with self._lock:
            recalled = tuple(self._recalled.get(asked.session, ()))
        return self._memories.stage(fact, asked.key, recalled, self._core_lines())

    def staged(self) -> Sequence[MemoryView]:
        """Return what is staged or waits, the newest first."""
        states = (MemoryState.STAGED, MemoryState.WAITING)
        return self._memories.list(ListMemories(states=states)).memories

    def commit(self, asked: Asked, name: str, replaces: str, *, keep_both: bool) -> MemoryChanged:
        """Write the note of a staged memory."""
        return self._memories.commit(name, asked.key, replaces=replaces, keep_both=keep_both)

    def commit_all(self, asked: Asked) -> CommittedAll:
        """Write the notes of all about which there's no question."""
        return self._memories.commit_all(asked.key)

    def forget(self, asked: Asked, name: str) -> MemoryChanged:
        """Take a memory back."""
        return self._memories.forget(name, asked.key)

    def about_me(self, asked: Asked, add: str, remove: str) -> CoreChanged:
        """Change the core memory.

        Raises:
            DeniedError: Text from outside may have caused it.
        """
        if asked.untrusted:
            raise DeniedError(
                f"Text from {asked.untrusted} can't change what is known about the user.",
                hint="The user can say it in a message of its own.",
            )
        return self._core.change(asked.key, add, remove)

    def find(self, asked: Asked, request: SearchMemory) -> Hits:
        """Search; what is found isn't learned again in this turn."""
        hits = self._searching.search(request)
        self._note(asked.session, [hit.text for hit in hits.hits])
        return hits

    def ingest(self, asked: Asked, path: str) -> DocumentView:
        """Take a document in; doing it twice does nothing twice."""
        if not path.strip():
            raise InvalidError("Which document?", hint="Give its path.")
        return self._documents.ingest(IngestDocument(key=asked.key, path=path), by_user=False)

    def documents(self) -> Sequence[DocumentView]:
        """Return the documents."""
        return self._documents.list().documents

    def read_document(self, name: str, page: int) -> PageText:
        """Return a page."""
        return self._documents.read(ReadDocument(document=name, page=page))

    def forget_document(self, asked: Asked, name: str) -> DocumentView:
        """Take a document out."""
        return self._documents.forget(ForgetDocument(key=asked.key, document=name))

    def _note(self, session: str, texts: Sequence[str]) -> None:
        with self._lock:
            known = self._recalled.setdefault(session, [])
            known.extend(texts)
            del known[:-_MOST_RECALLED]
            self._recalled.move_to_end(session)
            while len(self._recalled) > _SESSIONS:
                self._recalled.popitem(last=False)

    def _core_lines(self) -> tuple[str, ...]:
        try:
            text = self._core.read().text
        except ErisError:
            # Without the vault it isn't known; that mustn't keep a fact from being kept.
            return ()
        return tuple(line for line in text.split("\n") if line.strip() and not line.startswith("#"))
