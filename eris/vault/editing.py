"""Edits of a note's text that change what they say and not a character more.

Each is a function from a text to a text. What is put in gets the line ends of the note, and
a blank line before or after it where Markdown would otherwise join it with what is there.
"""

import re

from rapidfuzz import fuzz, process

from eris.errors import InvalidError, NotFoundError
from eris.vault.anchors import BLOCK_ID, find_block
from eris.vault.markdown import parse
from eris.vault.names import folded
from eris.vault.note import LINE_END, Block, Note, line_end
from eris.vault.sections import heading_named, own_text

_LONGEST_COMPARED = 500
"""Characters of a line that are compared when a text isn't found."""
_LEAST_LIKE = 50
"""Of 100: how like a line must be to be offered."""
_MOST_LISTED = 12
_LONGEST_SHOWN = 160

_KINDS = (
    ("blank", re.compile(r"\s*\Z")),
    ("heading", re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")),
    ("rule", re.compile(r" {0,3}(?:([*_-])[ \t]*(?:\1[ \t]*){2,}|=+[ \t]*|-+[ \t]*)\Z")),
    ("item", re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)])(?:[ \t]|\Z)")),
    ("code", re.compile(r"(?: {4}|\t)| {0,3}(?:```|~~~|%%|\$\$|<)")),
    ("callout", re.compile(r" {0,3}>[ \t]*\[!")),
    ("quote", re.compile(r" {0,3}>")),
    ("row", re.compile(r"[ \t]*\|")),
    ("marked paragraph", re.compile(r".*[ \t]\^[A-Za-z0-9-]+[ \t]*\Z|\^[A-Za-z0-9-]+[ \t]*\Z")),
)
"""What block a line looks like a part of, by the first that fits; or it's a paragraph's."""
_CONTINUED = frozenset({"item", "quote", "row", "paragraph"})
"""Kinds of blocks that go on with what is added, if that's of the same kind."""
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*")
_MARKER = re.compile(r"(?:[*+-]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+")


def appended(text: str, addition: str) -> str:
    """Return the note with a text at its end, on lines of its own.

    Raises:
        InvalidError: There's nothing to add.
    """
    ending = line_end(text)
    added = _fitted(addition, ending)
    body = text[parse(text).body_start :]
    if text and text[-1] not in "\r\n\ufeff":
        return inserted_after(text, len(text), added) if body else text + ending + added
    return text + _gap_above(body, added, ending) + added + ending


def prepended(text: str, addition: str) -> str:
    """Return the note with a text at its start, after the frontmatter.

    Raises:
        InvalidError: There's nothing to add.
    """
    ending = line_end(text)
    added = _fitted(addition, ending)
    position = parse(text).body_start
    before, after = text[:position], text[position:]
    if before and before[-1] not in "\r\n\ufeff":
        return before + ending + added
    return before + added + ending + _gap_below(added, after, ending) + after


def inserted_after(text: str, position: int, addition: str) -> str:
    """Return the note with a text on lines of its own after the line that ends at a position.

    Args:
        text: The note.
        position: The end of a line, before its line end.
        addition: What is added.

    Raises:
        InvalidError: There's nothing to add.
    """
    ending = line_end(text)
    added = _fitted(addition, ending)
    before, after = text[:position], text[position:]
    above = _gap_above(before, added, ending)
    below = _gap_below(added, LINE_END.sub("", after, count=1), ending)
    return before + ending + above + added + below + after


def inserted_under(text: str, heading: str, addition: str) -> str:
    """Return the note with a text under a heading, after what is there already.

    It comes before the first sub-heading, if there's one: what is added to `# Log` is no part of
    `## Ideas` below it. Blank lines, a rule or comments that end the section stay behind it.

    Args:
        text: The note.
        heading: Which one, as `eris.vault.sections.heading_named` takes it.
        addition: What is added.

    Raises:
        InvalidError: There's nothing to add, or several headings are meant.
        NotFoundError: There's no such heading.
    """
    note = parse(text)
    found = heading_named(note, heading)
    return inserted_after(text, own_text(note, found).end, addition)


