"""What the router makes of a question: which tools a turn would offer, and how surely."""

from array import array
from collections.abc import Mapping, Sequence

from actors.memory.embedder import MiniLM
from actors.memory.work import batches
from actors.router.certainty import call_odds, is_evident
from actors.router.selection import select, vector_index
from actors.router.vectors import unpack
from eris.config import Settings
from proto.router import Hit
from tests.embedding import embedding_folder
from tests.eval.questions import Question


class Router:
    """The router's own parts over the real embedder, without processes."""

    def __init__(self) -> None:
        self._model = MiniLM(embedding_folder(), threads=2, environ={})
        self._vectors: dict[str, array[float]] = {}

    def best(self, question: Question) -> float:
        """Return the similarity of the best of its tools."""
        return max(self._scores(question).values())

    def hits(self, question: Question, threshold: float | None = None) -> tuple[Hit, ...]:
        """Return what a turn would offer of its tools."""
        settings = Settings().router
        least = settings.threshold if threshold is None else threshold
        return select(self._scores(question), {}, threshold=least, limit=settings.limit)

    def call_odds(self, hits: Sequence[Hit]) -> float:
        """Return the log-odds that one of them is wanted."""
        return call_odds(self._model.model, hits)

    def evident(self, hits: Sequence[Hit]) -> bool:
        """Return whether the model must call one; every tool here only reads."""
        return is_evident(hits, {hit.tool for hit in hits}, Settings().router.evident)

    def _scores(self, question: Question) -> Mapping[str, float]:
        texts = {tool.name: (tool.description, *tool.hints) for tool in question.tools}
        wanted = [question.text, *(text for own in texts.values() for text in own)]
        self._embed([text for text in dict.fromkeys(wanted) if text not in self._vectors])
        index = vector_index(self._model.model, texts, self._vectors)
        return index.scores(self._vectors[question.text])

    def _embed(self, texts: list[str]) -> None:
        for batch in batches(texts):
            own = [texts[place] for place in batch]
            packed = b"".join(self._model.embed(own))
            vectors = unpack(packed, self._model.dimensions, len(own))
            self._vectors |= dict(zip(own, vectors, strict=True))
