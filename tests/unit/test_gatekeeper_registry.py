"""Which tools there are, and whose they are."""

import json
from pathlib import Path

import pytest

from actors.gatekeeper.registry import LONGEST_DESCRIPTION, Registry, recall, remember
from eris.errors import ConflictError, InvalidError
from proto.tools import Effect, ToolDeclaration

PARAMETERS = json.dumps({"type": "object", "properties": {"path": {"type": "string"}}})


def tool(name: str = "vault:read", **fields: object) -> ToolDeclaration:
    values = {
        "description": "Read a note.",
        "hints": ("read a note",),
        "parameters": PARAMETERS,
        "effect": Effect.READ,
    }
    return ToolDeclaration(name=name, **(values | fields))  # type: ignore[arg-type] # by test case


def test_tools_are_listed_by_name_with_their_owner() -> None:
    registry = Registry().with_tools("vault", [tool("vault:write"), tool("vault:read")])
    listed = registry.with_tools("agenda", [tool("clock:now")]).listed()
    assert [(one.declaration.name, one.owner) for one in listed.tools] == [
        ("clock:now", "agenda"),
        ("vault:read", "vault"),
        ("vault:write", "vault"),
    ]


def test_registering_again_replaces_what_the_owner_had() -> None:
    registry = Registry().with_tools("vault", [tool("vault:read"), tool("vault:list")])
    assert registry.with_tools("vault", [tool("vault:write")]).names == ("vault:write",)
    assert registry.with_tools("vault", []).names == ()


def test_the_revision_changes_exactly_with_the_content() -> None:
    first = Registry().with_tools("vault", [tool()])
    assert first.with_tools("vault", [tool()]).revision == first.revision
    assert first.with_tools("vault", [tool(description="Other.")]).revision != first.revision
    assert Registry().with_tools("agenda", [tool()]).revision != first.revision


def test_two_owners_cannot_have_one_name() -> None:
    registry = Registry().with_tools("vault", [tool()])
    with pytest.raises(ConflictError, match="which vault has"):
        registry.with_tools("agenda", [tool()])


def test_one_owner_cannot_declare_a_name_twice() -> None:
    with pytest.raises(ConflictError):
        Registry().with_tools("vault", [tool(), tool()])


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        (tool("read"), "area:verb"),
        (tool("Vault:Read"), "area:verb"),
        (tool("vault:read:more"), "area:verb"),
        (tool("vault: read"), "area:verb"),
        (tool('vault:"'), "area:verb"),
        (tool("a" * 40 + ":b"), "area:verb"),
        (tool(description=" "), "description"),
        (tool(description="x" * (LONGEST_DESCRIPTION + 1)), "description"),
        (tool(aliases={"file": "pth"}), "isn't an argument"),
        (tool(aliases={"path": "path"}), "name of an argument itself"),
    ],
)
def test_a_wrong_declaration_is_refused_with_all_that_came_with_it(
    declaration: ToolDeclaration, problem: str
) -> None:
    registry = Registry().with_tools("vault", [tool("vault:old")])
    with pytest.raises(InvalidError, match=problem):
        registry.with_tools("vault", [tool("vault:fine"), declaration])
    assert registry.names == ("vault:old",)


def test_a_remembered_registry_is_the_same(tmp_path: Path) -> None:
    registry = Registry().with_tools("vault", [tool()]).with_tools("agenda", [tool("clock:now")])
    remember(registry, tmp_path / "tools.json")
    again = recall(tmp_path / "tools.json")
    assert again.revision == registry.revision
    assert again.listed() == registry.listed()


def test_a_remembered_tool_gives_way_to_another_owner(tmp_path: Path) -> None:
    remember(Registry().with_tools("vault", [tool("clock:now")]), tmp_path / "tools.json")
    registry = recall(tmp_path / "tools.json").with_tools("agenda", [tool("clock:now")])
    known = registry.get("clock:now")
    assert known is not None
    assert known.owner == "agenda"


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff", b'{"tools": 3}', b"[" * 9999])
def test_what_cannot_be_read_is_forgotten(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tools.json"
    if content is not None:
        path.write_bytes(content)
    assert recall(path).names == ()
