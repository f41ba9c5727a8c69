"""What a search means: Obsidian's syntax, and what to do with what isn't quite that."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError
from eris.vault.properties_query import AnyOf, Comparison, Exists, Operator
from eris.vault.query import And, Name, Not, Or, Place, Property, Regex, Tag, Text, Within, parse
from eris.vault.words import Match, Term, fold, term, tokens

TODAY = dt.date(2026, 5, 1)


def word(text: str, match: Match = Match.LOOSE) -> Text:
    return Text(Term(tuple(text.split()), match))


A, B, C = word("a"), word("b"), word("c")
DONE = Comparison("status", Operator.CONTAINS, "done")


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("milk", word("milk")),
        ("MILK", word("milk")),
        ("a b c", And((A, B, C))),
        ("a AND b", And((A, B))),
        ("gard*", word("gard", Match.PREFIX)),
        ('"star wars"', word("star wars", Match.EXACT)),
        (r'"say \"a\""', word("say a", Match.EXACT)),
        ("well-known", word("well known")),
        ("a OR b c", Or((A, And((B, C))))),
        ("(a OR b) c", And((Or((A, B)), C))),
        ("a -b", And((A, Not(B)))),
        ("a NOT b", And((A, Not(B)))),
        ("-(a b)", Not(And((A, B)))),
        ("a - b", And((A, B))),
        ("or and not", And((word("or"), word("and"), word("not")))),
        (r"/\d+\/x/", Regex(r"\d+/x")),
        ("tag:inbox", Tag("inbox")),
        ("tag:#inbox/to-read", Tag("inbox/to-read")),
        ("tag:(a OR b)", Or((Tag("a"), Tag("b")))),
        ("path:Work/plan", Within(Place.PATH, Name("work/plan"))),
        ('file:"My Note"', Within(Place.FILE, Name("my note"))),
        ("line:(a b)", Within(Place.LINE, And((A, B)))),
        ("section:a", Within(Place.SECTION, A)),
        ("block:(a -b)", Within(Place.BLOCK, And((A, Not(B))))),
        ("content:a", Within(Place.CONTENT, A)),
        ("task:a", Within(Place.TASK, A)),
        ("task-todo:a", Within(Place.TASK_TODO, A)),
        ('task-done:""', Within(Place.TASK_DONE, None)),
        ("[status]", Property(Exists("status"))),
        ("[status:done]", Property(DONE)),
        ("[due:<2027-01-01]", Property(Comparison("due", Operator.LESS, dt.date(2027, 1, 1)))),
        ("[due:today]", Property(Comparison("due", Operator.CONTAINS, TODAY))),
        ("[rating:3]", Property(Comparison("rating", Operator.CONTAINS, 3.0))),
        ("[gone:null]", Property(Comparison("gone", Operator.EQUAL, None))),
        (
            "[status:done OR open]",
            Property(AnyOf((DONE, Comparison("status", Operator.CONTAINS, "open")))),
        ),
        ("[[Note]]", word("note", Match.EXACT)),
        ("- [ ] milk", word("milk")),
        ("http://a", word("http a")),
        ("unknown:a", word("unknown a")),
        ("日本語", word("日 本 語")),
        ("Crème", word("creme")),
    ],
)
def test_a_query_means(query, meant):
    assert parse(query, TODAY) == meant


@pytest.mark.parametrize(
    ("query", "position", "says"),
    [
        ('a "b', 3, 'the quote " is never closed'),
        ("(a", 1, "the bracket ( is never closed"),
        ("a [b", 3, "the bracket [ is never closed"),
        ("OR a", 1, "nothing before OR"),
        ("a OR", 3, "nothing after OR"),
        ("a OR OR b", 3, "nothing after OR"),
        ("tag:", 1, "tag: needs something after it"),
        ("a tag:#", 3, "tag: needs the name of a tag"),
        ("line:(a file:b)", 9, "can't be inside of another operator"),
        ("/(/ a", 1, "isn't a regular expression"),
        ("[status:]", 2, "needs a value"),
        ("(" * 30 + "a" + ")" * 30, 21, "more than 20 deep"),
        (" ".join(["a"] * 50), 82, "more than 40 parts"),
    ],
)
def test_what_can_only_be_a_slip_is_told_with_its_place(query, position, says):
    with pytest.raises(InvalidError, match=says.replace("(", r"\(").replace("[", r"\[")) as caught:
        parse(query)
    assert caught.value.details["position"] == position


@pytest.mark.parametrize("query", ["", "  ", "-", "()", "!?", '""', "[ ]"])
def test_a_query_without_words_is_refused(query):
    with pytest.raises(InvalidError, match="no words"):
        parse(query)


def test_a_very_long_query_is_refused():
    with pytest.raises(InvalidError, match="over the limit"):
        parse("milk " * 1000)


@given(st.text(alphabet='ab "()[]/-:*#|\\ORtag日é', max_size=40))
def test_any_text_is_a_query_or_an_error_that_says_so(text):
    try:
        parse(text, TODAY)
    except InvalidError as error:
        assert "query" in error.message or "expression" in error.message  # noqa: PT017 - most texts are queries


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("é", "e\u0301"),
        ("\uff21\uff22", "ab"),
        ("Ёлка", "елка"),
        ("ﬁne", "fine"),
    ],
)
def test_ways_of_writing_one_word_are_the_same(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the quick-brown fox's", ("the", "quick", "brown", "fox", "s")),
        ("snake_case 3.14", ("snake", "case", "3", "14")),
        ("東京タワー", ("東", "京", "タ", "ワ", "ー")),
        ("한국어 yes", ("한", "국", "어", "yes")),
        ("हिन्दी में", ("हिन्दी", "में")),
        ("go 🌱go", ("go", "🌱", "go")),
    ],
)
def test_a_text_is_cut_into_words(text, words):
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("written", "match", "text", "places"),
    [
        ("plant", Match.LOOSE, "a plant, plants, implant", [2, 9]),
        ("plant", Match.EXACT, "a plant, plants, implant", [2]),
        ("pl", Match.PREFIX, "a plant, plants, implant", [2, 9]),
        ("star wars", Match.EXACT, "star wars; star\n- wars; starwars", [0, 11]),
        ("京", Match.LOOSE, "東京タワー", [1]),
        ("no", Match.LOOSE, "nothing, no", [9]),
    ],
)
def test_a_term_is_found_in_a_text_where_its_words_are(written, match, text, places):
    assert list(term(written, match).places(fold(text))) == places
