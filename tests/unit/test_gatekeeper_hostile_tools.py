"""Tools of third parties: a hostile schema costs its own tool something, and no other anything."""

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator

from actors.gatekeeper.bounded import MOST_STEPS
from actors.gatekeeper.offer import offer, offered_set
from actors.gatekeeper.pipeline import Approved, fit
from actors.gatekeeper.registry import RegisteredTool, Registry
from actors.gatekeeper.schemas import MOST_SCHEMA_BYTES, Validators
from actors.gatekeeper.vetting import LONGEST_NOTE, MOST_NOTES
from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import SubsetCache
from proto.gatekeeper import Invoke
from proto.tools import Effect, Origin, ToolDeclaration
from tests.grammar_acceptor import acceptor

Schema = dict[str, Any]

GOOD = json.dumps(
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)


def declared(name: str, parameters: str) -> ToolDeclaration:
    return ToolDeclaration(
        name=name, description="Do it.", hints=("do it",), parameters=parameters, effect=Effect.READ
    )


def with_property(schema: Schema) -> Schema:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"]}


def nested(levels: int) -> str:
    return '{"type":"object","properties":{"a":' * levels + "{}" + "}}" * levels


def multiplying(keyword: str) -> Schema:
    """Forty definitions, each of which refers twice to the next."""
    links: Schema = {
        f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(40)
    }
    return {"type": "object", "$defs": {**links, "d40": {"type": "string"}}}


CATASTROPHIC = with_property({"type": "string", "pattern": "^(a+)+$"})

HOSTILE: dict[str, str | Schema] = {
    "a pattern that can't be parsed": with_property({"type": "string", "pattern": "(["}),
    "a pattern that takes for ever": CATASTROPHIC,
    "a pattern of a million": with_property({"type": "string", "pattern": "(a{1000}){1000}"}),
    "a pattern of many groups": with_property({"pattern": "(" * 3000 + ")" * 3000}),
    "a back reference": with_property({"type": "string", "pattern": r"(a*)*\1"}),
    "patterned keys": {"type": "object", "patternProperties": {"^(a+)+$": {}, "([": {}}},
    "a length of ten million": with_property({"type": "string", "maxLength": 10_000_000}),
    "a least length of ten million": with_property({"type": "string", "minLength": 10_000_000}),
    "ten million items": with_property({"type": "array", "maxItems": 10_000_000}),
    "a schema within itself": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "a schema that needs itself": with_property({"$ref": "#"}),
    "a reference to itself": {"type": "object", "$ref": "#"},
    "allOf in a circle": {"type": "object", "allOf": [{"$ref": "#"}]},
    "references in a circle": {
        "type": "object",
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "choices that multiply": {**multiplying("anyOf"), "properties": {"a": {"$ref": "#/$defs/d0"}}},
    "conditions that multiply": {
        **multiplying("allOf"),
        "properties": {"a": {"$ref": "#/$defs/d0"}},
    },
    "a reference to elsewhere": with_property({"$ref": "https://elsewhere.example/x.json"}),
    "a dynamic reference to elsewhere": with_property({"$dynamicRef": "https://elsewhere.example"}),
    "NaN": '{"type": "object", "properties": {"a": {"minimum": NaN}}}',
    "a list": "[1, 2]",
    "a text": '"x"',
    "no JSON": "{",
    "half a character": '{"type": "object", "properties": {"\\ud800": {}}}',
    "keys with everything": {
        "type": "object",
        "properties": {'"\\\n\t\u2028é': {"enum": ['"\\\n']}},
    },
    "2 MB": {"type": "object", "description": "x" * 2_000_000},
    "5,000 levels": nested(5_000),
    "2,500 levels": '{"type":"object","a":' + "[" * 2_500 + "]" * 2_500 + "}",
    "900 levels": nested(900),
    "100,000 values": with_property({"enum": list(range(100_000))}),
    "5,000 values": with_property({"enum": [f"v{i}" for i in range(5_000)]}),
    "5,000 arguments": {"type": "object", "properties": {f"p{i}": {} for i in range(5_000)}},
    "1,500 required": {"type": "object", "required": [f"name{i}" for i in range(1_500)]},
    "wrong everywhere": {"type": "object", "properties": [1], "required": "a", "enum": 5},
}


def text_of(schema: str | Schema) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


def registered(schema: str | Schema) -> tuple[Registry, RegisteredTool]:
    tools = [declared("good:tool", GOOD), declared("bad:tool", text_of(schema))]
    registry = Registry().with_tools("net", tools)
    tool = registry.get("bad:tool")
    assert tool is not None
    return registry, tool


def answer(tool: str, arguments: Schema) -> str:
    return render_envelope(Envelope(tool_calls=(ToolCall(tool, arguments),)))


def called(tool: RegisteredTool, arguments: Schema) -> object:
    invoke = Invoke(
        call_id="c", tool=tool.name, arguments=json.dumps(arguments), origin=Origin.USER,
        offered=(tool.name,), session="s", turn="t",
    )  # fmt: skip
    return fit(invoke, tool, Validators())


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_leaves_the_other_tools_as_they_are(name: str) -> None:
    registry, _ = registered(HOSTILE[name])
    offered = offer(offered_set(registry.names, Origin.USER, registry, ()), SubsetCache())
    assert set(offered.tools) == {"good:tool", "bad:tool"}
    accepts = acceptor(offered.grammar)
    assert accepts(answer("good:tool", {"path": "x"}))
    assert not accepts(answer("good:tool", {"path": 1}))
    assert len(offered.text) < 20_000


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", HOSTILE)
def test_the_arguments_of_a_hostile_tool_are_checked_to_an_end(name: str) -> None:
    _, tool = registered(HOSTILE[name])
    given: list[Schema] = [{}, {"a": "a" * 5_000 + "!"}, {"a" * 5_000 + "!": [[{}] * 50] * 50}]
    for arguments in given:
        called(tool, arguments)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a pattern that can't be parsed", ["bad:tool #/properties/a pattern", "ends too early"]),
        ("a pattern of a million", ["bad:tool", "(a{1000}){1000}"]),
        ("a back reference", ["bad:tool #/properties/a pattern"]),
        ("a length of ten million", ["bad:tool #/properties/a maxLength"]),
        ("a least length of ten million", ["bad:tool #/properties/a", "any object", "minLength"]),
        ("a reference to itself", ["bad:tool", "refers to itself without end"]),
        ("allOf in a circle", ["bad:tool", "refers to itself without end"]),
        ("a reference to elsewhere", ["bad:tool", "elsewhere.example"]),
        ("a dynamic reference to elsewhere", ["bad:tool", "elsewhere.example"]),
        ("NaN", ["bad:tool", "NaN"]),
        ("a list", ["bad:tool", '"type": "object"']),
        ("half a character", ["bad:tool", "surrogate"]),
        ("2 MB", ["bad:tool", str(MOST_SCHEMA_BYTES)]),
        ("2,500 levels", ["bad:tool", "nests too deeply"]),
        ("wrong everywhere", ["bad:tool", "$.", "isn't valid"]),
    ],
)
def test_a_note_names_tool_place_and_reason(name: str, words: list[str]) -> None:
    _, tool = registered(HOSTILE[name])
    notes = " ".join(tool.notes)
    for word in words:
        assert word in notes
    assert len(tool.notes) <= MOST_NOTES + 1
    assert all(len(note) <= LONGEST_NOTE for note in tool.notes)


