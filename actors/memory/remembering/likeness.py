"""What two statements are to each other: the same, more of the same, a contradiction; pure.

Decided by words and, where the embedder is there, by cosine. In doubt it's a contradiction if the
subject is the same: then people are asked, and nothing is lost or changed meanwhile. The words are
in `language`; how well it does is in `docs/decisions/0053-memories.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz

from actors.memory.remembering.language import OPPOSITES, SEVERAL_VALUED
from actors.memory.remembering.statements import (
    SELF,
    Statement,
    alike,
    key,
    missing,
    sentences,
    taken_apart,
)

LEAST_SHARED = 0.5
"""Part of the shorter statement's words that both have, from which on they may be about one
thing."""

LEAST_COSINE = 0.85
"""From this cosine on, a statement whose words another one has as well is the same although their
subjects are put differently. Alone it says nothing: "open" and "closed" have 0.94."""

MOST_EXCHANGED = 3
"""Words of its own that either may have to be a contradiction: more are two different things."""

LEAST_RATIO = 40.0
"""Token-set ratio (0 to 100) below which two texts with a low cosine aren't compared at all."""

RESTATED_RATIO = 90.0
"""Token-set ratio from which on a sentence is found in a longer text."""


class Relation(StrEnum):
    """What a statement is to an earlier one."""

    SAME = "same"
    """It says nothing new."""
    UPDATE = "update"
    """It says the same and more."""
    CONTRADICTION = "contradiction"
    """It says something else about the same."""
    UNRELATED = "unrelated"


@dataclass(frozen=True)
class Judgement:
    """What was found."""

    relation: Relation
    whole: bool = True
    """For `Relation.SAME`: whether the earlier one says no more than this one."""


_UNRELATED = Judgement(Relation.UNRELATED)


def judged(new: str, old: str, cosine: float | None = None) -> Judgement:
    """Compare a text with an earlier one.

    Args:
        new: What is said now.
        old: What was said before.
        cosine: Of the two texts' vectors; None if it isn't known.
    """
    if key(new) == key(old):
        return Judgement(Relation.SAME)
    near = cosine is not None and cosine >= LEAST_COSINE
    if not near and fuzz.token_set_ratio(key(new), key(old)) < LEAST_RATIO:
        return _related_by_opposite(new, old)
    news = [taken_apart(each) for each in sentences(new)]
    olds = [taken_apart(each) for each in sentences(old)]
    if len(news) == len(olds) == 1:
        return _compared(news[0], olds[0], near=near)
    return _combined(news, olds)


def restated(text: str, known: Sequence[str]) -> str:
    """Return the known text that says all that this one says; empty if none does."""
    parts = [taken_apart(each) for each in sentences(text)]
    for each in known:
        if key(text) == key(each):
            return each
        others = [taken_apart(part) for part in sentences(each)]
        close = fuzz.token_set_ratio(key(text), key(each)) >= RESTATED_RATIO
        if all(
            any(_compared(part, other).relation is Relation.SAME for other in others)
            for part in parts
        ) or (close and all(_contained(part, others) for part in parts)):
            return each
    return ""


def _contained(part: Statement, others: Sequence[Statement]) -> bool:
    """Whether every word and value of a statement stands in one of the others."""
    return any(
        not missing(part.words, other.words)
        and part.values <= other.values
        and part.negated == other.negated
        for other in others
    )


def _combined(news: Sequence[Statement], olds: Sequence[Statement]) -> Judgement:
    """Compare sentence by sentence, where either text has several."""
    found = {
        (n, o): _compared(new, old) for n, new in enumerate(news) for o, old in enumerate(olds)
    }
    same = {pair for pair, each in found.items() if each.relation is Relation.SAME}
    if all(any((n, o) in same for o in range(len(olds))) for n in range(len(news))):
        whole = all(any((n, o) in same for n in range(len(news))) for o in range(len(olds)))
        return Judgement(Relation.SAME, whole=whole)
    if any(each.relation is Relation.CONTRADICTION for each in found.values()):
        return Judgement(Relation.CONTRADICTION)
    covered = {
        o for (_, o), each in found.items() if each.relation in {Relation.SAME, Relation.UPDATE}
    }
    return Judgement(Relation.UPDATE) if len(covered) == len(olds) else _UNRELATED


