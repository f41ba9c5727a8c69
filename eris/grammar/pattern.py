"""The regular subset of ECMA 262 patterns, parsed into trees over character sets.

What isn't regular (back references) or isn't supported here (look-behind, look-ahead within
groups, word boundaries, scripts) raises `PatternNotSupported`; what isn't a pattern raises
`PatternInvalid`.
"""

from dataclasses import dataclass
from functools import lru_cache

from eris.grammar.charset import (
    DIGITS,
    EVERYTHING,
    LINE_ENDS,
    SPACE,
    WORD,
    CharSet,
    unicode_category,
)
from eris.grammar.effort import spend


class PatternNotSupported(Exception):  # noqa: N818 - not an error: the caller widens instead
    """A construct outside the supported subset."""


class PatternInvalid(PatternNotSupported):
    """Not a regular expression at all."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set; the empty set never matches."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class Concat:
    """All parts in order; no parts is the empty text."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Either:
    """One of the options."""

    options: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Times:
    """The body, repeated."""

    body: "Node"
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """`^` (start) or `$` (end)."""

    start: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What must, or must not, stand behind this place; it takes up no text."""

    body: "Node"
    refused: bool


@dataclass(frozen=True, slots=True)
class Both:
    """A whole text that matches all of some trees and none of others."""

    wanted: "tuple[Node, ...]"
    refused: "tuple[Node, ...]"


Node = Chars | Concat | Either | Times | Anchor | Look | Both

NOTHING = Concat(())
ANYTHING = Times(Chars(EVERYTHING), 0, None)

_LARGEST_COUNT = 100_000
_DEEPEST_GROUP = 60
_CLASSES = {
    "d": DIGITS,
    "D": ~DIGITS,
    "w": WORD,
    "W": ~WORD,
    "s": SPACE,
    "S": ~SPACE,
}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_HEX = frozenset("0123456789abcdefABCDEF")
_LAST = 0x10FFFF
_HIGH_START, _LOW_START, _LOW_END = 0xD800, 0xDC00, 0xDFFF


@dataclass(slots=True)
class _Parser:
    source: str
    position: int = 0
    depth: int = 0

    def fail(self, reason: str) -> PatternInvalid:
        return PatternInvalid(f"{reason} at position {self.position} of {self.source!r}")

    def unsupported(self, what: str) -> PatternNotSupported:
        return PatternNotSupported(f"{what} at position {self.position} of {self.source!r}")

    def peek(self, text: str) -> bool:
        return self.source.startswith(text, self.position)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        if found:
            self.position += len(text)
        return found

    def next(self) -> str:
        if self.position >= len(self.source):
            raise self.fail("the pattern ends too early")
        self.position += 1
        return self.source[self.position - 1]

    def either(self) -> Node:
        options = [self.concat()]
        while self.take("|"):
            options.append(self.concat())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def concat(self) -> Node:
        parts: list[Node] = []
        while self.position < len(self.source) and not self.peek("|") and not self.peek(")"):
            parts.append(self.quantified(self.atom()))
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def quantified(self, body: Node) -> Node:
        bounds: tuple[int, int | None]
        if self.take("*"):
            bounds = (0, None)
        elif self.take("+"):
            bounds = (1, None)
        elif self.take("?"):
            bounds = (0, 1)
        elif self.peek("{") and (counted := self.count()) is not None:
            bounds = counted
        else:
            return body
        if isinstance(body, Anchor | Look):
            raise self.unsupported("a repeated anchor or look-ahead")
        self.take("?")  # laziness changes what is captured, not what matches
        return Times(body, *bounds)

    def count(self) -> tuple[int, int | None] | None:
        """Read `{m}`, `{m,}` or `{m,n}`; anything else is a literal brace."""
        end = self.source.find("}", self.position)
        inner = self.source[self.position + 1 : end] if end >= 0 else ""
        low, comma, high = inner.partition(",")
        if not (low.isascii() and low.isdigit() and (not high or high.isdigit())):
            return None
        self.position = end + 1
        minimum = int(low)
        maximum = minimum if not comma else (int(high) if high else None)
        if maximum is not None and maximum < minimum:
            raise self.fail("a count with its bounds exchanged")
        if max(minimum, maximum or 0) > _LARGEST_COUNT:
            raise self.unsupported(f"a count over {_LARGEST_COUNT}")
        return minimum, maximum

    def atom(self) -> Node:
        char = self.next()
        match char:
            case "^" | "$":
                return Anchor(start=char == "^")
            case ".":
                return Chars(~LINE_ENDS)
            case "(":
                return self.group()
            case "[":
                return Chars(self.char_class())
            case "\\":
                return Chars(self.escape(in_class=False))
            case "*" | "+" | "?":
                self.position -= 1
                raise self.fail("nothing to repeat")
            case _:
                return Chars(CharSet.chars(char))

    def group(self) -> Node:
        look = self.peek("?=") or self.peek("?!")
        refused = self.peek("?!")
        if look:
            self.position += 2
        elif self.take("?"):
            if self.take("<") and not (self.peek("=") or self.peek("!")):
                while self.next() != ">":
                    pass
            elif not self.take(":"):
                raise self.unsupported("look-behind or another special group")
        self.depth += 1
        if self.depth > _DEEPEST_GROUP:
            raise self.unsupported(f"groups nested deeper than {_DEEPEST_GROUP}")
        body = self.either()
        self.depth -= 1
        if not self.take(")"):
            raise self.fail("a group isn't closed")
        return Look(body, refused) if look else body

    def escape(self, *, in_class: bool) -> CharSet:
        char = self.next()
        octal = char == "0" and self.source[self.position :][:1].isdigit()
        match char:
            case _ if char in _CLASSES:
                return _CLASSES[char]
            case _ if char in _CONTROLS and not octal:
                code = _CONTROLS[char]
            case "b" if in_class:
                code = 8
            case "x":
                code = self.hexadecimal(2)
            case "c":
                code = self.control()
            case "u":
                code = self.unicode_escape()
            case "p" | "P" if self.peek("{"):
                return self.property_class(negated=char == "P")
            case _ if char in "bBkpP" or char.isdigit():
                raise self.unsupported(f"\\{char}")
            case _:
                # `\a` and the like: an error with the u flag, the letter itself without.
                code = ord(char)
        return CharSet.of([(code, code)])

    def property_class(self, *, negated: bool) -> CharSet:
        end = self.source.find("}", self.position)
        name = self.source[self.position + 1 : max(end, self.position)]
        self.position = end + 1
        found = unicode_category(name.removeprefix("General_Category=").removeprefix("gc="))
        if found is None:
            raise self.unsupported(f"\\p{{{name}}}")
        return ~found if negated else found

    def control(self) -> int:
        letter = self.next()
        if not (letter.isascii() and letter.isalpha()):
            raise self.fail("a control escape without its letter")
        return ord(letter) % 32

    def hexadecimal(self, count: int) -> int:
        digits = self.source[self.position : self.position + count]
        self.position += count
        return self.number(digits if len(digits) == count else "")

    def number(self, digits: str) -> int:
        if not digits or set(digits) - _HEX:
            raise self.fail("a hexadecimal escape without its digits")
        return min(int(digits, 16), _LAST)

    def unicode_escape(self) -> int:
        if self.take("{"):
            end = self.source.find("}", self.position)
            value = self.number(self.source[self.position : max(end, self.position)])
            self.position = end + 1
            return value
        value = self.hexadecimal(4)
        if _HIGH_START <= value < _LOW_START and self.take("\\u"):
            low = self.hexadecimal(4)
            if not _LOW_START <= low <= _LOW_END:
                raise self.unsupported("a lone surrogate")
            value = 0x10000 + (value - _HIGH_START) * 0x400 + (low - _LOW_START)
        return value

    def char_class(self) -> CharSet:
        negated = self.take("^")
        members = CharSet()
        while not self.take("]"):
            first = self.member()
            is_range = self.peek("-") and not self.peek("-]")
            if is_range and len(first.ranges) == 1 and first.ranges[0][0] == first.ranges[0][1]:
                self.position += 1
                last = self.member()
                start, end = first.ranges[0][0], last.ranges[-1][1] if last else -1
                if len(last.ranges) != 1 or last.ranges[0][0] != end:
                    members |= first | last | CharSet.chars("-")
                elif end < start:
                    raise self.fail("a range with its ends exchanged")
                else:
                    members |= CharSet.of([(start, end)])
            else:
                members |= first
        return ~members if negated else members

    def member(self) -> CharSet:
        char = self.next()
        return self.escape(in_class=True) if char == "\\" else CharSet.chars(char)


@lru_cache(maxsize=512)
def parse_pattern(source: str) -> Node:
    """Parse a pattern and make it match whole texts: what isn't anchored gets `.*` around it.

    Returns:
        A tree without look-aheads.

    Raises:
        PatternInvalid: The text isn't a regular expression.
        PatternNotSupported: It is one, outside the supported subset.
    """
    spend(6 * len(source))
    parser = _Parser(source)
    tree = parser.either()
    if parser.position < len(source):
        raise parser.fail("an unmatched parenthesis")
    return _anchored(tree, source)


def _anchored(tree: Node, source: str) -> Node:
    """Resolve anchors at the ends of each alternative, and look-aheads between its parts."""
    options = [_whole(parts, source) for parts in _alternatives(tree)]
    return options[0] if len(options) == 1 else Either(tuple(options))


def _whole(option: tuple[Node, ...], source: str) -> Node:
    """Make a sequence match whole texts."""
    parts = list(option)
    start = bool(parts) and parts[0] == Anchor(start=True)
    while parts and parts[0] == Anchor(start=True):
        parts.pop(0)
    end = bool(parts) and parts[-1] == Anchor(start=False)
    while parts and parts[-1] == Anchor(start=False):
        parts.pop()
    if any(_has_look(part) for part in parts):
        raise PatternNotSupported(f"a look-ahead within a group of {source!r}")
    before = () if start else (ANYTHING,)
    after = () if end else (ANYTHING,)
    return Concat((*before, *_resolved((*parts, *after), source)))


def _resolved(parts: tuple[Node, ...], source: str) -> tuple[Node, ...]:
    """Turn each look-ahead into a condition on all that comes behind it."""
    for index in reversed(range(len(parts))):
        part = parts[index]
        if isinstance(part, Look):
            if any(_has_anchor(other, start=True) for other in parts[index:]):
                raise PatternNotSupported(f"an anchor behind a look-ahead of {source!r}")
            ahead = _anchored(Concat((Anchor(start=True), part.body)), source)
            rest = Concat(parts[index + 1 :])
            both = Both((rest,), (ahead,)) if part.refused else Both((rest, ahead), ())
            parts = (*parts[:index], both)
    return parts


def _has_look(node: Node) -> bool:
    """Whether there's a look-ahead anywhere below a part of a sequence."""
    match node:
        case Concat(parts) | Either(parts):
            return any(isinstance(part, Look) or _has_look(part) for part in parts)
        case Times(body, _, _):
            return isinstance(body, Look) or _has_look(body)
        case _:
            return False


_MOST_ALTERNATIVES = 64


def _alternatives(tree: Node) -> list[tuple[Node, ...]]:
    """Give the sequences that a tree offers, distributing groups with anchors at their ends."""
    if isinstance(tree, Either):
        return [parts for option in tree.options for parts in _alternatives(option)]
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    for place in (0, len(parts) - 1):
        if parts and isinstance(parts[place], Either | Concat) and _has_anchor(parts[place]):
            inner = _alternatives(parts[place])
            if len(inner) > _MOST_ALTERNATIVES:
                raise PatternNotSupported("too many alternatives with anchors")
            result: list[tuple[Node, ...]] = []
            for option in inner:
                joined = Concat((*parts[:place], *option, *parts[place + 1 :]))
                result.extend(_alternatives(joined))
            return result
    return [parts]


def _has_anchor(node: Node, *, start: bool = False) -> bool:
    """Whether there's an anchor in a tree; one at the start of the text, if so asked."""
    match node:
        case Anchor(at_start):
            return at_start or not start
        case Concat(parts) | Either(parts):
            return any(_has_anchor(part, start=start) for part in parts)
        case Times(body, _, _) | Look(body, _):
            return _has_anchor(body, start=start)
        case _:
            return False
