"""The console's view: events folded into what is shown, without a screen or a process."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.console.view import (
    NOTES_KEPT,
    Accepted,
    Attached,
    Noted,
    Refused,
    SessionJoined,
    StatusCame,
    ThoughtToggled,
    Tone,
    Typed,
    empty,
    notes_after,
    place_in_queue,
    status_of,
    update,
)
from eris.conversation import Conversation, fold
from proto.orchestrator import (
    CallChanged,
    MessageDelta,
    Progress,
    SessionSnapshot,
    ThoughtDelta,
    ToolCallView,
    TurnChanged,
    TurnState,
    TurnView,
    Usage,
)
from proto.supervisor import ActorStatus, StatusReport


def turn(name, state=TurnState.DONE, **fields):
    return TurnView(turn=name, text=f"text of {name}", state=state, surface="cli.1", **fields)


def snapshot(*turns):
    return SessionSnapshot(session="main", turns=turns)


def after(*events, session="main"):
    view = empty(session)
    for event in events:
        view = update(view, event)
    return view


def call(number, state="ok"):
    return ToolCallView(call_id=f"t1.0.{number}", tool="vault:read", arguments="{}", state=state)


pieces = st.lists(st.text(max_size=5), max_size=8)


@given(thought=pieces, message=pieces, calls=st.integers(0, 3), order=st.randoms())
def test_changes_in_order_say_the_same_as_the_whole_turn(thought, message, calls, order):
    events = [ThoughtDelta(turn="t1", text=text) for text in thought]
    events += [MessageDelta(turn="t1", text=text) for text in message]
    for number in range(calls):
        place = order.randint(0, len(events))
        events.insert(place, CallChanged(turn="t1", call=call(number, "running")))
        events.append(CallChanged(turn="t1", call=call(number)))
    conversation = fold(Conversation(session="main"), snapshot(turn("t1", TurnState.RUNNING)))
    for event in events:
        conversation = fold(conversation, event)
    whole = conversation.find("t1")
    assert whole.thought == "".join(thought)
    assert whole.message == "".join(message)
    assert {one.call_id: one.state for one in whole.calls} == {
        f"t1.0.{number}": "ok" for number in range(calls)
    }
    done = msgspec.structs.replace(whole, state=TurnState.DONE)
    assert fold(conversation, TurnChanged(view=done)).turns == (done,)


@given(st.lists(st.sampled_from(["t1", "t2", "t3"]), max_size=12), st.integers(0, 12))
def test_a_snapshot_in_the_middle_changes_nothing_for_who_missed_nothing(turns, at):
    events = [TurnChanged(view=turn("t1", TurnState.RUNNING))]
    events += [MessageDelta(turn=name, text=f"{number} ") for number, name in enumerate(turns)]
    straight = Conversation(session="main")
    resumed = Conversation(session="main")
    for number, event in enumerate(events):
        straight = fold(straight, event)
        resumed = fold(resumed, event)
        if number == at:
            resumed = fold(Conversation(session="main"), snapshot(*straight.turns))
    assert resumed.turns == straight.turns


@pytest.mark.parametrize(
    "event",
    [
        MessageDelta(turn="unknown", text="x"),
        ThoughtDelta(turn="unknown", text="x"),
        CallChanged(turn="unknown", call=call(0)),
    ],
)
def test_an_event_about_an_unknown_turn_changes_nothing(event):
    conversation = Conversation(session="main", turns=(turn("t1"),))
    assert fold(conversation, event) == conversation


def test_progress_is_forgotten_when_its_turn_ends():
    progress = Progress(turn="t1", phase="writing", tokens=3)
    view = after(snapshot(turn("t1", TurnState.RUNNING)), progress)
    assert view.conversation.progress == progress
    assert update(view, TurnChanged(view=turn("t1"))).conversation.progress is None


SENT = [
    # What happens after a message was typed; how many are still pending; how many notes.
    ([], 1, 0),
    ([Accepted("i", "t1")], 1, 0),
    ([Accepted("i", "t1"), TurnChanged(view=turn("t1", TurnState.QUEUED))], 0, 0),
    ([TurnChanged(view=turn("t1", TurnState.QUEUED)), Accepted("i", "t1")], 0, 0),
    ([Refused("i", "no")], 0, 1),
    ([Accepted("other", "t1"), TurnChanged(view=turn("t1"))], 1, 0),
]


@pytest.mark.parametrize(("events", "pending", "notes"), SENT)
def test_a_message_is_pending_until_it_is_a_turn(events, pending, notes):
    view = after(snapshot(), Typed("i", "hello"), *events)
    assert (len(view.pending), len(view.notes)) == (pending, notes)
    assert all(note.tone is Tone.ERROR for note in view.notes)


def test_queued_turns_know_how_many_are_in_front():
    waiting = [turn("t2", TurnState.QUEUED), turn("t3", TurnState.QUEUED)]
    view = after(snapshot(turn("t1", TurnState.RUNNING), *waiting))
    assert [place_in_queue(view, one) for one in waiting] == [1, 2]


def test_notes_stand_below_the_turn_after_which_they_came():
    view = after(Noted("first"), snapshot(turn("t1")), Noted("second"), Noted("third"))
    grouped = {place: [note.text for note in notes] for place, notes in notes_after(view).items()}
    assert grouped == {"": ["first"], "t1": ["second", "third"]}


def test_notes_of_a_turn_that_is_no_longer_shown_are_on_top():
    view = after(snapshot(turn("t1")), Noted("old"), snapshot(turn("t2")))
    assert list(notes_after(view)) == [""]


def test_notes_are_bounded():
    view = after(*(Noted(str(number)) for number in range(NOTES_KEPT + 10)))
    assert len(view.notes) == NOTES_KEPT
    assert view.notes[-1].text == str(NOTES_KEPT + 9)


def test_joining_another_session_keeps_what_is_unfolded_and_nothing_of_the_old_one():
    view = after(
        snapshot(turn("t1")), ThoughtToggled(), Noted("x"), Typed("i", "y"), SessionJoined("work")
    )
    assert view.conversation == Conversation(session="work")
    assert view.show_thought
    assert (view.notes, view.pending) == ((), ())


def report(**states):
    actors = tuple(
        ActorStatus(
            name=name,
            state=state,
            pid=1,
            restarts=0,
            uptime_seconds=1,
            rss_bytes=1,
            adopted=False,
            mailbox=0,
            streams=0,
            handled=0,
            failed=0,
            dropped={},
        )
        for name, state in states.items()
    )
    return StatusReport(
        version="1", vault="/v", vault_id="a", pid=1, uptime_seconds=1, state="ready", actors=actors
    )


def test_the_status_counts_actors_and_names_those_that_are_away():
    view = after(StatusCame(report(bus="ready", inference="busy", router="starting")))
    status = status_of(view)
    assert (status.ready, status.total, status.away) == (2, 3, ("router",))
    assert status_of(update(view, StatusCame(None))).total == 0


def test_the_status_shows_the_running_turn():
    progress = Progress(turn="t1", phase="writing", tokens=7, tokens_per_second=20.5)
    running = turn("t1", TurnState.RUNNING, usage=Usage(prompt=100, generated=30))
    view = after(snapshot(running, turn("t2", TurnState.QUEUED)), progress, Attached(reached=True))
    status = status_of(view)
    assert (status.prompt_tokens, status.generated_tokens) == (100, 37)
    assert (status.tokens_per_second, status.phase, status.queued) == (20.5, "writing", 1)
    assert status.reached


def test_the_status_shows_the_speed_of_the_latest_turn_when_none_runs():
    usage = Usage(prompt=100, generated=30, decode_ms=2000)
    assert status_of(after(snapshot(turn("t1", usage=usage)))).tokens_per_second == 15
