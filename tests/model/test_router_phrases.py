"""How well requests find their tools, with the real embedder and the tools that are declared.

The shares are printed with ``pytest -s``; the bounds leave room for another phrase or two.
``fit`` phrases were looked at when the threshold was chosen and ``report`` phrases when the tables
of commands were; ``later`` ones were written after both.
"""

import json
import os
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.agenda.clock_tools import clock_tools
from actors.agenda.health import health_tools
from actors.agenda.tools import agenda_tools
from actors.memory.embedder import MiniLM
from actors.memory.tools import memory_tools
from actors.memory.work import batches
from actors.router.evidence import evidence, meant
from actors.router.keywords import THRESHOLD, KeywordIndex
from actors.router.selection import VectorIndex, select, vector_index
from actors.router.vectors import unpack
from actors.vault.tools import vault_tools
from eris.config import Settings
from eris.tools import Tool
from tests.embedding import embedding_folder
from tests.support import SHARED_DATA

pytestmark = pytest.mark.model

PHRASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "routing_phrases.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def declared() -> list[Tool[Any]]:
    """Every tool of the first actors; nothing is called, so they need no vault."""
    nothing: Any = None
    return [
        *vault_tools(nothing, nothing),
        *clock_tools(nothing, {}),
        *agenda_tools(nothing),
        *health_tools(nothing),
        *memory_tools(nothing),
    ]


class Bench:
    """The router's parts over the real embedder, without processes."""

    def __init__(self, model: MiniLM) -> None:
        self.model = model
        self.tools = declared()
        self.hints = [(tool.name, hint) for tool in self.tools for hint in tool.hints]
        self.keywords = KeywordIndex(
            (tool.name, tool.description, tool.hints) for tool in self.tools
        )
        self.index = self.indexed(
            {tool.name: (tool.description, *tool.hints) for tool in self.tools}
        )

    def vectors(self, texts: Sequence[str]) -> dict[str, "array[float]"]:
        found: dict[str, array[float]] = {}
        for batch in batches(texts):
            own = [texts[index] for index in batch]
            packed = b"".join(self.model.embed(own))
            found |= dict(zip(own, unpack(packed, self.model.dimensions, len(own)), strict=True))
        return found

    def indexed(self, texts: dict[str, tuple[str, ...]]) -> VectorIndex:
        every = sorted({text for own in texts.values() for text in own})
        return vector_index(self.model.model, texts, self.vectors(every))

    def found(self, text: str, *, semantic: bool) -> list[str]:
        if semantic:
            similar = self.index.scores(self.vectors([text])[text])
            threshold = Settings().router.threshold
        else:
            similar, threshold = self.keywords.scores(text), THRESHOLD
        literal = evidence(text, [tool.name for tool in self.tools], self.hints)
        hits = select(
            meant(text, similar), literal, threshold=threshold, limit=Settings().router.limit
        )
        return [hit.tool for hit in hits]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(MiniLM(embedding_folder(), threads=1, environ={}))


@pytest.mark.parametrize(
    ("split", "semantic", "first", "offered", "nothing"),
    [
        ("fit", True, 0.95, 0.95, 0.95),
        ("report", True, 0.95, 0.95, 0.95),
        ("later", True, 0.9, 0.9, 0.8),
        ("fit", False, 0.9, 0.9, 0.95),
        ("report", False, 0.9, 0.9, 0.95),
        ("later", False, 0.7, 0.7, 0.85),
    ],
)
def test_requests_find_their_tool_and_conversation_finds_none(
    bench: Bench, split: str, semantic: bool, first: float, offered: float, nothing: float
) -> None:
    results = [
        (phrase["tool"], bench.found(phrase["text"], semantic=semantic))
        for phrase in PHRASES
        if phrase["split"] == split
    ]
    wanted = [(tool, found) for tool, found in results if tool]
    conversation = [found for tool, found in results if not tool]
    shares = (
        sum(found[:1] == [tool] for tool, found in wanted) / len(wanted),
        sum(tool in found for tool, found in wanted) / len(wanted),
        sum(not found for found in conversation) / len(conversation),
    )
    mode = "semantic" if semantic else "keywords"
    print(f"{split}, {mode}: first {shares[0]:.3f}, offered {shares[1]:.3f}, "
          f"nothing for conversation {shares[2]:.3f}")  # fmt: skip
    assert shares[0] >= first
    assert shares[1] >= offered
    assert shares[2] >= nothing


def test_the_right_one_of_199_tools_is_among_the_first_five(bench: Bench) -> None:
    questions = SHARED_DATA / "metatool-dev.jsonl"
    if not questions.is_file() or not os.environ.get("ERIS_SLOW_TESTS"):
        pytest.skip("needs the MetaTool questions and ERIS_SLOW_TESTS=1")
    descriptions = json.loads((SHARED_DATA / "metatool-tools.json").read_text("utf-8"))
    hints = json.loads((SHARED_DATA / "metatool-hints.json").read_text("utf-8"))
    index = bench.indexed({name: (text, *hints[name]) for name, text in descriptions.items()})
    asked = [json.loads(line) for line in questions.read_text("utf-8").splitlines()[:1000]]
    vectors = bench.vectors([one["query"] for one in asked])
    ranks = []
    for one in asked:
        scores = index.scores(vectors[one["query"]])
        ranks.append(sum(score > scores[one["tool"]] for score in scores.values()))
    recall = {limit: sum(rank < limit for rank in ranks) / len(ranks) for limit in (1, 3, 5, 10)}
    print(f"recall among 199 tools: {recall}")
    assert recall[5] >= 0.85
