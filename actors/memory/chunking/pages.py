"""Pages of documents and turns of conversations in pieces."""

import re
from itertools import pairwise

from actors.memory.chunking.chunk import DEFAULT_LIMIT, Chunk, TokenCount
from actors.memory.chunking.headers import Headers, most_header_tokens
from actors.memory.chunking.packing import packed
from actors.memory.chunking.pieces import Joint, Piece, Scale, Source, sized

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


def chunk_page(
    title: str, page: int, text: str, count: TokenCount, limit: int = DEFAULT_LIMIT
) -> list[Chunk]:
    """Return a page of a document in pieces; none if it says nothing.

    Args:
        title: The document's.
        page: From 1.
        text: The page's; a blank line ends a paragraph.
        count: The embedder's tokenizer; it's asked with many texts at a time.
        limit: Tokens of a chunk, its header counted in.
    """
    return _chunks(title, (f"page {page}",), text, count, limit, page)


def chunk_turn(
    user: str, answer: str, date: str, count: TokenCount, limit: int = DEFAULT_LIMIT
) -> list[Chunk]:
    """Return a turn of a conversation in pieces: mostly one, with what both said.

    Args:
        user: What the user said.
        answer: What they were told.
        date: Day of it, ISO 8601.
        count: The embedder's tokenizer; it's asked with many texts at a time.
        limit: Tokens of a chunk, its header counted in.
    """
    said = (f"User: {user.strip()}" if user.strip() else "", answer.strip() and f"Eris: {answer}")
    text = "\n\n".join(each for each in said if each)
    return _chunks("Conversation", (date,), text, count, limit, 0)


def _chunks(
    title: str, details: tuple[str, ...], text: str, count: TokenCount, limit: int, page: int
) -> list[Chunk]:
    headers = Headers(title, details, count, most_header_tokens(limit))
    budgets = [max(1, limit - headers.tokens(()))]
    source = Source(text)
    borders = [0, *(each.end() for each in _PARAGRAPH.finditer(text)), len(text)]
    paragraphs = [
        Piece(start, end, Joint.PARAGRAPH) for start, end in pairwise(borders) if start < end
    ]
    pieces = sized(source, paragraphs, Scale(count, budgets))
    shown = [
        text[pieces[first].start : pieces[last - 1].end].strip()
        for first, last in packed(pieces, budgets)
    ]
    return [
        Chunk(text=each, header=headers.text(()), page=page)
        for each in shown
        if any(map(str.isalnum, each))
    ]
