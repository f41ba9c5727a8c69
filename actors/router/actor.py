"""The router's process: follows the gatekeeper's registry and answers which tools and skills fit.

Questions are answered on worker threads from immutable indices, by vectors and by words. One
thread keeps them up to date; while it can't (the embedder is away), words alone decide.
"""

import threading
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec

from actors.router.cache import VectorCache
from actors.router.certainty import call_odds, is_evident
from actors.router.evidence import evidence, meant
from actors.router.keywords import THRESHOLD, KeywordIndex
from actors.router.selection import VectorIndex, select, vector_index
from actors.router.skills import Skills, fitting, known_skills
from actors.router.vectors import unpack
from eris.actor import Actor, Deferred, Port, Request
from eris.errors import ErisError, InvalidError
from proto.control import Done
from proto.errors import ErrorCode
from proto.gatekeeper import ListedTool, ListTools, RegistryChanged, ToolList
from proto.memory import Embed, Embedded
from proto.router import RegisterSkills, Route, Routed
from proto.tools import Effect
from proto.vault import NamedNotes, NameNotes

NAMES_SECONDS = 0.5
"""How long a question waits for the notes that it names."""

QUESTION_SECONDS = 1.0
"""How long a question waits for its vector before words alone decide."""

FIRST_REGISTRY_SECONDS = 2.0
"""How long a question waits for the first tools after a start."""

START_SECONDS = 10.0
"""How long the start lasts: if there are no tools by then, there are none."""

_LIST_SECONDS = 30.0
_EMBED_SECONDS = 60.0
_BATCH = 32
_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_SOON_OVER = frozenset({ErrorCode.LOADING, ErrorCode.BUSY, ErrorCode.PEER_RESTARTED})


@dataclass(frozen=True)
class Tools:
    """What is known about the tools at one moment."""

    revision: str = ""
    names: frozenset[str] = frozenset()
    reading: frozenset[str] = frozenset()
    """Those that only read."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Description and hints of each tool."""
    hints: tuple[tuple[str, str], ...] = ()
    keywords: KeywordIndex = field(default_factory=lambda: KeywordIndex(()))
    vectors: VectorIndex | None = None
    """Missing until the embedder has answered."""


def known_tools(revision: str, tools: tuple[ListedTool, ...]) -> Tools:
    """Return everything that is known without an embedder."""
    declared = [tool.declaration for tool in tools]
    return Tools(
        revision=revision,
        names=frozenset(tool.name for tool in declared),
        reading=frozenset(tool.name for tool in declared if tool.effect is Effect.READ),
        texts={tool.name: (tool.description, *tool.hints) for tool in declared},
        hints=tuple((tool.name, hint) for tool in declared for hint in tool.hints),
        keywords=KeywordIndex((tool.name, tool.description, tool.hints) for tool in declared),
    )


