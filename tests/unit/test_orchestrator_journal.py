"""The turn journal as a state machine: what was acknowledged is there after any reopening."""

import shutil
import sqlite3
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from actors.orchestrator.condensing import Condensing
from actors.orchestrator.journal import SCHEMA_VERSION, Journal
from actors.orchestrator.steps import CallStep, FinishedStep, OfferStep, ResultStep
from eris.errors import ConfigurationError, ConflictError, StorageError
from proto.orchestrator import TurnState, TurnView
from proto.tools import Origin


def submit(journal, *, turn="t1", session="main", text="hello", idem=None, surface="console.1"):
    return journal.submit(
        turn=turn,
        session=session,
        text=text,
        idem=idem or f"idem-{turn}",
        origin=Origin.USER,
        surface=surface,
    )


def ended(turn, text="hello", message="hi"):
    return TurnView(
        turn=turn, text=text, state=TurnState.DONE, surface="console.1", message=message
    )


FINISHED = FinishedStep(state=TurnState.DONE, message="hi")
CALL = CallStep(call_id="t1.0.0", tool="vault:read", arguments='{"path": "a.md"}')
RESULT = ResultStep(
    call_id="t1.0.0", tool="vault:read", arguments='{"path": "a.md"}', ok=True, content="ü"
)


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path / "state" / "orchestrator.sqlite", count(1000.0).__next__)
    yield opened
    opened.close()


def test_a_second_submission_with_the_same_key_returns_the_same_turn(journal):
    first = submit(journal, turn="t1", idem="k")
    again = submit(journal, turn="t2", idem="k")
    assert not first.repeated
    assert again.repeated
    assert again.record == first.record


@pytest.mark.parametrize(
    "changed", [{"text": "something else"}, {"session": "other"}], ids=["text", "session"]
)
def test_a_key_that_belongs_to_another_message_is_a_conflict(journal, changed):
    submit(journal, turn="t1", idem="k")
    with pytest.raises(ConflictError):
        submit(journal, turn="t2", idem="k", **changed)


def test_positions_count_the_unfinished_turns_of_the_same_session(journal):
    assert submit(journal, turn="a").position == 0
    assert submit(journal, turn="b").position == 1
    assert submit(journal, turn="x", session="other").position == 0
    journal.finish("a", ended("a"), FINISHED)
    assert submit(journal, turn="c").position == 1


def test_the_reply_address_travels_with_the_turn(journal):
    submit(journal, turn="a", surface="discord.7")
    submit(journal, turn="b", surface="console.1")
    assert [record.surface for record in journal.unfinished()] == ["discord.7", "console.1"]


def test_steps_come_back_in_order_and_unchanged(journal):
    submit(journal)
    offer = OfferStep(tools=("vault:read",), grammar="root ::= x", text="…", local_time="Tue")
    assert [journal.append("t1", step) for step in (offer, CALL, RESULT)] == [0, 1, 2]
    assert journal.steps("t1") == [offer, CALL, RESULT]


@pytest.mark.parametrize("turn", ["t1", "nobody"], ids=["ended", "unknown"])
def test_a_turn_that_is_not_open_takes_no_step(journal, turn):
    submit(journal)
    journal.finish("t1", ended("t1"), FINISHED)
    with pytest.raises(ConflictError):
        journal.append(turn, CALL)
    assert journal.steps("t1") == [FINISHED]


def test_a_started_turn_is_running_and_still_unfinished(journal):
    submit(journal)
    journal.start("t1")
    (record,) = journal.unfinished()
    assert record.state is TurnState.RUNNING


def test_recent_turns_are_the_latest_and_oldest_first(journal):
    for turn in "abc":
        submit(journal, turn=turn)
    assert [record.turn for record in journal.recent("main", 2)] == ["b", "c"]


def test_the_history_of_a_turn_is_what_ended_before_it(journal):
    for turn in "abc":
        submit(journal, turn=turn)
    journal.finish("a", ended("a"), FINISHED)
    (record,) = [record for record in journal.unfinished() if record.turn == "c"]
    assert [record.turn for record in journal.before(record, 0)] == ["a"]
    assert journal.before(record, 1) == []


def test_sessions_are_listed_with_the_latest_first(journal):
    journal.open_session("old")
    submit(journal, session="new")
    assert [(one.session, one.turns) for one in journal.sessions()] == [("new", 1), ("old", 0)]
    assert not journal.open_session("old")


def test_condensing_is_kept_for_each_session(journal):
    submit(journal)
    journal.condense("main", Condensing(full_from=3, lines_from=1))
    assert journal.condensing("main") == Condensing(full_from=3, lines_from=1)
    assert journal.condensing("unheard of") == Condensing()


