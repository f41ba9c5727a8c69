"""The answer of the model: what it thinks, says and wants done, as one JSON object.

`parse_envelope` reads finished text and is lenient where nothing can be misunderstood;
`EnvelopeStream` (from `eris.envelope_stream`) reads along while the text is being written;
`render_envelope` writes exactly what the grammar of `eris.grammar.envelope_grammar` accepts.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Literal, cast

import msgspec

from eris.envelope_stream import (
    CALLS_KEYS,
    ENVELOPE_KEYS,
    MESSAGE_KEYS,
    NAME_KEYS,
    REPLACEMENT,
    STATUS_KEYS,
    THINK_CLOSE,
    THINK_OPEN,
    THOUGHT_KEYS,
    EnvelopeEvent,
    EnvelopeStream,
    MessageDelta,
    PartialEnvelope,
    StatusKnown,
    ThoughtDelta,
    ToolCallStarted,
    as_status,
)
from eris.errors import InvalidError
from eris.grammar.json_text import DEFAULT_FORM, Form, dump

__all__ = [
    "Envelope",
    "EnvelopeError",
    "EnvelopeEvent",
    "EnvelopeInvalid",
    "EnvelopeStream",
    "EnvelopeTruncated",
    "MessageDelta",
    "PartialEnvelope",
    "Status",
    "StatusKnown",
    "ThoughtDelta",
    "ToolCall",
    "ToolCallStarted",
    "parse_envelope",
    "render_envelope",
]

Status = Literal["Task", "Reflect", "Idle", "Process"]

_ARGS_KEYS = ("args", "arguments", "parameters", "input")
_MOST_STARTS = 32
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEGUN_VALUE = re.compile(r"\s*(-|-?\d[\d.eE+-]*|t|tr|tru|f|fa|fal|fals|n|nu|nul)?\Z")
_LONGEST_ESCAPE = 6
_EXCERPT = 60


class ToolCall(msgspec.Struct, frozen=True):
    """A call that the model asks for.

    Attributes:
        name: Full name of the tool, such as `vault:read`.
        args: Its arguments by name, not validated yet.
    """

    name: str
    args: dict[str, object] = {}


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of the model.

    Attributes:
        thought: Private reasoning, shown only on request.
        status: What the model believes it's doing. It never decides what is allowed.
        message_to_user: What the user is to read; None for nothing.
        tool_calls: What is to be done, in order.
    """

    thought: str = ""
    status: Status = "Task"
    message_to_user: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class EnvelopeError(InvalidError):
    """Text that is no envelope.

    Attributes:
        position: Index of the character at fault, counted in the text that was given.
    """

    def __init__(self, message: str, position: int, *, hint: str) -> None:
        super().__init__(message, hint=hint, details={"position": position})
        self.position = position


class EnvelopeTruncated(EnvelopeError):  # noqa: N818 - it says what happened
    """The text is the beginning of an envelope and stops too early (or is empty)."""


class EnvelopeInvalid(EnvelopeError):  # noqa: N818 - as above
    """The text isn't an envelope and can't become one by going on."""


def parse_envelope(text: str, *, tools: Collection[str] = (), reasoning: bool = False) -> Envelope:
    """Read an envelope from the whole text of an answer.

    Read around: `<think>` blocks, prose, and Markdown fences. Accepted within: aliases of keys,
    a missing or misspelt status, a single call in place of a list, `""` or null for no
    arguments, arguments as JSON text. A lone tool call counts only if its name is known.

    Args:
        text: What the model wrote.
        tools: Names of known tools, for answers that consist of calls only.
        reasoning: Whether the text begins inside of a `<think>` block that the prompt opened.

    Raises:
        EnvelopeTruncated: The text is empty, all reasoning, or ends in the middle.
        EnvelopeInvalid: There is no envelope in it.
    """
    start = _after_reasoning(text, reasoning=reasoning)
    if not text[start:].strip():
        raise EnvelopeTruncated(
            "the model's answer is empty", start, hint="ask the model once more"
        )
    value, position = _first_value(text, start, tools)
    try:
        return _envelope(value, position, tools)
    except RecursionError as error:
        raise _invalid("it nests too deeply", position) from error


