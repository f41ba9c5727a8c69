"""Turns through the real bus, orchestrator, gatekeeper, vault and router, with a scripted model."""

from pathlib import Path

import pytest

from eris.errors import RemoteError
from proto.control import Done
from proto.errors import ErrorCode
from proto.orchestrator import (
    CallChanged,
    CancelTurn,
    ContextReport,
    DescribeContext,
    ListSessions,
    MessageDelta,
    NewSession,
    Progress,
    SessionList,
    SessionOpened,
    SessionSnapshot,
    ThoughtDelta,
    TurnState,
)
from tests.process.orchestrator_support import (
    Talk,
    calls,
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
ENDLESS = says("word " * 4000, pause=0.01)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """One system for all tests here: each has a session of its own."""
    folder = tmp_path_factory.mktemp("turns")
    with processes(folder, scripted(folder)) as group:
        start_system(group)
        Talk(group, folder / "script").warm_up()
        yield group


@pytest.fixture
def talk(system):
    return Talk(system, Path(system.environ["ERIS_SCRIPT"]))


@pytest.fixture
def narrow(tmp_path):
    """A system whose model has a small context."""
    small = {"ERIS_MODEL_CONTEXT_LENGTH": "2400", "ERIS_GENERATION_MAX_TOKENS": "64"}
    with processes(tmp_path, scripted(tmp_path, **small)) as group:
        start_system(group)
        yield Talk(group, tmp_path / "script")


def note(talk, path="notes/today.md"):
    return (talk.system.vault / path).read_text()


def test_a_note_is_saved_and_the_answer_says_so(talk):
    talk.script(writes(), SAVED)
    view = talk.say(SAVE)
    assert view.state is TurnState.DONE
    assert view.message == "I saved it in notes/today.md."
    assert "buy milk" in note(talk)
    (call,) = view.calls
    assert (call.tool, call.state) == ("vault:write", "ok")
    assert call.receipt.startswith("created notes/today.md")
    assert "vault:write" in view.offered
    assert view.usage.rounds == 2
    assert view.usage.segments["identity"] > 0


def test_small_talk_is_offered_no_tools(talk):
    talk.script(says("Hello!"))
    view = talk.say("Hi there, how are you?")
    assert (view.message, view.offered, view.calls) == ("Hello!", (), ())
    (prompt,) = talk.prompts()
    assert "vault" not in prompt.grammar


def test_prompt_and_grammar_speak_of_the_same_tools(talk):
    talk.script(SAVED)
    view = talk.say(SAVE)
    prompt = talk.prompts()[0]
    text = "".join(part.text for part in prompt.messages[-1].parts if part.segment == "tools")
    for tool in ("vault:read", "vault:write", "vault:list", "vault:search", "clock:now"):
        assert (tool in text) == (tool in view.offered) == (tool in prompt.grammar)


def test_the_answer_is_told_while_it_is_written(talk):
    talk.script(says("one two three four five six", pause=0.02))
    accepted = talk.submit("count")
    events = talk.until(lambda event: ended_view(event, accepted.turn) is not None)
    pieces = [event.text for event in events if isinstance(event, MessageDelta)]
    assert len(pieces) > 3
    assert "one two three four five six".endswith("".join(pieces))
    assert any(isinstance(event, ThoughtDelta) for event in events)
    phases = {event.phase for event in events if isinstance(event, Progress)}
    assert "writing" in phases


def test_the_message_of_a_round_with_calls_is_provisional(talk):
    talk.script(writes(pause=0), SAVED)
    talk.script(
        calls("vault:write", {"path": "a.md", "content": "x"}, message="Working on it…"),
        says("It is in a.md now."),
    )
    accepted = talk.submit(SAVE)
    events = talk.until(lambda event: ended_view(event, accepted.turn) is not None)
    assert ended_view(events[-1], accepted.turn).message == "It is in a.md now."
    assert any(isinstance(event, CallChanged) for event in events)


def test_a_second_surface_sees_the_same_turn(talk):
    talk.script(says("Hello!"))
    turn = talk.say("Hi").turn
    other = talk.beside()
    (snapshot,) = other.until(lambda event: isinstance(event, SessionSnapshot))
    (view,) = snapshot.turns
    assert (view.turn, view.message, view.surface) == (turn, "Hello!", talk.port.name)


def test_the_same_key_makes_one_turn(talk):
    talk.script(says("Hello!"))
    first = talk.submit("Hi", idem="one")
    again = talk.submit("Hi", idem="one")
    assert (again.turn, again.repeated) == (first.turn, True)
    talk.end_of(first.turn)
    assert len(talk.prompts()) == 1


def test_messages_during_a_turn_are_queued_and_answered_in_order(talk):
    talk.script(says("first", pause=0.02), says("second"), says("third"))
    accepted = [talk.submit(text) for text in ("a", "b", "c")]
    assert [one.position for one in accepted] == [0, 1, 2]
    ended = [talk.end_of(one.turn).message for one in accepted]
    assert ended == ["first", "second", "third"]


def test_a_busy_session_does_not_hold_up_another(talk):
    talk.script(ENDLESS, says("quick"))
    slow = talk.submit("tell me everything")
    talk.until(running(slow.turn))
    assert talk.say("and you?", session=f"{talk.session}-other").message == "quick"
    cancel(talk, slow.turn)


def cancel(talk, turn=""):
    talk.port.ask("orchestrator", CancelTurn(session=talk.session, turn=turn), Done, within=5)


def test_cancel_stops_the_model_and_the_next_turn_runs(talk):
    talk.script(ENDLESS, says("next"))
    turn = talk.submit("tell me everything").turn
    after = talk.submit("and then?").turn
    talk.until(running(turn))
    cancel(talk)
    assert talk.end_of(turn).state is TurnState.CANCELLED
    finished = talk.folder / "finished.txt"
    wait_until(lambda: finished.exists() and "cancelled" in finished.read_text(), 5)
    assert talk.end_of(after).message == "next"


def test_a_waiting_turn_can_be_cancelled(talk):
    talk.script(ENDLESS)
    turn = talk.submit("tell me everything").turn
    waiting = talk.submit("never mind").turn
    talk.until(running(turn))
    cancel(talk, waiting)
    assert talk.end_of(waiting).state is TurnState.CANCELLED
    cancel(talk)
    talk.end_of(turn)
    assert len(talk.prompts()) == 1


def test_an_answer_that_says_nothing_is_asked_for_again_without_tools(talk):
    talk.script(says(" "), says("Hello!"))
    view = talk.say("Read notes/today.md")
    assert (view.message, view.usage.recoveries) == ("Hello!", 0)
    last = "".join(part.text for part in talk.prompts()[-1].messages[-1].parts)
    assert "No tool can be called any more" in last


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"text": "plain words"}, says("Hello!")], "Hello!"),
        ([{"text": '{"thought": "too lo', "cut": True}, says("Hello!")], "Hello!"),
        ([{"text": ""}, says("Hello!")], "Hello!"),
        ([says("I've saved it."), says("It was not done.")], "It was not done."),
        ([says("I've saved it.")], "Nothing has been saved or changed."),
        (
            [calls("vault:read", {"path": "missing.md"}), says("There is no missing.md.")],
            "There is no missing.md.",
        ),
    ],
    ids=["schema", "truncated", "nothing", "unbacked", "unbacked twice", "tool failed"],
)
def test_a_failed_answer_is_recovered(talk, lines, message):
    talk.script(*lines)
    view = talk.say("Read my note missing.md and save a note that I should buy milk.")
    assert (view.state, view.message) == (TurnState.DONE, message)
    assert view.usage.recoveries == 1


