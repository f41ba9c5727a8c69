"""A whole system on a vault whose path, permissions or disk are unusual."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.process.faults_support import ToolCaller, actors, mounted, read_only
from tests.supervised import Supervised, supervised

pytestmark = pytest.mark.process

LIGHT = actors("bus", "vault", "gatekeeper")


def assert_up_works_and_down_leaves_nothing(system: Supervised) -> None:
    """`eris up`, a note written and read, `eris status`, `eris down`."""
    up = system.eris("up")
    assert up.returncode == 0, up.stderr
    call = ToolCaller(system)
    written = call("vault:write", path="notes/today.md", content="milk")
    assert (written.ok, written.receipt) == (True, "created notes/today.md (4 bytes)")
    assert (system.vault / "notes" / "today.md").read_text() == "milk"
    assert call("vault:read", path="notes/today.md").content.endswith("milk")
    status = json.loads(system.eris("status", "--json").stdout)
    assert (status["state"], status["vault"]) == ("ready", str(system.vault.resolve()))
    assert system.eris("down").returncode == 0
    assert system.survivors() == []
    assert not system.paths.runtime.exists()


@pytest.mark.parametrize(
    "name",
    ["my notes 🍋 'and' \"more\" $HOME %s", "deep/" * 40 + "notes", "漢字 e\u0301 ñ"],
    ids=["spaces, quotes and emoji", "200 deep", "combining characters"],
)
def test_a_whole_system_serves_a_vault_with_an_unusual_path(tmp_path: Path, name: str) -> None:
    with supervised(tmp_path / name, LIGHT) as system:
        assert_up_works_and_down_leaves_nothing(system)


def test_a_vault_in_folders_of_the_longest_names_works(tmp_path: Path) -> None:
    places = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("STATE", "CACHE")}
    with supervised(tmp_path / ("n" * 255) / ("🍋" * 63), LIGHT, places) as system:
        assert_up_works_and_down_leaves_nothing(system)


@pytest.mark.parametrize("command", ["init", "up", "status", "ask"])
def test_a_path_that_is_no_unicode_is_refused_in_words(tmp_path: Path, command: str) -> None:
    with supervised(tmp_path, LIGHT) as system:
        odd = tmp_path / os.fsdecode(b"caf\xe9")
        if command != "init":
            system.vault.rename(odd)
        where = [str(odd)] if command == "init" else ["--vault", str(odd)]
        refused = system.eris(command, *where, *(["hello"] if command == "ask" else []))
        assert refused.returncode == 78
        assert "caf\ufffd is not valid Unicode" in refused.stderr
        assert "Rename the folder" in refused.stderr
        assert command != "init" or not odd.exists()


def away(vault: Path) -> None:
    shutil.rmtree(vault)


def a_file(vault: Path) -> None:
    shutil.rmtree(vault)
    vault.write_text("no folder")


def a_dangling_link(vault: Path) -> None:
    shutil.rmtree(vault)
    vault.symlink_to("nowhere")


@pytest.mark.parametrize("spoil", [away, a_file, a_dangling_link])
@pytest.mark.parametrize("command", ["up", "status", "ask"])
def test_what_is_no_vault_is_refused_with_what_to_do(
    tmp_path: Path, command: str, spoil: "object"
) -> None:
    assert callable(spoil)
    with supervised(tmp_path, LIGHT) as system:
        spoil(system.vault)
        refused = system.eris(command, "--json", *(["hello"] if command == "ask" else []))
        error = json.loads(refused.stdout)["error"]
        assert refused.returncode == 78
        assert "is not a folder" in error["message"]
        assert "eris init" in error["hint"]
        assert not system.paths.runtime.exists()


def test_a_read_only_vault_can_be_read_and_a_write_says_why_not(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system:
        (system.vault / "ideas.md").write_text("precious")
        with read_only(system.vault):
            up = system.eris("up")
            assert up.returncode == 0, up.stderr
            call = ToolCaller(system)
            assert call("vault:read", path="ideas.md").content.endswith("precious")
            for path in ("ideas.md", "new.md", "new/deep.md"):
                refused = call("vault:write", path=path, content="x")
                assert (refused.ok, refused.code, refused.receipt) == (False, "storage", "")
                assert "read-only" in refused.content or "permission" in refused.content
            assert system.status().state == "ready"
            assert system.eris("down").returncode == 0
        assert (system.vault / "ideas.md").read_text() == "precious"
        assert sorted(path.name for path in system.vault.iterdir()) == [".eris", "ideas.md"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit, as on Linux")
def test_a_note_that_cannot_be_written_to_its_end_loses_nothing(tmp_path: Path) -> None:
    with supervised(tmp_path, LIGHT) as system:
        (system.vault / "today.md").write_text("precious\n")
        assert system.eris("up").returncode == 0
        call, vault = ToolCaller(system), system.pid("vault")
        limits = resource.prlimit(vault, resource.RLIMIT_FSIZE)
        resource.prlimit(vault, resource.RLIMIT_FSIZE, (200_000, limits[1]))
        arguments = {"path": "today.md", "content": "x" * 240_000}
        refused = call("vault:write", **arguments, mode="append")
        assert (refused.ok, refused.code, refused.receipt) == (False, "storage", "")
        assert "today.md wasn't written, and nothing was changed" in refused.content
        assert (system.vault / "today.md").read_text() == "precious\n"
        assert [file.name for file in system.vault.iterdir() if file.is_file()] == ["today.md"]
        resource.prlimit(vault, resource.RLIMIT_FSIZE, limits)
        assert call("vault:write", **arguments, mode="append").ok
        assert system.pid("vault") == vault


def test_a_vault_whose_disk_is_full_loses_nothing_and_works_again_with_room(
    tmp_path: Path,
) -> None:
    place = tmp_path / "vault"
    place.mkdir()
    with (
        mounted(place, "-t", "tmpfs", "-o", "size=64k", "none"),
        supervised(tmp_path, LIGHT) as system,
    ):
        (place / "today.md").write_text("precious\n")
        assert system.eris("up").returncode == 0
        call = ToolCaller(system)
        much = "x" * 100_000
        for path, mode in (("today.md", "append"), ("today.md", "overwrite"), ("a/new.md", "")):
            arguments = {"mode": mode} if mode else {}
            refused = call("vault:write", path=path, content=much, **arguments)
            assert (refused.ok, refused.code, refused.receipt) == (False, "storage", "")
            assert "disk is full" in refused.content
        assert (place / "today.md").read_text() == "precious\n"
        assert [path.name for path in place.rglob("*") if path.is_file()] in (
            ["today.md"],
            ["id", "today.md"],
            ["today.md", "id"],
        )
        subprocess.run(["mount", "-o", "remount,size=1m", str(place)], check=True)
        assert call("vault:write", path="today.md", content=much, mode="append").ok
        assert (place / "today.md").read_text().startswith("precious\n")
        assert system.eris("down").returncode == 0
