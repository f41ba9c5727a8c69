"""Multiples as automata over digits, for what can't be listed.

A number is read digit by digit; the state is its remainder so far. Bounds are digits too, so they
are automata as well, and the two intersect.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from eris.grammar import automaton as automata
from eris.grammar.automaton import Automaton, Edges
from eris.grammar.charset import DIGITS as DECIMALS
from eris.grammar.charset import CharSet
from eris.grammar.expression import (
    CharClass,
    Choice,
    Expression,
    Literal,
    Reference,
    Repeat,
    RuleBook,
    Sequence,
)
from eris.grammar.nfa import from_pattern
from eris.grammar.number_range import DIGITS
from eris.grammar.pattern import Chars, Concat, Either, Node, PatternNotSupported, Times
from eris.grammar.strings import from_automaton

_MOST_REMAINDERS = 400
_DIGIT = tuple(CharSet.chars(str(digit)) for digit in range(10))
_POINT = CharSet.chars(".")
_MOST_PLACES = 6
# Dense cycles grow without measure where they are written as repetitions.
_MOST_ELIMINATED = 6


def multiples_between(
    bounded: Expression | None,
    steps: tuple[Fraction, ...],
    refused: tuple[Fraction, ...],
    *,
    whole: bool,
) -> Automaton:
    """Build the automaton of the numbers in a range that are multiples of some and not of others.

    Args:
        bounded: The range; None if there are no bounds.
        steps: All of them divide the number.
        refused: None of them does.
        whole: Whether the numbers are written without a point.

    Raises:
        PatternNotSupported: It would have too many states.
    """
    found = _of_multiples(steps, refused, whole=whole)
    if bounded is not None:
        found = automata.tidy(automata.intersect(found, from_pattern(_node(bounded))))
    return found


def _decimal_places(steps: Iterable[Fraction]) -> int:
    """Give how many digits after the point the multiples of all these steps need at most."""
    most = 0
    for step in steps:
        places = 0
        while (step * 10**places).denominator != 1:
            places += 1
            if places > _MOST_PLACES:
                raise PatternNotSupported(f"multiples of {step}")
        most = max(most, places)
    return most


class _Digits:
    """Builds the automaton of numbers by their remainders.

    States: 0 start, 1 behind a minus, 2 behind a leading zero, 3 behind `-0`, 4 where anything may
    follow; then one for each remainder (of the number scaled up) and place behind the point, -1
    standing for before it.
    """

    def __init__(self, modulus: int, places: int, *, point: bool, further: bool) -> None:
        self._modulus = modulus
        self._places = places
        self._point = point
        self._further = further
        self._numbers: dict[tuple[int, int], int] = {}
        self._edges: list[list[tuple[CharSet, int]]] = [[], [], [], [], [(DECIMALS, 4)]]

    def _state(self, place: int, remainder: int) -> int:
        key = place, remainder % self._modulus
        if key not in self._numbers:
            self._numbers[key] = len(self._edges)
            self._edges.append([])
        return self._numbers[key]

    def build(self, fits: Callable[[int], bool]) -> Automaton:
        scale = 10**self._places
        first = [(_DIGIT[digit], self._state(-1, digit * scale)) for digit in range(1, 10)]
        self._edges[0] = [*first, (_DIGIT[0], 2), (CharSet.chars("-"), 1)]
        self._edges[1] = [*first, (_DIGIT[0], 3)]
        if self._point:
            self._edges[2] = self._edges[3] = [(_POINT, self._state(0, 0))]
        done = 0
        while done < len(self._numbers):
            for place, remainder in list(self._numbers)[done:]:
                self._edges[self._numbers[place, remainder]] = self._row(place, remainder)
                done += 1
        accepting = {
            number for (place, rest), number in self._numbers.items() if place and fits(rest)
        }
        accepting |= {4, 2} if fits(0) else {4}
        return Automaton(tuple(map(_merged, self._edges)), frozenset(accepting))

    def _row(self, place: int, remainder: int) -> list[tuple[CharSet, int]]:
        if place < 0:
            scale = 10**self._places
            row = [
                (_DIGIT[digit], self._state(-1, remainder * 10 + digit * scale))
                for digit in range(10)
            ]
            return [*row, (_POINT, self._state(0, remainder))] if self._point else row
        if place < self._places:
            weight = 10 ** (self._places - place - 1)
            return [
                (_DIGIT[digit], self._state(place + 1, remainder + digit * weight))
                for digit in range(10)
            ]
        if not self._further:
            return []
        # A digit behind the last place that counts: then the number is a multiple of nothing here.
        after = self._state(self._places + 1, remainder)
        return [(_DIGIT[0], after), (DECIMALS - _DIGIT[0], 4)]


def _of_multiples(
    steps: tuple[Fraction, ...], refused: tuple[Fraction, ...], *, whole: bool
) -> Automaton:
    places = 0 if whole else _decimal_places((*steps, *refused))
    scale = 10**places
    divisors = [_whole(step * scale) for step in steps]
    refusals = [_whole(step * scale) for step in refused]
    modulus = math.lcm(*divisors, *refusals)
    if modulus * (places + 1) > _MOST_REMAINDERS:
        raise PatternNotSupported("multiples with too many remainders")
    further = not whole and not steps
    digits = _Digits(modulus, places, point=further or places > 0, further=further)

    def fits(remainder: int) -> bool:
        divided = all(remainder % one == 0 for one in divisors)
        return divided and all(remainder % one for one in refusals)

    return automata.tidy(digits.build(fits))


def _whole(step: Fraction) -> int:
    if step.denominator != 1 or step.numerator > _MOST_REMAINDERS:
        raise PatternNotSupported(f"multiples of {step}")
    return step.numerator


def _merged(row: list[tuple[CharSet, int]]) -> Edges:
    targets: dict[int, CharSet] = {}
    for chars, target in row:
        targets[target] = targets[target] | chars if target in targets else chars
    return tuple((chars, target) for target, chars in targets.items())


def _node(expression: Expression) -> Node:
    """Write a range, as `number_range` makes it, as a pattern; digits may go on without end."""
    match expression:
        case Literal(text):
            return Concat(tuple(Chars(CharSet.chars(char)) for char in text))
        case CharClass(ranges, _):
            return Chars(CharSet(ranges))
        case Sequence(parts):
            return Concat(tuple(_node(part) for part in parts))
        case Choice(options):
            return Either(tuple(_node(option) for option in options))
        case Repeat(body, minimum, maximum):
            if maximum is not None and maximum >= DIGITS - 1:
                maximum = None
            return Times(_node(body), minimum, maximum)
        case Reference():
            raise PatternNotSupported("a reference")


def number_expression(rules: RuleBook, automaton: Automaton) -> Expression | None:
    """Write an automaton of numbers as rules; None if it accepts nothing."""
    return from_automaton(rules, "multiple", automaton, _MOST_ELIMINATED)
