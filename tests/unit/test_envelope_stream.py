"""Reading an answer while it is being written, in pieces that end anywhere."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.envelope import (
    EnvelopeStream,
    MessageDelta,
    StatusKnown,
    ThoughtDelta,
    ToolCallStarted,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
envelopes = st.fixed_dictionaries(
    {
        "thought": texts,
        "status": st.sampled_from(["Task", "Reflect", "Idle", "Process"]),
        "message_to_user": st.none() | texts,
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {
                    "name": texts.filter(bool),
                    "args": st.dictionaries(
                        texts | st.sampled_from(["name", "thought", "tool_calls"]), values
                    ),
                }
            ),
            max_size=3,
        ),
    }
)


def pieces(text, cuts):
    edges = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


def collect(stream, chunks):
    events = [event for chunk in chunks for event in stream.feed(chunk)]

    def joined(kind):
        return "".join(event.text for event in events if isinstance(event, kind))

    return events, joined(ThoughtDelta), joined(MessageDelta)


@given(
    envelope=envelopes,
    cuts=st.lists(st.integers(min_value=0), max_size=30),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
    before=st.sampled_from(["", "```json\n", "Well {ok}: ", "<think>{ hm </think> "]),
)
def test_any_split_gives_the_same_as_the_whole(envelope, cuts, ascii_only, indent, before):
    text = before + json.dumps(envelope, ensure_ascii=ascii_only, indent=indent)
    stream = EnvelopeStream()
    events, thought, message = collect(stream, pieces(text, cuts))
    assert thought == envelope["thought"]
    assert message == (envelope["message_to_user"] or "")
    assert [e.status for e in events if isinstance(e, StatusKnown)] == [envelope["status"]]
    names = [e.name for e in events if isinstance(e, ToolCallStarted)]
    assert names == [call["name"] for call in envelope["tool_calls"]]
    partial = stream.partial()
    assert partial.complete
    assert partial.thought == envelope["thought"]
    assert partial.message_to_user == envelope["message_to_user"]
    assert partial.tool_names == tuple(names)


def test_each_character_comes_as_soon_as_its_escape_is_complete():
    stream = EnvelopeStream()
    seen = []
    for char in '{"message_to_user": "a\\ud83d\\ude00\\n\\u00e9"':
        seen += stream.feed(char)
    assert seen == [MessageDelta("a"), MessageDelta("😀"), MessageDelta("\n"), MessageDelta("é")]
    assert stream.partial().message_to_user == "a😀\né"


@pytest.mark.parametrize(
    ("written", "read"),
    [("\\ud83dx", "\ufffdx"), ("\\ude00", "\ufffd"), ("\\ud83d\\ud83d\\ude00", "\ufffd😀")],
)
def test_half_a_surrogate_pair_becomes_a_replacement_character(written, read):
    stream = EnvelopeStream()
    _, _, message = collect(stream, [f'{{"message_to_user": "{written}"}}'])
    assert message == read


def test_events_come_in_the_order_of_the_text():
    text = (
        '{"thought": "t", "status": "Task", "message_to_user": "m", '
        '"tool_calls": [{"name": "a:b", "args": {"name": "no"}}]}'
    )
    assert EnvelopeStream().feed(text) == [
        ThoughtDelta("t"),
        StatusKnown("Task"),
        MessageDelta("m"),
        ToolCallStarted("a:b"),
    ]


def test_a_null_message_gives_no_event():
    stream = EnvelopeStream()
    assert stream.feed('{"message_to_user": null, ') == []
    assert stream.partial().message_to_user is None


def test_what_stands_in_reasoning_is_no_answer():
    stream = EnvelopeStream()
    assert stream.feed('<think>{"message_to_user": "no"}') == []
    assert stream.feed("</thi") == []
    assert stream.feed('nk>{"message_to_user": "yes"') == [MessageDelta("yes")]


def test_reasoning_that_the_prompt_opened_is_skipped():
    stream = EnvelopeStream(reasoning=True)
    assert stream.feed('{"message_to_user": "no"}</think>{"message_to_user": "yes"}') == [
        MessageDelta("yes")
    ]


def test_text_after_the_envelope_is_ignored():
    stream = EnvelopeStream()
    stream.feed('{"message_to_user": "yes"}')
    assert stream.feed('{"message_to_user": "no"}') == []
    assert stream.partial().message_to_user == "yes"


def test_a_cut_envelope_keeps_what_came():
    stream = EnvelopeStream()
    stream.feed('{"thought": "so", "status": "Task", "message_to_user": "I was sa')
    partial = stream.partial()
    assert (partial.thought, partial.status, partial.message_to_user) == (
        "so",
        "Task",
        "I was sa",
    )
    assert not partial.complete


@given(st.lists(st.text(alphabet='{}[]",:\\u0ade <>/think'), max_size=20))
def test_garbage_never_raises(chunks):
    stream = EnvelopeStream()
    for chunk in chunks:
        stream.feed(chunk)
    stream.partial()
