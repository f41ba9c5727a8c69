"""Random texts of a grammar, by walking its expressions."""

import math
from collections.abc import Mapping
from random import Random

from eris.grammar import (
    CharClass,
    Choice,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
    Sequence,
)

_MORE = 3
_LAST = 0x10FFFF


class Walker:
    """Walks through one grammar.

    Args:
        grammar: Any grammar that has passed the check.
        random: Decides at every choice.
        length: About how many characters a text has before it takes the shortest way out.
    """

    def __init__(self, grammar: Grammar, random: Random, length: int = 200) -> None:
        self._grammar = grammar
        self._random = random
        self._length = length
        self._costs = costs(grammar.rules)
        self._written = 0

    def text(self) -> str:
        """Give one text."""
        self._written = 0
        pieces: list[str] = []
        todo: list[Expression] = [Reference(self._grammar.root)]
        while todo:
            current = todo.pop()
            match current:
                case Literal(text):
                    pieces.append(text)
                    self._written += len(text)
                case CharClass():
                    pieces.append(self._char(current))
                    self._written += 1
                case Sequence(parts):
                    todo.extend(reversed(parts))
                case Choice(options):
                    todo.append(self._option(options))
                case Repeat(body, minimum, maximum):
                    most = minimum + _MORE if maximum is None else min(maximum, minimum + _MORE)
                    times = minimum if self._tired() else self._random.randint(minimum, most)
                    todo.extend([body] * times)
                case Reference(rule):
                    todo.append(self._grammar.rules[rule])
        return "".join(pieces)

    def _tired(self) -> bool:
        return self._written > self._length

    def _option(self, options: tuple[Expression, ...]) -> Expression:
        priced = [(cost(option, self._costs), option) for option in options]
        cheapest = min(price for price, _ in priced)
        if self._tired():
            return next(option for price, option in priced if price == cheapest)
        return self._random.choice([option for price, option in priced if price < math.inf])

    def _char(self, chars: CharClass) -> str:
        ranges = [*_outside(chars.ranges)] if chars.negated else [*chars.ranges]
        if self._random.random() < 0.8:  # mostly characters that people write
            ranges = [(a, min(b, 0x7E)) for a, b in ranges if a <= 0x7E] or ranges
        first, last = self._random.choice(ranges)
        code = self._random.randint(first, last)
        return self._char(chars) if 0xD800 <= code <= 0xDFFF else chr(code)


def _outside(ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    found, position = [], 0
    for first, last in sorted(ranges):
        if position < first:
            found.append((position, first - 1))
        position = last + 1
    return [*found, (position, _LAST)] if position <= _LAST else found


def costs(rules: Mapping[str, Expression]) -> dict[str, float]:
    """Give for each rule the depth of its shallowest text; infinity if it has none."""
    found = dict.fromkeys(rules, math.inf)
    changed = True
    while changed:
        changed = False
        for name, expression in rules.items():
            price = cost(expression, found) + 1
            if price < found[name]:
                found[name] = price
                changed = True
    return found


def cost(expression: Expression, known: Mapping[str, float]) -> float:
    """Give the depth of an expression's shallowest text."""
    match expression:
        case Literal():
            return 0
        case CharClass(ranges, negated):
            return math.inf if negated and not _outside(ranges) else 0
        case Sequence(parts):
            return max((cost(part, known) for part in parts), default=0)
        case Choice(options):
            return min(cost(option, known) for option in options)
        case Repeat(body, minimum, _):
            return cost(body, known) if minimum else 0
        case Reference(rule):
            return known[rule]
