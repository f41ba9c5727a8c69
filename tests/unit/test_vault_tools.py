"""The vault's tools as the gatekeeper calls them, and what the model is told."""

import itertools
import json
import secrets

import pytest

from actors.vault.ledger import WriteLedger
from actors.vault.reading import Reader
from actors.vault.tools import vault_tools
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import Writer
from eris.tools import ToolBox
from proto.tools import CallTool, Origin

CALLS = itertools.count()


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    return vault


@pytest.fixture
def toolbox(place, tmp_path):
    folder = VaultFolder(place)
    ledger = WriteLedger(tmp_path / "vault.sqlite", lambda: 0.0)
    writer = Writer(folder, ledger, clock=lambda: 0.0, random_hex=secrets.token_hex)
    reader = Reader(folder, clock=lambda: 0.0)
    yield ToolBox(vault_tools(folder, reader, writer, clock=lambda: 0.0))
    ledger.close()
    folder.close()


def call(toolbox, tool, call_id="", **arguments):
    return toolbox.execute(
        CallTool(
            call_id=call_id or f"call-{next(CALLS)}",
            tool=tool,
            arguments=json.dumps(arguments),
            origin=Origin.USER,
            session="main",
        )
    )


def test_the_first_note_is_saved_with_a_receipt(place, toolbox):
    result = call(toolbox, "vault:write", path="notes/today.md", content="I should buy milk.")
    assert result.ok
    assert result.receipt == "created notes/today.md (18 bytes)"
    assert result.content == "Created notes/today.md (18 bytes)."
    assert result.data == {"path": "notes/today.md", "bytes": 18, "action": "created"}
    assert (place / "notes" / "today.md").read_text() == "I should buy milk."


def test_more_is_appended_and_overwriting_is_asked_for_by_name(place, toolbox):
    (place / "a.md").write_text("one\n")
    appended = call(toolbox, "vault:write", path="a.md", content="two")
    assert appended.receipt == "appended 3 bytes to a.md"
    assert (place / "a.md").read_text() == "one\ntwo"
    overwrote = call(toolbox, "vault:write", path="a.md", content="3", mode="overwrite")
    assert overwrote.receipt == "overwrote a.md (1 byte)"
    assert (place / "a.md").read_text() == "3"


def test_what_was_decided_for_the_model_is_told_to_it(toolbox):
    result = call(toolbox, "vault:write", path="new/idea", content="x")
    assert result.content == (
        "Created new/idea.md (1 byte). new/idea had no extension, so .md was added. "
        "The folder new is new."
    )
    result = call(toolbox, "vault:write", path="idea", content="y")
    assert result.content == (
        "Appended 1 byte to new/idea.md. You asked for idea; this is the note of that name."
    )


def test_a_repeated_call_is_answered_like_the_first(place, toolbox):
    results = [
        call(toolbox, "vault:write", "same", path="a.md", content="milk\n") for _ in range(3)
    ]
    assert results[0] == results[1] == results[2]
    assert (place / "a.md").read_text() == "milk\n"


def test_a_note_is_read_with_its_path_and_no_receipt(place, toolbox):
    (place / "notes" / "today.md").write_text("buy milk\n")
    result = call(toolbox, "vault:read", path="notes/today.md")
    assert (result.ok, result.content, result.receipt) == (True, "notes/today.md:\nbuy milk", "")


def test_a_long_note_says_how_to_read_on(place, toolbox):
    (place / "long.md").write_text("0123456789" * 2000)
    first = call(toolbox, "vault:read", path="long.md")
    assert first.content.endswith(
        "(This is characters 0 to 8000 of 20000. To read on, call vault:read with offset 8000.)"
    )
    last = call(toolbox, "vault:read", path="long.md", offset=16000)
    assert "To read on" not in last.content


def test_an_empty_note_an_empty_folder_and_no_match_are_said(place, toolbox):
    assert call(toolbox, "vault:list", folder="notes").content == "There are no notes in notes."
    (place / "notes" / "x.md").write_text("")
    assert call(toolbox, "vault:read", path="x").content == (
        "notes/x.md (you asked for x):\n(The note is empty.)"
    )
    assert call(toolbox, "vault:search", query="milk").content == (
        "None of 1 notes has the words: milk."
    )


def test_notes_are_listed_and_found(place, toolbox):
    (place / "notes" / "today.md").write_text("a\nbuy milk\n")
    (place / "ideas.md").write_text("none")
    assert call(toolbox, "vault:list").content == (
        "In the vault:\nideas.md\nnotes/\nnotes/today.md"
    )
    assert call(toolbox, "vault:search", query="Milk").content == (
        "1 note found for: milk.\nnotes/today.md\n  line 2: buy milk"
    )


FAILURES = {
    "climbing": ("vault:read", {"path": "../../etc/passwd"}, "denied", "climbs with '..'"),
    "absolute": ("vault:write", {"path": "/etc/x", "content": "x"}, "denied", "relative to"),
    "hidden": ("vault:read", {"path": ".eris/config.toml"}, "denied", "hidden"),
    "hidden folder": ("vault:list", {"folder": ".git"}, "denied", "hidden"),
    "missing": ("vault:read", {"path": "tody.md"}, "not-found", "Did you mean notes/today.md?"),
    "no path": ("vault:read", {}, "invalid", "missing required field `path`"),
    "wrong mode": ("vault:write", {"path": "a", "content": "b", "mode": "w"}, "invalid", "mode"),
    "negative offset": ("vault:read", {"path": "a", "offset": -1}, "invalid", "offset"),
    "empty query": ("vault:search", {"query": "?"}, "invalid", "no words"),
    "unsound name": ("vault:write", {"path": "a?b", "content": "x"}, "invalid", "Use a-b.md"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "sentence"), FAILURES.values(), ids=FAILURES.keys()
)
def test_a_failure_is_told_with_its_code_and_what_to_do(
    *, place, toolbox, tool, arguments, code, sentence
):
    (place / "notes" / "today.md").write_text("x")
    result = call(toolbox, tool, **arguments)
    assert not result.ok
    assert result.code == code
    assert sentence in result.content
    assert result.receipt == ""


def test_a_vault_that_vanished_fails_every_tool_and_nothing_crashes(place, toolbox):
    place.rename(place.with_name("away"))
    for tool, arguments in (
        ("vault:read", {"path": "a.md"}),
        ("vault:write", {"path": "a.md", "content": "x"}),
        ("vault:list", {}),
        ("vault:search", {"query": "x"}),
    ):
        result = call(toolbox, tool, **arguments)
        assert (result.ok, result.code) == (False, "storage")
        assert "isn't there any more" in result.content


def test_every_tool_is_declared_with_what_the_router_and_the_grammar_need(toolbox):
    declarations = {each.name: each for each in toolbox.declarations()}
    assert set(declarations) == {"vault:read", "vault:write", "vault:list", "vault:search"}
    for each in declarations.values():
        schema = json.loads(each.parameters)
        assert 5 <= len(each.hints) <= 8
        assert schema["additionalProperties"] is False
        assert set(each.aliases.values()) <= set(schema["properties"])
        assert not set(each.aliases) & set(schema["properties"])
        assert all("description" in field for field in schema["properties"].values())
