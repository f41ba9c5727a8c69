"""Places within a note that a link can name: `#Heading`, `#Chapter#Section` and `#^block`."""

import re
from collections.abc import Sequence

from eris.vault.names import folded
from eris.vault.note import Block, Heading, Note, Span

_MARKS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+\Z")
"""At the end of a title: the id of the heading, which people don't take for a part of its name."""
_BREAKING = re.compile(r"(?:%%|\[\[|\]\]|[:#|^\\\s])+")


def find_anchor(note: Note, anchor: str) -> Span | None:
    """Return the part of the note that an anchor names: a heading's section, or a block.

    Args:
        note: The note.
        anchor: What follows the first `#` of a link; an empty one names nothing.
    """
    parts = _parts(anchor)
    if parts and parts[-1].startswith("^"):
        block = find_block(note, parts[-1][1:])
        return block.span if block else None
    heading = find_heading(note, anchor)
    return heading.section if heading else None


def find_block(note: Note, name: str) -> Block | None:
    """Return the block of an id: the first that has it, be it in other case if none has just it.

    Args:
        note: The note.
        name: The id, without `^`.
    """
    exact = (block for block in note.blocks if block.name == name)
    alike = (block for block in note.blocks if folded(block.name) == folded(name))
    return next(exact, None) or next(alike, None)


def find_heading(note: Note, anchor: str) -> Heading | None:
    """Return the first heading that an anchor names.

    Marks and spaces don't count when headings are compared, nor does case. Of `Chapter#Section`
    the last heading is returned if the ones named before are those that it stands under.
    """
    chain = find_headings(note.headings, anchor)
    return chain[-1] if chain else None


def find_headings(headings: Sequence[Heading], anchor: str) -> tuple[Heading, ...]:
    """Return the headings that the parts of an anchor name, one for each; none if one is missing.

    Args:
        headings: All headings of the note, in its order.
        anchor: Such as `Chapter#Section`.
    """
    parts = [heading_key(part) for part in _parts(anchor)]
    if not parts or "" in parts:
        return ()
    titles = [heading.title for heading in headings]
    for named in (titles, [BLOCK_ID.sub("", title) for title in titles]):
        keys = list(map(heading_key, named))
        found = _under(headings, keys, parts, 0, len(headings))
        # Obsidian is content if each is lower than the one before and comes later.
        found = found or _after(headings, keys, parts)
        if found:
            return found
    return ()


def _under(
    headings: Sequence[Heading], keys: Sequence[str], parts: Sequence[str], first: int, end: int
) -> tuple[Heading, ...]:
    """The first chain of headings between two indexes, each within the section of the last."""
    for index in range(first, end):
        if keys[index] != parts[0]:
            continue
        heading = headings[index]
        if len(parts) == 1:
            return (heading,)
        last = index + 1
        while last < end and headings[last].level > heading.level:
            last += 1
        below = _under(headings, keys, parts[1:], index + 1, last)
        if below:
            return (heading, *below)
    return ()


def _after(
    headings: Sequence[Heading], keys: Sequence[str], parts: Sequence[str]
) -> tuple[Heading, ...]:
    found: list[Heading] = []
    for heading, key in zip(headings, keys, strict=True):
        level = found[-1].level if found else 0
        if heading.level > level and key == parts[len(found)]:
            found.append(heading)
            if len(found) == len(parts):
                return tuple(found)
    return ()


def heading_key(title: str) -> str:
    """Return a key that is equal for headings that a link can't tell apart."""
    return folded(_MARKS.sub(" ", title).strip())


def heading_anchor(title: str) -> str:
    """Return a heading's text as a link names it: without what would end or break the link."""
    return _BREAKING.sub(" ", title).strip()


def _parts(anchor: str) -> list[str]:
    return [part.strip() for part in anchor.split("#") if part.strip()]
