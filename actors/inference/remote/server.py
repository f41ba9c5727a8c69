"""What all engines behind a server have in common."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from actors.inference.ports import Opened
from actors.inference.remote.address import Address
from actors.inference.remote.client import ServerClient
from actors.inference.remote.conformity import keeps_to_grammar, keeps_to_schema
from actors.inference.remote.failures import died
from actors.inference.remote.writing import Piece, RemoteWriting, Task
from eris.config import ModelSettings
from eris.errors import ContextFullError, ErisError, InvalidError
from eris.logs import Logger
from proto.inference import (
    Generate,
    Message,
    ModelDescription,
    TextCounts,
    TokenCounts,
    TokenizeText,
)


class RemoteEngine(ABC):
    """A model behind a server. What is known of it is asked anew after it was away."""

    distant: Final[bool] = True
    exact = False
    """Whether our count of a prompt is the server's own."""

    def __init__(
        self,
        settings: ModelSettings,
        address: Address,
        log: Logger,
        remark: Callable[[str], None],
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            settings: Table ``[model]``.
            address: Of the server.
            log: This process's.
            remark: Says something in `eris status`.
        """
        self.settings: Final = settings
        self.address: Final = address
        self.client: Final = ServerClient(
            address, silence=float(settings.server_seconds), start=self.start
        )
        self.log: Final = log
        self._remark = remark
        self._notes: dict[str, str] = {}
        self._lock = threading.Lock()
        self._show()

    @property
    @abstractmethod
    def start(self) -> str:
        """A sentence that says how the server is started."""

    @abstractmethod
    def describe(self) -> ModelDescription:
        """Return what the server runs; raises `ErisError` if it can't be asked."""

    @abstractmethod
    def count(self, messages: tuple[Message, ...]) -> TokenCounts:
        """Return the tokens of a prompt; raises `ErisError` if the server can't be asked."""

    @abstractmethod
    def count_texts(self, body: TokenizeText) -> TextCounts:
        """Return the tokens of some texts; raises like `count`."""

    @abstractmethod
    def open(self, body: Generate, cancelled: threading.Event) -> Opened:
        """Prepare an answer; raises `ErisError` if it's refused."""

    @abstractmethod
    def forget(self) -> None:
        """Ask the server anew what it runs: it may be another one now."""

    def save_state(self) -> None:  # noqa: B027 - nothing is the right thing
        """Do nothing: the server keeps its own state."""

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    @property
    def note(self) -> str:
        """What is wrong with the server; or empty."""
        with self._lock:
            return " ".join(self._notes.values())

    def say(self, topic: str, sentence: str) -> None:
        """Say something in the log and in `eris status`, once for each topic."""
        with self._lock:
            if topic in self._notes:
                return
            self._notes[topic] = sentence
        self.log.warning("server-warning", topic=topic, server=str(self.address), message=sentence)
        self._show()

    def opened(
        self,
        body: Generate,
        cancelled: threading.Event,
        counts: TokenCounts,
        context_length: int,
        reserve: int,
        request: Callable[[int, bool], tuple[str, dict[str, Any]]],
        read: Callable[[dict[str, Any]], Piece],
    ) -> Opened:
        """Check the room and return the answer, not asked for yet.

        Args:
            body: What is asked for.
            cancelled: Ends it.
            counts: Of the prompt.
            context_length: In tokens.
            reserve: Tokens kept for ending the answer early; 0 if that isn't wanted.
            request: Makes path and body from a token limit and whether the form is asked for.
            read: Understands one line of the answer.

        Raises:
            ContextFullError: The prompt leaves too little room.
            InvalidError: ``max_tokens`` has no room for an answer.
        """
        used = counts.total
        if body.max_tokens <= reserve:
            raise InvalidError(
                f"max_tokens is {body.max_tokens}; the shortest answer has {reserve}.",
                hint="Raise generation.max_tokens.",
            )
        reserved = max(min(body.min_answer_tokens, body.max_tokens), reserve + 1)
        if used + reserved > context_length:
            about = "" if self.exact else "about "
            raise ContextFullError(
                f"A prompt of {about}{used} tokens leaves no room for {reserved} more in the "
                f"context of {context_length} that the server at {self.address} has.",
                hint="Condense the conversation, or start the server with a larger context.",
                details={
                    "prompt_tokens": used,
                    "context_length": context_length,
                    "reserved": reserved,
                },
            )
        limit = min(body.max_tokens, context_length - used) - reserve
        model = self.model_name
        task = Task(
            open=lambda form: self._send(*request(limit, form), model),
            read=read,
            prompt_tokens=used,
            limit=limit,
            ending=body.ending,
            constrained=bool(body.grammar or body.schema),
        )
        return Opened(RemoteWriting(task, cancelled, _Verdicts(self, body)), counts)

    @property
    @abstractmethod
    def model_name(self) -> str:
        """What the server calls its model, as far as it's known."""

    @property
    @abstractmethod
    def by_grammar(self) -> bool:
        """Whether the form of answers is said by grammar; by JSON Schema otherwise."""

    def read_prompt(self, ours: int, theirs: int) -> None:
        """Compare two counts of a prompt."""
        if self.exact and theirs != ours:
            self.say(
                "counts-differently",
                f"The server at {self.address} says that it read {theirs} tokens of a prompt "
                f"that has {ours}: it may leave out a part.",
            )

    def lost(self) -> ErisError:
        """Return the error for an answer that stopped in the middle."""
        error = died(self.address, self.model_name or "its model", self.start)
        self.forget()
        return error

    def _send(self, path: str, body: dict[str, Any], model: str) -> Any:
        return self.client.open(path, body, model=model)

    def _show(self) -> None:
        where = "" if self.address.loopback else ": the conversation leaves this machine"
        notes = f". {self.note}" if self.note else ""
        self._remark(f"the model runs at {self.address}{where}{notes}".rstrip("."))


class _Verdicts:
    """The judge of one answer."""

    def __init__(self, engine: RemoteEngine, body: Generate) -> None:
        self._engine = engine
        self._body = body

    def answered(self, text: str) -> None:
        """See whether the answer keeps to its form."""
        engine, body = self._engine, self._body
        if engine.by_grammar:
            kept = not body.grammar or keeps_to_grammar(body.grammar, text)
        else:
            kept = not body.schema or keeps_to_schema(body.schema, text)
        if not kept:
            told = "grammar" if engine.by_grammar else "JSON Schema"
            engine.say(
                "ignores-form",
                f"The server at {engine.address} was given a {told} and doesn't keep to it: "
                "answers are checked, but more of them fail.",
            )

    def counted(self, ours: int, theirs: int) -> None:
        """Compare two counts of the prompt."""
        self._engine.read_prompt(ours, theirs)

    def cut_prompt(self, tokens: int) -> None:
        """Say that the server left out a part of a prompt."""
        self._engine.say(
            "cuts-prompts",
            f"The server at {self._engine.address} cut a prompt of {tokens} tokens: its context "
            "is smaller than it says.",
        )

    def refused_form(self, error: ErisError) -> None:
        """Say that an answer was asked for without its form."""
        size = len(self._body.grammar if self._engine.by_grammar else self._body.schema)
        self._engine.say(
            "refuses-form",
            f"{error.message.rstrip('.')} ({size} characters); such answers are asked for "
            "without it and checked.",
        )

    def lost(self) -> ErisError:
        """Return what to raise for an answer that stopped in the middle."""
        return self._engine.lost()
