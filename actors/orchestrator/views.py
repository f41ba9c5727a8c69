"""What surfaces see of a turn, derived from its steps; pure."""

from collections.abc import Sequence

import msgspec

from actors.orchestrator.answers import read_answer
from actors.orchestrator.journal import TurnRecord
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    CorrectionStep,
    FinishedStep,
    OfferStep,
    ResultStep,
    Step,
)
from proto.orchestrator import ToolCallView, TurnState, TurnView, Usage


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """What only the running process knows, in milliseconds from acceptance."""

    first_text_ms: float = 0
    total_ms: float = 0


def view_of(record: TurnRecord, steps: Sequence[Step], timings: Timings | None = None) -> TurnView:
    """Return a turn as surfaces see it after its latest complete step."""
    timings = timings or Timings()
    offer = next((step for step in steps if isinstance(step, OfferStep)), None)
    offered, recalled = (offer.tools, offer.recalled) if offer is not None else ((), ())
    notice = offer.notice if offer is not None else ""
    thought, message = _said(steps, offered)
    state, error, truncated = record.state, "", False
    if steps and isinstance(end := steps[-1], FinishedStep):
        state, message, error, truncated = end.state, end.message, end.error, end.truncated
    elif steps and state is TurnState.QUEUED:
        state = TurnState.RUNNING
    return TurnView(
        turn=record.turn,
        text=record.text,
        state=state,
        surface=record.surface,
        message=message,
        thought=thought,
        calls=calls_of(steps),
        offered=offered,
        recalled=recalled,
        notice=notice,
        usage=usage_of(steps, timings),
        error=error,
        truncated=truncated,
        started=record.accepted,
    )


def calls_of(steps: Sequence[Step]) -> tuple[ToolCallView, ...]:
    """Return the tool calls of a turn, in order; one without a result is running."""
    calls: dict[str, ToolCallView] = {}
    for step in steps:
        match step:
            case CallStep():
                calls[step.call_id] = ToolCallView(
                    call_id=step.call_id,
                    tool=step.tool,
                    arguments=step.arguments,
                    state="running",
                )
            case ResultStep():
                calls[step.call_id] = ToolCallView(
                    call_id=step.call_id,
                    tool=step.tool,
                    arguments=step.arguments,
                    state="ok" if step.ok else "failed",
                    content=step.content,
                    receipt=step.receipt,
                    elapsed_ms=step.elapsed_ms,
                )
            case _:
                pass
    return tuple(calls.values())


def usage_of(steps: Sequence[Step], timings: Timings) -> Usage:
    """Return what a turn has cost so far."""
    answers = [step for step in steps if isinstance(step, AnswerStep)]
    offers = [step for step in steps if isinstance(step, OfferStep)]
    results = [step for step in steps if isinstance(step, ResultStep)]
    return Usage(
        prompt=answers[-1].prompt if answers else 0,
        cached=sum(answer.cached for answer in answers),
        prefilled=sum(answer.prefilled for answer in answers),
        generated=sum(answer.generated for answer in answers),
        forced=sum(answer.forced for answer in answers),
        rounds=len(answers),
        recoveries=sum(isinstance(step, CorrectionStep) for step in steps),
        segments=answers[-1].segments if answers else {},
        route_ms=sum(offer.route_ms for offer in offers),
        offer_ms=sum(offer.offer_ms for offer in offers),
        prefill_ms=sum(answer.prefill_ms for answer in answers),
        decode_ms=sum(answer.decode_ms for answer in answers),
        tools_ms=sum(result.elapsed_ms for result in results),
        first_text_ms=timings.first_text_ms,
        total_ms=timings.total_ms,
    )


def _said(steps: Sequence[Step], offered: Sequence[str]) -> tuple[str, str]:
    """Thought and message of the latest answer; a corrected answer's message isn't shown."""
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if isinstance(step, AnswerStep):
            answered = read_answer(step, offered).answered
            if answered is None:
                return "", ""
            corrected = number + 1 < len(steps) and isinstance(steps[number + 1], CorrectionStep)
            return answered.thought, "" if corrected else answered.message
    return "", ""
