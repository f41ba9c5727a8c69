"""Vectors as plain Python: MiniLM's 384 numbers need no numerical library.

A few hundred tools cost about three milliseconds a question, and the process stays small.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from operator import mul

from eris.errors import ProtocolError


def unpack(data: bytes, dimensions: int, count: int) -> list["array[float]"]:
    """Return the rows of a packed block of little-endian float32.

    Raises:
        ProtocolError: The block hasn't the size that was announced.
    """
    if dimensions <= 0 or len(data) != 4 * dimensions * count:
        raise ProtocolError(
            f"{count} vectors of {dimensions} dimensions can't have {len(data)} bytes."
        )
    values = array("f")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return [values[start : start + dimensions] for start in range(0, len(values), dimensions)]


def pack(vector: "array[float]") -> bytes:
    """Return a vector as little-endian float32."""
    if sys.byteorder == "big":
        vector = vector[:]
        vector.byteswap()
    return vector.tobytes()


def similarity(left: "array[float]", right: "array[float]") -> float:
    """Return the cosine of two unit vectors."""
    return math.fsum(map(mul, left, right)) if len(left) == len(right) else 0.0


def unit(vector: Sequence[float]) -> "array[float]":
    """Return a vector of length 1 in the same direction; a zero vector stays one."""
    length = math.sqrt(math.fsum(map(mul, vector, vector)))
    return array("f", [value / length for value in vector] if length else vector)


def centroid(vectors: Sequence["array[float]"]) -> "array[float]":
    """Return the direction in the middle of some unit vectors (at least one)."""
    return unit([math.fsum(column) for column in zip(*vectors, strict=True)])
