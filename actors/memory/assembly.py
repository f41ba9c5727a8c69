"""Everything that the memory is made of, put together; what works when is the actor's matter."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from actors.memory.catalogue import Catalogue
from actors.memory.documents import DocumentNames, Documents, Limits, Progress, Reach
from actors.memory.embedding import Embedding
from actors.memory.following import NoteFollower, TurnFollower
from actors.memory.index import EDGE, Backend, EdgeBackend, Indexes
from actors.memory.ingest import Embedding as Embed
from actors.memory.keeping import IndexKeeper, SharedIndexes
from actors.memory.recall import Recaller
from actors.memory.remembering import Calendar, CoreMemory, Memories, Place
from actors.memory.service import Service
from actors.memory.shelf import Shelf
from actors.memory.vault_notes import VaultNotes
from eris.actor import Port
from eris.errors import ConfigurationError
from eris.vault.names import folded
from proto.memory import Hits, Kind, Recall, Recalled, SearchMemory
from proto.orchestrator import ListTurns, TurnLog

CORE_NOTE = "About me.md"
"""Name of the core memory's note, in the agent's folder, unless a setting names another."""

_TURNS_SECONDS = 30.0


class Searcher:
    """Lets one question at a time be answered: the recaller is for one thread."""

    def __init__(self, recaller: Recaller) -> None:
        self._recaller = recaller
        self._lock = threading.Lock()

    def search(self, request: SearchMemory) -> Hits:
        """Return what fits a question best."""
        with self._lock:
            return self._recaller.search(request)

    def recall(self, request: Recall) -> Recalled:
        """Return what belongs into a turn."""
        with self._lock:
            return self._recaller.recall(request)

    def similar(self, text: str, kinds: Sequence[Kind], limit: int) -> list[tuple[str, float, str]]:
        """Return what says something like a text."""
        with self._lock:
            return self._recaller.similar(text, kinds, limit)


class Assembly:
    """The parts, opened; none of them works by itself yet."""

    def __init__(
        self,
        port: Port,
        embedding: Embedding,
        *,
        taking_in: Callable[[int, int], None],
        reading: Progress,
        stopping: threading.Event,
    ) -> None:
        """Open everything.

        Args:
            port: The actor's.
            embedding: The embedder, loaded or not.
            taking_in: Told how many of the changed notes are taken in, and how many there are.
            reading: Told of the pages of documents.
            stopping: Set when what takes long is to stop.

        Raises:
            ConfigurationError: Something can't be opened.
            StorageError: The same.
        """
        settings, vault = port.settings.memory, port.settings.vault
        self.folder = port.paths.state / "memory"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.embedding = embedding
        self.catalogue = Catalogue.open(self.folder / "catalogue.sqlite")
        self.notes = VaultNotes(port, stopping)
        self.indexes = SharedIndexes(
            lambda: Indexes(self.folder / "index", self.catalogue.id, self._backend(port))
        )
        self.recaller = Recaller(
            self.catalogue, self.indexes, None, today=lambda: dt.datetime.now().astimezone().date()
        )
        searcher = Searcher(self.recaller)
        self.keeper = IndexKeeper(
            self.catalogue,
            self.indexes,
            self.recaller.floor,
            embedding=self._bulk,
            hopeless=lambda: embedding.why_not is not None,
            wanted_place=settings.index,
        )
        memories_file = self.folder / "memories.sqlite"
        self.memories = Memories(
            memories_file,
            self.notes,
            searcher.similar,
            self.catalogue.offer,
            self.catalogue.gone,
            calendar=Calendar(time.time),
            place=Place.by(settings.layout, vault.agent_folder),
            known_note=self.known_note,
            count=embedding.count,
            lifetime_days=settings.staged_days,
        )
        core_note = settings.core_note or f"{vault.agent_folder}/{CORE_NOTE}"
        self.core = CoreMemory(core_note, self.notes, self.memories.store)
        limits = Limits()
        self.names = DocumentNames(memories_file)
        reach = Reach(
            settings.document_folders,
            self.notes.bytes,
            self.notes.file_state,
            self.folder / "scratch",
            limits.file_bytes,
            port.paths.vault,
        )
        self.documents = Documents(
            self.names,
            self.catalogue,
            reach,
            embedding.count,
            lambda: dt.datetime.now().astimezone(),
            limits,
        )
        self.service = Service(self.memories, self.core, searcher, Shelf(self.documents, reading))
        self.note_follower = NoteFollower(
            self.notes,
            self.catalogue,
            lambda: embedding.count,
            memories=self.memories,
            progress=taking_in,
            stopping=stopping.is_set,
            log=port.log,
        )
        self.turn_follower = TurnFollower(
            lambda after: port.ask(
                "orchestrator",
                ListTurns(after=after),
                TurnLog,
                within=_TURNS_SECONDS,
                retry=True,
                cancelled=stopping,
            ),
            self.catalogue,
            lambda: embedding.count,
        )

    def embedder_changed(self) -> None:
        """Let questions be embedded by the embedder that is there now."""
        loaded = self.embedding.loaded
        self.recaller.embedding = Embed(loaded.model, self.embedding.embed) if loaded else None

    def known_note(self, name: str) -> str | None:
        """Return the path of the note of a name or title, if there's exactly one."""
        wanted = folded(name.strip())
        found = {
            path
            for path, source in self.catalogue.located().items()
            if wanted in {folded(source.title), folded(Path(path).stem)}
        }
        return found.pop() if len(found) == 1 else None

    def close(self) -> None:
        """Close what is open."""
        self.indexes.close()
        self.memories.close()
        self.names.close()
        self.catalogue.close()

    def _bulk(self) -> tuple[Embed, int] | None:
        loaded = self.embedding.loaded
        if loaded is None:
            return None
        return Embed(loaded.model, self._embed_in_background), loaded.dimensions

    def _embed_in_background(self, texts: Sequence[str]) -> list[bytes]:
        return self.embedding.embed(texts, background=True)

    def _backend(self, port: Port) -> Callable[[str], Backend]:
        """Return what makes the backend of a name."""
        made: dict[str, Backend] = {}

        def backend(name: str) -> Backend:
            if name not in made:
                if name == EDGE:
                    made[name] = EdgeBackend(self.folder / "index")
                else:
                    # Two seconds and 120 MB that only those with a server need.
                    from actors.memory.index.server import ServerBackend  # noqa: PLC0415

                    key = _api_key(port.settings.memory.index_key_file)
                    # A synced vault has the same id on each machine, but not the same catalogue.
                    prefix = f"eris-{port.paths.vault_id}-{self.catalogue.id[:8]}"
                    made[name] = ServerBackend.at(name, key, prefix)
            return made[name]

        return backend


def _api_key(file: str) -> str:
    if not file:
        return ""
    path = Path(file).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigurationError(
            f"The file {path} with the key of the Qdrant server can't be read: {error.strerror}.",
            hint="Check memory.index_key_file.",
        ) from error
