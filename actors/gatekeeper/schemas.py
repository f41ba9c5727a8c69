"""Checking against JSON Schema, with errors in words that help to do it right."""

import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from eris.errors import InvalidError

MOST_SCHEMA_BYTES = 64 * 1024
_VALIDATORS_KEPT = 256
_MOST_PROBLEMS = 3
_LONGEST_VALUE = 60
_MOST_ALTERNATIVES = 8

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
}
_SIZES = {
    "minLength": ("at least", "characters"),
    "maxLength": ("at most", "characters"),
    "minItems": ("at least", "items"),
    "maxItems": ("at most", "items"),
}


def parse_schema(tool: str, text: bytes) -> dict[str, Any]:
    """Return a tool's schema as Python values, checked.

    Raises:
        InvalidError: It isn't a JSON Schema of an object, is too large, or refers to other files.
    """
    hint = "Correct the declaration of the tool."
    if len(text) > MOST_SCHEMA_BYTES:
        raise InvalidError(
            f"The schema of {tool} has {len(text)} bytes, more than {MOST_SCHEMA_BYTES}.", hint=hint
        )
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise InvalidError(f"The schema of {tool} isn't JSON: {error}.", hint=hint) from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise InvalidError(f'The schema of {tool} must have "type": "object".', hint=hint)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InvalidError(
            f"The schema of {tool} isn't valid at {error.json_path}: {error.message}.", hint=hint
        ) from error
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise InvalidError(
                f"The schema of {tool} refers to {reference!r}, which isn't in it.", hint=hint
            )
    return schema


def _references(node: object) -> Iterable[str]:
    if isinstance(node, Mapping):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


class Validators:
    """Compiled validators by the digest of their schema, the most recently used ones kept."""

    def __init__(self, size: int = _VALIDATORS_KEPT) -> None:
        self._size = size
        self._kept: OrderedDict[str, Draft202012Validator] = OrderedDict()

    def problems(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with some arguments, the gravest first; empty if nothing is."""
        found = self._validator(schema).iter_errors(arguments)
        errors = [leaf for error in found for leaf in _leaves(error)]
        # An unknown name and a missing one are often the same mistake: name both.
        errors.sort(key=lambda error: (len(error.absolute_path), _place(error), error.validator))
        return list(dict.fromkeys(describe(error) for error in errors))[:_MOST_PROBLEMS]

    def _validator(self, schema: Mapping[str, Any]) -> Draft202012Validator:
        digest = hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()
        # Two threads may compile the same one; the later simply replaces the earlier.
        validator = self._kept.get(digest)
        if validator is None:
            validator = self._kept[digest] = Draft202012Validator(schema)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return validator


def _leaves(error: ValidationError) -> Iterable[ValidationError]:
    """Return what is wrong inside the one alternative that the value is of the type of."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    fitting = [
        inner
        for inner in branches.values()
        if not any(one.validator == "type" and one.path == deque() for one in inner)
    ]
    if len(fitting) != 1:
        return (error,)
    return (leaf for inner in fitting[0] for leaf in _leaves(inner))


def describe(error: ValidationError) -> str:
    """Return a validation error as a clause that names the field and what was expected."""
    keyword = str(error.validator)
    wanted: Any = error.validator_value
    got: Any = error.instance
    place = _place(error) or "the arguments"
    if keyword in _BOUNDS:
        return f"{place} must be {_BOUNDS[keyword]} {wanted}, not {shown(got)}"
    if keyword in _SIZES:
        bound, unit = _SIZES[keyword]
        return f"{place} must have {bound} {wanted} {unit}, not {len(got)}"
    if keyword in _EXPECTED:
        return f"{place} must be {_EXPECTED[keyword](wanted)}, not {shown(got)}"
    if keyword == "required":
        missing = [_within(error, name) for name in wanted if name not in got]
        return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if keyword == "additionalProperties" and wanted is False:
        return _unknown(error)
    return f"{place}: {error.message[: 2 * _LONGEST_VALUE]}"


def shown(value: object) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that looks most like ``name``, or an empty string."""
    return next(iter(get_close_matches(name.casefold(), list(names), n=1, cutoff=0.6)), "")


def _unknown(error: ValidationError) -> str:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known = list(schema.get("properties", {}))
    parts = []
    given: Any = error.instance
    for name in given:
        if name not in known:
            near = nearest(name, known)
            parts.append(f"{_within(error, name)}" + (f" (did you mean {near}?)" if near else ""))
    allowed = f"it takes {', '.join(known)}" if known else "it takes no arguments"
    return f"unknown argument {', '.join(parts)}: {allowed}"


def _place(error: ValidationError) -> str:
    text = ""
    for step in error.absolute_path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _within(error: ValidationError, name: str) -> str:
    place = _place(error)
    return f"{place}.{name}" if place else name


def _type_names(wanted: str | list[str]) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    return " or ".join(_TYPES.get(name, name) for name in names)


def _alternatives(values: list[object]) -> str:
    more = " …" if len(values) > _MOST_ALTERNATIVES else ""
    return " or ".join(shown(value) for value in values[:_MOST_ALTERNATIVES]) + more


def _branches(branches: list[Mapping[str, Any]]) -> str:
    kinds = [branch["type"] for branch in branches if isinstance(branch.get("type"), str)]
    return _type_names(kinds) if kinds else "of another form"


_EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": _type_names,
    "enum": _alternatives,
    "const": shown,
    "anyOf": _branches,
    "oneOf": _branches,
}