def render_envelope(envelope: Envelope, form: Form = DEFAULT_FORM) -> str:
    """Write an envelope exactly as the grammar does: for the history, and for examples.

    Raises:
        ValueError: A text holds a lone surrogate, or an argument NaN or an infinity.
    """
    return dump(
        {
            "thought": envelope.thought,
            "status": envelope.status,
            "message_to_user": envelope.message_to_user,
            "tool_calls": [{"name": call.name, "args": call.args} for call in envelope.tool_calls],
        },
        form,
    )


def _invalid(reason: str, position: int) -> EnvelopeInvalid:
    return EnvelopeInvalid(
        f"the model's answer is no envelope: {reason} (at character {position})",
        position,
        hint="show the model the form once more and let it try again",
    )


def _truncated(position: int) -> EnvelopeTruncated:
    return EnvelopeTruncated(
        f"the model's answer stops in the middle (at character {position})",
        position,
        hint="leave more room for the answer, or ask for a shorter one",
    )


def _after_reasoning(text: str, *, reasoning: bool) -> int:
    """Give the position behind `<think>` blocks; an unclosed one takes all the rest."""
    position = 0
    inside = reasoning
    while True:
        opening = text.find(THINK_OPEN, position)
        brace = text.find("{", position)
        if not inside and opening >= 0 and (brace < 0 or opening < brace):
            inside = True
            position = opening + len(THINK_OPEN)
        if not inside:
            break
        end = text.find(THINK_CLOSE, position)
        if end < 0:
            return len(text)
        position = end + len(THINK_CLOSE)
        inside = False
    # The template may have opened the block without our knowing: only its end is in the text.
    head = text[position:].lstrip()
    if head and head[0] not in "{[`" and THINK_CLOSE in head:
        closing = text.index(THINK_CLOSE, position)
        quoted = text.rfind('"thought"', position, closing)
        if quoted < 0:
            position = closing + len(THINK_CLOSE)
    return position


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
_START = re.compile(r"[{\[]")


def _first_value(text: str, start: int, tools: Collection[str]) -> tuple[object, int]:
    """Find the first JSON object (or list of calls) that looks like an answer."""
    failure: EnvelopeError | None = None
    found: tuple[object, int] | None = None
    position = start
    for _ in range(_MOST_STARTS):
        match = _START.search(text, position)
        if match is None:
            break
        position = match.start()
        try:
            value, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            problem = _judge(text, error)
            if isinstance(problem, EnvelopeTruncated) and text[position] == "[":
                problem = _invalid("a list in the text isn't closed", position)
            failure = failure or problem
            if isinstance(problem, EnvelopeTruncated):
                failure = problem
                break
            position += 1
            continue
        except (ValueError, RecursionError) as error:
            failure = failure or _invalid(str(error), position)
            position += 1
            continue
        if _looks_right(value, tools):
            return value, position
        found = found or (value, position)
        position = end
    if failure is not None:
        raise failure
    if found is not None and isinstance(found[0], Mapping):
        return found
    excerpt = text[start:].strip()[:_EXCERPT]
    raise _invalid(f"there is no JSON object in {excerpt!r}", start)


def _judge(text: str, error: json.JSONDecodeError) -> EnvelopeError:
    """Tell text that stops too early from text that is wrong."""
    unterminated = error.msg.startswith("Unterminated string")
    in_escape = "escape" in error.msg and len(text) - error.pos <= _LONGEST_ESCAPE
    if unterminated or in_escape or _BEGUN_VALUE.match(text, error.pos):
        return _truncated(len(text))
    return _invalid(error.msg, error.pos)


