"""Answers searches, and says unasked what belongs into a turn."""

import datetime as dt
import time
from collections.abc import Callable, Sequence

import msgspec

from actors.memory.catalogue import Catalogue, Entry, day_number
from actors.memory.ingest import Embedding, Indexes
from actors.memory.points import Wanted
from actors.memory.recall.excerpts import excerpt
from actors.memory.recall.finding import COVERAGE_WEIGHT, Finder, Findings, Found
from actors.memory.recall.floor import FloorKeeper
from actors.memory.recall.ranking import Ranking, ranked
from actors.memory.recall.small_talk import is_small_talk
from eris.errors import InvalidError
from eris.vault.names import folded
from eris.vault.words import tokens
from proto.memory import Hits, HitView, Kind, Recall, Recalled, SearchMemory

MOST_HITS = 50

_RECALLED_KINDS = (Kind.NOTE, Kind.MEMORY, Kind.DOCUMENT)
"""Past conversations are found on request only: what was recalled there isn't said again."""
_MOST_RECALLED = 4
_CANDIDATES = 24
_LEAST_COVERAGE = 0.6
"""Share of a question's words, rare ones weighing more, from which a text fits without vectors."""
_FEW_WORDS = 4
"""A question of fewer words may be about what was said before."""
_CONTEXT = 240
_SHORTEST_EXCERPT = 80
_LEAST_SHARE = 300
_HIGHEST_SCORE = 1 + COVERAGE_WEIGHT


class Recaller:
    """Searches and recalls. For one thread, the same that changes the index."""

    def __init__(
        self,
        catalogue: Catalogue,
        indexes: Indexes,
        embedding: Embedding | None,
        *,
        today: Callable[[], dt.date],
        clock: Callable[[], float] = time.monotonic,
        ranking: Ranking | None = None,
    ) -> None:
        """Create it.

        Args:
            catalogue: What there is.
            indexes: Where it's looked for.
            embedding: The embedder, for questions, ahead of bulk work; None if there's none.
            today: The day in the user's time zone.
            clock: Seconds, for telling how long it took.
            ranking: What counts beside likeness.
        """
        self._catalogue = catalogue
        self._finder = Finder(catalogue, indexes, embedding)
        self._today = today
        self._clock = clock
        self._ranking = ranking or Ranking()
        self.floor = FloorKeeper(catalogue, self._finder)
        """Likeness below which nothing is told unasked; `FloorKeeper.step` learns it."""

    @property
    def embedding(self) -> Embedding | None:
        """The embedder; to be set when one comes or goes."""
        return self._finder.embedding

    @embedding.setter
    def embedding(self, embedding: Embedding | None) -> None:
        self._finder.embedding = embedding

    def search(self, request: SearchMemory) -> Hits:
        """Return what fits a question best.

        Raises:
            InvalidError: The question is empty, or a day isn't one.
            StorageError: The catalogue can't be read.
        """
        began = self._clock()
        text = request.text.strip()
        if not text:
            raise InvalidError("There's nothing to search for.", hint="Give some words.")
        wanted = _wanted(request)
        limit = max(1, min(request.limit, MOST_HITS))
        findings = self._finder.find(text, wanted, limit)
        order = ranked(findings.found, self._today(), self._ranking, diverse=not request.document)[
            :limit
        ]
        if request.explain:
            order = self._finder.explained(order, text, wanted)
        return Hits(
            hits=tuple(_view(each, explain=request.explain) for each in order),
            mode=findings.mode,
            note=findings.note,
            elapsed_ms=self._elapsed(began),
        )

    def recall(self, request: Recall) -> Recalled:
        """Return what belongs into a turn: little, cut to its room, and mostly nothing.

        Raises:
            StorageError: The catalogue can't be read.
        """
        began = self._clock()
        text = request.text.strip()
        if is_small_talk(text) or request.characters < _SHORTEST_EXCERPT:
            return Recalled(elapsed_ms=self._elapsed(began))
        asked = _with_context(text, request.context)
        wanted = Wanted(kinds=_RECALLED_KINDS)
        findings = self._finder.find(asked, wanted, _CANDIDATES)
        fitting = self._fitting(findings)
        order = ranked(fitting, self._today(), self._ranking)
        return Recalled(
            hits=tuple(_within(order, asked, request.characters)),
            note=findings.note,
            elapsed_ms=self._elapsed(began),
        )

    def similar(self, text: str, kinds: Sequence[Kind], limit: int) -> list[tuple[str, float, str]]:
        """Return what says something like a text: source keys, cosines and texts, best first.

        What isn't in the index yet is compared as well, where it shares words with the text.
        Empty without an embedder: what shares words, `WordSearch` knows.
        """
        vector = self._finder.question(text)
        if vector is None:
            return []
        wanted = Wanted(kinds=tuple(kinds))
        found = {
            each.entry.id: (each.entry, each.score)
            for each in self._finder.dense(vector, wanted, limit)
        }
        missing = [
            entry for entry in self._finder.missing(text, wanted, limit) if entry.id not in found
        ]
        cosines = self._finder.cosines(vector, missing)
        found.update((e.id, (e, cosines[e.id])) for e in missing if e.id in cosines)
        best = sorted(found.values(), key=lambda pair: -pair[1])[:limit]
        return [(entry.key, score, entry.text) for entry, score in best]

    def _fitting(self, findings: Findings) -> list[Found]:
        """What fits the question well enough to be told unasked."""
        if findings.vector is not None:
            floor = self.floor.floor()
            rises = ((each, self.floor.rise(findings.vector, each)) for each in findings.found)
            return [each for each, rise in rises if rise >= floor]
        return [each for each in findings.found if each.parts["coverage"] >= _LEAST_COVERAGE]

    def _elapsed(self, began: float) -> float:
        return round(1000 * (self._clock() - began), 3)


