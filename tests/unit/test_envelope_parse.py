"""Reading a finished answer: strict about meaning, lenient about form."""

import json

import pytest

from eris.envelope import (
    Envelope,
    EnvelopeInvalid,
    EnvelopeTruncated,
    ToolCall,
    parse_envelope,
    render_envelope,
)

ANSWER = Envelope(thought="hm", status="Idle", message_to_user="Hello.")
TEXT = '{"thought": "hm", "status": "Idle", "message_to_user": "Hello.", "tool_calls": []}'
READ = Envelope(status="Task", tool_calls=(ToolCall("vault:read", {"path": "a.md"}),))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="as the grammar writes it"),
        pytest.param(json.dumps(json.loads(TEXT), indent=2), id="indented"),
        pytest.param(f"```json\n{TEXT}\n```", id="in a fence"),
        pytest.param(f"Sure! Here it is:\n{TEXT}\nAnything else?", id="inside prose"),
        pytest.param(f"Use {{x}} and [1]: {TEXT}", id="after braces in prose"),
        pytest.param(f'{{"example": 1}} {TEXT}', id="after an unrelated object"),
        pytest.param(f"<think>a {{b}}</think>\n{TEXT}", id="after reasoning"),
        pytest.param(f"<think>a</think><think>b</think>{TEXT}", id="after two thoughts"),
        pytest.param(f"reasoning {{x}} goes on</think>{TEXT}", id="reasoning opened by the prompt"),
        pytest.param(TEXT.replace('"Idle"', '"idle"'), id="status in lower case"),
        pytest.param(TEXT.replace(', "tool_calls": []', ""), id="no tool_calls"),
        pytest.param(TEXT.replace("[]", "null"), id="null as tool_calls"),
        pytest.param(TEXT.replace('"thought"', '"reasoning"'), id="another name for thought"),
        pytest.param(TEXT.replace('"status": "Idle", ', ""), id="no status"),
        pytest.param(TEXT.replace('"Idle"', '"Waiting"'), id="an invented status"),
    ],
)
def test_reads_the_envelope_whatever_surrounds_it(text):
    assert parse_envelope(text) == ANSWER


@pytest.mark.parametrize(
    ("call", "args"),
    [
        ('{"name": "t", "args": {"a": 1}}', {"a": 1}),
        ('{"tool": "t", "arguments": {"a": 1}}', {"a": 1}),
        ('{"action": "t", "parameters": {"a": 1}}', {"a": 1}),
        ('{"name": "t", "args": "{\\"a\\": 1}"}', {"a": 1}),
        ('{"type": "function", "function": {"name": "t", "arguments": "{}"}}', {}),
        ('{"name": "t"}', {}),
        ('{"name": "t", "args": ""}', {}),
        ('{"name": "t", "args": null}', {}),
        ('{"name": "t", "args": []}', {}),
    ],
)
def test_reads_a_call_under_its_usual_names(call, args):
    in_list = parse_envelope(f'{{"thought": "", "tool_calls": [{call}]}}')
    alone = parse_envelope(f'{{"thought": "", "tool_calls": {call}}}')
    assert in_list.tool_calls == alone.tool_calls == (ToolCall("t", args),)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "vault:read", "arguments": {"path": "a.md"}}',
        '```json\n{"tool": "vault:read", "args": {"path": "a.md"}}\n```',
        '[{"name": "vault:read", "arguments": {"path": "a.md"}}]',
    ],
)
def test_a_bare_call_of_a_known_tool_is_an_answer(text):
    assert parse_envelope(text, tools={"vault:read"}) == READ


def test_a_bare_call_of_an_unknown_tool_is_no_answer():
    with pytest.raises(EnvelopeInvalid, match="none of its keys"):
        parse_envelope('{"name": "terminal", "arguments": {}}', tools={"vault:read"})


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ('"tool_calls": [{"name": "t"}]', "Reflect"),
        ('"message_to_user": "Hi"', "Idle"),
        ('"message_to_user": "  "', "Task"),
        ('"thought": "so"', "Task"),
    ],
)
def test_a_missing_status_follows_from_the_rest(rest, status):
    assert parse_envelope(f"{{{rest}}}").status == status


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_every_beginning_of_an_envelope_is_truncated(length):
    with pytest.raises(EnvelopeTruncated):
        parse_envelope(TEXT[:length])


@pytest.mark.parametrize(
    "text",
    ["", " \n", "<think>still thinking {", '<think>a</think>\n <think>{"thought": "x"}'],
)
def test_an_answer_without_content_is_truncated(text):
    with pytest.raises(EnvelopeTruncated):
        parse_envelope(text)


def test_reasoning_that_the_prompt_opened_and_nobody_closed_is_no_answer():
    with pytest.raises(EnvelopeTruncated):
        parse_envelope(TEXT, reasoning=True)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("I can't do that.", 0),
        ('{"thought": x}', 12),
        ('{"thought": "a" "b"}', 16),
        ('{"thought": 5}', 0),
        ('{"tool_calls": [5]}', 0),
        ('{"tool_calls": [{"args": {}}]}', 0),
        ('{"tool_calls": [{"name": "t", "args": 5}]}', 0),
        ('{"tool_calls": [{"name": "t", "args": "{"}]}', 0),
        ('{"tool_calls": [{"name": "t", "args": {"a": NaN}}]}', 0),
        ("[]", 0),
        ("{}", 0),
    ],
)
def test_what_is_no_envelope_is_refused_with_its_position(text, position):
    with pytest.raises(EnvelopeInvalid) as caught:
        parse_envelope(text)
    assert caught.value.position == position


def test_deep_nesting_is_refused_and_doesnt_crash():
    with pytest.raises(EnvelopeInvalid):
        parse_envelope('{"thought": "", "tool_calls": ' + "[" * 100_000 + "]" * 100_000 + "}")


def test_lone_surrogates_become_replacement_characters():
    text = (
        '{"message_to_user": "a\\ud800b", "tool_calls": [{"name": "t", "args": {"x": "\\udc00"}}]}'
    )
    envelope = parse_envelope(text)
    assert envelope.message_to_user == "a\ufffdb"
    assert envelope.tool_calls[0].args == {"x": "\ufffd"}


def test_rendering_gives_the_fixed_form():
    call = ToolCall("vault:read", {"path": "é.md"})
    envelope = Envelope(thought='a"b', status="Task", tool_calls=(call,))
    assert render_envelope(envelope) == (
        '{"thought": "a\\"b", "status": "Task", "message_to_user": null, '
        '"tool_calls": [{"name": "vault:read", "args": {"path": "é.md"}}]}'
    )
    assert parse_envelope(render_envelope(envelope)) == envelope
