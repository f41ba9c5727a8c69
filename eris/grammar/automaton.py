"""Deterministic automata over characters, for what trees can't say: intersection, complement.

Used where several conditions on one string meet (pattern and length, two patterns, a key that
is none of the declared ones). States are numbers; every state of a finished automaton leads to
an accepting one, so a generator can't walk into a dead end.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from eris.grammar.charset import EVERYTHING, CharSet
from eris.grammar.effort import spend
from eris.grammar.pattern import (
    Anchor,
    Chars,
    Concat,
    Either,
    Node,
    PatternNotSupported,
    Times,
)


class AutomatonTooLarge(PatternNotSupported):
    """More states than are sensible."""


MOST_STATES = 1_500
_MOST_NFA_STATES = 4_000
_MOST_WORK = 60_000
_MOST_MATCHED = 1_000_000
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


class _Nfa:
    def __init__(self) -> None:
        self.moves: list[list[tuple[CharSet, int]]] = []
        self.empty: list[list[int]] = []

    def state(self) -> int:
        if len(self.moves) >= _MOST_NFA_STATES:
            raise AutomatonTooLarge("a pattern with too many repetitions")
        self.moves.append([])
        self.empty.append([])
        return len(self.moves) - 1

    def add(self, node: Node, start: int) -> int:
        """Attach a tree behind a state and give the state at its end."""
        match node:
            case Chars(chars):
                end = self.state()
                self.moves[start].append((chars, end))
                return end
            case Concat(parts):
                for part in parts:
                    start = self.add(part, start)
                return start
            case Either(options):
                end = self.state()
                for option in options:
                    branch = self.state()
                    self.empty[start].append(branch)
                    self.empty[self.add(option, branch)].append(end)
                return end
            case Times(body, minimum, maximum):
                for _ in range(minimum):
                    start = self.add(body, start)
                return (
                    self._loop(body, start)
                    if maximum is None
                    else (self._optional(body, start, maximum - minimum))
                )
            case Anchor():
                raise PatternNotSupported("an anchor")

    def _loop(self, body: Node, start: int) -> int:
        loop, end = self.state(), self.state()
        self.empty[start].append(loop)
        self.empty[loop].append(end)
        self.empty[self.add(body, loop)].append(loop)
        return end

    def _optional(self, body: Node, start: int, times: int) -> int:
        end = self.state()
        self.empty[start].append(end)
        for _ in range(times):
            start = self.add(body, start)
            self.empty[start].append(end)
        return end

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        found = set(states)
        todo = list(found)
        while todo:
            for following in self.empty[todo.pop()]:
                if following not in found:
                    found.add(following)
                    todo.append(following)
        return frozenset(found)


def _atoms(sets: Iterable[CharSet]) -> dict[CharSet, list[int]]:
    """Number the classes of characters that no set tells apart, and give each set's classes."""
    distinct = list(dict.fromkeys(sets))
    edges = sorted({edge for chars in distinct for a, b in chars.ranges for edge in (a, b + 1)})
    position = {edge: index for index, edge in enumerate(edges)}
    member: list[list[int]] = [[] for _ in edges]
    for number, chars in enumerate(distinct):
        for first, last in chars.ranges:
            for index in range(position[first], position[last + 1]):
                member[index].append(number)
    classes: dict[tuple[int, ...], int] = {}
    found: dict[CharSet, list[int]] = {chars: [] for chars in distinct}
    for numbers in map(tuple, member):
        if numbers and numbers not in classes:
            classes[numbers] = len(classes)
            for number in numbers:
                found[distinct[number]].append(classes[numbers])
    return found


def _ranges_of(atoms: dict[CharSet, list[int]]) -> list[CharSet]:
    """Give the characters of each class: what all its sets share and no other set has."""
    count = max((atom for numbers in atoms.values() for atom in numbers), default=-1) + 1
    classes = [EVERYTHING] * count
    for chars, numbers in atoms.items():
        inside = set(numbers)
        for atom in range(count):
            classes[atom] = classes[atom] & chars if atom in inside else classes[atom] - chars
    return classes


@lru_cache(maxsize=128)
def from_pattern(node: Node) -> Automaton:
    """Build the automaton of a tree without anchors.

    Raises:
        AutomatonTooLarge: It would need too many states.
    """
    nfa = _Nfa()
    first = nfa.state()
    final = nfa.add(node, first)
    atoms = _atoms(chars for moves in nfa.moves for chars, _ in moves)
    classes = _ranges_of(atoms)
    begin = nfa.closure([first])
    numbers = {begin: 0}
    order = [begin]
    edges: list[Edges] = []
    work = 0
    spend(len(nfa.moves))
    for states in order:
        spend(4 * len(states))
        work += len(states)
        if work > _MOST_WORK:
            raise AutomatonTooLarge("a pattern with too many overlapping repetitions")
        targets: dict[int, set[int]] = {}
        for state in states:
            for chars, target in nfa.moves[state]:
                for atom in atoms[chars]:
                    targets.setdefault(atom, set()).add(target)
        by_target: dict[frozenset[int], list[int]] = {}
        for atom in sorted(targets):
            by_target.setdefault(frozenset(targets[atom]), []).append(atom)
        row: dict[int, list[int]] = {}
        for reached, letters in by_target.items():
            following = nfa.closure(reached)
            if following not in numbers:
                if len(order) >= MOST_STATES:
                    raise AutomatonTooLarge("a pattern with too many states")
                numbers[following] = len(order)
                order.append(following)
            row.setdefault(numbers[following], []).extend(letters)
        edges.append(
            tuple(
                (CharSet.of(pair for atom in letters for pair in classes[atom].ranges), target)
                for target, letters in row.items()
            )
        )
    accepting = frozenset(number for states, number in numbers.items() if final in states)
    return _trim(Automaton(tuple(edges), accepting), merge=len(edges) <= _MOST_MERGED)


def matches(node: Node, text: str) -> bool:
    """Whether a tree without anchors matches a whole text, without building its automaton.

    Raises:
        AutomatonTooLarge: It would need too many states, or too much work for this text.
    """
    nfa = _Nfa()
    first = nfa.state()
    final = nfa.add(node, first)
    states = nfa.closure([first])
    work = 0
    spend(len(nfa.moves))
    for char in text:
        spend(len(states))
        work += len(states)
        if work > _MOST_MATCHED:
            raise AutomatonTooLarge("a text that takes too long to match")
        code = ord(char)
        states = nfa.closure(
            target for state in states for chars, target in nfa.moves[state] if code in chars
        )
    return final in states


def from_words(words: Iterable[str]) -> Automaton:
    """Build the automaton that accepts exactly these words."""
    options = tuple(Concat(tuple(Chars(CharSet.chars(c)) for c in word)) for word in words)
    return from_pattern(Either(options)) if options else Automaton((), frozenset())


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
