"""Messages of the memory actor: for now, the embedder as a service."""

import msgspec


class _Memory(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class Embed(_Memory, frozen=True, tag="memory.embed.1"):
    """Asks for the vectors of some texts (reply: `Embedded`)."""

    texts: tuple[str, ...]
    background: bool = False
    """Bulk work: a query that arrives meanwhile overtakes it."""


class Embedded(_Memory, frozen=True, tag="memory.embedded.1"):
    """Unit vectors, in the order of the request."""

    model: str
    """Name and revision of the embedder: vectors of different ones must not be compared."""
    dimensions: int
    vectors: bytes
    """Little-endian float32, ``len(texts) * dimensions`` values, row by row."""


Memory = Embed | Embedded
