"""The last gate before a grammar leaves this package.

llama.cpp crashes the process on a grammar with an undefined rule or with left recursion, and
builds its stacks rule by rule for bounded repetitions, so everything here is checked by us first.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from eris.grammar.errors import InvalidGrammar
from eris.grammar.expression import (
    CharClass,
    Choice,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
    Sequence,
    children,
    choice,
    references,
    repeat,
    sequence,
)

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Limits:
    """What an engine can still load quickly.

    Attributes:
        rules: Most rules in one grammar.
        nodes: Most expressions in one grammar.
        repetition: Highest product of the bounds of nested repetitions in one rule; llama.cpp
            refuses more than 2,000.
        depth: Deepest nesting of expressions in one rule.
    """

    rules: int = 20_000
    nodes: int = 400_000
    repetition: int = 2_000
    depth: int = 200


DEFAULT_LIMITS = Limits()


def check(grammar: Grammar, limits: Limits = DEFAULT_LIMITS) -> None:
    """Make sure that an engine can take this grammar.

    Raises:
        InvalidGrammar: It can't; the message says which rule is at fault and why.
    """
    rules = grammar.rules
    if grammar.root not in rules:
        raise InvalidGrammar(f"there is no rule {grammar.root!r} to start from")
    if len(rules) > limits.rules:
        raise InvalidGrammar(f"{len(rules)} rules are more than {limits.rules}")
    nodes = 0
    for name, expression in rules.items():
        if not _NAME.fullmatch(name):
            raise InvalidGrammar(f"{name!r} is no rule name: use a-z, 0-9 and -")
        for reference in references(expression):
            if reference not in rules:
                raise InvalidGrammar(f"rule {name!r} uses {reference!r}, which isn't defined")
        nodes += _measure(name, expression, limits)
    if nodes > limits.nodes:
        raise InvalidGrammar(f"{nodes} expressions are more than {limits.nodes}")
    nullable = nullable_rules(rules)
    for name, expression in rules.items():
        _refuse_empty_loops(name, expression, nullable)
    _refuse_left_recursion(rules, nullable)


def _refuse_empty_loops(rule: str, expression: Expression, nullable: frozenset[str]) -> None:
    """llama.cpp reads `(x?)*` as a left recursion."""
    stack = [expression]
    while stack:
        current = stack.pop()
        match current:
            case Repeat(body, _, None) if _nullable(body, nullable):
                raise InvalidGrammar(f"rule {rule!r} repeats without end what may be empty")
            case _:
                stack.extend(children(current))


def _measure(rule: str, expression: Expression, limits: Limits) -> int:
    """Count expressions iteratively, checking depth, bounds and classes on the way."""
    count = 0
    stack = [(expression, 0, 1)]
    while stack:
        current, depth, product = stack.pop()
        count += 1
        if depth > limits.depth:
            raise InvalidGrammar(f"rule {rule!r} nests deeper than {limits.depth}")
        match current:
            case Repeat(_, minimum, maximum):
                if minimum < 0 or (maximum is not None and maximum < minimum):
                    raise InvalidGrammar(f"rule {rule!r} repeats {minimum} to {maximum} times")
                product *= max(1, minimum, maximum or 0)
                if product > limits.repetition:
                    raise InvalidGrammar(
                        f"rule {rule!r} repeats {product} times, more than {limits.repetition}"
                    )
            case CharClass(ranges, _):
                if not ranges or any(first > last for first, last in ranges):
                    raise InvalidGrammar(f"rule {rule!r} has an empty character class")
            case Sequence(()) | Choice(()):
                raise InvalidGrammar(f"rule {rule!r} has a part without content")
            case _:
                pass
        stack.extend((child, depth + 1, product) for child in children(current))
    return count


def nullable_rules(rules: Mapping[str, Expression]) -> frozenset[str]:
    """Give the names of the rules that match the empty text."""
    return _least_fixpoint(rules, _nullable)


def productive_rules(rules: Mapping[str, Expression]) -> frozenset[str]:
    """Give the names of the rules that some finite text matches."""
    return _least_fixpoint(rules, _productive)


def prune(grammar: Grammar) -> Grammar | None:
    """Drop what can never end (such as a required endless recursion) and what nobody reaches.

    Returns None when nothing is left of the root rule.
    """
    reachable = _reachable(grammar)
    productive = productive_rules(reachable)
    if grammar.root not in productive:
        return None
    rules: dict[str, Expression] = {}
    todo = [grammar.root]
    while todo:
        name = todo.pop()
        if name in rules:
            continue
        kept = grammar.rules[name]
        if any(reference not in productive for reference in references(kept)):
            reduced = _without_dead(kept, productive)
            if reduced is None:  # productive by the fixpoint, so something must be left
                raise InvalidGrammar(f"rule {name!r} can't be reduced")
            kept = reduced
        rules[name] = kept
        todo.extend(references(kept))
    order = [name for name in grammar.rules if name in rules]
    return Grammar({name: rules[name] for name in order}, grammar.root)


class _Property(Protocol):
    """The shape of `_nullable` and `_productive`."""

    def __call__(self, expression: Expression, known: set[str], /) -> bool: ...


def _reachable(grammar: Grammar) -> dict[str, Expression]:
    found: dict[str, Expression] = {}
    todo = [grammar.root]
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = grammar.rules[name]
            todo.extend(references(grammar.rules[name]))
    return found


def _least_fixpoint(
    rules: Mapping[str, Expression],
    holds: _Property,
) -> frozenset[str]:
    users: dict[str, list[str]] = {}
    for name, expression in rules.items():
        for reference in set(references(expression)):
            users.setdefault(reference, []).append(name)
    found: set[str] = set()
    todo = list(rules)
    while todo:
        name = todo.pop()
        if name not in found and holds(rules[name], found):
            found.add(name)
            todo.extend(users.get(name, ()))
    return frozenset(found)


def _nullable(expression: Expression, known: Iterable[str]) -> bool:
    match expression:
        case Literal(text):
            return not text
        case CharClass():
            return False
        case Sequence(parts):
            return all(_nullable(part, known) for part in parts)
        case Choice(options):
            return any(_nullable(option, known) for option in options)
        case Repeat(body, minimum, _):
            return minimum == 0 or _nullable(body, known)
        case Reference(rule):
            return rule in known


def _productive(expression: Expression, known: Iterable[str]) -> bool:
    match expression:
        case Literal() | CharClass():
            return True
        case Sequence(parts):
            return all(_productive(part, known) for part in parts)
        case Choice(options):
            return any(_productive(option, known) for option in options)
        case Repeat(body, minimum, _):
            return minimum == 0 or _productive(body, known)
        case Reference(rule):
            return rule in known


def _without_dead(expression: Expression, productive: frozenset[str]) -> Expression | None:
    match expression:
        case Literal() | CharClass():
            return expression
        case Sequence(parts):
            kept = [_without_dead(part, productive) for part in parts]
            alive = [part for part in kept if part is not None]
            return sequence(*alive) if len(alive) == len(kept) else None
        case Choice(options):
            return choice(_without_dead(option, productive) for option in options)
        case Repeat(body, minimum, maximum):
            inner = _without_dead(body, productive)
            if inner is None:
                return Literal("") if minimum == 0 else None
            return repeat(inner, minimum, maximum)
        case Reference(rule):
            return expression if rule in productive else None


def _leftmost(expression: Expression, nullable: frozenset[str]) -> set[str]:
    """Give the rules that may come first in an expression, before any character."""
    match expression:
        case Literal() | CharClass():
            return set()
        case Sequence(parts):
            found: set[str] = set()
            for part in parts:
                found |= _leftmost(part, nullable)
                if not _nullable(part, nullable):
                    break
            return found
        case Choice(options):
            return set().union(*(_leftmost(option, nullable) for option in options))
        case Repeat(body, _, _):
            return _leftmost(body, nullable)
        case Reference(rule):
            return {rule}


def _refuse_left_recursion(rules: Mapping[str, Expression], nullable: frozenset[str]) -> None:
    edges = {name: _leftmost(expression, nullable) for name, expression in rules.items()}
    finished: set[str] = set()
    for start in rules:
        if start in finished:
            continue
        open_rules: set[str] = {start}
        stack = [(start, iter(sorted(edges[start])))]
        while stack:
            name, following = stack[-1]
            step = next(following, None)
            if step is None:
                stack.pop()
                open_rules.discard(name)
                finished.add(name)
            elif step in open_rules:
                raise InvalidGrammar(f"rule {step!r} can begin with itself (through {name!r})")
            elif step not in finished:
                open_rules.add(step)
                stack.append((step, iter(sorted(edges[step]))))
