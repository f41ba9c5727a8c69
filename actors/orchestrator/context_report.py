"""Answers what fills a session's context, in exact token counts."""

import time

from actors.orchestrator.condensing import Condensing
from actors.orchestrator.prompt import ROOM_FOR_EXAMPLES, build_prompt
from actors.orchestrator.steps import AnswerStep
from actors.orchestrator.turn import Surroundings, reserved_tokens
from proto.inference import CountTokens, TokenCounts
from proto.orchestrator import ContextReport


def report_context(around: Surroundings, session: str, *, within: float) -> ContextReport:
    """Return the counts of the session's latest prompt; of an empty one before its first turn.

    Raises:
        RemoteError: `inference` doesn't answer within ``within`` seconds.
    """
    deadline = time.monotonic() + within
    facts = around.facts.describe(within)
    examples = facts.context_length >= ROOM_FOR_EXAMPLES
    segments = _latest_segments(around, session)
    if not segments:
        counts = around.port.ask(
            "inference",
            CountTokens(messages=build_prompt((), Condensing(), "", (), examples=examples)),
            TokenCounts,
            within=max(0.1, deadline - time.monotonic()),
            retry=True,
        )
        segments = counts.segments
    return ContextReport(
        session=session,
        context_length=facts.context_length,
        total=sum(segments.values()),
        segments=segments,
        reserved=reserved_tokens(around.port.settings.generation.max_tokens, facts.context_length),
        condensed_turns=around.journal.condensed(session),
    )


def _latest_segments(around: Surroundings, session: str) -> dict[str, int]:
    for record in reversed(around.journal.recent(session, 5)):
        for step in reversed(around.journal.steps(record.turn)):
            if isinstance(step, AnswerStep) and step.segments:
                return step.segments
    return {}