def test_a_sound_schema_has_no_notes() -> None:
    _, tool = registered(json.loads(GOOD))
    assert tool.notes == ()


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("value", "fits"), [("a" * 2_000, True), ("a" * 2_000 + "!", False), ("", False)]
)
def test_a_pattern_that_names_its_own_dialect_is_checked_no_less(value: str, fits: bool) -> None:
    own = {**CATASTROPHIC["properties"]["a"], "$schema": Draft7Validator.META_SCHEMA["$schema"]}
    _, tool = registered(with_property(own))
    assert isinstance(called(tool, {"a": value}), Approved) is fits


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("value", "fits"), [("a" * 2_000, True), ("a" * 2_000 + "!", False), ("", False)]
)
def test_a_catastrophic_pattern_is_still_checked(value: str, fits: bool) -> None:
    _, tool = registered(CATASTROPHIC)
    assert isinstance(called(tool, {"a": value}), Approved) is fits


@pytest.mark.timeout(30)
def test_patterned_keys_are_checked_without_running_away() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^(a+)+$": {"type": "integer"}},
        "additionalProperties": False,
    }
    problems = Validators().problems
    assert problems(schema, {"a" * 500: 1}) == []
    assert "whole number" in problems(schema, {"a" * 50: "x"})[0]
    assert "can't be there" in problems(schema, {"a" * 50 + "!": 1})[0]


@pytest.mark.timeout(30)
def test_references_that_multiply_are_followed_so_far_and_no_further() -> None:
    schema = {**multiplying("anyOf"), "properties": {"a": {"$ref": "#/$defs/d0"}}}
    (problem,) = Validators().problems(schema, {"a": 1})
    assert str(MOST_STEPS) in problem


def test_a_schema_of_an_older_draft_is_read_as_that() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"items": [{"type": "integer"}]}},
    }
    _, tool = registered(schema)
    assert tool.schema == schema
    assert not isinstance(called(tool, {"a": ["x"]}), Approved)


def test_a_problem_is_short_however_large_the_schema() -> None:
    names = [f"name{i}" for i in range(2_000)]
    schema = {
        "type": "object",
        "properties": {name: {} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    problems = Validators().problems(schema, {"x" * 10_000: 1})
    assert all(len(problem) <= 400 for problem in problems)
