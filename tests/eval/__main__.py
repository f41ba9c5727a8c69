"""Can the small model call tools? ``python -m tests.eval [--limit N] [--write]``.

Questions of the Berkeley Function Calling Leaderboard, asked as a turn asks: its prompt, its
grammar, its router, the real 0.5B model, temperature 0. Answers are kept in ``.eval/``, so a run
that was stopped goes on where it was. Prints a table and writes ``eval.json``.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from actors.inference.engine import Engine
from eris.logs import SilentLogger
from eris.models.store import ModelStore
from eris.paths import models_folder
from tests.eval import recall
from tests.eval.asking import Asker, calls
from tests.eval.judging import right_arguments
from tests.eval.questions import (
    CALLING,
    CATEGORIES,
    FILE,
    HELD_OUT,
    IRRELEVANCE,
    Question,
    load,
    sample,
)
from tests.eval.results import PAGE, put, record
from tests.eval.routing import Router

MODEL = "qwen2.5-coder-0.5b"
ANSWERS = Path(".eval") / "answers.jsonl"
GOALS = ("simple_python", "multiple")
SHORT, UNGUIDED = 4, 20


@dataclass
class Score:
    """How the questions of one category came out."""

    questions: int = 0
    readable: int = 0
    called: int = 0
    function: int = 0
    arguments: int = 0

    def add(self, other: "Score") -> None:
        """Add another score."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def share(self, name: str) -> float:
        """Return a share of the questions."""
        return round(getattr(self, name) / max(self.questions, 1), 3)


def asked(
    asker: Asker, questions: Sequence[Question], *, grammar: bool, only_known: bool = False
) -> dict[str, Score]:
    """Offer the model all functions of each question; with a grammar it has to call one."""
    scores: dict[str, Score] = {}
    for number, question in enumerate(questions, 1):
        offered = asker.offer(question.tools)
        request = asker.request(question.text, offered, grammar=grammar, evident=True)
        if only_known and not asker.knows(request):
            continue
        found = calls(asker.answer(request), request.tools)
        one = Score(questions=1, readable=int(found is not None), called=int(bool(found)))
        if found and question.accepted is not None:
            one.function = int(len(found) == 1 and found[0][0] == question.tool)
            one.arguments = int(
                bool(one.function) and right_arguments(found[0][1], question.accepted)
            )
        scores.setdefault(question.category, Score()).add(one)
        if number % 25 == 0:
            click.echo(f"{number} of {len(questions)}", err=True)
    return scores


def routed(router: Router, questions: Sequence[Question]) -> dict[str, Any]:
    """Say how often nothing is offered: rightly where nothing fits, wrongly where a tool does."""

    offered = {one.id: {hit.tool for hit in router.hits(one)} for one in questions}
    unfitting = [one for one in questions if one.category == IRRELEVANCE]
    fitting = [one for one in questions if one.category in GOALS]

    def nothing(chosen: Sequence[Question]) -> dict[str, Any]:
        held_out = [one for one in chosen if one.half == HELD_OUT]
        return {
            "value": _share(not offered[one.id] for one in chosen),
            "of": len(chosen),
            "held_out": _share(not offered[one.id] for one in held_out),
        }

    others = [one for one in fitting if offered[one.id] and one.tool not in offered[one.id]]
    lost = {**nothing(fitting), "only_others_offered": len(others)}
    return {"refused": nothing(unfitting), "lost": lost}


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return round(sum(found) / max(len(found), 1), 3)


def total(scores: dict[str, Score], categories: Sequence[str]) -> Score:
    """Add up some categories."""
    summed = Score()
    for category in categories:
        summed.add(scores.get(category, Score()))
    return summed


def table(guided: dict[str, Score], free: dict[str, Score], routing: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| questions | grammar | n | readable answer | right function | right arguments |",
        "|---|---|---|---|---|---|",
    ]
    for name, scores in (("none", free), ("all functions of the question", guided)):
        lines += [
            f"| {category} | {name} | {score.questions} | {score.share('readable')} "
            f"| {score.share('function')} | {score.share('arguments')} |"
            for category, score in scores.items()
        ]
    refused, lost = routing["refused"], routing["lost"]
    summary = (
        f"Nothing offered on `irrelevance`: {refused['value']} of {refused['of']} (held-out half "
        f"{refused['held_out']}); on `simple_python` and `multiple`, where one fits, "
        f"{lost['value']} of {lost['of']} (held-out half {lost['held_out']}), and only others "
        f"than the right tool {lost['only_others_offered']} times."
    )
    return "\n".join([*lines, "", summary, ""])


@click.command()
@click.option("--limit", default=0, help="Most questions of each category; 0 for all.")
@click.option("--unguided", default=UNGUIDED, help="Questions of each category without grammar.")
@click.option(
    "--category", "categories", multiple=True, type=click.Choice(CATEGORIES), default=CATEGORIES
)
@click.option("--known", is_flag=True, help="With a grammar, only what was asked before.")
@click.option("--short", is_flag=True, help=f"{SHORT} of each category: a minute or two.")
@click.option("--write", is_flag=True, help=f"Put the table into {PAGE}.")
def main(
    limit: int, unguided: int, categories: Sequence[str], *, known: bool, short: bool, write: bool
) -> None:
    """Ask, judge and print."""
    if not FILE.is_file():
        click.echo(f"skipped: {FILE.name} isn't there (looked beside the repository)")
        return
    limit, unguided = (SHORT, SHORT) if short else (limit, unguided)
    questions = sample(load(FILE, categories), limit)
    calling = [one for one in questions if one.category in CALLING]
    engine = Engine.load(
        ModelStore(models_folder(os.environ)).path(MODEL),
        threads=2,
        log=SilentLogger(),
        context_length=8192,
    )
    asker = Asker(engine, MODEL, ANSWERS)
    guided = asked(asker, calling, grammar=True, only_known=known)
    free = asked(asker, sample(calling, min(unguided, limit or unguided)), grammar=False)
    routing = routed(Router(), questions)
    engine.close()
    goal, without = total(guided, GOALS), total(free, CALLING)
    record(
        {
            "right_function": {
                "value": goal.share("function"), "right": goal.function, "of": goal.questions
            },
            "right_arguments": {
                "value": goal.share("arguments"), "right": goal.arguments, "of": goal.questions
            },
            "valid_without_grammar": {
                "value": without.share("readable"), "of": without.questions
            },
            **routing,
        }
    )  # fmt: skip
    text = table(guided, free, routing)
    click.echo(text)
    if write:
        put("make eval", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["recall"]:
        recall.command(args=sys.argv[2:])
    sys.exit(main())
