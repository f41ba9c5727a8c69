"""Conditions on one string (patterns, length, excluded words) as the expression of its contents.

The contents are always built from rules that contain no recursion where that is possible:
llguidance turns such rules into terminals, whose masks are much cheaper.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache, reduce

from eris.grammar import automaton as automata
from eris.grammar import nfa
from eris.grammar.automaton import Automaton, AutomatonTooLarge
from eris.grammar.charset import EVERYTHING, CharSet
from eris.grammar.expression import (
    EMPTY,
    Expression,
    Literal,
    Repeat,
    RuleBook,
    children,
    choice,
    repeat,
    sequence,
)
from eris.grammar.json_text import any_char, encode_chars
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
from eris.grammar.pattern_tree import bounded, lengths, needs_automaton

BLOCK = 1_000
LONGEST = 100_000
_MOST_ELIMINATED = 24


def bounded_repeat(
    rules: RuleBook, hint: str, item: Expression, minimum: int, maximum: int | None
) -> Expression:
    """Repeat an expression with bounds of any size, exactly and without ambiguity.

    Over 1,000 the repetition is nested in blocks: `x{0,999} | block (x{0,999} | block ...)`.
    """
    if max(minimum, maximum or 0) <= BLOCK:
        return repeat(item, minimum, maximum)
    item = rules.define(f"{hint}-item", item)
    block = rules.define(f"{hint}-block", Repeat(item, BLOCK, BLOCK))
    blocks, least = divmod(minimum, BLOCK)
    if maximum is None:
        return sequence(repeat(block, blocks, blocks), repeat(item, least, None))
    rest = maximum - blocks * BLOCK
    levels: list[int] = []
    while rest > BLOCK:
        levels.append(rest)
        rest -= BLOCK
    inner_least = least if not levels else 0
    inner: Expression = repeat(item, inner_least, rest)
    for level in reversed(range(len(levels))):
        part: Expression = repeat(item, least if level == 0 else 0, BLOCK - 1)
        if BLOCK - 1 > 1:
            part = rules.define(f"{hint}-part", part)
        both = choice([part, sequence(block, inner)])
        inner = rules.define(f"{hint}-rest", EMPTY if both is None else both)
    return sequence(repeat(block, blocks, blocks), inner)


@dataclass(frozen=True, slots=True)
class TextCondition:
    """What a string must fulfil, all at once.

    Attributes:
        patterns: Trees that the whole text must match.
        refused: Trees that the whole text must not match.
        words: Texts that it must not be.
        minimum: Fewest characters (code points).
        maximum: Most characters; None means without limit.
    """

    patterns: tuple[Node, ...] = ()
    refused: tuple[Node, ...] = ()
    words: frozenset[str] = frozenset()
    minimum: int = 0
    maximum: int | None = None

    def relaxed(self) -> "TextCondition":
        """Drop the length bounds that the patterns imply anyway."""
        low, high = 0, None
        for pattern in self.patterns:
            shortest, longest = lengths(pattern)
            low = max(low, shortest)
            high = longest if high is None else min(high, longest if longest is not None else high)
        minimum = 0 if low >= self.minimum else self.minimum
        maximum = self.maximum
        if maximum is not None and high is not None and high <= maximum:
            maximum = None
        words = frozenset(
            word
            for word in self.words
            if len(word) >= self.minimum and (self.maximum is None or len(word) <= self.maximum)
        )
        return TextCondition(self.patterns, self.refused, words, minimum, maximum)


def text_contents(rules: RuleBook, hint: str, condition: TextCondition) -> Expression | None:
    """Give what stands between the quotation marks; None if no text fulfils the condition.

    Raises:
        PatternNotSupported: The conditions together are too large for a grammar.
    """
    if condition.maximum is not None and condition.maximum < condition.minimum:
        return None
    known = rules.contents.get(condition)
    if known is None:
        known = (_contents(rules, hint, condition.relaxed()),)
        rules.contents[condition] = known
    return known[0]


def _contents(rules: RuleBook, hint: str, condition: TextCondition) -> Expression | None:
    plain_length = (condition.minimum, condition.maximum) == (0, None)
    if not condition.refused and not condition.words:
        if not condition.patterns:
            return bounded_repeat(
                rules, hint, any_char(rules), condition.minimum, condition.maximum
            )
        if len(condition.patterns) == 1 and not needs_automaton(condition.patterns[0]):
            tree: Node | None = condition.patterns[0]
            if not plain_length and tree is not None:
                tree = bounded(tree, condition.minimum, condition.maximum)
            try:
                if tree is not None:
                    return _from_tree(rules, hint, tree)
            except _EmptyLoop:
                pass
    if plain_length and not condition.patterns and not condition.refused:
        return _other_than(rules, condition.words)
    automaton = _automaton(condition)
    if isinstance(automaton, PatternNotSupported):
        raise automaton
    return from_automaton(rules, hint, automaton)


@lru_cache(maxsize=128)
def _automaton(condition: TextCondition) -> Automaton | PatternNotSupported:
    """Build the automaton of a condition, or give the reason why that can't be."""
    try:
        parts = [nfa.from_pattern(tree) for tree in condition.patterns]
        if (condition.minimum, condition.maximum) != (0, None):
            parts.append(automata.from_length(condition.minimum, condition.maximum))
        parts += [automata.complement(nfa.from_pattern(tree)) for tree in condition.refused]
        if condition.words:
            parts.append(automata.complement(nfa.from_words(sorted(condition.words))))
        return reduce(automata.intersect, parts)
    except PatternNotSupported as reason:
        return reason


