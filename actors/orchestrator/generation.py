"""Asks the model for an answer and follows its stream, across restarts of `inference`."""

import time
from collections.abc import Callable
from typing import Protocol

from actors.orchestrator.answers import AnswerStream
from actors.orchestrator.cancellation import Cancellation
from actors.orchestrator.prompt import DEFAULT
from actors.orchestrator.steps import AnswerStep
from eris.absence import Absence
from eris.actor import Port
from eris.errors import ErisError, RemoteError, UnavailableError
from eris.grammar import FORMS
from proto.errors import ErrorBody, ErrorCode
from proto.inference import (
    Chunk,
    DescribeModel,
    FinishReason,
    Generate,
    Generated,
    ModelDescription,
    Prefilled,
    Section,
)

LOST = frozenset(
    {
        ErrorCode.UNREACHABLE,
        ErrorCode.PEER_RESTARTED,
        ErrorCode.STREAM_UNKNOWN,
        ErrorCode.DRAINING,
        ErrorCode.LOADING,
        ErrorCode.BUSY,
        ErrorCode.OVERRUN,
        ErrorCode.CANCELLED,
    }
)
"""Errors that end a stream without saying anything about its answer: it's asked for again."""

MOST_LOST = 8
"""Streams of one answer that may be lost after they had begun."""

AWAY_SECONDS = 180.0
"""How long `inference` may be out of reach before a turn gives up on it."""

RETRY_SECONDS = 0.25
"""Pause before a lost answer is asked for again."""

PROGRESS_SECONDS = 0.25
"""Shortest time between two reports of speed."""

_DESCRIBE_SECONDS = 2.0
"""How long to wait for a description before looking whether one can come at all."""

_POLL_SECONDS = 1.0
_CANCEL_SECONDS = 2.0


class Audience(Protocol):
    """Who is told what happens while an answer is written."""

    def reading(self, detail: str = "") -> None:
        """The prompt is being read, or waits to be."""

    def writing(self, tokens: int, tokens_per_second: float) -> None:
        """So many tokens have been written, at this speed."""

    def said(self, thought: str, message: str) -> None:
        """More of the thought, reasoning before the answer included, and of the message."""

    def again(self) -> None:
        """What was said of this answer is void: it begins anew."""


