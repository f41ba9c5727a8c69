"""What a model writes as arguments, and what it meant where that's beyond doubt."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gatekeeper.normalisation import MOST_ARGUMENT_BYTES, normalise
from eris.errors import InvalidError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "mode": {"enum": ["append", "overwrite"]},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "deep": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "options": {"anyOf": [{"$ref": "#/$defs/Options"}, {"type": "null"}]},
        "either": {"type": ["string", "integer"]},
        "any": {},
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {
        "Options": {
            "type": "object",
            "properties": {"depth": {"type": "integer"}, "name": {"type": "string"}},
        }
    },
}
ALIASES = {"relative_path": "path", "file": "path"}


def normalised(text: str) -> dict[str, Any]:
    return normalise(text.encode(), SCHEMA, ALIASES)


@pytest.mark.parametrize("text", ["", "  ", "null", '""', '"null"', "{}", "[]", '"{}"'])
def test_nothing_at_all_means_no_arguments(text: str) -> None:
    assert normalised(text) == {}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        # Names.
        ({"path": "x.md"}, {"path": "x.md"}),
        ({"relative_path": "x.md"}, {"path": "x.md"}),
        ({"relativePath": "x.md"}, {"path": "x.md"}),
        ({"Relative-Path": "x.md"}, {"path": "x.md"}),
        ({"PATH": "x.md"}, {"path": "x.md"}),
        ({"path": "x.md", "file": "x.md"}, {"path": "x.md"}),
        ({"path": None, "file": "x.md"}, {"path": "x.md"}),
        ({"file": "x.md", "path": None}, {"path": "x.md"}),
        ({"unknown": 1}, {"unknown": 1}),
        # Null is nothing.
        ({"path": "x", "mode": None, "count": None, "note": None}, {"path": "x"}),
        ({"path": None}, {}),
        ({"unknown": None}, {}),
        ({"options": {"depth": None, "name": "n"}}, {"options": {"name": "n"}}),
        # Types.
        ({"count": "5"}, {"count": 5}),
        ({"count": " -3 "}, {"count": -3}),
        ({"count": 4.0}, {"count": 4}),
        ({"count": 4.5}, {"count": 4.5}),
        ({"count": "five"}, {"count": "five"}),
        ({"count": "1e3"}, {"count": "1e3"}),
        ({"share": "0.5"}, {"share": 0.5}),
        ({"share": 1}, {"share": 1}),
        ({"share": "1e999"}, {"share": "1e999"}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": "False"}, {"deep": False}),
        ({"deep": "yes"}, {"deep": "yes"}),
        ({"deep": 1}, {"deep": 1}),
        ({"path": 2026}, {"path": "2026"}),
        ({"path": True}, {"path": True}),
        ({"path": ["x.md"]}, {"path": "x.md"}),
        ({"path": ["x.md", "y.md"]}, {"path": ["x.md", "y.md"]}),
        ({"tags": "home"}, {"tags": ["home"]}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"sizes": ["1", 2]}, {"sizes": [1, 2]}),
        ({"sizes": 7}, {"sizes": [7]}),
        ({"options": '{"depth": "2"}'}, {"options": {"depth": 2}}),
        ({"note": 5}, {"note": "5"}),
        # An enumeration in other letters.
        ({"mode": "Append"}, {"mode": "append"}),
        ({"mode": "delete"}, {"mode": "delete"}),
        # What the schema leaves open stays as it is.
        ({"either": "5"}, {"either": "5"}),
        ({"any": "5"}, {"any": "5"}),
    ],
)
def test_what_is_beyond_doubt_is_put_right(written: dict[str, Any], meant: dict[str, Any]) -> None:
    result = normalised(json.dumps(written))
    assert result == meant
    assert json.dumps(result) == json.dumps(meant)  # 4 and 4.0 are equal, but not the same


def test_an_object_inside_a_string_is_taken_out() -> None:
    assert normalised(json.dumps(json.dumps({"file": "x.md"}))) == {"path": "x.md"}


def test_the_only_argument_needs_no_name() -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    assert normalise(b'"milk"', schema, {}) == {"query": "milk"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "must be an object"),
        ('"x.md"', "must be an object"),
        ("{path: x}", "aren't valid JSON"),
        ('{"path": NaN}', "aren't valid JSON"),
        ("[" * 100_000, "aren't valid JSON"),
        ('{"path": "a", "file": "b"}', "both stand for path"),
        (json.dumps({"path": "x" * MOST_ARGUMENT_BYTES}), "bytes, more than"),
    ],
)
def test_what_has_no_single_meaning_is_refused_in_words(text: str, problem: str) -> None:
    with pytest.raises(InvalidError, match=problem) as refused:
        normalised(text)
    assert refused.value.hint


def test_required_fields_may_be_null_where_the_schema_says_so() -> None:
    schema = {
        "type": "object",
        "properties": {"due": {"type": ["string", "null"]}},
        "required": ["due"],
    }
    assert normalise(b'{"due": null}', schema, {}) == {"due": None}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "file", "x"]), json_values))
def test_normalising_twice_changes_nothing_more(arguments: dict[str, Any]) -> None:
    try:
        once = normalised(json.dumps(arguments))
    except InvalidError:
        return
    assert normalised(json.dumps(once)) == once


@given(st.binary())
def test_any_bytes_are_an_object_or_a_refusal(raw: bytes) -> None:
    with contextlib.suppress(InvalidError):
        assert isinstance(normalise(raw, SCHEMA, ALIASES), dict)
