"""What surfaces see of a turn, derived from its steps."""

import pytest

from actors.orchestrator.answers import Answered, write_answer
from actors.orchestrator.journal import TurnRecord
from actors.orchestrator.recovery import correct
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    Fault,
    FinishedStep,
    OfferStep,
    ResultStep,
)
from actors.orchestrator.views import Timings, view_of
from proto.orchestrator import TurnState, Usage
from proto.tools import Origin

RECORD = TurnRecord(
    turn="t",
    session="main",
    sequence=0,
    idem="i",
    text="save it",
    origin=Origin.USER,
    surface="console.1",
    accepted=5.0,
    state=TurnState.QUEUED,
)
OFFER = OfferStep(tools=("vault:write",), grammar="", route_ms=2, offer_ms=1)
FINAL = OfferStep(tools=(), grammar="", final=True, offer_ms=1)
CALL = CallStep(call_id="t.0.0", tool="vault:write", arguments="{}")
RESULT = ResultStep(
    call_id="t.0.0",
    tool="vault:write",
    arguments='{"path": "a.md"}',
    ok=True,
    content="written",
    receipt="saved a.md",
    elapsed_ms=7,
)


def answer(message="", number=0, **cost):
    text = write_answer(Answered(thought="hm", message=message))
    return AnswerStep(round=number, text=text, **cost)


@pytest.mark.parametrize(
    ("steps", "state", "message"),
    [
        ((), TurnState.QUEUED, ""),
        ((OFFER,), TurnState.RUNNING, ""),
        ((OFFER, answer("Hi!")), TurnState.RUNNING, "Hi!"),
        ((OFFER, answer("Saved!"), correct(Fault.UNBACKED)), TurnState.RUNNING, ""),
        (
            (OFFER, answer("Hi!"), FinishedStep(state=TurnState.DONE, message="Hi!")),
            TurnState.DONE,
            "Hi!",
        ),
        (
            (OFFER, FinishedStep(state=TurnState.FAILED, message="No.", error="model")),
            TurnState.FAILED,
            "No.",
        ),
    ],
    ids=["queued", "offered", "answered", "corrected", "done", "failed"],
)
def test_state_and_message_follow_the_steps(steps, state, message):
    view = view_of(RECORD, steps)
    assert (view.state, view.message) == (state, message)


def test_a_call_is_running_until_its_result_is_there():
    (call,) = view_of(RECORD, [OFFER, CALL]).calls
    assert (call.state, call.receipt) == ("running", "")
    (call,) = view_of(RECORD, [OFFER, CALL, RESULT]).calls
    assert (call.state, call.receipt, call.arguments) == ("ok", "saved a.md", '{"path": "a.md"}')


def test_usage_is_summed_over_rounds_and_the_prompt_is_the_last_one():
    steps = [
        OFFER,
        answer(prompt=100, cached=0, prefilled=100, generated=20, forced=9, prefill_ms=5),
        correct(Fault.EMPTY),
        answer("Hi", 1, prompt=130, cached=120, prefilled=10, generated=5, segments={"user": 9}),
        FINAL,
        RESULT,
    ]
    assert view_of(RECORD, steps, Timings(first_text_ms=3, total_ms=9)).usage == Usage(
        prompt=130,
        cached=120,
        prefilled=110,
        generated=25,
        forced=9,
        rounds=2,
        recoveries=1,
        segments={"user": 9},
        route_ms=2,
        offer_ms=2,
        prefill_ms=5,
        tools_ms=7,
        first_text_ms=3,
        total_ms=9,
    )


def test_the_offer_shown_is_the_one_that_the_prompt_tells_of():
    assert view_of(RECORD, [OFFER, FINAL]).offered == ("vault:write",)


def test_where_the_recalled_is_from_and_what_is_to_be_told_are_seen():
    offer = OfferStep(tools=(), grammar="", recalled=("ann.md:3",), notice="m2 will be forgotten")
    view = view_of(RECORD, [offer])
    assert (view.recalled, view.notice) == (("ann.md:3",), "m2 will be forgotten")
