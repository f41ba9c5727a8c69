"""Tasks in notes and the agenda's items: real vault, real agenda, real files, killed at will."""

import json
import subprocess
import sys

import pytest

from tests.support import processes, wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def group(tmp_path):
    with processes(tmp_path) as group:
        (group.vault / "todo.md").write_text("- [ ] pay rent 📅 2027-01-03 ⏫\n- [ ] no date\n")
        for name in ("bus", "vault", "agenda"):
            group.start(name)
        yield group


def eris(group, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "eris", *arguments, "--json"],
        env=group.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def texts(group):
    return [item["text"] for item in eris(group, "agenda", "list")["items"]]


def test_ticking_either_ticks_both(group):
    note = group.vault / "todo.md"
    wait_until(lambda: texts(group) == ["pay rent (due 2027-01-03, high)"], 30)
    eris(group, "agenda", "done", "pay rent")
    wait_until(lambda: "- [x] pay rent" in note.read_text(), 30)
    note.write_text("- [ ] water the plants ⏳ 2027-01-04\n")
    wait_until(lambda: texts(group) == ["water the plants (scheduled 2027-01-04)"], 30)
    note.write_text("- [x] water the plants ⏳ 2027-01-04 ✅ 2026-12-03\n")
    wait_until(lambda: texts(group) == [], 30)


def test_what_is_done_while_the_vault_is_dead_is_ticked_when_both_are_back(group):
    note = group.vault / "todo.md"
    wait_until(lambda: len(texts(group)) == 1, 30)
    group.kill("vault")
    eris(group, "agenda", "done", "pay rent")
    assert "- [ ] pay rent" in note.read_text()
    group.kill("agenda")
    group.start("vault")
    group.start("agenda")
    wait_until(lambda: "- [x] pay rent" in note.read_text(), 30)
    assert texts(group) == []
