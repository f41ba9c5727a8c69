"""What a step is: file changes that belong together, and for whom and why they were made."""

from enum import StrEnum

import msgspec

RESTORED = "restored"
"""The action of a step that gave a note a content which it had before."""

TRASH = ".trash"
"""The folder at the top of the vault that removed files go to, as in Obsidian."""


class Cause(msgspec.Struct, frozen=True):
    """Who wants something done."""

    call_id: str
    """Idempotency key: the same one acts once."""
    turn: str = ""
    """The turn that it's part of, which can be undone as a whole; the call itself if empty."""
    session: str = ""
    tool: str = ""
    """The tool, such as ``vault:write``."""

    def __post_init__(self) -> None:
        """Make a call without a turn one of its own."""
        if not self.turn:
            msgspec.structs.force_setattr(self, "turn", self.call_id)


class State(StrEnum):
    """How far a step came."""

    PENDING = "pending"
    DONE = "done"
    UNCERTAIN = "uncertain"
    """Interrupted, and a file was changed by somebody else before it could be looked at."""
    DROPPED = "dropped"
    """Done, but its contents were given up for room: it can't be undone any more."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did."""

    path: str
    """The note, relative to the vault."""
    action: str
    """Past tense: ``created``, ``appended``, ``overwrote``, ``edited``, ``moved``, ``trashed``…

    ``unchanged`` if there was nothing to do; then no step was made.
    """
    size: int = 0
    """Bytes that were written, without those that were there before."""
    message: str = ""
    """What it did, for people, in the past tense; from action and path if empty."""
    asked: str = ""
    """The path that was asked for, if it's another."""
    folder: str = ""
    """The outermost folder that was made for it."""
    version: str = ""
    """Version of the note after it."""
    merged: bool = False
    """Whether a change made by somebody else since was kept beside this one."""
    copy_of: str = ""
    """The note that it was meant for, if the text went to a conflict copy."""
    left: tuple[str, ...] = ()
    """Notes with links that should have been rewritten, but may not be written to."""
    step: int = 0
    """Number of the step, for undoing it."""
    files: int = 1
    """How many files the step changed."""


class Write(msgspec.Struct, frozen=True, kw_only=True, tag="write"):
    """Another content for one file: created without one before, removed without one after."""

    path: str
    """Where it is before any rename of its step, relative to the vault."""
    before: str = ""
    """SHA-256 of its content; empty if there's no file."""
    after: str = ""
    mode: int = 0
    """Its permissions; 0 for those that a new file in its folder gets."""
    temporary: str
    """Hidden name beside it, which the new content or the removed file has for a moment."""

    def inverse(self) -> "Write":
        """Return the change that takes this one back."""
        return msgspec.structs.replace(self, before=self.after, after=self.before)


class Rename(msgspec.Struct, frozen=True, kw_only=True, tag="rename"):
    """Another path for a file or folder; what it holds moves with it, whatever that is by then."""

    path: str
    new_path: str
    digest: str = ""
    """SHA-256 of the file; empty for folders, and for files that aren't kept."""
    inode: int = 0
    """Which file it is, to tell it from another of the same name; 0 if it's written before."""

    def inverse(self) -> "Rename":
        """Return the change that takes this one back."""
        return msgspec.structs.replace(self, path=self.new_path, new_path=self.path)

    def moved(self, path: str) -> str:
        """Return where a path leads after the rename."""
        inside = path == self.path or path.startswith(f"{self.path}/")
        return self.new_path + path[len(self.path) :] if inside else path


Change = Write | Rename


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A step, as it's written to the journal before it happens."""

    cause: Cause
    request: str
    """Digest of what was asked for: the same call never means two things."""
    line: str = ""
    """For people, in the past tense: ``appended notes/today.md``."""
    receipt: Receipt
    undoes: int = 0
    """The step that this one takes back; 0 if none."""
    folders: tuple[str, ...] = ()
    """Folders that are made for it, the outermost first."""
    changes: tuple[Change, ...] = ()
    """All writes, then all renames: in this order they happen."""


class Recorded(Entry, frozen=True, kw_only=True):
    """A step as it stands in the journal."""

    number: int
    """Steps count up from 1."""
    at: float
    """Seconds since the epoch."""
    state: State
