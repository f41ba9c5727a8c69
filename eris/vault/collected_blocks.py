"""The blocks of a note that are complete, and those that are still open while it's read.

`eris.vault.blocks` tells from each line which blocks begin and end; here is what becomes of them.
"""

import re
from enum import StrEnum

import msgspec

from eris.vault.block_rules import Line, block_id, definitions, table_header
from eris.vault.note import Block, Item, Span, Task


class Unit(msgspec.Struct):
    """Text to be read for links, tags and code: a paragraph, a heading or a row of a table."""

    start: int
    end: int
    lines: tuple[Line, ...] = ()
    """If only these parts of it belong to it, since the marks of a quote are between them."""
    row: bool = False
    """Whether it's a row of a table."""


class BareHeading(msgspec.Struct):
    """A heading before its section is known."""

    span: Span
    level: int
    title: Span


class Container(msgspec.Struct):
    """An open quote (width 0) or item of a list; the note itself is the outermost one."""

    start: int
    end: int
    """End of the last line that belongs to it and isn't blank."""
    width: int = 0
    """Columns that a line must be indented by to belong to the item."""
    marker: str = ""
    """An item's, as written."""
    list_start: int = 0
    last: Line = (0, 0)
    """The last block in it that is complete."""
    last_list: str = ""
    """If that is a list, the last character of its items' markers: another one begins another."""
    hollow: bool = False
    """Whether it's an item with nothing on its first line, and nothing yet."""
    name: str = ""
    """Its block id."""


class Kind(StrEnum):
    """What an open block that holds lines is."""

    PARAGRAPH = "paragraph"
    FENCED = "fenced"
    INDENTED = "indented"
    HTML = "html"
    HIDDEN = "hidden"
    """A comment or a formula."""


class Leaf(msgspec.Struct):
    """An open block that holds lines: what it is says how it ends."""

    kind: Kind
    start: int
    end: int
    lines: list[Line] = []
    """A paragraph's."""
    fence: str = ""
    """What code, a comment or a formula began with."""
    ending: re.Pattern[str] | None = None
    """What is in the last line of HTML."""


class CollectedBlocks:
    """The blocks of a note: complete ones in its lists, open ones on its stack."""

    def __init__(self, text: str, start: int) -> None:
        """Prepare to read the text, of unified line ends, from this position."""
        self.units: list[Unit] = []
        self.headings: list[BareHeading] = []
        self.items: list[Item] = []
        self.tasks: list[Task] = []
        self.blocks: list[Block] = []
        self.opaque: list[Span] = []
        self.definitions: list[re.Match[str]] = []
        self._text = text
        self._start = start
        self._stack: list[Container] = [Container(start, start, last=(start, start))]
        self._leaf: Leaf | None = None

    def _close_containers(self, kept: int) -> None:
        stack = self._stack
        while len(stack) > kept:
            closed = stack.pop()
            parent = stack[-1]
            parent.end = max(parent.end, closed.end)
            parent.last = (closed.list_start if closed.width else closed.start, closed.end)
            parent.last_list = closed.marker[-1:]
            span = Span(closed.start, closed.end)
            if closed.width:
                self.items.append(Item(span, closed.marker))
            if closed.name:
                self.blocks.append(Block(span, closed.name))

    def _heading(self, level: int, title: Span, lines: tuple[Line, ...], end: int) -> None:
        start = lines[0][0]
        if len(self._stack) == 1:
            self.headings.append(BareHeading(Span(start, end), level, title))
        self._unit(lines)
        if name := block_id(self._text, lines[-1]):
            self.blocks.append(Block(Span(start, end), name))
        self._complete(start, end)

    def _complete(self, start: int, end: int) -> None:
        """Note that a block in the innermost container is complete."""
        container = self._stack[-1]
        container.hollow = False
        container.last = (start, end)
        container.last_list = ""
        container.end = max(container.end, end)

    def _close_leaf(self) -> None:
        leaf = self._leaf
        if leaf is None:
            return
        self._leaf = None
        if leaf.kind is not Kind.PARAGRAPH:
            self.opaque.append(Span(leaf.start, leaf.end))
            self._complete(leaf.start, leaf.end)
            return
        self._define(leaf)
        if not leaf.lines:
            self._complete(leaf.start, leaf.end)
            return
        lines = leaf.lines
        start, end = lines[0][0], lines[-1][1]
        container = self._stack[-1]
        if name := block_id(self._text, lines[-1]):
            if len(lines) == 1 and self._text[start] == "^":
                if container.last[1] > container.last[0]:
                    self.blocks.append(Block(Span(*container.last), name))
                return
            if container.width and container.last[1] == container.start:
                container.name = name
            else:
                self.blocks.append(Block(Span(start, end), name))
        header = table_header(self._text, lines)
        if header is None:
            self._unit(tuple(lines))
        else:
            if header:
                self._unit(tuple(lines[:header]))
            self.units.extend(
                Unit(*line, row=True) for line in (lines[header], *lines[header + 2 :])
            )
        self._complete(start, end)

    def _unit(self, lines: tuple[Line, ...]) -> None:
        parted = len(lines) > 1 and any(not container.width for container in self._stack[1:])
        self.units.append(Unit(lines[0][0], lines[-1][1], lines if parted else ()))

    def _define(self, paragraph: Leaf) -> None:
        """Take the definitions of links off the paragraph's start."""
        quoted = any(not container.width for container in self._stack[1:])
        found = definitions(self._text, paragraph.lines, quoted=quoted)
        if found:
            self.definitions.extend(found)
            end = found[-1].end()
            paragraph.lines = [line for line in paragraph.lines if line[0] >= end]
