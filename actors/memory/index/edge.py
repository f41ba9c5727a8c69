"""An index in a folder of this machine, by Qdrant's own engine in this process.

The engine writes ahead: a point is there again after the process was killed without a flush (tried
by killing it). What a damaged file makes of it is anything from an error to a panic, which pyo3
raises as a `BaseException`; both mean that the index can't be used and has to be built anew. Its
files are mapped into memory: where a disk is full, or a file shorter than it should be, the process
ends without a word (SIGBUS). So there's room before anything is written, and a folder whose opening
ended two processes isn't opened a third time. Measured in docs/decisions/0051-vector-index.md.
"""

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import qdrant_edge as qdrant

from actors.memory.index.fields import (
    DENSE,
    FUSED,
    KEYWORDS,
    NUMBER,
    RANK_CONSTANT,
    REBUILD,
    WORDS,
    conditions,
    days,
    dense_of,
    floats,
    packed,
    payload,
)
from actors.memory.index.sparse import Sparse, of_question, of_text
from actors.memory.points import Point, Scored, Wanted
from eris.errors import ErisError, StorageError, UnavailableError

R = TypeVar("R")

LEAST_FREE_BYTES = 160 * 2**20
"""Free space of the disk below which nothing is written: the engine grows its files by pieces of
32 MiB, and finds out too late that there's no room for one."""

FLUSHED_POINTS = 2000
"""Points after which all is flushed, about 0.1 s: so the log of what was written stays short, and a
loss of power, other than a kill, takes no more than these. Ids are compared at the next start."""

OPENINGS = 2
"""Processes that may end while they open a folder. One may have been killed by chance."""

GRAPH_FROM_KILOBYTES = 10_000
"""Size of the vectors above which `tidy` builds a graph: 6,500 of 384 dimensions."""

EDGES, CANDIDATES = 16, 128
"""Of the graph: neighbours of a point, and how many are looked at while it's built."""

TIDYING_SECONDS = 3600
"""The longest that it may take: 20,000 points take 20 seconds, a million half an hour."""

_SCROLLED = 2000
_PROGRAM = Path(__file__).with_name("tidying.py")
_OPENING = "opening"


