"""Takes the names of dialects out of a schema before `jsonschema` sees its parts.

At every part that names one (`$schema`), `jsonschema` changes to its own validator of that draft,
and so forgets the keywords that were replaced to keep a check bounded.
"""

from collections.abc import Mapping

_DATA = frozenset({"enum", "const", "default", "examples"})
_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords that hold schemas by names of any kind."""
_NAMES = frozenset({"$id", "$anchor", "$dynamicAnchor"})
"""Keywords that name a part; `jsonschema` breaks on one that isn't a text."""


def without_dialects(schema: object) -> object:
    """Return a schema without `$schema` and broken names, at any depth; properties stay.

    Raises:
        RecursionError: It nests too deeply.
    """
    if isinstance(schema, list):
        return [without_dialects(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: _part(key, part)
        for key, part in schema.items()
        if key != "$schema" and (key not in _NAMES or isinstance(part, str))
    }


def _part(key: str, part: object) -> object:
    if key in _DATA:
        return part
    if key in _BY_NAME and isinstance(part, Mapping):
        return {name: without_dialects(one) for name, one in part.items()}
    return without_dialects(part)
