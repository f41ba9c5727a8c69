"""Is the right piece of the notes found? ``python -m tests.eval recall [--write] [--misses]``.

Questions about the notes in ``tests/data/recall``, by each search, for the half that may be tuned
to and for the one that may not. A hit counts if its path is right and it has a line in common with
a place that answers the question.
"""

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from actors.memory.chunking import NoteChunks, chunk_note
from actors.memory.embedder import MiniLM
from tests.embedding import embedding_folder
from tests.eval.memory_search import MemorySearch, edge_index
from tests.eval.recall_data import HELD, NONE, TUNE, Place, Question, load, notes
from tests.eval.results import put, record
from tests.eval.searches import Piece, Search, bm25, dense, fused, grep

LIMIT = 5
"""Hits that count for recall."""


@dataclass(frozen=True)
class Ranks:
    """Where the answers of some questions were found."""

    of: Mapping[Question, int]
    """Rank of the first right hit, from 1; 0 if there was none."""
    milliseconds: float
    """Median time of a question."""

    def recall(self, limit: int = LIMIT) -> float:
        """Return the share of questions that are answered among the first hits."""
        return sum(0 < rank <= limit for rank in self.of.values()) / max(1, len(self.of))

    def mrr(self) -> float:
        """Return the mean reciprocal rank."""
        return sum(1 / rank for rank in self.of.values() if rank) / max(1, len(self.of))

    def only(self, **wanted: str) -> "Ranks":
        """Return those of the questions with these values."""
        chosen = {
            question: rank
            for question, rank in self.of.items()
            if all(getattr(question, name) == value for name, value in wanted.items())
        }
        return Ranks(chosen, self.milliseconds)


@dataclass(frozen=True)
class Prefetch:
    """What is told unasked."""

    silent: float
    """Share of the questions without an answer at which nothing is told."""
    right: float
    """Share of those with one at which a right place is told."""


def ranks(search: Search, questions: Sequence[Question]) -> Ranks:
    """Ask all questions."""
    found: dict[Question, int] = {}
    times: list[float] = []
    for question in questions:
        begun = time.perf_counter()
        places = search(question.question)
        times.append((time.perf_counter() - begun) * 1000)
        found[question] = question.rank(places)
    return Ranks(found, statistics.median(times))


def prefetched(search: Search, questions: Sequence[Question]) -> Prefetch:
    """Say what is told unasked with all questions."""
    told = {question: search(question.question) for question in questions}
    nothing = [not places for one, places in told.items() if one.kind == NONE]
    right = [one.rank(places) > 0 for one, places in told.items() if one.kind != NONE]
    return Prefetch(sum(nothing) / max(1, len(nothing)), sum(right) / max(1, len(right)))


def pieces_of(chunked: Mapping[str, NoteChunks]) -> list[Piece]:
    """Return the chunks of all notes, in order."""
    return [
        Piece(Place(path, chunk.first_line, chunk.last_line), chunk.embedded)
        for path, note in chunked.items()
        for chunk in note.chunks
    ]


def measure(
    model: MiniLM, questions: Sequence[Question], folder: Path
) -> tuple[dict[str, Ranks], dict[str, Prefetch]]:
    """Return the ranks by search, and what is told unasked by half."""
    chunked = {path: chunk_note(path, text, model.count) for path, text in notes()}
    pieces = pieces_of(chunked)
    answered = [one for one in questions if one.kind != NONE]
    searches: dict[str, Search] = {
        "grep": grep(pieces),
        "BM25": bm25(pieces),
        "dense": dense(pieces, model),
        "BM25 and dense by ranks": fused(pieces, model),
    }
    identity = f"{model.model}/{model.dimensions}"
    index = edge_index(folder / "index", identity, model.dimensions)
    memory = MemorySearch(folder, chunked, index, model, identity)
    searches["hybrid"] = memory.search
    prefetch = {
        split: prefetched(memory.recall, [one for one in questions if one.split == split])
        for split in (TUNE, HELD)
    }
    click.echo(f"{len(pieces)} pieces, floor {memory.floor:.2f}", err=True)
    return {name: ranks(search, answered) for name, search in searches.items()}, prefetch


def table(found: Mapping[str, Ranks], prefetch: Mapping[str, Prefetch]) -> str:
    """Return the results as Markdown."""
    lines = [
        (
            f"| search | recall@{LIMIT}, tune | MRR, tune | recall@{LIMIT}, held | MRR, held "
            "| ms p50 |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for name, all_ranks in found.items():
        tune, held = all_ranks.only(split=TUNE), all_ranks.only(split=HELD)
        lines.append(
            f"| {name} | {tune.recall():.3f} | {tune.mrr():.3f} "
            f"| {held.recall():.3f} | {held.mrr():.3f} | {all_ranks.milliseconds:.1f} |"
        )
    for heading, name in (("kind", "kind"), ("language of the question", "language")):
        some = next(iter(found.values()))
        values = sorted({getattr(one, name) for one in some.of})
        lines += ["", f"| {heading} | n | {' | '.join(found)} |", "|---" * (len(found) + 2) + "|"]
        for value in values:
            parts = [each.only(**{name: value}) for each in found.values()]
            shares = " | ".join(f"{part.recall():.2f}" for part in parts)
            lines.append(f"| {value} | {len(parts[0].of)} | {shares} |")
    if prefetch:
        lines += [
            "",
            "| told unasked | silent where nothing fits | right piece told |",
            "|---|---|---|",
        ]
        lines += [
            f"| {split} | {each.silent:.3f} | {each.right:.3f} |"
            for split, each in prefetch.items()
        ]
    return "\n".join([*lines, ""])


def as_results(found: Mapping[str, Ranks], prefetch: Mapping[str, Prefetch]) -> dict[str, object]:
    """Return the results for ``eval.json``."""
    recall = {
        name: {
            "ms_p50": round(each.milliseconds, 2),
            **{
                split: {
                    "recall_at_5": round(each.only(split=split).recall(), 3),
                    "mrr": round(each.only(split=split).mrr(), 3),
                    "of": len(each.only(split=split).of),
                }
                for split in (TUNE, HELD)
            },
        }
        for name, each in found.items()
    }
    told = {
        split: {"silent": round(each.silent, 3), "right": round(each.right, 3)}
        for split, each in prefetch.items()
    }
    return {"recall": recall, "prefetch": told}


def run(*, write: bool = False, misses: bool = False) -> None:
    """Measure, print, record."""
    model = MiniLM(embedding_folder(), threads=2, environ={})
    questions = load()
    with tempfile.TemporaryDirectory() as folder:
        found, prefetch = measure(model, questions, Path(folder))
    text = table(found, prefetch)
    click.echo(text)
    if misses:
        last = list(found.values())[-1]
        for question, rank in last.of.items():
            # Nobody may look at the others.
            if question.split == TUNE and not 0 < rank <= LIMIT:
                click.echo(f"{rank or '-':>3} {question.id} {question.kind}: {question.question}")
    record(as_results(found, prefetch))
    if write:
        put("make eval recall", text)


@click.command("recall")
@click.option("--write", is_flag=True, help="Put the table into the page.")
@click.option("--misses", is_flag=True, help="Name the questions that the last search misses.")
def command(*, write: bool, misses: bool) -> None:
    """Is the right piece of the notes found?"""
    run(write=write, misses=misses)
