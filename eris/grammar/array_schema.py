"""The keywords of arrays: items, tuples, counts."""

from eris.grammar.containers import Items
from eris.grammar.containers import array as array_expression
from eris.grammar.context import Context, bounds, later
from eris.grammar.document import Branch, Leaf, Place
from eris.grammar.errors import SchemaTooLarge
from eris.grammar.expression import Expression
from eris.grammar.strings import LONGEST

_LATER = {
    "uniqueItems": "items can't be compared in a grammar",
    "contains": "items can't be counted by kind in a grammar",
    "minContains": "items can't be counted by kind in a grammar",
    "maxContains": "items can't be counted by kind in a grammar",
    "unevaluatedItems": "taken as if it weren't there",
}
_LONGEST_PREFIX = 500


def array(context: Context, branch: Branch, hint: str) -> Expression | None:
    """Give the expression of arrays that fit; None if there are none.

    Raises:
        SchemaTooLarge: More items are required than any grammar can ask for.
    """
    minimum, maximum = _count(context, branch)
    shapes = [_items(context, leaf) for leaf in branch]
    length = max((len(prefix) for prefix, _ in shapes), default=0)
    if maximum is not None:
        length = min(length, maximum)
    positions: list[Expression] = []
    for position in range(length):
        places = (
            place for prefix, rest in shapes for place in (prefix[position : position + 1] or rest)
        )
        item = context.value(tuple(places), f"{hint}-item")
        if item is None:
            maximum = position
            break
        positions.append(item)
    rest: Expression | None = None
    if maximum is None or maximum > length:
        rest = context.value(tuple(p for _, more in shapes for p in more), f"{hint}-item")
    items = Items(tuple(positions), rest, minimum, maximum)
    return array_expression(context.rules, context.form, hint, items)


def _count(context: Context, branch: Branch) -> tuple[int, int | None]:
    """Read the bounds on the number of items, and report what can't be counted."""
    for leaf in branch:
        if leaf.schema.get("uniqueItems") is False:
            context.report.exact(leaf.pointer, "uniqueItems")
    later(context, _without_false(branch, "uniqueItems"), _LATER)
    minimum, maximum = bounds(context, branch, "minItems", "maxItems")
    if minimum > LONGEST:
        raise SchemaTooLarge(branch[0].pointer, f"minItems is over {LONGEST}")
    if maximum is not None and maximum > LONGEST:
        later(context, branch, {"maxItems": f"over {LONGEST}"})
        maximum = None
    return minimum, maximum


def _without_false(branch: Branch, keyword: str) -> Branch:
    return tuple(leaf for leaf in branch if leaf.schema.get(keyword) is not False)


def _items(context: Context, leaf: Leaf) -> tuple[list[Place], list[Place]]:
    """Give the schemas of the first positions and those of all others, old drafts included."""
    schema = leaf.schema
    items, prefix, rest_keyword = schema.get("items"), schema.get("prefixItems"), "items"
    if isinstance(items, list):
        prefix, items, rest_keyword = items, schema.get("additionalItems"), "additionalItems"
        prefix_keyword = "items"
    else:
        prefix_keyword = "prefixItems"
    first: list[Place] = []
    if isinstance(prefix, list):
        context.report.exact(leaf.pointer, prefix_keyword)
        first = [
            leaf.child(prefix_keyword, index, schema=part)
            for index, part in enumerate(prefix[:_LONGEST_PREFIX])
        ]
        if len(prefix) > _LONGEST_PREFIX:
            context.report.later(leaf.pointer, prefix_keyword, f"over {_LONGEST_PREFIX} items")
            return first, []
    elif prefix is not None:
        context.report.later(leaf.pointer, prefix_keyword, "it isn't a list")
    if items is None:
        return first, []
    context.report.exact(leaf.pointer, rest_keyword)
    return first, [leaf.child(rest_keyword, schema=items)]
