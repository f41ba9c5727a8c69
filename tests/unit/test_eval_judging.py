"""The judge of `make eval`, and how a benchmark's functions become tools."""

import json

import pytest

from tests.eval.judging import right_arguments
from tests.eval.questions import question, schema, tool_name

ACCEPTED = {
    "city": ["San Francisco", "San Francisco, CA"],
    "days": [3],
    "unit": ["", "celsius"],
    "tags": [["a", "b"]],
    "range": [{"low": [1, 2], "high": [9]}],
}
RIGHT = {
    "city": "san francisco ca",
    "days": 3.0,
    "tags": ["A", "b"],
    "range": {"low": 2, "high": 9},
}


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True),
        ({"unit": "Celsius"}, True),
        ({"unit": "kelvin"}, False),
        ({"days": "3"}, False),
        ({"days": True}, False),
        ({"tags": ["b", "a"]}, False),
        ({"tags": "ab"}, False),
        ({"range": {"low": 3, "high": 9}}, False),
        ({"range": {"low": 1}}, False),
        ({"more": 1}, False),
    ],
)
def test_an_argument_is_right_if_its_value_is_among_the_accepted_ones(change, right):
    assert right_arguments({**RIGHT, **change}, ACCEPTED) is right


@pytest.mark.parametrize("name", ["city", "days", "tags", "range"])
def test_only_what_may_be_empty_may_be_left_out(name):
    kept = {key: value for key, value in RIGHT.items() if key != name}
    assert not right_arguments(kept, ACCEPTED)


@pytest.mark.parametrize(
    ("function", "tool"),
    [
        ("math.factorial", "math:factorial"),
        ("get_prime_factors", "get:prime_factors"),
        ("a.b.c", "a_b:c"),
        ("solve", "call:solve"),
    ],
)
def test_a_functions_name_becomes_that_of_a_tool(function, tool):
    assert tool_name(function) == tool


def test_a_name_that_is_too_long_is_cut_and_stays_different():
    names = {tool_name(f"finance.{'calculate_' * 6}{end}") for end in "ab"}
    assert len(names) == 2
    assert all(len(name) <= 48 for name in names)


def test_types_of_python_become_those_of_json_schema():
    described = {
        "type": "dict",
        "properties": {
            "ratio": {"type": "float", "optional": True},
            "pair": {"type": "tuple", "items": {"type": "integer"}},
            "what": {"type": "any", "description": "Anything"},
        },
        "required": ["ratio"],
    }
    assert schema(described) == {
        "type": "object",
        "properties": {
            "ratio": {"type": "number"},
            "pair": {"type": "array", "items": {"type": "integer"}},
            "what": {"description": "Anything"},
        },
        "required": ["ratio"],
    }


def test_a_question_names_the_tool_that_answers_it():
    one = question(
        {
            "id": "x_1",
            "category": "multiple",
            "question": [
                [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "5!"}]
            ],
            "function": [
                {
                    "name": "math.factorial",
                    "description": "n!",
                    "parameters": {"type": "dict", "properties": {}},
                },
                {
                    "name": "math.root",
                    "description": "root",
                    "parameters": {"type": "dict", "properties": {}},
                },
            ],
            "ground_truth": [{"math.factorial": {"number": [5]}}],
        }
    )
    assert (one.text, one.tool, one.accepted) == (
        "Be brief.\n\n5!",
        "math:factorial",
        {"number": [5]},
    )
    assert [tool.name for tool in one.tools] == ["math:factorial", "math:root"]
    assert json.loads(one.tools[0].parameters)["additionalProperties"] is False
