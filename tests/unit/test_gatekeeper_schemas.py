"""Schemas are checked when a tool is registered, arguments when it's called."""

import json
from typing import Any

import pytest

from actors.gatekeeper.schemas import MOST_SCHEMA_BYTES, Validators, parse_schema, shown
from eris.errors import InvalidError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "mode": {"enum": ["append", "overwrite"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "inner": {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
        "when": {"type": "string", "pattern": "^[0-9-]+$"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"path": "x.md"}, []),
        ({}, ["path is missing"]),
        ({"path": 5}, ["path must be text, not 5"]),
        ({"path": ""}, ["path must have at least 1 characters, not 0"]),
        ({"path": "x", "mode": "y"}, ['mode must be "append" or "overwrite", not "y"']),
        ({"path": "x", "count": 0}, ["count must be at least 1, not 0"]),
        ({"path": "x", "count": 10}, ["count must be at most 9, not 10"]),
        ({"path": "x", "count": 1.5}, ["count must be a whole number, not 1.5"]),
        ({"path": "x", "tags": ["a", 1]}, ["tags[1] must be text, not 1"]),
        ({"path": "x", "tags": ["a", "b", "c"]}, ["tags must have at most 2 items, not 3"]),
        ({"path": "x", "limit": 0}, ["limit must be at least 1, not 0"]),
        ({"path": "x", "limit": "a"}, ['limit must be a whole number or null, not "a"']),
        ({"path": "x", "inner": {}}, ["inner.a is missing"]),
        ({"path": "x", "inner": {"a": 1}}, ["inner.a must be true or false, not 1"]),
    ],
)
def test_a_problem_names_the_field_and_what_was_expected(
    arguments: dict[str, Any], problems: list[str]
) -> None:
    assert Validators().problems(SCHEMA, arguments) == problems


def test_an_unknown_argument_is_named_with_the_nearest_right_one() -> None:
    problems = Validators().problems(SCHEMA, {"pth": "x"})
    assert "unknown argument pth (did you mean path?): it takes path, mode" in problems[0]
    assert problems[1] == "path is missing"


def test_a_tool_without_arguments_says_so() -> None:
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    assert Validators().problems(empty, {"zone": 1}) == [
        "unknown argument zone: it takes no arguments"
    ]


def test_at_most_three_problems_are_told() -> None:
    wrong = {"path": 1, "mode": 1, "count": "x", "tags": 1, "limit": "x"}
    assert len(Validators().problems(SCHEMA, wrong)) == 3


def test_long_values_are_shortened() -> None:
    assert len(shown("x" * 5000)) <= 60
    (problem,) = Validators().problems(SCHEMA, {"path": ["x" * 5000]})
    assert len(problem) < 120


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "isn't JSON"),
        ("[]", '"type": "object"'),
        ("true", '"type": "object"'),
        ('{"type": "string"}', '"type": "object"'),
        ('{"type": "object", "properties": []}', "isn't valid at"),
        ('{"type": "object", "properties": {"a": {"type": "text"}}}', "isn't valid at"),
        ('{"type": "object", "properties": {"a": {"$ref": "other.json"}}}', "which isn't in it"),
        (json.dumps({"type": "object", "title": "x" * MOST_SCHEMA_BYTES}), "more than"),
    ],
)
def test_an_unusable_schema_is_refused_in_words(text: str, problem: str) -> None:
    with pytest.raises(InvalidError, match=problem):
        parse_schema("a:b", text.encode())


def test_validators_are_kept_up_to_a_number() -> None:
    validators = Validators(size=2)
    for name in "abcabc":
        schema = {"type": "object", "required": [name]}
        assert validators.problems(schema, {}) == [f"{name} is missing"]
