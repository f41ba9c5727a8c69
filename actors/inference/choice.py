"""Which engine runs the model: decided once, by ``model.engine``, and never changed by a failure.

Whoever pins Eris to this machine must not find their conversation on another one because the
model couldn't be loaded here: there is no falling back from one engine to another.
"""

from typing import Final

import msgspec

from actors.inference.engine import Engine
from actors.inference.forms import PREFERRED, form_of, identity_of
from actors.inference.local import LocalEngine
from actors.inference.ports import ModelEngine
from actors.inference.remote.address import address_of
from actors.inference.remote.llama_server import LlamaServer
from actors.inference.remote.ollama import Ollama
from actors.inference.remote.openai_compatible import OpenAICompatible
from actors.inference.remote.server import RemoteEngine
from eris.actor import Port
from eris.errors import ConfigurationError, ErisError
from eris.models.store import ModelStore

STATE_FOLDER: Final = "kv"
"""Folder of the saved KV states, in the vault's state folder."""

_SERVERS: Final[dict[str, type[LlamaServer | OpenAICompatible | Ollama]]] = {
    "llama-server": LlamaServer,
    "openai": OpenAICompatible,
    "ollama": Ollama,
}

_FORMS: Final = {
    "llama-server": ("auto", "grammar"),
    "openai": ("auto", "grammar", "guided_grammar", "json_schema"),
    "ollama": ("auto", "json_schema"),
}
"""Ways in which each can be told the form of answers (``model.structured``)."""


def choose(port: Port, cores: int) -> ModelEngine:
    """Return the engine of the settings, ready.

    A server that isn't there is no reason not to start: it's asked again when it's needed.

    Args:
        port: This process's.
        cores: Threads to use if the settings don't say.

    Raises:
        ConfigurationError: The settings make no sense, or the server refuses them.
        ModelError: The model file can't be used.
        NotFoundError: There is no such model.
    """
    engine = port.settings.model.engine
    return _local(port, cores) if engine not in _SERVERS else _behind_a_server(port)


def _local(port: Port, cores: int) -> LocalEngine:
    settings = port.settings.model
    engine = Engine.load(
        ModelStore(port.paths.models).path(settings.chat),
        threads=settings.threads or cores,
        log=port.log,
        context_length=settings.context_length,
        batch=settings.batch,
        state_folder=port.paths.state / STATE_FOLDER,
        progress=lambda _done: not port.draining,
        reference=settings.engine == "llama.cpp-reference",
    )
    form = _likeliest_form(port, engine) if port.settings.generation.form == "auto" else PREFERRED
    local = LocalEngine(engine, settings.chat, name=settings.engine, form=form)
    port.log.info("loaded", **msgspec.structs.asdict(local.describe()))
    return local


def _likeliest_form(port: Port, engine: Engine) -> str:
    """Return the form of JSON that a model finds likeliest, measured when it's loaded first."""
    form = form_of(
        identity_of(engine.info.path),
        lambda messages, text: engine.log_probabilities(engine.count(messages), text),
        port.paths.models,
        port.log,
    )
    engine.forget_state()
    return form


def _behind_a_server(port: Port) -> RemoteEngine:
    settings = port.settings.model
    if settings.structured not in _FORMS[settings.engine]:
        raise ConfigurationError(
            f'model.structured can\'t be "{settings.structured}" with model.engine = '
            f'"{settings.engine}".',
            hint=f"Use one of: {', '.join(_FORMS[settings.engine])}.",
        )
    server = _SERVERS[settings.engine](settings, address_of(settings), port.log, port.remark)
    try:
        port.log.info("connected", **msgspec.structs.asdict(server.describe()))
    except ConfigurationError:
        server.close()
        raise
    except ErisError as error:
        port.log.warning("server-away", error=error.message, hint=error.hint)
    return server
