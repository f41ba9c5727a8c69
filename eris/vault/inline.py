"""Links, tags and opaque ranges within the text of one block.

Block structure is `eris.vault.blocks`'; here a block's text is scanned once from left to right.
A library's inline rules wouldn't do: they give no positions, and Obsidian's links and comments come
before CommonMark's emphasis. Every pattern either consumes what it has looked at or stops at the
character that starts the next attempt, so that time grows with the length, whatever the text.
"""

import re
from bisect import bisect_left
from urllib.parse import unquote

import msgspec

from eris.vault.block_rules import CELL_BORDER, HTML_TAG
from eris.vault.collected_blocks import Unit
from eris.vault.note import Link, LinkKind, Span, Tag

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
"""How an address begins that isn't a path of the vault."""

TAG_NAME = (
    r"[^\s\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff3e\uff40\uff5b-\uff65'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+"
)
"""What may follow `#` in a tag: no space and no punctuation but `_`, `-` and `/`."""

WIKI = re.compile(r"(!?)\[\[([^\[\]\n\r|]*+)(?:\|((?:[^\[\]\n\r]|\[(?!\[)|\](?!\]))*+))?+\]\]")
"""A wiki link: `!`, target with anchor, shown text."""

# Each alternative begins with a character of its own, which a search then looks for at once: that
# takes a third of the time.
_SPECIAL = re.compile(r"\\.|``*|\$|%%|<|!\[\[|!\[|\[\[|\[|\]|://|#" + TAG_NAME, re.DOTALL)
_BEFORE_TAG = re.compile(r"(?:\A|\s)[*~=_]*\Z")
_LONGEST_EMPHASIS = 8
_TITLE = r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"
_NESTED = r"\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+\)"
_DESTINATION = re.compile(
    rf"\(\s*+(?:<([^<>\n]*+)>|((?:[^\s()<\\]|\\.|{_NESTED})(?:[^\s()\\]|\\.|{_NESTED})*+))"
    rf"(?:\s++{_TITLE})?+\s*+\)",
    re.DOTALL,
)
_MATH = re.compile(r"\$(?![\s$])(?:[^$\n\\]|\\.)*+(?<!\s)\$(?!\d)")
_DISPLAY_MATH = re.compile(r"\$\$(?:[^$\\]|\\.|\$(?!\$))++\$\$", re.DOTALL)
_HTML = re.compile(
    HTML_TAG + r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>|<[\w.+-]{1,64}@[\w.-]{1,255}>"
)
_ADDRESS = re.compile(r"://[^\s<>\"`\[\]|]*+")
_SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_LONGEST_SCHEME = 32
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def meaning(destination: str) -> str:
    """Return the path or anchor that a Markdown link's destination means."""
    plain = _ESCAPE.sub(r"\1", destination) if "\\" in destination else destination
    if "%" not in plain:
        return plain
    try:
        return unquote(plain, errors="strict")
    except UnicodeDecodeError:
        return plain


def wiki_link(match: re.Match[str], base: int, kind: LinkKind = LinkKind.WIKI) -> Link | None:
    """Return the link that a match of `WIKI` in the text from `base` on is; None for `[[]]`."""
    written, shown = match[2], match[3]
    if shown is not None and written.endswith("\\"):  # `\|` in a table
        written = written[:-1]
    stripped = written.strip()
    if not stripped:
        return None
    start = base + match.start(2) + len(written) - len(written.lstrip())
    target, _, anchor = stripped.partition("#")
    return Link(
        Span(base + match.start(), base + match.end()),
        kind,
        target,
        Span(start, start + len(stripped)),
        anchor,
        shown,
        bool(match[1]),
    )


class _Opener(msgspec.Struct):
    start: int
    text_start: int
    image: bool


class _Piece:
    """The text of one block while it's scanned, as long as in the note."""

    def __init__(self, source: str, base: int) -> None:
        self.source = source
        self.base = base
        self.openers: list[_Opener] = []
        self._runs: dict[int, list[int]] | None = None
        self._absent: set[str] = set()

    def after(self, mark: str, position: int) -> int:
        """Return where the next such mark ends, or -1; one that is absent is looked for once."""
        if mark in self._absent:
            return -1
        found = self.source.find(mark, position)
        if found < 0:
            self._absent.add(mark)
            return -1
        return found + len(mark)

    def code_end(self, start: int, length: int) -> int:
        """Return where the code ends whose opening run of backticks is here, or -1."""
        if self._runs is None:
            self._runs = {}
            for run in re.finditer(r"`+", self.source):
                self._runs.setdefault(run.end() - run.start(), []).append(run.start())
        runs = self._runs.get(length, [])
        index = bisect_left(runs, start + length)
        return runs[index] + length if index < len(runs) else -1


