"""How well a text has to fit a question before it's told unasked, learned from the vault itself.

Cosines mean different things in different vaults, and for different questions. So what counts is
how far a text rises above the question's likeness with just anything in the vault, which is its
cosine with the mean of the vault's vectors: that tells questions with an answer from those without
far better (area under the curve 0.88 against 0.79, by the tuning half of ``tests/data/recall``).
And sentences of the vault stand in for questions that it doesn't answer: each is compared with
everything but the source it's from, and the floor is a quantile of the best found.
"""

import re
from base64 import b64decode, b64encode
from statistics import quantiles

import msgspec
import numpy as np

from actors.memory.catalogue import Catalogue, Entry
from actors.memory.points import Wanted
from actors.memory.recall.finding import TYPICAL_BACKGROUND, Finder, Found, cosine

COVERAGE_WEIGHT = 0.5
"""What all of a question's words count here: less than for the order, for anything may share a few
words with a question that it doesn't answer."""

DEFAULT_FLOOR = 0.45
"""Measured with all-MiniLM-L6-v2; for a vault too small to learn from."""

LEAST_FLOOR, HIGHEST_FLOOR = 0.36, 0.55
"""A learned one stays between these, whatever the vault is like."""

_NAME = "floor"
_LEAST_CHUNKS = 200
_SENTENCES = 64
_LEAST_SENTENCES = 16
_MEAN_OF = 512
_GROWTH = 1.5
_QUANTILE = 6
"""Of ten."""
_COMPARED = 8
_SHORTEST, _LONGEST = 20, 160
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - full width, on purpose


class _Learned(msgspec.Struct, frozen=True, kw_only=True):
    identity: str
    floor: float
    chunks: int
    mean: str
    """Of the vault's vectors: little-endian float32 in base64."""


class FloorKeeper:
    """The floor of a vault, kept in its catalogue. For the thread that searches the index."""

    def __init__(self, catalogue: Catalogue, finder: Finder) -> None:
        self._catalogue = catalogue
        self._finder = finder
        self._todo: list[Entry] = []
        self._best: list[float] = []
        self._mean = b""
        self._read: _Learned | None = None

    def floor(self) -> float:
        """Return the floor for the present embedder."""
        known = self._known()
        return known.floor if known else DEFAULT_FLOOR

    def rise(self, vector: bytes, found: Found) -> float:
        """Return how far what was found rises above a question's likeness with just anything."""
        known = self._known()
        background = cosine(vector, b64decode(known.mean)) if known else TYPICAL_BACKGROUND
        return _fit(found) - background

    def step(self) -> bool:
        """Learn a little, if it's due: once there's enough, then whenever it has grown by half.

        Returns:
            False if there's nothing to learn now.

        Raises:
            StorageError: Index or catalogue can't be used; try again later.
            UnavailableError: The embedder or the index's server is away; the same.
        """
        embedding = self._finder.embedding
        if embedding is None or (not self._todo and not self._begin()):
            return False
        entry = self._todo.pop()
        sentence = _sentence(entry.text)
        findings = self._finder.find(sentence, Wanted(), _COMPARED) if sentence else None
        if findings is not None and findings.vector is not None:
            others = [_fit(each) for each in findings.found if each.entry.key != entry.key]
            if others:
                self._best.append(max(others) - cosine(findings.vector, self._mean))
        if not self._todo:
            self._settle(embedding.identity)
        return True

    def _begin(self) -> bool:
        chunks = self._catalogue.counts().chunks
        known = self._known()
        if chunks < (known.chunks * _GROWTH if known else _LEAST_CHUNKS):
            return False
        vectors = self._finder.vectors(self._catalogue.sample(_MEAN_OF))
        if len(vectors) < min(_MEAN_OF, _LEAST_CHUNKS) // 2:
            return False  # The index isn't there yet.
        mean = np.mean([np.frombuffer(vector, "<f4") for vector in vectors], axis=0)
        self._mean = mean.astype("<f4").tobytes()
        self._todo = self._catalogue.sample(_SENTENCES)
        self._best = []
        return bool(self._todo)

    def _settle(self, identity: str) -> None:
        floor = DEFAULT_FLOOR
        if len(self._best) >= _LEAST_SENTENCES:
            learned = quantiles(self._best, n=10)[_QUANTILE - 1]
            floor = min(HIGHEST_FLOOR, max(LEAST_FLOOR, learned))
        self._read = _Learned(
            identity=identity,
            floor=round(floor, 4),
            chunks=self._catalogue.counts().chunks,
            mean=b64encode(self._mean).decode(),
        )
        self._catalogue.remember(_NAME, msgspec.json.encode(self._read).decode())

    def _known(self) -> _Learned | None:
        if self._read is None:
            text = self._catalogue.remembered(_NAME)
            self._read = msgspec.json.decode(text, type=_Learned) if text else None
        known, embedding = self._read, self._finder.embedding
        # Cosines of another embedder say nothing.
        return known if known and embedding and known.identity == embedding.identity else None


def _fit(found: Found) -> float:
    parts = found.parts
    dense = parts.get("dense", TYPICAL_BACKGROUND)
    return dense + COVERAGE_WEIGHT * parts.get("coverage", 0.0)


def _sentence(text: str) -> str:
    """A sentence of a text that is long enough to ask for something; empty if none is."""
    pieces = [piece.strip() for piece in _SENTENCE_END.split(text)]
    fitting = [piece for piece in pieces if _SHORTEST <= len(piece) <= _LONGEST]
    return fitting[len(fitting) // 2] if fitting else ""
