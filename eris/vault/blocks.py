"""The blocks of a note: where its headings, items, code, comments and paragraphs are.

Containers, interruptions and lazy lines follow CommonMark 0.31, which a property test compares with
markdown-it-py; that library's own block pass takes twice the time that indexing leaves for a whole
note, and knows neither comments nor math. Tables, `%%comments%%`, `$$math$$` and block ids follow
Obsidian. How a line is told to begin or end something is in `eris.vault.block_rules`; what is
within a paragraph is left to `eris.vault.inline`.
"""

import re
from enum import StrEnum

import msgspec

from eris.vault.block_rules import (
    BLANK_LINE,
    BOX,
    FENCE,
    HEADING,
    MARKER,
    RULE,
    TAB,
    UNDERLINE,
    Line,
    advance,
    after_quote_mark,
    block_id,
    definitions,
    html_ending,
    indentation,
    table_header,
    without_closing_marks,
)
from eris.vault.note import Block, Item, Span, Task

_DEEPEST = 32
"""Containers in containers; deeper ones are text, so that a line costs no more than its length."""
_NOT_PLAIN = frozenset(" \t#>-+*_=~`<|$%[:0123456789")
"""A line that starts with none of these, outside of any container, is a paragraph's."""


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


class _Container(msgspec.Struct):
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


class _Kind(StrEnum):
    PARAGRAPH = "paragraph"
    FENCED = "fenced"
    INDENTED = "indented"
    HTML = "html"
    HIDDEN = "hidden"
    """A comment or a formula."""


class _Leaf(msgspec.Struct):
    """An open block that holds lines: what it is says how it ends."""

    kind: _Kind
    start: int
    end: int
    lines: list[Line] = []
    """A paragraph's."""
    fence: str = ""
    """What code, a comment or a formula began with."""
    ending: re.Pattern[str] | None = None
    """What is in the last line of HTML."""


