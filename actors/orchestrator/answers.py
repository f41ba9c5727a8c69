"""Reads and writes the model's answers, in the turn's own terms; pure.

The envelope itself, its form and its grammar, is `eris.envelope`'s; this module only says what an
answer means for a turn, and which class of failure one is that can't be read.
"""

import json
from collections.abc import Collection

import msgspec

from actors.orchestrator.steps import AnswerStep, Fault
from eris.envelope import (
    Envelope,
    EnvelopeError,
    EnvelopeStream,
    MessageDelta,
    ThoughtDelta,
    ToolCall,
    parse_envelope,
    render_envelope,
)
from eris.grammar import DEFAULT_FORM, FORMS, Form

_FORCED_STARTS = tuple(
    render_envelope(Envelope(), form).partition('""')[0] + '"' for form in FORMS.values()
)


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that could be read."""

    thought: str = ""
    message: str = ""
    """For the user; empty if there is none."""
    calls: tuple[ToolCall, ...] = ()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What became of reading an answer: one of the two is set."""

    answered: Answered | None = None
    fault: Fault | None = None


def read_answer(step: AnswerStep, tools: Collection[str]) -> Reading:
    """Read an answer; ``tools`` are known names, for a call that stands alone."""
    if not step.text.strip():
        return Reading(fault=Fault.TRUNCATED if step.cut else Fault.EMPTY)
    try:
        envelope = parse_envelope(step.text, tools=tools)
    except EnvelopeError:
        return Reading(fault=Fault.TRUNCATED if step.cut else Fault.SCHEMA)
    return Reading(
        answered=Answered(
            thought=envelope.thought,
            message=(envelope.message_to_user or "").strip(),
            calls=envelope.tool_calls,
        )
    )


def written_answer(step: AnswerStep, answered: Answered, form: Form = DEFAULT_FORM) -> str:
    """Return an answer as the next prompt shows it: as it was written, if the form is right.

    Then its tokens are those that the model produced, and their KV state is reused.
    """
    if step.text.startswith(_FORCED_STARTS) and step.text.endswith("}"):
        return step.text
    return write_answer(answered, form)


def write_answer(answered: Answered, form: Form = DEFAULT_FORM) -> str:
    """Write an answer in exactly the form that the grammar forces."""
    return render_envelope(
        Envelope(
            thought=answered.thought,
            message_to_user=answered.message or None,
            tool_calls=answered.calls,
        ),
        form,
    )


def arguments_text(call: ToolCall) -> str:
    """Return the arguments of a call as JSON text."""
    return json.dumps(call.args, ensure_ascii=False)


class AnswerStream:
    """Reads along while an answer is being written, for showing it."""

    def __init__(self) -> None:
        self._stream = EnvelopeStream()

    def feed(self, text: str) -> tuple[str, str]:
        """Take more text; returns what it adds to the thought and to the message."""
        thought, message = "", ""
        for event in self._stream.feed(text):
            match event:
                case ThoughtDelta():
                    thought += event.text
                case MessageDelta():
                    message += event.text
                case _:
                    pass
        return thought, message
