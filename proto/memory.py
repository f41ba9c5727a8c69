"""Messages of the memory actor: the embedder as a service, recall, memories, documents.

Memories are what people asked to be kept; notes, documents and past conversations are found by
the same search. Tools of the model do the same through `CallTool`; both end in the same code.
"""

from enum import StrEnum

import msgspec


class _Memory(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


# The embedder.


class Embed(_Memory, frozen=True, tag="memory.embed.1"):
    """Asks for the vectors of some texts (reply: `Embedded`)."""

    texts: tuple[str, ...]
    background: bool = False
    """Bulk work: a query that arrives meanwhile overtakes it."""


class Embedded(_Memory, frozen=True, tag="memory.embedded.1"):
    """Unit vectors, in the order of the request."""

    model: str
    """Name and revision of the embedder: vectors of different ones must not be compared."""
    dimensions: int
    vectors: bytes
    """Little-endian float32, ``len(texts) * dimensions`` values, row by row."""


# Finding.


class Kind(StrEnum):
    """Where a piece of text comes from."""

    NOTE = "note"
    """A note of the vault."""
    MEMORY = "memory"
    """Something kept on purpose, staged or committed."""
    DOCUMENT = "document"
    """A page of a document."""
    SESSION = "session"
    """A turn of a past conversation."""


class SearchMemory(_Memory, frozen=True, tag="memory.search.1"):
    """Asks for what fits a question best (reply: `Hits`)."""

    text: str
    """The question, in words."""
    kinds: tuple[Kind, ...] = (Kind.NOTE, Kind.MEMORY, Kind.DOCUMENT)
    """Where to look."""
    limit: int = 5
    """The most hits to give."""
    tags: tuple[str, ...] = ()
    """Only pieces with all of these tags, without ``#``."""
    folder: str = ""
    """Only pieces whose path is in this folder; empty for all."""
    document: str = ""
    """Only pages of this document, by id; empty for all."""
    since: str = ""
    """Only pieces of this day (ISO 8601) or later."""
    until: str = ""
    """Only pieces of this day or earlier."""
    explain: bool = False
    """Whether each hit is to say how its score came about."""


class HitView(msgspec.Struct, frozen=True, kw_only=True):
    """One piece that was found."""

    kind: Kind
    text: str
    """What it says, as it's written."""
    score: float
    """From 0 to 1; comparable within one reply only."""
    path: str = ""
    """Note or document; empty for a memory that has no note yet, and for a conversation."""
    title: str = ""
    """Of the note, document or memory."""
    heading: str = ""
    """Headings above it, outermost first, with `` > `` between."""
    first_line: int = 0
    """Lines in the note, from 1; 0 where there are none."""
    last_line: int = 0
    page: int = 0
    """Of a document, from 1; 0 where there are none."""
    date: str = ""
    """Day it was written or said, ISO 8601."""
    id: str = ""
    """Of the memory, document or session."""
    origin: str = ""
    """For a memory that untrusted text caused: where that text came from."""
    parts: dict[str, float] = {}
    """How the score came about, if asked for: ``dense`` (cosine), ``words`` (BM25), ``fused``,
    ``coverage`` (share of the question's words, rare ones weighing more), ``recency``; one that
    played no part is missing."""


class Hits(_Memory, frozen=True, tag="memory.hits.1"):
    """What was found, best first."""

    hits: tuple[HitView, ...]
    mode: str = ""
    """``hybrid``, ``dense`` or ``words``: what the search went by."""
    note: str = ""
    """What people should know: that the index is still being built, that there's no embedder."""
    elapsed_ms: float = 0


class Recall(_Memory, frozen=True, tag="memory.recall.1"):
    """Asks for what belongs into a turn (reply: `Recalled`); never waits for long."""

    text: str
    """What the user said."""
    context: str = ""
    """What the user said before in this session."""
    session: str = ""
    characters: int = 1200
    """The most text to give, in characters."""


class Recalled(_Memory, frozen=True, tag="memory.recalled.1"):
    """What fits well enough to be told unasked; empty if nothing does."""

    hits: tuple[HitView, ...] = ()
    note: str = ""
    """How it was found, where something was missing for it."""
    elapsed_ms: float = 0
    notice: str = ""
    """What the user is to be told, once: which memories will soon be forgotten."""


class ReadCore(_Memory, frozen=True, tag="memory.core.1"):
    """Asks for the core memory (reply: `Core`)."""


class Core(_Memory, frozen=True, tag="memory.core-text.1"):
    """What is told to the model in every turn: who the user is and how to address them."""

    path: str
    """The note that has it."""
    text: str
    """Its body, cut to its limit; empty if there's no such note."""
    cut: bool = False
    """Whether the note says more than is told."""


# Memories.


class MemoryState(StrEnum):
    """What became of a memory."""

    STAGED = "staged"
    """Kept, and recalled, until its time is up or it's committed."""
    WAITING = "waiting"
    """Caused by untrusted text: neither recalled nor committed before the user says yes."""
    COMMITTED = "committed"
    """A note of the vault."""
    SUPERSEDED = "superseded"
    """Something newer holds; kept as history."""
    FORGOTTEN = "forgotten"
    """Taken back by the user."""
    EXPIRED = "expired"
    """Its time was up and nobody committed it."""


class MemoryView(msgspec.Struct, frozen=True, kw_only=True):
    """One memory."""

    id: str
    """Short and stable, such as ``m7``."""
    title: str
    text: str
    state: MemoryState
    tags: tuple[str, ...] = ()
    quote: str = ""
    """The words of the user or of the text that it came from."""
    created: str = ""
    """Local time, ISO 8601 with offset."""
    expires: str = ""
    """When a staged one goes, ISO 8601 with offset; empty if it stays."""
    session: str = ""
    turn: str = ""
    origin: str = ""
    """Where untrusted text that caused it came from; empty for the user's own words."""
    path: str = ""
    """The note of a committed one."""
    supersedes: str = ""
    """Id of the memory that it replaced."""
    contradicts: tuple[str, ...] = ()
    """Ids of memories that say something else about the same; the user has to decide."""


class ListMemories(_Memory, frozen=True, tag="memory.list.1"):
    """Asks for memories (reply: `Memories`)."""

    states: tuple[MemoryState, ...] = ()
    """Empty for those that hold: staged, waiting and committed."""
    tag: str = ""
    limit: int = 100


class Memories(_Memory, frozen=True, tag="memory.memories.1"):
    """Memories, the newest first."""

    memories: tuple[MemoryView, ...]
    total: int


class KeepMemory(_Memory, frozen=True, tag="memory.keep.1"):
    """Keeps a fact, as a staged memory (reply: `MemoryChanged`). For people at the machine."""

    key: str
    """Idempotency key: repeating it returns the first result."""
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    commit: bool = False
    """Whether to write its note at once."""


class ResolveKind(StrEnum):
    """What to do with a memory."""

    COMMIT = "commit"
    """Write its note. One that contradicts another needs ``replaces`` or `KEEP_BOTH`."""
    KEEP_BOTH = "keep-both"
    """Commit it although it contradicts another: both hold."""
    APPROVE = "approve"
    """The user's yes to one that untrusted text caused: it becomes a staged one."""
    FORGET = "forget"
    """Take it back: its note goes to the trash, its vector away."""


class ResolveMemory(_Memory, frozen=True, tag="memory.resolve.1"):
    """Does something with a memory (reply: `MemoryChanged`)."""

    key: str
    memory: str
    """Id, or exact title."""
    action: ResolveKind
    replaces: str = ""
    """Id of the memory that a committed one takes the place of."""


class MemoryChanged(_Memory, frozen=True, tag="memory.changed.1"):
    """What a memory is like now."""

    memory: MemoryView
    receipt: str
    """For people, in the past tense."""
    note: str = ""
    """What else they should know: a likeness, a contradiction with both sides."""


# Documents.


class IngestDocument(_Memory, frozen=True, tag="memory.ingest.1"):
    """Takes a document in, or takes it in anew (reply: `DocumentView`)."""

    key: str
    path: str
    """In the vault, or an absolute path that may be named."""


class DocumentView(_Memory, frozen=True, tag="memory.document.1"):
    """A document that was taken in."""

    id: str
    """Short and stable, such as ``d3``."""
    path: str
    title: str
    form: str
    """``pdf``, ``docx``, ``html``, ``epub``, ``markdown`` or ``text``."""
    pages: int
    chunks: int
    empty_pages: tuple[int, ...] = ()
    """Pages without any text, from 1: scans, pictures."""
    note: str = ""
    """What people should know: no text layer, pages that couldn't be read."""
    added: str = ""
    """Local time, ISO 8601 with offset."""


class ListDocuments(_Memory, frozen=True, tag="memory.documents.1"):
    """Asks for the documents (reply: `Documents`)."""


class Documents(_Memory, frozen=True, tag="memory.document-list.1"):
    """Documents, by path."""

    documents: tuple[DocumentView, ...]


class ReadDocument(_Memory, frozen=True, tag="memory.read-document.1"):
    """Asks for a page of a document (reply: `PageText`)."""

    document: str
    """Id, path or title."""
    page: int = 1


class PageText(_Memory, frozen=True, tag="memory.page.1"):
    """One page."""

    document: DocumentView
    page: int
    text: str
    """Exactly what was extracted; empty for a page without text."""


class ForgetDocument(_Memory, frozen=True, tag="memory.forget-document.1"):
    """Takes a document out of memory; the file stays (reply: `DocumentView`)."""

    key: str
    document: str


# The index.


class DescribeMemory(_Memory, frozen=True, tag="memory.describe.1"):
    """Asks how things stand (reply: `MemoryReport`)."""


class MemoryReport(_Memory, frozen=True, tag="memory.report.1"):
    """How things stand."""

    embedder: str = ""
    """Model and revision; empty without one."""
    backend: str = ""
    """``edge``, or the address of a Qdrant server."""
    chunks: int = 0
    """Pieces that can be found."""
    waiting: int = 0
    """Pieces that aren't in the index yet."""
    notes: int = 0
    documents: int = 0
    staged: int = 0
    committed: int = 0
    awaiting_yes: int = 0
    """Memories caused by untrusted text that wait for the user."""
    floor: float = 0
    """How far a piece must rise above any other, by likeness and words, to be told unasked."""
    note: str = ""
    """What's wrong or under way, in words; empty if all is well."""


class RebuildIndex(_Memory, frozen=True, tag="memory.rebuild.1"):
    """Builds the index anew beside the present one (reply: `MemoryReport`)."""

    move_to: str = ""
    """Address of a Qdrant server to build it on, ``edge`` for this machine, empty for where it
    is. The setting isn't changed by it."""


MemoryRequest = (
    Embed
    | SearchMemory
    | Recall
    | ReadCore
    | ListMemories
    | KeepMemory
    | ResolveMemory
    | IngestDocument
    | ListDocuments
    | ReadDocument
    | ForgetDocument
    | DescribeMemory
    | RebuildIndex
)
"""What the memory is asked."""

Memory = (
    MemoryRequest
    | Embedded
    | Hits
    | Recalled
    | Core
    | Memories
    | MemoryChanged
    | DocumentView
    | Documents
    | PageText
    | MemoryReport
)
