"""Whether a value can fit two schemas: at a glance where that is enough, by compiling otherwise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eris.grammar.effort import spend
from eris.grammar.place import Branch, Leaf, Place

if TYPE_CHECKING:
    from eris.grammar.document import Document

_KINDS = frozenset({"object", "array", "string", "fraction", "integer", "boolean", "null"})
_CHOICES = frozenset({
    "allOf", "anyOf", "oneOf", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef",
    "dependentRequired", "dependentSchemas", "dependencies",
})  # fmt: skip
_DEEPEST = 3
_MOST_LEAVES = 60
_MOST_COMPARED = 80


class Overlap:
    """Compares the options of one `oneOf`.

    Args:
        document: Where they stand.
        leaf: The schema with the `oneOf`.
        context: All schemas that hold beside the options.
    """

    def __init__(self, document: "Document", leaf: Leaf, context: Branch) -> None:
        self._document = document
        self._leaf = leaf
        self._context = tuple(map(_bare, context))

    def rivals(self, options: tuple[Place, ...]) -> list[list[int]]:
        """Give for each option the numbers of those that may hold at the same time."""
        spend(2 * len(options) ** 2)
        found: list[list[int]] = [[] for _ in options]
        if len(options) > _MOST_COMPARED:
            everything = range(len(options))
            return [[other for other in everything if other != one] for one in everything]
        sketches = [_sketch(self._document, (*self._context, option)) for option in options]
        for one in range(len(options)):
            for other in range(one + 1, len(options)):
                if _apart(self._document, sketches[one], sketches[other]):
                    continue
                if self._compiled(options[one], options[other]):
                    found[one].append(other)
                    found[other].append(one)
        return found

    def _compiled(self, one: Place, other: Place) -> bool:
        overlaps = self._document.overlaps
        return overlaps is None or overlaps((*self._context, one, other))


def _bare(leaf: Leaf) -> Place:
    """Give a schema without the keywords that lead to others, which stand beside it already."""
    schema = {key: part for key, part in leaf.schema.items() if key not in _CHOICES}
    return Place(f"{leaf.pointer}/~bare", schema, made=True)


@dataclass(slots=True)
class _Sketch:
    """What is plain to see about the values that fit: never less than what fits.

    Attributes:
        kinds: Their types.
        values: Their texts, where they are listed.
        required: Names that objects have.
        members: The schemas of properties by name.
        closed: Names that objects may have; None if there may be any.
    """

    kinds: frozenset[str] = _KINDS
    values: frozenset[str] | None = None
    required: set[str] = field(default_factory=set)
    members: dict[str, list[Place]] = field(default_factory=dict)
    closed: frozenset[str] | None = None


def _sketch(document: "Document", places: Iterable[Place]) -> _Sketch:
    sketch = _Sketch()
    todo = list(places)
    seen: set[str] = set()
    while todo and len(seen) < _MOST_LEAVES:
        place = todo.pop()
        schema = place.schema
        if schema is False:
            sketch.kinds = frozenset()
        if place.pointer in seen or not isinstance(schema, Mapping):
            continue
        seen.add(place.pointer)
        target = document.target(place, "$ref")
        if target is not None:
            todo.append(target)
            if document.ref_stands_alone:
                continue
        parts = schema.get("allOf")
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            todo.append(place.child("allOf", index, schema=part))
        _add(sketch, place, schema)
    return sketch


def _add(sketch: _Sketch, place: Place, schema: Mapping[str, object]) -> None:
    types = schema.get("type")
    names = [types] if isinstance(types, str) else types
    if isinstance(names, list) and schema.get("nullable") is not True:
        kinds = frozenset(str(name) for name in names)
        kinds |= {"integer", "fraction"} if "number" in kinds else set()
        if kinds <= _KINDS | {"number"}:
            sketch.kinds &= kinds
    listed = _values(schema)
    if listed is not None:
        sketch.values = listed if sketch.values is None else sketch.values & listed
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list):
        sketch.required.update(name for name in required if isinstance(name, str))
    declared = properties if isinstance(properties, Mapping) else {}
    for name, part in declared.items():
        sketch.members.setdefault(name, []).append(place.child("properties", name, schema=part))
    if schema.get("additionalProperties") is False and not schema.get("patternProperties"):
        allowed = frozenset(declared)
        sketch.closed = allowed if sketch.closed is None else sketch.closed & allowed


def _apart(document: "Document", one: _Sketch, other: _Sketch, depth: int = 0) -> bool:
    kinds = one.kinds & other.kinds
    if not kinds:
        return True
    if one.values is not None and other.values is not None and not one.values & other.values:
        return True
    if kinds != {"object"} or depth >= _DEEPEST:
        return False
    required = one.required | other.required
    for closed in (one.closed, other.closed):
        if closed is not None and not required <= closed:
            return True
    for name in required & one.members.keys() & other.members.keys():
        inner = _sketch(document, one.members[name]), _sketch(document, other.members[name])
        if _apart(document, *inner, depth + 1):
            return True
    return False


def _values(schema: Mapping[str, object]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({_same(schema["const"])})
    listed = schema.get("enum")
    return frozenset(map(_same, listed)) if isinstance(listed, list) else None


def _same(value: object) -> str:
    """Write a value so that equal JSON gives equal text."""
    match value:
        case bool():
            return repr(value)
        case float() if value.is_integer():
            return repr(int(value))
        case Mapping():
            return repr(sorted((key, _same(part)) for key, part in value.items()))
        case list():
            return repr([_same(part) for part in value])
        case _:
            return repr(value)