def _compared(new: Statement, old: Statement, *, near: bool = False) -> Judgement:
    only_new, only_old = missing(new.words, old.words), missing(old.words, new.words)
    if (only_new or only_old) and not _about_one(new, old):
        return _by_cosine(new, old, only_new, only_old, near=near)
    if _opposed(new, old):
        return Judgement(Relation.CONTRADICTION)
    if not _enough_shared(new, old, only_new):
        return _by_cosine(new, old, only_new, only_old, near=near)
    if new.negated != old.negated:
        return _UNRELATED if only_new and only_old else Judgement(Relation.CONTRADICTION)
    if _values_differ(new, old):
        return Judgement(Relation.CONTRADICTION)
    return _agreeing(new, old, only_new, only_old)


def _enough_shared(new: Statement, old: Statement, only_new: frozenset[str]) -> bool:
    shorter = min(len(new.words), len(old.words))
    if not shorter:
        return bool(new.kinds & old.kinds)
    return len(new.words) - len(only_new) >= LEAST_SHARED * shorter


def _agreeing(
    new: Statement, old: Statement, only_new: frozenset[str], only_old: frozenset[str]
) -> Judgement:
    """Judge two statements about one thing that have no other value of one kind."""
    more_old = bool(only_old or old.values - new.values)
    if not (only_new or new.values - old.values):
        return Judgement(Relation.SAME, whole=not more_old)
    if not more_old:
        return Judgement(Relation.UPDATE)
    return _exchanged(new, old, only_new, only_old) if only_new and only_old else _UNRELATED


def _exchanged(
    new: Statement, old: Statement, only_new: frozenset[str], only_old: frozenset[str]
) -> Judgement:
    """Judge two statements that each have words of their own."""
    if new.verb in SEVERAL_VALUED and old.verb in SEVERAL_VALUED:
        return _UNRELATED
    if max(len(only_new), len(only_old)) > MOST_EXCHANGED:
        return _UNRELATED
    return Judgement(Relation.CONTRADICTION)


def _by_cosine(
    new: Statement,
    old: Statement,
    only_new: frozenset[str],
    only_old: frozenset[str],
    *,
    near: bool,
) -> Judgement:
    alike_otherwise = new.negated == old.negated and new.values == old.values
    if near and new.words and alike_otherwise and not (only_new and only_old):
        return Judgement(Relation.UPDATE if only_new else Relation.SAME, whole=not only_old)
    return _UNRELATED


def _about_one(new: Statement, old: Statement) -> bool:
    """Whether the subjects can be one: the same, or one more exactly, or the statement is turned.

    `Weber is my dentist` has the subject Weber.
    """
    if new.subject is None or old.subject is None:
        return True
    if SELF in new.subject | old.subject:
        return new.subject == old.subject
    turned = not missing(new.subject, old.words) and not missing(old.subject, new.words)
    return turned or not missing(new.subject, old.subject) or not missing(old.subject, new.subject)


def _values_differ(new: Statement, old: Statement) -> bool:
    """Whether both give a value of one kind, and each one that the other doesn't give."""
    kinds = {
        (kind, other)
        for kind in new.kinds
        for other in old.kinds
        if kind == other or _one_unit(kind, other)
    }
    return any(
        new.of_kind(kind) - old.of_kind(other) and old.of_kind(other) - new.of_kind(kind)
        for kind, other in kinds
    )


def _one_unit(kind: str, other: str) -> bool:
    if not (kind.startswith("number") and other.startswith("number")):
        return False
    one, two = kind.removeprefix("number").strip(), other.removeprefix("number").strip()
    return not one or not two or alike(one, two)


def _opposed(new: Statement, old: Statement) -> bool:
    """Whether one has a word and the other its opposite, and they have the rest in common."""
    for one, other in OPPOSITES:
        for left, right in ((one, other), (other, one)):
            if not (new.folded & left and old.folded & right):
                continue
            pair = one | other
            ours = frozenset(word for word in new.words if not any(alike(word, w) for w in pair))
            theirs = frozenset(word for word in old.words if not any(alike(word, w) for w in pair))
            if not missing(ours, theirs) or not missing(theirs, ours):
                return new.negated == old.negated or bool(left & right)
    return False


def _related_by_opposite(new: str, old: str) -> Judgement:
    """Judge two short texts that have hardly a letter in common, such as "married", "divorced"."""
    one, other = taken_apart(new), taken_apart(old)
    if _about_one(one, other) and _opposed(one, other):
        return Judgement(Relation.CONTRADICTION)
    return _UNRELATED
