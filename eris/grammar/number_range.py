"""Numbers between bounds as grammar expressions, digit by digit.

Numbers are written with at most `DIGITS` digits before and `PLACES` after the point, so that a
model can't run away in `0.3333...`; an exponent is offered only where there are no bounds. Every
double has a spelling within these limits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from eris.grammar.expression import (
    EMPTY,
    CharClass,
    Choice,
    Expression,
    Literal,
    Repeat,
    Sequence,
    choice,
    repeat,
    sequence,
)

DIGITS = 16
PLACES = 20
_DIGIT = CharClass(((0x30, 0x39),))
_NON_ZERO = CharClass(((0x31, 0x39),))
_WHOLE = Choice((Literal("0"), Sequence((_NON_ZERO, Repeat(_DIGIT, 0, DIGITS - 1)))))
_FRACTION = Sequence((Literal("."), Repeat(_DIGIT, 1, PLACES)))
_UP_TO_199 = (Repeat(_DIGIT, 1, 2), Sequence((Literal("1"), _DIGIT, _DIGIT)))
_UP_TO_307 = (
    *_UP_TO_199,
    Sequence((Literal("2"), _DIGIT, _DIGIT)),
    Sequence((Literal("30"), CharClass(((0x30, 0x37),)))),
)


def _exponent(positive: tuple[Expression, ...]) -> Expression:
    """An exponent; small numbers may go down to zero, large ones must stay finite."""
    negative = sequence(Literal("-"), Repeat(_DIGIT, 1, 3))
    return sequence(
        CharClass(((0x45, 0x45), (0x65, 0x65))),
        Choice((negative, sequence(repeat(Literal("+"), 0, 1), Choice(positive)))),
    )


INTEGER: Expression = Choice(
    (Literal("0"), sequence(repeat(Literal("-"), 0, 1), _NON_ZERO, repeat(_DIGIT, 0, DIGITS - 1)))
)
# Bounded exponents: no number of this form overflows a double to infinity.
NUMBER: Expression = sequence(
    repeat(Literal("-"), 0, 1),
    Choice(
        (
            sequence(
                _WHOLE,
                repeat(_FRACTION, 0, 1),
                repeat(_exponent(_UP_TO_199), 0, 1),
            ),
            sequence(_DIGIT, repeat(_FRACTION, 0, 1), _exponent(_UP_TO_307)),
        )
    ),
)


def _digit_range(first: str, last: str) -> Expression:
    return Literal(first) if first == last else CharClass(((ord(first), ord(last)),))


def _digits(count: int) -> Expression:
    return repeat(_DIGIT, count, count)


def _same_length(low: str, high: str) -> Expression:
    """Digit strings of one length, between two of that length."""
    if not low:
        return EMPTY
    if set(low) == {"0"} and set(high) == {"9"}:
        return _digits(len(low))
    rest = len(low) - 1
    if low[0] == high[0]:
        return sequence(Literal(low[0]), _same_length(low[1:], high[1:]))
    options: list[Expression | None] = []
    first, last = low[0], high[0]
    if set(low[1:]) - {"0"}:
        options.append(sequence(Literal(first), _same_length(low[1:], "9" * rest)))
        first = chr(ord(first) + 1)
    tail = None
    if set(high[1:]) - {"9"}:
        tail = sequence(Literal(last), _same_length("0" * rest, high[1:]))
        last = chr(ord(last) - 1)
    if first <= last:
        options.append(sequence(_digit_range(first, last), _digits(rest)))
    options.append(tail)
    result = choice(options)
    return EMPTY if result is None else result


def _natural(low: int, high: int | None) -> Expression | None:
    """Whole numbers from `low` (not negative) to `high`; None as `high` means no limit."""
    if high is None:
        high = 10 ** max(DIGITS, len(str(low))) - 1
    if low > high:
        return None
    options: list[Expression | None] = []
    for length in range(len(str(low)), len(str(high)) + 1):
        shortest = 0 if length == 1 else 10 ** (length - 1)
        start, end = max(low, shortest), min(high, 10**length - 1)
        if (
            length > 1
            and start == shortest
            and end == 10**length - 1
            and high == 10 ** len(str(high)) - 1
        ):
            # All longer lengths are complete too: one repetition says it.
            options.append(sequence(_NON_ZERO, repeat(_DIGIT, length - 1, len(str(high)) - 1)))
            break
        options.append(_same_length(str(start), str(end)))
    return choice(options)


def integer_between(low: int | None, high: int | None) -> Expression | None:
    """Integers from `low` to `high`, both included; None as a bound means no bound.

    Returns None if there is no such integer.
    """
    if low is None and high is None:
        return INTEGER
    if low is not None and high is not None and low > high:
        return None
    options: list[Expression | None] = []
    if high is None or high >= 0:
        options.append(_natural(max(low or 0, 0), high))
    if low is None or low < 0:
        nearest = 1 if high is None or high >= 0 else -high
        negative = _natural(nearest, None if low is None else -low)
        if negative is not None:
            options.append(sequence(Literal("-"), negative))
    return choice(options)


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range of numbers.

    Attributes:
        value: Where it lies.
        inclusive: Whether the value itself belongs to the range.
    """

    value: Fraction
    inclusive: bool = True


