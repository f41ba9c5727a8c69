"""The questions about the notes in ``tests/data/recall``: where their answers stand.

Half of them are held out: thresholds, weights and wording are chosen on the others, and these say
what they are worth. Some have no answer in the notes: nothing should be told unasked.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "data" / "recall"
VAULT = FOLDER / "vault"
FILE = FOLDER / "questions.jsonl"

TUNE, HELD = "tune", "held"

NONE = "none"
"""The kind of a question without an answer."""


@dataclass(frozen=True)
class Place:
    """Lines of a note that answer a question."""

    path: str
    first_line: int
    """From 1."""
    last_line: int
    answer_text: str = ""
    """What is written there, spaces and ends of lines as one space."""

    def overlaps(self, other: "Place") -> bool:
        """Return whether they have a line in common."""
        return (
            self.path == other.path
            and self.first_line <= other.last_line
            and other.first_line <= self.last_line
        )


@dataclass(frozen=True)
class Question:
    """A question, and the places of which each alone answers it."""

    id: str
    question: str
    kind: str
    language: str
    split: str
    answers: tuple[Place, ...]
    """Empty if nothing in the notes answers it."""

    def rank(self, found: list[Place]) -> int:
        """Return the place in a list, from 1, of the first that answers it; 0 if none does."""
        for rank, place in enumerate(found, start=1):
            if any(answer.overlaps(place) for answer in self.answers):
                return rank
        return 0


def load(file: Path = FILE) -> tuple[Question, ...]:
    """Read the questions."""
    return tuple(_question(json.loads(line)) for line in file.read_text("utf-8").splitlines())


def notes(folder: Path = VAULT) -> Iterator[tuple[str, str]]:
    """Yield path and text of each note, by path."""
    for file in sorted(folder.rglob("*.md")):
        yield file.relative_to(folder).as_posix(), file.read_text("utf-8")


def _question(line: dict[str, Any]) -> Question:
    answers = tuple(Place(**answer) for answer in line.pop("answers"))
    return Question(**line, answers=answers)
