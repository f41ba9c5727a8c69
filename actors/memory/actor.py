"""The memory's process: answers `Embed` from one worker thread.

The model is loaded after the start, so that the actor is there at once: until then it answers
``loading``, and without a model ``unavailable``, and lives on either way.
"""

import os
import threading
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from actors.memory.embedder import Embedder, MiniLM, threads_for
from actors.memory.lanes import Lanes
from actors.memory.work import Job, Recent, Worker
from eris.actor import Actor, Deferred, Port, Request
from eris.errors import ErisError, InvalidError, ModelError, UnavailableError
from eris.models.store import ModelStore
from proto.errors import ErrorCode
from proto.memory import Embed, Embedded

MOST_TEXTS = 2000
"""Texts of one request: their vectors must fit into one message."""


class Memory(Actor):
    """Answers `Embed`."""

    ACCEPTS: ClassVar[type[Embed]] = Embed

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._lanes: Lanes[Job] = Lanes()
        self._recent = Recent()
        self._embedder: Embedder | None = None
        self._why_not: ErisError | None = None
        self._load = threading.Event()

    def started(self) -> None:
        """Begin to load the model."""
        self._load.set()
        threading.Thread(target=self._work, name="embedder", daemon=True).start()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Queue a request for the worker.

        Raises:
            ErisError: ``loading``, ``unavailable`` or ``busy``.
            InvalidError: It has too many texts.
        """
        embed: Embed = request.body
        if len(embed.texts) > MOST_TEXTS:
            raise InvalidError(
                f"{len(embed.texts)} texts at once are too many to embed.",
                hint=f"Send at most {MOST_TEXTS}.",
            )
        embedder = self._ready()

        def finish(vectors: Sequence[bytes]) -> None:
            request.reply(
                Embedded(
                    model=embedder.model,
                    dimensions=embedder.dimensions,
                    vectors=b"".join(vectors),
                )
            )

        self._lanes.put(
            Job(
                texts=embed.texts,
                background=embed.background,
                finish=finish,
                fail=request.fail,
                wanted=lambda: not request.cancelled.is_set() and request.remaining > 0,
            ),
            background=embed.background,
        )
        return request.defer()

    def drain(self) -> None:
        """Let the worker end after its batch."""
        self._lanes.close()
        self._load.set()

    def _ready(self) -> Embedder:
        if self._embedder is not None:
            return self._embedder
        if self._why_not is not None:
            # It may have been downloaded since: looking costs nothing.
            if not self._is_there():
                raise self._why_not
            self._why_not = None
            self._load.set()
        raise ErisError(
            "The embedding model is still being loaded.",
            hint="Try again in a moment.",
            code=ErrorCode.LOADING,
            retryable=True,
        )

    def _is_there(self) -> bool:
        try:
            self._store().path(self.port.settings.model.embedding)
        except ErisError:
            return False
        # A model that is there and can't be loaded isn't tried again for every question.
        return self._why_not is not None and self._why_not.code == ErrorCode.UNAVAILABLE

    def _work(self) -> None:
        while self._embedder is None:
            self._load.wait()
            self._load.clear()
            with self.port.busy("loading"):
                try:
                    self._embedder = self._loaded()
                    self.port.remark("")
                except ErisError as error:
                    self.port.log.warning("no-embedder", code=error.code, error=error.message)
                    self._do_without(error)
                except Exception as error:
                    # A broken installation of a library, say: the actor lives on and says so.
                    self.port.log.exception("no-embedder")
                    self._do_without(ModelError(f"The embedding model can't be loaded: {error!r}."))
        worker = Worker(self._embedder, self._lanes, self._recent)
        while worker.step():
            pass

    def _do_without(self, error: ErisError) -> None:
        self._why_not = error
        self.port.remark(f"{error.message} {error.hint} Until then tools are found by keywords.")

    def _loaded(self) -> Embedder:
        name = self.port.settings.model.embedding
        if not name:
            raise UnavailableError(
                "No embedding model is configured.",
                hint="Set model.embedding, then: eris restart memory",
                retryable=False,
            )
        try:
            folder = self._store().path(name)
        except ErisError as error:
            raise UnavailableError(
                f"There is no embedding model: {error.message}",
                hint=f"Get it with: eris models pull {name}",
                retryable=False,
            ) from error
        embedder = MiniLM(folder, threads_for(os.cpu_count() or 1, os.environ), os.environ)
        self.port.log.info("loaded", model=embedder.model)
        return embedder

    def _store(self) -> ModelStore:
        return ModelStore(self.port.paths.models)
