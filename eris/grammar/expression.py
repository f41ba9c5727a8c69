"""The intermediate representation of a grammar: small immutable expressions under rule names.

The constructors `sequence`, `choice` and `repeat` keep expressions in a normal form (flat,
adjacent literals joined, empty parts dropped), so that equal languages built in the same way
compare equal and share one rule. `None` stands for "no text at all fits" wherever an
`Expression | None` appears. Expressions with parts remember their hash, since they are looked up
in tables at every level.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text; empty text is the empty expression."""

    text: str


@dataclass(frozen=True, slots=True)
class CharClass:
    """One character out of (or, negated, outside of) inclusive ranges of code points."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """All parts, one after the other."""

    parts: "tuple[Expression, ...]"
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("Sequence", self.parts)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of the options."""

    options: "tuple[Expression, ...]"
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("Choice", self.options)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Repeat:
    """`minimum` to `maximum` times the same expression; `maximum` None means without end."""

    body: "Expression"
    minimum: int
    maximum: int | None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("Repeat", self.body, self.minimum, self.maximum)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Reference:
    """Whatever the rule of this name matches."""

    rule: str


Expression = Literal | CharClass | Sequence | Choice | Repeat | Reference

EMPTY = Literal("")


def sequence(*parts: Expression) -> Expression:
    """Join parts, flattening nested sequences and merging neighbouring literals."""
    flat: list[Expression] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Sequence) else (part,):
            if piece == EMPTY:
                continue
            last = flat[-1] if flat else None
            if isinstance(piece, Literal) and isinstance(last, Literal):
                flat[-1] = Literal(last.text + piece.text)
            else:
                flat.append(piece)
    if not flat:
        return EMPTY
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(options: Iterable[Expression | None]) -> Expression | None:
    """Join options without duplicates; None options drop out, no option at all gives None."""
    seen: dict[Expression, None] = {}
    for option in options:
        if option is None:
            continue
        for one in option.options if isinstance(option, Choice) else (option,):
            seen.setdefault(one)
    if not seen:
        return None
    if len(seen) == 1:
        return next(iter(seen))
    if EMPTY in seen:
        del seen[EMPTY]
        rest = choice(seen)
        return EMPTY if rest is None else repeat(rest, 0, 1)
    return Choice(tuple(seen))


def repeat(body: Expression, minimum: int, maximum: int | None) -> Expression:
    """Repeat, with the trivial cases (none, once, the empty text, an optional of an optional)."""
    if maximum == 0 or body == EMPTY:
        return EMPTY
    if (minimum, maximum) == (1, 1):
        return body
    if (minimum, maximum) == (0, 1) and isinstance(body, Repeat) and body.minimum <= 1:
        return Repeat(body.body, 0, body.maximum)
    return Repeat(body, minimum, maximum)


def children(expression: Expression) -> tuple[Expression, ...]:
    """Give the direct parts of an expression."""
    match expression:
        case Sequence(parts):
            return parts
        case Choice(options):
            return options
        case Repeat(body, _, _):
            return (body,)
        case _:
            return ()


def references(expression: Expression) -> Iterator[str]:
    """Give the rule names that an expression mentions, in order, with repetitions."""
    stack = [expression]
    while stack:
        current = stack.pop()
        if isinstance(current, Reference):
            yield current.rule
        stack.extend(reversed(children(current)))


