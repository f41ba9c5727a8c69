"""Memories over a real vault, journal and catalogue, without processes; can be killed anywhere."""

import datetime as dt
import itertools
import threading

import structlog

from actors.memory.catalogue import Catalogue
from actors.memory.following import NoteFollower
from actors.memory.remembering import Calendar, CoreMemory, Fact, Memories, Place
from actors.memory.vault_notes import VaultNotes
from eris.errors import NotFoundError, RemoteError
from proto.memory import Kind, ListMemories, MemoryState
from tests.served_vault import ServedVault

START = dt.datetime(2027, 1, 31, 14, 5, tzinfo=dt.UTC).timestamp()
DAY = 24 * 3600.0
KEYS = itertools.count(1)


class KilledError(BaseException):
    """The process has died."""


class Life:
    """Counts the moments at which a process can die, and ends it at one of them."""

    def __init__(self):
        self.left = None

    def moment(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KilledError

    def around(self, function):
        def call(*arguments):
            self.moment()
            result = function(*arguments)
            self.moment()
            return result

        return call


class MortalNotes:
    """The vault's notes, as a process sees them that may die before and after each write."""

    def __init__(self, notes, life):
        self.read = notes.read
        self.create = life.around(notes.create)
        self.replace = life.around(notes.replace)
        self.move = life.around(notes.move)
        self.trash = life.around(notes.trash)


class ServicePort:
    """Hands requests to a vault's service, with failures as they come over the bus."""

    def __init__(self, served):
        self.served = served
        self.away = False

    def ask(self, dst, body, expect, **_waiting):
        if self.away:
            raise RemoteError(
                NotFoundError("vault is away", code="unreachable").body(), peer="vault"
            )
        assert dst == "vault"
        answer = self.served.service.answer(body)
        assert isinstance(answer, expect)
        return answer


class Remembered:
    """Everything that remembering needs."""

    def __init__(self, folder, *, layout="note", agent_folder="Eris", similar=None):
        place = folder / "vault"
        place.mkdir(parents=True)
        self.vault = ServedVault(place, folder)
        self.vault.look()
        self.port = ServicePort(self.vault)
        self.notes = VaultNotes(self.port, threading.Event())
        self.file = folder / "memories.sqlite"
        self.catalogue = Catalogue.open(folder / "catalogue.sqlite")
        self.place = Place.by(layout, agent_folder)
        self.similar = similar or (lambda *_: [])
        self.now = START
        self.life = Life()
        self.forgotten = []
        self.memories = None
        self.start()

    def start(self):
        """Start the process anew."""
        if self.memories:
            self.memories.close()
        self.life.left = None
        notes = MortalNotes(self.notes, self.life)
        self.memories = Memories(
            self.file,
            notes,
            self.similar,
            self.life.around(self.catalogue.offer),
            self.life.around(self.catalogue.gone),
            calendar=Calendar(lambda: self.now, dt.UTC),
            place=self.place,
            known_note=self.known,
            count=lambda texts: [len(text.split()) for text in texts],
        )
        self.core = CoreMemory("Eris/About me.md", notes, self.memories.store)
        self.memories.resume()
        self.follower = NoteFollower(
            self.notes,
            self.catalogue,
            lambda: lambda texts: [len(text.split()) for text in texts],
            memories=self,
            progress=lambda _done, _total: None,
            stopping=lambda: False,
            log=structlog.get_logger(),
        )

    def note_changed(self, memory, path, text):
        return self.memories.note_changed(memory, path, text)

    def is_history(self, memory, path):
        return self.memories.is_history(memory, path)

    def note_gone(self, memory):
        self.forgotten.append(self.memories.note_gone(memory))

    def known(self, name):
        paths = [path.relative_to(self.vault.place) for path in self.vault.place.rglob("*.md")]
        found = [path.as_posix() for path in paths if path.stem.casefold() == name.casefold()]
        return found[0] if len(found) == 1 else None

    def follow(self):
        """Let the catalogue follow the notes, as it does after each change of the vault."""
        self.vault.look()
        self.follower.sync()

    def say(self, text, key="", **more):
        """Stage a fact."""
        return self.memories.stage(Fact(text=text, **more), key or f"other-{next(KEYS)}.1.0")

    def commit(self, name, key="", **more):
        return self.memories.commit(name, key or f"other-{next(KEYS)}.1.0", **more)

    def get(self, name):
        """Return a memory as it's shown, whatever its state."""
        every = self.memories.list(ListMemories(states=tuple(MemoryState))).memories
        return next(each for each in every if each.id == name)

    def held(self):
        """Ids of the memories that hold."""
        return [each.id for each in self.memories.list().memories]

    def sources(self):
        """Keys of everything that can be found, notes too."""
        return sorted([*self.catalogue.digests(Kind.MEMORY), *self.catalogue.digests(Kind.NOTE)])

    def memory_notes(self):
        """Text of each note in the folder of memories by path."""
        folder = self.vault.place / self.place.folder
        return {
            path.relative_to(self.vault.place).as_posix(): path.read_text()
            for path in sorted(folder.rglob("*.md"))
        }

    def close(self):
        self.memories.close()
        self.catalogue.close()
        self.vault.close()