class _EmptyLoop(Exception):  # noqa: N818 - a signal, not an error
    """An endless repetition of something that may be empty, which GBNF can't have."""


def _from_tree(rules: RuleBook, hint: str, node: Node) -> Expression | None:
    match node:
        case Chars(chars):
            return encode_chars(chars)
        case Concat(parts):
            pieces = [_from_tree(rules, hint, part) for part in parts]
            alive = [piece for piece in pieces if piece is not None]
            return sequence(*alive) if len(alive) == len(pieces) else None
        case Either(options):
            return choice(_from_tree(rules, hint, option) for option in options)
        case Times(body, minimum, maximum):
            inner = _from_tree(rules, hint, body)
            if inner is None:
                return EMPTY if minimum == 0 else None
            if maximum is None and lengths(body)[0] == 0:
                raise _EmptyLoop
            if max(minimum, maximum or 0) > LONGEST:
                raise AutomatonTooLarge(f"a repetition over {LONGEST}")
            if max(minimum, maximum or 0) > 1 and _counts(inner):
                inner = rules.define(f"{hint}-part", inner)
            return bounded_repeat(rules, hint, inner, minimum, maximum)
        case Anchor() | Look() | Both():
            raise PatternNotSupported("an anchor or a look-ahead")


def _counts(expression: Expression) -> bool:
    if isinstance(expression, Repeat) and max(expression.minimum, expression.maximum or 0) > 1:
        return True
    return any(_counts(child) for child in children(expression))


_MOST_TRIE_CHARS = 2_000
_LONGEST_WORD = 200


def _other_than(rules: RuleBook, words: Iterable[str]) -> Expression | None:
    """Any text that isn't one of the words, as a tree of what may come after each prefix."""
    trie = _Trie()
    total = 0
    for word in words:
        total += len(word)
        if len(word) > _LONGEST_WORD:
            total = _MOST_TRIE_CHARS + 1
            break
        trie.add(word)
    if total > _MOST_TRIE_CHARS:
        raise AutomatonTooLarge("many or long property names")
    anything: Expression = EMPTY
    canonical = encode_chars(EVERYTHING)
    if canonical is not None:
        anything = rules.define("text", repeat(canonical, 0, None))
    return _after(rules, trie, anything)


@dataclass(slots=True)
class _Trie:
    """Words by their letters; `ends` says that a word ends here."""

    ends: bool = False
    letters: "dict[str, _Trie]" = field(default_factory=dict)

    def add(self, word: str) -> None:
        node = self
        for letter in word:
            node = node.letters.setdefault(letter, _Trie())
        node.ends = True


@lru_cache(maxsize=4_096)
def _other_char(letters: str) -> Expression | None:
    """Give one character out of all others."""
    return encode_chars(~CharSet.chars(letters))


def _after(rules: RuleBook, trie: _Trie, anything: Expression) -> Expression | None:
    """Give the rest of the text behind a prefix; each prefix gets a rule, so nothing nests."""
    other = _other_char("".join(trie.letters))
    options = [None if trie.ends else EMPTY, _then(other, anything)]
    for letter, following in trie.letters.items():
        rest = _after(rules, following, anything)
        if rest is not None:
            rest = rules.define("other", rest)
            options.append(_then(encode_chars(CharSet.chars(letter)), rest))
    return choice(options)


