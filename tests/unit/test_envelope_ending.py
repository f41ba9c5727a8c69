"""An envelope that stops anywhere is made whole, and nothing is invented."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.envelope_ending import EnvelopeFollower, envelope_ending
from eris.grammar import FORMS, SPACED, Form, ToolSchema, envelope_grammar
from proto.inference import EndedEarly, Section
from tests.grammar_acceptor import acceptor

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    TEXT | st.none() | st.booleans() | st.integers(-99, 99),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
ENVELOPES = st.builds(
    Envelope,
    thought=TEXT,
    status=st.sampled_from(["Task", "Reflect", "Idle", "Process"]),
    message_to_user=st.none() | TEXT,
    tool_calls=st.lists(
        st.builds(ToolCall, st.sampled_from(["a:b", 'we"ird']), st.dictionaries(TEXT, VALUES)),
        max_size=3,
    ).map(tuple),
)
OPEN = {"type": "object", "additionalProperties": True}
GRAMMARS = {
    form: acceptor(
        envelope_grammar([ToolSchema("a:b", OPEN), ToolSchema('we"ird', OPEN)], form=form).text
    )
    for form in FORMS.values()
}


FULL = Envelope(
    thought='"\\\n🦉',
    message_to_user="é\x00",
    tool_calls=(ToolCall("a:b", {"x": [1, {"y": "}"}]}), ToolCall('we"ird')),
)


def ended(text: str, form: Form = SPACED) -> tuple[str, EndedEarly]:
    follower = EnvelopeFollower()
    follower.feed(text)
    end = follower.end(envelope_ending(form))
    return text[: end.kept] + end.text, end.early


@given(ENVELOPES, st.sampled_from(list(FORMS.values())), st.data())
@example(FULL, FORMS["spaced"], None)
@example(FULL, FORMS["compact"], None)
@example(FULL, FORMS["indented"], None)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_beginning_of_an_envelope_becomes_a_whole_one(envelope, form, data):
    text = render_envelope(envelope, form)
    calls = json.loads(text)["tool_calls"]
    lengths = range(len(text) + 1)
    if data is not None:
        lengths = [data.draw(st.integers(0, len(text)))]
    for length in lengths:
        whole, early = ended(text[:length], form)
        assert GRAMMARS[form](whole)
        read = json.loads(whole)
        assert read["tool_calls"] == calls[: len(read["tool_calls"])]
        assert envelope.thought.startswith(read["thought"])
        assert (envelope.message_to_user or "").startswith(read["message_to_user"] or "")
        if length == len(text):
            assert (whole, early) == (text, EndedEarly())


EMPTY = '"thought": "", "status": "Process", "message_to_user": null, "tool_calls": []'
HELLO = '"thought": "", "status": "Task", "message_to_user": "Hel'
NULL = '"thought": "", "status": "Task", "message_to_user": null'
CALLS = NULL + ', "tool_calls": '
ONE = '[{"name": "a", "args": {"x": 1}'
TWO = ONE + '}, {"name": "b", "args": {"y": 1'


@pytest.mark.parametrize(
    ("text", "whole", "cut", "left_out"),
    [
        ("", EMPTY, 0, 0),
        ('{"thought": "I s', EMPTY.replace('""', '"I s"', 1), 0, 0),
        ('{"thought": "", "status": "Ta', EMPTY, 1, 0),
        (f"{{{HELLO}\\u00", f'{HELLO}", "tool_calls": []', 2, 0),
        (f"{{{HELLO}\\ud83d\\ude", f'{HELLO}", "tool_calls": []', 2, 0),
        (f"{{{NULL[:-1]}", f"{CALLS}[]", 2, 0),
        (f"{{{CALLS}{ONE[:10]}", f"{CALLS}[]", 3, 1),
        (f"{{{CALLS}{ONE}", f"{CALLS}{ONE}}}]", 3, 0),
        (f"{{{CALLS}{TWO}", f"{CALLS}{ONE}}}]", 3, 1),
    ],
)
def test_what_is_open_is_closed_and_what_is_missing_is_said(text, whole, cut, left_out):
    expected = EndedEarly(cut=tuple(Section)[cut:], calls_left_out=left_out)
    assert ended(text) == ("{" + whole + "}", expected)


@pytest.mark.parametrize("text", ["Sure!", '{"name": "a"', "[1]", '{"thought": "", "x', "null"])
def test_text_that_is_no_envelope_cannot_be_ended(text):
    follower = EnvelopeFollower()
    follower.feed(text + '": 1, "y": 2}')
    assert follower.foreign
    with pytest.raises(ValueError, match="no envelope"):
        follower.end(envelope_ending())


def test_the_places_where_calls_are_decided_are_seen():
    follower = EnvelopeFollower()
    text = '{"thought": "[", "status": "Task", "message_to_user": "[{", "tool_calls": '
    follower.feed(text)
    assert follower.before_first_call
    follower.feed("[")
    assert follower.before_first_call
    assert not follower.after_call
    follower.feed('{"name": "a", "args": {}}')
    assert not follower.before_first_call
    assert follower.after_call
    follower.feed(", ")
    assert not follower.after_call
