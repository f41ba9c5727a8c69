"""Reads and writes the model's answers, in the turn's own terms; pure.

The envelope itself, its form and its grammar, is `eris.envelope`'s; this module only says what an
answer means for a turn, and which class of failure one is that can't be read.
"""

import json

import msgspec

from actors.orchestrator.steps import Fault


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that the model asks for."""

    name: str
    arguments: str
    """JSON text as the model wrote it; whether it makes sense is the gatekeeper's to say."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that could be read."""

    thought: str
    message: str = ""
    """For the user; empty if there is none."""
    calls: tuple[Called, ...] = ()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What became of reading an answer: one of the two is set."""

    answered: Answered | None = None
    fault: Fault | None = None


class _Call(msgspec.Struct, kw_only=True):
    name: str
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Envelope(msgspec.Struct, kw_only=True):
    thought: str
    status: str
    message_to_user: str | None
    tool_calls: list[_Call]


def read_answer(text: str, *, cut: bool) -> Reading:
    """Read an answer; ``cut`` says that the token limit ended it."""
    try:
        envelope = msgspec.json.decode(text, type=_Envelope)
    except (msgspec.DecodeError, UnicodeError):
        return Reading(fault=Fault.TRUNCATED if cut else Fault.SCHEMA)
    return Reading(
        answered=Answered(
            thought=envelope.thought,
            message=envelope.message_to_user or "",
            calls=tuple(
                Called(name=call.name, arguments=bytes(call.args).decode())
                for call in envelope.tool_calls
            ),
        )
    )


def write_answer(answered: Answered) -> str:
    """Write an answer in exactly the form that the grammar forces."""
    return json.dumps(
        {
            "thought": answered.thought,
            "status": "Task",
            "message_to_user": answered.message or None,
            "tool_calls": [
                {"name": call.name, "args": json.loads(call.arguments)} for call in answered.calls
            ],
        },
        ensure_ascii=False,
    )
