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
    loops: list[tuple[str, Expression]] = []
    for name, expression in rules.items():
        if not _NAME.fullmatch(name):
            raise InvalidGrammar(f"{name!r} is no rule name: use a-z, 0-9 and -")
        nodes += _measure(name, expression, rules, limits, loops)
    if nodes > limits.nodes:
        raise InvalidGrammar(f"{nodes} expressions are more than {limits.nodes}")
    nullable = nullable_rules(rules)
    for name, body in loops:
        # llama.cpp reads `(x?)*` as a left recursion.
        if _nullable(body, nullable):
            raise InvalidGrammar(f"rule {name!r} repeats without end what may be empty")
    _refuse_left_recursion(rules, nullable)


def _measure(
    rule: str,
    expression: Expression,
    rules: Mapping[str, Expression],
    limits: Limits,
    loops: list[tuple[str, Expression]],
) -> int:
    """Count the expressions of a rule, check each, and note what repeats without end."""
    count = 0
    stack = [(expression, 0, 1)]
    while stack:
        current, depth, product = stack.pop()
        count += 1
        problem = _problem(current, rules)
        if problem:
            raise InvalidGrammar(f"rule {rule!r} {problem}")
        if isinstance(current, Repeat):
            product *= max(1, current.minimum, current.maximum or 0)
            if current.maximum is None:
                loops.append((rule, current.body))
            if product > limits.repetition:
                raise InvalidGrammar(
                    f"rule {rule!r} repeats {product} times, more than {limits.repetition}"
                )
        following = children(current)
        if following and depth >= limits.depth:
            raise InvalidGrammar(f"rule {rule!r} nests deeper than {limits.depth}")
        stack.extend((child, depth + 1, product) for child in following)
    return count


def _problem(expression: Expression, rules: Mapping[str, Expression]) -> str:
    """Say what is wrong with one expression by itself; empty if nothing is."""
    match expression:
        case Repeat(_, minimum, maximum) if maximum is not None and maximum < minimum:
            return f"repeats {minimum} to {maximum} times"
        case CharClass(ranges, _) if not ranges or any(first > last for first, last in ranges):
            return "has an empty character class"
        case Sequence(()) | Choice(()):
            return "has a part without content"
        case Reference(name) if name not in rules:
            return f"uses {name!r}, which isn't defined"
        case _:
            return ""


def nullable_rules(rules: Mapping[str, Expression]) -> frozenset[str]:
    """Give the names of the rules that match the empty text."""
    uses = {name: tuple(references(expression)) for name, expression in rules.items()}
    return _least_fixpoint(rules, uses, _nullable)


def prune(grammar: Grammar) -> Grammar | None:
    """Drop what can never end (such as a required endless recursion) and what nobody reaches.

    Returns None when nothing is left of the root rule.
    """
    uses = _reachable(grammar)
    productive = _least_fixpoint(grammar.rules, uses, _productive)
    if grammar.root not in productive:
        return None
    dead = uses.keys() - productive
    rules: dict[str, Expression] = {}
    for name, expression in grammar.rules.items():
        if name not in productive:
            continue
        kept = expression if dead.isdisjoint(uses[name]) else _without_dead(expression, productive)
        if kept is None:  # productive by the fixpoint, so something must be left
            raise InvalidGrammar(f"rule {name!r} can't be reduced")
        rules[name] = kept
    if dead:
        reduced = Grammar(rules, grammar.root)
        still = _reachable(reduced)
        rules = {name: rule for name, rule in rules.items() if name in still}
    return Grammar(rules, grammar.root)


def _reachable(grammar: Grammar) -> dict[str, tuple[str, ...]]:
    """Give the rules that the root needs, each with the rules that it uses."""
    found: dict[str, tuple[str, ...]] = {}
    todo = [grammar.root]
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = tuple(references(grammar.rules[name]))
            todo.extend(found[name])
    return found


class _Property(Protocol):
    """The shape of `_nullable` and `_productive`."""

    def __call__(self, expression: Expression, known: set[str], /) -> bool: ...


def _least_fixpoint(
    rules: Mapping[str, Expression],
    uses: Mapping[str, tuple[str, ...]],
    holds: _Property,
) -> frozenset[str]:
    users: dict[str, list[str]] = {}
    for name, used in uses.items():
        for reference in used:
            users.setdefault(reference, []).append(name)
    found: set[str] = set()
    # Rules mostly use earlier ones, so the order of definition settles nearly all at once.
    todo = [name for name in reversed(list(rules)) if name in uses]
    while todo:
        name = todo.pop()
        if name not in found and holds(rules[name], found):
            found.add(name)
            todo.extend(user for user in users.get(name, ()) if user not in found)
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
