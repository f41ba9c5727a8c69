"""When a note was changed since it was read: merging both changes, or telling them apart."""

import codecs
from collections.abc import Iterator
from datetime import datetime
from itertools import count

from actors.vault.names import shown
from actors.vault.replacing import version_of
from eris.errors import ConflictError
from eris.vault.line_changes import unified
from eris.vault.merge import Collision, merge

_MOST_SHOWN = 2000
"""Longest difference in the details of an error, in characters."""


def merged(base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    """Return a content with both changes; nothing if they touch or can't be merged.

    Args:
        base: What both sides began with; none if it isn't known any more.
        ours: Our content.
        theirs: The content as it is now.
    """
    if ours in {theirs, base}:
        return theirs
    if base == theirs:
        return ours
    texts = [_text(data) for data in (base, ours, theirs)]
    if any(text is None for text in texts):
        return None
    outcome = merge(*(text or "" for text in texts))
    return None if outcome.collisions else outcome.text.encode()


def conflict(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, expected: str
) -> ConflictError:
    """Return the error for a write over a change that it doesn't know of.

    Args:
        path: The note.
        base: What both sides began with; none if it isn't known any more.
        ours: What was to be written.
        theirs: The note as it is.
        expected: The version that the write is based on.
    """
    now = version_of(theirs)
    texts = [_text(data) for data in (base, ours, theirs)]
    base_text, our_text, their_text = texts
    where = ""
    if base_text is not None and our_text is not None and their_text is not None:
        collisions = merge(base_text, our_text, their_text).collisions
        if collisions:
            where = _told(collisions[0])
    return ConflictError(
        f"{path} was changed by somebody else since version {expected}, so it wasn't written; "
        f"it's now version {now}.{where}",
        hint="Read it again and make the change anew, or ask for a conflict copy to keep both.",
        details={
            "path": path,
            "expected": expected,
            "version": now,
            "theirs": _difference(base_text, their_text, "before", "now"),
            "ours": _difference(their_text, our_text, "now", "yours"),
        },
    )


def conflict_names(path: str, at: datetime) -> Iterator[str]:
    """Yield paths for a copy beside a note, such as ``Plan (conflict 2026-12-03 1405).md``.

    Args:
        path: The note.
        at: The time, in the user's zone.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    stamp = f"{at:%Y-%m-%d %H%M}"
    for number in count(1):
        again = "" if number == 1 else f" {number}"
        yield f"{folder}{slash}{stem} (conflict {stamp}{again}){dot}{extension}"


def _text(data: bytes | None) -> str | None:
    """A content as text with its byte order mark; none if it isn't text."""
    if data is None or b"\0" in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _told(collision: Collision) -> str:
    return (
        f" At line {collision.line} it now says '{_line(collision.theirs)}' where you wrote "
        f"'{_line(collision.ours)}'."
    )


def _line(text: str) -> str:
    return shown(" ".join(text.split())) or "(nothing)"


def _difference(old: str | None, new: str | None, old_name: str, new_name: str) -> str:
    if new is None:
        return ""
    text = unified(old or "", new, old_name, new_name) if old is not None else new
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
