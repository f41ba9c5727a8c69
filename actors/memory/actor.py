"""The memory's process: embeds, remembers, recalls, and takes in notes and documents.

The embedding model is loaded after the start, so that the actor is there at once; without it
everything is found by words. What takes long is done by errands in the background.
"""

import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from actors.memory.assembly import Assembly
from actors.memory.embedding import Embedding
from actors.memory.errand import Errand
from actors.memory.tools import memory_tools
from actors.memory.work import Job
from eris.actor import Deferred, Port, Request
from eris.errors import ErisError, InvalidError
from eris.tools import ToolBox, ToolOwner
from proto.memory import (
    Core,
    DescribeMemory,
    Embed,
    Embedded,
    Kind,
    ListMemories,
    MemoryReport,
    MemoryRequest,
    MemoryState,
    MemoryView,
    ReadCore,
    RebuildIndex,
    Recall,
    Recalled,
)
from proto.tools import CallTool
from proto.vault import NotesChanged

MOST_TEXTS = 2000
"""Texts of one request: their vectors must fit into one message."""

CORE_TOPIC = "core"
"""Topic whose events are `Core`."""

SETTLING_SECONDS = 1.0
"""Between two looks at all notes: a burst of changes is one."""

INCOMPLETE_SECONDS = 2.0
"""Until the next look, while the vault itself doesn't know all notes."""

PATIENCE_SECONDS = 2.0
"""How long embedding waits for the notes to be taken in, each time."""

NOTICE_DAYS = 3.0
"""So long before a staged memory goes the user is told."""

HOUSEKEEPING_SECONDS = 3600.0

_STOP_SECONDS = 3.0
_CORE = "core"
"""Under which the catalogue has the core memory as it was told last."""
_TOLD = "memories"
"""Under which the catalogue has that it was told of the memories."""


