"""The vault's and the agenda's processes, asked over the real bus."""

import json
import os
import signal
import subprocess
import threading

import pytest

from proto.router import Route, Routed
from proto.tools import CallTool, Origin, ToolResult
from proto.vault import (
    EditKind,
    EditNote,
    Found,
    IndexState,
    IndexStatus,
    LinkKinds,
    Links,
    ListLinks,
    MoveNote,
    SearchNotes,
    Undo,
    Written,
)
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process


def ask(port, owner, tool, call_id="", **arguments):
    return port.ask(
        owner,
        CallTool(
            call_id=call_id or os.urandom(8).hex(),
            tool=tool,
            arguments=json.dumps(arguments),
            origin=Origin.USER,
            session="main",
        ),
        ToolResult,
        within=20,
        retry=True,
    )


@pytest.fixture
def gatekeeper(bus: Processes):
    """A connection with the gatekeeper's rights; the vault is running."""
    bus.start("vault")
    return bus.connect("gatekeeper")


def test_a_note_is_written_read_listed_and_found(bus, gatekeeper):
    written = ask(
        gatekeeper, "vault", "vault:write", path="notes/today.md", content="I should buy milk."
    )
    assert (written.ok, written.receipt) == (True, "created notes/today.md (18 bytes)")
    assert (bus.vault / "notes" / "today.md").read_text() == "I should buy milk."
    read = ask(gatekeeper, "vault", "vault:read", path="notes/today.md")
    assert read.content == "notes/today.md:\nI should buy milk."
    listed = ask(gatekeeper, "vault", "vault:list")
    assert "notes/today.md" in listed.content
    found = ask(gatekeeper, "vault", "vault:search", query="milk")
    assert "notes/today.md" in found.content
    assert ".eris" not in listed.content


def test_a_new_note_has_the_permissions_of_its_folder_not_of_the_process(bus, gatekeeper):
    bus.vault.chmod(0o755)
    ask(gatekeeper, "vault", "vault:write", path="a/x.md", content="x")
    assert (bus.vault / "a" / "x.md").stat().st_mode & 0o777 == 0o644


def test_a_call_repeated_across_a_kill_is_done_once(bus, gatekeeper):
    first = ask(gatekeeper, "vault", "vault:write", "call-1", path="log.md", content="milk\n")
    bus.kill("vault")
    bus.start("vault")
    again = ask(gatekeeper, "vault", "vault:write", "call-1", path="log.md", content="milk\n")
    assert again == first
    assert (bus.vault / "log.md").read_text() == "milk\n"


def test_killed_while_calls_come_in_every_call_is_done_once(bus, gatekeeper):
    """Each call is repeated until it's answered, as the gatekeeper does."""
    results = []

    def caller():
        results.extend(
            ask(
                gatekeeper,
                "vault",
                "vault:write",
                f"call-{number}",
                path="log.md",
                content=f"line {number}",
            )
            for number in range(60)
        )

    thread = threading.Thread(target=caller)
    thread.start()
    for least in (5, 20, 40):
        wait_until(lambda least=least: lines_of(bus) >= least, 30)
        bus.kill("vault")
        bus.start("vault")
    thread.join(60)
    assert [result.ok for result in results] == [True] * 60
    lines = (bus.vault / "log.md").read_text().split("\n")
    assert lines == [f"line {number}" for number in range(60)]
    assert not list(bus.vault.rglob(".eris-*.tmp"))


def lines_of(bus):
    log = bus.vault / "log.md"
    return log.read_text().count("\n") if log.exists() else 0


def test_nothing_outside_is_reachable_over_the_bus(bus, gatekeeper, tmp_path):
    (tmp_path / "secret.md").write_text("the secret outside")
    (bus.vault / "leak").symlink_to("..")
    for path in ("../secret.md", str(tmp_path / "secret.md"), "leak/secret.md", ".eris/id"):
        result = ask(gatekeeper, "vault", "vault:read", path=path)
        assert (result.ok, result.code) == (False, "denied"), path
        result = ask(gatekeeper, "vault", "vault:write", path=path, content="x")
        assert (result.ok, result.code) == (False, "denied"), path
    assert (tmp_path / "secret.md").read_text() == "the secret outside"


