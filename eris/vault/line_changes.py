"""Which lines of a text were changed to get another: what merging, blaming and diffs stand on."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_COMPARED = 4_000_000
"""Product of the lines of two texts up to which every line counts as an anchor.

Above, lines that occur very often (empty ones, rules) don't: the comparison would take minutes for
some texts, where this takes a second and finds ranges that are merely larger than they need be.
"""


@dataclass(frozen=True)
class LineChange:
    """Lines ``[start, end)`` of the old text became lines ``[new_start, new_end)`` of the new."""

    start: int
    end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    r"""Return the lines with their endings; only ``\n`` ends one, so ``\r\n`` stays together.

    Joined they are the text again, to the byte.
    """
    return _LINE.findall(text)


def line_changes(old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """Return what was changed, from the top to the bottom; what isn't named is the same in both."""
    front = 0
    shorter = min(len(old), len(new))
    while front < shorter and old[front] == new[front]:
        front += 1
    back = 0
    while back < shorter - front and old[-1 - back] == new[-1 - back]:
        back += 1
    # Most edits touch one place: what is the same before and after it needn't be compared twice.
    middle_old, middle_new = old[front : len(old) - back], new[front : len(new) - back]
    if not middle_old and not middle_new:
        return []
    if not middle_old or not middle_new:
        return [LineChange(front, len(old) - back, front, len(new) - back)]
    matcher = difflib.SequenceMatcher(
        None, middle_old, middle_new, autojunk=len(middle_old) * len(middle_new) > _MOST_COMPARED
    )
    return [
        LineChange(front + start, front + end, front + new_start, front + new_end)
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def unified(old: str, new: str, old_name: str, new_name: str, context: int = 3) -> str:
    """Return the difference as a unified diff; empty if there is none.

    Args:
        old: The text before.
        new: The text after.
        old_name: What the old text is called in the head of the diff.
        new_name: What the new one is called.
        context: Unchanged lines around each change.
    """
    lines = difflib.unified_diff(lines_of(old), lines_of(new), old_name, new_name, n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