def with_section(text: str, heading: str, content: str, *, whole: bool = False) -> str:
    """Return the note with what stands under a heading replaced.

    The heading itself stays, as do the blank lines around its text; a content that begins with the
    heading is taken for one without it.

    Args:
        text: The note.
        heading: Which one, as `eris.vault.sections.heading_named` takes it.
        content: What stands under it afterwards; may be empty.
        whole: Whether its sub-headings are replaced, too; they stay by default.

    Raises:
        InvalidError: Several headings are meant.
        NotFoundError: There's no such heading.
    """
    note = parse(text)
    found = heading_named(note, heading)
    ending = line_end(text)
    new = parse(content.strip("\r\n"))
    lines = new.text
    if new.headings and new.headings[0].span.start == 0 and new.headings[0].title == found.title:
        lines = lines[new.headings[0].span.end :]
    lines = LINE_END.sub(ending, lines.strip("\r\n"))
    old = own_text(note, found, whole=whole)
    if old.start == old.end:
        return inserted_after(text, old.end, lines) if lines.strip() else text
    blank = _BLANK_LINES.match(text, old.start, old.end)
    return text[: blank.end() if blank else old.start] + lines + text[old.end :]


def with_title(text: str, heading: str, title: str) -> str:
    """Return the note with another title for a heading; its level and its block id stay.

    Args:
        text: The note.
        heading: Which one, as `eris.vault.sections.heading_named` takes it.
        title: Its new title, without `#` marks.

    Raises:
        InvalidError: Several headings are meant, or the title is none.
        NotFoundError: There's no such heading.
    """
    found = heading_named(parse(text), heading)
    new = title.strip()
    written = found.span.of(text)
    start = found.span.start
    if written.startswith("#"):
        start += len(written) - len(written.lstrip("#"))
    start = text.index(found.title, start)
    if (block := BLOCK_ID.search(found.title)) and not BLOCK_ID.search(new):
        new += block[0]
    changed = text[:start] + new + text[start + len(found.title) :]
    there = [each.title for each in parse(changed).headings if each.span.start == found.span.start]
    if not title.strip() or LINE_END.search(new) or there != [new]:
        raise InvalidError(
            f"{_shown(title)} can't be the title of a heading.", hint="Give a line of plain text."
        )
    return changed


def with_block(text: str, name: str, content: str) -> str:
    """Return the note with the block of an id replaced, its id kept.

    A paragraph stays where it is: in its quote, or after the marker and box of its item. An item is
    replaced with the items within it.

    Args:
        text: The note.
        name: The id, with or without `^`; of several blocks that have it, the first is meant.
        content: What stands there afterwards, with or without the id.

    Raises:
        InvalidError: There's nothing to put there, or it would be no block of this id.
        NotFoundError: There's no such block.
    """
    note = parse(text)
    block = _block_named(note, name.strip().removeprefix("#").removeprefix("^"))
    ending = line_end(text)
    old = block.span.of(text)
    written_id = re.compile(rf"(?:\A|[ \t]+)\^{re.escape(block.name)}[ \t]*\Z", re.IGNORECASE)
    lines = [written_id.sub("", line) for line in LINE_END.split(_fitted(content, "\n"))]
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    if (marker := _MARKER.match(old)) and not _MARKER.match(lines[0]):
        indent = "" if old.startswith("#") else " " * len(marker[0])
        lines = [marker[0] + lines[0], *(indent + line if line else "" for line in lines[1:])]
    if any(written_id.search(line) for line in LINE_END.split(old)):
        lines = _with_id(lines, block.name)
    before = text[note.line_starts[note.line(block.span.start) - 1] : block.span.start]
    margin = re.sub(r"[^>\t]", " ", before.removeprefix("\ufeff"))
    new = (ending + margin).join(lines)
    changed = text[: block.span.start] + new + text[block.span.end :]
    if not any(each.name == block.name for each in parse(changed).blocks):
        raise InvalidError(
            f"With this text there would be no block ^{block.name} any more.",
            hint="Replace it by one paragraph, item, quote or table; nothing was changed.",
        )
    return changed


