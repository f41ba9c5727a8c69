"""The form of JSON that a small model finds likeliest, and the log-probabilities behind it."""

import math
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.inference.engine import Engine
from actors.inference.forms import form_of, identity_of, recall
from eris.errors import ContextFullError
from eris.grammar import FORMS
from eris.logs import SilentLogger
from proto.inference import Message, Part

pytestmark = pytest.mark.model

ASKED = (Message(role="user", parts=(Part(segment="user", text="Count from one to ten."),)),)
TEXT = '{"thought": "One, two, three.", "status": "Task"}'


def load(path: Path, batch: int) -> Engine:
    return Engine.load(path, threads=2, log=SilentLogger(), context_length=512, batch=batch)


@pytest.fixture(scope="module")
def engine(smollm2: Path) -> Iterator[Engine]:
    loaded = load(smollm2, batch=64)
    yield loaded
    loaded.close()


def test_the_tokens_of_a_text_make_it_up_and_are_more_or_less_likely(engine: Engine) -> None:
    found = engine.log_probabilities(engine.count(ASKED), TEXT)
    assert b"".join(piece for piece, _ in found).decode() == TEXT
    assert all(value < 0 for _, value in found)


def test_what_the_model_writes_by_itself_is_what_it_finds_likeliest(engine: Engine) -> None:
    class Heard:
        said = ""

        def prefilled(self, _statistics: object) -> None: ...
        def thought(self, _text: str, _tokens: int) -> None: ...
        def text(self, text: str, _tokens: int, removed: int = 0) -> None:
            self.said = self.said[: len(self.said) - removed] + text

    heard, prompt = Heard(), engine.count(ASKED)
    engine.open(prompt, session="s", cancelled=threading.Event(), max_tokens=12).advance(
        heard, threading.Event()
    )
    own = engine.log_probabilities(prompt, heard.said)
    # The likeliest of some 49,000 tokens each time: far likelier than one by chance.
    assert all(value > -math.log(50) for _, value in own)
    first_words = engine.log_probabilities(prompt, "Zebra " + heard.said)
    assert own[0][1] > first_words[0][1]


def test_the_size_of_a_batch_changes_nothing(engine: Engine, smollm2: Path) -> None:
    small = load(smollm2, batch=5)
    try:
        expected = engine.log_probabilities(engine.count(ASKED), TEXT)
        found = small.log_probabilities(small.count(ASKED), TEXT)
    finally:
        small.close()
    assert [piece for piece, _ in found] == [piece for piece, _ in expected]
    for (_, one), (_, other) in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=0.1)


def test_a_text_beyond_the_context_is_refused(engine: Engine) -> None:
    with pytest.raises(ContextFullError):
        engine.log_probabilities(engine.count(ASKED), "word " * 600)


def test_nothing_of_an_empty_text_is_likely(engine: Engine) -> None:
    assert engine.log_probabilities(engine.count(ASKED), "") == []


def test_the_small_model_keeps_to_the_usual_form_and_is_asked_once(
    engine: Engine, smollm2: Path, tmp_path: Path
) -> None:
    asked: list[str] = []

    def likelihood(messages: object, text: str) -> list[tuple[bytes, float]]:
        asked.append(text)
        return engine.log_probabilities(engine.count(messages), text)  # type: ignore[arg-type]

    identity = identity_of(smollm2)
    assert form_of(identity, likelihood, tmp_path, SilentLogger()) == "spaced"
    assert len(asked) == len(FORMS)
    scores = recall(tmp_path)[identity].scores
    assert scores["spaced"].free > scores["compact"].free
    assert form_of(identity, likelihood, tmp_path, SilentLogger()) == "spaced"
    assert len(asked) == len(FORMS)
