"""What all backends have in common: names of vectors and fields, and what a search filters by."""

import struct
from collections.abc import Iterator

import numpy as np

from actors.memory.points import Point, Wanted
from eris.errors import StorageError

DENSE, WORDS = "dense", "words"
"""Names of the two vectors of a point."""

REBUILD = "If it stays so: eris memory index --rebuild"
"""What to do about an index that can't be used."""

KEYWORDS = ("kind", "source", "folders", "tags")
"""Fields that are matched."""

NUMBER = "day"
"""The field that has a range."""

FUSED = 100
"""Hits of each kind that are fused."""

RANK_CONSTANT = 2
"""``k`` of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). With their 60, a piece that
is somewhere in both lists comes before one that is the best of one list: on our questions that is
worse than likeness alone (docs/decisions/0051-vector-index.md)."""


def payload(point: Point) -> dict[str, object]:
    """Return what a point is filtered by; what is empty is left out."""
    fields: dict[str, object] = {
        "kind": str(point.kind),
        "source": point.source,
        "folders": list(point.folders),
        "tags": list(point.tags),
        "day": point.day,
    }
    return {name: value for name, value in fields.items() if value}


def conditions(wanted: Wanted) -> Iterator[tuple[str, list[str]]]:
    """Yield fields, each with the values of which it must have one."""
    if wanted.kinds:
        yield "kind", [str(kind) for kind in wanted.kinds]
    for tag in wanted.tags:
        yield "tags", [tag]
    if wanted.folder:
        yield "folders", [wanted.folder]
    if wanted.source:
        yield "source", [wanted.source]


def days(wanted: Wanted) -> tuple[int | None, int | None] | None:
    """Return the first and the last day that are wanted; None if any day is."""
    if not wanted.first_day and not wanted.last_day:
        return None
    # What has no day is of none.
    return wanted.first_day or 1, wanted.last_day or None


def floats(vector: bytes) -> list[float]:
    """Return a vector as the engines take it."""
    values: list[float] = np.frombuffer(vector, dtype="<f4").tolist()
    return values


def packed(vectors: object) -> bytes | None:
    """Return the vector of a record as it was put in; None if the record has none."""
    if not isinstance(vectors, dict) or DENSE not in vectors:
        return None
    values = vectors[DENSE]
    # Half the time that numpy takes for a list; a search does it for all candidates.
    return struct.pack(f"<{len(values)}f", *values)


def dense_of(point: Point, dimensions: int, place: str) -> list[float]:
    """Return a point's vector, for an index of so many dimensions.

    Raises:
        StorageError: It has another number of dimensions, or none.
    """
    if point.vector is None or len(point.vector) != 4 * dimensions:
        raise StorageError(
            f"A vector of {len(point.vector or b'') // 4} dimensions doesn't go into {place}, "
            f"which has {dimensions}.",
            hint=REBUILD,
        )
    return floats(point.vector)
