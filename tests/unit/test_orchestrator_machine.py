"""What a turn does next: rounds, recovery, repeats, the end."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.orchestrator.claims import NOTHING_CHANGED, Language
from actors.orchestrator.machine import (
    CALLS_PER_ANSWER,
    READING,
    Ask,
    Close,
    Limits,
    Prepare,
    Record,
    Run,
    Turn,
    decide,
)
from actors.orchestrator.prompt import LAST_WORD
from actors.orchestrator.recovery import RECOVERIES, correct
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    CorrectionStep,
    Fault,
    FinishedStep,
    OfferStep,
    ResultStep,
)
from proto.errors import ErrorCode
from proto.orchestrator import TurnState

TOOLS = ("vault:read", "vault:write")
LIMITS = Limits()


def answer(message=None, *calls, cut=False):
    envelope = {
        "thought": "",
        "status": "Task",
        "message_to_user": message,
        "tool_calls": [{"name": name, "args": args} for name, args in calls],
    }
    return json.dumps(envelope)[: -20 if cut else None], cut


def read(path="a.md"):
    return answer(None, ("vault:read", {"path": path}))


def write(content="milk"):
    return answer(None, ("vault:write", {"path": "a.md", "content": content}))


BROKEN = ("I'd rather talk.", False)
CUT = answer("much too long", cut=True)
EMPTY = answer("  ")
SAVED = answer("I've saved it.")
HELLO = answer("Hello!")


def carry_out(call):
    """What a well-behaved pair of tools answers."""
    arguments = json.loads(call.arguments)
    path = arguments.get("path", "")
    if path.startswith("missing"):
        return {"ok": False, "content": f"There is no {path}.", "code": ErrorCode.NOT_FOUND}
    if call.tool == "vault:write":
        return {"ok": True, "content": "written", "receipt": f"saved {path}"}
    return {"ok": True, "content": f"text of {path}"}


def play(answers, *, text="do it", limits=LIMITS, steps=(), tools=TOOLS, **known):
    """Run a turn to its end with a scripted model; the last answer is given again and again."""
    steps = list(steps)
    answers = list(answers)
    while True:
        turn = Turn(turn="t", text=text, steps=tuple(steps), **known)
        match decide(turn, limits):
            case Prepare(final):
                offered = () if final else tools
                steps.append(OfferStep(tools=offered, grammar=f"{offered}", final=final))
            case Ask(round=number):
                said, cut = answers.pop(0) if len(answers) > 1 else answers[0]
                steps.append(AnswerStep(round=number, text=said, cut=cut))
            case Run(call, journalled):
                if not journalled:
                    steps.append(call)
                outcome = carry_out(call)
                steps.append(
                    ResultStep(
                        call_id=call.call_id, tool=call.tool, arguments=call.arguments, **outcome
                    )
                )
            case Record(step):
                steps.append(step)
            case Close(step):
                return [*steps, step]


def of(kind, steps):
    return [step for step in steps if isinstance(step, kind)]


def faults(steps):
    return [step.fault for step in of(CorrectionStep, steps)]


def test_a_conversational_turn_is_one_answer():
    steps = play([HELLO])
    assert [type(step) for step in steps] == [OfferStep, AnswerStep, FinishedStep]
    assert steps[-1] == FinishedStep(state=TurnState.DONE, message="Hello!")


def test_a_call_is_followed_by_an_answer_from_its_result():
    steps = play([write(), SAVED])
    assert [type(step) for step in steps[1:]] == [
        AnswerStep,
        CallStep,
        ResultStep,
        AnswerStep,
        FinishedStep,
    ]
    assert steps[-1].message == "I've saved it."


def test_a_message_beside_calls_is_provisional():
    both = answer("Saving…", ("vault:write", {"path": "a.md", "content": "x"}))
    assert play([both, answer("It is in a.md.")])[-1].message == "It is in a.md."


def test_a_call_printed_as_text_is_carried_out_once_and_never_shown():
    alone = ('{"name": "vault:read", "arguments": {"path": "a.md"}}', False)
    steps = play([alone, HELLO])
    assert [call.tool for call in of(CallStep, steps)] == ["vault:read"]
    assert steps[-1].message == "Hello!"


def test_calls_have_ids_of_turn_round_and_position():
    pair = answer(None, ("vault:read", {"path": "a"}), ("vault:read", {"path": "b"}))
    steps = play([pair, read("c"), HELLO])
    assert [call.call_id for call in of(CallStep, steps)] == ["t.0.0", "t.0.1", "t.1.0"]


def test_a_turn_interrupted_in_a_call_repeats_it_under_the_same_id():
    before = play([write(), SAVED])[:3]
    action = decide(Turn(turn="t", text="do it", steps=tuple(before)), LIMITS)
    assert action == Run(before[2], journalled=True)


@pytest.mark.parametrize("length", range(7))
def test_a_turn_goes_on_the_same_from_any_of_its_steps(length):
    whole = play([write(), BROKEN, SAVED])
    said = [answer_step.text for answer_step in of(AnswerStep, whole[:length])]
    rest = [write(), BROKEN, SAVED][len(said) :] or [SAVED]
    assert play(rest, steps=whole[:length]) == whole


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (BROKEN, Fault.SCHEMA),
        (CUT, Fault.TRUNCATED),
        (answer(None, ("web:fetch", {})), Fault.UNKNOWN_TOOL),
        (read("missing.md"), Fault.TOOL_FAILED),
        (SAVED, Fault.UNBACKED),
        (("", False), Fault.EMPTY),
        (('{"name": "web:fetch", "arguments": {"path": "a"}}', False), Fault.SCHEMA),
        (("<think>endless", True), Fault.TRUNCATED),
    ],
)
def test_each_class_of_failure_is_corrected_once_and_the_turn_goes_on(bad, fault):
    steps = play([bad, HELLO])
    assert faults(steps) == [fault]
    assert steps[-1] == FinishedStep(state=TurnState.DONE, message="Hello!")


def test_who_says_nothing_and_calls_nothing_is_offered_nothing_any_more_and_then_corrected():
    steps = play([EMPTY, HELLO])
    assert faults(steps) == []
    assert [offer.final for offer in of(OfferStep, steps)] == [False, True]
    assert steps[-1].message == "Hello!"
    assert faults(play([EMPTY, EMPTY, HELLO])) == [Fault.EMPTY]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (BROKEN, ErrorCode.NO_ANSWER),
        (CUT, ErrorCode.NO_ANSWER),
        (EMPTY, ErrorCode.NO_ANSWER),
        (answer(None, ("web:fetch", {})), ErrorCode.NO_ANSWER),
        (read("missing.md"), ErrorCode.NOT_FOUND),
    ],
)
def test_after_three_attempts_the_turn_ends_with_a_plain_sentence(bad, error):
    *steps, end = play([bad])
    assert len(faults(steps)) == (1 if error is ErrorCode.NOT_FOUND else LIMITS.recovery_attempts)
    assert (end.state, end.error) == (TurnState.FAILED, error)
    assert end.message.startswith("I couldn't finish this: ")
    assert "{" not in end.message


def test_giving_up_says_what_failed_and_what_was_done():
    *_, end = play([write(), read("missing.md")])
    assert "vault:read failed" in end.message
    assert "missing.md" in end.message
    assert "saved a.md" in end.message


def test_a_success_does_not_refill_the_attempts():
    script = [BROKEN, read("a"), BROKEN, read("b"), BROKEN, read("c"), BROKEN]
    *steps, end = play(script)
    assert len(faults(steps)) == LIMITS.recovery_attempts
    assert end.state is TurnState.FAILED


def test_a_cut_answer_gets_more_room():
    steps = play([CUT, CUT, HELLO])
    rooms = [
        action.room
        for length in range(len(steps) - 1)
        if isinstance(
            action := decide(Turn(turn="t", text="", steps=tuple(steps[:length])), LIMITS), Ask
        )
    ]
    assert rooms == [1, 2, 3]


def test_a_cut_message_is_asked_for_again_once_and_then_shown_as_far_as_it_goes():
    text, _ = answer("Hello! I am")
    *steps, end = play([(text, True)])
    assert faults(steps) == [Fault.TRUNCATED]
    assert (end.state, end.message, end.truncated) == (TurnState.DONE, "Hello! I am", True)
    *steps, end = play([BROKEN, BROKEN, BROKEN, (text, True)])
    assert Fault.TRUNCATED not in faults(steps)
    assert (end.state, end.message, end.truncated) == (TurnState.DONE, "Hello! I am", True)


def test_whole_calls_of_a_cut_answer_are_carried_out_and_the_rest_asked_for():
    text, _ = read("a.md")
    *steps, end = play([(text, True), HELLO])
    assert len(of(CallStep, steps)) == 1
    assert faults(steps) == []
    assert (end.message, end.truncated) == ("Hello!", False)


def test_an_answer_that_went_round_in_circles_is_varied():
    steps = (
        OfferStep(tools=(), grammar="()"),
        AnswerStep(round=0, text=HELLO[0], cut=True, repeating=True),
        CorrectionStep(fault=Fault.TRUNCATED, text=""),
    )
    action = decide(Turn(turn="t", text="", steps=steps), LIMITS)
    assert isinstance(action, Ask)
    assert action.vary


def test_after_the_tool_rounds_the_model_answers_without_tools():
    script = [read(str(number)) for number in range(LIMITS.tool_rounds)]
    steps = play([*script, HELLO])
    assert of(OfferStep, steps)[-1] == OfferStep(tools=(), grammar="()", final=True)
    assert len(of(CallStep, steps)) == LIMITS.tool_rounds
    assert steps[-1].message == "Hello!"


def test_a_model_that_never_stops_calling_is_given_up():
    *steps, end = play([read(str(number)) for number in range(99)])
    assert len(of(CallStep, steps)) == LIMITS.tool_rounds
    assert end.state is TurnState.FAILED


def test_the_third_identical_result_is_told_and_the_fifth_stops():
    changing = [one for number in range(4) for one in (read(), write(f"{number}"))]
    steps = play([*changing, read(), HELLO], limits=Limits(tool_rounds=20))
    told = [number for number, step in enumerate(steps) if isinstance(step, CorrectionStep)]
    reads = [step.tool == "vault:read" for step in of(ResultStep, steps)]
    assert sum(reads) == 5
    assert of(ResultStep, steps[: told[0]]) == of(ResultStep, steps)[:5]
    assert of(OfferStep, steps)[-1].final
    assert steps[-1].message == "Hello!"


def test_looking_the_same_up_again_leaves_only_the_answer():
    steps = play([read(), read(), HELLO])
    assert len(of(CallStep, steps)) == 1
    assert of(OfferStep, steps)[-1].final
    assert steps[-1].message == "Hello!"


def test_the_same_failure_twice_ends_the_turn_with_its_reason():
    *steps, end = play([read("missing.md"), read("missing.md"), HELLO])
    assert faults(steps) == [Fault.TOOL_FAILED]
    assert (end.state, end.error) == (TurnState.FAILED, ErrorCode.NOT_FOUND)
    assert "There is no missing.md" in end.message


def test_a_correction_given_back_as_the_answer_is_no_answer():
    parrot = answer(RECOVERIES[Fault.EMPTY].correction)
    steps = play([EMPTY, EMPTY, parrot, HELLO])
    assert faults(steps) == [Fault.EMPTY, Fault.EMPTY]
    assert steps[-1].message == "Hello!"


@pytest.mark.parametrize("words", [LAST_WORD, LAST_WORD.partition(".")[0], "Read it to me!"])
def test_what_was_looked_up_is_shown_where_the_model_only_parrots(words):
    steps = play([read(), answer(words)], text="read it to me")
    assert faults(steps) == [Fault.EMPTY] * LIMITS.recovery_attempts
    assert steps[-1] == FinishedStep(state=TurnState.DONE, message="text of a.md")


@pytest.mark.parametrize("words", ["I looked up the note a.md.", "Ich habe die Notiz gelesen."])
def test_that_something_was_looked_up_is_no_answer_without_what_was_found(words):
    assert play([read(), answer(words)])[-1].message == "text of a.md"
    assert play([write(), answer("It was checked.")])[-1].message == "It was checked."
    assert play([read(), answer(f"{words} Oats.")])[-1].message == f"{words} Oats."


def test_a_thought_after_a_look_begins_with_the_look_and_not_after_a_change():
    rules = 'root ::= thought\nthought ::= "\\"" char* "\\""'
    offer = msgspec.structs.replace(OFFER, grammar=rules)
    for result, begun in ((RESULT, True), (msgspec.structs.replace(RESULT, receipt="r"), False)):
        action = decide(Turn(turn="t", text="do", steps=(offer, FIRST, *CALLED, result)), LIMITS)
        assert isinstance(action, Ask)
        assert (f'thought ::= "\\"{READING}" char*' in action.grammar) is begun


def test_a_failure_that_the_model_only_parrots_is_told_in_the_words_of_the_tool():
    told = RECOVERIES[Fault.TOOL_FAILED].correction.format(subject="it")
    steps = play([read("missing.md"), answer(f"The search failed. {told.partition('. ')[2]}")])
    assert steps[-1].state is TurnState.FAILED
    assert "vault:read failed" in steps[-1].message
    assert "message_to_user" not in steps[-1].message


def test_that_nothing_was_saved_is_no_answer_before_anything_was_tried():
    steps = play([answer(NOTHING_CHANGED[Language.ENGLISH]), write(), SAVED])
    assert faults(steps) == [Fault.UNBACKED]
    assert steps[-1].message == "I've saved it."
    steps = play([answer(NOTHING_CHANGED[Language.ENGLISH])] * 2)
    assert steps[-1].message == NOTHING_CHANGED[Language.ENGLISH]


def test_looking_it_up_again_after_a_change_is_no_repetition():
    assert len(of(CallStep, play([read(), write(), read(), SAVED]))) == 3


def test_an_answer_beside_a_repeated_call_is_the_answer():
    again = answer("It says: text of a.md", ("vault:read", {"path": "a.md"}))
    steps = play([read(), again])
    assert len(of(CallStep, steps)) == 1
    assert steps[-1] == FinishedStep(state=TurnState.DONE, message="It says: text of a.md")


def test_the_same_change_twice_in_a_turn_is_done_once_and_only_the_answer_is_left():
    steps = play([write(), write(), SAVED])
    assert len(of(CallStep, steps)) == 1
    assert [result.skipped for result in of(ResultStep, steps)] == [False, True]
    assert of(OfferStep, steps)[-1].final
    assert faults(steps) == []
    assert steps[-1].message == "I've saved it."


OFFER = OfferStep(tools=TOOLS, grammar="any", calling_grammar="a call")
CALLED = (CallStep(call_id="t.0.0", tool="vault:read", arguments="{}"),)
RESULT = ResultStep(call_id="t.0.0", tool="vault:read", arguments="{}", ok=True, content="text")
FIRST = AnswerStep(round=0, text=read()[0])
CLAIM = AnswerStep(round=0, text=SAVED[0])


@pytest.mark.parametrize(
    ("steps", "grammar"),
    [
        ((OFFER,), "any"),
        ((msgspec.structs.replace(OFFER, evident=True),), "a call"),
        ((msgspec.structs.replace(OFFER, evident=True, calling_grammar=""),), "any"),
        ((msgspec.structs.replace(OFFER, evident=True), FIRST, *CALLED, RESULT), "any"),
        ((OFFER, CLAIM, correct(Fault.UNBACKED)), "a call"),
        ((OFFER, CLAIM, correct(Fault.EMPTY)), "any"),
    ],
    ids=["perhaps", "certain", "nothing offered", "called already", "only claimed", "empty"],
)
def test_a_call_is_demanded_where_a_tool_is_certainly_needed(steps, grammar):
    action = decide(Turn(turn="t", text="do it", steps=steps), LIMITS)
    assert isinstance(action, Ask)
    assert action.grammar == grammar


def test_a_change_after_another_one_is_no_repetition():
    steps = play([write("a"), write("b"), write("a"), SAVED])
    assert len(of(CallStep, steps)) == 3


def test_calls_after_a_failed_one_are_not_carried_out():
    both = answer(
        None,
        ("vault:read", {"path": "missing.md"}),
        ("vault:write", {"path": "a.md", "content": "x"}),
    )
    steps = play([both, HELLO])
    assert [call.tool for call in of(CallStep, steps)] == ["vault:read"]
    assert [result.ok for result in of(ResultStep, steps)] == [False, False]


def test_a_flood_of_calls_is_bounded():
    many = answer(None, *[("vault:read", {"path": str(number)}) for number in range(30)])
    assert len(of(CallStep, play([many, HELLO]))) == CALLS_PER_ANSWER


def test_a_claim_that_persists_is_replaced_by_the_truth():
    *steps, end = play([SAVED])
    assert faults(steps) == [Fault.UNBACKED]
    assert end == FinishedStep(state=TurnState.DONE, message="Nothing has been saved or changed.")


def test_a_claim_after_a_failed_call_is_not_believed():
    assert faults(play([read("missing"), SAVED, HELLO])) == [Fault.TOOL_FAILED, Fault.UNBACKED]


def test_an_answer_about_an_earlier_turn_may_say_that_it_was_saved():
    steps = play([SAVED], text="Did you save it?", saved_before=True)
    assert steps[-1].message == "I've saved it."
    assert faults(steps) == []


def test_without_tool_rounds_nothing_is_offered():
    steps = play([HELLO], limits=Limits(tool_rounds=0))
    assert steps[0].tools == ()


def test_a_finished_turn_does_nothing_more():
    with pytest.raises(ValueError, match="over"):
        decide(Turn(turn="t", text="", steps=tuple(play([HELLO]))), LIMITS)


def test_every_class_has_its_recovery():
    assert set(RECOVERIES) == set(Fault)


@given(
    st.lists(
        st.sampled_from(
            [
                BROKEN,
                CUT,
                EMPTY,
                SAVED,
                HELLO,
                read(),
                read("b"),
                read("missing"),
                write(),
                write("b"),
            ]
        ),
        min_size=1,
        max_size=20,
    )
)
def test_every_turn_ends_within_its_bounds(script):
    *steps, end = play(script)
    assert isinstance(end, FinishedStep)
    assert end.message
    assert len(of(CallStep, steps)) <= LIMITS.tool_rounds
    assert len(faults(steps)) <= LIMITS.recovery_attempts
    assert len(of(AnswerStep, steps)) <= LIMITS.tool_rounds + LIMITS.recovery_attempts + 2
