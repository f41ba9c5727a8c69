"""The blocks of a note: where its headings, items, code, comments and paragraphs are.

Containers, interruptions and lazy lines follow CommonMark 0.31, which a property test compares with
markdown-it-py; that library's own block pass takes twice the time that indexing leaves for a whole
note, and knows neither comments nor math. Tables, `%%comments%%`, `$$math$$` and block ids follow
Obsidian. How a line is told to begin or end something is in `eris.vault.block_rules`; what is
within a paragraph is left to `eris.vault.inline`.
"""

import re

from eris.vault.block_rules import (
    BLANK_LINE,
    BOX,
    FENCE,
    HEADING,
    MARKER,
    RULE,
    TAB,
    UNDERLINE,
    advance,
    after_quote_mark,
    html_ending,
    indentation,
    without_closing_marks,
)
from eris.vault.collected_blocks import CollectedBlocks, Container, Kind, Leaf
from eris.vault.note import Span, Task

_DEEPEST = 32
"""Containers in containers; deeper ones are text, so that a line costs no more than its length."""
_NOT_PLAIN = frozenset(" \t#>-+*_=~`<|$%[:0123456789")
"""A line that starts with none of these, outside of any container, is a paragraph's."""


class BlockScanner(CollectedBlocks):
    """Reads blocks once, from start to end."""

    def scan(self) -> None:
        """Read all of it."""
        text = self._text
        stack = self._stack
        start = self._start
        for line in text[start:].split("\n"):
            end = start + len(line)
            leaf = self._leaf
            if len(stack) == 1 and (leaf is None or leaf.kind is Kind.PARAGRAPH):
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
                    self._leaf = Leaf(Kind.PARAGRAPH, start, end, [(start, end)])
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
            and leaf.kind is not Kind.PARAGRAPH
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
                    self._open(Leaf(Kind.INDENTED, text_start, end))
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
            self._stack.append(Container(position, position + 1, last=(position, position)))
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
        item = Container(
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

    # Leaves.

    def _held(self, leaf: Leaf, position: int, column: int, end: int) -> bool:
        """Whether the line is part of the open leaf, which is no paragraph; close it if it ends."""
        text = self._text
        text_start, indent = indentation(text, position, column, end)
        blank = text_start == end
        if leaf.kind is Kind.INDENTED and not blank and indent < TAB:
            self._close_leaf()
            return False
        if not (blank and (leaf.kind is Kind.INDENTED or leaf.ending is BLANK_LINE)):
            leaf.end = end
        match leaf.kind:
            case Kind.FENCED:
                closing = text[text_start:end].rstrip(" \t")
                ends = (
                    indent < TAB
                    and closing.startswith(leaf.fence)
                    and not closing.strip(leaf.fence[0])
                )
            case Kind.HTML:
                assert leaf.ending  # noqa: S101 - HTML has one
                found = leaf.ending.match if leaf.ending is BLANK_LINE else leaf.ending.search
                ends = found(text, position, end) is not None
            case Kind.HIDDEN:
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
            self._open(Leaf(Kind.PARAGRAPH, text_start, end, [(text_start, end)]))

    def _paragraph(self) -> Leaf | None:
        """The open paragraph."""
        return self._leaf if self._leaf and self._leaf.kind is Kind.PARAGRAPH else None

    def _open(self, leaf: Leaf) -> None:
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
        self._open(Leaf(Kind.PARAGRAPH, text_start, end, [(text_start, end)]))

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
                    self._begin(Kind.FENCED, position, end, matched, fence=found.group())
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
        kind: Kind,
        position: int,
        end: int,
        matched: int,
        *,
        fence: str = "",
        ending: re.Pattern[str] | None = None,
    ) -> None:
        self._close_unmatched(matched)
        self._close_leaf()
        self._open(Leaf(kind, position, end, fence=fence, ending=ending))

    def _html(self, position: int, end: int, matched: int) -> bool:
        in_paragraph = self._paragraph() is not None
        ending = html_ending(self._text, position, end, in_paragraph=in_paragraph)
        if ending is None:
            return False
        self._begin(Kind.HTML, position, end, matched, ending=ending)
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

    def _underlined(self, paragraph: Leaf, mark: str, end: int) -> bool:
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
        self._begin(Kind.HIDDEN, position, end, matched, fence=fence)
        return True