def test_a_vault_that_vanishes_and_comes_back_costs_errors_only(bus, gatekeeper):
    ask(gatekeeper, "vault", "vault:write", path="a.md", content="x")
    bus.vault.rename(bus.vault.with_name("away"))
    gone = ask(gatekeeper, "vault", "vault:read", path="a.md")
    assert (gone.ok, gone.code) == (False, "storage")
    bus.vault.with_name("away").rename(bus.vault)
    assert ask(gatekeeper, "vault", "vault:read", path="a.md").ok
    assert bus.children["vault"].poll() is None


# Beside other programs, and over crashes.


@pytest.fixture
def people(bus: Processes):
    """What somebody at the machine may ask; the vault is running."""
    bus.start("vault")
    port = bus.connect("cli")
    return lambda body, expect: port.ask("vault", body, expect, within=60, retry=True)


def key():
    return os.urandom(8).hex()


def paths_found(people, query):
    return [hit.path for hit in people(SearchNotes(query=query), Found).hits]


def contents(vault):
    return {
        path.relative_to(vault).as_posix(): path.read_text()
        for path in vault.rglob("*")
        if path.is_file() and ".eris" not in path.parts
    }


def test_what_another_program_saves_is_found_and_what_it_removes_is_not(bus, people):
    assert paths_found(people, "heron") == []
    (bus.vault / "birds.md").write_text("A heron at the pond.\n")
    wait_until(lambda: paths_found(people, "heron") == ["birds.md"], 20)
    (bus.vault / "birds.md").write_text("A kingfisher at the pond.\n")
    wait_until(lambda: paths_found(people, "kingfisher") == ["birds.md"], 20)
    (bus.vault / "birds.md").rename(bus.vault / "pond.md")
    wait_until(lambda: paths_found(people, "kingfisher") == ["pond.md"], 20)
    (bus.vault / "pond.md").unlink()
    wait_until(lambda: paths_found(people, "kingfisher") == [], 20)


def test_what_was_saved_while_nothing_ran_is_found_after_the_start(bus, people):
    (bus.vault / "a.md").write_text("before\n")
    wait_until(lambda: paths_found(people, "before") == ["a.md"], 20)
    bus.kill("vault")
    (bus.vault / "a.md").write_text("meanwhile\n")
    (bus.vault / "b.md").write_text("meanwhile too\n")
    bus.start("vault")
    wait_until(lambda: sorted(paths_found(people, "meanwhile")) == ["a.md", "b.md"], 20)


def test_our_own_writes_are_in_the_index_at_once(people):
    for number in range(5):
        people(
            EditNote(idem=key(), kind=EditKind.APPEND, note="log", content=f"word{number}"), Written
        )
        assert paths_found(people, f"word{number}") == ["log.md"]


MANY = 300


def test_killed_in_the_middle_of_a_move_it_is_whole_after_the_start_and_can_be_undone(bus, people):
    for number in range(MANY):
        (bus.vault / f"{number}.md").write_text(f"see [[hub]] and [[hub|{number}]]\n")
    (bus.vault / "hub.md").write_text("hub\n")
    before = contents(bus.vault)
    wait_until(
        lambda: (
            len(people(ListLinks(kind=LinkKinds.BACKLINKS, note="hub"), Links).links) == 2 * MANY
        ),
        60,
    )
    move = MoveNote(idem=key(), note="hub", target="centre")
    results = []
    thread = threading.Thread(target=lambda: results.append(people(move, Written)))
    thread.start()
    wait_until(lambda: any("centre" in text for text in contents_or_nothing(bus.vault)), 60)
    bus.kill("vault")
    bus.start("vault")
    thread.join(90)
    assert results[0].path == "centre.md"
    after = contents(bus.vault)
    assert after == {
        path.replace("hub", "centre"): text.replace("[[hub", "[[centre")
        for path, text in before.items()
    }
    people(Undo(idem=key()), Written)
    assert contents(bus.vault) == before


def contents_or_nothing(vault):
    """Texts of a few notes, while others are being replaced."""
    texts = []
    for number in range(0, MANY, 10):
        try:
            texts.append((vault / f"{number}.md").read_text())
        except FileNotFoundError:
            continue
    return texts


