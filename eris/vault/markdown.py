"""A note's text, understood in one tolerant pass: CommonMark with Obsidian's extensions.

Blocks are found by `eris.vault.blocks`, what's within them by `eris.vault.inline`. Both see a text
of the same length as the note (CRLF becomes space and LF, CR becomes LF), so that every position is
one in the note, with nothing to map. Nothing raises here: any text is a note.
"""

from typing import TypeVar

from msgspec.structs import replace

from eris.vault.block_rules import unified_line_ends
from eris.vault.blocks import BlockScanner
from eris.vault.collected_blocks import BareHeading
from eris.vault.frontmatter import property_links, property_tags, read
from eris.vault.inline import InlineScanner
from eris.vault.note import Block, Heading, Item, Link, Note, Span, Tag, Task

Part = TypeVar("Part", Block, Item, Task)


def parse(text: str, *, properties: bool = True) -> Note:
    """Return what the note consists of; never raises.

    Args:
        text: The note's.
        properties: Whether its properties are wanted, and the tags in them. YAML takes a third of
            the time, so whoever looks for links leaves them out; links in properties are found all
            the same.
    """
    source = unified_line_ends(text)
    frontmatter = read(text, values=properties)
    links: list[Link] = []
    tags: list[Tag] = []
    if frontmatter:
        links.extend(property_links(text, frontmatter))
        tags.extend(property_tags(text, frontmatter))
        start = frontmatter.span.end
    else:
        start = 1 if text.startswith("\ufeff") else 0
    blocks = BlockScanner(source, start)
    blocks.scan()
    inline = InlineScanner(text, source)
    for unit in blocks.units:
        inline.read(unit)
    for definition in blocks.definitions:
        inline.define(definition)
    return Note(
        text=text,
        frontmatter=frontmatter,
        headings=_with_sections(text, blocks.headings),
        blocks=_in_order(text, blocks.blocks),
        links=(*links, *sorted(inline.links, key=_place)),
        tags=(*tags, *inline.tags),
        items=_in_order(text, blocks.items),
        tasks=_in_order(text, blocks.tasks),
        opaque=_apart([_written(text, span) for span in blocks.opaque] + inline.opaque),
    )


def _place(part: Block | Item | Link | Task) -> Span:
    return part.span


def _written(text: str, span: Span) -> Span:
    """Return a span without the CR of its last line's end, which a scan sees as a space."""
    end = span.end
    if end > span.start and text.startswith("\r\n", end - 1):
        return Span(span.start, end - 1)
    return span


def _in_order(text: str, parts: list[Part]) -> tuple[Part, ...]:
    """Return parts of the note in the order of the text, their spans as `_written` says."""
    if "\r\n" in text:
        parts = [replace(part, span=_written(text, part.span)) for part in parts]
    return tuple(sorted(parts, key=_place))


def _with_sections(text: str, bare: list[BareHeading]) -> tuple[Heading, ...]:
    """Return the headings, each with its section, which ends at the next one as high."""
    ends: list[int] = [len(text)] * 7
    headings: list[Heading] = []
    for each in reversed(bare):
        start = each.span.start
        section = Span(start, ends[each.level])
        span = _written(text, each.span)
        headings.append(Heading(span, each.level, each.title.of(text), section))
        ends[each.level :] = [start] * (7 - each.level)
    headings.reverse()
    return tuple(headings)


def _apart(spans: list[Span]) -> tuple[Span, ...]:
    """Return the spans in order; what is within another is left out."""
    spans.sort()
    apart: list[Span] = []
    for span in spans:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
        elif span.end > apart[-1].end:
            apart[-1] = Span(apart[-1].start, span.end)
    return tuple(apart)