def _wanted(request: SearchMemory) -> Wanted:
    return Wanted(
        kinds=request.kinds,
        tags=tuple(folded(tag).strip("#/") for tag in request.tags if tag.strip("#/ ")),
        folder=folded(request.folder).strip("/"),
        source=f"document:{request.document}" if request.document else "",
        first_day=_day(request.since, "since"),
        last_day=_day(request.until, "until"),
    )


def _day(text: str, name: str) -> int:
    if not text:
        return 0
    try:
        dt.date.fromisoformat(text[:10])
    except ValueError:
        raise InvalidError(
            f"{name} is {text!r}, which is no day.", hint="Write it as 2026-05-31."
        ) from None
    # 0 would mean any day.
    return max(1, day_number(text))


def _with_context(text: str, context: str) -> str:
    """The question, with the end of what was said before if it's too short to stand alone."""
    if not context.strip() or len(tokens(text)) >= _FEW_WORDS:
        return text
    before = context.strip()[-_CONTEXT:]
    return f"{before.partition(' ')[2] if len(context.strip()) > _CONTEXT else before}\n{text}"


def _within(found: Sequence[Found], asked: str, characters: int) -> list[HitView]:
    """The first few, cut so that together they have at most so many characters."""
    views: list[HitView] = []
    told: list[str] = []
    room = characters
    for each in found:
        if len(views) == _MOST_RECALLED or room < _SHORTEST_EXCERPT:
            break
        if any(each.entry.text in other or other in each.entry.text for other in told):
            continue
        share = min(room, max(_LEAST_SHARE, characters // 2))
        text = excerpt(each.entry.text, asked, share)
        if not text:
            continue
        told.append(each.entry.text)
        views.append(msgspec.structs.replace(_view(each, explain=False), text=text))
        room -= len(text)
    return views


def _view(found: Found, *, explain: bool) -> HitView:
    entry: Entry = found.entry
    return HitView(
        kind=entry.kind,
        text=entry.text,
        score=round(min(1.0, max(0.0, found.score / _HIGHEST_SCORE)), 4),
        path=entry.path,
        title=entry.title,
        heading=entry.heading,
        first_line=entry.first_line,
        last_line=entry.last_line,
        page=entry.page,
        date=entry.date,
        id="" if entry.kind is Kind.NOTE else entry.source_id,
        origin=entry.origin,
        parts={name: round(value, 4) for name, value in found.parts.items()} if explain else {},
    )
