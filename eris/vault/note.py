"""What a note consists of, with the place of each part in its text.

Made by `eris.vault.markdown.parse`. Every `Span` counts characters of the decoded file, a byte
order mark included, so that `text[:span.start] + new + text[span.end:]`, encoded again, changes no
byte outside of the span.
"""

import datetime as dt
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import msgspec

LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line; other Unicode line breaks are ordinary characters here, as in editors."""


def line_end(text: str) -> str:
    """Return what the lines of a note end in: what its first one does, or a line feed."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


PropertyValue = (
    str | int | float | bool | dt.date | dt.datetime | None | Sequence["PropertyValue"]
    | Mapping[str, "PropertyValue"]
)  # fmt: skip
"""A value in the frontmatter."""


# These are Structs, not dataclasses, because a note has hundreds of them: a frozen dataclass takes
# four times as long to make.
class Span(msgspec.Struct, frozen=True, order=True):
    """A part of the text: characters from `start` up to, not including, `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the part of the text."""
        return text[self.start : self.end]

    def __contains__(self, position: int) -> bool:
        return self.start <= position < self.end


class Frontmatter(msgspec.Struct, frozen=True):
    """The YAML block at the start of a note."""

    span: Span
    """From the opening `---` to the end of the line of the closing one, its line end included."""
    content: Span
    """The YAML between them, with the line end of its last line."""
    properties: Mapping[str, PropertyValue] = {}
    """Empty if the YAML can't be read."""
    error: str = ""
    """Why it can't be read, with line and column of the file; empty if it can."""
    line: int = 0
    """Line of the file, from 1, at which reading failed; 0 if it didn't."""
    column: int = 0
    """Column in that line, from 1; 0 if reading didn't fail."""


class Heading(msgspec.Struct, frozen=True):
    """A heading of the note itself: not one in a quote or in an item of a list."""

    span: Span
    """The whole line or lines, without the line's end."""
    level: int
    """1 to 6."""
    title: str
    """Its text as written, without `#` marks and surrounding spaces."""
    section: Span
    """From the heading to the next one of the same or a higher level, or to the end of the note."""


class Block(msgspec.Struct, frozen=True):
    """A block that has an id, such as a paragraph that ends in ` ^plan`."""

    span: Span
    """The whole block, its id included if the id is part of it; an item has its children in it."""
    name: str
    """The id, without `^`."""


class LinkKind(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    """`[[target#anchor|shown]]`, or with `!` in front: an embed."""
    MARKDOWN = "markdown"
    """`[shown](target.md#anchor)`, or with `!` in front; or a definition `[shown]: target.md`.

    A definition is the link, once, however often `[text][shown]` refers to it: so every place
    where a target is written is there once.
    """
    PROPERTY = "property"
    """A wiki link within a value of the frontmatter."""


class Link(msgspec.Struct, frozen=True):
    """A link to another file of the vault, or to a place in this one; never to a web address."""

    span: Span
    """All of it, from `[[` or `![` to the last bracket."""
    kind: LinkKind
    target: str
    """The path or name as meant: percent-encoding undone, no anchor; empty for this very note."""
    target_span: Span
    """Where target and anchor are written, without brackets, `<` `>`, spaces and shown text."""
    anchor: str = ""
    """What follows the first `#`: `Heading`, `H1#H2` or `^block`; without that `#`."""
    shown: str | None = None
    """The text shown instead of the target; None if there's none."""
    embed: bool = False


class Tag(msgspec.Struct, frozen=True):
    """A tag in the text or in the property `tags`."""

    span: Span
    """With its `#`, if it's written with one."""
    name: str
    """As written, without `#`."""


class Item(msgspec.Struct, frozen=True):
    """An item of a list."""

    span: Span
    """From its marker to its last character, the items within it included."""
    marker: str
    """As written: `-`, `*`, `+`, or a number with `.` or `)`."""


class Task(msgspec.Struct, frozen=True):
    """An item of a list with a box: `- [ ] water the plants`."""

    span: Span
    """The item's first line, from its first character (indentation included) to its last."""
    mark: Span
    """The one character in the box."""
    text: str
    """What is to be done, as written after the box."""

    def done(self, text: str) -> bool:
        """Whether it's ticked, in the note of this text."""
        return self.mark.of(text) in "xX"


@dataclass(frozen=True)
class Note:
    """A parsed note; lists are in the order of the text."""

    text: str
    frontmatter: Frontmatter | None = None
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[Tag, ...] = ()
    items: tuple[Item, ...] = ()
    tasks: tuple[Task, ...] = ()
    opaque: tuple[Span, ...] = ()
    """Code, comments, math, HTML and web addresses: nothing in them is a link, tag or heading.

    In the order of the text; none overlaps another.
    """

    @property
    def properties(self) -> Mapping[str, PropertyValue]:
        """The properties of the frontmatter; empty if there are none."""
        return self.frontmatter.properties if self.frontmatter else {}

    @property
    def body_start(self) -> int:
        """Where the text after the frontmatter (and a byte order mark) begins."""
        if self.frontmatter:
            return self.frontmatter.span.end
        return 1 if self.text.startswith("\ufeff") else 0

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Positions of the first character of every line; lines end in LF, CRLF or CR."""
        return (0, *(end.end() for end in LINE_END.finditer(self.text)))

    def line(self, position: int) -> int:
        """Return the number, from 1, of the line that has this character."""
        return bisect_right(self.line_starts, position)

    def line_span(self, number: int) -> Span:
        """Return the line of this number, from 1, without its line end.

        Raises:
            IndexError: There's no such line.
        """
        starts = self.line_starts
        if not 1 <= number <= len(starts):
            raise IndexError(number)
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else len(self.text)
        return Span(start, start + len(self.text[start:end].rstrip("\r\n")))

    def byte(self, position: int) -> int:
        """Return the byte of the UTF-8 file at which this character begins."""
        return len(self.text[:position].encode())
