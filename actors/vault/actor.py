"""The vault actor: opens the vault, its record of writes and its index, and answers for them."""

import datetime as dt
import secrets
import time
from typing import Any, ClassVar

from actors.vault.index import VaultIndex
from actors.vault.index.building import MOST_AT_ONCE
from actors.vault.index.index import FILE_NAME
from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.reading import Reader
from actors.vault.right_of_way import RightOfWay
from actors.vault.service import VaultService
from actors.vault.service.changes import paths_of
from actors.vault.service.obsidian import ObsidianSettings
from actors.vault.steps import Entry
from actors.vault.tools import vault_tools
from actors.vault.tools.own_folder import OwnFolder
from actors.vault.vault_folder import VaultFolder
from actors.vault.watching import Watcher
from actors.vault.writing import NoteWriter
from eris.actor import Deferred, Request
from eris.errors import ErisError, RemoteError
from eris.tools import ToolBox, ToolOwner
from eris.vault.settings import new_note_folder
from proto.control import Done
from proto.router import RegisterSkills, SkillSummary
from proto.tools import CallTool
from proto.vault import NotesChanged, VaultRequest

ROUTER = "router"

_REGISTER_SECONDS = 30.0


class Vault(ToolOwner):
    """Owns the folder of notes: nobody else in Eris opens it."""

    ACCEPTS: ClassVar[Any] = CallTool | VaultRequest

    def started(self) -> None:
        """Open the vault, settle what a crash interrupted, and begin to watch.

        The index is brought up to date in the background; what needs it says so until then.

        Raises:
            ConfigurationError: The vault, the record of writes or the index can't be opened.
        """
        self._router = False
        settings, state = self.port.settings.vault, self.port.paths.state
        folder = VaultFolder(self.port.paths.vault)
        obsidian = ObsidianSettings(folder)
        self._journal = Journal(state / "vault.sqlite", time.time)
        if self._journal.damage:
            self.port.log.warning("journal-damaged", told=self._journal.damage)
        first = RightOfWay()
        self._index = VaultIndex(
            state / FILE_NAME, folder, ignored=obsidian.ignored, give_way=first.give_way
        )
        self._watcher = Watcher(
            self.port.paths.vault,
            self._index,
            progress=self._indexing,
            settings_changed=obsidian.refresh,
            changed=self._changed,
            failed=self._not_watched,
        )
        lookup = Lookup(
            folder,
            clock=time.monotonic,
            known=lambda: self._index if self._watcher.reconciled.is_set() else None,
            new_folder=lambda: new_note_folder("", obsidian.read()),
        )
        self._writer = NoteWriter(
            folder,
            self._journal,
            lookup=lookup,
            random_hex=secrets.token_hex,
            read_only=settings.read_only,
            done=self._written,
            right_of_way=first,
        )
        # Before anything is written: what a crash interrupted is told, too.
        self._notes = self.port.topic("notes", snapshot=self._passes)
        self._recover()
        self._service = VaultService(
            folder,
            lookup,
            self._writer,
            self._journal,
            self._index,
            obsidian,
            complete=self._watcher.reconciled,
            rebuild=self._begin_rebuild,
            clock=time.monotonic,
            now=lambda: dt.datetime.now().astimezone(),
            skill_folders=settings.skills,
        )
        reader = Reader(self._service.finder, lookup, clock=time.monotonic)
        own = OwnFolder.by(settings, self.port.settings.memory.core_note)
        self.toolbox = ToolBox(vault_tools(self._service, reader, own))
        self._watcher.start()
        super().started()

    def _recover(self) -> None:
        for each in self._writer.recover():
            self.port.log.warning(
                "interrupted-write",
                path=each.step.receipt.path,
                call=each.step.cause.call_id,
                state=each.state.value if each.state else "not-written",
                foreign=each.foreign,
                recovered=each.recovered,
            )

    def peer_up(self, name: str, incarnation: int) -> None:
        """Register the tools and the skills with those that need to know."""
        super().peer_up(name, incarnation)
        if name == ROUTER:
            self._router = True
            self.port.submit(self._register_skills)

    def receive(self, request: Request) -> Deferred:
        """Answer on a worker."""
        if isinstance(request.body, CallTool):
            super().receive(request)
        else:
            self.port.submit(self._answer, request)
        return request.defer()

    def drain(self) -> None:
        """Finish the write and the batch of the index under way."""
        self._writer.stop()
        self._watcher.stop()
        self._index.close()
        self._journal.close()

    def _answer(self, request: Request) -> None:
        try:
            request.reply(self._service.answer(request.body))
        except ErisError as error:
            request.fail(error)
        except Exception as error:
            request.fail(error)
            raise

    # The index.

    def _indexing(self, done: int, total: int) -> None:
        if done < total:
            self.port.remark(f"looking through the notes: {done:,} of {total:,}")
        else:
            self.port.remark("")
            self.port.log.info("indexed", files=total)

    def _not_watched(self, error: Exception) -> None:
        self.port.log.warning("not-watched", error=str(error))

    def _begin_rebuild(self) -> None:
        self.port.submit(self._rebuild)

    def _rebuild(self) -> None:
        try:
            self._index.forget()
            self._index.reconcile(self._indexing)
        finally:
            self._watcher.reconciled.set()

    def _written(self, entry: Entry) -> None:
        """Have a step in the index before it's answered, or soon after if it's a large one."""
        paths = {*paths_of(entry.changes), *(change.path for change in entry.changes)}
        if len(paths) <= MOST_AT_ONCE:
            self._update(*paths)
        else:
            self.port.submit(self._update, *paths)

    def _update(self, *paths: str) -> None:
        try:
            result = self._index.update(*paths)
        except ErisError as error:  # The note is written; the watcher tries again.
            self.port.log.warning("not-indexed", error=error.message)
            return
        if result.changed or result.removed:
            self._changed()

    def _changed(self) -> None:
        """Tell those who follow the notes."""
        self._notes.publish(self._passes())
        self._tell_skills()

    def _passes(self) -> NotesChanged:
        return NotesChanged(passes=self._index.passes)

    # Skills.

    def _tell_skills(self) -> None:
        if self._router and self._service.skills.changed():
            self.port.submit(self._register_skills)

    def _register_skills(self) -> None:
        skills = self._service.skills.all()
        for problem in skills.problems:
            self.port.log.warning("skill", path=problem.path, told=problem.message)
        summaries = tuple(
            SkillSummary(name=each.name, description=each.description) for each in skills.found
        )
        try:
            self.port.ask(
                ROUTER, RegisterSkills(skills=summaries), Done, within=_REGISTER_SECONDS, retry=True
            )
        except RemoteError as error:
            # A newer router, if that's the reason, is announced and told anew.
            self.port.log.warning("skills-not-registered", error=error.message)
