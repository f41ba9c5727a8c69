"""The questions: those of the Berkeley Function Calling Leaderboard, as tools of Eris.

Their functions become declarations as an actor would make them: argument types have Python's names
there and JSON Schema's here, and a function's name becomes `area:verb`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.gatekeeper.registry import TOOL_NAME
from proto.tools import Effect, ToolDeclaration
from tests.support import SHARED_DATA

FILE = SHARED_DATA / "bfcl-dev.jsonl"

CALLING = ("simple_python", "multiple", "live_simple")
"""Categories of questions that one function answers."""

IRRELEVANCE = "irrelevance"
"""The category in which no function fits."""

CATEGORIES = (*CALLING, IRRELEVANCE)

TUNE, HELD_OUT = "tune", "held-out"
"""Thresholds and wording are chosen on the one half; the other says what they are worth."""

_TYPES: Mapping[str, str | None] = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "any": None,
}
_LONGEST_PART = 32
_DIGEST_LETTERS = 4


@dataclass(frozen=True)
class Question:
    """A question, the tools that are offered with it, and the calls that answer it."""

    id: str
    category: str
    text: str
    """What the user says."""
    tools: tuple[ToolDeclaration, ...]
    accepted: Mapping[str, Any] | None
    """Accepted values by argument; None if no tool fits."""
    tool: str = ""
    """The tool that answers it; empty if none does."""

    @property
    def half(self) -> str:
        """`TUNE` or `HELD_OUT`, by the question's own name."""
        even = hashlib.sha256(self.id.encode()).digest()[0] % 2 == 0
        return TUNE if even else HELD_OUT


def load(file: Path = FILE, categories: Sequence[str] = CATEGORIES) -> tuple[Question, ...]:
    """Read the questions of some categories.

    Raises:
        FileNotFoundError: The file isn't there.
    """
    lines = file.read_text("utf-8").splitlines()
    questions = (question(json.loads(line)) for line in lines)
    return tuple(one for one in questions if one.category in categories)


def sample(questions: Iterable[Question], limit: int) -> tuple[Question, ...]:
    """Return at most so many questions of each category, always the same ones; 0 for all."""
    found: list[Question] = []
    counts: dict[str, int] = {}
    for one in sorted(questions, key=lambda one: hashlib.sha256(one.id.encode()).hexdigest()[2:]):
        counts[one.category] = counts.get(one.category, 0) + 1
        if not limit or counts[one.category] <= limit:
            found.append(one)
    return tuple(sorted(found, key=lambda one: CATEGORIES.index(one.category)))


def question(line: Mapping[str, Any]) -> Question:
    """Read one line of the file. What a system message says comes before the user's own words."""
    names = {function["name"]: tool_name(function["name"]) for function in line["function"]}
    truth = line["ground_truth"]
    name, accepted = next(iter(truth[0].items())) if truth else ("", None)
    return Question(
        id=line["id"],
        category=line["category"],
        text="\n\n".join(message["content"].strip() for message in line["question"][0]),
        tools=tuple(declaration(function) for function in line["function"]),
        accepted=accepted,
        tool=names[name] if name else "",
    )


def declaration(function: Mapping[str, Any]) -> ToolDeclaration:
    """Return a function as a tool without example phrases."""
    parameters = {**schema(function["parameters"]), "additionalProperties": False}
    return ToolDeclaration(
        name=tool_name(function["name"]),
        description=function["description"].strip(),
        hints=(),
        parameters=json.dumps(parameters, ensure_ascii=False),
        effect=Effect.READ,
    )


def tool_name(name: str) -> str:
    """Return a function's name in the form that tools have: ``math.factorial``, ``math:factorial``.

    What is too long is cut, with a few letters of a digest that keep it apart from others.
    """
    area, _, verb = name.lower().rpartition(".") if "." in name else name.lower().partition("_")
    proper = f"{_part(area.replace('.', '_'))}:{_part(verb)}"
    if TOOL_NAME.fullmatch(proper):
        return proper
    return f"call:{_part(name.lower().replace('.', '_'))}"


def schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function's parameters as JSON Schema."""
    found: dict[str, Any] = {}
    for keyword, value in described.items():
        match keyword:
            case "type":
                known = _TYPES.get(value, value)
                if known is not None:
                    found["type"] = known
            case "properties":
                found["properties"] = {name: schema(one) for name, one in value.items()}
            case "items":
                found["items"] = schema(value)
            case "optional" | "format":
                pass
            case _:
                found[keyword] = value
    return found


def _part(text: str) -> str:
    if len(text) <= _LONGEST_PART:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
    return f"{text[: _LONGEST_PART - _DIGEST_LETTERS - 1]}-{digest}"
