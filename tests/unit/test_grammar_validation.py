"""No grammar that an engine could crash on gets past the check."""

import pytest

from eris.grammar import (
    CharClass,
    Choice,
    Grammar,
    InvalidGrammar,
    Limits,
    Literal,
    Reference,
    Repeat,
    Sequence,
    check,
    print_grammar,
    prune,
)

A = Literal("a")
DEEP = A
for _ in range(300):
    DEEP = Sequence((A, Repeat(DEEP, 0, 1)))


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"start": A}, "no rule 'root'"),
        ({"root": Reference("gone")}, "isn't defined"),
        ({"root": A, "Bad_Name": A}, "no rule name"),
        ({"root": Sequence((Reference("root"), A))}, "begin with itself"),
        (
            {"root": Choice((A, Reference("x"))), "x": Sequence((Reference("root"), A))},
            "begin with",
        ),
        ({"root": Sequence((Repeat(A, 0, None), Reference("root")))}, "begin with itself"),
        ({"root": Repeat(Repeat(A, 0, 1), 0, None)}, "may be empty"),
        ({"root": Repeat(Reference("x"), 1, None), "x": Repeat(A, 0, 3)}, "may be empty"),
        ({"root": Repeat(Repeat(A, 0, 100), 0, 100)}, "repeats 10000 times"),
        ({"root": Repeat(A, 3, 2)}, "repeats 3 to 2"),
        ({"root": CharClass(())}, "empty character class"),
        ({"root": Choice(())}, "without content"),
        ({"root": DEEP}, "nests deeper"),
    ],
)
def test_a_dangerous_grammar_is_refused(rules, reason):
    with pytest.raises(InvalidGrammar, match=reason):
        check(Grammar(rules), Limits(repetition=2_000, depth=200))


@pytest.mark.parametrize("limits", [Limits(rules=1), Limits(nodes=2)])
def test_a_grammar_over_the_limits_is_refused(limits):
    rules = {"root": Sequence((Reference("x"), A)), "x": A}
    with pytest.raises(InvalidGrammar, match="more than"):
        check(Grammar(rules), limits)


@pytest.mark.parametrize(
    "rules",
    [
        {"root": Sequence((A, Repeat(Reference("root"), 0, 1)))},
        {"root": Choice((A, Sequence((Literal("("), Reference("root"), Literal(")")))))},
        {"root": Repeat(Literal("ab"), 0, None)},
    ],
)
def test_a_sound_grammar_passes(rules):
    check(Grammar(rules))


def test_pruning_drops_what_never_ends_and_what_nobody_uses():
    endless = Sequence((A, Reference("endless")))
    grammar = Grammar({"root": Choice((A, Reference("endless"))), "endless": endless, "x": A})
    assert prune(grammar) == Grammar({"root": A})


def test_nothing_is_left_of_a_grammar_that_never_ends():
    assert prune(Grammar({"root": Sequence((A, Reference("root")))})) is None


def test_special_characters_are_escaped():
    specials = CharClass(((0x5B, 0x5E), (0x2D, 0x2D), (0x0A, 0x0A)))
    text = print_grammar(Grammar({"root": Sequence((Literal('"\\\n\x01é'), specials))}))
    assert text == 'root ::= "\\"\\\\\\n\\x01é" [\\x5B-\\x5E\\x2D\\n]\n'
