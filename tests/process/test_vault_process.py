"""The vault's and the agenda's processes, asked over the real bus."""

import json
import os
import signal
import subprocess
import threading

import pytest

from proto.tools import CallTool, Origin, ToolResult
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
