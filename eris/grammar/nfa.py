"""From patterns to automata: all ways to read a text at once (subset construction)."""

from collections.abc import Iterable
from functools import lru_cache, reduce

from eris.grammar.automaton import (
    MOST_STATES,
    Automaton,
    AutomatonTooLarge,
    Edges,
    complement,
    intersect,
    tidy,
)
from eris.grammar.charset import EVERYTHING, CharSet
from eris.grammar.effort import spend
from eris.grammar.pattern import (
    Anchor,
    Both,
    Chars,
    Concat,
    Either,
    Look,
    Node,
    PatternNotSupported,
    Times,
)

_MOST_NFA_STATES = 4_000
_MOST_WORK = 60_000
_MOST_MATCHED = 1_000_000


class _Nfa:
    def __init__(self) -> None:
        self.moves: list[list[tuple[CharSet, int]]] = []
        self.empty: list[list[int]] = []
        self.anchors: list[list[tuple[bool, int]]] = []

    def state(self) -> int:
        if len(self.moves) >= _MOST_NFA_STATES:
            raise AutomatonTooLarge("a pattern with too many repetitions")
        self.moves.append([])
        self.empty.append([])
        self.anchors.append([])
        return len(self.moves) - 1

    def add(self, node: Node, start: int) -> int:
        """Attach a tree behind a state and give the state at its end."""
        match node:
            case Chars(chars):
                end = self.state()
                self.moves[start].append((chars, end))
                return end
            case Concat(parts):
                return reduce(lambda state, part: self.add(part, state), parts, start)
            case Either(options):
                return self._either(options, start)
            case Times(body, minimum, maximum):
                for _ in range(minimum):
                    start = self.add(body, start)
                return (
                    self._loop(body, start)
                    if maximum is None
                    else (self._optional(body, start, maximum - minimum))
                )
            case Anchor(at_start):
                end = self.state()
                self.anchors[start].append((at_start, end))
                return end
            case Both():
                return self._embed(from_pattern(node), start)
            case Look():
                raise PatternNotSupported("a look-ahead")

    def _either(self, options: tuple[Node, ...], start: int) -> int:
        end = self.state()
        for option in options:
            branch = self.state()
            self.empty[start].append(branch)
            self.empty[self.add(option, branch)].append(end)
        return end

    def _embed(self, automaton: Automaton, start: int) -> int:
        end = self.state()
        states = [self.state() for _ in automaton.edges]
        for state, row in zip(states, automaton.edges, strict=True):
            self.moves[state] = [(chars, states[target]) for chars, target in row]
        for accepting in automaton.accepting:
            self.empty[states[accepting]].append(end)
        if states:
            self.empty[start].append(states[automaton.start])
        return end

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

    def closure(
        self, states: Iterable[int], *, start: bool = False, end: bool = False
    ) -> frozenset[int]:
        """Give all states that can be reached without a character, at either end of the text."""
        found = set(states)
        todo = list(found)
        while todo:
            state = todo.pop()
            passed = [to for at_start, to in self.anchors[state] if (start if at_start else end)]
            for following in (*self.empty[state], *passed):
                if following not in found:
                    found.add(following)
                    todo.append(following)
        return frozenset(found)

    def universal(self, final: int) -> frozenset[int]:
        """Give the states from which every text ends well, as behind a pattern without `$`."""
        return frozenset(
            state
            for state, row in enumerate(self.moves)
            for chars, target in row
            if chars == EVERYTHING
            and state in self.closure([target])
            and final in self.closure([state], end=True)
        )


class _Subsets:
    """The sets of states that stand for one state of the deterministic automaton.

    Only states that a character, an anchor or the end of the text can tell apart are kept; a set
    from which every text ends well is one state.
    """

    def __init__(self, nfa: _Nfa, final: int) -> None:
        self._nfa = nfa
        self._universal = nfa.universal(final)
        self._telling = frozenset(
            state
            for state in range(len(nfa.moves))
            if nfa.moves[state] or nfa.anchors[state] or state == final
        )

    def of(self, states: Iterable[int], *, start: bool = False) -> frozenset[int]:
        """Give the set that a few states lead to without a character."""
        found = self._nfa.closure(states, start=start)
        if not found.isdisjoint(self._universal):
            found = self._nfa.closure([min(found & self._universal)])
        return found & self._telling


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
    """Build the automaton of a tree.

    Raises:
        AutomatonTooLarge: It would need too many states.
        PatternNotSupported: There's a look-ahead in the midst of it.
    """
    if isinstance(node, Both):
        parts = [from_pattern(wanted) for wanted in node.wanted]
        parts += [complement(from_pattern(refused)) for refused in node.refused]
        return reduce(intersect, parts)
    return _deterministic(node)


def _deterministic(node: Node) -> Automaton:
    """Build the automaton of one tree, state set by state set."""
    nfa = _Nfa()
    first = nfa.state()
    final = nfa.add(node, first)
    atoms = _atoms(chars for moves in nfa.moves for chars, _ in moves)
    classes = _ranges_of(atoms)
    subsets = _Subsets(nfa, final)
    begin = subsets.of([first], start=True)
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
        targets = _targets(nfa, states, atoms)
        by_target: dict[frozenset[int], list[int]] = {}
        for atom in sorted(targets):
            by_target.setdefault(frozenset(targets[atom]), []).append(atom)
        row: dict[int, list[int]] = {}
        for reached, letters in by_target.items():
            following = subsets.of(reached)
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
    accepting = frozenset(
        number
        for states, number in numbers.items()
        if final in nfa.closure(states, start=number == 0, end=True)
    )
    return tidy(Automaton(tuple(edges), accepting))


def _targets(
    nfa: _Nfa, states: Iterable[int], atoms: dict[CharSet, list[int]]
) -> dict[int, set[int]]:
    """Give the states to which each class of characters leads from a set of states."""
    found: dict[int, set[int]] = {}
    for state in states:
        for chars, target in nfa.moves[state]:
            for atom in atoms[chars]:
                found.setdefault(atom, set()).add(target)
    return found


def matches(node: Node, text: str) -> bool:
    """Whether a tree matches a whole text, without building its automaton where that can be.

    Raises:
        AutomatonTooLarge: It would need too many states, or too much work for this text.
    """
    nfa = _Nfa()
    first = nfa.state()
    final = nfa.add(node, first)
    states = nfa.closure([first], start=True, end=not text)
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
    return final in nfa.closure(states, end=True)


def from_words(words: Iterable[str]) -> Automaton:
    """Build the automaton that accepts exactly these words."""
    options = tuple(Concat(tuple(Chars(CharSet.chars(c)) for c in word)) for word in words)
    return from_pattern(Either(options)) if options else Automaton((), frozenset())
