"""A note's lines put together to pieces: what is a paragraph, an item, a row, a block of code."""

from bisect import bisect_left
from enum import Enum

from actors.memory.chunking.pieces import Joint, Piece, Source
from eris.vault.block_rules import RULE, table_header, unified_line_ends
from eris.vault.note import Note, Span

_DEEPEST = 32
"""Lists in lists that are told apart."""


class _Before(Enum):
    """What the line before is."""

    NOTHING = 0
    TEXT = 1
    HEADING = 2
    RULE = 3
    ROW = 4
    SOLID = 5
    """Code, math, HTML."""
    BARE_QUOTE = 6
    """A quote's blank line."""


class NoteLines:
    """Walks once through the lines of a note, after its frontmatter."""

    def __init__(self, note: Note, source: Source) -> None:
        """Prepare to walk through a note whose text the source is."""
        self.pieces: list[Piece] = []
        """In the order of the text; blank and hidden lines at their borders belong to none."""
        self._source = source
        self._note = note
        self._unified = unified_line_ends(note.text)
        self._headings = {
            note.line(each.span.start): number for number, each in enumerate(note.headings)
        }
        self._items: dict[int, list[int]] = {}
        for each in note.items:
            self._items.setdefault(note.line(each.span.start), []).append(each.span.end)
        self._solid = [each for each in note.opaque if "\n" in each.of(self._unified)]
        self._open: list[int] = []
        """Ends of the items that the line is in, outermost first."""
        self._before = _Before.NOTHING
        self._in_list = False
        self._after_blank = False
        self._section = 0
        self._heading_end = 0
        self._delimiter_row = 0

    def walk(self) -> None:
        """Go through all of it."""
        starts = self._note.line_starts
        last = len(starts)
        for number in range(self._note.line(self._note.body_start), last + 1):
            start = max(starts[number - 1], self._note.body_start)
            end = starts[number] if number < last else len(self._unified)
            held = self._held(start)
            if not self._says_something(start, end):
                self._after_blank = self._after_blank or not held
            elif (held or start < self._heading_end) and self.pieces:
                self._go_on(end)
            else:
                self._line(number, start, end)
                self._after_blank = False

    def _says_something(self, start: int, end: int) -> bool:
        line = self._unified[start:end]
        return bool(line.strip()) and bool(self._source.shown(start, end).strip())

    def _held(self, start: int) -> bool:
        """Whether a line is in code, math, HTML or a comment that began on one before."""
        number = bisect_left(self._solid, Span(start, start)) - 1
        return number >= 0 and self._solid[number].end > start

    def _line(self, number: int, start: int, end: int) -> None:
        """Take a line with which something may begin."""
        text_start = end - len(self._unified[start:end].lstrip())
        heading = self._headings.get(number)
        if heading is not None:
            self._heading(heading, start, end)
            return
        while self._open and self._open[-1] <= start:
            self._open.pop()
        depth = min(len(self._open), _DEEPEST)
        new_items = self._items.get(number)
        before, self._before = self._before, _Before.TEXT
        in_list, self._in_list = self._in_list, bool(new_items or self._open)
        solid = self._solid_at(text_start)
        if new_items:
            self._open.extend(new_items)
            self._begin(start, end, Joint.ITEM + 2 * depth if in_list else self._block(), before)
        elif self._open:
            if self._after_blank or solid or before is _Before.SOLID:
                self._begin(start, end, Joint.ITEM + 2 * depth - 1, before)
            else:
                self._go_on(end)
        elif in_list or solid:
            self._begin(start, end, self._block(), before)
        else:
            self._plain_line(number, start, text_start, end, before)
        if solid:
            self._before = _Before.SOLID
            self.pieces[-1].is_code = self._unified[text_start] != "<"

    def _plain_line(
        self, number: int, start: int, text_start: int, end: int, before: _Before
    ) -> None:
        """Take a line outside of lists: a paragraph's, a table's, a quote's or a rule."""
        line = self._unified[text_start:end].rstrip()
        if number == self._delimiter_row:
            self._before = _Before.ROW
            self._go_on(end)
        elif before is _Before.ROW and not self._after_blank and "|" in line:
            self._before = _Before.ROW
            self._begin(start, end, Joint.ROW, before)
        elif self._is_table(number, text_start, end):
            self._delimiter_row = number + 1
            self._begin(start, end, self._block(), before)
        elif RULE.match(line):
            self._before = _Before.RULE
            self._begin(start, end, Joint.RULE, before)
        elif before is _Before.BARE_QUOTE and not self._after_blank:
            self._begin(start, end, Joint.QUOTED, before)
        elif before is _Before.TEXT and not self._after_blank:
            self._go_on(end)
        else:
            self._begin(start, end, self._block(), before)
        if not line.strip("> \t"):
            self._before = _Before.BARE_QUOTE

    def _block(self) -> Joint:
        return Joint.PARAGRAPH if self._after_blank else Joint.BLOCK

    def _heading(self, number: int, start: int, end: int) -> None:
        heading = self._note.headings[number]
        self._section = number + 1
        self._begin(start, end, heading.level, self._before)
        self.pieces[-1].is_heading = True
        self._heading_end = heading.span.end
        self._before = _Before.HEADING
        self._in_list = False
        self._open.clear()

    def _begin(self, start: int, end: int, joint: int, before: _Before) -> None:
        """Begin a piece with this line."""
        if before is _Before.HEADING:
            joint = Joint.HEADED
        elif before is _Before.RULE and joint in {Joint.PARAGRAPH, Joint.BLOCK}:
            joint = Joint.AFTER_RULE
        elif joint in {Joint.PARAGRAPH, Joint.BLOCK} and self._is_lead():
            joint = Joint.LEAD
        self.pieces.append(Piece(start, end, joint, self._section))

    def _go_on(self, end: int) -> None:
        self.pieces[-1].end = end

    def _is_lead(self) -> bool:
        if not self.pieces:
            return False
        piece = self.pieces[-1]
        tail = self._unified[max(piece.start, piece.end - _DEEPEST) : piece.end]
        return tail.rstrip(" \t\n*_").endswith((":", "：", "∶"))  # noqa: RUF001

    def _solid_at(self, position: int) -> bool:
        number = bisect_left(self._solid, Span(position, position))
        return number < len(self._solid) and self._solid[number].start == position

    def _is_table(self, number: int, text_start: int, end: int) -> bool:
        """Whether a table begins with this line: the next one has its dashes."""
        text = self._unified
        starts = self._note.line_starts
        if number >= len(starts) or "|" not in text[text_start:end]:
            return False
        after = starts[number + 1] if number + 1 < len(starts) else len(text)
        row = text[starts[number] : after]
        if not row.strip():
            return False
        row_start = after - len(row.lstrip())
        lines = [(text_start, end - 1), (row_start, row_start + len(row.strip()))]
        return table_header(text, lines) == 0
