"""The keywords of arrays: items, tuples, counts."""

from dataclasses import dataclass

from eris.grammar.containers import Items
from eris.grammar.containers import array as array_expression
from eris.grammar.context import Context, bounds, integer, later
from eris.grammar.errors import SchemaTooLarge
from eris.grammar.expression import EMPTY, Expression, Literal, choice, repeat, sequence
from eris.grammar.negation import negated
from eris.grammar.place import Branch, Leaf, Place
from eris.grammar.strings import LONGEST

_LATER = {"unevaluatedItems": "taken as if it weren't there"}
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
    kinds = _Kinds.read(context, branch)
    if context.probing and minimum == 0 and kinds is None:
        return Literal("[]")
    if kinds is not None and length == 0 and minimum <= kinds.least and maximum is None:
        items = tuple(p for _, more in shapes for p in more)
        return _counted(context, items, kinds, hint)
    if kinds is not None:
        reason = "items can't be counted by kind beside other counts"
        later(context, branch, dict.fromkeys(("contains", "minContains", "maxContains"), reason))
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
    items_ = Items(tuple(positions), rest, minimum, maximum)
    return array_expression(context.rules, context.form, hint, items_)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """How many items must be of a kind.

    Attributes:
        kind: The schema of `contains`.
        least: Fewest items that fit it.
        most: Most items; None means without limit.
    """

    kind: Place
    least: int
    most: int | None

    @classmethod
    def read(cls, context: Context, branch: Branch) -> "_Kinds | None":
        """Read `contains` from all schemas; None if it asks for nothing."""
        found: _Kinds | None = None
        for leaf in branch:
            if "contains" not in leaf.schema:
                continue
            context.report.exact(leaf.pointer, "contains")
            least = integer(context, leaf, "minContains")
            most = integer(context, leaf, "maxContains")
            kind = leaf.child("contains", schema=leaf.schema["contains"])
            if least == 0 and most is None:
                continue
            if found is not None:
                reason = "items are counted by one kind only"
                context.report.later(leaf.pointer, "contains", reason)
            found = found or cls(kind, 1 if least is None else least, most)
        return found


def _counted(
    context: Context, items: tuple[Place, ...], kinds: _Kinds, hint: str
) -> Expression | None:
    """Write an array whose items of one kind are counted, those of the other kind aren't."""
    if kinds.most is not None and kinds.most < kinds.least:
        return None
    of_kind = context.value((*items, kinds.kind), f"{hint}-kind")
    other = context.value((*items, negated(kinds.kind)), f"{hint}-item")
    context.rules.mixed = True
    first = [(of_kind, 1), (other, 0)]
    options = [
        _after(context, of_kind, other, kinds, (value, count))
        for value, count in first
        if value is not None and (kinds.most is None or kinds.most >= count)
    ]
    empty = Literal("[]") if kinds.least == 0 else None
    return choice([*options, empty])


def _after(
    context: Context,
    of_kind: Expression | None,
    other: Expression | None,
    kinds: _Kinds,
    first: tuple[Expression, int],
) -> Expression | None:
    form = context.form
    least = max(0, kinds.least - first[1])
    most = None if kinds.most is None else kinds.most - first[1]
    between = EMPTY if other is None else repeat(sequence(Literal(form.between), other), 0, None)
    counted: Expression = EMPTY
    if of_kind is not None:
        counted = repeat(sequence(Literal(form.between), of_kind, between), least, most)
    elif least:
        return None
    opening, closing = Literal(f"[{form.opening}"), Literal(f"{form.closing}]")
    return sequence(opening, first[0], between, counted, closing)


def _count(context: Context, branch: Branch) -> tuple[int, int | None]:
    """Read the bounds on the number of items, and report what can't be counted."""
    later(context, branch, _LATER)
    minimum, maximum = bounds(context, branch, "minItems", "maxItems")
    if minimum > LONGEST:
        raise SchemaTooLarge(branch[0].pointer, f"minItems is over {LONGEST}")
    if maximum is not None and maximum > LONGEST:
        later(context, branch, {"maxItems": f"over {LONGEST}"})
        maximum = None
    for leaf in branch:
        unique = leaf.schema.get("uniqueItems", False)
        if "uniqueItems" not in leaf.schema:
            continue
        if unique is False or (maximum is not None and maximum <= 1):
            context.report.exact(leaf.pointer, "uniqueItems")
        else:
            context.report.later(
                leaf.pointer, "uniqueItems", "items can't be compared in a grammar"
            )
    return minimum, maximum


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
