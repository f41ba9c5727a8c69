"""The prompt: what stays the same from turn to turn, what varies, and how it shrinks."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from actors.orchestrator.answers import Answered, write_answer
from actors.orchestrator.condensing import (
    MOST_LINES,
    Condensing,
    PastTurn,
    condensed_lines,
    shorter_results,
    tighten,
)
from actors.orchestrator.prompt import FOLLOW_UP, IDENTITY, LAST_WORD, build_prompt, local_time
from actors.orchestrator.recovery import correct
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    Fault,
    FinishedStep,
    OfferStep,
    ResultStep,
)
from eris.envelope import ToolCall
from proto.orchestrator import TurnState

OFFER = OfferStep(
    tools=("vault:write",),
    grammar="root ::= …",
    text="vault:write(path, content)",
    local_time="Tuesday 2026-12-01 09:00",
)
CHAT = OfferStep(tools=(), grammar="root ::= …", local_time="Tuesday 2026-12-01 09:01")
CALLING = AnswerStep(
    round=0,
    text=write_answer(Answered(thought="", calls=(ToolCall("vault:write", {"path": "a.md"}),))),
)
CALL = CallStep(call_id="t.0.0", tool="vault:write", arguments='{"path": "a.md"}')
RESULT = ResultStep(
    call_id="t.0.0", tool="vault:write", arguments="{}", ok=True, content="written", receipt="saved"
)


def saying(message, number=0):
    return AnswerStep(round=number, text=write_answer(Answered(thought="", message=message)))


def past(sequence, text, answer, *steps, state=TurnState.DONE):
    end = FinishedStep(state=state, message=answer)
    return PastTurn(sequence=sequence, text=text, answer=answer, steps=(*steps, end))


def prompt(text, steps, *, before=(), condensing=None, **more):
    return build_prompt(before, condensing or Condensing(), text, steps, **more)


def rendered(messages):
    """Roughly what a chat template makes of a prompt."""
    texts = ("".join(part.text for part in message.parts) for message in messages)
    return "".join(
        f"<{message.role}>{text}</>" for message, text in zip(messages, texts, strict=True)
    )


def texts(messages, segment):
    return [part.text for message in messages for part in message.parts if part.segment == segment]


TOOL_TURN = (OFFER, CALLING, CALL, RESULT, saying("It is saved.", 1))


def test_the_system_message_never_changes():
    morning = prompt("hello", [OFFER])
    evening = prompt("bye", [CHAT], before=[past(0, "hello", "Hi!", CHAT, saying("Hi!"))])
    assert morning[0] == evening[0]
    assert texts(morning, "identity") == [IDENTITY]


def test_the_example_in_the_system_message_has_the_exact_form_of_an_envelope():
    assert (
        '{"thought": "The user wants a line added to a note.", "status": "Task", '
        '"message_to_user": null, "tool_calls": [{"name": "vault:write", "args": '
        '{"path": "notes/list.md", "content": "call Anna", "mode": "append"}}]}'
    ) in IDENTITY


def test_what_varies_is_in_the_last_message_with_the_users_words_at_its_end():
    last = prompt("buy milk", [OFFER])[-1]
    assert [part.segment for part in last.parts] == ["tools", "time", "user"]
    assert last.parts[-1].text.endswith("buy milk")
    assert OFFER.local_time in last.parts[1].text


def test_recalled_memory_has_its_own_segment():
    offer = OfferStep(tools=(), grammar="", memory="Anna is the user's sister.", local_time="x")
    assert texts(prompt("who is Anna", [offer]), "memory") == [
        "What you know:\nAnna is the user's sister.\n\n"
    ]


@pytest.mark.parametrize(
    "steps",
    [(CHAT, saying("Hi!")), TOOL_TURN, (OFFER, CALLING, CALL, RESULT, saying("ok", 1))],
    ids=["chat", "tool", "other answer"],
)
def test_each_prompt_goes_on_from_the_one_before(steps):
    """Every prompt of a turn, and the next turn's, begins with the previous prompt and answer."""
    answers = [number for number, step in enumerate(steps) if isinstance(step, AnswerStep)]
    stages = [
        rendered(prompt("one", steps[:number])) + f"<assistant>{steps[number].text}</>"
        for number in answers
    ]
    final = Answered(thought="", message="Hi!" if len(answers) == 1 else "")
    told = final.message or ("It is saved." if steps is TOOL_TURN else "ok")
    stages.append(rendered(prompt("two", [CHAT], before=[past(0, "one", told, *steps)])))
    for shorter, longer in pairwise(stages):
        assert longer.startswith(shorter)


