"""The keywords of numbers: bounds and multiples."""

import math
from decimal import Decimal
from fractions import Fraction

from eris.grammar.context import Context
from eris.grammar.document import Branch, Leaf
from eris.grammar.expression import Expression, Literal, choice
from eris.grammar.number_range import PLACES, Bound, decimal_between, integer_between

_MOST_MULTIPLES = 500
_LARGEST_EXPONENT = 60


def number(context: Context, branch: Branch, *, whole: bool) -> Expression | None:
    """Give the expression of numbers (integers if `whole`) that fit; None if there are none."""
    low = _tightest(context, branch, "minimum", "exclusiveMinimum")
    high = _tightest(context, branch, "maximum", "exclusiveMaximum")
    multiples = _multiples(context, branch)
    if whole or any(step.denominator == 1 for step in multiples.values()):
        return _integer(context, low, high, multiples)
    places = PLACES
    for pointer, step in multiples.items():
        power = _decimal_places(step)
        if power is None:
            context.report.later(pointer, "multipleOf", "not a power of ten")
        else:
            context.report.exact(pointer, "multipleOf")
            places = min(places, power)
    try:
        return decimal_between(low, high, places)
    except ValueError:
        _leave(context, branch, "a bound with too many digits")
        return decimal_between(None, None, places)


def _tightest(context: Context, branch: Branch, closed: str, opened: str) -> Bound | None:
    """Read the bounds of one side from all schemas, with draft-04's boolean form."""
    sign = 1 if closed == "minimum" else -1
    found: Bound | None = None
    for leaf in branch:
        strict = leaf.schema.get(opened)
        for keyword in (closed, opened):
            if leaf.schema.get(keyword) is None or isinstance(leaf.schema[keyword], bool):
                continue
            value = _fraction(context, leaf, keyword)
            if value is None:
                continue
            inclusive = keyword == closed and strict is not True
            bound = Bound(value, inclusive)
            if found is None or (sign * bound.value, not bound.inclusive) > (
                sign * found.value,
                not found.inclusive,
            ):
                found = bound
    return found


def _fraction(context: Context, leaf: Leaf, keyword: str) -> Fraction | None:
    value = leaf.schema[keyword]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        context.report.later(leaf.pointer, keyword, f"{value!r} is no number")
        return None
    exact = Decimal(repr(value))
    if exact and abs(exact.adjusted()) > _LARGEST_EXPONENT:
        context.report.later(leaf.pointer, keyword, "too far from zero")
        return None
    context.report.exact(leaf.pointer, keyword)
    return Fraction(exact)


def _multiples(context: Context, branch: Branch) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for leaf in branch:
        if "multipleOf" not in leaf.schema:
            continue
        step = _fraction(context, leaf, "multipleOf")
        if step is not None and step > 0:
            found[leaf.pointer] = step
        elif step is not None:
            context.report.later(leaf.pointer, "multipleOf", "it isn't above zero")
    return found


def _integer(
    context: Context, low: Bound | None, high: Bound | None, multiples: dict[str, Fraction]
) -> Expression | None:
    first = None if low is None else math.ceil(low.value)
    if low is not None and first == low.value and not low.inclusive:
        first = math.ceil(low.value) + 1
    last = None if high is None else math.floor(high.value)
    if high is not None and last == high.value and not high.inclusive:
        last = math.floor(high.value) - 1
    # An integer is a multiple of p/q (in lowest terms) if it is one of p.
    step = math.lcm(*(one.numerator for one in multiples.values())) if multiples else 1
    if step > 1 and first is not None and last is not None:
        smallest = -(-first // step)
        count = last // step - smallest + 1
        if count <= _MOST_MULTIPLES:
            return choice(Literal(str((smallest + n) * step)) for n in range(max(0, count)))
    if step > 1:
        for pointer in multiples:
            context.report.later(pointer, "multipleOf", "too many multiples to list")
    return integer_between(first, last)


def _decimal_places(step: Fraction) -> int | None:
    """Give n if the step is 10 to the power of -n."""
    for power in range(1, PLACES + 1):
        if step == Fraction(1, 10**power):
            return power
    return None


def _leave(context: Context, branch: Branch, reason: str) -> None:
    for leaf in branch:
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if keyword in leaf.schema:
                context.report.later(leaf.pointer, keyword, reason)
