"""The keywords that offer a choice: each becomes options, of which at least one has to hold.

`anyOf` is its options. `oneOf` is too where no value fits two of them; otherwise each option is
taken together with the opposite of those that may hold beside it. `if`, `not` and dependencies
are choices between a schema and the opposite of another.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from eris.grammar.disjoint import Overlap
from eris.grammar.negation import negated, primitive, refusals, weight
from eris.grammar.place import Branch, Leaf, Place

if TYPE_CHECKING:
    from eris.grammar.document import Document, Effort

Options = tuple[Place, ...]

_MOST_REFUSALS = 64


def choices(
    document: "Document", leaf: Leaf, context: Branch, effort: "Effort"
) -> Iterator[Options]:
    """Give for each keyword of a schema that offers a choice its options.

    Args:
        document: Where the schema stands.
        leaf: The schema.
        context: All schemas that hold at the same time, this one included.
        effort: Whether opposites may be used.
    """
    exact = effort > 1
    schema = leaf.schema
    any_of = _parts(leaf, "anyOf")
    if any_of:
        document.report.exact(leaf.pointer, "anyOf")
        yield any_of
    one_of = _parts(leaf, "oneOf")
    if one_of:
        document.report.exact(leaf.pointer, "oneOf")
        yield _one_of(document, leaf, one_of, context, exact=exact)
    if "if" in schema and ("then" in schema or "else" in schema):
        yield _conditional(document, leaf, exact=exact)
    if "not" in schema:
        yield from _not(document, leaf, exact=exact)
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        yield from _dependencies(document, leaf, keyword)


def _parts(leaf: Leaf, keyword: str) -> Options:
    parts = leaf.schema.get(keyword)
    if not isinstance(parts, list):
        return ()
    return tuple(leaf.child(keyword, index, schema=part) for index, part in enumerate(parts))


def _one_of(
    document: "Document", leaf: Leaf, options: Options, context: Branch, *, exact: bool
) -> Options:
    """Give the options, each without the values that fit another one too."""
    overlap = Overlap(document, leaf, context)
    rivals = overlap.rivals(options)
    if not any(rivals):
        return options
    exact = exact and document.overlaps is not None
    cost = 0.0
    for others in rivals:
        cost += math.prod(weight(document, options[other]) for other in others)
    if not exact or cost > _MOST_REFUSALS:
        document.report.later(leaf.pointer, "oneOf", "more than one option may hold")
        return options
    return tuple(
        Place(
            f"{leaf.pointer}/~oneOf/{index}",
            {"allOf": [option, *(negated(options[other]) for other in rivals[index])]},
            made=True,
        )
        if rivals[index]
        else option
        for index, option in enumerate(options)
    )


def _conditional(document: "Document", leaf: Leaf, *, exact: bool) -> Options:
    schema = leaf.schema
    condition = leaf.child("if", schema=schema["if"])
    positive = leaf.child("then", schema=schema.get("then", True))
    other = leaf.child("else", schema=schema.get("else", True))
    if exact and weight(document, condition) <= _MOST_REFUSALS:
        document.report.exact(leaf.pointer, "if")
        if "then" in schema:
            both = Place(f"{leaf.pointer}/~then", {"allOf": [condition, positive]}, made=True)
            without = Place(
                f"{leaf.pointer}/~else", {"allOf": [negated(condition), other]}, made=True
            )
            # Without `else`, a value for which `then` holds needs no look at the condition.
            return (both if "else" in schema else positive, without)
        return (condition, other)
    document.report.later(leaf.pointer, "if", "`else` is offered whether or not `if` holds")
    both = Place(f"{leaf.pointer}/~then", {"allOf": [condition, positive]}, made=True)
    return (both, other)


def _not(document: "Document", leaf: Leaf, *, exact: bool) -> Iterator[Options]:
    if primitive(leaf.schema) is not None:
        return  # the handlers of the types know what to do
    inner = leaf.child("not", schema=leaf.schema["not"])
    if not exact or weight(document, inner) > _MOST_REFUSALS:
        document.report.later(leaf.pointer, "not", "its opposite has too many cases")
        return
    document.report.exact(leaf.pointer, "not")
    yield tuple(refusals(document, inner))


def _dependencies(document: "Document", leaf: Leaf, keyword: str) -> Iterator[Options]:
    dependencies = leaf.schema.get(keyword)
    if not isinstance(dependencies, Mapping):
        if dependencies is not None:
            document.report.later(leaf.pointer, keyword, "it isn't an object")
        return
    document.report.exact(leaf.pointer, keyword)
    for name, needed in dependencies.items():
        pointer = f"{leaf.child(keyword, name, schema=None).pointer}/~absent"
        # Holds for anything that isn't an object, as the keyword does.
        absent = Place(pointer, {"properties": {name: False}}, made=True)
        if isinstance(needed, list):
            present = Place(f"{pointer}-not", {"required": [name, *needed]}, made=True)
            yield absent, present
        else:
            yield absent, leaf.child(keyword, name, schema=needed)
