"""The vault's tools: what the model may ask for, and how it's told what came of it.

Every tool ends in the service, as what people ask without a model does; here are the arguments
that a small model can fill in, and sentences short enough for its context.
"""

from typing import Any

from actors.vault.reading import Reader
from actors.vault.service import VaultService
from actors.vault.tools.changing import changing_tools
from actors.vault.tools.finding import finding_tools
from actors.vault.tools.reading import reading_tools
from actors.vault.tools.skills import skill_tools
from actors.vault.tools.working import working_tools
from eris.tools import Tool


def vault_tools(service: VaultService, reader: Reader) -> tuple[Tool[Any], ...]:
    """Declare the tools over an open vault.

    Args:
        service: Does what they ask for.
        reader: Reads and lists notes in portions.
    """
    return (
        *reading_tools(service, reader),
        *finding_tools(service),
        *changing_tools(service),
        *working_tools(service, reader),
        *skill_tools(service),
    )