class EdgeIndex:
    """One index. One thread writes and tidies; others may search at any time."""

    def __init__(self, folder: Path, identity: str, dimensions: int, *, new: bool) -> None:
        """Open it, or make it.

        Args:
            folder: Of this index alone.
            identity: Embedder of its vectors.
            dimensions: Of its vectors; 0 for an index of words alone.
            new: Make it; the folder must be empty or missing.

        Raises:
            StorageError: It can't be opened.
            UnavailableError: The disk is full.
        """
        self._folder = folder
        self._identity = identity
        self._dimensions = dimensions
        self._unflushed = 0
        self._lock = threading.RLock()
        self._writes = threading.RLock()  # What's written to the folder isn't in its copy.
        self._shard = self._done("opened", lambda: self._create() if new else self._load())

    @property
    def identity(self) -> str:
        """Embedder of its vectors."""
        return self._identity

    def put(self, points: Sequence[Point]) -> None:
        """Add points, or replace those with the same id."""
        if not points:
            return
        made = [qdrant.Point(point.id, self._vectors(point), payload(point)) for point in points]
        self._update(qdrant.UpdateOperation.upsert_points(made), len(made))

    def remove(self, ids: Sequence[int]) -> None:
        """Take points out."""
        if ids:
            self._update(qdrant.UpdateOperation.delete_points(list(ids)), len(ids))

    def hybrid(self, vector: bytes, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness and by words in one query, fused."""
        words = of_question(text)
        if not words.indices:
            return self.dense(vector, wanted, limit)
        number, only = max(limit, FUSED), _filter(wanted)
        stages = [
            qdrant.Prefetch(
                limit=number, query=qdrant.Query.Nearest(floats(vector), using=DENSE), filter=only
            ),
            qdrant.Prefetch(
                limit=number, query=qdrant.Query.Nearest(_sparse(words), using=WORDS), filter=only
            ),
        ]
        return self._query(
            qdrant.QueryRequest(
                limit=limit,
                prefetches=stages,
                # Its stub forgets that this is a Fusion.
                query=qdrant.Fusion.Rrf(k=RANK_CONSTANT),  # type: ignore[arg-type]
            )
        )

    def dense(self, vector: bytes, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness alone."""
        nearest = qdrant.Query.Nearest(floats(vector), using=DENSE)
        return self._query(qdrant.QueryRequest(limit=limit, query=nearest, filter=_filter(wanted)))

    def words(self, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by words alone."""
        words = of_question(text)
        if not words.indices:
            return []
        nearest = qdrant.Query.Nearest(_sparse(words), using=WORDS)
        return self._query(qdrant.QueryRequest(limit=limit, query=nearest, filter=_filter(wanted)))

    def vectors(self, ids: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of points that are there."""
        wanted: list[int | UUID | str] = list(ids)
        if not wanted or not self._dimensions:
            return {}
        found = self._done(
            "read",
            lambda: self._shard.retrieve(wanted, with_payload=False, with_vector=[DENSE]),
        )
        return {
            int(record.id): vector
            for record in found
            if (vector := packed(record.vector)) is not None
        }

    def count(self) -> int:
        """Return how many points there are."""
        return int(self._done("read", lambda: self._shard.count(qdrant.CountRequest())))

    def ids(self) -> Iterator[int]:
        """Go through the ids of all points."""
        offset: int | None = None
        while True:
            request = qdrant.ScrollRequest(
                offset=offset, limit=_SCROLLED, with_payload=False, with_vector=False
            )
            records, following = self._done("read", partial(self._shard.scroll, request))
            yield from (int(record.id) for record in records)
            if following is None:
                return
            offset = int(following)

    def tidy(self) -> None:
        """Build graphs and merge segments, in a copy that then takes the folder's place.

        Raises:
            StorageError: It can't be done; the index goes on as it is.
            UnavailableError: The disk has no room for it.
        """
        with self._writes:
            self._tidy()

    def close(self) -> None:
        """Write everything down and let go of it."""
        with self._writes:
            self._done("written", self._shard.flush)
            self._done("closed", self._shard.close)

    def _tidy(self) -> None:
        # For a while there's all of it three times.
        size = sum(each.stat().st_blocks * 512 for each in self._folder.rglob("*"))
        self._make_room(2 * size)
        self._done("written", self._shard.flush)
        self._unflushed = 0
        copy, former = _beside(self._folder)
        try:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self._folder, copy)
            subprocess.run(
                [sys.executable, "-P", str(_PROGRAM), str(copy)],
                check=True,
                capture_output=True,
                text=True,
                timeout=TIDYING_SECONDS,
            )
        except (OSError, shutil.Error, subprocess.SubprocessError) as error:
            shutil.rmtree(copy, ignore_errors=True)
            said = getattr(error, "stderr", None) or str(error)
            raise StorageError(
                f"The index {self._folder} can't be tidied, and goes on as it is: {said[-300:]}.",
                hint=REBUILD,
            ) from error
        with self._lock:
            self._done("closed", self._shard.close)
            self._folder.rename(former)
            copy.rename(self._folder)
            self._shard = self._done("opened", self._load)
        shutil.rmtree(former, ignore_errors=True)

    def _load(self) -> qdrant.EdgeShard:
        self._make_room(0)
        tries = self._folder / _OPENING
        before = len(tries.read_bytes()) if tries.exists() else 0
        if before >= OPENINGS:
            raise StorageError(
                f"The index {self._folder} is damaged: {before} processes ended while opening it.",
                hint=REBUILD,
            )
        tries.write_bytes(b"." * (before + 1))
        shard = qdrant.EdgeShard.load(str(self._folder))
        points = shard.count(qdrant.CountRequest())
        if points and self._dimensions:
            # Where the file of the vectors is gone, the engine finds nothing and says nothing.
            nearest = qdrant.Query.Nearest([1.0] + [0.0] * (self._dimensions - 1), using=DENSE)
            if not shard.query(qdrant.QueryRequest(limit=1, query=nearest)):
                raise StorageError(
                    f"The index {self._folder} is damaged: it has no vectors.", hint=REBUILD
                )
        tries.unlink()
        return shard

    def _create(self) -> qdrant.EdgeShard:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._make_room(0)
        dense = qdrant.EdgeVectorParams(size=self._dimensions, distance=qdrant.Distance.Dot)
        shard = qdrant.EdgeShard.create(
            str(self._folder),
            qdrant.EdgeConfig(
                vectors={DENSE: dense} if self._dimensions else {},
                sparse_vectors={WORDS: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
                hnsw_config=qdrant.HnswIndexConfig(
                    m=EDGES,
                    ef_construct=CANDIDATES,
                    full_scan_threshold=GRAPH_FROM_KILOBYTES,
                    max_indexing_threads=1,  # The other core is for whoever waits for an answer.
                ),
                optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=GRAPH_FROM_KILOBYTES),
            ),
        )
        for field in KEYWORDS:
            shard.update(
                qdrant.UpdateOperation.create_field_index(field, qdrant.PayloadSchemaType.Keyword)
            )
        shard.update(
            qdrant.UpdateOperation.create_field_index(NUMBER, qdrant.PayloadSchemaType.Integer)
        )
        return shard

    def _vectors(self, point: Point) -> dict[str, Any]:
        vectors: dict[str, Any] = {WORDS: _sparse(of_text(point.text))}
        if self._dimensions:
            vectors[DENSE] = dense_of(point, self._dimensions, f"the index {self._folder}")
        return vectors

    def _update(self, operation: qdrant.UpdateOperation, points: int) -> None:
        with self._writes:
            self._make_room(0)
            self._done("written", lambda: self._shard.update(operation))
            self._unflushed += points
            if self._unflushed >= FLUSHED_POINTS:
                self._unflushed = 0
                self._done("written", self._shard.flush)

    def _make_room(self, size: int) -> None:
        """Refuse to write on a disk that has no room for some bytes and the engine's files."""
        free = shutil.disk_usage(self._folder).free
        if free < LEAST_FREE_BYTES + size:
            raise UnavailableError(
                f"The disk of the index {self._folder} is full: {free / 2**20:.0f} MiB are free, "
                f"{(LEAST_FREE_BYTES + size) / 2**20:.0f} are needed.",
                hint="Make room on the disk; nothing of the index is lost.",
                details={"free": free},
            )

    def _query(self, request: qdrant.QueryRequest) -> list[Scored]:
        found = self._done("searched", lambda: self._shard.query(request))
        return [Scored(id=int(point.id), score=float(point.score)) for point in found]

    def _done(self, what: str, call: Callable[[], R]) -> R:
        try:
            with self._lock:
                return call()
        except (KeyboardInterrupt, SystemExit, GeneratorExit, ErisError):
            raise
        except BaseException as error:
            raise StorageError(
                f"The index {self._folder} can't be {what}: {str(error)[:300]}.", hint=REBUILD
            ) from error


class EdgeBackend:
    """Indexes in folders of this machine."""

    name = "edge"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, number: int, identity: str, dimensions: int) -> EdgeIndex:
        """Make an index; what is left of one with this number goes.

        Raises:
            StorageError: It can't be made.
            UnavailableError: The disk is full.
        """
        self.delete(number)
        return EdgeIndex(self._place(number), identity, dimensions, new=True)

    def open(self, number: int, identity: str, dimensions: int) -> EdgeIndex:
        """Open an index.

        Raises:
            StorageError: It isn't there, or is damaged.
            UnavailableError: The disk is full.
        """
        _settle(self._place(number))
        if not self._place(number).is_dir():
            raise StorageError(f"The index {self._place(number)} isn't there any more.")
        return EdgeIndex(self._place(number), identity, dimensions, new=False)

    def delete(self, number: int) -> None:
        """Delete an index, if it's there. It must be closed."""
        for each in (self._place(number), *_beside(self._place(number))):
            shutil.rmtree(each, ignore_errors=True)

    def _place(self, number: int) -> Path:
        return self._folder / str(number)


def _beside(folder: Path) -> tuple[Path, Path]:
    """Return where the copy is while it's tidied, and where the folder is while they change."""
    return folder.with_name(f"{folder.name}.tidied"), folder.with_name(f"{folder.name}.former")


def _settle(folder: Path) -> None:
    """Clear up what a kill left while the folder was tidied."""
    copy, former = _beside(folder)
    if former.is_dir() and not folder.exists():
        former.rename(folder)
    shutil.rmtree(former, ignore_errors=True)
    shutil.rmtree(copy, ignore_errors=True)


def _sparse(vector: Sparse) -> qdrant.SparseVector:
    return qdrant.SparseVector(indices=vector.indices, values=vector.values)


def _filter(wanted: Wanted) -> qdrant.Filter | None:
    must: list[Any] = [
        qdrant.FieldCondition(field, match=qdrant.MatchAny(values))
        for field, values in conditions(wanted)
    ]
    span = days(wanted)
    if span:
        first, last = (None if day is None else float(day) for day in span)
        must.append(qdrant.FieldCondition(NUMBER, range=qdrant.RangeFloat(gte=first, lte=last)))
    return qdrant.Filter(must=must) if must else None
