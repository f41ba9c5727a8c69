"""One set of tools decides about prompt text and grammar."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gatekeeper.offer import MOST_OFFERED, example_call, offer, offered_set, tools_text
from actors.gatekeeper.registry import Registry
from eris.envelope import parse_envelope, render_envelope
from eris.grammar import FORMS, SubsetCache
from proto.tools import Effect, Origin, ToolDeclaration
from tests.grammar_acceptor import acceptor

WRITE = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The note, such as notes/today.md"},
        "content": {"type": "string", "description": "The text to write."},
        "mode": {"enum": ["append", "overwrite"], "description": "How", "default": "append"},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


def declared(name: str, schema: dict[str, Any], effect: Effect = Effect.READ) -> ToolDeclaration:
    return ToolDeclaration(
        name=name,
        description=f"Does {name}.",
        hints=(),
        parameters=json.dumps(schema),
        effect=effect,
    )


REGISTRY = Registry().with_tools(
    "vault",
    [
        declared("vault:write", WRITE, Effect.WRITE),
        declared("vault:read", EMPTY),
        declared("mail:send", EMPTY, Effect.SEND),
    ],
)
NAMES = [*REGISTRY.names, "no:tool"]


def chosen(*candidates: str, origin: Origin = Origin.USER, denied: tuple[str, ...] = ()) -> Any:
    return offered_set(candidates, origin, REGISTRY, denied)


@pytest.mark.parametrize(
    ("origin", "denied", "offered"),
    [
        (Origin.USER, (), ["mail:send", "vault:read", "vault:write"]),
        (Origin.REMINDER, (), ["vault:read", "vault:write"]),
        (Origin.CHANNEL, (), []),
        (Origin.USER, ("vault:*",), ["mail:send"]),
    ],
)
def test_only_permitted_tools_are_offered(
    origin: Origin, denied: tuple[str, ...], offered: list[str]
) -> None:
    found = chosen(*NAMES, origin=origin, denied=denied)
    assert [tool.name for tool in found.tools] == offered
    assert set(found.left_out) == set(NAMES) - set(offered)
    assert all(found.left_out.values())


def test_the_order_of_the_candidates_is_kept_and_none_is_offered_twice() -> None:
    found = chosen("vault:write", "mail:send", "vault:write")
    assert [tool.name for tool in found.tools] == ["vault:write", "mail:send"]


@given(st.lists(st.sampled_from(NAMES)), st.sampled_from(Origin), st.sets(st.sampled_from(NAMES)))
def test_text_and_grammar_speak_of_exactly_the_offered_tools(
    candidates: list[str], origin: Origin, denied: set[str]
) -> None:
    found = offer(offered_set(candidates, origin, REGISTRY, denied), SubsetCache())
    for name in NAMES:
        offered = name in found.tools
        assert (f"- {name}:" in found.text) is offered
        assert (name in found.grammar) is offered
        assert (name in found.calling_grammar) is offered
        assert (name in found.left_out) is (name in candidates and not offered)


def test_without_tools_there_is_no_text_and_no_call() -> None:
    found = offer(chosen(), SubsetCache())
    assert found.text == ""
    assert found.tools == ()
    assert "[]" in found.grammar
    assert "args" not in found.grammar
    assert found.calling_grammar == ""


def test_the_text_shows_arguments_and_an_answer_in_the_form_of_the_grammar() -> None:
    answer = '    to use it, answer: {"thought": "...", "status": "Task", "message_to_user": null, '
    assert tools_text(chosen("vault:write", "vault:read").tools) == (
        "- vault:write: Does vault:write.\n"
        "    path: The note, such as notes/today.md\n"
        "    content: The text to write\n"
        '    mode: How; "append" or "overwrite"; optional\n'
        f'{answer}"tool_calls": '
        '[{"name": "vault:write", "args": {"path": "...", "content": "..."}}]}\n'
        "- vault:read: Does vault:read.\n"
        f'{answer}"tool_calls": [{{"name": "vault:read", "args": {{}}}}]}}'
    )


NESTED = {
    "type": "object",
    "properties": {
        "amenities": {
            "type": "array",
            "items": {"enum": ["Pool", "Patio"]},
            "description": "What it has.",
        },
        "budget": {
            "type": "object",
            "properties": {
                "low": {"type": "number", "description": "Least"},
                "high": {"type": "number"},
            },
        },
        "guests": {"type": "array", "items": {"$ref": "#/$defs/guest"}},
    },
    "required": ["budget"],
    "$defs": {
        "guest": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "friends": {"type": "array", "items": {"$ref": "#/$defs/guest"}},
            },
            "required": ["name"],
        }
    },
}


def text_of(schema: dict[str, Any]) -> list[str]:
    registry = Registry().with_tools("area", [declared("area:book", schema)])
    found = offered_set(["area:book"], Origin.USER, registry, ())
    return tools_text(found.tools).splitlines()


def test_the_text_shows_what_may_be_in_lists_and_objects() -> None:
    lines = text_of(NESTED)
    assert lines[1:8] == [
        '    amenities: What it has; array of "Pool" or "Patio"; optional',
        "    budget: object",
        "      low: Least; number; optional",
        "      high: number; optional",
        "    guests: array of object; optional",
        "      name: text",
        "      friends: array of object; optional",
    ]
    assert '"args": {"budget": {"low": 1, "high": 1}}' in lines[-1]


def test_a_schema_without_end_takes_a_bounded_part_of_the_prompt() -> None:
    wide = {name: {"$ref": "#/$defs/node"} for name in "abcdefghijklmnop"}
    deep = {"type": "array", "items": {"$ref": "#/$defs/list"}}
    node = {"type": "object", "properties": wide}
    lines = text_of({**node, "$defs": {"node": node}})
    assert len(lines) < 30
    lines = text_of({"type": "object", "properties": {"x": deep}, "$defs": {"list": deep}})
    assert max(map(len, lines)) < 200


def test_the_same_set_has_the_same_key_whatever_its_order() -> None:
    grammars = SubsetCache()
    first = offer(chosen("vault:write", "vault:read"), grammars)
    second = offer(chosen("vault:read", "vault:write"), grammars)
    assert first.key == second.key
    assert first.grammar == second.grammar
    assert first.key != offer(chosen("vault:read"), grammars).key


def test_too_many_candidates_are_cut() -> None:
    names = [f"area:tool{number}" for number in range(MOST_OFFERED + 3)]
    registry = Registry().with_tools("vault", [declared(name, EMPTY) for name in names])
    found = offered_set(names, Origin.USER, registry, ())
    assert [tool.name for tool in found.tools] == names[:MOST_OFFERED]
    assert set(found.left_out) == set(names[MOST_OFFERED:])


def test_a_set_whose_grammar_would_be_too_large_is_halved() -> None:
    names = [f"area:tool{number}" for number in range(8)]
    tools = []
    for name in names:
        members = [f"member {number} of the long enumeration of {name}" for number in range(500)]
        properties = {"kind": {"enum": members}}
        tools.append(declared(name, {"type": "object", "properties": properties}))
    registry = Registry().with_tools("vault", tools)
    found = offer(offered_set(names, Origin.USER, registry, ()), SubsetCache())
    assert found.tools == tuple(names[:4])
    assert set(found.left_out) == set(names[4:])
    assert "area:tool7" not in found.text


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"a": {"type": "integer"}}, {"a": 1}),
        ({"a": {"type": "boolean"}}, {"a": True}),
        ({"a": {"type": "string", "examples": ["x.md"]}}, {"a": "x.md"}),
        ({"a": {"enum": ["u", "v"]}}, {"a": "u"}),
        ({"a": {"const": 5}}, {"a": 5}),
        ({"a": {"type": "string", "default": "d"}}, {"a": "d"}),
        ({"a": {"type": "array"}}, {"a": []}),
        ({"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, {"a": "..."}),
        (
            {"a": {"type": "object", "properties": {"b": {}}, "required": ["b"]}},
            {"a": {"b": "..."}},
        ),
        ({"a": {}}, {"a": "..."}),
    ],
)
def test_an_example_call_has_what_is_required(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    text = example_call("x:y", {"type": "object", "properties": schema, "required": ["a"]})
    assert json.loads(text) == {"name": "x:y", "args": arguments}
    assert not re.search(r'"[:,]"', text)


@pytest.mark.parametrize("form", FORMS)
def test_grammar_and_text_are_in_the_same_form(form: str) -> None:
    offered = offer(chosen("vault:write"), SubsetCache(form=FORMS[form]))
    example = offered.text.partition("to use it, answer: ")[2]
    assert acceptor(offered.grammar)(example)
    others = [other for other in FORMS if other != form]
    for other in others:
        assert not acceptor(offered.grammar)(render_envelope(parse_envelope(example), FORMS[other]))
