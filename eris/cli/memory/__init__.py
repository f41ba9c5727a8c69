"""`eris memory` and `eris doc`: what is remembered, without a model."""

from eris.cli.memory.documents import doc
from eris.cli.memory.memories import memory

__all__ = ["doc", "memory"]
