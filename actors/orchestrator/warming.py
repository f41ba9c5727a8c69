"""Has the unchanging beginning of every prompt computed before the first turn needs it."""

from actors.orchestrator.generation import ModelFacts, form_name
from actors.orchestrator.prompt import prefix
from actors.orchestrator.recalling import CoreMemory
from eris.actor import Port
from eris.errors import ErisError
from proto.inference import Chunk, Generate, Generated, Prefilled, Priority

WARMING_SECONDS = 120.0


def warm_up(port: Port, facts: ModelFacts, core: CoreMemory, session: str) -> None:
    """Let `inference` read the beginning of the prompt, in the background.

    A turn that comes meanwhile goes first and keeps what has been read. For a vault without a
    conversation only: the state of a live one is worth more, and is loaded from disk.
    """
    setting = port.settings.generation.form
    try:
        form = form_name(setting, lambda: facts.describe(WARMING_SECONDS))
        request = Generate(
            messages=prefix(form, core.text(WARMING_SECONDS)),
            session=session,
            max_tokens=1,
            min_answer_tokens=1,
            priority=Priority.BACKGROUND,
        )
        reader = port.open(
            "inference",
            request,
            item=Prefilled | Chunk,
            result=Generated,
            within=WARMING_SECONDS,
        )
        for _ in reader:
            pass
    except ErisError as error:
        # Nothing is lost: the first turn reads it itself.
        port.log.info("not-warmed-up", code=error.code, error=error.message)
    else:
        port.log.info("warmed-up", tokens=reader.result.prefilled_tokens)