class InlineScanner:
    """Collects what the blocks of one note hold."""

    def __init__(self, text: str, source: str) -> None:
        """Prepare to scan a note.

        Args:
            text: The note.
            source: The same with unified line ends, of the same length.
        """
        self.links: list[Link] = []
        self.tags: list[Tag] = []
        self.opaque: list[Span] = []
        self._text = text
        self._source = source

    def read(self, unit: Unit) -> None:
        """Scan one block's text."""
        source = self._source
        if unit.row:
            start = unit.start
            for border in CELL_BORDER.finditer(source, unit.start, unit.end):
                self._scan(source[start : border.start()], start)
                start = border.end()
            self._scan(source[start : unit.end], start)
        elif unit.lines:
            self._scan(_masked(source, unit), unit.start)
        else:
            self._scan(source[unit.start : unit.end], unit.start)

    def define(self, definition: re.Match[str]) -> None:
        """Take a link definition as `eris.vault.blocks` has found it."""
        written = definition[0]
        group = 2 if definition[2] is not None else 3
        span = Span(
            definition.start() + len(written) - len(written.lstrip()),
            definition.start() + len(written.rstrip()),
        )
        name = self._text[definition.start(1) : definition.end(1)]
        self._destination(span, Span(*definition.span(group)), shown=name, embed=False)

    def _scan(self, source: str, base: int) -> None:
        match = _SPECIAL.search(source)
        if not match:
            return
        piece = _Piece(source, base)
        while match:
            match = _SPECIAL.search(source, self._special(piece, match))

    def _special(self, piece: _Piece, match: re.Match[str]) -> int:
        """Take what begins at a special character; return where to go on."""
        start, end = match.span()
        match match[0][0]:
            case "#":
                after = self._tag(piece, match)
            case "[" | "!":
                after = self._bracket(piece, match)
            case "]":
                after = self._closing_bracket(piece, start)
            case ":":
                after = self._address(piece, match)
            case "\\":
                after = end
            case _:
                closed, after = self._hidden(piece, start, end)
                if closed >= 0:
                    self.opaque.append(Span(piece.base + start, piece.base + closed))
                    after = closed
        return after

    def _hidden(self, piece: _Piece, start: int, end: int) -> tuple[int, int]:
        """Return where code, a comment, math or HTML ends, or -1; and where to go on then."""
        source = piece.source
        match source[start]:
            case "`":
                return piece.code_end(start, end - start), end
            case "%":
                return piece.after("%%", end), end
            case "$" if source.startswith("$$", start):
                found = _DISPLAY_MATH.match(source, start)
                return (found.end() if found else -1), end + 1
            case "$":
                found = _MATH.match(source, start)
                return (found.end() if found else -1), end
            case _ if source.startswith("<!--", start):
                return piece.after("-->", end), end
            case _:
                found = _HTML.match(source, start)
                return (found.end() if found else -1), end

    def _tag(self, piece: _Piece, match: re.Match[str]) -> int:
        start = match.start()
        name = match[0][1:].rstrip("/")
        before = piece.source[max(0, start - _LONGEST_EMPHASIS) : start]
        if name.strip("0123456789/") and _BEFORE_TAG.search(before):
            position = piece.base + start
            self.tags.append(Tag(Span(position, position + 1 + len(name)), name))
        return match.end()

    def _bracket(self, piece: _Piece, match: re.Match[str]) -> int:
        if match[0].endswith("[[") and (wiki := WIKI.match(piece.source, match.start())):
            link = wiki_link(wiki, piece.base)
            if link:
                self.links.append(link)
                return wiki.end()
        image = match[0][0] == "!"
        after = match.start() + 1 + image
        piece.openers.append(_Opener(match.start(), after, image))
        return after

    def _closing_bracket(self, piece: _Piece, position: int) -> int:
        if not piece.openers:
            return position + 1
        opener = piece.openers.pop()
        if not piece.source.startswith("(", position + 1):
            return position + 1
        match = _DESTINATION.match(piece.source, position + 1)
        if match is None:
            return position + 1
        if not opener.image:  # no link within a link
            piece.openers = [outer for outer in piece.openers if outer.image]
        group = 1 if match[1] is not None else 2
        self._destination(
            Span(piece.base + opener.start, piece.base + match.end()),
            Span(piece.base + match.start(group), piece.base + match.end(group)),
            shown=self._text[piece.base + opener.text_start : piece.base + position],
            embed=opener.image,
        )
        return match.end()

    def _destination(self, span: Span, written: Span, *, shown: str | None, embed: bool) -> None:
        """Take a Markdown link: of the vault, or an address, in which nothing is found."""
        destination = written.of(self._text)
        if SCHEME.match(destination):
            self.opaque.append(written)
        elif destination.strip():
            target, _, anchor = destination.partition("#")
            kind = LinkKind.MARKDOWN
            link = Link(span, kind, meaning(target), written, meaning(anchor), shown, embed)
            self.links.append(link)

    def _address(self, piece: _Piece, match: re.Match[str]) -> int:
        start = match.start()
        scheme = _SCHEME_BEFORE.search(piece.source[max(0, start - _LONGEST_SCHEME) : start])
        address = _ADDRESS.match(piece.source, start) if scheme else None
        if not scheme or not address:
            return match.end()
        self.opaque.append(Span(piece.base + start - len(scheme[0]), piece.base + address.end()))
        return address.end()


def _masked(source: str, unit: Unit) -> str:
    """Return a block's text with spaces for the marks of quotes between its lines."""
    parts: list[str] = []
    position = unit.start
    for start, end in unit.lines:
        parts.append("\n" + " " * (start - position - 1) if start > position else "")
        parts.append(source[start:end])
        position = end
    return "".join(parts)
