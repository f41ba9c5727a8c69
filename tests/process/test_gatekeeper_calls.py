"""Tool calls through the real bus: registered, offered, carried out once, whatever dies."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from eris.actor import Port
from eris.errors import CancelledWorkError, RemoteError
from proto.control import Done
from proto.gatekeeper import (
    Invoke,
    Invoked,
    Ledger,
    LedgerEntries,
    ListTools,
    Offer,
    Offered,
    RegisterTools,
    RegistryChanged,
    ToolList,
)
from proto.tools import Effect, Origin, ToolDeclaration
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process
SLOW_OWNER = "tests.problem_actors.slow_owner"


class Office:
    """A bus and a gatekeeper, asked in the orchestrator's place."""

    def __init__(self, group: Processes) -> None:
        self.group = group
        group.start("bus")
        group.start("gatekeeper")
        self.port: Port = group.connect("orchestrator")
        self._pool = ThreadPoolExecutor(4)

    def offer(self, *tools: str, origin: Origin = Origin.USER) -> Offered:
        return self.port.ask(
            "gatekeeper", Offer(tools=tools, origin=origin), Offered, within=10, retry=True
        )

    def wait_for_tools(self, *tools: str) -> None:
        wait_until(lambda: self.offer(*tools).tools == tools, 20, f"{tools} are offered")

    def invoke(
        self,
        call_id: str,
        tool: str,
        arguments: str,
        *,
        within: float = 20,
        cancelled: threading.Event | None = None,
    ) -> Invoked:
        request = Invoke(
            call_id=call_id,
            tool=tool,
            arguments=arguments,
            origin=Origin.USER,
            offered=(tool,),
            session="main",
            turn=call_id.partition(".")[0],
        )
        return self.port.ask(
            "gatekeeper", request, Invoked, within=within, retry=True, cancelled=cancelled
        )

    def begin(self, *arguments: str, **options: threading.Event) -> "Future[Invoked]":
        return self._pool.submit(self.invoke, *arguments, **options)  # type: ignore[arg-type]

    def ledger(self, turn: str) -> tuple[Invoked, ...]:
        entries = self.port.ask("gatekeeper", Ledger(turn=turn), LedgerEntries, within=10)
        return entries.entries

    def begun(self) -> list[str]:
        file = self.group.vault / "began.txt"
        return file.read_text().splitlines() if file.exists() else []

    def wait_until_begun(self) -> None:
        wait_until(self.begun, what="the tool began")

    def let_go(self) -> None:
        (self.group.vault / "go").touch()


@contextlib.contextmanager
def office(folder: Path, **extra: str) -> Iterator[Office]:
    with processes(folder, extra) as group:
        yield Office(group)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path) as opened:
        opened.group.start("vault", SLOW_OWNER)
        opened.wait_for_tools("slow:write")
        yield opened


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with office(tmp_path_factory.mktemp("real")) as opened:
        opened.group.start("vault")
        opened.group.start("agenda")
        opened.wait_for_tools("vault:read", "vault:write", "vault:list", "vault:search")
        opened.wait_for_tools("clock:now")
        yield opened


def test_a_note_is_written_and_read(real: Office) -> None:
    written = real.invoke(
        "t1.1.0", "vault:write", '{"relative_path": "notes/today.md", "text": "buy milk"}'
    )
    assert written.ok, written.content
    assert "notes/today.md" in written.receipt
    assert (real.group.vault / "notes/today.md").read_text() == "buy milk"
    read = real.invoke("t1.2.0", "vault:read", '{"path": "notes/today.md", "offset": null}')
    assert "buy milk" in read.content
    assert read.receipt == ""
    assert [entry.call_id for entry in real.ledger("t1")] == ["t1.1.0", "t1.2.0"]


def test_the_clock_takes_no_arguments_in_every_form(real: Office) -> None:
    for position, nothing in enumerate(["", '""', "null", "{}"]):
        assert real.invoke(f"t2.1.{position}", "clock:now", nothing).ok


def test_a_repeated_call_appends_once(real: Office) -> None:
    arguments = '{"path": "log.md", "content": "once", "mode": "append"}'
    first = real.invoke("t3.1.0", "vault:write", arguments)
    again = real.invoke("t3.1.0", "vault:write", arguments)
    assert (first.repeated, again.repeated) == (False, True)
    assert again.receipt == first.receipt
    assert (real.group.vault / "log.md").read_text().count("once") == 1


def test_a_wrong_call_is_answered_in_words(real: Office) -> None:
    refused = real.invoke("t4.1.0", "vault:write", '{"pth": "a.md"}')
    assert (refused.ok, refused.code) == (False, "invalid")
    assert "did you mean path?" in refused.content


