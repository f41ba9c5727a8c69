"""Asks the model one question, with the prompt, the grammar and the engine of a real turn."""

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from actors.gatekeeper.offer import offer, offered_set
from actors.gatekeeper.registry import Registry
from actors.inference.engine import Engine
from actors.inference.measure import Collected
from actors.orchestrator.answers import read_answer
from actors.orchestrator.condensing import Condensing, PastTurn
from actors.orchestrator.machine import Ask, Limits, Turn, decide
from actors.orchestrator.prompt import build_prompt
from actors.orchestrator.steps import AnswerStep, OfferStep
from eris.config import Settings
from eris.envelope_ending import envelope_ending
from eris.grammar import SubsetCache
from eris.grammar.envelope import EnvelopeLimits
from proto.gatekeeper import Offered
from proto.inference import FinishReason, Message
from proto.tools import Origin, ToolDeclaration

LOCAL_TIME = "Wednesday 2026-12-02 10:00"

MOST_CALLS = 4


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the model is sent."""

    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    grammar: str = ""
    """Empty for none."""
    call_bias: float = 0.0

    def digest(self, model: str) -> str:
        """Return a key of everything that decides the answer of a model at temperature 0."""
        return hashlib.sha256(model.encode() + b"\n" + msgspec.json.encode(self)).hexdigest()[:32]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the model answered."""

    text: str
    cut: bool = False
    """It was stopped before its end."""
    odds: float | None = None
    """Log-odds of a call against none; None if the grammar left no choice, or there is none."""
    prompt_tokens: int = 0
    generated_tokens: int = 0
    seconds: float = 0.0


class Asker:
    """Builds requests as the gatekeeper and the orchestrator do, and remembers the answers.

    An answer at temperature 0 depends on the request alone, so one that is in the file isn't asked
    for again: a run that was stopped goes on where it was.
    """

    def __init__(self, engine: Engine, model: str, file: Path) -> None:
        self.model = model
        self.settings = Settings()
        self._engine = engine
        self._file = file
        self._answers: dict[str, Answer] = {}
        limits = EnvelopeLimits(
            max_calls=MOST_CALLS, thought_max=self.settings.generation.thought_characters
        )
        self._grammars = SubsetCache(limits=limits)
        if file.exists():
            for line in file.read_text("utf-8").splitlines():
                key, answer = json.loads(line)
                self._answers[key] = msgspec.convert(answer, Answer)

    def offer(self, tools: Sequence[ToolDeclaration]) -> Offered:
        """Return what a turn is offered if the router finds these tools."""
        registry = Registry().with_tools("questions", tools)
        return offer(
            offered_set([tool.name for tool in tools], Origin.USER, registry, ()), self._grammars
        )

    def prompt_tokens(self, past: Sequence[PastTurn]) -> int:
        """Return the tokens of the shortest prompt after these turns."""
        step = OfferStep(tools=(), grammar="", local_time=LOCAL_TIME)
        return len(self._engine.count(build_prompt(past, Condensing(), "", [step])).tokens)

    def tokens(self, asked: Asked) -> int:
        """Return the tokens of a request's prompt."""
        return len(self._engine.count(asked.messages).tokens)

    def request(
        self,
        text: str,
        offered: Offered,
        *,
        grammar: bool = True,
        evident: bool = False,
        call_bias: float = 0.0,
        past: Sequence[PastTurn] = (),
    ) -> Asked:
        """Return what a turn sends to the model first."""
        step = OfferStep(
            tools=offered.tools,
            grammar=offered.grammar,
            text=offered.text,
            local_time=LOCAL_TIME,
            evident=evident,
            calling_grammar=offered.calling_grammar,
        )
        action = decide(
            Turn(turn="t", text=text, steps=[step]), Limits(tool_rounds=5, recovery_attempts=3)
        )
        assert isinstance(action, Ask)
        return Asked(
            messages=build_prompt(past, Condensing(), text, [step]),
            tools=offered.tools,
            grammar=action.grammar if grammar else "",
            call_bias=call_bias,
        )

    def knows(self, asked: Asked) -> bool:
        """Return whether the answer is in the file."""
        return asked.digest(self.model) in self._answers

    def answer(self, asked: Asked) -> Answer:
        """Return the model's answer."""
        key = asked.digest(self.model)
        if key not in self._answers:
            answer = self._generate(asked)
            self._answers[key] = answer
            self._file.parent.mkdir(exist_ok=True)
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([key, msgspec.to_builtins(answer)]) + "\n")
        return self._answers[key]

    def _generate(self, asked: Asked) -> Answer:
        listener = Collected()
        generation = self._engine.open(
            self._engine.count(asked.messages),
            session="evaluation",
            cancelled=threading.Event(),
            grammar=asked.grammar,
            max_tokens=self.settings.generation.max_tokens,
            ending=envelope_ending() if asked.grammar else None,
            call_bias=asked.call_bias,
        )
        finish = generation.advance(listener, threading.Event())
        statistics = generation.statistics
        return Answer(
            text=listener.answer,
            cut=finish is not FinishReason.STOP,
            odds=generation.call_odds,
            prompt_tokens=statistics.prompt_tokens,
            generated_tokens=statistics.generated_tokens,
            seconds=round(statistics.prefill_seconds + statistics.decode_seconds, 3),
        )


def calls(answer: Answer, tools: Sequence[str]) -> tuple[tuple[str, dict[str, Any]], ...] | None:
    """Return the calls of an answer as a turn reads it; None if it can't be read."""
    reading = read_answer(AnswerStep(round=0, text=answer.text, cut=answer.cut), tools)
    if reading.answered is None:
        return None
    return tuple((call.name, call.args) for call in reading.answered.calls)
