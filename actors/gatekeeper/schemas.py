"""Checking against JSON Schema, with errors in words that help to do it right."""

import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from actors.gatekeeper.bounded import (
    NotCheckable,
    errors_of,
    parts_of,
    usable_pattern,
    validator_of,
)
from eris.errors import InvalidError

MOST_SCHEMA_BYTES = 64 * 1024
_VALIDATORS_KEPT = 256
_MOST_PROBLEMS = 3
_MOST_TOLD = 4 * _MOST_PROBLEMS
_LONGEST_VALUE = 60
_MOST_ALTERNATIVES = 8
_MOST_NAMES = 20
_LONGEST_PROBLEM = 400

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
        schema = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(schema, ensure_ascii=False).encode()  # a lone surrogate can't be sent on
    except RecursionError as error:
        raise InvalidError(f"The schema of {tool} nests too deeply.", hint=hint) from error
    except ValueError as error:
        raise InvalidError(f"The schema of {tool} isn't JSON: {error}.", hint=hint) from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise InvalidError(f'The schema of {tool} must have "type": "object".', hint=hint)
    try:
        # Without formats: Python's `re` is no judge of the patterns of ECMA 262.
        kind: Any = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema, format_checker=FormatChecker(formats=()))
        # A schema that refers to itself without end shows it with any value.
        errors_of(validator_of(schema), {})
    except SchemaError as error:
        place = f"{error.json_path}: {error.message[:_LONGEST_PROBLEM]}"
        raise InvalidError(f"The schema of {tool} isn't valid at {place}.", hint=hint) from error
    except (NotCheckable, RecursionError) as error:
        reason = str(error) if isinstance(error, NotCheckable) else "it nests too deeply"
        raise InvalidError(
            f"The schema of {tool} can't be checked against: {reason}.", hint=hint
        ) from error
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise InvalidError(
                f"The schema of {tool} refers to {reference!r}, which isn't in it.", hint=hint
            )
    return schema


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _references(schema: object) -> Iterable[str]:
    for part in parts_of(schema):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(part.get(keyword), str):
                yield part[keyword]


def unusable_patterns(schema: object) -> list[str]:
    """Return the patterns of a schema that can't be run, and so aren't checked."""
    found: dict[str, None] = {}
    for part in parts_of(schema):
        keys = part.get("patternProperties")
        sources = [part.get("pattern"), *(keys if isinstance(keys, Mapping) else ())]
        for source in sources:
            if isinstance(source, str) and usable_pattern(source) is None:
                found[source] = None
    return list(found)


class Validators:
    """Compiled validators by the digest of their schema, the most recently used ones kept."""

    def __init__(self, size: int = _VALIDATORS_KEPT) -> None:
        self._size = size
        self._kept: OrderedDict[str, Validator] = OrderedDict()

    def problems(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with some arguments, the gravest first; empty if nothing is."""
        try:
            found = errors_of(self._validator(schema), arguments)
        except NotCheckable as error:
            return [f"these arguments can't be checked against its schema: {error}"]
        errors = [leaf for error in found for leaf in _leaves(error)]
        # An unknown name and a missing one are often the same mistake: name both.
        errors.sort(key=lambda error: (len(error.absolute_path), _place(error), error.validator))
        found_first = {_subject(error): error for error in reversed(errors)}
        told = dict.fromkeys(map(describe, islice(reversed(found_first.values()), _MOST_TOLD)))
        return list(told)[:_MOST_PROBLEMS]

    def _validator(self, schema: Mapping[str, Any]) -> Validator:
        digest = hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()
        # Two threads may compile the same one; the later simply replaces the earlier.
        validator = self._kept.get(digest)
        if validator is None:
            validator = self._kept[digest] = validator_of(schema)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return validator


def _subject(error: ValidationError) -> object:
    """Return what an error is about: what is missing at one place is one matter."""
    at_once = error.validator in ("required", "additionalProperties")
    return (_place(error), error.validator) if at_once else id(error)


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
    return shortened(_described(error), _LONGEST_PROBLEM)


def shortened(text: str, length: int) -> str:
    """Return a text cut to some characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _described(error: ValidationError) -> str:
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
        return f"{_named(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if keyword == "additionalProperties" and wanted is False and not _has_patterns(error):
        return _unknown(error)
    return f"{place}: {error.message[: 2 * _LONGEST_VALUE]}"


def shown(value: object) -> str:
    """Return a value as JSON, shortened."""
    return shortened(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)


def _named(names: list[str]) -> str:
    more = " …" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the name that looks most like ``name``, or an empty string."""
    return next(
        iter(get_close_matches(name.casefold()[:_LONGEST_VALUE], list(names), n=1, cutoff=0.6)), ""
    )


def _has_patterns(error: ValidationError) -> bool:
    return isinstance(error.schema, Mapping) and "patternProperties" in error.schema


def _unknown(error: ValidationError) -> str:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known = list(schema.get("properties", {}))
    parts = []
    given: Any = error.instance
    for name in [name for name in given if name not in known][:_MOST_NAMES]:
        near = nearest(name, known)
        parts.append(f"{_within(error, name)}" + (f" (did you mean {near}?)" if near else ""))
    allowed = f"it takes {_named(known)}" if known else "it takes no arguments"
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
