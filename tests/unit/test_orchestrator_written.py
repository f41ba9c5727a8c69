"""What an audience is told of an answer that arrives in pieces, some of which are taken back."""

from actors.orchestrator.generation import _Written
from proto.inference import Chunk

HEAD = '{"thought": "Hm", "status": "Task", "message_to_user": "Hello there"'


class Audience:
    def __init__(self):
        self.thought, self.message, self.voids = "", "", 0

    def said(self, thought, message):
        self.thought += thought
        self.message += message

    def again(self):
        self.thought, self.message = "", ""
        self.voids += 1


def written(*chunks: Chunk):
    audience = Audience()
    answer = _Written(audience)
    for chunk in chunks:
        answer.add(chunk)
    return answer.text, audience


def test_a_call_that_is_taken_back_changes_nothing_that_was_told():
    call = ', "tool_calls": [{"name": "a'
    text, audience = written(
        Chunk(text=HEAD + call, tokens=9),
        Chunk(text=', "tool_calls": []}', tokens=9, removed=len(call)),
    )
    assert text == HEAD + ', "tool_calls": []}'
    assert (audience.thought, audience.message, audience.voids) == ("Hm", "Hello there", 0)


def test_a_message_that_is_shortened_is_told_again():
    text, audience = written(
        Chunk(text=HEAD[:-1] + " ha ha", tokens=9),
        Chunk(text='", "tool_calls": []}', tokens=9, removed=6),
    )
    assert text == HEAD + ', "tool_calls": []}'
    assert (audience.thought, audience.message, audience.voids) == ("Hm", "Hello there", 1)


def test_reasoning_is_told_as_thought_and_is_no_part_of_the_answer():
    text, audience = written(
        Chunk(text="Let me see. ", tokens=3, thinking=True), Chunk(text=HEAD, tokens=9)
    )
    assert text == HEAD
    assert audience.thought == "Let me see. Hm"