def from_automaton(
    rules: RuleBook, hint: str, automaton: Automaton, most_eliminated: int = _MOST_ELIMINATED
) -> Expression | None:
    """Write an automaton as rules, one per state where it has no cycles but loops on a state.

    Larger cycles become repetitions if there are no more than `most_eliminated` states, and rules
    that recur otherwise.
    """
    if not automaton.edges:
        return None
    order = _topological(automaton)
    if order is not None:
        return _from_order(rules, hint, automaton, order)
    if len(automaton.edges) <= most_eliminated:
        return _eliminate(rules, hint, automaton)
    names = [rules.reserve(f"{hint}-state") for _ in automaton.edges]
    references = [rules.set(name, EMPTY) for name in names]
    for state, name in enumerate(names):
        options: list[Expression | None] = [
            _then(encode_chars(chars), references[target])
            for chars, target in automaton.edges[state]
        ]
        if state in automaton.accepting:
            options.append(EMPTY)
        rules.rules[name] = choice(options) or EMPTY
    return references[automaton.start]


def _then(first: Expression | None, second: Expression) -> Expression | None:
    return None if first is None else sequence(first, second)


def _topological(automaton: Automaton) -> list[int] | None:
    """Order the states so that each leads to later ones or itself; None if there are cycles."""
    incoming = [0] * len(automaton.edges)
    for state, row in enumerate(automaton.edges):
        for _, target in row:
            incoming[target] += target != state
    todo = [state for state, count in enumerate(incoming) if count == 0]
    order: list[int] = []
    while todo:
        state = todo.pop()
        order.append(state)
        for _, target in automaton.edges[state]:
            if target != state:
                incoming[target] -= 1
                if incoming[target] == 0:
                    todo.append(target)
    return order if len(order) == len(automaton.edges) else None


def _from_order(
    rules: RuleBook, hint: str, automaton: Automaton, order: list[int]
) -> Expression | None:
    done: dict[int, Expression] = {}
    for state in reversed(order):
        loop: Expression | None = None
        options: list[Expression | None] = [EMPTY] if state in automaton.accepting else []
        for chars, target in automaton.edges[state]:
            encoded = encode_chars(chars)
            if target == state:
                loop = encoded
            else:
                options.append(_then(encoded, done[target]))
        onward = choice(options) or EMPTY
        whole = onward if loop is None else sequence(repeat(loop, 0, None), onward)
        small = isinstance(whole, Literal)
        done[state] = whole if small else rules.define(f"{hint}-state", whole)
    return done[automaton.start]


def _eliminate(rules: RuleBook, hint: str, automaton: Automaton) -> Expression | None:
    """Turn cycles into repetitions by taking out one state after the other (Kleene)."""
    start, final = -1, -2
    paths: dict[int, dict[int, Expression]] = {start: {automaton.start: EMPTY}}
    for state, row in enumerate(automaton.edges):
        out = paths.setdefault(state, {})
        for chars, target in row:
            encoded = encode_chars(chars)
            both = choice([out.get(target), encoded])
            if both is not None:
                out[target] = both
        if state in automaton.accepting:
            out[final] = EMPTY
    remaining = set(range(len(automaton.edges)))
    while remaining:
        state = min(remaining, key=lambda one: _cost(paths, one))
        remaining.discard(state)
        out = paths.pop(state)
        loop = out.pop(state, None)
        again = EMPTY if loop is None else repeat(loop, 0, None)
        for targets in paths.values():
            into = targets.pop(state, None)
            if into is None:
                continue
            for target, onward in out.items():
                path = sequence(into, again, onward)
                both = choice([targets.get(target), path])
                if both is not None:
                    targets[target] = _shared(rules, hint, both)
    return paths[start].get(final)


def _cost(paths: dict[int, dict[int, Expression]], state: int) -> int:
    incoming = sum(state in targets for targets in paths.values())
    return incoming * len(paths[state])


def _shared(rules: RuleBook, hint: str, expression: Expression) -> Expression:
    simple = isinstance(expression, Literal) or not children(expression)
    return expression if simple else rules.define(f"{hint}-path", expression)
