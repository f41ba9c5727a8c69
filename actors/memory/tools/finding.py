"""The tool that searches by meaning: memories, notes, documents, past conversations."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from actors.memory.tools.port import Asked, MemoryService
from actors.memory.tools.remembering import line_told
from eris.tools import Call, Outcome, Tool
from proto.memory import Hits, HitView, Kind, SearchMemory
from proto.tools import Effect

_MOST_HITS = 5
_LONGEST_HIT = 360

_WHERE: Mapping[str, tuple[Kind, ...]] = {
    "all": (Kind.NOTE, Kind.MEMORY, Kind.DOCUMENT),
    "memories": (Kind.MEMORY,),
    "notes": (Kind.NOTE,),
    "documents": (Kind.DOCUMENT,),
    "conversations": (Kind.SESSION,),
}

QUERY_ALIASES = dict.fromkeys(
    ("q", "text", "question", "search", "term", "terms", "words", "keyword", "keywords", "topic"),
    "query",
)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``memory:query``."""

    query: Annotated[str, Meta(description="What to look for, in words", min_length=1)]
    where: Annotated[
        Literal["all", "memories", "notes", "documents", "conversations"],
        Meta(description="Where to look; all has no past conversations"),
    ] = "all"


def finding_tools(service: MemoryService) -> tuple[Tool[Any], ...]:
    """Declare it."""

    def query(arguments: Query, call: Call) -> Outcome:
        request = SearchMemory(
            text=arguments.query, kinds=_WHERE[arguments.where], limit=_MOST_HITS
        )
        return hits_told(service.find(Asked.by(call), request))

    return (
        Tool(
            name="memory:query",
            description="Search by meaning what is remembered: facts, notes, documents, past "
            "conversations.",
            hints=(
                "What do you know about me?",
                "What do you know about my sister?",
                "Do you remember what I said?",
                "Do you remember where I parked?",
                "What did I tell you about the neighbours?",
                "Who is my doctor?",
                "What did we talk about last week?",
                "Weißt du noch, was ich gesagt habe?",
                "Recall what I told you.",
            ),
            arguments=Query,
            handler=query,
            effect=Effect.READ,
            aliases=QUERY_ALIASES
            | dict.fromkeys(("kind", "kinds", "source", "sources", "in", "scope"), "where"),
        ),
    )


def hits_told(found: Hits, nothing: str = "Nothing fits that.") -> Outcome:
    """Say what was found and where it's from."""
    lines = [f"{place(hit)}: {line_told(hit.text, _LONGEST_HIT)}" for hit in found.hits]
    told = [f"{number}. {line}" for number, line in enumerate(lines, start=1)] or [nothing]
    if found.note:
        told.append(f"({found.note})")
    outside = [
        hit.origin or hit.path or hit.title
        for hit in found.hits
        if hit.origin or hit.kind is Kind.DOCUMENT
    ]
    data: dict[str, str | int] = {"found": len(found.hits)}
    if found.hits and found.hits[0].path:
        data["path"] = found.hits[0].path
    return Outcome(
        content="\n".join(told),
        data=data,
        untrusted=", ".join(dict.fromkeys(filter(None, outside))),
    )


def place(hit: HitView) -> str:
    """Say where a hit is from: enough to open it, or to read on."""
    match hit.kind:
        case Kind.DOCUMENT:
            where = f"{hit.path or hit.title} page {hit.page} (document {hit.id})"
        case Kind.MEMORY:
            where = f"memory {hit.id}{f' in {hit.path}' if hit.path else ''}"
        case Kind.SESSION:
            where = f"conversation {hit.id}"
        case Kind.NOTE:
            lines = f" lines {hit.first_line}-{hit.last_line}" if hit.first_line else ""
            where = f"{hit.path}{lines}"
    details = [hit.date] if hit.date else []
    if hit.origin:
        details.append(f"comes from {hit.origin}")
    return f"{where}, {', '.join(details)}" if details else where
