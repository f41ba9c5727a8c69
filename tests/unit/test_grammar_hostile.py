"""Schemas that are too much: their own tool takes any object, and the others stay as they are."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import (
    Enforcement,
    SchemaTooLarge,
    ToolSchema,
    arguments_grammar,
    envelope_grammar,
)
from eris.grammar.envelope import MOST_OF_ALL
from eris.grammar.size import size_of
from tests.grammar_acceptor import acceptor


def with_properties(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": [*properties]}


def numbered(schema, count: int) -> dict[str, object]:
    return with_properties(**{f"p{i}": schema(i) for i in range(count)})


def linked(schema, count: int) -> dict[str, object]:
    links = {f"d{i}": schema({"$ref": f"#/$defs/d{i + 1}"}) for i in range(count)}
    defs = {**links, f"d{count}": {"type": "object"}}
    return {"type": "object", "$defs": defs, "properties": {"a": {"$ref": "#/$defs/d0"}}}


def nested(levels: int) -> object:
    schema: object = {}
    for _ in range(levels):
        schema = with_properties(a=schema)
    return schema


GOOD = ToolSchema("good:tool", with_properties(path={"type": "string"}))

LONG_ENUM = {"enum": [f"value {i}" for i in range(7_900)]}

CASES = {
    # What is too much by its size, and where.
    "100,000 values": (with_properties(a={"enum": [*range(100_000)]}), "#/properties/a/enum"),
    "100,000 options": (
        with_properties(a={"oneOf": [{"const": i} for i in range(100_000)]}),
        "#/properties/a",
    ),
    "100,000 required": ({"required": [f"p{i}" for i in range(100_000)]}, "#/required"),
    "20,000 properties": (numbered(lambda _: {"type": "string"}, 20_000), "#/"),
    "5,000 levels": (nested(5_000), "#/properties/a"),
    "a pattern of 2 MB": (with_properties(a={"pattern": "a|" * 10**6}), "#/properties/a/pattern"),
    "a value of 2 MB": (with_properties(a={"const": "x" * 2 * 10**6}), "#/properties/a/const"),
    # What is small and makes a large grammar, or much work.
    "5,000 optional": ({"properties": {f"p{i}": {} for i in range(5_000)}}, "#"),
    "many ranges": (numbered(lambda i: {"type": "integer", "minimum": 12345 + i}, 2_000), "#"),
    "many automata": (
        numbered(
            lambda i: {"type": "string", "pattern": f"(a{{99}}){{10}}{i}", "minLength": 3}, 500
        ),
        "#",
    ),
    "overlapping keys": (
        numbered(
            lambda i: {
                "type": "object",
                "patternProperties": {f"(a|b)*a(a|b){{8}}{i}{j}": {} for j in range(3)},
            },
            300,
        ),
        "#",
    ),
    "values and a pattern": (with_properties(a={**LONG_ENUM, "pattern": "v(a|l)*ue .*"}), "#"),
    "two lists of values": (with_properties(a={"allOf": [LONG_ENUM, LONG_ENUM]}), "#"),
    "1,900 rivals": (
        with_properties(a={"oneOf": [with_properties(k={"const": i}) for i in range(1_900)]}),
        "#",
    ),
    "1,900 conditions": ({"allOf": [{"properties": {f"p{i}": {}}} for i in range(1_900)]}, "#"),
    "a net of references": (
        {
            "$defs": {
                f"d{i}": {
                    "properties": {
                        f"x{j}": {"$ref": f"#/$defs/d{(i * 7 + j) % 100}"} for j in range(20)
                    }
                }
                for i in range(100)
            },
            "properties": {"a": {"$ref": "#/$defs/d0"}},
        },
        "#",
    ),
    # What fits nothing, or is no schema.
    "a list": ([1], "#"),
    "a lone surrogate that is needed": ({"required": ["\ud800"]}, "#"),
    "a schema that needs itself": (with_properties(a={"$ref": "#"}), "#"),
}


def accepts_call(compiled, tool: str, arguments: dict[str, object]) -> bool:
    text = render_envelope(Envelope(tool_calls=(ToolCall(tool, arguments),)))
    return acceptor(compiled.text)(text)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", CASES)
def test_a_schema_that_is_too_much_costs_its_own_tool_only(name):
    schema, path = CASES[name]
    compiled = envelope_grammar([GOOD, ToolSchema("bad:tool", schema)])
    assert accepts_call(compiled, "good:tool", {"path": "x"})
    assert not accepts_call(compiled, "good:tool", {"path": 1})
    assert accepts_call(compiled, "bad:tool", {"anything": [1, {}]})
    (finding,) = [one for one in compiled.report if one.tool == "bad:tool"]
    assert finding.enforcement is Enforcement.CHECKED_AFTERWARDS
    assert finding.reason.startswith("taken as any object: ")
    assert finding.path.startswith(path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "string", "pattern": "(["}, "pattern"),
        ({"type": "string", "pattern": r"^(a*)\1$"}, "pattern"),
        ({"type": "string", "maxLength": 10_000_000}, "maxLength"),
        ({"type": "array", "maxItems": 10_000_000}, "maxItems"),
        ({"$ref": "https://elsewhere.example/schema.json"}, "$ref"),
        ({"type": "number", "minimum": float("nan")}, "minimum"),
        ({"enum": [float("nan"), 1]}, "enum"),
        ({"enum": [1], "$ref": "https://elsewhere.example/schema.json"}, "$ref"),
    ],
)
def test_what_cant_be_compiled_of_a_schema_is_named_with_its_place(schema, keyword):
    compiled = envelope_grammar([ToolSchema("bad:tool", with_properties(a=schema))])
    later = compiled.report.of(Enforcement.CHECKED_AFTERWARDS)
    found = [one for one in later if one.keyword == keyword]
    assert [(one.tool, one.path) for one in found] == [("bad:tool", "#/properties/a")]
    assert found[0].reason


@pytest.mark.timeout(30)
@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-07/schema#", "", {}, 5])
def test_listed_values_beside_a_catastrophic_pattern_are_checked_whatever_the_dialect(dialect):
    schema = {"$schema": dialect, "enum": ["a" * 40 + "!", "aa"], "pattern": "^(a+)+$"}
    compiled = envelope_grammar([ToolSchema("bad:tool", with_properties(a=schema))])
    assert accepts_call(compiled, "bad:tool", {"a": "aa"})
    assert not accepts_call(compiled, "bad:tool", {"a": "a" * 40 + "!"})


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        linked(lambda link: {"anyOf": [link, link]}, 40),
        linked(lambda link: {"allOf": [link, link]}, 40),
        linked(lambda link: {"properties": {"a": link, "b": link}}, 40),
        {"properties": {"a": {"type": "string", "pattern": "(a{1000}){1000}"}}},
    ],
)
def test_circles_and_doublings_come_to_an_end(schema):
    compiled = envelope_grammar([GOOD, ToolSchema("bad:tool", schema)])
    assert accepts_call(compiled, "good:tool", {"path": "x"})
    assert not accepts_call(compiled, "good:tool", {})


@pytest.mark.parametrize(
    "name",
    ['quote"', "back\\slash", "new\nline", "nul\x00", "é\U0001f600", "</tool>", "\u2028", ""],
)
def test_a_name_may_hold_anything(name):
    schema = with_properties(**{name or "x": {"enum": [name]}})
    compiled = envelope_grammar([GOOD, ToolSchema(name, schema)])
    assert accepts_call(compiled, name, {name or "x": name})
    assert not accepts_call(compiled, name, {name or "x": "other"})
    assert not accepts_call(compiled, "good:tool", {})


@pytest.mark.timeout(60)
def test_of_many_large_tools_the_largest_fall_back_until_all_fit():
    tools = [
        ToolSchema(f"large:t{i}", with_properties(a={"enum": [f"{i} {j}" for j in range(2_500)]}))
        for i in range(12)
    ]
    compiled = envelope_grammar([GOOD, *tools])
    assert size_of(compiled.grammar.rules.values()).nodes < MOST_OF_ALL.nodes + 1_000
    fallen = {one.tool for one in compiled.report.of(Enforcement.CHECKED_AFTERWARDS)}
    assert fallen
    assert fallen < {tool.name for tool in tools}
    kept = min({tool.name for tool in tools} - fallen)
    assert accepts_call(compiled, kept, {"a": f"{kept[-1]} 7"})
    assert not accepts_call(compiled, kept, {"a": "x"})
    assert not accepts_call(compiled, "good:tool", {})


keywords = st.sampled_from(
    [
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "a",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "nullable",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "then",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    ]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from(
        [1.5, 10**30, float("nan"), "", "x", "(", r"(a)\1", "#", "#/$defs/x", "object"]
    ),
)
nonsense = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(schema=st.dictionaries(keywords, nonsense, max_size=4))
def test_no_nonsense_in_a_schema_is_too_much(schema):
    compiled = envelope_grammar([GOOD, ToolSchema("bad:tool", schema)])
    assert not accepts_call(compiled, "good:tool", {})


def test_a_tool_by_itself_is_refused_with_the_place():
    with pytest.raises(SchemaTooLarge, match="#/properties/a/enum"):
        arguments_grammar(ToolSchema("t", CASES["100,000 values"][0]))


def test_descriptions_however_long_cost_nothing():
    schema = {**GOOD.schema, "description": "x" * 2_000_000, "examples": [{}] * 50_000}
    compiled = envelope_grammar([ToolSchema("t", schema)])
    assert not accepts_call(compiled, "t", {})
    assert len(compiled.text) < 2_000
    assert json.dumps(compiled.text)
