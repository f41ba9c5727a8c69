"""What the actor needs of an engine, whether the model is in this process or behind a server."""

import threading
from dataclasses import dataclass
from typing import Protocol

from actors.inference.generation import Listener, Statistics
from proto.inference import (
    EndedEarly,
    FinishReason,
    Generate,
    Message,
    ModelDescription,
    TextCounts,
    TokenCounts,
    TokenizeText,
)


class Writing(Protocol):
    """One answer on its way."""

    @property
    def statistics(self) -> Statistics:
        """What it has cost so far."""

    @property
    def ended_early(self) -> EndedEarly | None:
        """What the answer lacks, if it was ended early."""

    @property
    def problem(self) -> str:
        """What went wrong without ending it, for the log; or empty."""

    @property
    def call_odds(self) -> float | None:
        """Log-odds of a first call against none, where they are known."""

    def advance(self, listener: Listener, yielding: threading.Event) -> FinishReason | None:
        """Go on until the end, a cancel, or until ``yielding`` is set.

        Returns:
            Why it ended, or None if it gave way and has to be advanced again.

        Raises:
            ErisError: It can't go on; says whether asking again can help.
        """


@dataclass(frozen=True)
class Opened:
    """A generation that wasn't refused."""

    writing: Writing
    counts: TokenCounts
    """Of its prompt."""


class ModelEngine(Protocol):
    """A model that answers.

    `open`, the counts and `describe` may be called from several threads at once, and while an
    answer is written; `save_state` from the thread that advances answers.
    """

    @property
    def distant(self) -> bool:
        """Whether the methods may wait for another process: not for a mailbox's thread."""

    def describe(self) -> ModelDescription:
        """Return what is loaded.

        Raises:
            ErisError: A server has to be asked, and doesn't answer.
        """

    def count(self, messages: tuple[Message, ...]) -> TokenCounts:
        """Return the tokens of a prompt; raises like `describe`, and for messages it refuses."""

    def count_texts(self, body: TokenizeText) -> TextCounts:
        """Return the tokens of some texts; raises like `describe`."""

    def open(self, body: Generate, cancelled: threading.Event) -> Opened:
        """Prepare an answer; ``cancelled`` ends it.

        Raises:
            ContextFullError: The prompt leaves too little room.
            ErisError: It can't be done.
        """

    def save_state(self) -> None:
        """Keep what a restart would lose, if there is anything."""

    def close(self) -> None:
        """Free everything; nothing may be advanced any more."""
