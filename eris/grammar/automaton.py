"""Deterministic automata over characters, for what trees can't say: intersection, complement.

Used where several conditions on one string meet (pattern and length, two patterns, a key that
is none of the declared ones). States are numbers; every state of a finished automaton leads to
an accepting one, so a generator can't walk into a dead end.
"""

from dataclasses import dataclass

from eris.grammar.charset import EVERYTHING, CharSet
from eris.grammar.effort import spend
from eris.grammar.pattern import PatternNotSupported


class AutomatonTooLarge(PatternNotSupported):
    """More states than are sensible."""


MOST_STATES = 1_500
# Merging takes time quadratic in the states; without it the automaton is larger, not wrong.
_MOST_MERGED = 100

Edges = tuple[tuple[CharSet, int], ...]


@dataclass(frozen=True, slots=True)
class Automaton:
    """A deterministic automaton, without edges into states that can't accept.

    Attributes:
        edges: For each state, disjoint character sets and where they lead.
        accepting: The states in which a text may end.
        start: The first state; an automaton without states matches nothing.
    """

    edges: tuple[Edges, ...]
    accepting: frozenset[int]
    start: int = 0


def from_length(minimum: int, maximum: int | None) -> Automaton:
    """Build the automaton of all texts with so many characters.

    Raises:
        AutomatonTooLarge: It would need too many states.
    """
    last = minimum if maximum is None else maximum
    if last >= MOST_STATES:
        raise AutomatonTooLarge("a length with too many states")
    edges: list[Edges] = [((EVERYTHING, state + 1),) for state in range(last)]
    edges.append(((EVERYTHING, last),) if maximum is None else ())
    return Automaton(tuple(edges), frozenset(range(minimum, last + 1)))


def complement(automaton: Automaton) -> Automaton:
    """Give the automaton of everything that this one refuses."""
    sink = len(automaton.edges)
    edges: list[Edges] = []
    for row in automaton.edges:
        rest = EVERYTHING
        for chars, _ in row:
            rest -= chars
        edges.append((*row, (rest, sink)) if rest else row)
    edges.append(((EVERYTHING, sink),))
    accepting = frozenset(range(len(edges))) - automaton.accepting
    return _trim(Automaton(tuple(edges), accepting, automaton.start))


def intersect(left: Automaton, right: Automaton) -> Automaton:
    """Give the automaton of what both accept.

    Raises:
        AutomatonTooLarge: It would need too many states.
    """
    if not left.edges or not right.edges:
        return Automaton((), frozenset())
    begin = (left.start, right.start)
    numbers = {begin: 0}
    order = [begin]
    edges: list[Edges] = []
    for one, other in order:
        spend(5 * len(left.edges[one]) * len(right.edges[other]))
        row: list[tuple[CharSet, int]] = []
        for chars, to_left in left.edges[one]:
            for others, to_right in right.edges[other]:
                common = chars & others
                if not common:
                    continue
                pair = (to_left, to_right)
                if pair not in numbers:
                    if len(order) >= MOST_STATES:
                        raise AutomatonTooLarge("conditions with too many states together")
                    numbers[pair] = len(order)
                    order.append(pair)
                row.append((common, numbers[pair]))
        edges.append(tuple(row))
    accepting = frozenset(
        number
        for (one, other), number in numbers.items()
        if one in left.accepting and other in right.accepting
    )
    return _trim(Automaton(tuple(edges), accepting))


def tidy(automaton: Automaton) -> Automaton:
    """Give the same automaton without dead states, equal ones merged if there aren't too many."""
    return _trim(automaton, merge=len(automaton.edges) <= _MOST_MERGED)


def _trim(automaton: Automaton, *, merge: bool = False) -> Automaton:
    """Drop the states from which nothing is accepted, after merging equal ones if asked to."""
    alive = _alive(automaton)
    if automaton.start not in alive:
        return Automaton((), frozenset())
    kinds = _equal_states(automaton, alive) if merge else {state: state for state in alive}
    order = [automaton.start]
    numbers = {kinds[automaton.start]: 0}
    edges: list[Edges] = []
    for state in order:
        row: dict[int, CharSet] = {}
        for chars, target in automaton.edges[state]:
            if target not in alive:
                continue
            if kinds[target] not in numbers:
                numbers[kinds[target]] = len(order)
                order.append(target)
            number = numbers[kinds[target]]
            row[number] = row[number] | chars if number in row else chars
        edges.append(tuple((chars, target) for target, chars in row.items()))
    accepting = frozenset(
        number for number, state in enumerate(order) if state in automaton.accepting
    )
    return Automaton(tuple(edges), accepting)


def _alive(automaton: Automaton) -> set[int]:
    """Give the states from which an accepting one can be reached."""
    before: dict[int, set[int]] = {}
    for state, row in enumerate(automaton.edges):
        for _, target in row:
            before.setdefault(target, set()).add(state)
    alive = set(automaton.accepting)
    todo = list(alive)
    while todo:
        for state in before.get(todo.pop(), ()):
            if state not in alive:
                alive.add(state)
                todo.append(state)
    return alive


def _equal_states(automaton: Automaton, alive: set[int]) -> dict[int, int]:
    """Refine classes of states until those of one class can't be told apart."""
    classes = {state: int(state in automaton.accepting) for state in alive}
    count = len(set(classes.values()))
    while True:
        signatures: dict[object, int] = {}
        refined: dict[int, int] = {}
        for state in sorted(alive):
            by_class: dict[int, CharSet] = {}
            for chars, target in automaton.edges[state]:
                if target in alive:
                    kind = classes[target]
                    by_class[kind] = by_class.get(kind, CharSet()) | chars
            signature = (classes[state], frozenset(by_class.items()))
            refined[state] = signatures.setdefault(signature, len(signatures))
        if len(signatures) == count:
            return refined
        classes, count = refined, len(signatures)
