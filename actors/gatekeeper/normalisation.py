"""What a small model writes as arguments, and what it meant, where that's beyond doubt.

Nothing here guesses: a value is changed only if the schema leaves a single reading. Whatever
stays wrong is left for validation to explain.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from actors.gatekeeper.schemas import shown
from eris.errors import InvalidError

MOST_ARGUMENT_BYTES = 256 * 1024

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DEEPEST = 32

Schema = Mapping[str, Any]


def normalise(raw: bytes, schema: Schema, aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments as an object in the schema's own names and types.

    Args:
        raw: JSON text as the model wrote it; may be empty.
        schema: JSON Schema of the arguments.
        aliases: Names that models invent, and the right one for each.

    Raises:
        InvalidError: It isn't JSON, isn't an object, is too large, or says one thing twice.
    """
    arguments = _as_object(_parse(raw), schema)
    return _object(_renamed(arguments, schema, aliases), schema, schema, 0)


def _parse(raw: bytes) -> object:
    if len(raw) > MOST_ARGUMENT_BYTES:
        raise InvalidError(
            f"the arguments have {len(raw)} bytes, more than {MOST_ARGUMENT_BYTES}",
            hint="Write less at once.",
        )
    if not raw.strip():
        return None
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidError(
            f"the arguments aren't valid JSON ({error})", hint='Write an object: {"name": "value"}.'
        ) from error


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} isn't a JSON number")


def _as_object(value: object, schema: Schema) -> dict[str, Any]:
    """Return the object that was meant: none, one inside a string, or the only value of one."""
    if isinstance(value, str):
        value = _mapping(value)
    if isinstance(value, dict):
        return value
    if value is None or value in ("", [], "null", "{}"):
        return {}
    properties = schema.get("properties", {})
    if len(properties) == 1 and not isinstance(value, list):
        return {next(iter(properties)): value}
    raise InvalidError(
        f"the arguments must be an object, not {shown(value)}",
        hint='Write them by name: {"name": "value"}.',
    )


def _renamed(
    arguments: Mapping[str, Any], schema: Schema, aliases: Mapping[str, str]
) -> dict[str, Any]:
    properties = schema.get("properties", {})
    spellings = {_plain(alias): target for alias, target in aliases.items()}
    spellings |= {_plain(name): name for name in properties}
    renamed: dict[str, Any] = {}
    written: dict[str, str] = {}
    for name, value in arguments.items():
        target = name if name in properties else spellings.get(_plain(name), name)
        if (
            target in renamed
            and renamed[target] is not None
            and value not in (None, renamed[target])
        ):
            raise InvalidError(
                f"{written[target]} and {name} both stand for {target} and differ",
                hint=f"Give {target} once.",
            )
        if target not in renamed or renamed[target] is None:
            renamed[target], written[target] = value, name
    return renamed


def _plain(name: str) -> str:
    """``relativePath``, ``relative-path`` and ``Relative Path`` are spellings of one name."""
    return _CAMEL.sub("_", name.strip()).casefold().replace("-", "_").replace(" ", "_")


