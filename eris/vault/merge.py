"""Three-way merge by lines: two changes of one text are both kept if they don't touch.

Stricter than it could be, on purpose: changes in neighbouring lines count as touching, since in
notes a line often belongs to the one above it (a list item, a table row). What both sides changed
in the same way is no conflict. The outcome is either a text with both changes or none at all:
nothing is ever marked up for somebody to clean up later.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eris.vault.line_changes import LineChange, line_changes, lines_of


@dataclass(frozen=True)
class Collision:
    """A place where both sides changed the text, and not in the same way."""

    line: int
    """Line of the common text that it begins at, from 1."""
    base: str
    """The lines as they were; may be empty."""
    ours: str
    """The lines of our side; may be empty."""
    theirs: str
    """The lines of the other side; may be empty."""


@dataclass(frozen=True)
class Merged:
    """The outcome of a merge."""

    text: str
    """Both changes; the other side's text where there are collisions."""
    collisions: tuple[Collision, ...] = ()


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Bring our change of a text into what somebody else made of it meanwhile.

    Args:
        base: The text that both sides began with.
        ours: What our side made of it.
        theirs: What the other side made of it.
    """
    if ours in {base, theirs}:
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    sides = [lines_of(text) for text in (base, ours, theirs)]
    base_lines, our_lines, their_lines = sides
    merged: list[str] = []
    collisions: list[Collision] = []
    done = 0
    our_shift = their_shift = 0
    for region in _regions(
        line_changes(base_lines, our_lines), line_changes(base_lines, their_lines)
    ):
        our_part, our_shift = _part(our_lines, region.ours, region, our_shift)
        their_part, their_shift = _part(their_lines, region.theirs, region, their_shift)
        merged += base_lines[done : region.start]
        if not region.theirs or our_part == their_part:
            merged += our_part
        elif not region.ours:
            merged += their_part
        else:
            merged += their_part
            collisions.append(
                Collision(
                    region.start + 1,
                    "".join(base_lines[region.start : region.end]),
                    "".join(our_part),
                    "".join(their_part),
                )
            )
        done = region.end
    merged += base_lines[done:]
    return Merged(theirs if collisions else "".join(merged), tuple(collisions))


@dataclass
class _Region:
    """A stretch of the base that one side or both changed."""

    start: int
    end: int
    ours: list[LineChange]
    theirs: list[LineChange]


def _regions(ours: Sequence[LineChange], theirs: Sequence[LineChange]) -> list[_Region]:
    """Group changes: those of two sides that overlap or touch form one region."""
    tagged = [(change, True) for change in ours] + [(change, False) for change in theirs]
    tagged.sort(key=lambda each: (each[0].start, each[0].end))
    regions: list[_Region] = []
    for change, is_ours in tagged:
        if not regions or change.start > regions[-1].end:
            regions.append(_Region(change.start, change.end, [], []))
        region = regions[-1]
        region.end = max(region.end, change.end)
        (region.ours if is_ours else region.theirs).append(change)
    return regions


def _part(
    lines: Sequence[str], changes: Sequence[LineChange], region: _Region, shift: int
) -> tuple[Sequence[str], int]:
    """A side's lines for a region, and how far its lines are shifted after it.

    Args:
        lines: All lines of the side.
        changes: The side's changes in the region.
        region: The region.
        shift: How many lines further down the side is before the region.
    """
    after = changes[-1].new_end - changes[-1].end if changes else shift
    return lines[region.start + shift : region.end + after], after
