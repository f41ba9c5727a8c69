"""Notes in pieces, by heading and paragraph."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence

from actors.memory.chunking.chunk import DEFAULT_LIMIT, Chunk, NoteChunks, TokenCount
from actors.memory.chunking.headers import SEPARATOR, Headers, most_header_tokens
from actors.memory.chunking.lines import NoteLines
from actors.memory.chunking.packing import packed
from actors.memory.chunking.pieces import Piece, Scale, Source, sized
from eris.vault.markdown import parse
from eris.vault.note import Note, PropertyValue, Span

HISTORY = "History"
"""The heading of a memory's note under which is what it said before; that isn't recalled."""

MEMORY_PROPERTY = "eris_memory"

_DATES = ("date", "created")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d)")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+\Z")
_LONGEST_HEADING = 200
_MOST_ALIASES = 3
_MOST_TAGS = 8
_COMMENTS = ("%%", "<!--")


def chunk_note(path: str, text: str, count: TokenCount, limit: int = DEFAULT_LIMIT) -> NoteChunks:
    """Return a note in pieces of at most so many tokens, their headers counted in.

    Nothing is cut within a block of code, a row of a table, an item of a list or a sentence that
    would fit into a chunk. Frontmatter and comments aren't text, nor is the history of a memory.

    Args:
        path: The note's path in the vault; its name is the title if no property says another.
        text: The note.
        count: The embedder's tokenizer; it's asked with many texts at a time.
        limit: Tokens of a chunk.
    """
    note = parse(text)
    properties = {name.casefold(): value for name, value in note.properties.items()}
    name = path.rsplit("/", 1)[-1]
    name = name[:-3] if name.lower().endswith(".md") else name
    title = _one_line(properties.get("title")) or name
    date = _date(properties, name)
    memory_id = _one_line(properties.get(MEMORY_PROPERTY))
    tags = tuple(dict.fromkeys(each.name for each in note.tags))
    own_tags = [each.name for each in note.tags if each.span.start < note.body_start]
    source = Source(text, _hidden(note, is_memory=bool(memory_id)))
    lines = NoteLines(note, source)
    lines.walk()
    details = (
        _list("tags: ", dict.fromkeys(own_tags), _MOST_TAGS),
        date,
        _list("also: ", _aliases(properties, title), _MOST_ALIASES),
    )
    headers = Headers(title, details, count, most_header_tokens(limit))
    sections = _sections(note)
    headers.make([*sections, *(each[:-1] for each in sections)])
    budgets = [max(1, limit - _most_tokens(headers, each)) for each in sections]
    pieces = sized(source, lines.pieces, Scale(count, budgets))
    chunks: list[Chunk] = []
    for first, last in packed(pieces, budgets):
        span = _stripped(text, pieces[first].start, pieces[last - 1].end)
        shown = source.shown(span.start, span.end).strip()
        if not any(map(str.isalnum, shown)):
            continue
        above = sections[pieces[first].section]
        above = above[:-1] if pieces[first].is_heading else above
        chunks.append(
            Chunk(
                text=shown,
                header=headers.text(above),
                heading=SEPARATOR.join(_shared(pieces[first:last], sections)),
                first_line=note.line(span.start),
                last_line=note.line(span.end - 1),
                tags=tags,
            )
        )
    return NoteChunks(title=title, date=date, tags=tags, memory_id=memory_id, chunks=tuple(chunks))


def _sections(note: Note) -> list[tuple[str, ...]]:
    """Return the headings above each section's text, its own included; none above the first."""
    found: list[tuple[str, ...]] = [()]
    above: list[tuple[int, str]] = []
    for heading in note.headings:
        while above and above[-1][0] >= heading.level:
            above.pop()
        title = _one_line(_BLOCK_ID.sub("", heading.title))[:_LONGEST_HEADING]
        above.append((heading.level, title))
        found.append(tuple(each for _, each in above if each))
    return found


def _most_tokens(headers: Headers, path: tuple[str, ...]) -> int:
    """Return what a section's header takes, whether its own heading is in the text or above it."""
    return max(headers.tokens(path), headers.tokens(path[:-1]))


def _shared(pieces: Sequence[Piece], sections: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all text of a chunk stands under."""
    numbers = dict.fromkeys(each.section for each in pieces if not each.is_heading)
    paths = [sections[each] for each in numbers] or [sections[pieces[-1].section]]
    shared = paths[0]
    for path in paths[1:]:
        same = (one == other for one, other in zip(shared, path, strict=False))
        shared = shared[: next((at for at, equal in enumerate(same) if not equal), len(path))]
    return shared


def _hidden(note: Note, *, is_memory: bool) -> list[Span]:
    """Return what isn't text: comments, and the history of a memory."""
    history = [
        each.section
        for each in note.headings
        if is_memory and each.title.casefold() == HISTORY.casefold()
    ]
    comments = [each for each in note.opaque if note.text.startswith(_COMMENTS, each.start)]
    apart: list[Span] = []
    for span in sorted([*history, *comments]):
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
    return apart


def _stripped(text: str, start: int, end: int) -> Span:
    """Return a part of the text without the spaces and blank lines around it."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return Span(start, end)


def _date(properties: Mapping[str, PropertyValue], name: str) -> str:
    """Return the day that a note is of, ISO 8601, or nothing."""
    for each in (*(properties.get(name) for name in _DATES), name):
        if isinstance(each, dt.date):
            return each.isoformat()[:10]
        found = _DAY.match(each.strip()) if isinstance(each, str) else None
        if found and _is_day(found[1]):
            return found[1]
    return ""


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _aliases(properties: Mapping[str, PropertyValue], title: str) -> Iterator[str]:
    for name in ("aliases", "alias"):
        value = properties.get(name)
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        for each in map(_one_line, values):
            if each and each.casefold() != title.casefold():
                yield each


def _list(label: str, names: "Iterator[str] | dict[str, None]", most: int) -> str:
    listed = list(names)[:most]
    return label + ", ".join(listed) if listed else ""


def _one_line(value: PropertyValue) -> str:
    """Return a property that is a word or a number as one line."""
    if value is None or isinstance(value, bool | Mapping):
        return ""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