def _looks_right(value: object, tools: Collection[str]) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_bare_call(item, tools) is not None for item in value)
    return isinstance(value, Mapping) and (
        bool(value.keys() & ENVELOPE_KEYS) or _bare_call(value, tools) is not None
    )


def _bare_call(value: object, tools: Collection[str]) -> ToolCall | None:
    """Read an object that is a call of a known tool and nothing else."""
    if not isinstance(value, Mapping) or value.keys() & ENVELOPE_KEYS:
        return None
    try:
        call = _call(value, 0)
    except EnvelopeInvalid:
        return None
    return call if call.name in tools else None


def _envelope(value: object, position: int, tools: Collection[str]) -> Envelope:
    bare = value if isinstance(value, list) else [value]
    calls = [_bare_call(item, tools) for item in bare]
    known = tuple(call for call in calls if call is not None)
    if known and len(known) == len(calls):
        return Envelope(status="Task", tool_calls=known)
    if not isinstance(value, Mapping):
        raise _invalid("it is a list", position)
    if not value.keys() & ENVELOPE_KEYS:
        keys = ", ".join(sorted(map(str, value)))[:_EXCERPT]
        raise _invalid(f"the object has none of its keys ({keys or 'it is empty'})", position)
    thought = _text(value, THOUGHT_KEYS, position) or ""
    message = _text(value, MESSAGE_KEYS, position)
    listed = _of(value, CALLS_KEYS)
    if isinstance(listed, Mapping):
        listed = [listed]
    if listed is None or listed == "":
        listed = []
    if not isinstance(listed, list):
        raise _invalid("tool_calls isn't a list", position)
    tool_calls = tuple(_call(item, position) for item in listed)
    return Envelope(
        thought=thought,
        status=_status(_of(value, STATUS_KEYS), message, tool_calls),
        message_to_user=message,
        tool_calls=tool_calls,
    )


def _status(value: object, message: str | None, calls: tuple[ToolCall, ...]) -> Status:
    """Read the status; where there is none, say what the rest of the envelope amounts to."""
    known = as_status(value) if isinstance(value, str) else None
    if known is not None:
        return cast("Status", known)
    if calls:
        return "Reflect"
    return "Idle" if message and message.strip() else "Task"


def _of(value: Mapping[str, object], keys: Collection[str]) -> object:
    return next((value[key] for key in value if key in keys), None)


def _text(value: Mapping[str, object], keys: Collection[str], position: int) -> str | None:
    found = _of(value, keys)
    if found is None:
        return None
    if not isinstance(found, str):
        name = next(key for key in value if key in keys)
        raise _invalid(f"{name} isn't text", position)
    return _whole(found)


def _whole(text: str) -> str:
    """Replace lone surrogates, which can't be stored or sent."""
    return _SURROGATE.sub(REPLACEMENT, text)


def _call(value: object, position: int) -> ToolCall:
    if not isinstance(value, Mapping):
        raise _invalid("a tool call isn't an object", position)
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    name = _of(value, NAME_KEYS)
    if not isinstance(name, str) or not name.strip():
        raise _invalid("a tool call has no name", position)
    arguments = next((value[key] for key in _ARGS_KEYS if key in value), None)
    return ToolCall(name=_whole(name), args=_arguments(name, arguments, position))


def _arguments(name: str, value: object, position: int) -> dict[str, object]:
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value, strict=False, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"the arguments of {name!r} aren't JSON ({error})", position) from error
    if value is None or (isinstance(value, str) and not value.strip()) or value == []:
        return {}
    if not isinstance(value, Mapping):
        raise _invalid(f"the arguments of {name!r} aren't an object", position)
    return {_whole(key): _deep_whole(item) for key, item in value.items()}


def _deep_whole(value: object) -> object:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, Mapping):
        return {_whole(key): _deep_whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_deep_whole(item) for item in value]
    return value