def replaced(text: str, old: str, new: str, count: int | None = 1) -> str:
    """Return the note with a text replaced by another wherever it is, the frontmatter apart.

    Line ends are those of the note, whichever the two texts have.

    Args:
        text: The note.
        old: What is looked for, exactly; may have several lines.
        new: What stands there afterwards; may be empty.
        count: How often it must be there; None for at least once.

    Raises:
        NotFoundError: It's nowhere; the hint has the line that is most like it.
        InvalidError: It's there more or less often than said, which the message tells with the
            lines; or there is nothing to look for.
    """
    if not old.strip():
        raise InvalidError("There's no text to look for.", hint="Give the text to be replaced.")
    note = parse(text)
    pattern = re.compile(r"(?:\r\n|\r|\n)".join(map(re.escape, LINE_END.split(old))))
    found = list(pattern.finditer(text, note.body_start))
    if not found:
        raise NotFoundError(f"The note has no text {_shown(old)}.", hint=_nearest(note, old))
    if count is not None and len(found) != count:
        lines = _listed([note.line(each.start()) for each in found])
        raise InvalidError(
            f"{_shown(old)} is {_times(len(found))} in the note, not {_times(count)}: {lines}.",
            hint=f"Give more of the text around the one that is meant, or the count {len(found)}.",
        )
    replacement = LINE_END.sub(line_end(text), new)
    parts: list[str] = []
    position = 0
    for each in found:
        parts += (text[position : each.start()], replacement)
        position = each.end()
    return "".join(parts) + text[position:]


def _fitted(addition: str, ending: str) -> str:
    """Return what is put in: without blank lines around it, with the note's line ends."""
    lines = LINE_END.split(addition.removeprefix("\ufeff"))
    while lines and not lines[-1].strip():
        lines.pop()
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if not lines:
        raise InvalidError("There's nothing to add.", hint="Give the text that is to be added.")
    return ending.join(lines[first:])


def _kind(line: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.match(line)), "paragraph")


def _first_kind(text: str) -> str:
    return _kind(LINE_END.split(text, maxsplit=1)[0])


def _last_kind(text: str) -> str:
    """Return the kind of a text's last line: the item's, if it's indented under one."""
    lines = LINE_END.split(text)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    kind = _kind(lines[-1])
    for line in reversed(lines):
        if not line.strip() or line[0] not in " \t":
            return "item" if _kind(line) == "item" else kind
    return kind


def _gap_above(text: str, addition: str, ending: str) -> str:
    """Return the blank line that what is added needs above it, if it does."""
    before, kind = _last_kind(text), _first_kind(addition)
    if before in {"blank", "heading"} or (before == kind and kind in _CONTINUED):
        return ""
    return ending


def _gap_below(addition: str, text: str, ending: str) -> str:
    """Return the blank line that what is added needs below it, if it does.

    A line more above a paragraph, table or callout could make it another block; an item can't.
    """
    kind, after = _last_kind(addition), _first_kind(text)
    if kind == "heading" or after in {"blank", "heading"} or kind == after == "item":
        return ""
    return ending


def _with_id(lines: list[str], name: str) -> list[str]:
    """Return a block's lines with its id: at its first paragraph's end, or below a table."""
    if _kind(lines[0]) in {"code", "quote", "row"}:
        return [*lines, "", f"^{name}"]
    following = (n for n, line in enumerate(lines) if n and _kind(line) in {"blank", "item"})
    last = next(following, len(lines)) - 1
    return [*lines[:last], f"{lines[last].rstrip()} ^{name}", *lines[last + 1 :]]


def _block_named(note: Note, name: str) -> Block:
    found = find_block(note, name)
    if found:
        return found
    names = ", ".join(f"^{each.name}" for each in note.blocks[:_MOST_LISTED])
    raise NotFoundError(
        f"The note has no block ^{name}.", hint=f"It has: {names}." if names else "It has no ids."
    )


def _nearest(note: Note, old: str) -> str:
    """Say which line is most like a text that isn't there."""
    if old in note.text[: note.body_start]:
        return "It's in the properties; set the property instead."
    wanted = next(line.strip() for line in LINE_END.split(old) if line.strip())
    lines = [line[:_LONGEST_COMPARED] for line in LINE_END.split(note.text)]
    for number in range(note.line(note.body_start) - 1):
        lines[number] = ""
    nearest = process.extractOne(
        wanted[:_LONGEST_COMPARED],
        lines,
        scorer=fuzz.partial_ratio,
        processor=folded,
        score_cutoff=_LEAST_LIKE,
    )
    if nearest is None:
        return "Nothing in the note is like it; read the note first."
    return f"The nearest is line {nearest[2] + 1}: {_shown(nearest[0])}."


def _shown(text: str) -> str:
    shown = LINE_END.sub("⏎", text.strip("\r\n"))
    return f"`{shown}`" if len(shown) <= _LONGEST_SHOWN else f"`{shown[:_LONGEST_SHOWN]}…`"


def _times(count: int) -> str:
    return {0: "nowhere", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST_LISTED]))
    more = ", …" if len(numbers) > _MOST_LISTED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"