def test_a_model_that_never_answers_is_given_up_in_plain_words(talk):
    talk.script({"text": "plain words"})
    view = talk.say("Hi")
    assert (view.state, view.error) == (TurnState.FAILED, ErrorCode.NO_ANSWER)
    assert view.message.startswith("I couldn't finish this: ")
    assert view.usage.rounds == 4


def test_repeating_a_write_writes_once(talk):
    again = writes(path="once.md")
    talk.script(again, again, again, says("I saved it in once.md."))
    view = talk.say("Save a note in once.md saying that I should buy milk.")
    assert view.state is TurnState.DONE
    assert note(talk, "once.md").count("buy milk") == 1


def test_an_outside_channel_gets_no_tools_and_its_turn_carries_its_address(talk):
    talk.script(says("Hello!"))
    view = talk.say(SAVE, role="discord")
    assert view.offered == ()
    assert view.surface.startswith("discord.")


def test_long_results_are_cut_and_can_be_read_on(talk):
    text = "".join(f"line {number}\n" for number in range(700))
    (talk.system.vault / "long.md").write_text(text)
    talk.script(calls("vault:read", {"path": "long.md"}), says("It is long."))
    view = talk.say("What does my note long.md say?")
    (call,) = view.calls
    assert len(call.content) < 3000
    offset = int(call.content.rpartition("with offset ")[2].rstrip(".)"))
    shown = call.content.split("\n", 1)[1].split("\n(Cut here")[0]
    assert text[:offset] == shown


def test_a_full_context_is_condensed_and_the_turn_goes_on(narrow):
    narrow.script(says("A fine day to you. " * 15))
    for number in range(20):
        view = narrow.say(f"Tell me something about the number {number}, please.")
        assert view.state is TurnState.DONE
    report = narrow.port.ask(
        "orchestrator", DescribeContext(session=narrow.session), ContextReport, within=10
    )
    assert report.context_length == 2400
    assert report.condensed_turns > 0
    assert report.total + report.reserved <= report.context_length
    assert report.total == sum(report.segments.values())
    last = narrow.prompts()[-1]
    assert "Earlier in this conversation:" in "".join(
        part.text for message in last.messages for part in message.parts
    )


def test_a_message_that_can_never_fit_is_refused_with_numbers(narrow):
    narrow.script(says("Hello!"))
    narrow.say("Hi")
    view = narrow.say("word " * 4000)
    assert (view.state, view.error) == (TurnState.FAILED, ErrorCode.CONTEXT_FULL)
    assert "2400" in view.message
    assert narrow.say("Hi again").state is TurnState.DONE


def test_sessions_are_opened_listed_and_kept_apart(talk):
    talk.script(says("Hello!"))
    opened = talk.port.ask("orchestrator", NewSession(), SessionOpened, within=5).session
    talk.say("Hi", session=opened)
    listed = talk.port.ask("orchestrator", ListSessions(), SessionList, within=5).sessions
    known = {one.session: one.turns for one in listed}
    assert (known[opened], known[talk.session], known["main"]) == (1, 0, 0)
    assert listed[0].session == opened


@pytest.mark.parametrize(
    ("session", "text", "code"),
    [
        ("", "  ", ErrorCode.INVALID),
        ("no/such/name", "Hi", ErrorCode.INVALID),
        ("", "x" * 1_000_001, ErrorCode.INVALID),
    ],
    ids=["empty", "bad session", "too long"],
)
def test_what_makes_no_sense_is_refused(talk, session, text, code):
    with pytest.raises(RemoteError) as caught:
        talk.submit(text, session=session)
    assert caught.value.code == code


def test_cancelling_what_is_not_there_says_so(talk):
    with pytest.raises(RemoteError) as caught:
        cancel(talk, "nothing")
    assert caught.value.code == ErrorCode.NOT_FOUND
