r"""Grammar expressions as GBNF text, in the subset that llama.cpp and llguidance both read.

Known limits of the readers that shape the text: rule names hold `[a-z0-9-]` only; a rule may
continue on the next line only after `|`; llguidance's converter drops leading zeros of `\u`
escapes, so characters beyond ASCII are written as themselves.
"""

from functools import lru_cache

from eris.grammar.expression import (
    CharClass,
    Choice,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
    Sequence,
)

_ASCII_END = 0x7F
_WRAP = 96
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
_ESCAPES = {
    code: _SHORT.get(chr(code), f"\\x{code:02X}")
    for code in [*range(0x20), *map(ord, _SHORT), _ASCII_END]
}
_CLASS_SPECIAL = frozenset("[]^-")


def print_grammar(grammar: Grammar) -> str:
    """Write the grammar as GBNF, the root rule first, one rule after the other."""
    names = [grammar.root, *(name for name in grammar.rules if name != grammar.root)]
    return "".join(_rule(name, grammar.rules[name]) for name in names)


def _rule(name: str, expression: Expression) -> str:
    line = f"{name} ::= {_text(expression)}\n"
    if isinstance(expression, Choice) and len(line) > _WRAP:
        options = " |\n  ".join(_text(option) for option in expression.options)
        return f"{name} ::= {options}\n"
    return line


def _text(expression: Expression) -> str:
    match expression:
        case Literal(text):
            return f'"{text.translate(_ESCAPES)}"'
        case CharClass(ranges, negated):
            return f"[{'^' if negated else ''}{''.join(_range(*pair) for pair in ranges)}]"
        case Sequence(parts):
            return " ".join(f"({_text(p)})" if isinstance(p, Choice) else _text(p) for p in parts)
        case Choice(options):
            return " | ".join(map(_text, options))
        case Repeat(body, minimum, maximum):
            atom = isinstance(body, CharClass | Reference) or (
                isinstance(body, Literal) and len(body.text) == 1
            )
            inner = _text(body) if atom else f"({_text(body)})"
            if isinstance(body, Repeat):
                # llguidance's converter would read `(x{1,4})?` as `x{1,4}?`.
                inner = f'({_text(body)} "")'
            return inner + _times(minimum, maximum)
        case Reference(rule):
            return rule


def _times(minimum: int, maximum: int | None) -> str:
    match minimum, maximum:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if minimum == maximum:
            return f"{{{minimum}}}"
        case _:
            return f"{{{minimum},{'' if maximum is None else maximum}}}"


def _range(first: int, last: int) -> str:
    if first == last:
        return _class_char(first)
    return f"{_class_char(first)}-{_class_char(last)}"


@lru_cache(maxsize=1_024)
def _class_char(code: int) -> str:
    char = chr(code)
    if char in _CLASS_SPECIAL:
        return f"\\x{code:02X}"
    return char.translate(_ESCAPES)