def count(expression: Expression) -> int:
    """Count an expression and all in it; what it refers to isn't counted."""
    found = 0
    stack = [expression]
    while stack:
        found += 1
        stack.extend(children(stack.pop()))
    return found


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name, in printing order; `root` is where a text begins."""

    rules: Mapping[str, Expression]
    root: str = "root"


@dataclass(slots=True)
class RuleBook:
    """Collects rules while a grammar is built, under unique names that every engine can read.

    Names are `hint` or `hint-N`: lower-case letters, digits and hyphens only. Rules added with
    `define` and equal expressions share one name.

    Attributes:
        limit: Most rules.
        parts_limit: Most expressions in all rules; None for no limit, which costs no counting.
        parts: Expressions so far, if they're counted.
        rules: The rules so far.
        shared: Rules that many parts use, by a name of their own, whatever the rule is called.
        contents: Contents of strings by the conditions they fulfil.
        structural: Names of rules that hold parts of objects and arrays.
        mixed: Whether structures of different kinds are possible at one place (see `unfuse`).
    """

    limit: int = 20_000
    parts_limit: int | None = None
    parts: int = 0
    rules: dict[str, Expression] = field(default_factory=dict)
    shared: dict[str, Reference] = field(default_factory=dict)
    contents: dict[object, tuple[Expression | None]] = field(default_factory=dict)
    structural: set[str] = field(default_factory=set)
    mixed: bool = False
    _by_expression: dict[Expression, str] = field(default_factory=dict)
    _counters: dict[str, int] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=lambda: {"root", "start"})

    def reserve(self, hint: str) -> str:
        """Take a fresh name for a rule that is set later, with `set`, because it may recur."""
        name = clean = _clean(hint)
        while name in self._taken:
            self._counters[clean] = self._counters.get(clean, 1) + 1
            name = f"{clean}-{self._counters[clean]}"
        self._taken.add(name)
        return name

    def set(self, name: str, expression: Expression) -> Reference:
        """Give a reserved name its expression.

        Raises:
            OverflowError: There are more rules, or more parts of them, than the limit.
        """
        if len(self.rules) >= self.limit:
            raise OverflowError(f"more than {self.limit} rules")
        if self.parts_limit is not None:
            self.parts += count(expression)
            if self.parts > self.parts_limit:
                raise OverflowError(f"a grammar of more than {self.parts_limit} parts")
        self.rules[name] = expression
        return Reference(name)

    def define(self, hint: str, expression: Expression) -> Reference:
        """Add a rule, or find the one that has this expression already."""
        if isinstance(expression, Reference):
            return expression
        known = self._by_expression.get(expression)
        if known is None:
            known = self._by_expression[expression] = self.reserve(hint)
            self.set(known, expression)
        return Reference(known)

    def structure(self, hint: str, expression: Expression) -> Reference:
        """Add a rule like `define`, noting that it holds parts of objects or arrays."""
        reference = self.define(hint, expression)
        self.structural.add(reference.rule)
        return reference

    def mark(self) -> tuple[int, int]:
        """Remember the present state, for `rollback`."""
        return len(self.rules), len(self._by_expression)

    def rollback(self, mark: tuple[int, int]) -> None:
        """Take out everything that was added since the mark."""
        for name in list(self.rules)[mark[0] :]:
            del self.rules[name]
        for expression in list(self._by_expression)[mark[1] :]:
            del self._by_expression[expression]
        self.contents.clear()
        for name in [name for name, one in self.shared.items() if one.rule not in self.rules]:
            del self.shared[name]


_NEVER = CharClass(((0, 0x10FFFF),), negated=True)


def unfuse(grammar: Grammar, structural: Iterable[str]) -> Grammar:
    """Keep llguidance from fusing whole objects and arrays into single pieces of text.

    It makes one piece out of every rule that doesn't recur, and splits text greedily without
    going back. Where `{"a": 1}` as one piece meets a free object at the same place, it would
    follow the piece and refuse `{"a": 1, "b": 2}`. An option that recurs, but begins with a
    character that doesn't exist, prevents that and changes nothing else.
    """
    name = "never"
    while name in grammar.rules:
        name += "-never"
    never = Reference(name)
    rules = dict(grammar.rules)
    for rule in structural:
        if rule in rules:
            known = rules[rule]
            options = known.options if isinstance(known, Choice) else (known,)
            rules[rule] = Choice((*options, never))
    rules[name] = Sequence((_NEVER, never))
    return Grammar(rules, grammar.root)


_LONGEST_HINT = 24


def _clean(hint: str) -> str:
    letters = (c if c.isascii() and c.isalnum() else "-" for c in hint[:_LONGEST_HINT].lower())
    words = "-".join(word for word in "".join(letters).split("-") if word)
    # A digit at either end would let `a` + `-2` meet a hint that is `a-2` already.
    words = words.strip("-0123456789")
    return words or "part"
