"""The prompt: what stays the same from turn to turn, what varies, and how it shrinks."""

from datetime import UTC, datetime
from itertools import pairwise

import msgspec
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
from actors.orchestrator.identity import IDENTITY
from actors.orchestrator.prompt import (
    ABOUT_USER,
    CALL_IF_IT_FITS,
    CALL_NOW,
    LAST_WORD,
    NO_TOOL,
    PREFIX,
    RECALLED,
    WAS_DONE,
    build_prompt,
    local_time,
    prefix,
)
from actors.orchestrator.recovery import correct
from actors.orchestrator.steps import (
    AnswerStep,
    CallStep,
    Fault,
    FinishedStep,
    OfferStep,
    ResultStep,
)
from eris.envelope import ToolCall, parse_envelope, render_envelope
from eris.grammar import FORMS
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


def own(messages):
    """What comes after the part that never changes."""
    assert tuple(messages[: len(PREFIX)]) == PREFIX
    return messages[len(PREFIX) :]


def test_every_prompt_begins_the_same():
    own(prompt("hello", [OFFER]))
    own(prompt("bye", [CHAT], before=[past(0, "hello", "Hi!", CHAT, saying("Hi!"))]))
    assert PREFIX[0].role == "system"
    assert {part.segment for message in PREFIX for part in message.parts} == {"identity"}
    assert texts(PREFIX, "identity")[0] == IDENTITY


def test_a_narrow_context_gets_no_examples():
    wide, narrow = (
        build_prompt((), Condensing(), "hi", (CHAT,), examples=e) for e in (True, False)
    )
    assert narrow == (PREFIX[0], *wide[len(PREFIX) :])


def test_the_examples_have_the_exact_form_of_an_envelope():
    assert (
        '{"thought": "The user wants a text in a note: vault:write.", "status": "Task", '
        '"message_to_user": null, "tool_calls": [{"name": "vault:write", "args": '
        '{"path": "list.md", "content": "call Anna", "mode": "append"}}]}'
    ) in texts(PREFIX, "identity")


def test_the_examples_are_shown_in_the_form_of_turns():
    example = [message for message in PREFIX if message.role == "user"][-2]
    last = own(prompt("buy milk", [msgspec.structs.replace(OFFER, evident=True)]))[-1]
    assert [part.text[:12] for part in example.parts] == [part.text[:12] for part in last.parts]


@pytest.mark.parametrize(
    ("offer", "what"),
    [
        (CHAT, NO_TOOL),
        (OFFER, CALL_IF_IT_FITS),
        (msgspec.structs.replace(OFFER, evident=True), CALL_NOW),
    ],
    ids=["none", "some", "evident"],
)
def test_what_varies_is_in_the_last_message(offer, what):
    last = own(prompt("buy milk", [offer]))[-1]
    segments = [part.segment for part in last.parts]
    assert segments == (["tools"] if offer.tools else []) + ["time", "user", "tools"]
    assert last.parts[-2].text.strip().endswith("buy milk")
    assert last.parts[-1].text == what
    assert offer.local_time in texts([last], "time")[0]


def test_recalled_memory_is_told_as_facts_in_a_segment_of_its_own():
    offer = OfferStep(tools=(), grammar="", memory="Anna is the user's sister.", local_time="x")
    assert texts(prompt("who is Anna", [offer]), "memory") == [
        f"{RECALLED}\nAnna is the user's sister.\n\n"
    ]


def test_the_notes_that_the_words_name_are_told_with_their_paths():
    offer = OfferStep(
        tools=("vault:read",), grammar="", text="-", notes={"Kestrel": "p/Kestrel\nbuoy.md"}
    )
    assert texts(prompt("read Kestrel", [offer]), "notes") == [
        "Kestrel is the note p/Kestrel buoy.md\n\n"
    ]


def test_the_core_memory_is_at_the_end_of_the_system_message_and_nothing_else_moves():
    offer = OfferStep(tools=(), grammar="", core="My name is Kim.", local_time="x")
    without = OfferStep(tools=(), grammar="", local_time="x")
    told, untold = prompt("hello", [offer]), prompt("hello", [without])
    system = "".join(part.text for part in told[0].parts)
    assert system.endswith(f"{ABOUT_USER}\nMy name is Kim.")
    assert told[1:] == untold[1:]


