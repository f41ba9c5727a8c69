"""Opposites, choices with conditions, multiples and counted items: what takes more than a union."""

import pytest

from eris.grammar import compile_schema
from tests.grammar_acceptor import acceptor

INT = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        pytest.param(
            {"type": "integer", "multipleOf": 7},
            ["0", "49", "-7", "700"],
            ["1", "48", "-0"],
            id="multiples without bounds",
        ),
        pytest.param(
            {"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 2},
            ["2.01", "2.1", "2.10", "3"],
            ["2", "2.00", "2.001", "1.99"],
            id="cents above a bound",
        ),
        pytest.param(
            {"multipleOf": 2.5, "type": "number", "minimum": 1},
            ["2.5", "5", "5.0", "100"],
            ["0", "1", "2.6", "-2.5"],
            id="multiples of decimals",
        ),
        pytest.param(
            {"type": "number", "not": {"multipleOf": 2}},
            ["1", "2.5", "2.01", "-3"],
            ["2", "2.0", "0", "-4.00"],
            id="no multiples",
        ),
        pytest.param(
            {"type": "number", "not": {"type": "integer"}},
            ["0.5", "-1.25"],
            ["1", "1.0"],
            id="numbers but no integers",
        ),
        pytest.param(
            {"type": "integer", "not": {"enum": [0, 7]}},
            ["1", "6", "8", "70", "-7"],
            ["0", "7"],
            id="integers but some",
        ),
        pytest.param(
            {"type": "string", "not": {"enum": ["a", "ab"]}, "pattern": "^a"},
            ['"abc"', '"aa"'],
            ['"a"', '"ab"', '"b"'],
            id="strings but some",
        ),
        pytest.param({"not": {"const": True}}, ["false", "1", '"true"'], ["true"], id="not true"),
        pytest.param({"not": {"pattern": "a"}}, ['"b"'], ['"ba"', "1"], id="not a pattern"),
        pytest.param(
            {"not": {"required": ["a", "b"]}},
            ["{}", '{"a": 1}', '{"b": 1}'],
            ['{"a": 1, "b": 1}', '"x"'],
            id="not all of some properties",
        ),
        pytest.param(
            {"type": "object", "not": {"anyOf": [{"required": ["a"]}, {"minProperties": 2}]}},
            ["{}", '{"b": 1}'],
            ['{"a": 1}', '{"b": 1, "c": 1}'],
            id="none of several",
        ),
        pytest.param(
            {"oneOf": [{"type": "integer", "multipleOf": 2}, {"multipleOf": 3}]},
            ["2", "3", '"x"'],
            ["6", "1", "0", "4.5"],
            id="one of two that overlap",
        ),
        pytest.param(
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            ['{"a": 1}', '{"b": 1, "c": 2}'],
            ["{}", '{"a": 1, "b": 1}'],
            id="one of two properties",
        ),
        pytest.param(
            {"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]},
            ['"a"', '"bc"'],
            ['"ab"', '"c"'],
            id="one of two patterns",
        ),
        pytest.param(
            {"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "null"}},
            ["5", "null"],
            ["4", '"x"', "5.5"],
            id="if, then and else",
        ),
        pytest.param(
            {"type": "array", "items": INT, "contains": {"minimum": 5}, "maxContains": 2},
            ["[5]", "[1, 7, 2]", "[6, 6]"],
            ["[]", "[1]", "[5, 6, 7]"],
            id="items counted by kind",
        ),
        pytest.param(
            {"$dynamicRef": "#node", "$defs": {"n": {"$dynamicAnchor": "node", "type": "null"}}},
            ["null"],
            ["1"],
            id="dynamic reference without a choice",
        ),
    ],
)
def test_opposites_and_conditions_are_exact(schema, accepted, refused):
    compiled = compile_schema(schema)
    assert compiled.report.exact
    accepts = acceptor(compiled.text)
    assert [text for text in accepted if not accepts(text)] == []
    assert [text for text in refused if accepts(text)] == []
