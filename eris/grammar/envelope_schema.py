"""JSON Schema of a whole answer, for servers that know no grammars: the same envelope.

It says no more than such servers understand: plain objects, lists and alternatives. What it leaves
open, such as bounds that a server ignores, is validated afterwards like everything else.
"""

from collections.abc import Mapping, Sequence

from eris.grammar.envelope import DEFAULT_LIMITS, STATUSES, ToolSchema

_ANY_OBJECT: Mapping[str, object] = {"type": "object"}
_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
"""Keywords whose members are schemas by name: a member may be called `$ref` or `enum`."""
_DATA = frozenset({"enum", "const"})
"""Keywords whose value is no schema, whatever it looks like."""
_UNSAID = frozenset({"$schema", "$id", "$comment", "default", "examples", "title"})
"""Keywords that constrain nothing here."""
_ELSEWHERE = frozenset({"$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"})
_COMBINED = frozenset({"anyOf", "oneOf", "allOf", "$ref", "if", "unevaluatedProperties"})


class _NotMovable(Exception):  # noqa: N818 - never leaves this module
    """The schema refers to something in a way that doesn't survive being put elsewhere."""


def envelope_schema(
    tools: Sequence[ToolSchema],
    *,
    max_calls: int = DEFAULT_LIMITS.max_calls,
    thought_max: int = DEFAULT_LIMITS.thought_max,
    must_call: bool = False,
    must_say: bool = False,
) -> dict[str, object]:
    """Return the schema of an answer that may call these tools and no others.

    The counterpart of `envelope_grammar`, with the same arguments. A tool whose schema refers to
    itself by anchors takes any object instead.

    Raises:
        ValueError: A call is demanded without any tool or together with a message.
    """
    if must_call and (must_say or not tools):
        raise ValueError("must_call without any tool, or with must_say")
    ordered = sorted(tools, key=lambda tool: tool.name)
    definitions: dict[str, object] = {}
    calls = [_call(tool, f"args{number}", definitions) for number, tool in enumerate(ordered)]
    listed: dict[str, object] = {"type": "array", "items": {}, "maxItems": 0}
    if calls:
        listed["items"] = calls[0] if len(calls) == 1 else {"anyOf": calls}
        listed["maxItems"] = max_calls
    if must_call:
        listed["minItems"] = 1
    message: dict[str, object] = {"type": "null" if must_call else ["string", "null"]}
    if must_say:
        message = {"type": "string", "minLength": 1}
    envelope = _closed(
        {
            "thought": {"type": "string", "maxLength": thought_max},
            "status": {"type": "string", "enum": list(STATUSES)},
            "message_to_user": message,
            "tool_calls": listed,
        }
    )
    return {**envelope, "$defs": definitions} if definitions else envelope


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _call(tool: ToolSchema, key: str, definitions: dict[str, object]) -> dict[str, object]:
    try:
        arguments, referred = _moved(tool.schema, f"#/$defs/{key}")
    except _NotMovable:
        arguments, referred = _ANY_OBJECT, False
    if referred:
        definitions[key] = arguments
        arguments = {"$ref": f"#/$defs/{key}"}
    return _closed({"name": {"type": "string", "enum": [tool.name]}, "args": arguments})


def _moved(schema: object, place: str) -> tuple[Mapping[str, object], bool]:
    """Return a tool's schema as it must be to stand at ``place``, and whether it has to."""
    if not isinstance(schema, Mapping):
        return _ANY_OBJECT, False
    seen: list[str] = []
    moved = _copy(schema, place, seen)
    if not isinstance(moved, dict):
        raise _NotMovable
    moved.setdefault("type", "object")
    # Arguments that nobody declared are refused, as in the grammar.
    if "properties" in moved and not moved.keys() & _COMBINED:
        moved.setdefault("additionalProperties", False)
    return moved, bool(seen)


def _copy(node: object, place: str, seen: list[str]) -> object:
    if isinstance(node, list | tuple):
        return [_copy(item, place, seen) for item in node]
    if not isinstance(node, Mapping):
        return node
    if node.keys() & _ELSEWHERE:
        raise _NotMovable
    return {
        key: _member(key, value, place, seen) for key, value in node.items() if key not in _UNSAID
    }


def _member(key: str, value: object, place: str, seen: list[str]) -> object:
    if key == "$ref":
        if not isinstance(value, str) or not (value == "#" or value.startswith("#/")):
            raise _NotMovable
        seen.append(value)
        return place + value[1:]
    if key in _DATA:
        return value
    if key in _BY_NAME and isinstance(value, Mapping):
        return {name: _copy(member, place, seen) for name, member in value.items()}
    return _copy(value, place, seen)
