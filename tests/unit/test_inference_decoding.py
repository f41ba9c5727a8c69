"""The parts of the decoding loop that need no model: endings, repetition, drafts, odds."""

import json

import numpy as np
import pytest

from actors.inference.calling import CallWeighing
from actors.inference.ending import AnswerEnding, minimum_tokens
from actors.inference.lookup import DraftEconomy, PromptLookup
from actors.inference.repetition import FEWEST_TOKENS, RepetitionWatch
from eris.envelope_ending import EnvelopeFollower, envelope_ending
from proto.inference import EndedEarly, Section

ENDING = envelope_ending()
HEAD = '{"thought": "Milk", "status": "Task", "message_to_user": null, "tool_calls": ['
CALL = '{"name": "a", "args": {"x": "y"}}'


def count(text: str) -> int:
    """Tokens of four characters."""
    return -(-len(text) // 4)


def written(text: str, limit: int) -> AnswerEnding:
    answer = AnswerEnding(ENDING, count, limit)
    for at in range(0, len(text), 4):
        answer.saw(text[at : at + 4])
    return answer


@pytest.mark.parametrize("limit", range(minimum_tokens(ENDING, count), 60))
def test_an_answer_that_stops_when_it_is_due_keeps_its_limit(limit):
    text = HEAD + f"{CALL}, " * 5 + CALL + "]}"
    answer = AnswerEnding(ENDING, count, limit)
    for at in range(0, len(text), 4):
        if answer.due:
            break
        answer.saw(text[at : at + 4])
    finish = answer.finish()
    length = len(answer._text)
    whole = text[: length - finish.removed] + finish.text if finish else text
    assert list(json.loads(whole)) == [section.value for section in Section]
    if finish:
        assert finish.tokens <= limit


def test_an_answer_that_is_stopped_at_the_limit_itself_gives_up_more_of_its_text():
    text = '{"thought": "' + "word " * 40
    answer = written(text, count(text))
    finish = answer.finish()
    assert finish.tokens <= count(text)
    whole = json.loads(text[: len(text) - finish.removed] + finish.text)
    assert whole["thought"].startswith("word word")
    assert len(whole["thought"]) < 200


def test_a_thought_leaves_room_for_the_rest():
    answer = written('{"thought": "' + "word " * 8, 100)
    assert not answer.thought_due
    answer = written('{"thought": "' + "word " * 40, 100)
    assert answer.thought_due
    assert not answer.due
    answer.cut_thought()
    assert answer.early == EndedEarly(cut=(Section.THOUGHT,))


def test_what_is_complete_or_no_envelope_is_left_alone():
    assert written(HEAD + "]}", 100).finish() is None
    assert written("Once upon a time", 100).finish() is None
    assert not written("Once upon a time" * 30, 100).due


def test_repeated_tokens_are_taken_away_at_the_end():
    text = '{"thought": "' + "abc " * 30
    answer = written(text, 200)
    kept = answer.finish(repeated=29)
    assert json.loads(text[: len(text) - kept.removed] + kept.text)["thought"].count("abc") < 3


def tokens_until_stuck(tokens) -> int | None:
    watch = RepetitionWatch()
    for number, token in enumerate(tokens, 1):
        watch.saw(token)
        if watch.repeated:
            return number
    return None


@pytest.mark.parametrize("period", [1, 2, 7, 16, 40, 64])
def test_a_model_that_goes_round_in_circles_is_noticed(period):
    circle = list(range(period))
    stuck = tokens_until_stuck([99, 98, *circle * 70])
    assert stuck == 2 + max(4 * period, FEWEST_TOKENS)


@pytest.mark.parametrize(
    "tokens",
    [
        [1] * (FEWEST_TOKENS - 1) + [2],
        [number for row in range(40) for number in (1, 2, 3, row, 4)],
        list(range(65)) * 20,
        [],
    ],
)
def test_what_is_merely_regular_is_left_alone(tokens):
    assert tokens_until_stuck(tokens) is None


def economy(extra: float) -> DraftEconomy:
    learnt = DraftEconomy()
    for _ in range(10):
        learnt.passed(1, 0.01)
        learnt.passed(4, 0.01 + 3 * extra)
    return learnt


PROMPT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20]


def test_a_draft_is_what_followed_before():
    lookup = PromptLookup(PROMPT, economy(extra=0.0001))
    assert lookup.draft() == []
    lookup.saw([2, 3, 4])
    assert lookup.draft() == [5, 6, 7]
    lookup.saw([5])
    assert lookup.draft() == [6, 7, 8]
    lookup.saw([0])
    assert lookup.draft() == []


def test_nothing_is_drafted_where_a_pass_over_more_tokens_takes_as_much_longer():
    lookup = PromptLookup(PROMPT, economy(extra=0.009))
    lookup.saw([2, 3, 4])
    assert lookup.draft() == []


def test_guesses_are_learnt_from_even_if_nothing_is_drafted():
    learnt = economy(extra=0.006)
    lookup = PromptLookup(PROMPT * 30, learnt)
    drafts = []
    for token in PROMPT * 6:
        lookup.saw([token])
        drafts.append(len(lookup.draft()))
    assert drafts[10] == 0
    assert drafts[-1] > 0
    for number in range(60):
        lookup.saw([1000 + number])
        lookup.saw(PROMPT[:3])
        drafted = lookup.draft()
    assert drafted == []


class Grammar:
    def __init__(self, allowed):
        self.flags = np.array(allowed)

    def allows(self, token):
        return bool(self.flags[token])

    def mask(self):
        return self.flags


TEXTS = [" []", " [{", " [", "x", "]", ", {"]


@pytest.mark.parametrize("bias", [0.0, -3.0])
def test_the_odds_of_a_call_are_read_and_weighed_where_it_is_decided(bias):
    follower = EnvelopeFollower()
    weighing = CallWeighing(follower, TEXTS.__getitem__, first=bias, more=0.0)
    logits = np.array([1.0, 3.0, 0.0, 9.0, 0.0, 0.0], dtype=np.float32)
    grammar = Grammar([True, True, True, False, False, False])
    follower.feed('{"thought": "", "status": "Task"')
    assert weighing.weigh(logits, grammar) is logits
    assert weighing.odds is None
    follower.feed(', "message_to_user": null, "tool_calls":')
    weighed = weighing.weigh(logits, grammar)
    assert weighing.odds == pytest.approx(2.0)
    assert weighed.tolist() == [1.0, 3.0 + bias, 0.0, 9.0, 0.0, 0.0]


def test_another_call_is_weighed_after_a_call():
    follower = EnvelopeFollower()
    weighing = CallWeighing(follower, TEXTS.__getitem__, first=0.0, more=-2.0)
    follower.feed(HEAD + CALL)
    grammar = Grammar([False, False, False, False, True, True])
    logits = np.zeros(6, dtype=np.float32)
    assert weighing.weigh(logits, grammar).tolist() == [0, 0, 0, 0, 0, -2]
    assert weighing.odds is None
