"""What refuses a schema: its negation as alternatives, pushed down to single keywords.

A value doesn't fit a schema if it breaks at least one of its keywords, so each keyword that can be
broken gives alternatives, which are schemas themselves. `not` stays only around one keyword at a
time (`primitive`), where the handlers of the types know what to do. An alternative may be wider
than it should be, never narrower; then the report says so.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eris.grammar.place import Place

if TYPE_CHECKING:
    from eris.grammar.document import Document

Schema = Mapping[str, object]

_MOST_PAIRS = 28
_DEEPEST = 12
_PRIMITIVE = {
    "pattern": ("string",),
    "format": ("string",),
    "multipleOf": ("number", "integer"),
}


def primitive(schema: Schema) -> tuple[str, object] | None:
    """Give the keyword and its value if a schema's `not` refuses just one that a handler knows.

    `type`, `enum` and `const` may be refused anywhere; the others only beside the type that they
    speak about, since they hold for all other types.
    """
    inner = schema.get("not")
    if not isinstance(inner, Mapping) or len(inner) != 1:
        return None
    ((keyword, value),) = inner.items()
    if keyword == "enum" and not isinstance(value, list):
        return None
    if keyword in ("type", "enum", "const") or schema.get("type") in _PRIMITIVE.get(keyword, ()):
        return keyword, value
    return None


def negated(place: Place) -> Place:
    """Give the place of everything that doesn't fit a schema."""
    return Place(f"{place.pointer}/~not", {"not": place}, made=True)


def refusals(document: "Document", place: Place) -> list[Place]:
    """Give alternatives; what doesn't fit the schema fits at least one of them, and vice versa."""
    return [
        Place(f"{place.pointer}/~not/{number}", schema, made=True)
        for number, schema in enumerate(_alternatives(document, place))
    ]


def weight(document: "Document", place: Place, depth: int = 0) -> float:
    """Estimate into how many branches the negation of a schema comes apart."""
    schema = place.schema
    if not isinstance(schema, Mapping):
        return 1
    if depth > _DEEPEST:
        return math.inf
    total = 0.0
    for keyword, value in schema.items():
        if keyword == "$ref":
            target = document.target(place, keyword)
            total += 1 if target is None else weight(document, target, depth + 1)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            weights = [weight(document, part, depth + 1) for part in _parts(place, keyword)]
            total += sum(weights) if keyword == "allOf" else math.prod(weights)
            total += len(weights) ** 2 if keyword == "oneOf" else 0
        elif keyword in ("required", "properties") and isinstance(value, list | Mapping):
            total += len(value)
        elif keyword in _RULES:
            total += 1
    return max(1, total)


def _alternatives(document: "Document", place: Place) -> Iterator[object]:
    schema = place.schema
    if not isinstance(schema, Mapping):
        if schema is False:
            yield True
        return
    if document.ref_stands_alone and "$ref" in schema:
        schema = {"$ref": schema["$ref"]}
    for keyword in schema:
        rule = _RULES.get(keyword)
        if rule is not None:
            yield from rule(_Keyword(document, place, schema, keyword))


@dataclass(frozen=True, slots=True)
class _Keyword:
    """One keyword of the schema that is to be refused."""

    document: "Document"
    place: Place
    schema: Schema
    name: str

    @property
    def value(self) -> object:
        return self.schema[self.name]

    def parts(self) -> list[Place]:
        return _parts(self.place, self.name)

    def named(self) -> list[tuple[str, Place]]:
        parts = self.value if isinstance(self.value, Mapping) else {}
        return [(name, self.place.child(self.name, name, schema=p)) for name, p in parts.items()]

    def wide(self, schema: object) -> Iterator[object]:
        """Give something wider than the opposite, and say so."""
        reason = "its opposite is wider than it should be"
        self.document.report.later(self.place.pointer, self.name, reason)
        yield schema


_Rule = Callable[[_Keyword], Iterator[object]]


def _parts(place: Place, keyword: str) -> list[Place]:
    parts = place.schema.get(keyword) if isinstance(place.schema, Mapping) else None
    if not isinstance(parts, list):
        return []
    return [place.child(keyword, index, schema=part) for index, part in enumerate(parts)]


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


