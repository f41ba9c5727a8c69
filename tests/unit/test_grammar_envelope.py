"""The grammar of an answer: exactly what `render_envelope` writes, for the offered tools only."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eris.envelope import (
    Envelope,
    EnvelopeStream,
    ToolCall,
    parse_envelope,
    render_envelope,
)
from eris.grammar import (
    COMPACT,
    FORMS,
    INDENTED,
    Enforcement,
    EnvelopeLimits,
    Form,
    Options,
    SubsetCache,
    ToolSchema,
    compile_schema,
    dump,
    envelope_grammar,
    with_thought,
)
from tests.grammar_acceptor import acceptor

READ = ToolSchema(
    "vault:read",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
NOW = ToolSchema("clock:now", {"type": "object", "properties": {}})
FREE = ToolSchema('odd "name"\n', {"type": "object"})
TOOLS = (READ, NOW, FREE)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(-1e300, 1e300, allow_nan=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
calls = st.one_of(
    st.builds(ToolCall, st.just(READ.name), st.fixed_dictionaries({"path": texts})),
    st.builds(ToolCall, st.just(NOW.name), st.just({})),
    st.builds(ToolCall, st.just(FREE.name), st.dictionaries(texts, values, max_size=3)),
)
envelopes = st.builds(
    Envelope,
    thought=texts,
    status=st.sampled_from(["Task", "Reflect", "Idle", "Process"]),
    message_to_user=st.none() | texts,
    tool_calls=st.lists(calls, max_size=4).map(tuple),
)
IN_FORM = {name: acceptor(envelope_grammar(TOOLS, form=form).text) for name, form in FORMS.items()}
ACCEPTS = IN_FORM["spaced"]


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=200)
@given(envelope=envelopes)
def test_whatever_is_rendered_is_accepted_and_read_back(name, envelope):
    text = render_envelope(envelope, FORMS[name])
    assert IN_FORM[name](text), text
    assert parse_envelope(text) == envelope


@settings(max_examples=30)
@given(envelope=envelopes)
def test_a_form_is_accepted_by_its_own_grammar_only(envelope):
    texts = {name: render_envelope(envelope, form) for name, form in FORMS.items()}
    for name, accepts in IN_FORM.items():
        assert [other for other in texts if accepts(texts[other])] == [name]


@settings(max_examples=30)
@given(envelope=envelopes, size=st.integers(1, 9))
def test_an_indented_answer_is_understood_while_it_is_being_written(envelope, size):
    text = render_envelope(envelope, INDENTED)
    stream = EnvelopeStream()
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    read = stream.partial()
    assert read.complete
    assert (read.thought, read.message_to_user) == (envelope.thought, envelope.message_to_user)
    assert read.tool_names == tuple(call.name for call in envelope.tool_calls)


NESTED = {
    "type": "object",
    "properties": {
        "deep": {"$ref": "#"},
        "list": {"type": "array", "items": {"$ref": "#"}},
        "fixed": {"const": {"a": [1, {"b": 2}]}},
        "free": {},
    },
    "required": [],
    "additionalProperties": {"type": "integer"},
}
ARGUMENTS = {
    "deep": {"list": [{}, {"x": 1, "y": 2}], "free": [[], {}, {"z": [1, 2]}]},
    "list": [{"deep": {}}],
    "fixed": {"a": [1, {"b": 2}]},
    "free": {"a": {"b": 1}},
    "more": 5,
}


def test_line_by_line_goes_as_deep_as_the_arguments_and_no_deeper():
    call = ToolCall("clock:now", {"zone": "UTC", "list": [1, {"a": 2}], "none": {}})
    text = render_envelope(Envelope(thought="t", tool_calls=(call, ToolCall("x"))), INDENTED)
    assert text == (
        '{\n  "thought": "t",\n  "status": "Task",\n  "message_to_user": null,\n'
        '  "tool_calls": [\n    {\n      "name": "clock:now",\n      "args": {\n'
        '        "zone": "UTC",\n        "list": [1, {"a": 2}],\n        "none": {}\n'
        '      }\n    },\n    {\n      "name": "x",\n      "args": {}\n    }\n  ]\n}'
    )


@pytest.mark.parametrize("lines", range(5))
def test_any_number_of_levels_can_be_written_line_by_line(lines):
    form = Form(lines=lines)
    accepts = acceptor(compile_schema(NESTED, Options(form=form)).text)
    assert accepts(dump(ARGUMENTS, form))
    assert not accepts(dump(ARGUMENTS, Form(lines=lines + 1)))
    assert not accepts(dump({**ARGUMENTS, "deep": {"fixed": {"a": [2]}}}, form))


@settings(max_examples=50)
@given(values)
def test_with_lines_to_spare_a_value_is_written_as_json_dumps_does(value):
    assert dump(value, Form(lines=99)) == json.dumps(value, ensure_ascii=False, indent=2)


def test_a_recursive_schema_stays_of_one_size_line_by_line():
    sizes = {
        name: len(envelope_grammar([ToolSchema("t", NESTED)], form=form).grammar.rules)
        for name, form in FORMS.items()
    }
    assert sizes["indented"] <= 2 * sizes["spaced"]


ANSWER = (
    '{"thought": "t", "status": "Task", "message_to_user": null, '
    '"tool_calls": [{"name": "vault:read", "args": {"path": "a"}}]}'
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vault:read", "vault:write"),
        ('{"path": "a"}', "{}"),
        ('{"path": "a"}', '{"path": "a", "x": 1}'),
        ('"Task"', '"Done"'),
        ("null", "5"),
        ('"thought": "t", ', ""),
        (": ", ":"),
        ("]}", "]} "),
        ('"t"', f'"{"t" * 401}"'),
        ('"args": {"path": "a"}', '"args": null'),
    ],
)
def test_anything_else_is_refused(old, new):
    assert ACCEPTS(ANSWER)
    assert not ACCEPTS(ANSWER.replace(old, new))


def test_without_tools_there_are_no_calls():
    accepts = acceptor(envelope_grammar(()).text)
    call = '{"name": "vault:read", "args": {"path": "a"}}'
    assert not accepts(ANSWER)
    assert accepts(ANSWER.replace(call, ""))


@pytest.mark.parametrize(("count", "accepted"), [(1, True), (2, True), (3, False)])
def test_the_number_of_calls_is_limited(count, accepted):
    accepts = acceptor(envelope_grammar([NOW], max_calls=2).text)
    envelope = Envelope(tool_calls=(ToolCall("clock:now"),) * count)
    assert accepts(render_envelope(envelope)) is accepted


@pytest.mark.parametrize("limit", [0, 1, 2_500])
def test_the_thought_is_bounded_in_characters(limit):
    accepts = acceptor(envelope_grammar((), thought_max=limit).text)
    assert accepts(render_envelope(Envelope(thought="é" * limit)))
    assert not accepts(render_envelope(Envelope(thought="é" * (limit + 1))))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("limit", [0, 9])
def test_a_thought_can_be_begun_in_every_form(form, limit):
    accepts = acceptor(with_thought(envelope_grammar((), form=form, thought_max=limit).text, "So "))
    for thought, accepted in {"So ": True, "So it is!": limit > 0, "It is": False}.items():
        assert accepts(render_envelope(Envelope(thought=thought), form)) is accepted


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "minLength": 10**9}}, "required": ["a"]},
        {"type": "string"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"properties": {"a": 5}, "required": ["a"]},
        False,
    ],
)
def test_a_tool_that_cant_be_compiled_takes_any_object_and_says_so(schema):
    compiled = envelope_grammar([READ, ToolSchema("bad", schema)])
    accepts = acceptor(compiled.text)
    assert accepts(render_envelope(Envelope(tool_calls=(ToolCall("bad", {"x": [1]}),))))
    assert not accepts(ANSWER.replace('{"path": "a"}', '{"x": 1}'))
    later = compiled.report.of(Enforcement.CHECKED_AFTERWARDS)
    assert [finding.tool for finding in later] == ["bad"]


def test_arguments_are_an_object_even_if_the_schema_doesnt_say_so():
    accepts = acceptor(envelope_grammar([ToolSchema("t", schema=True)]).text)
    text = render_envelope(Envelope(tool_calls=(ToolCall("t", {}),)))
    assert accepts(text)
    assert not accepts(text.replace("{}", "[]"))


def test_the_order_of_tools_changes_nothing():
    one, other = envelope_grammar(TOOLS), envelope_grammar(TOOLS[::-1])
    assert (one.text, one.key) == (other.text, other.key)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="vault:read"):
        envelope_grammar([READ, READ])


def test_a_hundred_tools_fit_into_one_grammar():
    tools = [ToolSchema(f"ns:tool{i}", {**READ.schema, "title": f"{i}"}) for i in range(100)]
    accepts = acceptor(envelope_grammar(tools).text)
    assert accepts(ANSWER.replace("vault:read", "ns:tool57"))


def test_the_cache_compiles_a_set_once_whatever_its_order():
    cache = SubsetCache(size=2)
    first = cache.get([READ, NOW])
    assert cache.get([NOW, READ]) is first
    assert (cache.hits, cache.misses) == (1, 1)


def test_the_cache_forgets_the_set_that_was_used_longest_ago():
    cache = SubsetCache(size=2)
    first = cache.get([READ])
    cache.get([NOW])
    assert cache.get([READ]) is first
    cache.get([FREE])
    cache.get([NOW])
    assert (cache.misses, len(cache)) == (4, 2)


def test_the_cache_notices_a_changed_schema():
    cache = SubsetCache()
    changed = ToolSchema(READ.name, {**READ.schema, "required": []})
    assert cache.get([READ]).key != cache.get([changed]).key


def test_the_cache_uses_its_form_and_limits():
    cache = SubsetCache(form=COMPACT, limits=EnvelopeLimits(max_calls=1, thought_max=3))
    accepts = acceptor(cache.get([NOW]).text)
    assert accepts(render_envelope(Envelope(thought="abc"), COMPACT))
    assert not accepts(render_envelope(Envelope(thought="abcd"), COMPACT))


def test_the_grammar_is_readable():
    text = envelope_grammar([READ]).text
    assert 'vault-read-args ::= "{\\"path\\": " string "}"' in text.splitlines()
    assert json.dumps(text)  # plain text without surprises


def test_where_a_call_is_demanded_there_is_one_and_no_message():
    accepts = acceptor(envelope_grammar(TOOLS, must_call=True).text)
    call = ToolCall(READ.name, {"path": "a.md"})
    thought = Envelope(thought="x", status="Task", message_to_user=None, tool_calls=(call,))
    assert accepts(render_envelope(thought))
    assert not accepts(render_envelope(msgspec.structs.replace(thought, tool_calls=())))
    assert not accepts(render_envelope(msgspec.structs.replace(thought, message_to_user="Done.")))


@pytest.mark.parametrize("tools", [TOOLS, ()])
def test_where_a_message_is_demanded_there_is_one(tools):
    accepts = acceptor(envelope_grammar(tools, must_say=True).text)
    said = Envelope(thought="x", status="Task", message_to_user="Hello.")
    assert accepts(render_envelope(said))
    for nothing in (None, ""):
        assert not accepts(render_envelope(msgspec.structs.replace(said, message_to_user=nothing)))


def test_a_call_cannot_be_demanded_without_tools():
    for tools, must_say in (((), False), (TOOLS, True)):
        with pytest.raises(ValueError, match="without any tool"):
            envelope_grammar(tools, must_call=True, must_say=must_say)


def test_the_cache_tells_a_demanded_call_from_a_free_choice():
    cache = SubsetCache()
    free, demanded = cache.get(TOOLS), cache.get(TOOLS, must_call=True)
    assert free.key != demanded.key
    assert cache.get(TOOLS, must_call=True) is demanded
