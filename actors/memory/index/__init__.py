"""Vector indexes behind one interface: Qdrant's engine in this process, or a server of it.

What is needed for a server is imported only where there's one: ``actors.memory.index.server`` takes
two seconds and 120 MB.
"""

from actors.memory.index.edge import EdgeBackend
from actors.memory.index.opening import Backend, Indexes

EDGE = "edge"
"""The setting that means this machine."""

__all__ = ["EDGE", "Backend", "EdgeBackend", "Indexes"]
