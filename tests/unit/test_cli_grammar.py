"""`eris grammar` as a user types it."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from eris.cli.grammar import grammar
from eris.cli.invocation import Invocation
from tests.grammar_acceptor import acceptor

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}}
BACK_REFERENCE = {"type": "string", "pattern": r"^(a|b)\1$"}
TOO_LONG = {"type": "string", "minLength": 10**9}


@pytest.fixture
def eris(tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path)}

    def call(*arguments: str, **options: str):
        invocation = Invocation(environ=environ, cwd=tmp_path, color=False)
        return CliRunner().invoke(
            grammar, arguments, obj=invocation, standalone_mode=False, **options
        )

    return call


@pytest.fixture
def check(eris, tmp_path):
    def call(value: object, *arguments: str):
        file = tmp_path / "schema.json"
        file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return eris("check", str(file), *arguments)

    return call


def test_show_prints_a_grammar_that_can_be_loaded_as_it_is(eris):
    text = eris("show", "vault:write", "clock:now").stdout
    assert "# exact" in text
    assert " bytes, " in text.splitlines()[-1]
    accepts = acceptor("".join(f"{line}\n" for line in text.splitlines() if line[:1] != "#"))
    head = '{"thought": "", "status": "Task", "message_to_user": null, "tool_calls": '
    assert accepts(head + '[{"name": "clock:now", "args": {}}]}')
    assert not accepts(head + '[{"name": "vault:read", "args": {"path": "a"}}]}')


def test_show_as_json_has_the_same_and_its_size(eris):
    document = json.loads(eris("show", "vault:write", "--json").stdout)
    assert document["tools"] == ["vault:write"]
    assert document["exact"] is True
    assert document["bytes"] == len(document["grammar"].encode())
    assert {"path", "keyword", "enforcement", "reason", "tool"} == set(document["findings"][0])


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("spaced", '{"path": "a", "content": "b"}'),
        ("compact", '{"path":"a","content":"b"}'),
        ("indented", '{\n  "path": "a",\n  "content": "b"\n}'),
    ],
)
def test_the_arguments_of_one_tool_can_be_shown_in_each_form(eris, form, written):
    document = json.loads(eris("show", "vault:write", "--schema", "--form", form, "--json").stdout)
    assert acceptor(document["grammar"])(written)


def test_a_demanded_call_leaves_no_empty_list(eris):
    document = json.loads(eris("show", "clock:now", "--must-call", "--json").stdout)
    assert '"[]"' not in document["grammar"]


def test_an_unknown_tool_is_answered_with_near_names(eris):
    result = eris("show", "vault:wrte")
    assert "vault:wrte" in result.exception.message
    assert "vault:write" in result.exception.hint


def test_the_schema_of_several_tools_is_no_question(eris):
    assert "one tool" in str(eris("show", "vault:read", "vault:write", "--schema").exception)


def test_an_exact_schema_is_said_to_be_exact(check):
    result = check({**SCHEMA, "additionalProperties": False})
    assert result.return_value == 0
    assert result.stdout.startswith("exact")


def test_what_is_checked_afterwards_is_listed_with_path_and_reason(check):
    result = check({"type": "object", "properties": {"a": BACK_REFERENCE}})
    assert result.return_value == 0
    assert result.stdout.startswith("wider")
    assert "#/properties/a pattern: checked-afterwards (" in result.stdout


def test_a_schema_that_cant_be_used_is_refused_with_the_place(check):
    result = check({"type": "object", "properties": {"a": TOO_LONG}, "required": ["a"]})
    assert result.return_value == 1
    assert "#/properties/a" in result.stdout


TOOL = {"name": "x", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "value",
    [
        TOOL,
        [TOOL],
        {"tools": [TOOL]},
        {"type": "function", "function": TOOL},
        [{"type": "function", "function": TOOL}],
        {"tools": [{"name": "x", "inputSchema": SCHEMA}]},
        {"name": "x", "parameters": json.dumps(SCHEMA)},
    ],
)
def test_tools_are_found_however_they_are_declared(check, value):
    found = json.loads(check(value, "--json").stdout)
    assert [one["name"] for one in found] == ["x"]
    assert {one["path"] for one in found[0]["findings"]} >= {"#/properties/n"}


def test_each_tool_is_judged_by_itself(check):
    bad = {"name": "bad", "parameters": {"properties": {"a": TOO_LONG}, "required": ["a"]}}
    result = check([TOOL, bad], "--json")
    assert result.return_value == 1
    assert [one["usable"] for one in json.loads(result.stdout)] == [True, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a":\n 1,}', ["line 2, column 4"]),
        ('{"minimum": NaN}', ["NaN"]),
        ("[" * 100_000, ["nests too deeply"]),
        ("[1]", ["[0]", "no tool"]),
        ('[{"name": "x", "parameters": "{"}]', ["parameters", "line 1, column 2"]),
    ],
)
def test_a_file_that_cant_be_read_is_answered_with_the_place(check, text, words):
    result = check(text)
    assert result.exception.exit_code == 2
    for word in words:
        assert word in result.exception.format_message()


def test_a_missing_file_is_named(eris, tmp_path):
    assert "nothing.json" in str(eris("check", str(tmp_path / "nothing.json")).exception)


@pytest.mark.parametrize(
    ("text", "code"), [(json.dumps(SCHEMA), 0), (json.dumps(TOO_LONG), 1), ("{", 2)]
)
def test_the_exit_code_tells_a_script_what_came_of_it(text, code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "eris", "grammar", "check", "-", "--json"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == code
    document = json.loads(done.stdout)
    assert document.get("usable", False) is (code == 0)
    assert "\x1b" not in done.stdout
