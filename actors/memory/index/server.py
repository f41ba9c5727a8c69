"""An index as a collection of a Qdrant server or cluster, for those who outgrow one machine."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from qdrant_client import QdrantClient
from qdrant_client import models as qdrant
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from actors.memory.index.fields import (
    DENSE,
    FUSED,
    KEYWORDS,
    NUMBER,
    RANK_CONSTANT,
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

TIMEOUT_SECONDS = 20
_SCROLLED = 1000
_BATCH = 256
_SERVER_ERRORS = 500


class ServerIndex:
    """One index. One thread writes; others may search at any time."""

    def __init__(
        self, client: QdrantClient, place: str, collection: str, identity: str, dimensions: int
    ) -> None:
        """Use a collection that is there.

        Args:
            client: The server's.
            place: Its address, for people.
            collection: Name of the collection.
            identity: Embedder of its vectors.
            dimensions: Of its vectors; 0 for an index of words alone.
        """
        self._client = client
        self._place = place
        self._collection = collection
        self._identity = identity
        self._dimensions = dimensions

    @property
    def identity(self) -> str:
        """Embedder of its vectors."""
        return self._identity

    def put(self, points: Sequence[Point]) -> None:
        """Add points, or replace those with the same id."""
        for start in range(0, len(points), _BATCH):
            made = [
                qdrant.PointStruct(id=each.id, vector=self._vectors(each), payload=payload(each))
                for each in points[start : start + _BATCH]
            ]
            self._done(partial(self._client.upsert, self._collection, made, wait=True))

    def remove(self, ids: Sequence[int]) -> None:
        """Take points out."""
        if ids:
            gone = qdrant.PointIdsList(points=list(ids))
            self._done(lambda: self._client.delete(self._collection, gone, wait=True))

    def hybrid(self, vector: bytes, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness and by words in one query, fused."""
        words = of_question(text)
        if not words.indices:
            return self.dense(vector, wanted, limit)
        number, only = max(limit, FUSED), _filter(wanted)
        stages = [
            qdrant.Prefetch(query=floats(vector), using=DENSE, limit=number, filter=only),
            qdrant.Prefetch(query=_sparse(words), using=WORDS, limit=number, filter=only),
        ]
        fusion = qdrant.RrfQuery(rrf=qdrant.Rrf(k=RANK_CONSTANT))
        return self._query(prefetch=stages, query=fusion, limit=limit)

    def dense(self, vector: bytes, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by likeness alone."""
        return self._query(
            query=floats(vector), using=DENSE, limit=limit, query_filter=_filter(wanted)
        )

    def words(self, text: str, wanted: Wanted, limit: int) -> list[Scored]:
        """Search by words alone."""
        words = of_question(text)
        if not words.indices:
            return []
        return self._query(
            query=_sparse(words), using=WORDS, limit=limit, query_filter=_filter(wanted)
        )

    def vectors(self, ids: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of points that are there."""
        wanted = list(ids)
        if not wanted or not self._dimensions:
            return {}
        found = self._done(
            lambda: self._client.retrieve(
                self._collection, wanted, with_payload=False, with_vectors=[DENSE]
            )
        )
        return {
            int(record.id): vector
            for record in found
            if (vector := packed(record.vector)) is not None
        }

    def count(self) -> int:
        """Return how many points there are."""
        return int(self._done(lambda: self._client.count(self._collection, exact=True)).count)

    def ids(self) -> Iterator[int]:
        """Go through the ids of all points."""
        offset: int | None = None
        while True:
            records, following = self._done(
                partial(
                    self._client.scroll,
                    self._collection,
                    limit=_SCROLLED,
                    offset=offset,
                    with_payload=False,
                    with_vectors=False,
                )
            )
            yield from (int(record.id) for record in records)
            if following is None:
                return
            offset = int(following)

    def tidy(self) -> None:
        """Do nothing: a server does it by itself."""

    def close(self) -> None:
        """Do nothing: the connection is the backend's."""

    def _vectors(self, point: Point) -> dict[str, Any]:
        vectors: dict[str, Any] = {WORDS: _sparse(of_text(point.text))}
        if self._dimensions:
            vectors[DENSE] = dense_of(point, self._dimensions, f"the collection {self._collection}")
        return vectors

    def _query(self, **request: Any) -> list[Scored]:
        found = self._done(
            lambda: self._client.query_points(
                self._collection,
                with_payload=False,
                **request,
            )
        )
        return [Scored(id=int(point.id), score=float(point.score)) for point in found.points]

    def _done(self, call: Callable[[], R]) -> R:
        return answered(self._place, call)


class ServerBackend:
    """Indexes as collections of one server."""

    def __init__(self, client: QdrantClient, place: str, prefix: str) -> None:
        """Use a server.

        Args:
            client: Connected to it.
            place: Its address, for people.
            prefix: Of the names of its collections: other vaults, and other programs, may use it.
        """
        self._client = client
        self._prefix = prefix
        self.name = place

    @classmethod
    def at(cls, address: str, key: str, prefix: str) -> "ServerBackend":
        """Use the server of an address; nothing is asked yet.

        Args:
            address: ``http://host:6333``.
            key: API key; empty for none.
            prefix: As above.
        """
        client = QdrantClient(
            url=address,
            api_key=key or None,
            timeout=TIMEOUT_SECONDS,
            check_compatibility=False,  # It would ask at once, and only warn.
        )
        return cls(client, address, prefix)

    def create(self, number: int, identity: str, dimensions: int) -> ServerIndex:
        """Make an index; what is left of one with this number goes.

        Raises:
            UnavailableError: The server can't be reached.
            StorageError: It refuses.
        """
        self.delete(number)
        name = self._name(number)
        dense = qdrant.VectorParams(size=dimensions or 1, distance=qdrant.Distance.DOT)
        words = qdrant.SparseVectorParams(modifier=qdrant.Modifier.IDF)

        def make() -> None:
            self._client.create_collection(
                name,
                vectors_config={DENSE: dense} if dimensions else {},
                sparse_vectors_config={WORDS: words},
            )
            for field in KEYWORDS:
                self._client.create_payload_index(name, field, qdrant.PayloadSchemaType.KEYWORD)
            self._client.create_payload_index(name, NUMBER, qdrant.PayloadSchemaType.INTEGER)

        answered(self.name, make)
        return ServerIndex(self._client, self.name, name, identity, dimensions)

    def open(self, number: int, identity: str, dimensions: int) -> ServerIndex:
        """Open an index.

        Raises:
            UnavailableError: The server can't be reached.
            StorageError: It has no such collection.
        """
        name = self._name(number)
        if not answered(self.name, lambda: self._client.collection_exists(name)):
            raise StorageError(f"{self.name} has no collection {name} any more.")
        return ServerIndex(self._client, self.name, name, identity, dimensions)

    def delete(self, number: int) -> None:
        """Delete an index, if it's there.

        Raises:
            UnavailableError: The server can't be reached.
        """
        answered(self.name, lambda: self._client.delete_collection(self._name(number)))

    def _name(self, number: int) -> str:
        return f"{self._prefix}-{number}"


def answered(place: str, call: Callable[[], R]) -> R:
    """Return what a server answers.

    Raises:
        UnavailableError: It can't be reached, or can't right now.
        StorageError: It refuses.
    """
    try:
        return call()
    except ErisError:
        raise
    except UnexpectedResponse as error:
        reason = f"{error.status_code} {error.reason_phrase}"
        if error.status_code is not None and error.status_code < _SERVER_ERRORS:
            raise StorageError(
                f"The Qdrant server {place} refuses: {reason}.",
                hint="Check memory.index and memory.index_key_file.",
            ) from error
        raise _away(place, reason) from error
    except ApiException as error:
        raise _away(place, str(error)) from error
    except ValueError as error:  # What the stand-in in this process raises.
        raise StorageError(f"The Qdrant server {place} refuses: {error}.") from error


def _away(place: str, reason: str) -> UnavailableError:
    return UnavailableError(
        f"The Qdrant server {place} can't be reached: {reason[:200]}.",
        hint="Start it, or set memory.index to edge. Until then what is known is found by words.",
    )


def _sparse(vector: Sparse) -> qdrant.SparseVector:
    return qdrant.SparseVector(indices=vector.indices, values=vector.values)


def _filter(wanted: Wanted) -> qdrant.Filter | None:
    must: list[qdrant.Condition] = [
        qdrant.FieldCondition(key=field, match=qdrant.MatchAny(any=values))
        for field, values in conditions(wanted)
    ]
    span = days(wanted)
    if span:
        first, last = span
        must.append(qdrant.FieldCondition(key=NUMBER, range=qdrant.Range(gte=first, lte=last)))
    return qdrant.Filter(must=must) if must else None
