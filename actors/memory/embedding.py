"""The embedder as a service of this process: loaded in the background, asked from any thread.

One worker thread computes, a batch at a time: somebody who waits overtakes bulk work. Without a
model everything else lives on, and `why_not` says what's missing.
"""

import os
import threading
from collections.abc import Callable, Sequence

from actors.memory.embedder import Embedder, MiniLM, threads_for
from actors.memory.lanes import Lanes
from actors.memory.work import Job, Recent, Worker
from eris.actor import Port
from eris.errors import ErisError, ModelError, UnavailableError
from eris.models.store import ModelStore
from proto.errors import ErrorCode

QUESTION_SECONDS = 5.0
"""How long a question waits for its vector."""

BULK_SECONDS = 600.0
"""How long bulk work waits for a batch, questions in front of it included."""

_CHARACTERS_OF_A_TOKEN = 3
"""Fewer than of most texts: without the tokenizer, pieces come out smaller rather than larger."""


class Embedding:
    """The embedder, when there is one."""

    def __init__(self, port: Port, changed: Callable[[], None]) -> None:
        """Create it; `start` begins to load the model.

        Args:
            port: Whose settings name the model, and who remarks that there's none.
            changed: Called when the model is there, or can't be.
        """
        self._port = port
        self._changed = changed
        self._lanes: Lanes[Job] = Lanes()
        self._recent = Recent()
        self._embedder: Embedder | None = None
        self._why_not: ErisError | None = None
        self._load = threading.Event()

    def start(self) -> None:
        """Begin to load the model."""
        self._load.set()
        threading.Thread(target=self._work, name="embedder", daemon=True).start()

    def stop(self) -> None:
        """Let the worker end after its batch."""
        self._lanes.close()
        self._load.set()

    @property
    def loaded(self) -> Embedder | None:
        """The model, once it's loaded."""
        return self._embedder

    @property
    def why_not(self) -> ErisError | None:
        """What keeps the model from being loaded; None while it is, or is being loaded."""
        return self._why_not

    def ready(self) -> Embedder:
        """Return the model.

        Raises:
            ErisError: ``loading``, or why there is none.
        """
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

    def put(self, job: Job) -> None:
        """Queue work.

        Raises:
            ErisError: ``busy``.
        """
        self._lanes.put(job, background=job.background)

    def embed(self, texts: Sequence[str], *, background: bool = False) -> list[bytes]:
        """Return a unit vector for each text, and wait for it. Not from the worker's own thread.

        Raises:
            ErisError: There's no model, too much is waiting, or it takes too long.
        """
        self.ready()
        done = threading.Event()
        found: list[bytes] = []
        failed: list[Exception] = []

        def finish(vectors: Sequence[bytes]) -> None:
            found.extend(vectors)
            done.set()

        def fail(error: Exception) -> None:
            failed.append(error)
            done.set()

        given_up = threading.Event()
        self.put(
            Job(
                texts=texts,
                background=background,
                finish=finish,
                fail=fail,
                wanted=lambda: not given_up.is_set(),
            )
        )
        if not done.wait(BULK_SECONDS if background else QUESTION_SECONDS):
            given_up.set()
            raise UnavailableError("The embedder takes too long.", hint="Try again in a moment.")
        if failed:
            raise failed[0]
        return found

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, or about so many while there's no model."""
        if self._embedder is not None:
            return self._embedder.count(texts)
        return [-(-len(text) // _CHARACTERS_OF_A_TOKEN) for text in texts]

    def _is_there(self) -> bool:
        try:
            self._store().path(self._port.settings.model.embedding)
        except ErisError:
            return False
        # A model that is there and can't be loaded isn't tried again for every question.
        return self._why_not is not None and self._why_not.code == ErrorCode.UNAVAILABLE

    def _work(self) -> None:
        while self._embedder is None:
            self._load.wait()
            self._load.clear()
            if self._port.draining:
                return
            with self._port.busy("loading"):
                try:
                    self._embedder = self._loaded()
                except ErisError as error:
                    self._port.log.warning("no-embedder", code=error.code, error=error.message)
                    self._why_not = error
                except Exception as error:
                    # A broken installation of a library, say: the actor lives on and says so.
                    self._port.log.exception("no-embedder")
                    self._why_not = ModelError(f"The embedding model can't be loaded: {error!r}.")
            self._changed()
        worker = Worker(self._embedder, self._lanes, self._recent)
        while worker.step():
            pass

    def _loaded(self) -> Embedder:
        name = self._port.settings.model.embedding
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
        self._port.log.info("loaded", model=embedder.model)
        return embedder

    def _store(self) -> ModelStore:
        return ModelStore(self._port.paths.models)
