"""One answer of a server, followed to its end as a generation in this process would be."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from actors.inference.generation import Listener, Statistics
from actors.inference.remote.client import Exchange
from actors.inference.remote.failures import GrammarRefused
from eris.envelope_ending import EnvelopeFollower
from eris.errors import ErisError
from proto.inference import EndedEarly, Ending, FinishReason

_POLL_SECONDS: Final = 0.05
"""How often a cancel is looked for while nothing arrives."""

_BEYOND: Final = 64
"""Pieces over the limit after which a server that ignores it is stopped."""


@dataclass(frozen=True)
class Piece:
    """What one line of an answer says; what it doesn't say is empty or None."""

    text: str = ""
    thought: str = ""
    generated: int | None = None
    """Tokens so far."""
    prompt: int | None = None
    """Tokens of the prompt that the server says it has read, known ones included."""
    cached: int | None = None
    """Of those, the ones it knew already."""
    prefill_seconds: float | None = None
    finish: FinishReason | None = None
    cut_prompt: bool = False
    """The server says that it left out a part of the prompt."""
    last: bool = False
    """Nothing that counts follows."""


@dataclass(frozen=True)
class Task:
    """What a server is asked for.

    Attributes:
        open: Sends the request; False asks for it without grammar or schema.
        read: Understands one line of the answer.
        prompt_tokens: How many the prompt has by our own count.
        limit: The most tokens of the answer.
        ending: How to end it if it's stopped early; None to leave it as it is then.
        constrained: Whether the answer has a form to keep to.
    """

    open: Callable[[bool], Exchange]
    read: Callable[[dict[str, Any]], Piece]
    prompt_tokens: int
    limit: int
    ending: Ending | None
    constrained: bool


class Judge(Protocol):
    """Is told how a server behaved; says it once where it's read."""

    def answered(self, text: str) -> None:
        """Judge the text of an answer that came to its own end."""

    def counted(self, ours: int, theirs: int) -> None:
        """Compare two counts of one prompt."""

    def cut_prompt(self, tokens: int) -> None:
        """A prompt of so many tokens was cut by the server."""

    def refused_form(self, error: ErisError) -> None:
        """The server couldn't use a grammar or schema and was asked without."""

    def lost(self) -> ErisError:
        """The answer stopped in the middle; returns what to raise."""


class RemoteWriting:
    """Made by an engine's `open`; `advance` until it returns a reason.

    An answer that gives way is given up at the server and begins anew when it's its turn again:
    what was written of it is taken back.
    """

    call_odds: Final[float | None] = None
    problem: Final = ""

    def __init__(self, task: Task, cancelled: threading.Event, judge: Judge) -> None:
        self.statistics: Final = Statistics(prompt_tokens=task.prompt_tokens)
        self.ended_early: EndedEarly | None = None
        """What the answer lacks, if it was ended early."""
        self._task = task
        self._cancelled = cancelled
        self._judge = judge
        self._text = ""
        self._pieces = 0
        self._thoughts = 0
        self._told = False
        self._form = task.constrained

    def advance(self, listener: Listener, yielding: threading.Event) -> FinishReason | None:
        """Follow the answer until its end, a cancel, or until ``yielding`` is set.

        Raises:
            ErisError: The server can't be reached, refuses, or stopped in the middle.
        """
        self._begin_anew(listener)
        while True:
            try:
                return self._follow(listener, yielding)
            except GrammarRefused as error:
                if not self._form:
                    raise
                # Better a free answer that is validated afterwards than none.
                self._judge.refused_form(error)
                self._form = False

    def _begin_anew(self, listener: Listener) -> None:
        if self._text:
            listener.text("", 0, removed=len(self._text))
        self._text, self._pieces, self._thoughts = "", 0, 0
        self.statistics.generated_tokens = self.statistics.thinking_tokens = 0

    def _follow(self, listener: Listener, yielding: threading.Event) -> FinishReason | None:
        if self._cancelled.is_set():
            return FinishReason.CANCELLED
        exchange, started = self._task.open(self._form), time.perf_counter()
        try:
            finish: FinishReason | None = None
            while not exchange.over:
                if self._cancelled.is_set():
                    self._end_early(listener)
                    return FinishReason.CANCELLED
                if yielding.is_set():
                    return None
                event = exchange.next(_POLL_SECONDS)
                if event is None:
                    continue
                piece = self._task.read(event)
                self._take(piece, listener, time.perf_counter() - started)
                finish = piece.finish or finish
                if piece.last:
                    break
                if max(self._pieces, self.statistics.generated_tokens) > self._task.limit + _BEYOND:
                    finish = FinishReason.LENGTH
                    break
            return self._finish(finish, listener)
        finally:
            exchange.close()
            spent = time.perf_counter() - started
            self.statistics.decode_seconds = max(spent - self.statistics.prefill_seconds, 0.0)

    def _take(self, piece: Piece, listener: Listener, elapsed: float) -> None:
        statistics = self.statistics
        statistics.forward_passes += 1
        self._count(piece)
        if not self._told and (piece.text or piece.thought or piece.last):
            self._told = True
            statistics.prefill_seconds = elapsed
            listener.prefilled(statistics)
        if piece.prefill_seconds is not None:
            statistics.prefill_seconds = piece.prefill_seconds
        if piece.thought:
            self._thoughts += 1
            statistics.thinking_tokens = self._thoughts
            listener.thought(piece.thought, self._thoughts)
        if piece.text:
            self._pieces += 1
            self._text += piece.text
            if piece.generated is None:
                statistics.generated_tokens = self._pieces
            listener.text(piece.text, statistics.generated_tokens)

    def _count(self, piece: Piece) -> None:
        statistics = self.statistics
        if piece.generated is not None:
            statistics.generated_tokens = piece.generated
        if piece.cached is not None:
            statistics.cached_tokens = piece.cached
        if piece.prompt is not None:
            statistics.prompt_tokens = piece.prompt
            statistics.prefilled_tokens = max(piece.prompt - statistics.cached_tokens, 0)
            self._judge.counted(self._task.prompt_tokens, piece.prompt)
        if piece.cut_prompt:
            self._judge.cut_prompt(self._task.prompt_tokens)

    def _finish(self, finish: FinishReason | None, listener: Listener) -> FinishReason:
        if finish is None:
            raise self._judge.lost()
        if finish is FinishReason.LENGTH:
            self._end_early(listener)
        elif self._form:
            self._judge.answered(self._text)
        return finish

    def _end_early(self, listener: Listener) -> None:
        """Make a whole envelope of what there is, unless it's none."""
        follower, ending = EnvelopeFollower(), self._task.ending
        follower.feed(self._text)
        if ending is None or follower.foreign or follower.complete:
            return
        end = follower.end(ending)
        self.ended_early = end.early
        removed = len(self._text) - end.kept
        self._text = self._text[: end.kept] + end.text
        listener.text(end.text, self.statistics.generated_tokens, removed)