class Router(Actor):
    """Answers `Route`, and takes the skills that the vault tells of."""

    ACCEPTS: ClassVar[Any] = Route | RegisterSkills

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._tools = Tools()
        self._skills = Skills()
        self._skill_vectors: VectorIndex | None = None
        self._known = threading.Event()
        self._stale = threading.Event()
        self._cache: VectorCache | None = None
        self._start_ends = time.monotonic() + START_SECONDS

    def started(self) -> None:
        """Open the cache and begin to follow the registry."""
        self._cache = VectorCache(self.port.paths.state / "router" / "vectors.sqlite")
        for target in (self._follow, self._keep_up):
            threading.Thread(target=target, name=target.__name__, daemon=True).start()

    def peer_up(self, name: str, incarnation: int) -> None:  # noqa: ARG002 - as the base has it
        """Look again when one of the two sources has come (back)."""
        if name in {"gatekeeper", "memory"}:
            self._stale.set()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Answer a question on a worker thread; take the skills at once."""
        match request.body:
            case Route():
                self.port.submit(self._route, request)
                return request.defer()
            case RegisterSkills(skills=skills):
                self._skills = known_skills(skills)
                self._stale.set()
                self.port.log.info("skills", count=len(skills))
                return Done()
            case body:
                raise InvalidError(f"router can't handle {type(body).__name__}.")

    def drain(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()

    # Questions.

    def _route(self, request: Request) -> None:
        try:
            request.reply(self._answer(request))
        except Exception as error:
            request.fail(error)
            raise

    def _answer(self, request: Request) -> Routed:
        begun = time.perf_counter()
        route: Route = request.body
        starting = self._start_ends - time.monotonic()
        self._known.wait(max(0.0, min(FIRST_REGISTRY_SECONDS, starting, request.remaining / 2)))
        tools = self._tools
        limit = min(route.limit, self.port.settings.router.limit)
        skills = self._skills
        notes = self._named(route.text, request)
        question = self._question(route.text, request)
        similar = self._similar(tools.vectors, question)
        semantic = similar is not None
        if similar is None:
            mode, threshold = "keywords", THRESHOLD
            similar = tools.keywords.scores(route.text)
        else:
            mode, threshold = "semantic", self.port.settings.router.threshold
        hits = select(
            meant(route.text, similar),
            evidence(route.text, tools.names, tools.hints, route.context, tuple(notes)),
            threshold=threshold,
            limit=limit,
        )
        fits = fitting(
            skills,
            route.text,
            self._similar(self._skill_vectors, question),
            self.port.settings.router.threshold,
        )
        elapsed = (time.perf_counter() - begun) * 1000
        self.port.log.info(
            "routed",
            trace=request.trace,
            mode=mode,
            hits={hit.tool: hit.score for hit in hits},
            skills={hit.tool: hit.score for hit in fits},
            elapsed_ms=round(elapsed, 1),
        )
        return Routed(
            hits=hits,
            mode=mode,
            elapsed_ms=elapsed,
            evident=is_evident(hits, tools.reading, self.port.settings.router.evident),
            call_odds=call_odds(tools.vectors.model, hits) if semantic and tools.vectors else 0.0,
            skills=tuple(hit.tool for hit in fits),
            notes=notes,
        )

    def _named(self, text: str, request: Request) -> dict[str, str]:
        """Return the notes that the text names, by what was said; none if that isn't known soon."""
        within = min(NAMES_SECONDS, request.remaining / 4)
        if within <= 0 or not text.strip():
            return {}
        try:
            answer = self.port.ask(
                "vault", NameNotes(text=text), NamedNotes, within=within, trace=request.trace
            )
        except ErisError as error:
            self.port.log.info("no-names", code=error.code, error=error.message)
            return {}
        return {note.said: note.path for note in answer.notes}

    def _question(self, text: str, request: Request) -> "tuple[str, array[float]] | None":
        """Return the embedder's name and its vector, or None if it can't be had right now."""
        if (self._tools.vectors or self._skill_vectors) is None or not text.strip():
            return None
        within = min(QUESTION_SECONDS, request.remaining / 2)
        if within <= 0:
            return None
        try:
            answer = self.port.ask(
                "memory", Embed(texts=(text,)), Embedded, within=within, trace=request.trace
            )
            return answer.model, unpack(answer.vectors, answer.dimensions, 1)[0]
        except ErisError as error:
            self.port.log.warning("no-vector", code=error.code, error=error.message)
            return None

    def _similar(
        self, index: VectorIndex | None, question: "tuple[str, array[float]] | None"
    ) -> dict[str, float] | None:
        """Return the scores by vectors, or None if index and question have none to compare."""
        if index is None or question is None:
            return None
        model, vector = question
        if model != index.model:
            self._stale.set()
            return None
        return index.scores(vector)

    # Keeping up with the registry and the embedder.

    def _follow(self) -> None:
        """Notice every change of the registry; the subscription survives the gatekeeper."""
        while True:
            try:
                for _ in self.port.subscribe("gatekeeper", "tools", item=RegistryChanged):
                    self._stale.set()
            except ErisError as error:
                self.port.log.warning("registry-lost", code=error.code, error=error.message)
            time.sleep(_SHORTEST_PAUSE)

    def _keep_up(self) -> None:
        pause = _SHORTEST_PAUSE
        complete = False
        while True:
            # When something is missing, try again after a growing pause; news end the wait.
            news = self._stale.wait(None if complete else pause)
            self._stale.clear()
            pause = _SHORTEST_PAUSE if news else min(pause * 2, _LONGEST_PAUSE)
            try:
                complete = self._refresh()
            except ErisError as error:
                self.port.log.info("not-complete", code=error.code, error=error.message)
                complete = False
                if error.code in _SOON_OVER:
                    pause = _SHORTEST_PAUSE
            except Exception:
                # A defect here must not end the only thread that keeps the index.
                self.port.log.exception("refresh-failed")
                complete = False

    def _refresh(self) -> bool:
        """Bring the indices up to date; whether both are."""
        listed = self.port.ask(
            "gatekeeper", ListTools(), ToolList, within=_LIST_SECONDS, retry=True
        )
        if listed.revision != self._tools.revision:
            self._tools = known_tools(listed.revision, listed.tools)
            self.port.log.info("tools", revision=listed.revision, count=len(listed.tools))
        if self._tools.names:
            self._known.set()
        if not self.port.settings.model.embedding:
            return True
        tools = self._tools
        index = self._vectors(tools.texts)
        self._tools = replace(tools, vectors=index)
        texts = self._skills.texts
        self._skill_vectors = self._vectors(texts) if texts else None
        return bool(tools.names)

    def _vectors(self, texts: Mapping[str, tuple[str, ...]]) -> VectorIndex:
        """Return the index by vectors, asking the embedder for what the cache doesn't know.

        Raises:
            ErisError: The embedder is away.
        """
        wanted = sorted({text for own in texts.values() for text in own})
        cache = self._cache
        model = cache.model if cache else ""
        known = cache.find(model, wanted) if cache and model else {}
        missing = [text for text in wanted if text not in known]
        while missing:
            batch = tuple(missing[:_BATCH])
            made_by, fresh = self._embed(batch)
            if cache:
                cache.store(made_by, fresh)
            if made_by != model:
                # Another embedder: what the cache said doesn't compare.
                model = made_by
                known = cache.find(model, wanted) if cache else {}
            known |= fresh
            missing = [text for text in wanted if text not in known]
        return vector_index(model, texts, known)

    def _embed(self, texts: tuple[str, ...]) -> tuple[str, dict[str, "array[float]"]]:
        answer = self.port.ask(
            "memory",
            Embed(texts=texts, background=True),
            Embedded,
            within=_EMBED_SECONDS,
        )
        rows = unpack(answer.vectors, answer.dimensions, len(texts))
        return answer.model, dict(zip(texts, rows, strict=True))