def _object(value: Mapping[str, Any], schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    result = {}
    for name, item in value.items():
        own = properties.get(name)
        nullable = own is not None and name in required and "null" in types_of(own, root)
        if item is None and not nullable:
            # Null says that there is nothing: an optional field is left out, and a required one
            # is reported as missing.
            continue
        result[name] = item if own is None else _value(item, own, root, depth + 1)
    return result


def _value(value: object, schema: object, root: Schema, depth: int) -> object:
    resolved = resolve(schema, root)
    if depth > _DEEPEST or not isinstance(resolved, Mapping):
        return value
    types = types_of(resolved, root)
    resolved = _only_branch(resolved, root)
    value = _converted(value, types, resolved)
    if isinstance(value, dict) and "properties" in resolved:
        return _object(value, resolved, root, depth)
    if isinstance(value, list) and isinstance(resolved.get("items"), Mapping):
        return [_value(item, resolved["items"], root, depth + 1) for item in value]
    return value


def _only_branch(schema: Schema, root: Schema) -> Schema:
    """Return what a schema says of a value that isn't null, if it's one thing."""
    branches = [
        resolve(branch, root) for branch in schema.get("anyOf") or schema.get("oneOf") or ()
    ]
    others = [branch for branch in branches if types_of(branch, root) != {"null"}]
    return others[0] if len(others) == 1 and isinstance(others[0], Mapping) else schema


def _converted(value: object, types: frozenset[str], schema: Schema) -> object:
    if (
        not types
        or _type_of(value) in types
        or (_type_of(value) == "integer" and "number" in types)
    ):
        return _enumerated(value, schema)
    wanted = types - {"null"}
    if len(wanted) != 1 and wanted != {"integer", "number"}:
        return value
    kind = "number" if len(wanted) > 1 else next(iter(wanted))
    return _enumerated(_CONVERSIONS[kind](value), schema)


def _enumerated(value: object, schema: Schema) -> object:
    """Return the one member of an enumeration that differs in upper and lower case only."""
    members = schema.get("enum")
    if not members or value in members or not isinstance(value, str):
        return value
    said = _plain(value)
    close = [member for member in members if isinstance(member, str) and _plain(member) == said]
    return close[0] if len(close) == 1 else value


def _integer(value: object) -> object:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _number(value: object) -> object:
    whole = _integer(value)
    if whole is not value or not isinstance(value, str):
        return whole
    if _NUMBER.fullmatch(value.strip()) and math.isfinite(number := float(value)):
        return number
    return value


def _boolean(value: object) -> object:
    words = {"true": True, "false": False}
    return words.get(value.strip().casefold(), value) if isinstance(value, str) else value


def _string(value: object) -> object:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return value


def _array(value: object) -> object:
    if isinstance(value, str) and value.strip().startswith("["):
        parsed = _embedded(value)
        if isinstance(parsed, list):
            return parsed
    return value if value is None or isinstance(value, dict) else [value]


def _mapping(value: object) -> object:
    if isinstance(value, str) and value.strip().startswith("{"):
        parsed = _embedded(value)
        if isinstance(parsed, dict):
            return parsed
    return value


def _embedded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_CONVERSIONS: Mapping[str, Callable[[object], object]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _string,
    "array": _array,
    "object": _mapping,
}


_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _type_of(value: object) -> str:
    return _TYPES[type(value)]


def resolve(schema: object, root: Schema) -> object:
    """Follow local references; returns the schema itself where there is none."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        node: object = root
        for step in schema["$ref"].removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, Mapping) else None
        schema = node
    return schema


def types_of(schema: object, root: Schema) -> frozenset[str]:
    """Return the JSON types that a schema allows; empty if it doesn't say."""
    return _types_of(schema, root, {})


def _types_of(schema: object, root: Schema, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """Look at each part of a schema once: references may multiply, or lead in a circle."""
    resolved = resolve(schema, root)
    if id(resolved) not in known:
        known[id(resolved)] = frozenset()
        known[id(resolved)] = _own_types(resolved, root, known)
    return known[id(resolved)]


def _own_types(resolved: object, root: Schema, known: dict[int, frozenset[str]]) -> frozenset[str]:
    if not isinstance(resolved, Mapping):
        return frozenset()
    if "type" in resolved:
        kinds = resolved["type"]
        return frozenset([kinds] if isinstance(kinds, str) else kinds)
    if "enum" in resolved:
        return frozenset(_type_of(member) for member in resolved["enum"])
    if "const" in resolved:
        return frozenset({_type_of(resolved["const"])})
    branches = resolved.get("anyOf") or resolved.get("oneOf") or ()
    kinds_of_branches = [_types_of(branch, root, known) for branch in branches]
    return frozenset().union(*kinds_of_branches) if all(kinds_of_branches) else frozenset()