SKILLED = msgspec.structs.replace(OFFER, skills="[skill minutes]\n1. List who was there.\n")


def test_skills_stand_in_the_message_of_the_turn_and_nowhere_before():
    messages = prompt("write the minutes", [SKILLED], before=[past(0, "hello", "Hi!", CHAT)])
    assert [message for message in messages[:-1] if texts([message], "skills")] == []
    assert texts(messages, "skills") == [
        "How to do it, if it fits:\n[skill minutes]\n1. List who was there.\n\n"
    ]
    segments = [part.segment for part in messages[-1].parts]
    assert segments == ["tools", "skills", "time", "user", "tools"]


@pytest.mark.parametrize(
    "steps",
    [
        (CHAT, saying("Hi!")),
        TOOL_TURN,
        (OFFER, CALLING, CALL, RESULT, saying("ok", 1)),
        (SKILLED, saying("Hi!")),
    ],
    ids=["chat", "tool", "other answer", "skill"],
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
    assert text == f"Result of vault:write: ok\nwritten\n\n{WAS_DONE}"


def test_what_was_looked_up_comes_with_the_question():
    read = msgspec.structs.replace(RESULT, tool="vault:read", receipt="")
    last = prompt('what is "x"?', [OFFER, CALLING, CALL, read])[-1]
    assert "Answer \"what is 'x'?\" from it" in last.parts[-1].text


def test_the_last_round_is_told_that_there_are_no_more_tools():
    final = OfferStep(tools=(), grammar="", final=True)
    last = prompt("do it", [*TOOL_TURN[:4], final])[-1]
    assert last.parts[-1].text.strip() == LAST_WORD
    assert WAS_DONE not in rendered([last])


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.SCHEMA, Fault.EMPTY])
def test_a_garbled_answer_is_corrected_without_being_shown_again(fault):
    garbled = AnswerStep(round=0, text='{"thought": "garb')
    messages = own(prompt("do it", [OFFER, garbled, correct(fault)]))
    assert [message.role for message in messages] == ["user"]
    assert texts(messages, "recovery") == [f"\n{correct(fault).text}"]


def test_a_false_claim_is_shown_and_corrected():
    messages = own(prompt("do it", [OFFER, saying("Saved!"), correct(Fault.UNBACKED)]))
    assert [message.role for message in messages] == ["user", "assistant", "user"]


def test_failed_attempts_are_not_remembered():
    garbled = AnswerStep(round=0, text="garbled")
    claim = saying("Saved!", 1)
    steps = (OFFER, garbled, correct(Fault.SCHEMA), claim, correct(Fault.UNBACKED), saying("No."))
    text = rendered(own(prompt("next", [CHAT], before=[past(0, "do it", "No.", *steps)])))
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
    text = rendered(own(messages))
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


@pytest.mark.parametrize("form", FORMS)
def test_a_turn_is_told_in_the_form_of_its_answers_throughout(form):
    offer = msgspec.structs.replace(OFFER, form=form)
    earlier = past(0, "hello", "Hi!", msgspec.structs.replace(CHAT, form=form))
    answer = write_answer(Answered(thought="", message="It is saved."), FORMS[form])
    messages = prompt("bye", [offer, AnswerStep(round=0, text=answer)], before=[earlier])
    assert messages[: len(PREFIX)] == prefix(form)
    shown = ["".join(part.text for part in one.parts) for one in messages if one.role != "user"]
    for text in shown[1:]:
        assert text == render_envelope(parse_envelope(text), FORMS[form])
    described = next(one for one in texts(prefix(form), "identity") if "to use it" in one)
    example = described.partition("to use it, answer: ")[2].partition("Time:")[0].strip()
    assert example == render_envelope(parse_envelope(example), FORMS[form])


def test_a_turn_of_an_older_journal_keeps_the_usual_form():
    old = msgspec.json.decode(b'{"kind": "offered", "tools": [], "grammar": "x"}', type=OfferStep)
    assert prompt("hello", [old])[: len(PREFIX)] == PREFIX
