"""Who wrote each line of a note: worked out from the recorded writes and the note as it is.

Between two recorded writes, and after the last, the note may have been changed by the user or by
another program. Such lines, and those that were there before the first write, have no writer here.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from eris.vault.line_changes import line_changes, lines_of

W = TypeVar("W", bound=Hashable)


@dataclass(frozen=True)
class Written(Generic[W]):
    """One recorded write of the note."""

    writer: W
    """Who or what wrote, such as a step's number."""
    before: str
    after: str


@dataclass(frozen=True)
class BlamedLine(Generic[W]):
    """A line of the note as it is."""

    number: int
    """From 1."""
    text: str
    """With its line ending."""
    writer: W | None
    """None: the user or another program."""


def blame(writes: Sequence[Written[W]], now: str) -> list[BlamedLine[W]]:
    """Return the lines of a note, each with who wrote it.

    A write that brings back a text exactly as it was earlier, as an undo does, brings back its
    writers too.

    Args:
        writes: What is recorded, the oldest first.
        now: The note as it is.
    """
    known: dict[str, list[W | None]] = {}
    text, writers = "", list[W | None]()
    if writes:
        text = writes[0].before
        writers = [None] * len(lines_of(text))
    for write in writes:
        if write.before != text:
            writers = known.get(write.before) or _carried(text, writers, write.before, None)
        known[write.before] = writers
        writers = known.get(write.after) or _carried(
            write.before, writers, write.after, write.writer
        )
        text = write.after
        known[text] = writers
    if now != text:
        writers = known.get(now) or _carried(text, writers, now, None)
    return [
        BlamedLine(number, line, writer)
        for number, (line, writer) in enumerate(zip(lines_of(now), writers, strict=True), 1)
    ]


def _carried(
    before: str, writers: Sequence[W | None], after: str, writer: W | None
) -> list[W | None]:
    """The writers of the lines after a change: those that stayed keep theirs."""
    carried: list[W | None] = []
    done = 0
    for change in line_changes(lines_of(before), lines_of(after)):
        carried += writers[done : change.start]
        carried += [writer] * (change.new_end - change.new_start)
        done = change.end
    carried += writers[done:]
    return carried
