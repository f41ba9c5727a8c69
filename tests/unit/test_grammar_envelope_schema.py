"""The JSON Schema of an answer says what its grammar says."""

import json

import jsonschema
import pytest

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar import ToolSchema, envelope_grammar
from eris.grammar.envelope_schema import envelope_schema
from tests.grammar_acceptor import acceptor

WRITE = ToolSchema(
    "vault:write",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "mode": {"enum": ["append", "replace"]},
        },
        "required": ["path"],
    },
)
TREE = ToolSchema(
    "tree:grow",
    {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}, "$ref": {"type": "integer"}},
        "required": ["root"],
        "additionalProperties": False,
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["children"],
                "additionalProperties": False,
            }
        },
    },
)
CLOCK = ToolSchema("clock:now", {"type": "object", "properties": {}})
TOOLS = [WRITE, TREE, CLOCK]
LEAF = {"children": []}


def valid(schema, text):
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))


def answer(*calls, message=None):
    return render_envelope(
        Envelope(
            thought="Hm.",
            message_to_user=message,
            tool_calls=tuple(ToolCall(name, args) for name, args in calls),
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        answer(message="Hello."),
        answer(),
        answer(("vault:write", {"path": "a.md"})),
        answer(("vault:write", {"path": "a.md", "mode": "append"}), ("clock:now", {})),
        answer(("vault:write", {"path": ""})),
        answer(("vault:write", {"path": "a.md", "mode": "burn"})),
        answer(("vault:write", {"path": "a.md", "more": 1})),
        answer(("vault:read", {"path": "a.md"})),
        answer(("tree:grow", {"root": {"children": [LEAF, LEAF]}})),
        answer(("tree:grow", {"root": {"children": [{"children": [3]}]}})),
        answer(("tree:grow", {"root": LEAF, "$ref": 4})),
        answer(("tree:grow", {"root": LEAF, "$ref": "4"})),
        answer(*[("clock:now", {})] * 5),
        answer(("clock:now", {"zone": "UTC"})),
    ],
)
@pytest.mark.parametrize("must", [{}, {"must_call": True}, {"must_say": True}])
@pytest.mark.parametrize("tools", [TOOLS, [WRITE]])
def test_schema_and_grammar_judge_answers_alike(text, must, tools):
    grammar = envelope_grammar(tools, **must).text
    assert valid(envelope_schema(tools, **must), text) == acceptor(grammar)(text)


def test_without_tools_nothing_can_be_called():
    assert valid(envelope_schema([]), answer(message="Hello."))
    assert not valid(envelope_schema([]), answer(("clock:now", {})))


def test_every_key_of_the_envelope_is_demanded():
    assert not valid(envelope_schema(TOOLS), '{"message_to_user": "Hello."}')


def test_a_call_that_is_demanded_without_any_tool_is_refused():
    with pytest.raises(ValueError, match="must_call"):
        envelope_schema([], must_call=True)


def test_a_tool_that_refers_by_anchor_takes_any_object():
    anchored = ToolSchema(
        "a:b",
        {"type": "object", "properties": {"x": {"$ref": "#y"}}, "$defs": {"y": {"$anchor": "y"}}},
    )
    assert valid(envelope_schema([anchored]), answer(("a:b", {"anything": 1})))


def test_data_that_looks_like_a_reference_stays_as_it_is():
    tool = ToolSchema("a:b", {"type": "object", "properties": {"x": {"enum": [{"$ref": "#/q"}]}}})
    assert valid(envelope_schema([tool]), answer(("a:b", {"x": {"$ref": "#/q"}})))


def test_the_order_of_the_tools_does_not_matter():
    assert json.dumps(envelope_schema(TOOLS)) == json.dumps(envelope_schema(TOOLS[::-1]))
