"""Messages of the vault: what people at the machine may ask of their notes without a model.

A note is named as people name it: by path, by name, by title or alias; the reply has its path.
Tools of the model do the same through `CallTool`; both end in the same code.
"""

from enum import StrEnum

import msgspec


class _Vault(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


# Following.


class NotesChanged(_Vault, frozen=True, tag="vault.notes-changed.1"):
    """Element of the subscription ``notes``: something changed, and is in the index."""

    passes: int
    """Passes of the index since the vault's start."""


class ListStates(_Vault, frozen=True, tag="vault.states.1"):
    """Asks which notes there are and in what state (reply: `NoteStates`).

    For actors that make something from the notes and have to keep it right.
    """

    after: str = ""
    """Only paths that sort after this one: the last of the reply before, for reading on."""
    limit: int = 20_000
    """The most notes to tell of."""


class NoteStates(_Vault, frozen=True, tag="vault.state-list.1"):
    """Notes that searches find, by path in the order of code points."""

    states: dict[str, str]
    """A digest of each note's bytes by its path."""
    complete: bool
    """Whether the index knows all notes: if not, one that is missing may be there all the same."""
    more: bool = False
    """Whether there are notes after the last one."""


class NameNotes(_Vault, frozen=True, tag="vault.name.1"):
    """Asks which notes a text names (reply: `NamedNotes`)."""

    text: str


class NamedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note that a text names."""

    said: str
    """Its name, title or alias, as it's written in the text."""
    path: str


class NamedNotes(_Vault, frozen=True, tag="vault.named.1"):
    """The notes that a text names, in its order; a name that several have names none."""

    notes: tuple[NamedNote, ...]


class ReadFile(_Vault, frozen=True, tag="vault.read-file.1"):
    """Asks for bytes of any file of the vault, such as a document (reply: `FileBytes`)."""

    path: str
    offset: int = 0
    """Of the first byte."""
    most: int = 1 << 20
    """The most bytes to tell; 0 to learn of the file's size and state only."""


class FileBytes(_Vault, frozen=True, tag="vault.bytes.1"):
    """A part of a file."""

    path: str
    """As the file is really called."""
    data: bytes
    """At most 1 MiB."""
    size: int
    """Of the whole file, in bytes."""
    state: str
    """Changes when the file does: parts of different states don't belong together."""


# Reading.


class ReadNote(_Vault, frozen=True, tag="vault.read.1"):
    """Asks for the text of a note, or of a part of it (reply: `NoteText`)."""

    note: str
    part: str = ""
    """``Heading``, ``Heading#Sub-heading`` or ``^block``; empty for all of it."""
    first_line: int = 1
    """Line of the note, or of the part, to begin at, from 1."""
    lines: int = 0
    """The most lines to give; 0 for as many as fit a message."""


class NoteText(_Vault, frozen=True, tag="vault.text.1"):
    """What a note says."""

    path: str
    text: str
    """As it is in the file, line ends included, so that pages put together are the whole."""
    version: str
    """Names this state of the note, for writing to it only if nobody else has."""
    first_line: int
    """Line of the note that the text begins at, from 1."""
    total_lines: int
    """Lines of the whole note."""
    next_line: int = 0
    """Where to read on, as ``first_line`` of the next request; 0 if this is all."""


class Outline(_Vault, frozen=True, tag="vault.outline.1"):
    """Asks for the headings of a note (reply: `Headings`)."""

    note: str


class HeadingView(msgspec.Struct, frozen=True, kw_only=True):
    """One heading."""

    level: int
    title: str
    line: int


class Headings(_Vault, frozen=True, tag="vault.headings.1"):
    """The headings of a note, in order."""

    path: str
    headings: tuple[HeadingView, ...]


class ListFolder(_Vault, frozen=True, tag="vault.list.1"):
    """Asks for the files of a folder and of all below it (reply: `Files`)."""

    folder: str = ""
    """Empty for the whole vault."""
    folders: bool = False
    """Whether to list the folders in it, empty ones included, instead of the files."""
    after: str = ""
    """Only paths that sort after this one: the last of the reply before, for reading on."""
    limit: int = 10_000
    """The most paths to give."""


class Files(_Vault, frozen=True, tag="vault.files.1"):
    """Paths of everything below a folder, sorted by code points."""

    paths: tuple[str, ...]
    """Relative to the vault."""
    total: int
    """How many there are, given or not; those before ``after`` count too."""
    folder: str = ""
    """The folder's path; empty for the vault itself."""


class SearchNotes(_Vault, frozen=True, tag="vault.search.1"):
    """Asks for notes by Obsidian's search syntax (reply: `Found`)."""

    query: str
    folder: str = ""
    """Where to look, with what is below it; empty for the whole vault."""
    limit: int = 20
    """The most notes to give."""
    offset: int = 0
    """How many of the best to leave out."""
    context: bool = True
    """Whether to give the matching lines."""


class LineView(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a note."""

    number: int
    """From 1."""
    text: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A note that was found."""

    path: str
    lines: tuple[LineView, ...] = ()


class Found(_Vault, frozen=True, tag="vault.found.1"):
    """Notes, the best first."""

    hits: tuple[Hit, ...]
    total: int
    """How many there are, given or not."""
    searched: int = 0
    """How many notes were looked at."""
    words: tuple[str, ...] = ()
    """What was looked for, as it was understood."""
    remark: str = ""
    """What whoever asked should know: words that were taken for others, an index being built."""


class QueryProperties(_Vault, frozen=True, tag="vault.query.1"):
    """Asks for notes by their properties: ``status = done sort by due`` (reply: `Table`)."""

    query: str
    columns: tuple[str, ...] = ()
    """Properties to show; empty for those that the query names."""
    limit: int = 100
    """The most rows to give; a lower limit in the query counts too."""
    offset: int = 0
    """Rows to leave out."""


class Table(_Vault, frozen=True, tag="vault.table.1"):
    """Rows of notes."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The note's path, then a text for each column, empty where the note lacks it."""
    total: int
    """How many there are, given or not."""
    remark: str = ""
    """That not all notes are in the index yet."""


class LinkKinds(StrEnum):
    """Which links are asked for."""

    BACKLINKS = "backlinks"
    """Links to a note."""
    LINKS = "links"
    """Links from a note."""
    UNRESOLVED = "unresolved"
    """Links that lead nowhere, of a note or of all."""
    ORPHANS = "orphans"
    """Notes that no link leads to."""
    DEAD_ENDS = "deadends"
    """Notes without a link."""


class ListLinks(_Vault, frozen=True, tag="vault.links.1"):
    """Asks for links (reply: `Links`)."""

    kind: LinkKinds
    note: str = ""
    """Needed for `BACKLINKS` and `LINKS`."""


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """A link, or a note without one."""

    source: str
    """Path of the note it's in; of the note itself for `ORPHANS` and `DEAD_ENDS`."""
    target: str = ""
    """Path of the file it leads to, or what is written if there's none."""
    resolved: bool = True
    """Whether there is such a file."""
    line: int = 0
    """The line it's on, from 1; 0 if there's no link."""
    text: str = ""
    """What that line says."""


class Links(_Vault, frozen=True, tag="vault.link-list.1"):
    """Links, by source and line."""

    path: str = ""
    """The note that was asked about."""
    links: tuple[LinkView, ...] = ()
    remark: str = ""
    """That not all notes are in the index yet."""


class ListProperties(_Vault, frozen=True, tag="vault.properties.1"):
    """Asks for the properties of a note, or which there are at all (reply: `Properties`)."""

    note: str = ""


class Properties(_Vault, frozen=True, tag="vault.property-list.1"):
    """Properties of a note, or of the vault."""

    path: str = ""
    values: str = "{}"
    """JSON: of a note, values by name; of the vault, the number of notes by name."""


class ListTags(_Vault, frozen=True, tag="vault.tags.1"):
    """Asks for the tags of the vault (reply: `Tags`)."""


class TagView(msgspec.Struct, frozen=True, kw_only=True):
    """A tag."""

    name: str
    """Without `#`."""
    notes: int
    """How many notes have it."""


class Tags(_Vault, frozen=True, tag="vault.tag-list.1"):
    """Tags, the most frequent first."""

    tags: tuple[TagView, ...]
    remark: str = ""
    """That not all notes are in the index yet."""


class ListTasks(_Vault, frozen=True, tag="vault.tasks.1"):
    """Asks for tasks (reply: `Tasks`)."""

    note: str = ""
    """Empty for all notes."""
    done: bool | None = None
    """Only those that are, or aren't; None for both."""
    limit: int = 200
    """The most tasks to give."""
    offset: int = 0
    """How many of the first to leave out."""
    dated: bool = False
    """Only those that have a date: due, scheduled or start."""


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """A task."""

    path: str
    line: int
    """From 1."""
    text: str
    """What is to be done, without the box."""
    done: bool
    due: str = ""
    """ISO date; empty if it has none."""


class Tasks(_Vault, frozen=True, tag="vault.task-list.1"):
    """Tasks, by note and line."""

    tasks: tuple[TaskView, ...]
    total: int
    """How many there are, given or not."""
    remark: str = ""
    """That not all notes are in the index yet."""


# Writing. Every write is a step that can be undone.


class EditKind(StrEnum):
    """What is done to a note."""

    CREATE = "create"
    """Make it; it mustn't be there."""
    APPEND = "append"
    """Add at its end, or at the end of a section; made if it isn't there."""
    PREPEND = "prepend"
    """Add at its start, after the properties, or at the start of a section."""
    OVERWRITE = "overwrite"
    """Replace all of it, or all of a section; a note that isn't there is made."""
    REPLACE = "replace"
    """Replace one text by another."""
    SET_PROPERTY = "set-property"
    REMOVE_PROPERTY = "remove-property"
    ADD_TASK = "add-task"
    TICK_TASK = "tick-task"
    UNTICK_TASK = "untick-task"


class EditNote(_Vault, frozen=True, tag="vault.edit.1"):
    """Asks for one change of one note (reply: `Written`)."""

    idem: str
    """Idempotency key: the same one never writes twice."""
    kind: EditKind
    note: str
    content: str = ""
    """The text to write; the new text of `REPLACE`; a property's value as JSON, a date as an ISO
    text; a task's text, of which a part that only one task has is enough for ticking it."""
    part: str = ""
    """Heading or ``^block``; the name of a property; empty for the whole note."""
    find: str = ""
    """The old text of `REPLACE`."""
    line: int = 0
    """Line of the task to tick, from 1; what it says must then agree with ``content``. 0 to find
    it by ``content`` alone."""
    count: int = 1
    """How often ``find`` must be there; 0 for any number above none."""
    template: str = ""
    """Template to make the note from, for `CREATE`."""
    version: str = ""
    """Refuse if the note isn't in this state any more and both changes don't go together."""


class MoveNote(_Vault, frozen=True, tag="vault.move.1"):
    """Moves or renames a note or folder and rewrites every link to it (reply: `Written`)."""

    idem: str
    note: str
    target: str
    """New path; a folder if it ends in ``/``; a name alone renames it where it is."""
    dry_run: bool = False
    """Only say which files would be changed."""


class TrashNote(_Vault, frozen=True, tag="vault.trash.1"):
    """Moves a note to the vault's trash (reply: `Written`)."""

    idem: str
    note: str


class OpenDaily(_Vault, frozen=True, tag="vault.daily.1"):
    """Asks for a day's note, made from its template if it isn't there (reply: `Written`)."""

    idem: str
    day: str = ""
    """ISO date; empty for today."""
    content: str = ""
    """Text to append to it."""
    create: bool = True
    """Whether to make it; otherwise one that isn't there is ``not-found``."""


class Written(_Vault, frozen=True, tag="vault.written.1"):
    """What a write did."""

    path: str
    message: str
    """For people, in the past tense: ``appended 12 bytes to todo.md``."""
    version: str = ""
    step: int = 0
    """Number of the step, for undoing it; 0 if nothing was changed."""
    files: tuple[str, ...] = ()
    """Every file that was changed, or would be, by its new path."""
    action: str = ""
    """In one word: ``created``, ``appended``, ``edited``, ``moved``, ``unchanged``…"""
    size: int = 0
    """Bytes that were written, without those that were there before."""
    remark: str = ""
    """What whoever asked should know: that another note was meant, or one of this name is there."""


# What was done, and taking it back.


class Undo(_Vault, frozen=True, tag="vault.undo.1"):
    """Takes back a step, or what was done last (reply: `Written`)."""

    idem: str
    step: int = 0
    """0 for what was done last and isn't undone: every step of a turn, or the one step that was
    asked for without a model."""


class ListHistory(_Vault, frozen=True, tag="vault.history.1"):
    """Asks for the steps that changed a note, or any (reply: `History`)."""

    note: str = ""
    limit: int = 50
    """The most steps to give."""


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """One step."""

    number: int
    at: float
    """Seconds since the epoch."""
    message: str
    """What it did, in the past tense: ``appended 12 bytes to todo.md``."""
    turn: str = ""
    """The turn that did it; empty if it was asked for without a model."""
    session: str = ""
    files: int = 1
    """How many it changed."""
    undone: bool = False
    kept: bool = True
    """Whether its contents are still there to be restored."""


class History(_Vault, frozen=True, tag="vault.step-list.1"):
    """Steps, the latest first."""

    path: str = ""
    steps: tuple[StepView, ...] = ()


class DiffNote(_Vault, frozen=True, tag="vault.diff.1"):
    """Asks what a step changed, or what changed in a note since it (reply: `Difference`)."""

    note: str = ""
    step: int = 0
    """0 for the last step that changed the note."""
    since: bool = False
    """Compare with the note as it is now."""


class Difference(_Vault, frozen=True, tag="vault.difference.1"):
    """A unified diff; empty if there's no difference."""

    path: str
    text: str


class RestoreNote(_Vault, frozen=True, tag="vault.restore.1"):
    """Brings a note back to what it was after a step (reply: `Written`)."""

    idem: str
    note: str
    step: int
    before: bool = False
    """To what it was before the step."""


class BlameNote(_Vault, frozen=True, tag="vault.blame.1"):
    """Asks which turn wrote each line of a note (reply: `Blame`)."""

    note: str


class BlamedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line and who wrote it."""

    number: int
    """From 1."""
    text: str
    step: int = 0
    """The step that wrote it; 0 if it wasn't Eris."""
    turn: str = ""
    """The turn of that step."""
    at: float = 0.0
    """When that step was, in seconds since the epoch."""


class Blame(_Vault, frozen=True, tag="vault.blamed.1"):
    """The lines of a note."""

    path: str
    lines: tuple[BlamedLine, ...]


class IndexStatus(_Vault, frozen=True, tag="vault.index.1"):
    """Asks how the index is (reply: `IndexState`)."""

    rebuild: bool = False
    """Throw it away and begin anew."""


class IndexState(_Vault, frozen=True, tag="vault.index-state.1"):
    """How the index is."""

    notes: int
    done: int
    """Of the notes, those whose current state is in the index."""
    building: bool = False
    """Whether it's being brought up to date right now."""
    problems: dict[str, str] = {}
    """Why files couldn't be read, by path; the first few."""


VaultRequest = (
    ListStates
    | NameNotes
    | ReadFile
    | ReadNote
    | Outline
    | ListFolder
    | SearchNotes
    | QueryProperties
    | ListLinks
    | ListProperties
    | ListTags
    | ListTasks
    | EditNote
    | MoveNote
    | TrashNote
    | OpenDaily
    | Undo
    | ListHistory
    | DiffNote
    | RestoreNote
    | BlameNote
    | IndexStatus
)
"""What may be asked; by whom, `proto.rights` says."""

Vault = (
    VaultRequest
    | NotesChanged
    | NoteStates
    | NamedNotes
    | FileBytes
    | NoteText
    | Headings
    | Files
    | Found
    | Table
    | Links
    | Properties
    | Tags
    | Tasks
    | Written
    | History
    | Difference
    | Blame
    | IndexState
)
