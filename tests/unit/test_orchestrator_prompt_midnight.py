"""The prompt keeps its beginning, byte for byte, whatever the clock does."""

from datetime import UTC, datetime, timedelta

import pytest

from actors.orchestrator.answers import Answered, write_answer
from actors.orchestrator.condensing import Condensing, PastTurn
from actors.orchestrator.prompt import build_prompt, local_time
from actors.orchestrator.steps import AnswerStep, FinishedStep, OfferStep, Step
from proto.inference import Message
from proto.orchestrator import TurnState

MIDNIGHT = datetime(2027, 1, 1, tzinfo=UTC)


def bytes_of(messages: tuple[Message, ...]) -> bytes:
    """Roughly what a chat template makes of a prompt."""
    return b"".join(
        f"<{message.role}>{''.join(part.text for part in message.parts)}</>".encode()
        for message in messages
    )


def turn_at(now: datetime, memory: str = "") -> tuple[Step, ...]:
    offer = OfferStep(tools=(), grammar="root ::= …", memory=memory, local_time=local_time(now))
    told = write_answer(Answered(thought="", message="Fine."))
    return (offer, AnswerStep(round=0, text=told))


def ended(sequence: int, text: str, steps: tuple[Step, ...]) -> PastTurn:
    end = FinishedStep(state=TurnState.DONE, message="Fine.")
    return PastTurn(sequence=sequence, text=text, answer="Fine.", steps=(*steps, end))


@pytest.mark.parametrize(
    "step", [timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1), -timedelta(hours=1)]
)
def test_each_turns_prompt_begins_with_all_of_the_one_before_across_midnight(
    step: timedelta,
) -> None:
    now, past, before = MIDNIGHT - 3 * step, list[PastTurn](), b""
    for number in range(6):
        steps = turn_at(now, memory=f"{number * 7}% of the memory is used.")
        prompt = bytes_of(build_prompt(past, Condensing(), f"message {number}", steps[:1]))
        assert prompt.startswith(before)
        answer = steps[1]
        assert isinstance(answer, AnswerStep)
        before = prompt + f"<assistant>{answer.text}</>".encode()
        past.append(ended(number, f"message {number}", steps))
        now += step


def test_neither_time_nor_date_is_in_what_stands_in_front_of_the_conversation() -> None:
    (system, *_), (other, *_) = (
        build_prompt((), Condensing(), "hello", turn_at(now)[:1])
        for now in (MIDNIGHT - timedelta(seconds=1), MIDNIGHT + timedelta(days=200))
    )
    assert system == other
    assert system.role == "system"