def test_results_come_with_what_to_do_with_them():
    last = prompt("do it", TOOL_TURN[:4])[-1]
    assert last.role == "user"
    text = "".join(part.text for part in last.parts)
    assert text == f"Result of vault:write: ok\nwritten\n\n{FOLLOW_UP}"


def test_the_last_round_is_told_that_there_are_no_more_tools():
    final = OfferStep(tools=(), grammar="", final=True)
    last = prompt("do it", [*TOOL_TURN[:4], final])[-1]
    assert last.parts[-1].text.strip() == LAST_WORD
    assert FOLLOW_UP not in rendered([last])


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.SCHEMA, Fault.EMPTY])
def test_a_garbled_answer_is_corrected_without_being_shown_again(fault):
    garbled = AnswerStep(round=0, text='{"thought": "garb')
    messages = prompt("do it", [OFFER, garbled, correct(fault)])
    assert [message.role for message in messages] == ["system", "user"]
    assert texts(messages, "recovery") == [f"\n{correct(fault).text}"]


def test_a_false_claim_is_shown_and_corrected():
    messages = prompt("do it", [OFFER, saying("Saved!"), correct(Fault.UNBACKED)])
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]


def test_failed_attempts_are_not_remembered():
    garbled = AnswerStep(round=0, text="garbled")
    claim = saying("Saved!", 1)
    steps = (OFFER, garbled, correct(Fault.SCHEMA), claim, correct(Fault.UNBACKED), saying("No."))
    text = rendered(prompt("next", [CHAT], before=[past(0, "do it", "No.", *steps)]))
    assert "garbled" not in text
    assert "Saved!" not in text
    assert text.count("<assistant>") == 1


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (OFFER,),
        (OFFER, CALLING),
        (OFFER, CALLING, CALL),
        (OFFER, CALLING, CALL, RESULT),
        (OFFER, AnswerStep(round=0, text="garbled")),
        (OFFER, saying("I saved it.")),
    ],
    ids=["nothing", "offer", "answer", "call", "result", "garbled", "replaced"],
)
def test_a_turn_that_ended_early_is_remembered_as_the_user_saw_it(steps):
    messages = prompt("next", [CHAT], before=[past(0, "do it", "It was stopped.", *steps)])
    roles = [message.role for message in messages]
    assert roles[0] == "system"
    assert all(one != other for one, other in pairwise(roles))
    assert "It was stopped." in rendered(messages[-2:-1])
    assert "I saved it." not in rendered(messages)


def test_a_shrunk_result_says_so():
    long = ResultStep(call_id="t.0.0", tool="vault:read", arguments="", ok=True, content="x" * 900)
    text = rendered(prompt("do it", [OFFER, CALLING, CALL, long], result_characters=300))
    assert text.count("x" * 300) == 1
    assert "shortened" in text


PAST = [past(number, f"q{number}", f"a{number}", CHAT, saying(f"a{number}")) for number in range(6)]


def test_condensed_turns_are_a_line_each_and_the_oldest_are_counted():
    condensing = Condensing(full_from=4, lines_from=2)
    messages = prompt("now", [CHAT], before=PAST[2:], condensing=condensing)
    text = rendered(messages)
    assert "(2 older turns are left out)" in text
    assert '- user: "q2" you: "a2"' in text
    assert text.count("<assistant>") == 2
    roles = [message.role for message in messages]
    assert all(one != other for one, other in pairwise(roles))


def test_long_lines_are_cut_and_put_on_one_line():
    line = condensed_lines(0, [past(0, "a\nb", "z" * 500)]).splitlines()[1]
    assert line.startswith('- user: "a b" you: "zzz')
    assert len(line) < 200


def test_condensing_goes_on_until_nothing_is_left():
    sequences = list(range(100))
    levels = [Condensing()]
    while (level := tighten(levels[-1], sequences)) is not None:
        levels.append(level)
    full = [sum(one >= level.full_from for one in sequences) for level in levels]
    assert full[:7] == [100, 50, 25, 12, 6, 3, 1]
    assert levels[-1] == Condensing(full_from=100, lines_from=100)
    assert all(level.full_from - level.lines_from <= MOST_LINES for level in levels[1:])
    assert len(levels) < 16


def test_an_empty_conversation_cannot_be_condensed():
    assert tighten(Condensing(), []) is None


def test_results_of_the_running_turn_shrink_down_to_a_limit():
    limits, limit = [], 0
    while (limit := shorter_results(limit, 2000) or 0) > 0:
        limits.append(limit)
    assert limits == [1000, 500, 250]


def test_the_time_names_the_weekday_in_english():
    assert local_time(datetime(2026, 12, 1, 4, 5, tzinfo=UTC)) == "Tuesday 2026-12-01 04:05"
