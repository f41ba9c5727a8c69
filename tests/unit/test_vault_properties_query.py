"""What a query over properties means, and what is said if it can't be read."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError
from eris.vault.properties_query import (
    MOST_ROWS,
    All,
    AnyOf,
    Comparison,
    Exists,
    Negation,
    Operator,
    PropertiesQuery,
    SortKey,
    parse,
)

TODAY = dt.date(2026, 5, 1)
DONE = Comparison("status", Operator.EQUAL, "done")
HIGH = Comparison("rating", Operator.AT_LEAST, 4.0)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("status = done", DONE),
        ("where status == done", DONE),
        ("status: done", DONE),
        ("status is done", DONE),
        ('"status" = "done"', DONE),
        ("status is not done", Comparison("status", Operator.UNEQUAL, "done")),
        ("status != done", Comparison("status", Operator.UNEQUAL, "done")),
        ("status = in progress", Comparison("status", Operator.EQUAL, "in progress")),
        ("rating >= 4", HIGH),
        ("rating>=4", HIGH),
        ("rating >= -0.5", Comparison("rating", Operator.AT_LEAST, -0.5)),
        ("done = true", Comparison("done", Operator.EQUAL, value=True)),
        ("done = null", Comparison("done", Operator.EQUAL, None)),
        ("due < 2027-01-01", Comparison("due", Operator.LESS, dt.date(2027, 1, 1))),
        (
            "due < 2027-01-01 08:30",
            Comparison("due", Operator.LESS, dt.datetime(2027, 1, 1, 8, 30)),  # noqa: DTZ001 - as notes have them
        ),
        ("due < 2027-02-31", Comparison("due", Operator.LESS, "2027-02-31")),
        ("due <= today", Comparison("due", Operator.AT_MOST, TODAY)),
        ("due > today+7", Comparison("due", Operator.MORE, dt.date(2026, 5, 8))),
        ("due = yesterday", Comparison("due", Operator.EQUAL, dt.date(2026, 4, 30))),
        ("author contains smith", Comparison("author", Operator.CONTAINS, "smith")),
        ("author = [[Ann Lee]]", Comparison("author", Operator.EQUAL, "[[Ann Lee]]")),
        ("status exists", Exists("status")),
        ("status", Exists("status")),
        ("status missing", Negation(Exists("status"))),
        ("not status = done", Negation(DONE)),
        ("status = done and rating >= 4", All((DONE, HIGH))),
        ("status = done or rating >= 4", AnyOf((DONE, HIGH))),
        ("status = done or status and rating >= 4", AnyOf((DONE, All((Exists("status"), HIGH))))),
        ("not (status = done or rating >= 4)", Negation(AnyOf((DONE, HIGH)))),
        ("", None),
    ],
)
def test_a_condition_means(text, condition):
    assert parse(text, TODAY) == PropertiesQuery(condition)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "status = done and due < 2027-01-01 sort by due desc",
            PropertiesQuery(
                All((DONE, Comparison("due", Operator.LESS, dt.date(2027, 1, 1)))),
                sort=(SortKey("due", descending=True),),
            ),
        ),
        ("sort due", PropertiesQuery(sort=(SortKey("due"),))),
        (
            "order by due asc, rating descending limit 5 show status, file.name",
            PropertiesQuery(
                sort=(SortKey("due"), SortKey("rating", descending=True)),
                limit=5,
                columns=("status", "file.name"),
            ),
        ),
        ("limit 99999", PropertiesQuery(limit=MOST_ROWS)),
    ],
)
def test_order_number_and_columns_can_be_asked_for(text, query):
    assert parse(text) == query


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("status =", 9, "nothing to compare status with"),
        ("status = and x", 10, "nothing to compare status with"),
        ("= done", 1, "the name of a property is expected"),
        ("status done", 8, "status needs one of = != < <= > >= contains"),
        ('status = "done', 10, 'the quote " is never closed'),
        ("(status = done", 1, "the bracket ( is never closed"),
        ("status = done)", 14, "this doesn't belong here"),
        ("status = done limit many", 21, "limit needs a number above 0"),
        ("limit 0", 7, "limit needs a number above 0"),
        ("sort by", 8, "the name of a property is expected"),
        ("(" * 30 + "a", 21, "more than 20 deep"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text, position, says):
    with pytest.raises(InvalidError, match=says.replace("(", r"\(")) as caught:
        parse(text)
    assert caught.value.details["position"] == position
    assert f"at character {position}" in caught.value.message


@given(st.text(alphabet="ab =<>!(),:\"'[]andortsbylimi0 1-", max_size=40))
def test_any_text_is_a_query_or_an_error_that_says_where(text):
    try:
        parse(text, TODAY)
    except InvalidError as error:
        assert error.details["position"] >= 1  # noqa: PT017 - most texts are queries
