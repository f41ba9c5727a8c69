"""What was about to be done, and what came of it, on disk."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.gatekeeper.ledger import CallLedger, digest_of
from eris.errors import ConfigurationError, StorageError
from proto.gatekeeper import Invoke, Invoked
from proto.tools import Origin


class Clock:
    """Seconds since the epoch, turned by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def call(call_id: str = "t1.1.0", turn: str = "t1", arguments: str = "{}") -> Invoke:
    return Invoke(
        call_id=call_id,
        tool="vault:write",
        arguments=arguments,
        origin=Origin.USER,
        offered=("vault:write",),
        session="main",
        turn=turn,
    )


def outcome(call_id: str = "t1.1.0", content: str = "done") -> Invoked:
    return Invoked(
        call_id=call_id, tool="vault:write", arguments="{}", ok=True, content=content, receipt="did"
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "gatekeeper.sqlite"


@pytest.fixture
def ledger(path: Path, clock: Clock) -> Iterator[CallLedger]:
    opened = CallLedger(path, clock)
    yield opened
    opened.close()


def test_an_unknown_call_is_unknown(ledger: CallLedger) -> None:
    assert ledger.find("t1.1.0") is None
    assert ledger.entries("t1") == ()


def test_an_intent_survives_without_its_outcome(ledger: CallLedger, path: Path) -> None:
    ledger.intend(call())
    ledger.close()
    again = CallLedger(path, lambda: 0)
    entry = again.find("t1.1.0")
    assert entry is not None
    assert entry.outcome is None
    assert entry.executed
    assert entry.request == digest_of(call())
    assert again.entries("t1") == ()
    again.close()


def test_outcomes_of_a_turn_are_listed_in_the_order_of_their_calls(ledger: CallLedger) -> None:
    for call_id in ("t1.1.0", "t1.1.1", "t1.2.0"):
        ledger.intend(call(call_id))
    ledger.intend(call("t2.1.0", turn="t2"))
    for call_id in ("t1.2.0", "t1.1.0", "t2.1.0"):
        ledger.finish(outcome(call_id))
    assert [entry.call_id for entry in ledger.entries("t1")] == ["t1.1.0", "t1.2.0"]


def test_intending_again_keeps_place_and_outcome(ledger: CallLedger) -> None:
    ledger.intend(call())
    ledger.finish(outcome())
    ledger.intend(call())
    entry = ledger.find("t1.1.0")
    assert entry is not None
    assert entry.outcome == outcome()


def test_a_corrected_call_does_not_inherit_the_refusal(ledger: CallLedger) -> None:
    ledger.intend(call(), executed=False)
    ledger.finish(outcome())
    ledger.intend(call(arguments='{"a": 1}'))
    entry = ledger.find("t1.1.0")
    assert entry is not None
    assert (entry.outcome, entry.executed) == (None, True)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (call(), call(), True),
        (call(), call(turn="t2"), True),
        (call(), call(arguments='{"a": 1}'), False),
    ],
)
def test_a_call_is_the_same_by_tool_and_arguments(
    first: Invoke, second: Invoke, same: bool
) -> None:
    assert (digest_of(first) == digest_of(second)) is same


def test_old_calls_are_forgotten(ledger: CallLedger, clock: Clock) -> None:
    ledger.intend(call("old"))
    clock.now += 100
    ledger.intend(call("new"))
    assert ledger.prune(kept_seconds=50) == 1
    assert ledger.find("old") is None
    assert ledger.find("new") is not None


def test_beyond_a_size_the_oldest_finished_calls_are_forgotten(ledger: CallLedger) -> None:
    ledger.intend(call("open"))
    for number in range(4):
        ledger.intend(call(f"c{number}"))
        ledger.finish(outcome(f"c{number}", "x" * 1000))
    assert ledger.prune(kept_bytes=2500) == 2
    kept = [name for name in ("open", "c0", "c1", "c2", "c3") if ledger.find(name)]
    assert kept == ["open", "c2", "c3"]
    assert ledger.prune() == 0


def test_commits_reach_the_disk(path: Path, ledger: CallLedger) -> None:
    assert ledger._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert ledger._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert path.is_file()


def test_a_damaged_file_is_set_aside(path: Path, clock: Clock) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database, whatever its name says " * 100)
    ledger = CallLedger(path, clock)
    ledger.intend(call())
    assert ledger.set_aside is not None
    assert ledger.set_aside.read_bytes().startswith(b"this is no database")
    ledger.close()


def test_a_ledger_of_a_newer_eris_is_left_alone(path: Path, clock: Clock) -> None:
    CallLedger(path, clock).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ConfigurationError, match="newer Eris"):
        CallLedger(path, clock)


def test_a_ledger_that_cannot_be_opened_says_so(path: Path, clock: Clock) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match="can't be opened"):
        CallLedger(path, clock)
