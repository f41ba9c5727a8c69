"""The service: every request of `proto.vault`, answered."""

import datetime as dt
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from actors.vault.index import VaultIndex
from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.service.answers import Answers
from actors.vault.service.changes import Changes
from actors.vault.service.finding import Finder
from actors.vault.service.following import Following
from actors.vault.service.naming import Naming
from actors.vault.service.obsidian import ObsidianSettings
from actors.vault.service.past import Past
from actors.vault.service.skills import SkillNotes
from actors.vault.steps import Cause
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import NoteWriter
from proto.vault import (
    BlameNote,
    DiffNote,
    EditNote,
    IndexState,
    IndexStatus,
    ListFolder,
    ListHistory,
    ListLinks,
    ListProperties,
    ListStates,
    ListTags,
    ListTasks,
    MoveNote,
    NameNotes,
    OpenDaily,
    Outline,
    QueryProperties,
    ReadFile,
    ReadNote,
    RestoreNote,
    SearchNotes,
    TrashNote,
    Undo,
    VaultRequest,
)

ANSWER_PATIENCE_SECONDS = 2.0
"""How long a question waits for the first index; in a small vault that's enough for it."""

MOVE_PATIENCE_SECONDS = 10.0
"""How long a move does, which has to know all links."""

_MOST_PROBLEMS = 20
_PEOPLE = "(people)"
"""In place of a session, for those who name the version that they mean themselves."""


class VaultService:
    """Answers requests; thread-safe."""

    def __init__(
        self,
        vault: VaultFolder,
        lookup: Lookup,
        writer: NoteWriter,
        journal: Journal,
        index: VaultIndex,
        obsidian: ObsidianSettings,
        *,
        complete: threading.Event,
        rebuild: Callable[[], None],
        clock: Callable[[], float],
        now: Callable[[], dt.datetime],
        skill_folders: Sequence[str] = (),
        answer_patience: float = ANSWER_PATIENCE_SECONDS,
        move_patience: float = MOVE_PATIENCE_SECONDS,
    ) -> None:
        """Create it.

        Args:
            vault: The vault.
            lookup: Knows what people mean by a name.
            writer: Writes to the vault.
            journal: The writer's.
            index: Knows what is in the vault.
            obsidian: The vault's settings.
            complete: Set while the index knows all notes.
            rebuild: Begins to make the index anew.
            clock: A clock that only goes forward, in seconds.
            now: Returns the time, in the user's zone.
            skill_folders: Where skills are.
            answer_patience: Seconds that a question waits for the first index.
            move_patience: Seconds that a move does.
        """
        self._index = index
        self._complete = complete
        self._rebuild = rebuild
        self._answer_patience = answer_patience
        self.writer = writer
        """Writes; knows what each session has read."""
        self.finder = Finder(vault, lookup)
        """Opens notes by name."""
        self.answers = Answers(
            lookup,
            index,
            self.finder,
            clock=clock,
            today=lambda: now().date(),
            unready=self._unready,
            seen=lambda file: writer.saw(_PEOPLE, file.path, file.data),
        )
        """What the notes say."""
        self.changes = Changes(
            writer,
            journal,
            index,
            lookup,
            self.finder,
            obsidian,
            now=now,
            complete=lambda: complete.wait(move_patience),
        )
        """Changes them."""
        self.past = Past(writer.history, journal, self.finder)
        """What was done to them."""
        self.skills = SkillNotes(lookup, self.finder, writer, skill_folders, clock=clock)
        """How certain work is done."""
        self.now = now
        """The time, in the user's zone."""
        following = Following(vault, index, complete=complete.is_set)
        self.naming = Naming(index)
        """Knows which notes a sentence names."""
        self._questions: Mapping[type, Callable[[Any], msgspec.Struct]] = {
            ListStates: following.states,
            ReadFile: following.file,
            NameNotes: self.naming.named,
            ReadNote: self.answers.read,
            Outline: self.answers.outline,
            ListFolder: self.answers.list,
            SearchNotes: self.answers.search,
            QueryProperties: self.answers.query,
            ListLinks: self.answers.links,
            ListProperties: self.answers.properties,
            ListTags: self.answers.tags,
            ListTasks: self.answers.tasks,
            ListHistory: self.past.history,
            DiffNote: self.past.diff,
            BlameNote: self.past.blame,
            IndexStatus: self.index_state,
        }
        self._orders: Mapping[type, Callable[[Any, Cause], msgspec.Struct]] = {
            EditNote: self.changes.edit,
            MoveNote: self.changes.move,
            TrashNote: self.changes.trash,
            OpenDaily: self.changes.daily,
            Undo: self.changes.undo,
            RestoreNote: self.changes.restore,
        }

    def answer(self, request: VaultRequest) -> msgspec.Struct:
        """Answer a request that somebody made without a model.

        Raises:
            ErisError: It can't be done; the sentence says why.
        """
        question = self._questions.get(type(request))
        if question is not None:
            return question(request)
        tool = str(type(request).__struct_config__.tag).removesuffix(".1")
        idem: str = getattr(request, "idem")  # noqa: B009 - every order has one
        return self._orders[type(request)](request, Cause(idem, tool=tool))

    def index_state(self, request: IndexStatus) -> IndexState:
        """Tell how the index is, and make it anew if that is asked for."""
        if request.rebuild:
            self._complete.clear()
            self._rebuild()
        state = self._index.state()
        return IndexState(
            notes=state.indexed + state.waiting,
            done=state.indexed,
            building=not self._complete.is_set(),
            problems=dict(state.skipped[:_MOST_PROBLEMS]),
        )

    def _unready(self) -> str:
        if self._complete.wait(self._answer_patience):
            return ""
        state = self._index.state()
        total = state.indexed + state.waiting
        return (
            f"The notes are still being looked through: {state.indexed:,} of {total:,} are known, "
            "so something may be missing."
        )
