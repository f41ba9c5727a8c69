"""What begins, continues and ends a block of a note, told from its lines alone.

Positions are those of a text with line ends as `unified_line_ends` leaves them; patterns are
matched between the start and the end of one line, so that `$` is its end.
"""

import re
from collections.abc import Sequence

Line = tuple[int, int]
"""Start and end of a line, or of the part of it that belongs to a block."""

TAB = 4
"""Columns; a line indented by as many is code."""

_SPACES = re.compile(r"[ \t]*")
HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
FENCE = re.compile(r"`{3,}+(?=[^`]*$)|~{3,}")
RULE = re.compile(r"([*_-])[ \t]*+(?:\1[ \t]*+){2,}+$")
UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
MARKER = re.compile(r"(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)", re.ASCII)
BOX = re.compile(r"\[(.)\](?=[ \t]|$)")
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*$")
_DELIMITER_ROW = re.compile(
    r"[ \t]*+(?=.*[|:])\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$"
)
CELL_BORDER = re.compile(r"(?<!\\)\|")
BLANK_LINE = re.compile(r"[ \t]*$")
_DEFINITION = re.compile(
    r"[ \t]*\[(?!\^)((?:[^\[\]\\]|\\.){1,999}+)\]:[ \t]*+(?:\n[ \t]*+)?"
    r"(?:<([^<>\n]*)>|(?!<|\[\[)(\S++))"
    r"(?:(?:[ \t]++|[ \t]*+\n[ \t]*+)"
    r"(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))(?=[ \t]*(?:\n|$)))?"
    r"[ \t]*(?:\n|$)",
    re.DOTALL,
)

_HTML_ENDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(start, re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for start, end in (
        (r"<(?:script|pre|style|textarea)(?=[\s>]|$)", r"</(?:script|pre|style|textarea)>"),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (r"<![A-Za-z]", r">"),
    )
)
_HTML_BLOCK = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|"
    r"details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|"
    r"head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|"
    r"option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    r"(?=[\s>]|/>|$)",
    re.IGNORECASE,
)
HTML_TAG = (
    r"<[A-Za-z][A-Za-z0-9-]*+(?:\s++[A-Za-z_:][A-Za-z0-9_.:-]*+"
    r"(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*+\s*+>"
)
"""An opening or closing tag."""
_HTML_LINE = re.compile(f"(?:{HTML_TAG})[ \\t]*$")


def unified_line_ends(text: str) -> str:
    """Return the text with every line ended by a line feed, at the same length."""
    if "\r" in text:
        return text.replace("\r\n", " \n").replace("\r", "\n")
    return text


def indentation(text: str, position: int, column: int, end: int) -> tuple[int, int]:
    """Return where a line's text starts, and by how many columns it's indented from here."""
    found = _SPACES.match(text, position, end)
    assert found  # noqa: S101 - it matches nothing, too
    text_start = found.end()
    spaces = found.group()
    if "\t" not in spaces:
        return text_start, text_start - position
    at = column
    for character in spaces:
        at += TAB - at % TAB if character == "\t" else 1
    return text_start, at - column


def advance(text: str, position: int, column: int, width: int) -> tuple[int, int]:
    """Pass by so many columns of indentation; a tab can be passed by in part.

    Returns:
        Position and column after it.
    """
    goal = column + width
    while column < goal:
        if text[position] == "\t":
            stop = column + TAB - column % TAB
            if stop > goal:
                return position, goal
            column = stop
        else:
            column += 1
        position += 1
    return position, column


def after_quote_mark(text: str, position: int, column: int) -> tuple[int, int]:
    """Pass by `>` and one column of space after it.

    Returns:
        Position and column after it.
    """
    if text[position + 1 : position + 2] in {" ", "\t"}:
        return advance(text, position + 1, column + 1, 1)
    return position + 1, column + 1


def html_ending(
    text: str, position: int, end: int, *, in_paragraph: bool
) -> re.Pattern[str] | None:
    """Return what ends the HTML that begins here: the line that has it is the last one.

    Args:
        text: The note's.
        position: Of the `<`.
        end: Of its line.
        in_paragraph: Whether the line before is a paragraph's, which not all HTML interrupts.

    Returns:
        `BLANK_LINE` for what goes on up to a blank line; None if no HTML begins here.
    """
    for start, ending in _HTML_ENDS:
        if start.match(text, position, end):
            return ending
    if _HTML_BLOCK.match(text, position, end):
        return BLANK_LINE
    if not in_paragraph and _HTML_LINE.match(text, position, end):
        return BLANK_LINE
    return None


def without_closing_marks(title: str) -> str:
    """Return a heading's title without the `#` marks that may end it."""
    title = title.strip(" \t")
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else title


def block_id(text: str, line: Line) -> str:
    """Return the block id at the end of a line; empty if there's none."""
    start, end = line
    caret = text.rfind("^", start, end)
    if caret < 0 or not (caret == start or text[caret - 1] in " \t"):
        return ""
    found = _BLOCK_ID.match(text, caret, end)
    return found.group(1) if found else ""


def definitions(text: str, lines: Sequence[Line], *, quoted: bool) -> list[re.Match[str]]:
    """Return the definitions of links that a paragraph begins with.

    Args:
        text: The note's.
        lines: The paragraph's.
        quoted: Whether marks of a quote are between its lines, so that each is on one line.
    """
    found: list[re.Match[str]] = []
    if text[lines[0][0]] != "[":
        return found
    for start, line_end in lines:
        if found and start < found[-1].end():
            continue
        definition = _DEFINITION.match(text, start, line_end if quoted else lines[-1][1])
        if not definition or not definition.group(1).strip():
            break
        found.append(definition)
    return found


def table_header(text: str, lines: Sequence[Line]) -> int | None:
    """Return which of a paragraph's lines is the first of a table; None if there's no table."""
    for number in range(1, len(lines)):
        start, end = lines[number]
        if (
            text[start] in "|:-"
            and _DELIMITER_ROW.match(text, start, end)
            and _cells(text[slice(*lines[number - 1])]) == _cells(text[start:end])
        ):
            return number - 1
    return None


def _cells(row: str) -> int:
    row = row.strip(" \t").removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return len(CELL_BORDER.findall(row)) + 1