class Memory(ToolOwner):
    """Owns the embedder, the vector index, memories and documents."""

    ACCEPTS: ClassVar[Any] = CallTool | MemoryRequest

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._embedding = Embedding(port, self._embedder_changed)
        self._remarks: dict[str, str] = {}
        self._remarks_lock = threading.Lock()
        self._looked = 0.0
        self._in_a_hurry = False
        self._stopping = threading.Event()

    def started(self) -> None:
        """Open everything, and begin to load the model and to follow the notes.

        Raises:
            ConfigurationError: Something can't be opened.
        """
        self._parts = Assembly(
            self.port,
            self._embedding,
            taking_in=self._taking_in,
            reading=self._reading,
            stopping=self._stopping,
        )
        if self._parts.memories.damage:
            self.port.log.warning("memories-damaged", told=self._parts.memories.damage)
            self._remark("memories", self._parts.memories.damage)
        self._core = self._core_before()
        self._topic = self.port.topic(CORE_TOPIC, snapshot=lambda: self._core)
        self.toolbox = ToolBox(memory_tools(self._parts.service))
        log = self.port.log
        self._indexing = Errand("indexing", self._index, log)
        self._notes = Errand("notes", self._follow_notes, log)
        self._turns = Errand("turns", self._follow_turns, log)
        self._housekeeping = Errand("housekeeping", self._keep_house, log)
        self._parts.catalogue.changed = self._indexing.wake
        self._embedding.start()
        for errand in self._errands:
            errand.start()
        threading.Thread(target=self._subscribe, name="subscribe", daemon=True).start()
        super().started()

    @property
    def _errands(self) -> tuple[Errand, ...]:
        return (self._indexing, self._notes, self._turns, self._housekeeping)

    def peer_up(self, name: str, incarnation: int) -> None:
        """Go on with what another process was needed for."""
        super().peer_up(name, incarnation)
        if name == "vault":
            self._notes.wake()
            self._housekeeping.wake()
        elif name == "orchestrator":
            self._turns.wake()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Queue what is to be embedded; answer everything else on a worker.

        Raises:
            ErisError: ``loading``, ``unavailable`` or ``busy``.
            InvalidError: There are too many texts.
        """
        match request.body:
            case CallTool():
                return super().receive(request)
            case Embed():
                return self._embed(request)
            case body:
                self.port.submit(self._answer, request, body)
                return request.defer()

    def drain(self) -> None:
        """Let everything end after its batch."""
        self._stopping.set()
        self._embedding.stop()
        for errand in self._errands:
            errand.stop()
        ended = [errand.join(_STOP_SECONDS) for errand in self._errands]
        if all(ended):  # Otherwise it's as after a kill, which costs nothing.
            self._parts.close()

    # Answers.

    def _embed(self, request: Request) -> Deferred:
        embed: Embed = request.body
        if len(embed.texts) > MOST_TEXTS:
            raise InvalidError(
                f"{len(embed.texts)} texts at once are too many to embed.",
                hint=f"Send at most {MOST_TEXTS}.",
            )
        embedder = self._embedding.ready()

        def finish(vectors: Sequence[bytes]) -> None:
            request.reply(
                Embedded(
                    model=embedder.model,
                    dimensions=embedder.dimensions,
                    vectors=b"".join(vectors),
                )
            )

        self._embedding.put(
            Job(
                texts=embed.texts,
                background=embed.background,
                finish=finish,
                fail=request.fail,
                wanted=lambda: not request.cancelled.is_set() and request.remaining > 0,
            )
        )
        return request.defer()

    def _answer(self, request: Request, body: MemoryRequest) -> None:
        try:
            request.reply(self._reply(body))
        except ErisError as error:
            request.fail(error)
        except Exception as error:
            request.fail(error)
            raise

    def _reply(self, body: MemoryRequest) -> msgspec.Struct:
        match body:
            case Recall():
                return self._recall(body)
            case ReadCore():
                return self._core
            case DescribeMemory():
                return self._report()
            case RebuildIndex(move_to=place):
                self._parts.keeper.rebuild(place)
                self._indexing.wake()
                return self._report()
            case Embed():
                raise InvalidError("Embed isn't answered here.")
            case _:
                return self._parts.service.answer(body)

    def _recall(self, body: Recall) -> Recalled:
        """What belongs into a turn, and what is about to go, told once."""
        self._turns.wake()
        recalled = self._parts.service.recall(body)
        going = self._parts.memories.expiring(NOTICE_DAYS)
        if not going:
            return recalled
        self._parts.memories.told([each.id for each in going])
        return msgspec.structs.replace(recalled, notice=_going(going))

    def _report(self) -> MemoryReport:
        parts = self._parts
        counts = parts.catalogue.counts()
        loaded = self._embedding.loaded
        holding = parts.memories.list(ListMemories(limit=1_000_000)).memories
        states = [each.state for each in holding]
        with self._remarks_lock:
            note = " ".join(self._remarks.values())
        return MemoryReport(
            embedder=loaded.model if loaded else "",
            backend=parts.indexes.place,
            chunks=counts.chunks,
            waiting=parts.keeper.waiting(),
            notes=counts.sources[Kind.NOTE],
            documents=counts.sources[Kind.DOCUMENT],
            staged=states.count(MemoryState.STAGED),
            committed=states.count(MemoryState.COMMITTED),
            awaiting_yes=states.count(MemoryState.WAITING),
            floor=parts.recaller.floor.floor(),
            note=note,
        )

    # Errands.

    def _index(self) -> float | None:
        """Bring what is new into the index, a batch at a time."""
        parts = self._parts
        if self._in_a_hurry:
            # Found by words is found: that's worth more than the first vectors.
            return PATIENCE_SECONDS
        try:
            more = parts.keeper.step()
        except ErisError as error:
            self._remark("index", f"{error.message} {error.hint}".strip())
            raise
        building = parts.indexes.building is not None
        waiting = parts.keeper.waiting() if more or building else 0
        place = "a new index is being built" if building else "being indexed"
        told = f"{place}: {waiting:,} pieces to go." if waiting else ""
        self._remark("index", f"{parts.indexes.damage} {told}".strip())
        return 0.0 if more else None

    def _follow_notes(self) -> float | None:
        """Compare the notes with the catalogue."""
        self._stopping.wait(
            min(SETTLING_SECONDS, self._looked + SETTLING_SECONDS - time.monotonic())
        )
        self._looked = time.monotonic()
        try:
            complete = self._parts.note_follower.sync()
        finally:
            self._taking_in(1, 1)
        self._tell_core()
        return None if complete else INCOMPLETE_SECONDS

    def _follow_turns(self) -> float | None:
        self._parts.turn_follower.sync()
        return None

    def _keep_house(self) -> float | None:
        """Finish what a crash interrupted, and let go of what is overdue."""
        parts = self._parts
        parts.memories.resume()
        if not parts.catalogue.remembered(_TOLD):
            # A catalogue that was made anew has to be told of everything.
            parts.memories.show(anew=True)
            parts.catalogue.remember(_TOLD, "yes")
        for each in parts.memories.expire():
            self.port.log.info("memory-expired", memory=each.id)
        for problem in parts.documents.resume(self._reading):
            self.port.log.warning("document", code=problem.code, told=problem.message)
        return HOUSEKEEPING_SECONDS

    def _subscribe(self) -> None:
        """Look at the notes whenever the vault says that something changed."""
        pause = SETTLING_SECONDS
        while not self._stopping.is_set():
            try:
                for _ in self.port.subscribe("vault", "notes", item=NotesChanged):
                    self._notes.wake()
            except ErisError as error:
                self.port.log.info("notes-lost", code=error.code, error=error.message)
            self._stopping.wait(pause)
            pause = min(pause * 2, HOUSEKEEPING_SECONDS)

    def _tell_core(self) -> None:
        core = self._parts.core.read()
        if core != self._core:
            with self._topic.lock:
                self._core = core
                self._topic.publish(core)
            self._parts.catalogue.remember(_CORE, msgspec.json.encode(core).decode())

    def _core_before(self) -> Core:
        """The core memory as it was told last: it's there before the vault has answered."""
        text = self._parts.catalogue.remembered(_CORE)
        return msgspec.json.decode(text, type=Core) if text else Core(path="", text="")

    # What `eris status` says.

    def _embedder_changed(self) -> None:
        why_not = self._embedding.why_not
        told = ""
        if why_not is not None:
            told = f"{why_not.message} {why_not.hint} Until then everything is found by keywords."
        self._remark("embedder", told)
        self._parts.embedder_changed()
        self._indexing.wake()

    def _taking_in(self, done: int, total: int) -> None:
        self._in_a_hurry = done < total
        told = f"taking in the notes: {done:,} of {total:,}." if done < total else ""
        self._remark("notes", told)

    def _reading(self, path: str, done: int, pages: int) -> None:
        self._remark("document", f"reading {path}: {done} of {pages}." if done < pages else "")

    def _remark(self, about: str, text: str) -> None:
        with self._remarks_lock:
            before = dict(self._remarks)
            if text:
                self._remarks[about] = text
            else:
                self._remarks.pop(about, None)
            if self._remarks != before:
                self.port.remark(" ".join(self._remarks.values()))


def _going(memories: Sequence[MemoryView]) -> str:
    named = ", ".join(f"{each.id} ({each.title}) on {each.expires[:10]}" for each in memories)
    return f"Soon forgotten unless it's saved as a note (`eris memory commit`): {named}."
