"""The note of a memory: made, read, and changed without touching what the user put there; pure.

The fact is the note's body, nothing else. Where it's from stands in the properties, and so do
links to notes that it names, where they aren't taken for part of the fact. What it said before is
under `HISTORY`.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from actors.memory.chunking.notes import HISTORY, MEMORY_PROPERTY
from actors.memory.remembering.language import FUNCTION_WORDS
from actors.memory.remembering.placing import stem
from actors.memory.remembering.ports import KnownNote
from actors.memory.remembering.record import Calendar, Record, Statement
from eris.vault.frontmatter import with_property
from eris.vault.markdown import parse
from eris.vault.note import Heading, Note, line_end
from eris.vault.words import fold
from eris.vault.yaml_text import written

RELATED = "related"
_MOST_RELATED = 5
_MOST_LOOKED_UP = 40
_LONGEST_NAME = 4
"""Words of a note's name that are looked for."""
_ESCAPED = re.compile(rf"(?mi)^([ \t]*)\\(?=(?:#{{1,6}}[ \t]+)?{HISTORY}\b)")
_WORD = re.compile(r"[\w.'\u2019-]*\w\.?")
_IS_LINK = re.compile(r"\[\[[^\]]*\]\]")


class MemoryNote(msgspec.Struct, frozen=True):
    """What a memory's note says."""

    memory: str
    """Id; empty if it isn't a memory's note any more."""
    title: str
    """The property; empty if there's none."""
    text: str
    """The fact."""
    tags: tuple[str, ...]


def read(text: str) -> MemoryNote:
    """Read a note."""
    note = parse(text)
    start, end = _body(note)
    title = note.properties.get("title")
    memory = note.properties.get(MEMORY_PROPERTY)
    return MemoryNote(
        memory=memory.strip() if isinstance(memory, str) else "",
        title=str(title).strip() if isinstance(title, str | int | float) else "",
        text=_ESCAPED.sub(r"\1", text[start:end]).strip(),
        tags=tuple(dict.fromkeys(tag.name for tag in note.tags)),
    )


def rendered(
    record: Record,
    history: Sequence[Statement],
    calendar: Calendar,
    *,
    name: str = "",
    related: Sequence[str] = (),
) -> str:
    """Return the text of a new note.

    Args:
        record: The memory.
        history: What was said before, the oldest first.
        calendar: The user's.
        name: Of the file, without ``.md``; the title is written down if it's another.
        related: Links to notes that the fact names.
    """
    properties: dict[str, str | Sequence[str]] = {MEMORY_PROPERTY: record.id}
    if record.title != name:
        properties["title"] = record.title
    if record.tags:
        properties["tags"] = record.tags
    properties["created"] = calendar.moment(record.said)
    origins = {"session": record.session, "turn": record.turn, "origin": record.origin}
    properties |= {key: value for key, value in origins.items() if value}
    if record.quote and record.quote != record.text:
        properties["quote"] = record.quote
    if related:
        properties[RELATED] = tuple(related)
    lines = "".join(written(key, value, "\n") for key, value in properties.items())
    return f"---\n{lines}---\n{_fact(record.text)}\n{_history_section(history)}"


def changed(note_text: str, record: Record, statement: Statement | None, calendar: Calendar) -> str:
    """Return a memory's note with another fact; what it said goes to its history.

    Args:
        note_text: The note as it is.
        record: The memory that it's of from now on.
        statement: What it said; None to leave the history alone.
        calendar: The user's.

    Raises:
        InvalidError: Its properties can't be read.
    """
    text = with_property(note_text, MEMORY_PROPERTY, record.id)
    text = with_property(text, "created", calendar.moment(record.said))
    if record.quote and record.quote != record.text:
        text = with_property(text, "quote", record.quote)
    note = parse(text)
    if not record.titled and "title" in note.properties:
        text = with_property(text, "title", record.title)
        note = parse(text)
    start, end = _body(note)
    old = note.text[end:].strip("\n")
    history = [] if statement is None else [statement]
    section = f"\n{old}\n{_history_lines(history)}" if old else _history_section(history)
    ending = line_end(text)
    inserted = f"{_fact(record.text)}\n{section}".replace("\r\n", "\n").replace("\n", ending)
    return f"{text[:start]}{inserted}"


def links(text: str, known: KnownNote, own: str = "") -> list[str]:
    """Return links to the notes that a text names.

    Only names with a capital or a digit are looked for: `plan` in a sentence is no name.

    Args:
        text: The fact.
        known: Gives the path of the note of a name, or None.
        own: Path of the memory's own note.
    """
    found: dict[str, str] = {}
    taken: set[int] = set()
    for position, (first, last, name) in enumerate(_names(_IS_LINK.sub(" ", text))):
        if position >= _MOST_LOOKED_UP or len(found) >= _MOST_RELATED:
            break
        if taken & set(range(first, last)):
            continue
        path = known(name)
        if path and path != own and path not in found:
            taken |= set(range(first, last))
            found[path] = stem(path)
    return [
        f"[[{name}]]" if known(name) == path else f"[[{path.removesuffix('.md')}|{name}]]"
        for path, name in found.items()
    ]


def _names(text: str) -> Iterator[tuple[int, int, str]]:
    """Give the parts of a text that could be names of notes, the longest first."""
    words = list(_WORD.finditer(text))
    for length in range(_LONGEST_NAME, 0, -1):
        for first in range(len(words) - length + 1):
            part = words[first : first + length]
            name = text[part[0].start() : part[-1].end()]
            if "\n" in name or name == name.casefold() or len(name) < 3:  # noqa: PLR2004 - I, Dr
                continue
            if length == 1 and fold(name) in FUNCTION_WORDS:
                continue
            yield first, first + length, name
            if name.endswith("."):
                yield first, first + length, name[:-1]


def _body(note: Note) -> tuple[int, int]:
    """Return where the fact stands: from the properties to the history."""
    found = _history(note)
    return note.body_start, found.span.start if found else len(note.text)


def _history(note: Note) -> Heading | None:
    every = [each for each in note.headings if each.title.casefold() == HISTORY.casefold()]
    return every[-1] if every else None


def _fact(text: str) -> str:
    """Return a fact as it's written: nothing in it is taken for the history, or hides it."""
    escaped = text
    while starts := _history_starts(escaped):
        escaped = f"{escaped[: starts[-1]]}\\{escaped[starts[-1] :]}"
    if _history(parse(f"\n{escaped}\n\n## {HISTORY}\n")) is None:
        # An open code block or comment would swallow what follows.
        return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return escaped


def _history_starts(text: str) -> list[int]:
    """Return where a text has headings that say what ours does."""
    note = parse(f"\n{text}")  # without the line end, rules could be taken for properties
    starts = [
        each.span.start - 1 for each in note.headings if each.title.casefold() == HISTORY.casefold()
    ]
    return [start + len(text[start:]) - len(text[start:].lstrip()) for start in starts]


def _history_section(history: Sequence[Statement]) -> str:
    return f"\n## {HISTORY}\n\n{_history_lines(history)}" if history else ""


def _history_lines(history: Sequence[Statement]) -> str:
    return "".join(
        f"- {each.said[:10]} ({each.memory}): {_indented(each.text)}\n" for each in history
    )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.split("\n")).strip()
