"""The tools of the memory: what the model may remember, find and read with."""

from typing import Any

from actors.memory.tools.documents import document_tools
from actors.memory.tools.finding import finding_tools
from actors.memory.tools.port import Asked, MemoryService
from actors.memory.tools.remembering import remembering_tools
from eris.tools import Tool

__all__ = ["Asked", "MemoryService", "memory_tools"]


def memory_tools(service: MemoryService) -> tuple[Tool[Any], ...]:
    """Declare all of them."""
    return (*remembering_tools(service), *finding_tools(service), *document_tools(service))
