"""The vault's service and tools over a real folder, journal and index, without processes."""

import datetime as dt
import itertools
import json
import secrets
import threading

from actors.vault.index import VaultIndex
from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.reading import Reader
from actors.vault.service import VaultService
from actors.vault.service.changes import paths_of
from actors.vault.service.obsidian import ObsidianSettings
from actors.vault.tools import vault_tools
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import NoteWriter
from eris.tools import ToolBox
from eris.vault.settings import new_note_folder
from proto.tools import CallTool, Origin

NOW = dt.datetime(2027, 1, 31, 14, 5, tzinfo=dt.UTC)
CALLS = itertools.count(1)


class ServedVault:
    """Everything that the vault actor opens; the index follows when it's told to."""

    def __init__(self, place, state, *, read_only=(), skill_folders=("Eris/Skills",)):
        self.place = place
        self.folder = VaultFolder(place)
        self.obsidian = ObsidianSettings(self.folder)
        self.journal = Journal(state / "vault.sqlite", lambda: 1000.0)
        self.index = VaultIndex(
            state / "index.sqlite", self.folder, ignored=self.obsidian.ignored, zone=dt.UTC
        )
        self.complete = threading.Event()
        self.lookup = Lookup(
            self.folder,
            clock=lambda: 0.0,
            known=lambda: self.index if self.complete.is_set() else None,
            new_folder=lambda: new_note_folder("", self.obsidian.read()),
        )
        self.writer = NoteWriter(
            self.folder,
            self.journal,
            lookup=self.lookup,
            random_hex=secrets.token_hex,
            read_only=read_only,
            done=lambda entry: self.index.update(
                *paths_of(entry.changes), *(change.path for change in entry.changes)
            ),
        )
        self.service = VaultService(
            self.folder,
            self.lookup,
            self.writer,
            self.journal,
            self.index,
            self.obsidian,
            complete=self.complete,
            rebuild=self.look,
            clock=lambda: 0.0,
            now=lambda: NOW,
            skill_folders=skill_folders,
            answer_patience=0.0,
            move_patience=0.0,
        )
        self.reader = Reader(self.service.finder, self.lookup, clock=lambda: 0.0)
        self.toolbox = ToolBox(vault_tools(self.service, self.reader))

    def fill(self, notes):
        """Write notes as another program does, and have them in the index."""
        for path, text in notes.items():
            (self.place / path).parent.mkdir(parents=True, exist_ok=True)
            (self.place / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        self.look()

    def look(self):
        """Bring the index up to date, as the watcher does."""
        self.obsidian.refresh()
        self.index.reconcile()
        self.complete.set()

    def bytes(self, path):
        return (self.place / path).read_bytes()

    def text(self, path):
        return self.bytes(path).decode()

    def contents(self):
        """Every file by path, what is in the trash too."""
        return {
            path.relative_to(self.place).as_posix(): path.read_bytes()
            for path in sorted(self.place.rglob("*"))
            if path.is_file()
        }

    def ask(self, request):
        return self.service.answer(request)

    def call(self, tool, call_id="", session="main", said="", **arguments):
        """Call a tool as the gatekeeper does."""
        return self.toolbox.execute(
            CallTool(
                call_id=call_id or f"turn-{next(CALLS)}.1.0",
                tool=tool,
                arguments=json.dumps(arguments),
                origin=Origin.USER,
                session=session,
                said=said,
            )
        )

    def close(self):
        self.index.close()
        self.journal.close()
        self.folder.close()
