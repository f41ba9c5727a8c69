"""The keywords of numbers: bounds and multiples."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from eris.grammar.context import Context, later, refused_values
from eris.grammar.expression import Expression, Literal, choice
from eris.grammar.multiples import multiples_between, number_expression
from eris.grammar.negation import primitive
from eris.grammar.number_range import PLACES, Bound, decimal_between, integer_between
from eris.grammar.pattern import PatternNotSupported
from eris.grammar.place import Branch, Leaf

_MOST_MULTIPLES = 100
_MOST_REFUSED = 60
_LARGEST_EXPONENT = 60
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@dataclass(frozen=True, slots=True)
class _Steps:
    """What a number must be a multiple of, and what it must not be."""

    wanted: tuple[Fraction, ...]
    refused: tuple[Fraction, ...]

    def __bool__(self) -> bool:
        return bool(self.wanted or self.refused)


def number(context: Context, branch: Branch, kind: str) -> Expression | None:
    """Give the expression of numbers that fit; None if there are none.

    Args:
        context: The compiler.
        branch: The schemas that all hold.
        kind: "integer", "fraction" (numbers that aren't integers) or "number" (both).
    """
    low = _tightest(context, branch, "minimum", "exclusiveMinimum")
    high = _tightest(context, branch, "maximum", "exclusiveMaximum")
    steps = _steps(context, branch)
    if kind == "fraction":
        steps = replace(steps, refused=(*steps.refused, Fraction(1)))
    whole = kind == "integer" or any(step.denominator == 1 for step in steps.wanted)
    refused = _refused_numbers(branch, whole=whole)
    if refused is None:
        _later(context, branch, ("not",), "too many numbers to leave out")
        refused = []
    ranges = _ranges(low, high, refused)
    options = (_between(context, branch, *pair, steps, whole=whole) for pair in ranges)
    return choice(options)


def _between(
    context: Context,
    branch: Branch,
    low: Bound | None,
    high: Bound | None,
    steps: _Steps,
    *,
    whole: bool,
) -> Expression | None:
    if whole:
        return _integer(context, branch, low, high, steps)
    places = PLACES
    powers = [_decimal_places(step) for step in steps.wanted]
    if steps.wanted and None not in powers:
        places = min(power for power in powers if power is not None)
        steps = replace(steps, wanted=())
    try:
        between = decimal_between(low, high, places)
    except ValueError:
        _later(context, branch, _BOUNDS, "a bound with too many digits")
        low = high = None
        between = decimal_between(None, None, places)
    if not steps or between is None:
        return between
    bounded = between if low or high else None
    return _filtered(context, branch, bounded, steps, whole=False, fallback=between)


def _integer(
    context: Context, branch: Branch, low: Bound | None, high: Bound | None, steps: _Steps
) -> Expression | None:
    first = None if low is None else math.ceil(low.value)
    if low is not None and first == low.value and not low.inclusive:
        first = math.ceil(low.value) + 1
    last = None if high is None else math.floor(high.value)
    if high is not None and last == high.value and not high.inclusive:
        last = math.floor(high.value) - 1
    between = integer_between(first, last)
    # An integer is a multiple of p/q (in lowest terms) if it is one of p; of 1 it always is.
    wanted = math.lcm(*(step.numerator for step in steps.wanted)) if steps.wanted else 1
    refused = {step.numerator for step in steps.refused}
    if between is None or 1 in refused:
        return None
    if wanted == 1 and not refused:
        return between
    if first is not None and last is not None:
        smallest, largest = -(-first // wanted), last // wanted
        if largest - smallest < _MOST_MULTIPLES:
            numbers = (number * wanted for number in range(smallest, largest + 1))
            left = (n for n in numbers if all(n % one for one in refused))
            return choice(Literal(str(n)) for n in left)
    bounded = None if first is None and last is None else between
    whole_steps = _Steps((Fraction(wanted),), tuple(map(Fraction, sorted(refused))))
    return _filtered(context, branch, bounded, whole_steps, whole=True, fallback=between)


def _filtered(
    context: Context,
    branch: Branch,
    bounded: Expression | None,
    steps: _Steps,
    *,
    whole: bool,
    fallback: Expression,
) -> Expression | None:
    """Take the multiples out of a range (None stands for all numbers), or all of it."""
    try:
        automaton = multiples_between(bounded, steps.wanted, steps.refused, whole=whole)
    except PatternNotSupported as error:
        _later(context, branch, ("multipleOf", "not"), str(error))
        return fallback
    return number_expression(context.rules, automaton)


def _ranges(
    low: Bound | None, high: Bound | None, refused: list[Fraction]
) -> list[tuple[Bound | None, Bound | None]]:
    """Split a range at the numbers that are refused."""
    found: list[tuple[Bound | None, Bound | None]] = []
    for value in refused:
        above = low is None or low.value < value or (low.value == value and low.inclusive)
        below = high is None or high.value > value or (high.value == value and high.inclusive)
        if above and below:
            end = Bound(value, inclusive=False)
            found.append((low, end))
            low = end
    return [*found, (low, high)]


def _refused_numbers(branch: Branch, *, whole: bool) -> list[Fraction] | None:
    """Give the numbers that a `not` leaves out, in order; None if there are too many."""
    found: set[Fraction] = set()
    for value in refused_values(branch):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            exact = Fraction(Decimal(repr(value)))
            if not whole or exact.denominator == 1:
                found.add(exact)
    return sorted(found) if len(found) <= _MOST_REFUSED else None


def _tightest(context: Context, branch: Branch, closed: str, opened: str) -> Bound | None:
    """Read the bounds of one side from all schemas, with draft-04's boolean form."""
    sign = 1 if closed == "minimum" else -1
    found: Bound | None = None
    for leaf in branch:
        strict = leaf.schema.get(opened)
        for keyword in (closed, opened):
            if leaf.schema.get(keyword) is None or isinstance(leaf.schema[keyword], bool):
                continue
            value = _fraction(context, leaf, keyword, leaf.schema[keyword])
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


def _fraction(context: Context, leaf: Leaf, keyword: str, value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        context.report.later(leaf.pointer, keyword, f"{value!r} is no number")
        return None
    exact = Decimal(repr(value))
    if exact and abs(exact.adjusted()) > _LARGEST_EXPONENT:
        context.report.later(leaf.pointer, keyword, "too far from zero")
        return None
    context.report.exact(leaf.pointer, keyword)
    return Fraction(exact)


def _steps(context: Context, branch: Branch) -> _Steps:
    wanted: list[Fraction] = []
    refused: list[Fraction] = []
    for leaf in branch:
        if "multipleOf" in leaf.schema:
            wanted += _step(context, leaf, "multipleOf", leaf.schema["multipleOf"])
        keyword, value = primitive(leaf.schema) or ("", None)
        if keyword == "multipleOf":
            refused += _step(context, leaf, "not", value)
    return _Steps(tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(refused)))


def _step(context: Context, leaf: Leaf, keyword: str, value: object) -> list[Fraction]:
    step = _fraction(context, leaf, keyword, value)
    if step is not None and step > 0:
        return [step]
    if step is not None:
        context.report.later(leaf.pointer, keyword, "it isn't above zero")
    return []


def _decimal_places(step: Fraction) -> int | None:
    """Give n if the step is 10 to the power of -n."""
    for power in range(1, PLACES + 1):
        if step == Fraction(1, 10**power):
            return power
    return None


def _later(context: Context, branch: Branch, keywords: tuple[str, ...], reason: str) -> None:
    later(context, branch, dict.fromkeys(keywords, reason))
