"""How replies of the memory read: one function for each, from message to text."""

import msgspec

from eris.cli.looks import Look, lines
from proto.memory import (
    Core,
    Documents,
    DocumentView,
    Hits,
    HitView,
    Kind,
    Memories,
    MemoryChanged,
    MemoryReport,
    MemoryState,
    MemoryView,
    PageText,
)

_PARTS = {
    "dense": "likeness",
    "words": "words (BM25)",
    "coverage": "share of the words",
    "fused": "fused",
    "recency": "recency",
}


def hits(reply: Hits, look: Look) -> str:
    """What was found: where it's from, its score, and what it says, indented."""
    return lines([line for hit in reply.hits for line in _hit(hit, look)])


def _hit(hit: HitView, look: Look) -> list[str]:
    scored = look.aside(f"{hit.score:.2f}")
    dated = f"  {look.line(hit.date)}" if hit.date else ""
    outside = f"  (from {hit.origin})" if hit.origin else ""
    told = [f"{_place(hit, look)}{dated}  {scored}{look.aside(outside)}"]
    if hit.parts:
        parts = ", ".join(
            f"{_PARTS.get(name, name)} {value:.3f}" for name, value in hit.parts.items()
        )
        told.append(f"    {look.aside(parts)}")
    told += [f"    {look.line(line)}" for line in hit.text.splitlines()]
    return told


def _place(hit: HitView, look: Look) -> str:
    match hit.kind:
        case Kind.SESSION:
            return f"conversation {look.line(hit.id)}"
        case Kind.DOCUMENT:
            return f"{look.path(hit.path)}, page {look.number(hit.page)}  {look.line(hit.id)}"
        case Kind.MEMORY if not hit.path:
            return f"{_id(hit.id, look)} {look.line(hit.title)}"
        case _:
            line = f":{look.number(hit.first_line)}" if hit.first_line else ""
            named = f"  {look.line(hit.id)}" if hit.kind is Kind.MEMORY else ""
            return f"{look.path(hit.path)}{line}{named}"


def _id(name: str, look: Look) -> str:
    return look.number(look.line(name))


def memories(reply: Memories, look: Look) -> str:
    """Memories, each with its state and what it says."""
    told = [line for memory in reply.memories for line in _memory(memory, look)]
    more = reply.total - len(reply.memories)
    if more > 0:
        told.append(look.aside(f"and {more} more"))
    return lines(told)


def _memory(memory: MemoryView, look: Look) -> list[str]:
    until = f", until {memory.expires[:10]}" if memory.expires else ""
    where = f"  {look.path(memory.path)}" if memory.path else ""
    state = look.aside(f"{memory.state}{until}")
    created = look.line(memory.created[:10])
    told = [f"{_id(memory.id, look)}  {created}  {state}{where}"]
    told += [f"    {look.line(line)}" for line in memory.text.splitlines()]
    if memory.origin:
        told.append(f"    {look.aside(f'may come from {memory.origin}')}")
    if memory.state is MemoryState.WAITING:
        told.append(f"    {look.aside(f'waits for your yes: eris memory approve {memory.id}')}")
    if memory.contradicts:
        told.append(f"    {look.aside('contradicts ' + ', '.join(memory.contradicts))}")
    return told


def changed(reply: MemoryChanged, look: Look) -> str:
    """What was done, and what else there's to know."""
    receipt = (reply.receipt or "nothing was changed").rstrip(".")
    told = [f"{receipt[:1].upper()}{receipt[1:]}."]
    told += reply.note.splitlines()
    return lines([look.line(line) for line in told])


def core(reply: Core, look: Look) -> str:
    """The core memory."""
    text = reply.text if reply.text.endswith("\n") or not reply.text else f"{reply.text}\n"
    return look.text(text)


def report(reply: MemoryReport, look: Look) -> str:
    """How things stand."""
    rows = {
        "embedder": reply.embedder or "none: found by words alone",
        "index": reply.backend or "none yet",
        "pieces": f"{reply.chunks:,}" + (f", {reply.waiting:,} to go" if reply.waiting else ""),
        "notes": f"{reply.notes:,}",
        "documents": f"{reply.documents:,}",
        "memories": f"{reply.staged:,} staged, {reply.committed:,} committed, "
        f"{reply.awaiting_yes:,} waiting for your yes",
        "floor": f"{reply.floor:.2f}",
    }
    told = [f"{name + ':':<11}{look.line(value)}" for name, value in rows.items()]
    return lines([*told, *([look.line(reply.note)] if reply.note else [])])


def documents(reply: Documents, look: Look) -> str:
    """Documents, one a line."""
    return lines([_document(each, look) for each in reply.documents])


def document(reply: DocumentView, look: Look) -> str:
    """One document."""
    return lines([_document(reply, look)])


def _document(view: DocumentView, look: Look) -> str:
    pages = f"{view.pages} page{'' if view.pages == 1 else 's'}"
    note = f"  {look.aside(view.note)}" if view.note else ""
    form = look.line(view.form)
    return f"{_id(view.id, look)}  {look.path(view.path)}  {form}, {pages}{note}"


def page(reply: PageText, look: Look) -> str:
    """A page's own text; on a terminal its last line is ended."""
    text = look.text(reply.text)
    return f"{text}\n" if look.terminal and not text.endswith("\n") else text


class Pages(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """All pages of a document: what a reply would be if one message could hold them."""

    document: DocumentView
    pages: tuple[str, ...]
    """Their texts, from page 1."""


def all_pages(reply: Pages, look: Look) -> str:
    """Every page below a line with its number."""
    told = []
    for number, text in enumerate(reply.pages, 1):
        told.append(f"{look.aside(f'Page {number} of {len(reply.pages)}')}\n{look.text(text)}")
        if text and not text.endswith("\n"):
            told.append("\n")
    return "".join(told)
