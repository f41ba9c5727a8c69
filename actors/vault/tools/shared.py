"""What several tools have in common: for whom they act, what arguments are called, what is told."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from actors.vault.service import VaultService
from actors.vault.steps import Cause
from eris.errors import ErisError, NotFoundError
from eris.tools import Call, Outcome
from eris.vault.sections import heading_named
from eris.vault.words import tokens
from proto.vault import NameNotes, Written

NoteName = Annotated[
    str, Meta(description="The note, such as notes/today.md, or its name", min_length=1)
]
Offset = Annotated[int, Meta(description="How many to leave out, for reading on", ge=0)]

MOST_SHOWN = 20
"""Lines of one list."""

LONGEST_LINE = 160
"""Characters of one line of a list."""

_PATH_NAMES = ("relative_path", "file", "filename", "file_name", "file_path", "note", "title")
PATH_ALIASES = dict.fromkeys(_PATH_NAMES, "path")
_CONTENT_NAMES = ("text", "body", "data", "note_content", "message")
CONTENT_ALIASES = dict.fromkeys(_CONTENT_NAMES, "content")


def note_meant(service: VaultService, call: Call, path: str) -> str:
    """Return the note that a model means by a path.

    A small model likes to give a heading, or a path from an example, although the user named the
    note. Where there's no note of that name, it's the one that the user's own words name, if they
    name exactly one; the answer says which it was.
    """
    try:
        there = bool(path.strip()) and service.finder.place(path)[1]
    except ErisError:
        return path  # Whoever opens it says what is wrong with it.
    if there:
        return path
    named = service.naming.named(NameNotes(text=call.said)).notes
    return named[0].path if len(named) == 1 else path


def heading_meant(service: VaultService, path: str, heading: str) -> str:
    """Return the heading that a model means in a note.

    It likes to give more of a sentence than its title: "Open questions in Kestrel". Where there's
    no such heading, it's the longest one that the words begin with.
    """
    if not heading.strip():
        return heading
    try:
        note = service.finder.load(path).note
    except ErisError:
        return heading  # Whoever opens it says what is wrong with it.
    try:
        heading_named(note, heading)
    except NotFoundError:
        headings = note.headings
    except ErisError:
        return heading
    else:
        return heading
    words = tokens(heading)
    begun = [each.title for each in headings if _begins(words, tokens(each.title))]
    return max(begun, key=len, default=heading)


def _begins(words: Sequence[str], title: Sequence[str]) -> bool:
    return bool(title) and tuple(words[: len(title)]) == tuple(title)


def cause_of(call: Call, tool: str) -> Cause:
    """Return for whom a tool acts; a call's id begins with its turn's, and counts on from there."""
    return Cause(call.call_id, call.call_id.rsplit(".", 2)[0], call.session, tool)


def written_told(written: Written) -> Outcome:
    """Say what a write did."""
    message = written.message
    remark = f" {written.remark}" if written.remark else ""
    return Outcome(
        content=f"{sentence(message)}{remark}",
        receipt=message,
        data={"path": written.path, "bytes": written.size, "action": written.action},
    )


def sentence(message: str) -> str:
    """Return what was done as a sentence."""
    return f"{message[:1].upper()}{message[1:]}."


def line_told(text: str) -> str:
    """Return a line of a note, short enough for a list."""
    text = text.strip()
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"


def list_told(
    heading: str, lines: Sequence[str], total: int, offset: int, tool: str, remark: str = ""
) -> Outcome:
    """Say what a list has, and how to read on.

    Args:
        heading: What it's a list of.
        lines: Its things, those shown only.
        total: How many there are in all.
        offset: How many were left out before them.
        tool: The tool that has the rest.
        remark: What else to know.
    """
    told = [heading, *lines]
    following = offset + len(lines)
    if following < total and lines:
        told.append(
            f"({offset + 1} to {following} of {total}. "
            f"For more, call {tool} with offset {following}.)"
        )
    if remark:
        told.append(f"({remark})")
    return Outcome(content="\n".join(told), data={"found": total, "next_offset": following})
