"""How fast is generation under a grammar? ``python -m actors.inference.measure MODEL.gguf``.

Three ways in turn, on the same prompts in one process, so that a busy machine slows all of them:
ours under an envelope grammar, ours without a grammar, llama-cpp-python's grammar. The grammars
are those of a turn: where it's clear that a tool is needed one has to be called, and small talk
and answers from results are offered none.
"""

import json
import statistics
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from actors.inference.engine import Engine
from actors.inference.generation import Generation, Statistics
from actors.inference.llama_grammar import LlamaReference
from eris.grammar import ToolSchema, envelope_grammar
from eris.logs import SilentLogger
from proto.inference import Message, Part

TOOLS: Final = (
    ToolSchema(
        "vault:write",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "maxLength": 200},
                "content": {"type": "string"},
                "mode": {"enum": ["overwrite", "append"]},
            },
            "required": ["path", "content", "mode"],
            "additionalProperties": False,
        },
    ),
    ToolSchema(
        "vault:read",
        {
            "type": "object",
            "properties": {"path": {"type": "string", "maxLength": 200}},
            "required": ["path"],
            "additionalProperties": False,
        },
    ),
)

CALLING: Final = envelope_grammar(TOOLS, must_call=True).text
CHOOSING: Final = envelope_grammar(TOOLS).text
TALKING: Final = envelope_grammar(()).text

_FROM_A_RESULT: Final = (
    "Result of vault:read: The hedge needs cutting before June, and the pear tree is ill.\n"
    'Answer "What does my note ideas/garden.md say?" from the result, in message_to_user.'
)

REQUESTS: Final = (
    ("Save a note in notes/today.md saying that I should buy milk.", CALLING),
    ("What does my note ideas/garden.md say?", CALLING),
    ("Append to log.md that the heating was repaired on Monday.", CHOOSING),
    ("Thank you, that was helpful.", TALKING),
    (_FROM_A_RESULT, TALKING),
)
"""What is asked, and the grammar of the answer."""

_INSTRUCTIONS: Final = """\
You are Eris, an assistant over a folder of notes. Answer with one JSON object.
Tools: vault:write saves a note (path, content, mode), vault:read returns one (path).
Example: {"thought": "They want a note.", "status": "Task", "message_to_user": null, \
"tool_calls": [{"name": "vault:write", "args": {"path": "shopping.md", "content": "Eggs", \
"mode": "append"}}]}
Example: {"thought": "They greet me.", "status": "Idle", "message_to_user": "Good morning!", \
"tool_calls": []}"""

_FREE_REQUEST: Final = "Write a long story about a lighthouse keeper and the sea."
_FREE_TOKENS: Final = 60
_ANSWER_TOKENS: Final = 220
_WARM_UP_TOKENS: Final = 16


@dataclass
class _Side:
    tokens: int = 0
    seconds: float = 0.0
    rates: list[float] = field(default_factory=list)

    def add(self, tokens: int, seconds: float) -> None:
        self.tokens += tokens
        self.seconds += seconds

    def close_round(self) -> None:
        self.rates.append(self.tokens / self.seconds)
        self.tokens, self.seconds = 0, 0.0

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)


class Collected:
    """A listener that keeps the text."""

    def __init__(self) -> None:
        self.answer = ""

    def prefilled(self, statistics: Statistics) -> None:
        """Nothing to do."""

    def thought(self, text: str, tokens: int) -> None:
        """Nothing to do."""

    def text(self, text: str, tokens: int, removed: int = 0) -> None:
        """Keep it."""
        del tokens
        self.answer = self.answer[: len(self.answer) - removed] + text


def run(
    engine: Engine, request: str, *, grammar: str, limit: int, **wishes: Any
) -> tuple[Generation, str]:
    """Generate one answer to a request greedily; returns the generation and its text."""
    generation = engine.open(
        engine.count(_messages(request)),
        session="measure",
        cancelled=threading.Event(),
        grammar=grammar,
        max_tokens=limit,
        **wishes,
    )
    collected = Collected()
    generation.advance(collected, threading.Event())
    return generation, collected.answer


def measure(
    engine: Engine,
    reference: LlamaReference,
    *,
    rounds: int = 3,
    requests: Sequence[tuple[str, str]] = REQUESTS,
) -> dict[str, float]:
    """Measure the three ways.

    Returns:
        Tokens per second of each (median over rounds), their ratios, the share of forced tokens,
        tokens of a pass, microseconds that the grammar takes for a token, and the share of
        answers that are whole JSON.
    """
    free, constrained, llama = _Side(), _Side(), _Side()
    forced = generated = passes = whole = answers = 0
    grammar_seconds = 0.0
    run(engine, _FREE_REQUEST, grammar=TALKING, limit=_WARM_UP_TOKENS)
    for _ in range(rounds):
        for request, grammar in requests:
            generation, text = run(engine, request, grammar=grammar, limit=_ANSWER_TOKENS)
            cost = generation.statistics
            constrained.add(cost.generated_tokens, cost.decode_seconds)
            forced += cost.forced_tokens
            generated += cost.generated_tokens
            passes += cost.forward_passes
            grammar_seconds += cost.constraint_seconds
            answers += 1
            whole += _is_json(text)
            generation, _ = run(engine, _FREE_REQUEST, grammar="", limit=_FREE_TOKENS)
            free.add(generation.statistics.generated_tokens, generation.statistics.decode_seconds)
            prompt = engine.count(_messages(request)).tokens
            other = reference.generate(prompt, grammar=grammar, limit=_ANSWER_TOKENS)
            llama.add(len(other.tokens) - 1, other.seconds)
        for side in (free, constrained, llama):
            side.close_round()
    return {
        "constrained_tokens_per_s": round(constrained.rate, 2),
        "free_tokens_per_s": round(free.rate, 2),
        "llama_gbnf_tokens_per_s": round(llama.rate, 2),
        "constrained_vs_free": round(constrained.rate / free.rate, 3),
        "constrained_vs_llama_gbnf": round(constrained.rate / llama.rate, 3),
        "forced_share": round(forced / generated, 3),
        "tokens_per_pass": round(generated / passes, 3),
        "mask_us": round(grammar_seconds / generated * 1e6, 1),
        "vocabulary": engine.info.vocabulary,
        "whole_json_share": round(whole / answers, 3),
    }


def measure_file(path: Path, *, threads: int, rounds: int = 3) -> dict[str, float]:
    """Load a model file and `measure` it."""
    engine = Engine.load(path, threads=threads, log=SilentLogger(), context_length=2048)
    reference = LlamaReference(
        path, context_length=2048, batch=engine.context.batch, threads=threads
    )
    try:
        return measure(engine, reference, rounds=rounds)
    finally:
        reference.close()
        engine.close()


def _messages(request: str) -> tuple[Message, ...]:
    return (
        Message(role="system", parts=(Part(segment="identity", text=_INSTRUCTIONS),)),
        Message(role="user", parts=(Part(segment="user", text=request),)),
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    from actors.inference.actor import physical_cores

    result = measure_file(Path(sys.argv[1]), threads=physical_cores())
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