def _natural(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 0 and number == int(number) else None


def _absent(name: str) -> Schema:
    return {"type": "object", "properties": {name: False}}


def _trivial(schema: object) -> bool:
    return schema is True or schema == {}


def _type(at: _Keyword) -> Iterator[object]:
    names = at.value
    if at.schema.get("nullable") is True:
        names = [*(names if isinstance(names, list) else [names]), "null"]
    yield {"not": {"type": names}}


def _listed(at: _Keyword) -> Iterator[object]:
    value = at.value
    if at.name == "enum" and not isinstance(value, list):
        yield from at.wide({})
    else:
        yield {"not": {at.name: value}}


def _of_strings(at: _Keyword) -> Iterator[object]:
    yield {"type": "string", "not": {at.name: at.value}}


def _multiple(at: _Keyword) -> Iterator[object]:
    yield {"type": "number", "not": {at.name: at.value}}


def _bound(at: _Keyword) -> Iterator[object]:
    value = _number(at.value)
    if value is None:
        if not isinstance(at.value, bool):
            yield from at.wide({"type": "number"})
        return
    low, strict = "inimum" in at.name, at.name.startswith("exclusive")
    if not strict:
        # Draft 4 says beside it, as a boolean, whether the bound itself is left out.
        strict = at.schema.get("exclusiveMinimum" if low else "exclusiveMaximum") is True
    opposite = "aximum" if low else "inimum"
    found = f"m{opposite}" if strict else f"exclusiveM{opposite}"
    yield {"type": "number", found: value}


def _count(kind: str, least: str, most: str) -> _Rule:
    def rule(at: _Keyword) -> Iterator[object]:
        value = _natural(at.value)
        if value is None:
            yield from at.wide({"type": kind})
        elif at.name == most:
            yield {"type": kind, least: value + 1}
        elif value > 0:
            yield {"type": kind, most: value - 1}

    return rule


def _required(at: _Keyword) -> Iterator[object]:
    names = at.value
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        yield from map(_absent, names)
    elif not isinstance(names, bool):
        yield from at.wide({"type": "object"})


def _properties(at: _Keyword) -> Iterator[object]:
    for name, part in at.named():
        if not _trivial(part.schema):
            yield {"type": "object", "required": [name], "properties": {name: negated(part)}}


def _other_properties(at: _Keyword) -> Iterator[object]:
    value = at.value
    if not _trivial(value) and value != {} and value is not None:
        yield from at.wide({"type": "object", "minProperties": 1})


def _items(at: _Keyword) -> Iterator[object]:
    value = at.value
    if isinstance(value, list):
        for index, part in enumerate(at.parts()):
            if not _trivial(part.schema):
                before = [True] * index
                yield {
                    "type": "array",
                    "minItems": index + 1,
                    "prefixItems": [*before, negated(part)],
                }
    elif at.name == "items" and not _trivial(value):
        prefix = at.schema.get("prefixItems")
        length = len(prefix) if isinstance(prefix, list) else 0
        if value is False:
            yield {"type": "array", "minItems": length + 1}
        elif length:
            yield from at.wide({"type": "array", "minItems": length + 1})
        else:
            yield {"type": "array", "contains": negated(at.place.child(at.name, schema=value))}


def _further_items(at: _Keyword) -> Iterator[object]:
    if isinstance(at.schema.get("items"), list) and not _trivial(at.value):
        yield from at.wide({"type": "array", "minItems": 1})


def _contains(at: _Keyword) -> Iterator[object]:
    schema = at.schema
    if schema.keys() & {"minContains", "maxContains"}:
        yield from at.wide({"type": "array"})
    else:
        yield {"type": "array", "items": negated(at.place.child(at.name, schema=schema[at.name]))}


def _wide_array(at: _Keyword) -> Iterator[object]:
    if at.value not in (False, True) or at.value is True:
        yield from at.wide({"type": "array", "minItems": 1})


def _all_of(at: _Keyword) -> Iterator[object]:
    for part in at.parts():
        yield {"allOf": [negated(part)]}


def _any_of(at: _Keyword) -> Iterator[object]:
    parts = at.parts()
    if parts:
        yield {"allOf": [negated(part) for part in parts]}


def _one_of(at: _Keyword) -> Iterator[object]:
    parts = at.parts()
    yield from _any_of(at)
    pairs = [(one, other) for index, one in enumerate(parts) for other in parts[index + 1 :]]
    if len(pairs) > _MOST_PAIRS:
        yield from at.wide({})
    else:
        yield from ({"allOf": list(pair)} for pair in pairs)


def _not(at: _Keyword) -> Iterator[object]:
    yield {"allOf": [at.place.child(at.name, schema=at.value)]}


def _if(at: _Keyword) -> Iterator[object]:
    schema = at.schema
    condition = at.place.child("if", schema=schema["if"])
    if "then" in schema:
        yield {"allOf": [condition, negated(at.place.child("then", schema=schema["then"]))]}
    if "else" in schema:
        other = negated(at.place.child("else", schema=schema["else"]))
        yield {"allOf": [negated(condition), other]}


def _dependencies(at: _Keyword) -> Iterator[object]:
    for name, part in at.named():
        if isinstance(part.schema, list):
            for needed in part.schema:
                yield {"type": "object", "required": [name], "properties": {needed: False}}
        else:
            yield {"type": "object", "required": [name], "allOf": [negated(part)]}


def _reference(at: _Keyword) -> Iterator[object]:
    target = at.document.target(at.place, at.name)
    if target is None:
        yield from at.wide({})
    else:
        yield {"allOf": [negated(target)]}


_TABLE: tuple[tuple[_Rule, tuple[str, ...]], ...] = (
    (_type, ("type",)),
    (_listed, ("enum", "const")),
    (_of_strings, ("pattern", "format")),
    (_multiple, ("multipleOf",)),
    (_bound, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
    (_count("string", "minLength", "maxLength"), ("minLength", "maxLength")),
    (_count("array", "minItems", "maxItems"), ("minItems", "maxItems")),
    (_count("object", "minProperties", "maxProperties"), ("minProperties", "maxProperties")),
    (_required, ("required",)),
    (_properties, ("properties",)),
    (_other_properties, (
        "additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties")),
    (_items, ("items", "prefixItems")),
    (_further_items, ("additionalItems",)),
    (_contains, ("contains",)),
    (_wide_array, ("uniqueItems", "unevaluatedItems")),
    (_all_of, ("allOf",)),
    (_any_of, ("anyOf",)),
    (_one_of, ("oneOf",)),
    (_not, ("not",)),
    (_if, ("if",)),
    (_dependencies, ("dependentRequired", "dependentSchemas", "dependencies")),
    (_reference, ("$ref", "$dynamicRef", "$recursiveRef")),
)  # fmt: skip
_RULES = {keyword: rule for rule, keywords in _TABLE for keyword in keywords}