class BlockScanner:
    """Reads blocks once, from start to end, into its lists."""

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
        self._stack: list[_Container] = [_Container(start, start, last=(start, start))]
        self._leaf: _Leaf | None = None

    def scan(self) -> None:
        """Read all of it."""
        text = self._text
        stack = self._stack
        start = self._start
        for line in text[start:].split("\n"):
            end = start + len(line)
            leaf = self._leaf
            if len(stack) == 1 and (leaf is None or leaf.kind is _Kind.PARAGRAPH):
                first = line[:1]
                if first == "":
                    if leaf:
                        self._close_leaf()
                elif first in _NOT_PLAIN:
                    self._line(start, end)
                elif leaf:
                    leaf.lines.append((start, end))
                    leaf.end = end
                else:
                    self._leaf = _Leaf(_Kind.PARAGRAPH, start, end, [(start, end)])
            else:
                self._line(start, end)
            start = end + 1
        self._close_leaf()
        self._close_containers(1)

    # Lines.

    def _line(self, start: int, end: int) -> None:
        """Read one line by all the rules."""
        stack = self._stack
        position, column, matched = self._continued(start, end)
        leaf = self._leaf
        if (
            leaf
            and matched == len(stack)
            and leaf.kind is not _Kind.PARAGRAPH
            and self._held(leaf, position, column, end)
        ):
            return
        opened = False
        while True:
            text_start, indent = indentation(self._text, position, column, end)
            if text_start == end:
                if not opened:
                    self._close_unmatched(matched)
                if self._paragraph():
                    self._close_leaf()
                return
            if indent >= TAB:
                if self._paragraph() is None:
                    self._close_unmatched(matched)
                    self._open(_Leaf(_Kind.INDENTED, text_start, end))
                    return
                break
            after = self._container(text_start, column + indent, indent, end, matched)
            if after is None:
                if self._block(text_start, end, matched):
                    return
                break
            position, column = after
            matched = len(stack)
            opened = True
        self._paragraph_line(text_start, end, matched)

    def _continued(self, start: int, end: int) -> tuple[int, int, int]:
        """Pass by the marks and indentation of the open containers that the line belongs to.

        Returns:
            Position and column after them, and how many they are, the note included.
        """
        text = self._text
        position, column, matched = start, 0, 1
        for container in self._stack[1:]:
            text_start, indent = indentation(self._text, position, column, end)
            if container.width:
                if text_start == end:
                    if container.hollow and self._leaf is None and self._stack[-1] is container:
                        break
                    position, column = end, column + indent
                elif indent >= container.width:
                    position, column = advance(self._text, position, column, container.width)
                else:
                    break
            elif text_start < end and indent < TAB and text[text_start] == ">":
                position, column = after_quote_mark(self._text, text_start, column + indent)
            else:
                break
            matched += 1
        return position, column, matched

    # Containers.

    def _container(
        self, position: int, column: int, indent: int, end: int, matched: int
    ) -> tuple[int, int] | None:
        """Open the quote or item that starts here, if one does.

        Returns:
            Position and column of what is in it.
        """
        first = self._text[position]
        if len(self._stack) > _DEEPEST:
            return None
        if first == ">":
            self._close_unmatched(matched)
            self._close_leaf()
            self._stack[-1].hollow = False
            self._stack.append(_Container(position, position + 1, last=(position, position)))
            return after_quote_mark(self._text, position, column)
        if first in "*+-0123456789" and not RULE.match(self._text, position, end):
            return self._item(position, column, indent, end, matched)
        return None

    def _item(
        self, position: int, column: int, indent: int, end: int, matched: int
    ) -> tuple[int, int] | None:
        """Open the item that starts here, if one does."""
        marker = MARKER.match(self._text, position, end)
        if not marker:
            return None
        width = marker.end() - position
        text_start, spaces = indentation(self._text, marker.end(), column + width, end)
        hollow = text_start == end
        number = marker.group(1)
        interrupting = self._leaf is not None and matched == len(self._stack)
        if interrupting and (hollow or (number and int(number) != 1)):
            return None
        self._close_unmatched(matched)
        self._close_leaf()
        kept = 1 if hollow or spaces > TAB else spaces
        parent = self._stack[-1]
        parent.hollow = False
        item = _Container(
            position,
            marker.end(),
            width=indent + width + kept,
            marker=marker.group(),
            list_start=parent.last[0] if parent.last_list == marker.group()[-1] else position,
            last=(position, position),
            hollow=hollow,
        )
        self._stack.append(item)
        if hollow:
            return end, column + width + spaces
        box = BOX.match(self._text, text_start, end)
        if box and spaces <= TAB:
            line_start = max(self._text.rfind("\n", 0, position) + 1, self._start)
            text = self._text[box.end() : end].strip()
            self.tasks.append(Task(Span(line_start, end), Span(*box.span(1)), text))
        return advance(self._text, marker.end(), column + width, kept)

    def _close_unmatched(self, matched: int) -> None:
        """Close the containers that the line doesn't belong to, with the block open in them."""
        if matched < len(self._stack):
            self._close_leaf()
            self._close_containers(matched)

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

    # Leaves.

    def _held(self, leaf: _Leaf, position: int, column: int, end: int) -> bool:
        """Whether the line is part of the open leaf, which is no paragraph; close it if it ends."""
        text = self._text
        text_start, indent = indentation(text, position, column, end)
        blank = text_start == end
        if leaf.kind is _Kind.INDENTED and not blank and indent < TAB:
            self._close_leaf()
            return False
        if not (blank and (leaf.kind is _Kind.INDENTED or leaf.ending is BLANK_LINE)):
            leaf.end = end
        match leaf.kind:
            case _Kind.FENCED:
                closing = text[text_start:end].rstrip(" \t")
                ends = (
                    indent < TAB
                    and closing.startswith(leaf.fence)
                    and not closing.strip(leaf.fence[0])
                )
            case _Kind.HTML:
                assert leaf.ending  # noqa: S101 - HTML has one
                found = leaf.ending.match if leaf.ending is BLANK_LINE else leaf.ending.search
                ends = found(text, position, end) is not None
            case _Kind.HIDDEN:
                closing_at = text.find(leaf.fence, position, end)
                ends = False
                if closing_at >= 0:
                    leaf.end = closing_at + len(leaf.fence)
                    self._close_leaf()
                    self._rest(leaf.end, end)
            case _:
                ends = False
        if ends:
            self._close_leaf()
        return True

    def _rest(self, position: int, end: int) -> None:
        """What follows a comment or a formula on its last line is a paragraph."""
        text_start = indentation(self._text, position, 0, end)[0]
        if text_start < end:
            self._open(_Leaf(_Kind.PARAGRAPH, text_start, end, [(text_start, end)]))

    def _paragraph(self) -> _Leaf | None:
        """The open paragraph."""
        return self._leaf if self._leaf and self._leaf.kind is _Kind.PARAGRAPH else None

    def _open(self, leaf: _Leaf) -> None:
        self._leaf = leaf
        self._stack[-1].hollow = False

    def _paragraph_line(self, text_start: int, end: int, matched: int) -> None:
        paragraph = self._paragraph()
        if paragraph:
            # Of this container, or of one that goes on without its marks ("lazily").
            paragraph.lines.append((text_start, end))
            paragraph.end = end
            return
        self._close_unmatched(matched)
        self._open(_Leaf(_Kind.PARAGRAPH, text_start, end, [(text_start, end)]))

    def _block(self, position: int, end: int, matched: int) -> bool:
        """Read a heading, rule, or the first line of code, HTML, a comment or a formula."""
        text = self._text
        match text[position]:
            case "#":
                if found := HEADING.match(text, position, end):
                    self._close_unmatched(matched)
                    self._close_leaf()
                    written = text[found.end() : end].lstrip(" \t")
                    start = end - len(written)
                    title = Span(start, start + len(without_closing_marks(written)))
                    self._heading(found.end() - position, title, ((position, end),), end)
                    return True
            case "`" | "~":
                if found := FENCE.match(text, position, end):
                    self._begin(_Kind.FENCED, position, end, matched, fence=found.group())
                    return True
            case "<":
                return self._html(position, end, matched)
            case "=" | "-" | "*" | "_":
                return self._underline_or_rule(position, end, matched)
            case "%" | "$" as mark:
                return self._fenced_by_two(mark * 2, position, end, matched)
            case _:
                pass
        return False

    def _begin(
        self,
        kind: _Kind,
        position: int,
        end: int,
        matched: int,
        *,
        fence: str = "",
        ending: re.Pattern[str] | None = None,
    ) -> None:
        self._close_unmatched(matched)
        self._close_leaf()
        self._open(_Leaf(kind, position, end, fence=fence, ending=ending))

    def _html(self, position: int, end: int, matched: int) -> bool:
        in_paragraph = self._paragraph() is not None
        ending = html_ending(self._text, position, end, in_paragraph=in_paragraph)
        if ending is None:
            return False
        self._begin(_Kind.HTML, position, end, matched, ending=ending)
        if ending is not BLANK_LINE and ending.search(self._text, position, end):
            self._close_leaf()
        return True

    def _underline_or_rule(self, position: int, end: int, matched: int) -> bool:
        text = self._text
        paragraph = self._paragraph()
        if (
            paragraph
            and matched == len(self._stack)
            and text[position] in "=-"
            and UNDERLINE.match(text, position, end)
        ):
            return self._underlined(paragraph, text[position], end)
        if RULE.match(text, position, end):
            self._close_unmatched(matched)
            self._close_leaf()
            self._complete(position, end)
            return True
        return False

    def _underlined(self, paragraph: _Leaf, mark: str, end: int) -> bool:
        """Make a heading of the open paragraph, if more than definitions is in it."""
        self._define(paragraph)
        if not paragraph.lines:
            self._leaf = None
            return False
        lines = tuple(paragraph.lines)
        start = lines[0][0]
        title = Span(start, start + len(self._text[start : lines[-1][1]].rstrip(" \t")))
        self._leaf = None
        self._heading(1 if mark == "=" else 2, title, lines, end)
        return True

    def _heading(self, level: int, title: Span, lines: tuple[Line, ...], end: int) -> None:
        start = lines[0][0]
        if len(self._stack) == 1:
            self.headings.append(BareHeading(Span(start, end), level, title))
        self._unit(lines)
        if name := block_id(self._text, lines[-1]):
            self.blocks.append(Block(Span(start, end), name))
        self._complete(start, end)

    def _fenced_by_two(self, fence: str, position: int, end: int, matched: int) -> bool:
        """Begin a comment or a formula that doesn't end on its first line."""
        text = self._text
        if not text.startswith(fence, position) or text.find(fence, position + 2, end) >= 0:
            return False
        paragraph = self._paragraph()
        if paragraph and text.count(fence, paragraph.start, position) % 2:
            return False  # This one ends what began within the paragraph.
        # A comment left open hides the rest of the note. Two dollars alone are just dollars.
        if fence == "$$" and text.find(fence, end) < 0:
            return False
        self._begin(_Kind.HIDDEN, position, end, matched, fence=fence)
        return True

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
        if leaf.kind is not _Kind.PARAGRAPH:
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

    def _define(self, paragraph: _Leaf) -> None:
        """Take the definitions of links off the paragraph's start."""
        quoted = any(not container.width for container in self._stack[1:])
        found = definitions(self._text, paragraph.lines, quoted=quoted)
        if found:
            self.definitions.extend(found)
            end = found[-1].end()
            paragraph.lines = [line for line in paragraph.lines if line[0] >= end]