def test_every_commit_is_synchronous(journal):
    (mode,) = journal._connection.execute("PRAGMA synchronous").fetchone()
    assert mode == 2


def test_a_file_that_is_no_database_is_named_in_the_error(tmp_path):
    path = tmp_path / "orchestrator.sqlite"
    path.write_bytes(b"not a database, certainly" * 100)
    with pytest.raises(StorageError, match=r"orchestrator\.sqlite"):
        Journal(path, lambda: 0.0)


def test_a_journal_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "orchestrator.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(ConfigurationError, match="newer"):
        Journal(path, lambda: 0.0)


class JournalMachine(RuleBasedStateMachine):
    """Random submissions, steps and endings, with the process killed in between.

    A kill is modelled by copying the files while the connection is open, and opening the copy.
    """

    turns = Bundle("turns")

    @initialize()
    def create(self):
        self.folder = Path(tempfile.mkdtemp())
        self.generation = 0
        self.clock = count(1.0)
        self.ids = count()
        self.journal = self.opened(self.folder / "0")
        self.model = {}

    def opened(self, folder):
        return Journal(folder / "orchestrator.sqlite", self.clock.__next__)

    @rule(target=turns, session=st.sampled_from(["main", "other"]), text=st.text(max_size=20))
    def submit(self, session, text):
        turn = f"t{next(self.ids)}"
        waiting = sum(1 for known in self.model.values() if known[0] == session and not known[3])
        done = submit(self.journal, turn=turn, session=session, text=text)
        assert (done.position, done.repeated) == (waiting, False)
        self.model[turn] = (session, text, [], False)
        return turn

    @rule(turn=turns)
    def submit_again(self, turn):
        session, text, *_ = self.model[turn]
        done = submit(self.journal, turn="never", session=session, text=text, idem=f"idem-{turn}")
        assert (done.record.turn, done.repeated) == (turn, True)

    @rule(turn=turns, content=st.text(max_size=20))
    def step(self, turn, content):
        step = ResultStep(call_id="c", tool="x", arguments="{}", ok=True, content=content)
        if self.model[turn][3]:
            with pytest.raises(ConflictError):
                self.journal.append(turn, step)
        else:
            assert self.journal.append(turn, step) == len(self.model[turn][2])
            self.model[turn][2].append(step)

    @rule(turn=consumes(turns))
    def finish(self, turn):
        session, text, steps, over = self.model[turn]
        if not over:
            self.journal.finish(turn, ended(turn, text), FINISHED)
            self.model[turn] = (session, text, [*steps, FINISHED], True)

    @precondition(lambda self: self.model)
    @rule()
    def kill(self):
        self.generation += 1
        copy = self.folder / str(self.generation)
        shutil.copytree(self.folder / str(self.generation - 1), copy)
        self.journal.close()
        self.journal = self.opened(copy)

    @invariant()
    def everything_acknowledged_is_there(self):
        open_turns = [turn for turn, known in self.model.items() if not known[3]]
        assert [record.turn for record in self.journal.unfinished()] == open_turns
        for turn, known in self.model.items():
            assert self.journal.steps(turn) == known[2]

    def teardown(self):
        self.journal.close()
        shutil.rmtree(self.folder)


TestJournalMachine = JournalMachine.TestCase
TestJournalMachine.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_ended_turns_of_all_sessions_are_told_up_to_the_first_that_has_not_ended(tmp_path):
    journal = Journal(tmp_path / "j.sqlite", lambda: 1000.0)
    for number, session in enumerate(("main", "other", "main", "other")):
        submit(journal, turn=f"t{number}", session=session, text=f"text {number}")
    outside = ResultStep(
        call_id="c", tool="doc:read", arguments="{}", ok=True, content="x", untrusted="m.pdf"
    )
    journal.append("t1", outside)
    for number, state in ((3, TurnState.DONE), (0, TurnState.DONE), (1, TurnState.FAILED)):
        view = TurnView(
            turn=f"t{number}", text="", state=state, surface="console.1", message=f"said {number}"
        )
        journal.finish(f"t{number}", view, FinishedStep(state=state, message=""))
    told = journal.ended(0, 10)
    assert [(turn.turn, turn.session, turn.said, turn.answer, turn.untrusted) for turn in told] == [
        ("t0", "main", "text 0", "said 0", ""),
        ("t1", "other", "text 1", "", "m.pdf"),
    ]
    view = TurnView(turn="t2", text="", state=TurnState.DONE, surface="console.1")
    journal.finish("t2", view, FinishedStep(state=TurnState.DONE, message=""))
    assert [turn.turn for turn in journal.ended(told[-1].number, 10)] == ["t2", "t3"]
    assert [turn.turn for turn in journal.ended(told[0].number, 1)] == ["t1"]
    journal.close()
