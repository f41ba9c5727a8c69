"""Servers that take messages and a JSON Schema, and don't tell how they count tokens."""

import difflib
import json
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from msgspec.structs import replace

from actors.inference.ports import Opened
from actors.inference.remote.address import Address
from actors.inference.remote.estimate import TokenEstimate
from actors.inference.remote.server import RemoteEngine
from actors.inference.remote.writing import Piece
from eris.config import ModelSettings
from eris.errors import ConfigurationError
from eris.logs import Logger
from proto.inference import (
    Generate,
    Message,
    ModelDescription,
    TextCounts,
    TokenCounts,
    TokenizeText,
)

_FRESH_SECONDS: Final = 30.0
_MOST_NAMES: Final = 8
_FEWEST_BYTES_READ: Final = 12
"""More bytes for each token than any tokeniser packs into one."""


class SchemaServer(RemoteEngine):
    """What OpenAI's protocol and Ollama's have in common."""

    def __init__(
        self,
        settings: ModelSettings,
        address: Address,
        log: Logger,
        remark: Callable[[str], None],
    ) -> None:
        super().__init__(settings, address, log, remark)
        self._estimate = TokenEstimate()
        self._facts: ModelDescription | None = None
        self._until = 0.0

    @property
    def model_name(self) -> str:
        """What the server calls its model, as far as it's known."""
        return self._facts.name if self._facts else self.settings.server_model

    def forget(self) -> None:
        """Ask the server anew what it runs."""
        self._facts = None

    def describe(self) -> ModelDescription:
        """Return what the server runs."""
        self.forget()
        return replace(self._known(), note=self.note)

    def count(self, messages: tuple[Message, ...]) -> TokenCounts:
        """Return about how many tokens a prompt has."""
        return self._estimate.prompt(messages)

    def count_texts(self, body: TokenizeText) -> TextCounts:
        """Return about how many tokens some texts have."""
        return self._estimate.texts(body)

    def open(self, body: Generate, cancelled: threading.Event) -> Opened:
        """Prepare an answer."""
        reserve = self._estimate.text(body.ending.rests[0]) if body.ending else 0
        facts = self._known()

        def read(event: dict[str, Any]) -> Piece:
            piece = self.read(event)
            if piece.prompt is not None:
                self._compare(body.messages, piece.prompt)
            return piece

        return self.opened(
            body,
            cancelled,
            self.count(body.messages),
            facts.context_length,
            reserve,
            lambda limit, form: self.request(body, facts, limit, form=form),
            read,
        )

    @abstractmethod
    def request(
        self, body: Generate, facts: ModelDescription, limit: int, *, form: bool
    ) -> tuple[str, dict[str, Any]]:
        """Return path and body of a request for an answer."""

    @abstractmethod
    def read(self, event: dict[str, Any]) -> Piece:
        """Understand one line of an answer."""

    @abstractmethod
    def ask_facts(self) -> ModelDescription:
        """Ask the server what it runs."""

    def choose(self, names: Collection[str]) -> str:
        """Return the name of the model to use, out of those that the server has.

        Raises:
            ConfigurationError: It hasn't the one that is wanted, or several and none is wanted.
        """
        wanted = self.settings.server_model
        if wanted in names or (wanted and not names):
            return wanted
        shown = ", ".join(sorted(names)[:_MOST_NAMES]) or "none"
        if wanted:
            near = difflib.get_close_matches(wanted, names, n=1)
            raise ConfigurationError(
                f"The server at {self.address} has no model {wanted}; it has: {shown}.",
                hint=f"Set model.server_model{f' to {near[0]}' if near else ''}, or load it there.",
            )
        if len(names) != 1:
            raise ConfigurationError(
                f"The server at {self.address} has {len(names)} models: {shown}.",
                hint="Say which one: eris config set model.server_model NAME",
            )
        return next(iter(names))

    def _known(self) -> ModelDescription:
        known = self._facts
        if known is None or time.monotonic() > self._until:
            known = self._facts = self.ask_facts()
            self._until = time.monotonic() + _FRESH_SECONDS
        return known

    def _compare(self, messages: Sequence[Message], reported: int) -> None:
        size = sum(len(part.text.encode()) for message in messages for part in message.parts)
        if 0 < reported < size // _FEWEST_BYTES_READ:
            self.say(
                "cuts-prompts",
                f"The server at {self.address} says that it read {reported} tokens of a prompt of "
                f"{size} bytes: it leaves out a part, so its context is smaller than it says.",
            )
        else:
            self._estimate.learn(messages, reported)


def by_name(listed: object, key: str) -> dict[str, dict[str, Any]]:
    """Return the models that a server lists, by what it calls them."""
    return {
        str(model[key]): model
        for model in (listed if isinstance(listed, list) else [])
        if isinstance(model, dict) and key in model
    }


def plain_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages as these servers take them."""
    return [
        {"role": message.role, "content": "".join(part.text for part in message.parts)}
        for message in messages
    ]


def schema_of(body: Generate) -> dict[str, Any]:
    """Return the schema of an answer; empty if there is none."""
    found: dict[str, Any] = json.loads(body.schema) if body.schema else {}
    return found
