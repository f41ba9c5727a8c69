"""Does every answer close? ``python -m tests.closing [COUNT] [SEED]``.

The real small model writes COUNT answers at temperature 1.2, each under the grammar of a random
subset of the tools in a random form, with a random token limit that has room for an answer. Each
must be a whole envelope whose calls fit their schemas, within its limit.
"""

import json
import os
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import jsonschema

from actors.inference.engine import Engine
from actors.inference.measure import Collected
from actors.inference.sampling import Sampling
from eris.envelope_ending import envelope_ending
from eris.grammar import FORMS, Compiled, Form, ToolSchema, envelope_grammar
from eris.logs import SilentLogger
from eris.models.store import ModelStore
from eris.paths import models_folder
from eris.tool_declarations import declared_tools
from proto.inference import Message, Part

MODEL = "smollm2-135m"
TEMPERATURE = 1.2
LONGEST = 160
KEYS = ["thought", "status", "message_to_user", "tool_calls"]
OTHERS = (
    ToolSchema(
        "weather:at",
        {
            "type": "object",
            "properties": {
                "place": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "units": {"enum": ["metric", "imperial"]},
            },
            "required": ["place", "days"],
            "additionalProperties": False,
        },
    ),
    ToolSchema(
        "mail:send",
        {
            "type": "object",
            "properties": {
                "to": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "subject": {"type": ["string", "null"]},
                "body": {"type": "string", "maxLength": 400},
            },
            "required": ["to", "subject", "body"],
            "additionalProperties": False,
        },
    ),
)
REQUESTS = (
    "Save that I should buy milk.",
    "What does my note say?",
    "Tell me a long story about whales.",
    "Send Ana a mail about the trip to Lisbon and write it down too.",
    "Laugh as long as you can: ha ha ha ha ha ha",
    "Hello! 🦉 Schön, dass du da bist.",
    "What will the weather be in Oslo for the next five days?",
)


@dataclass
class Outcome:
    """How the answers came out."""

    closed: int = 0
    count: int = 0
    finishes: Counter[str] = field(default_factory=Counter)
    ended_early: int = 0
    calls: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of the answers that are whole, valid and within their limit."""
        return self.closed / self.count


def closing(count: int, seed: int, *, seconds: float | None = None) -> Outcome:
    """Let the model write ``count`` answers, fewer if that takes longer than ``seconds``."""
    random_ = random.Random(seed)
    tools = [
        ToolSchema(tool.name, json.loads(tool.parameters)) for tool in declared_tools(os.environ)
    ]
    tools += OTHERS
    engine = Engine.load(
        ModelStore(models_folder(os.environ)).path(MODEL),
        threads=2,
        log=SilentLogger(),
        context_length=1024,
    )
    outcome, started = Outcome(), time.monotonic()
    while outcome.count < count:
        if seconds is not None and time.monotonic() - started > seconds:
            break
        chosen = random_.sample(tools, random_.randint(0, min(5, len(tools))))
        must_call = bool(chosen) and random_.random() < 0.3
        form = random_.choice(list(FORMS.values()))
        grammar = envelope_grammar(chosen, form=form, must_call=must_call)
        _one(engine, random_, grammar, form, chosen, outcome)
    engine.close()
    return outcome


def _one(
    engine: Engine,
    random_: random.Random,
    grammar: Compiled,
    form: Form,
    tools: list[ToolSchema],
    outcome: Outcome,
) -> None:
    ending, request = envelope_ending(form), random_.choice(REQUESTS)
    limit = random_.randint(engine.prompts.count(ending.rests[0]), LONGEST)
    seed = random_.randrange(1 << 31)
    generation = engine.open(
        engine.count((Message(role="user", parts=(Part(segment="user", text=request),)),)),
        session="closing",
        cancelled=threading.Event(),
        grammar=grammar.text,
        max_tokens=limit,
        sampling=Sampling(temperature=TEMPERATURE, top_k=0, top_p=1.0, min_p=0.0, seed=seed),
        ending=ending,
    )
    heard = Collected()
    finish = generation.advance(heard, threading.Event())
    outcome.count += 1
    outcome.finishes[str(finish)] += 1
    outcome.ended_early += generation.ended_early is not None
    problem = _problem(heard.answer, tools, exact=grammar.report.exact)
    tokens = generation.statistics.generated_tokens
    if not problem and tokens > limit:
        problem = f"{tokens} tokens, {limit} allowed"
    if problem:
        outcome.failures.append(f"limit {limit}, seed {seed}: {problem}: {heard.answer!r}")
    else:
        outcome.closed += 1
        outcome.calls += len(json.loads(heard.answer)["tool_calls"])


def _problem(answer: str, tools: list[ToolSchema], *, exact: bool) -> str:
    """Say what is wrong with an answer; empty if nothing is."""
    try:
        envelope = json.loads(answer)
    except ValueError as error:
        return f"no JSON ({error})"
    if list(envelope) != KEYS:
        return f"the keys are {list(envelope)}"
    schemas = {tool.name: tool.schema for tool in tools}
    for call in envelope["tool_calls"]:
        schema = schemas.get(call["name"])
        if schema is None:
            return f"{call['name']} wasn't offered"
        if exact and not jsonschema.Draft202012Validator(schema).is_valid(call["args"]):
            return f"the arguments of {call['name']} don't fit"
    return ""


def main() -> int:
    """Run and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    outcome = closing(count, seed)
    for failure in outcome.failures:
        print(failure)
    print(
        f"{outcome.closed} of {outcome.count} answers closed; {dict(outcome.finishes)}, "
        f"{outcome.ended_early} ended early, {outcome.calls} calls"
    )
    return 0 if outcome.closed == outcome.count else 1


if __name__ == "__main__":
    sys.exit(main())
