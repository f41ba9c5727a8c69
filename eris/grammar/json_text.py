r"""JSON values as grammar expressions: whole values, strings of any text, single characters.

Free strings accept every valid JSON spelling (`\u0041`, `\/`, surrogate pairs in order).
Strings whose characters are restricted are written in one canonical way: a character stands for
itself; quote, backslash and control characters are escaped.
"""

import json
from dataclasses import dataclass
from functools import lru_cache

from eris.grammar.charset import EVERYTHING, CharSet
from eris.grammar.expression import (
    CharClass,
    Choice,
    Expression,
    Literal,
    Reference,
    RuleBook,
    Sequence,
    choice,
    sequence,
)

_CONTROL_END = 0x20
_LAST = 0x10FFFF
_HIGH_NIBBLE = 0x10
_SHORT_ESCAPES = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r"}
_MUST_ESCAPE = CharSet.of([(0, _CONTROL_END - 1)]) | CharSet.chars('"\\')
_INDENT = "  "
_HEX = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))


@dataclass(frozen=True, slots=True)
class Form:
    """The fixed text around values.

    A form may write the outermost levels of a value line by line, as `json.dumps(indent=2)` does.
    Whatever lies deeper is on one line, so that the form of a part depends on nothing but its
    depth: a recursive schema stays a recursive rule, and the form can be written without knowing
    the schema. An empty object or array is always `{}` or `[]`.

    Attributes:
        colon: Between a key and its value.
        comma: Between the members of an object or an array on one line.
        lines: So many levels of objects and arrays are written line by line.
        level: How deep the value stands; counted while lines are left.
    """

    colon: str = ": "
    comma: str = ", "
    lines: int = 0
    level: int = 0

    @property
    def opening(self) -> str:
        """Behind an opening brace or bracket."""
        return self._line(self.level + 1) if self.lines else ""

    @property
    def between(self) -> str:
        """Between two members of the object or array at this level."""
        return f",{self._line(self.level + 1)}" if self.lines else self.comma

    @property
    def closing(self) -> str:
        """Before a closing brace or bracket."""
        return self._line(self.level) if self.lines else ""

    @property
    def inner(self) -> "Form":
        """The form of the values inside of an object or array at this level."""
        if self.lines <= 1:
            return Form(self.colon, self.comma)
        return Form(self.colon, self.comma, self.lines - 1, self.level + 1)

    @staticmethod
    def _line(level: int) -> str:
        return "\n" + _INDENT * level


SPACED = Form()
COMPACT = Form(":", ",")
INDENTED = Form(lines=4)
"""An envelope, its calls and their arguments line by line; each argument on one line."""

FORMS = {"spaced": SPACED, "compact": COMPACT, "indented": INDENTED}
"""The forms that can be chosen, by name."""

DEFAULT_FORM = SPACED


def dump(value: object, form: Form = DEFAULT_FORM) -> str:
    """Write a JSON value in the fixed form, characters beyond ASCII as themselves.

    Raises:
        ValueError: The value holds NaN, an infinity or a lone surrogate.
    """
    text = _dump(value, form)
    text.encode()  # a lone surrogate has no UTF-8
    return text


def _dump(value: object, form: Form) -> str:
    if not form.lines or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(form.comma, form.colon)
        )
    inner = form.inner
    if isinstance(value, dict):
        parts = [
            f"{_dump(key, inner)}{form.colon}{_dump(one, inner)}" for key, one in value.items()
        ]
        brackets = "{}"
    else:
        parts = [_dump(one, inner) for one in value]
        brackets = "[]"
    return f"{brackets[0]}{form.opening}{form.between.join(parts)}{form.closing}{brackets[1]}"


def quoted(*contents: Expression) -> Expression:
    """Put quotation marks around the contents of a string."""
    return sequence(Literal('"'), *contents, Literal('"'))


def char_class(chars: CharSet) -> CharClass:
    """Write a set as the shorter of the class and its negation."""
    outside = ~chars
    if outside and len(outside.ranges) <= len(chars.ranges) and (_LAST in chars):
        return CharClass(outside.ranges, negated=True)
    return CharClass(chars.ranges)


@lru_cache(maxsize=4_096)
def encode_chars(chars: CharSet) -> Expression | None:
    """Give the canonical JSON spelling of one character out of a set; None for the empty set."""
    options: list[Expression] = []
    plain = chars - _MUST_ESCAPE
    if plain:
        first, last = plain.ranges[0][0], plain.ranges[-1][1]
        options.append(Literal(chr(first)) if first == last else char_class(plain))
    short = "".join(char for char in '"\\' if ord(char) in chars)
    short += "".join(letter for code, letter in _SHORT_ESCAPES.items() if code in chars)
    if short:
        options.append(sequence(Literal("\\"), _one_of(short)))
    for nibble in "01":
        start = int(nibble) * _HIGH_NIBBLE
        digits = "".join(
            f"{code - start:x}"
            for code in range(start, start + _HIGH_NIBBLE)
            if code in chars and code not in _SHORT_ESCAPES
        )
        if digits:
            options.append(sequence(Literal(f"\\u00{nibble}"), _one_of(digits + digits.upper())))
    return choice(options)


def encode_text(text: str) -> Expression:
    """Give the canonical JSON spelling of a text, without quotation marks."""
    return Literal(json.dumps(text, ensure_ascii=False)[1:-1])


def _one_of(letters: str) -> Expression:
    if len(letters) == 1:
        return Literal(letters)
    return CharClass(CharSet.chars(letters).ranges)


def _any_char() -> Choice:
    hex_digit = CharClass(_HEX)
    not_surrogate_d = sequence(_one_of("dD"), CharClass(((0x30, 0x37),)), hex_digit, hex_digit)
    high = sequence(_one_of("dD"), _one_of("89abAB"), hex_digit, hex_digit)
    low = sequence(_one_of("dD"), _one_of("cdefCDEF"), hex_digit, hex_digit)
    first = CharClass(((0x30, 0x39), (0x41, 0x43), (0x45, 0x46), (0x61, 0x63), (0x65, 0x66)))
    unicode_escape = Choice(
        (
            sequence(first, hex_digit, hex_digit, hex_digit),
            not_surrogate_d,
            sequence(high, Literal("\\u"), low),
        )
    )
    return Choice(
        (
            char_class(EVERYTHING - _MUST_ESCAPE),
            Sequence((Literal("\\"), _one_of('"\\/bfnrt'))),
            Sequence((Literal("\\u"), unicode_escape)),
        )
    )


_ANY_CHAR = _any_char()


def any_char(rules: RuleBook) -> Reference:
    """Define, once, the rule of one character of a JSON string in any valid spelling."""
    return rules.define("char", _ANY_CHAR)


BOOLEAN = Choice((Literal("true"), Literal("false")))
NULL = Literal("null")