def decimal_between(
    low: Bound | None, high: Bound | None, places: int = PLACES
) -> Expression | None:
    """Decimal numbers between two bounds, with at most `places` digits after the point.

    Returns None if no such number exists (or none that has so few digits).

    Raises:
        ValueError: A bound has no finite decimal representation of a reasonable length.
    """
    zero = Bound(Fraction(0))
    if low is None and high is None and places >= PLACES:
        return NUMBER
    options: list[Expression | None] = []
    if high is None or high.value >= 0:
        start = low if low is not None and low.value >= 0 else zero
        options.append(_positive(start, high, places))
    if low is None or low.value < 0:
        # Mirrored; zero itself is left to the half above, so that there is no -0.
        start = Bound(Fraction(0), inclusive=False)
        if high is not None and high.value < 0:
            start = Bound(-high.value, high.inclusive)
        end = None if low is None else Bound(-low.value, low.inclusive)
        mirrored = _positive(start, end, places)
        if mirrored is not None:
            options.append(sequence(Literal("-"), mirrored))
    return choice(options)


_LONGEST_BOUND = 40


def _split(value: Fraction) -> tuple[int, str]:
    """Give the whole part and the fraction digits of a number that isn't negative."""
    whole, rest = divmod(value.numerator, value.denominator)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, value.denominator)
        digits += str(digit)
        if len(digits) > _LONGEST_BOUND:
            raise ValueError(f"{value} has too many digits")
    return whole, digits


def _positive(low: Bound, high: Bound | None, places: int) -> Expression | None:
    whole_low, digits_low = _split(low.value)
    start = _Limit(digits_low, low.inclusive)
    if high is None:
        above = _natural(whole_low + 1, None)
        return choice(
            [
                _with(Literal(str(whole_low)), _point(start, None, places)),
                _with(above, _point(None, None, places)),
            ]
        )
    whole_high, digits_high = _split(high.value)
    end = _Limit(digits_high, high.inclusive)
    if whole_low > whole_high:
        return None
    if whole_low == whole_high:
        return _with(Literal(str(whole_low)), _point(start, end, places))
    between = _natural(whole_low + 1, whole_high - 1)
    return choice(
        [
            _with(Literal(str(whole_low)), _point(start, None, places)),
            _with(between, _point(None, None, places)),
            _with(Literal(str(whole_high)), _point(None, end, places)),
        ]
    )


def _with(whole: Expression | None, fraction: Expression | None) -> Expression | None:
    if whole is None or fraction is None:
        return None
    return sequence(whole, fraction)


@dataclass(frozen=True, slots=True)
class _Limit:
    """A bound on fraction digits, without trailing zeros; empty digits stand for zero."""

    digits: str
    inclusive: bool


def _point(low: _Limit | None, high: _Limit | None, places: int) -> Expression | None:
    """The part after the whole digits: nothing, or a point and at least one digit."""
    empty = _fits_zero(low, high)
    digits = _fraction(low, high, places, first=True) if places else None
    with_point = None if digits is None else sequence(Literal("."), digits)
    return choice([EMPTY if empty else None, with_point])


def _fits_zero(low: _Limit | None, high: _Limit | None) -> bool:
    """Whether ending here (so: only zeros follow) is within both limits."""
    if low is not None and (low.digits or not low.inclusive):
        return False
    return high is None or bool(high.digits) or high.inclusive


def _fraction(
    low: _Limit | None, high: _Limit | None, places: int, *, first: bool = False
) -> Expression | None:
    """Fraction digits within limits, at most `places`; at least one if `first`."""
    if low is not None and not low.digits and low.inclusive:
        low = None
    if low is None and high is None:
        return repeat(_DIGIT, 1 if first else 0, places) if places or not first else None
    least = 1 if first else 0
    if high is not None and not high.digits:
        fits = low is None and high.inclusive and places >= least
        return repeat(Literal("0"), least, places) if fits else None
    if high is None and low is not None and not low.digits:
        return _not_zero(places)
    options: list[Expression | None] = []
    if not first and _fits_zero(low, high):
        options.append(EMPTY)
    if places > 0:
        options += _by_first_digit(low, high, places)
    return choice(options)


def _not_zero(places: int) -> Expression | None:
    """Fraction digits that aren't all zero."""
    if places >= PLACES // 2:  # so many that a few more don't matter
        zeros = repeat(Literal("0"), 0, places - 1)
        return sequence(zeros, _NON_ZERO, repeat(_DIGIT, 0, places - 1))
    return choice(
        sequence(Literal("0" * zeros), _NON_ZERO, repeat(_DIGIT, 0, places - 1 - zeros))
        for zeros in range(places)
    )


def _by_first_digit(
    low: _Limit | None, high: _Limit | None, places: int
) -> Iterator[Expression | None]:
    """Digits that decide at once leave the rest free; the limits' own digits don't."""
    floor = int(low.digits[:1] or "0") if low else 0
    ceiling = int(high.digits[:1] or "0") if high else 9
    for digit in sorted({floor, ceiling}):
        below = _Limit(low.digits[1:], low.inclusive) if low and digit == floor else None
        above = _Limit(high.digits[1:], high.inclusive) if high and digit == ceiling else None
        if (below or above) and floor <= digit <= ceiling:
            yield _with(Literal(str(digit)), _fraction(below, above, places - 1))
    free_from = floor + 1 if low else 0
    free_to = ceiling - 1 if high else 9
    if free_from <= free_to:
        free = _digit_range(str(free_from), str(free_to))
        yield sequence(free, repeat(_DIGIT, 0, places - 1))
