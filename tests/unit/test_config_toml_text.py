"""Changing one key in a settings file leaves everything else as it was."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.toml_text import line_of, set_key

FILE = """\
# My settings.
log_level = "info"   # quiet

[model]
# The larger one is too slow here.
chat = "small"
threads = 2

[turn]
tool_rounds = 5
"""

CASES = [
    ("log_level", '"debug"', 'log_level = "debug"  # quiet'),
    ("model.chat", '"a#b"', 'chat = "a#b"'),
    ("model.batch", "64", "batch = 64"),
    ("router.limit", "3", "limit = 3"),
    ("turn.tool_rounds", "1", "tool_rounds = 1"),
]


@pytest.mark.parametrize(("key", "value", "line"), CASES)
def test_a_key_is_set_and_nothing_else_changes(key, value, line):
    changed = set_key(FILE, key, value)
    table, _, name = key.rpartition(".")
    before, after = tomllib.loads(FILE), tomllib.loads(changed)
    target = after[table] if table else after
    expected = tomllib.loads(f"x = {value}")["x"]
    assert target.pop(name) == expected
    (before.setdefault(table, {}) if table else before).pop(name, None)
    assert after == before
    assert line in changed.splitlines()
    assert "# The larger one is too slow here." in changed


def test_a_file_that_is_empty_gets_the_table():
    assert set_key("", "model.threads", "1") == "[model]\nthreads = 1\n"


@given(st.text(alphabet="abc#\"' ", max_size=12))
def test_any_text_can_be_replaced_by_another(text):
    escaped = text.replace('"', '\\"')
    once = set_key("", "model.chat", f'"{escaped}"')
    assert tomllib.loads(once)["model"]["chat"] == text
    again = set_key(once, "model.chat", '"next"')
    assert tomllib.loads(again) == {"model": {"chat": "next"}}


LINES = [("log_level", 2), ("model", 4), ("model.chat", 6), ("model.unknown", 4), ("turn.x", 9)]


@pytest.mark.parametrize(("key", "line"), LINES)
def test_a_key_is_found_by_line(key, line):
    assert line_of(FILE, key) == line
