"""Turns while processes die: each accepted one ends, and nothing is done twice."""

import sqlite3

import pytest

from actors.orchestrator.actor import JOURNAL
from proto.control import Done
from proto.orchestrator import CallChanged, CancelTurn, SessionSnapshot, TurnChanged, TurnState
from tests.process.orchestrator_support import (
    Talk,
    ended_view,
    running,
    says,
    scripted,
    start_system,
    writes,
)
from tests.support import processes, wait_until

pytestmark = pytest.mark.process

SAVE = "Save a note in notes/today.md saying that I should buy milk."
SAVED = says("I saved it in notes/today.md.")
SLOW = says("It is a long story and it goes on and on.", pause=0.05)


@pytest.fixture
def talk(tmp_path):
    with processes(tmp_path, scripted(tmp_path)) as group:
        start_system(group)
        talk = Talk(group, tmp_path / "script")
        talk.warm_up()
        yield talk


def restart(talk, name):
    talk.system.kill(name)
    module = "tests.problem_actors.scripted_inference" if name == "inference" else ""
    talk.system.start(name, module, ready=False)


def milk(talk):
    file = talk.system.vault / "notes/today.md"
    return file.read_text().count("buy milk") if file.exists() else 0


@pytest.mark.parametrize(
    "victim", ["orchestrator", "inference", "gatekeeper", "router", "vault", "bus"]
)
def test_a_turn_survives_the_death_of_any_process_while_it_is_answered(talk, victim):
    talk.script(writes(), says("I saved it in notes/today.md.", pause=0.05), SAVED)
    turn = talk.submit(SAVE).turn
    talk.until(running(turn))
    restart(talk, victim)
    view = talk.end_of(turn)
    assert (view.state, view.message) == (TurnState.DONE, "I saved it in notes/today.md.")
    assert [call.state for call in view.calls] == ["ok"]
    assert milk(talk) == 1


@pytest.mark.parametrize("victim", ["orchestrator", "gatekeeper", "vault", "bus"])
def test_a_call_under_way_is_carried_out_once(talk, victim):
    talk.script(writes(pause=0.01), SAVED)
    turn = talk.submit(SAVE).turn

    def calling(event):
        return isinstance(event, CallChanged) or (
            isinstance(event, SessionSnapshot | TurnChanged)
            and any(view.calls for view in getattr(event, "turns", ()) or (event.view,))
        )

    talk.until(calling)
    restart(talk, victim)
    view = talk.end_of(turn)
    assert view.state is TurnState.DONE
    assert milk(talk) == 1


def test_a_turn_goes_on_when_the_model_dies_again_and_again(talk):
    talk.script(*[says("It is done.", die_after=2)] * 2, says("All is well."))
    turn = talk.submit("How are you?").turn
    for _ in range(2):
        talk.system.children["inference"].wait(20)
        talk.system.start("inference", "tests.problem_actors.scripted_inference", ready=False)
    assert talk.end_of(turn).message == "All is well."


def test_queued_turns_follow_in_order_after_a_restart(talk):
    talk.script(SLOW, says("first"), says("second"), says("third"))
    turns = [talk.submit(text).turn for text in ("a", "b", "c")]
    talk.until(running(turns[0]))
    restart(talk, "orchestrator")
    assert [talk.end_of(turn).message for turn in turns] == ["first", "second", "third"]


def test_a_stop_leaves_the_turn_for_the_next_start(talk):
    talk.script(SLOW, says("Here I am again."))
    turn = talk.submit("tell me").turn
    talk.until(running(turn))
    assert talk.system.kill("orchestrator", 15) == 0
    finished = talk.folder / "finished.txt"
    wait_until(lambda: "cancelled" in finished.read_text(), 5)
    talk.system.start("orchestrator", ready=False)
    assert talk.end_of(turn).message == "Here I am again."


def test_what_was_said_is_still_there_after_a_restart(talk):
    talk.script(says("Hello!"), says("Hello again!"))
    first = talk.say("Hi")
    restart(talk, "orchestrator")
    (snapshot,) = talk.until(lambda event: isinstance(event, SessionSnapshot))
    assert snapshot.turns[-1] == first
    talk.say("Hi again")
    assert "Hello!" in "".join(part.text for part in talk.prompts()[-1].messages[-2].parts)


def test_without_a_router_the_turn_is_answered_without_tools_and_says_so(talk):
    talk.system.kill("router")
    talk.script(says("I can't look into your notes right now."))
    turn = talk.submit(SAVE).turn
    events = talk.until(lambda event: ended_view(event, turn) is not None)
    assert ended_view(events[-1], turn).offered == ()
    details = [getattr(event, "detail", "") for event in events]
    assert any("router" in detail for detail in details)


def test_a_turn_that_waits_for_the_model_can_be_cancelled(talk):
    talk.system.kill("inference")
    talk.script(SAVED, says("next"))
    turn = talk.submit("hello").turn
    talk.until(lambda event: getattr(event, "phase", "") == "waiting")
    talk.port.ask("orchestrator", CancelTurn(session=talk.session, turn=turn), Done, within=5)
    assert talk.end_of(turn).state is TurnState.CANCELLED


def test_the_journal_is_whole_after_a_kill(talk):
    talk.script(SAVED)
    turn = talk.submit(SAVE).turn
    talk.system.kill("orchestrator")
    with sqlite3.connect(talk.system.paths.state / JOURNAL) as journal:
        (check,) = journal.execute("PRAGMA integrity_check").fetchone()
        (count,) = journal.execute("SELECT count(*) FROM turn WHERE turn = ?", (turn,)).fetchone()
    assert (check, count) == ("ok", 1)
    talk.system.start("orchestrator", ready=False)
