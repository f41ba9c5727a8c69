"""What a grammar is for: ``python -m tests.eval.claim [--turns N] [--model NAME]``.

Protocol failures per 1,000 turns without a grammar, with one of many tools, and with one that the
router narrowed to a few, for contexts that are filled with a conversation to 1,000, 4,000 and
8,000 tokens. A failure is an answer that can't be read, a tool that wasn't offered, a wrong name of
an argument or an argument that its schema refuses. Answers are kept, so that the cells can be
measured one after the other.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import jsonschema
import msgspec

from actors.inference.engine import Engine
from actors.orchestrator.condensing import PastTurn
from eris.logs import SilentLogger
from eris.models.store import ModelStore
from eris.paths import models_folder
from proto.tools import ToolDeclaration
from tests.eval.asking import Asker, calls
from tests.eval.questions import FILE, Question, load, sample
from tests.eval.routing import Router

MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b")
CONTEXTS = (1_000, 4_000, 8_000)
WAYS = ("none", "all", "narrowed")
MANY = 8
"""Tools that are there; the router narrows them to those that fit."""
ANSWER = 512
"""Tokens left for the answer."""
RESULTS = Path(".eval") / "claim.jsonl"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured for one model, context and way."""

    model: str
    context: int
    """Tokens that the context is filled to."""
    way: str
    turns: int
    prompt_tokens: int
    """Of the longest prompt."""
    failures: dict[str, int]

    @property
    def per_thousand(self) -> int:
        """Failed turns of a thousand."""
        return round(1000 * sum(self.failures.values()) / self.turns)


def failure(
    found: Sequence[tuple[str, dict[str, object]]] | None, tools: Sequence[ToolDeclaration]
) -> str:
    """Return how an answer breaks the protocol; empty if it doesn't."""
    if found is None:
        return "unreadable"
    declared = {tool.name: msgspec.json.decode(tool.parameters) for tool in tools}
    for name, arguments in found:
        if name not in declared:
            return "unknown tool"
        if not set(arguments) <= set(declared[name].get("properties", {})):
            return "unknown argument"
        if not jsonschema.Draft202012Validator(declared[name]).is_valid(arguments):
            return "refused argument"
    return ""


def history(questions: Sequence[Question], asker: Asker, tokens: int) -> tuple[PastTurn, ...]:
    """Return a conversation whose prompt has so many tokens, made of other questions."""
    past: list[PastTurn] = []
    for number, question in enumerate(questions):
        answer = f"About that: {question.tools[0].description}"
        turn = PastTurn(sequence=number, text=question.text, answer=answer, steps=())
        if asker.prompt_tokens((*past, turn)) > tokens:
            break
        past.append(turn)
    return tuple(past)


def many(questions: Sequence[Question], number: int) -> tuple[ToolDeclaration, ...]:
    """Return the tools of a question, and those of others."""
    others = [one.tools[0] for one in (*questions[number + 1 :], *questions[:number])]
    known = {tool.name: tool for tool in (*questions[number].tools, *others)}
    return tuple(known.values())[:MANY]


def cell(
    asker: Asker, router: Router, questions: Sequence[Question], context: int, way: str
) -> Cell:
    """Ask all questions one way."""
    others = [one for one in load() if one.category == "live_simple" and len(one.text) < 400]
    offers = [many(questions, number) for number in range(len(questions))]
    own = max(
        asker.tokens(asker.request(question.text, asker.offer(tools), evident=True))
        for question, tools in zip(questions, offers, strict=True)
    )
    past = history(others * 3, asker, context - ANSWER - own + asker.prompt_tokens(()))
    failures: Counter[str] = Counter()
    longest = 0
    for question, offered in zip(questions, offers, strict=True):
        tools = offered
        if way == "narrowed":
            hits = {hit.tool for hit in router.hits(replace(question, tools=tools))}
            tools = tuple(tool for tool in tools if tool.name in hits or not hits)
        request = asker.request(
            question.text, asker.offer(tools), grammar=way != "none", evident=True, past=past
        )
        answer = asker.answer(request)
        longest = max(longest, answer.prompt_tokens)
        failures[failure(calls(answer, request.tools), tools)] += 1
    failures.pop("", None)
    return Cell(
        model=asker.model,
        context=context,
        way=way,
        turns=len(questions),
        prompt_tokens=longest,
        failures=dict(failures),
    )


@click.command()
@click.option("--turns", default=12, help="Questions of each cell.")
@click.option("--model", "models", multiple=True, default=MODELS)
@click.option("--context", "contexts", multiple=True, type=int, default=CONTEXTS)
def main(turns: int, models: Sequence[str], contexts: Sequence[int]) -> None:
    """Measure and print the cells."""
    if not FILE.is_file():
        click.echo(f"skipped: {FILE.name} isn't there (looked beside the repository)")
        return
    questions = sample([one for one in load() if one.category == "simple_python"], turns)
    router = Router()
    click.echo("| model | context | grammar | turns | failures in 1,000 turns | kinds |")
    click.echo("|---|---|---|---|---|---|")
    for model in models:
        engine = Engine.load(
            ModelStore(models_folder(os.environ)).path(model),
            threads=2,
            log=SilentLogger(),
            context_length=8192,
        )
        asker = Asker(engine, model, RESULTS)
        for context in contexts:
            for way in WAYS:
                one = cell(asker, router, questions, context, way)
                kinds = ", ".join(f"{kind} {count}" for kind, count in one.failures.items())
                click.echo(
                    f"| {model} | {one.prompt_tokens} | {way} | {one.turns} "
                    f"| {one.per_thousand} | {kinds or 'none'} |"
                )
        engine.close()


if __name__ == "__main__":
    main()
