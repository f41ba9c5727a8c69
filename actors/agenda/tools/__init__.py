"""The agenda's tools: what the model may ask for, and how it's told what came of it.

When-arguments take the user's words, and code resolves them; every answer echoes the absolute local
time.
"""

from typing import Any

from actors.agenda.tools.adding import adding_tools
from actors.agenda.tools.handling import handling_tools
from actors.agenda.tools.port import AgendaService
from eris.tools import Tool


def agenda_tools(service: AgendaService) -> tuple[Tool[Any], ...]:
    """Declare the tools over a service."""
    return (*adding_tools(service), *handling_tools(service))


__all__ = ["AgendaService", "agenda_tools"]