def test_two_writers_at_once_lose_nothing(bus, people, gatekeeper_beside):
    def one():
        for number in range(30):
            request = EditNote(
                idem=key(), kind=EditKind.APPEND, note="log", content=f"person {number}"
            )
            people(request, Written)

    def other():
        for number in range(30):
            result = ask(
                gatekeeper_beside, "vault", "vault:append", path="log", content=f"model {number}"
            )
            assert result.ok, result.content

    threads = [threading.Thread(target=work) for work in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    lines = (bus.vault / "log.md").read_text().splitlines()
    for who in ("person", "model"):
        assert [line for line in lines if line.startswith(who)] == [f"{who} {n}" for n in range(30)]
    assert len(lines) == 60


@pytest.fixture
def gatekeeper_beside(bus: Processes):
    return bus.connect("gatekeeper")


def test_an_undo_after_a_restart_takes_back_what_was_done_before_it(bus, people):
    (bus.vault / "a.md").write_text("one\n")
    people(EditNote(idem=key(), kind=EditKind.APPEND, note="a", content="two"), Written)
    bus.kill("vault")
    bus.start("vault")
    people(Undo(idem=key()), Written)
    assert (bus.vault / "a.md").read_text() == "one\n"


def test_the_index_is_made_anew_when_it_is_lost_or_damaged(bus, people):
    (bus.vault / "a.md").write_text("precious\n")
    wait_until(lambda: paths_found(people, "precious") == ["a.md"], 20)
    bus.kill("vault")
    (bus.paths.state / "index.sqlite").write_bytes(b"no database" * 1000)
    bus.start("vault")
    wait_until(lambda: paths_found(people, "precious") == ["a.md"], 20)
    people(IndexStatus(rebuild=True), IndexState)
    wait_until(lambda: not people(IndexStatus(), IndexState).building, 20)
    assert paths_found(people, "precious") == ["a.md"]


def test_the_router_is_told_of_skills_and_of_every_change(bus):
    skill = bus.vault / "Eris" / "Skills" / "minutes" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: minutes\ndescription: Turns a transcript into minutes.\n---\nx\n")
    bus.start("router")
    bus.start("vault")
    port = bus.connect("orchestrator")

    def fitting():
        said = "turn this transcript into minutes"
        return port.ask("router", Route(text=said), Routed, within=20, retry=True).skills

    wait_until(lambda: fitting() == ("minutes",), 20)
    skill.unlink()
    wait_until(lambda: fitting() == (), 20)


def test_a_stop_ends_it_with_status_0(bus, gatekeeper):
    ask(gatekeeper, "vault", "vault:write", path="a.md", content="x")
    assert bus.kill("vault", signal.SIGTERM) == 0
    assert (bus.vault / "a.md").read_text() == "x"


def test_a_read_only_vault_is_served_and_a_write_says_why_it_fails(bus):
    (bus.vault / "a.md").write_text("there")
    try:
        subprocess.run(["mount", "--bind", bus.vault, bus.vault], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("may not mount here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", bus.vault], check=True)
        bus.start("vault")
        port = bus.connect("gatekeeper")
        assert ask(port, "vault", "vault:read", path="a.md").content == "a.md:\nthere"
        refused = ask(port, "vault", "vault:write", path="b.md", content="x")
        assert (refused.ok, refused.code) == (False, "storage")
        assert "the vault is on a read-only disk" in refused.content
    finally:
        subprocess.run(["umount", "-l", bus.vault], check=True)


def test_a_vault_that_is_gone_at_the_start_is_reported_as_configuration(bus):
    bus.vault.rename(bus.vault.with_name("away"))
    child = bus.start("vault", ready=False)
    assert child.wait(20) == 78


@pytest.mark.parametrize(
    "name", ["with spaces and 🍋", "deep/" * 40 + "vault"], ids=["spaces and emoji", "200 deep"]
)
def test_an_unusual_vault_path_works(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir(parents=True)
    with processes(folder) as group:
        group.start("bus")
        group.start("vault")
        port = group.connect("gatekeeper")
        assert ask(port, "vault", "vault:write", path="a.md", content="x").ok
        assert (group.vault / "a.md").read_text() == "x"


def test_the_agenda_tells_the_time(bus):
    bus.environ["TZ"] = "Asia/Tokyo"
    bus.start("agenda")
    result = ask(bus.connect("gatekeeper"), "agenda", "clock:now")
    assert result.ok
    assert "Asia/Tokyo (JST, UTC+09:00)" in result.content
    assert result.receipt == ""
