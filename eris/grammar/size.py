"""How large a part of a grammar is, so that one tool can't use up the room of all others."""

from collections.abc import Iterable
from dataclasses import dataclass

from eris.grammar.expression import CharClass, Expression, Literal, children


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """Of some expressions.

    Attributes:
        nodes: Expressions in them, themselves included.
        characters: Characters of their literals and bounds of their character classes.
    """

    nodes: int = 0
    characters: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.nodes + other.nodes, self.characters + other.characters)

    def fits(self, limit: "Size") -> bool:
        """Whether neither count is over the limit's."""
        return self.nodes <= limit.nodes and self.characters <= limit.characters


def size_of(expressions: Iterable[Expression]) -> Size:
    """Measure expressions; what they refer to isn't counted."""
    nodes = characters = 0
    stack = list(expressions)
    while stack:
        expression = stack.pop()
        nodes += 1
        match expression:
            case Literal(text):
                characters += len(text)
            case CharClass(ranges, _):
                characters += len(ranges) * 2
            case _:
                stack.extend(children(expression))
    return Size(nodes, characters)