class ModelFacts:
    """What is loaded, asked once for each start of `inference`. For several threads."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._known: ModelDescription | None = None

    def forget(self) -> None:
        """Ask again next time: `inference` was restarted."""
        self._known = None

    def describe(self, within: float, cancellation: Cancellation | None = None) -> ModelDescription:
        """Return the description of the loaded model.

        Raises:
            RemoteError: `inference` doesn't answer in time.
            UnavailableError: `inference` has been given up: it won't answer.
            CancelledWorkError: The turn was stopped.
        """
        cancelled = cancellation.event if cancellation else None
        absence, deadline = Absence(self._port, "inference"), time.monotonic() + within
        while (known := self._known) is None:
            left = max(0.1, deadline - time.monotonic())
            try:
                self._known = self._port.ask(
                    "inference",
                    DescribeModel(),
                    ModelDescription,
                    within=min(left, _DESCRIBE_SECONDS),
                    retry=True,
                    cancelled=cancelled,
                )
            except RemoteError as error:
                if error.code not in LOST | {ErrorCode.EXPIRED} or left <= _DESCRIBE_SECONDS:
                    raise
                absence.check(cancelled)
        return known


def form_name(setting: str, model: Callable[[], ModelDescription]) -> str:
    """Return how the JSON of answers is written.

    Args:
        setting: ``generation.form``.
        model: Describes the model, which is asked only if the setting leaves it to it.
    """
    chosen = model().form if setting == "auto" else setting
    return chosen if chosen in FORMS else DEFAULT


class _Written:
    """An answer as it arrives, read along."""

    def __init__(self, audience: Audience) -> None:
        self.text = ""
        self.prefilled: Prefilled | None = None
        self._audience = audience
        self._stream = AnswerStream()
        self._told = ("", "")

    def add(self, chunk: Chunk) -> None:
        """Take the next piece and tell the audience what it says."""
        if chunk.thinking:
            self._audience.said(chunk.text, "")
        elif not chunk.removed:
            self.text += chunk.text
            self._tell(*self._stream.feed(chunk.text))
        else:
            # Mostly the beginning of a call goes, which nobody has been told of.
            self.text = self.text[: -chunk.removed] + chunk.text
            self._stream, told = AnswerStream(), self._told
            said = self._stream.feed(self.text)
            if all(new.startswith(old) for new, old in zip(said, told, strict=True)):
                self._tell(said[0][len(told[0]) :], said[1][len(told[1]) :])
            else:
                self._audience.again()
                self._told = ("", "")
                self._tell(*said)

    def _tell(self, thought: str, message: str) -> None:
        self._told = (self._told[0] + thought, self._told[1] + message)
        self._audience.said(thought, message)


class Generator:
    """Gets one answer after the other for one turn."""

    def __init__(
        self,
        port: Port,
        cancellation: Cancellation,
        audience: Audience,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._port = port
        self._cancellation = cancellation
        self._audience = audience
        self._monotonic = monotonic

    def answer(self, request: Generate, number: int, deadline: float, trace: str) -> AnswerStep:
        """Return the model's complete answer number ``number``, streaming it to the audience.

        Raises:
            RemoteError: `inference` refused it, such as with ``context-full``.
            UnavailableError: `inference` stayed away, was given up, or lost the answer too often.
            CancelledWorkError: The turn was stopped.
            ErisError: ``expired``: the turn's time is used up.
        """
        lost, away_since = 0, 0.0
        absence = Absence(self._port, "inference", self._monotonic)
        self._audience.reading()
        while True:
            written = _Written(self._audience)
            try:
                generated = self._follow(request, written, deadline, trace, absence)
                return _step(number, written, generated)
            except RemoteError as error:
                self._cancellation.check()
                if error.code not in LOST:
                    raise
                now = self._monotonic()
                if written.prefilled is not None:
                    lost, away_since = lost + 1, 0.0
                away_since = away_since or now
                if lost >= MOST_LOST or now - away_since > AWAY_SECONDS:
                    raise UnavailableError(
                        f"The model's process can't finish an answer: {error.message}",
                        hint=error.hint or "See `eris status` and `eris logs inference`.",
                    ) from error
                reason = "the model's process was restarted"
                if "server" in error.details:
                    reason = error.message.rstrip(".")
            absence.check(self._cancellation.event)
            again = f" ({lost + 1})" if lost else ""
            self._audience.again()
            self._audience.reading(f"{reason}, asking again{again}")
            self._cancellation.event.wait(RETRY_SECONDS)
            self._cancellation.check()

    def _follow(
        self,
        request: Generate,
        written: _Written,
        deadline: float,
        trace: str,
        absence: Absence,
    ) -> Generated:
        reader = self._port.open(
            "inference",
            request,
            item=Prefilled | Chunk,
            result=Generated,
            within=max(1.0, deadline - self._monotonic()),
            trace=trace,
        )
        began = reported = stopped = 0.0
        with self._cancellation.watching(reader):
            while not reader.over:
                item = reader.next(_CANCEL_SECONDS if stopped else _POLL_SECONDS)
                now = self._monotonic()
                match item:
                    case Prefilled():
                        written.prefilled = item
                        began = now
                        self._audience.writing(0, 0.0)
                    case Chunk():
                        written.add(item)
                        if now - reported > PROGRESS_SECONDS:
                            reported = now
                            self._audience.writing(
                                item.tokens, item.tokens / max(now - began, 1e-3)
                            )
                    case None if not stopped:
                        # A stream waits for a process that was killed; it may never return.
                        absence.check(self._cancellation.event)
                    case _:
                        pass
                if now > deadline:
                    raise ErisError("The turn's time is used up.", code=ErrorCode.EXPIRED)
                if self._cancellation.event.is_set():
                    # What was written is void; its end is waited for, so that the model is free.
                    if stopped and now - stopped > _CANCEL_SECONDS:
                        break
                    stopped = stopped or now
        self._cancellation.check()
        if reader.result.finish is FinishReason.CANCELLED:
            raise RemoteError(_cancelled_elsewhere(), "inference")
        return reader.result


def _step(number: int, written: _Written, generated: Generated) -> AnswerStep:
    counts = written.prefilled.counts if written.prefilled else None
    return AnswerStep(
        round=number,
        text=written.text,
        cut=_is_cut(generated),
        repeating=generated.finish is FinishReason.REPEATING,
        prompt=generated.prompt_tokens,
        cached=generated.cached_tokens,
        prefilled=generated.prefilled_tokens,
        generated=generated.generated_tokens,
        forced=generated.forced_tokens,
        prefill_ms=round(generated.prefill_seconds * 1000, 1),
        decode_ms=round(generated.decode_seconds * 1000, 1),
        segments=counts.segments if counts else {},
    )


def _is_cut(generated: Generated) -> bool:
    """Whether an answer lacks something that counts; a thought alone doesn't."""
    if generated.finish not in (FinishReason.LENGTH, FinishReason.REPEATING):
        return False
    early = generated.ended_early
    return early is None or Section.CALLS in early.cut


def _cancelled_elsewhere() -> ErrorBody:
    return ErrorBody(
        code=ErrorCode.CANCELLED,
        message="The model stopped before the end of its answer.",
        retryable=True,
    )
