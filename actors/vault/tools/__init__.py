"""The vault's tools: what the model may ask for, and how it's told what came of it.

Every tool ends in the service, as what people ask without a model does; here are the arguments
that a small model can fill in, and sentences short enough for its context.
"""

from typing import Any

from actors.vault.reading import Reader
from actors.vault.service import VaultService
from actors.vault.tools.changing import changing_tools
from actors.vault.tools.finding import finding_tools
from actors.vault.tools.own_folder import OwnFolder
from actors.vault.tools.reading import reading_tools
from actors.vault.tools.skills import skill_tools
from actors.vault.tools.working import working_tools
from eris.config import VaultSettings
from eris.tools import Tool

USUAL = OwnFolder.by(VaultSettings(), core_note="")


def vault_tools(
    service: VaultService, reader: Reader, own: OwnFolder = USUAL
) -> tuple[Tool[Any], ...]:
    """Declare the tools over an open vault.

    Args:
        service: Does what they ask for.
        reader: Reads and lists notes in portions.
        own: Where turns may write that the user didn't start.
    """
    return (
        *reading_tools(service, reader),
        *finding_tools(service),
        *changing_tools(service, own),
        *working_tools(service, reader),
        *skill_tools(service),
    )