def test_grammar_and_text_name_exactly_the_offered_tools(real: Office) -> None:
    offered = real.offer("vault:write", "no:tool", "clock:now")
    assert offered.tools == ("vault:write", "clock:now")
    assert offered.left_out == {"no:tool": "there is no such tool"}
    for tool in ("vault:write", "clock:now", "vault:read", "no:tool"):
        assert (tool in offered.grammar) is (tool in offered.tools)
        assert (f"- {tool}:" in offered.text) is (tool in offered.tools)


def test_only_owners_may_register(real: Office) -> None:
    with pytest.raises(RemoteError) as refused:
        real.group.connect("cli").ask("gatekeeper", RegisterTools(tools=()), Done, within=5)
    assert refused.value.code == "forbidden"


def test_a_call_asked_for_twice_at_once_is_carried_out_once(slow: Office) -> None:
    first = slow.begin("t1.1.0", "slow:write", '{"text": "a"}')
    slow.wait_until_begun()
    second = slow.begin("t1.1.0", "slow:write", '{"text": "a"}')
    with pytest.raises(RemoteError) as other:
        slow.invoke("t1.1.0", "slow:write", '{"text": "b"}')
    assert other.value.code == "conflict"
    slow.let_go()
    outcomes = [first.result(20), second.result(20)]
    assert [outcome.ok for outcome in outcomes] == [True, True]
    assert sorted(outcome.repeated for outcome in outcomes) == [False, True]
    assert slow.begun() == ["t1.1.0 a"]


def test_a_call_survives_the_death_of_the_gatekeeper(slow: Office) -> None:
    call = slow.begin("t1.1.0", "slow:write", '{"text": "a"}')
    slow.wait_until_begun()
    slow.group.kill("gatekeeper")
    slow.group.start("gatekeeper", ready=False)
    slow.let_go()
    assert call.result(20).receipt == "wrote slowly"
    assert slow.begun() == ["t1.1.0 a"]
    assert [entry.ok for entry in slow.ledger("t1")] == [True]


def test_a_call_waits_for_an_owner_that_is_being_restarted(slow: Office) -> None:
    slow.group.kill("vault")
    call = slow.begin("t1.1.0", "slow:write", '{"text": "a"}')
    slow.let_go()
    slow.group.start("vault", SLOW_OWNER, ready=False)
    assert call.result(20).ok


def test_an_owner_that_stays_away_is_an_outcome_in_words(slow: Office) -> None:
    slow.group.kill("vault")
    missing = slow.invoke("t1.1.0", "slow:write", '{"text": "a"}', within=2)
    assert not missing.ok
    assert "isn't known whether slow:write was carried out" in missing.content
    assert slow.ledger("t1") == ()


def test_tools_are_offered_after_a_restart_before_their_owner_is_back(slow: Office) -> None:
    slow.group.kill("vault")
    slow.group.kill("gatekeeper")
    slow.group.start("gatekeeper")
    assert slow.offer("slow:write").tools == ("slow:write",)


def test_a_cancelled_write_is_brought_to_its_end_and_recorded(slow: Office) -> None:
    cancelled = threading.Event()
    call = slow.begin("t1.1.0", "slow:write", '{"text": "a"}', cancelled=cancelled)
    slow.wait_until_begun()
    cancelled.set()
    with pytest.raises(CancelledWorkError):
        call.result(20)
    slow.let_go()
    assert [entry.receipt for entry in slow.ledger("t1")] == ["wrote slowly"]


def declared(name: str) -> ToolDeclaration:
    return ToolDeclaration(
        name=name,
        description="A test.",
        hints=(),
        parameters='{"type": "object"}',
        effect=Effect.READ,
    )


def test_whoever_follows_the_registry_hears_of_changes(slow: Office) -> None:
    subscription = slow.group.connect("router").subscribe(
        "gatekeeper", "tools", item=RegistryChanged
    )
    follower = iter(subscription)
    first = next(follower)
    owner = slow.group.connect("agenda")
    owner.ask("gatekeeper", RegisterTools(tools=(declared("clock:test"),)), Done, within=5)
    assert next(follower).revision != first.revision
    subscription.close()


def test_a_tool_of_somebody_else_cannot_be_registered(slow: Office) -> None:
    with pytest.raises(RemoteError, match="which vault has"):
        slow.group.connect("agenda").ask(
            "gatekeeper", RegisterTools(tools=(declared("slow:write"),)), Done, within=5
        )


def test_a_tool_that_is_switched_off_is_neither_listed_offered_nor_carried_out(
    tmp_path: Path,
) -> None:
    with office(tmp_path, ERIS_TOOLS_DENIED="slow:*") as opened:
        opened.group.start("vault", SLOW_OWNER)
        opened.let_go()
        listing = opened.group.connect("router")
        wait_until(lambda: "switched off" in str(opened.offer("slow:write").left_out), 20)
        listed = listing.ask("gatekeeper", ListTools(), ToolList, within=5)
        assert listed.tools == ()
        assert opened.invoke("t1.1.0", "slow:write", '{"text": "a"}').code == "denied"
        assert opened.begun() == []
