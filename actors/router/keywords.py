"""Finding tools by words alone, for when the embedder is away.

Each tool is a bag of words from its name, description and hints, weighted by how few tools share
them. A text scores by the share of its own meaningful words that a tool knows, and by how well it
matches the tool's best hint; small talk has no word in common with any tool and finds nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

THRESHOLD = 0.4
"""Least score of a tool that is found by words alone. Words are poorer evidence than vectors."""

_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")

STOP_WORDS = frozenset(
    word
    for line in (
        "a an the and or but if so of to in on at by for from with about as into is are was were",
        "be been am do does did has have had can could will would shall should may might must",
        "i me my mine you your we us our he she it its they them their this that these those",
        "there here what which who how why when where not no yes please just some any all much",
        "many more very too also than then tell say says show give get let want need like",
        "good great fine okay ok thing things something anything everything hello hi hey thanks",
        "thank der die das ein eine einen und oder ich du er sie es wir ihr mir mich dir ist sind",
        "war hat habe haben in im am an auf zu zum zur von mit für was wie wer wo wann bitte danke",
        "ja nein nicht",
    )
    for word in line.split(" ")
)
"""Words that say nothing about which tool is meant."""


def words(text: str) -> tuple[str, ...]:
    """Return the meaningful words of a text, in lower case and without common endings."""
    found = (match.group().casefold().removesuffix("'s") for match in _WORD.finditer(text))
    return tuple(_stem(word) for word in found if word not in STOP_WORDS)


_ENDINGS = re.compile(r"(?<=\w{3})(?:ing|ed|(?<=[sxz])es|(?<=[cs]h)es|(?<!s)s)$")


def _stem(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word.removesuffix("ies") + "y"
    return _ENDINGS.sub("", word)


@dataclass(frozen=True)
class Entry:
    """The words of one tool."""

    tool: str
    vocabulary: frozenset[str]
    hints: tuple[frozenset[str], ...]


class KeywordIndex:
    """All tools' words and their weights."""

    def __init__(self, tools: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """Index tools given as name, description and hints."""
        self._entries = tuple(
            Entry(
                tool=name,
                vocabulary=frozenset(words(" ".join((name, description, *hints)))),
                hints=tuple(frozenset(words(hint)) for hint in hints),
            )
            for name, description, hints in tools
        )
        spread = Counter(word for entry in self._entries for word in entry.vocabulary)
        total = len(self._entries)
        self._weights: Mapping[str, float] = {
            word: math.log(1 + (total + 1) / count) for word, count in spread.items()
        }
        # A word that no tool knows counts as if one did: it speaks against every tool.
        self._unknown = math.log(2 + total)

    def scores(self, text: str) -> dict[str, float]:
        """Return the score of every tool that shares a word with the text, between 0 and 1."""
        said = frozenset(words(text))
        if not said:
            return {}
        found = {}
        for entry in self._entries:
            known = said & entry.vocabulary
            if not known:
                continue
            coverage = self._weight(known) / self._weight(said)
            best = max((self._similarity(said, hint) for hint in entry.hints), default=0.0)
            found[entry.tool] = (coverage + max(best, coverage * best)) / 2
        return found

    def _similarity(self, said: frozenset[str], hint: frozenset[str]) -> float:
        """Weighted Jaccard similarity."""
        shared = said & hint
        return self._weight(shared) / self._weight(said | hint) if shared else 0.0

    def _weight(self, group: Iterable[str]) -> float:
        return sum(self._weights.get(word, self._unknown) for word in group)
