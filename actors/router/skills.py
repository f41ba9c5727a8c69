"""Which skills fit what the user said; pure.

A skill is found as a tool is: by its vectors, or by words while the embedder is away, and always by
its name. It decides nothing about the tools.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from actors.router.evidence import LITERAL_NAME
from actors.router.keywords import THRESHOLD, KeywordIndex, words
from actors.router.selection import select
from proto.router import Hit, SkillSummary

MOST_SKILLS = 2
"""Skills of one turn: their texts cost prompt tokens, and a small model follows none of several."""

_FEWEST_WORDS = 2
"""Words that a text shares with a skill found by words: "meeting" alone asks for no minutes."""


@dataclass(frozen=True)
class Skills:
    """What is known about the skills at one moment."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the vector of each skill is made from."""
    keywords: KeywordIndex = field(default_factory=lambda: KeywordIndex(()))


def known_skills(summaries: Iterable[SkillSummary]) -> Skills:
    """Return everything that is known without an embedder."""
    texts = {each.name: (_spoken(each.name), each.description) for each in summaries}
    return Skills(texts, KeywordIndex((name, " ".join(own), ()) for name, own in texts.items()))


def fitting(
    skills: Skills, text: str, similar: Mapping[str, float] | None, threshold: float
) -> tuple[Hit, ...]:
    """Return the skills that fit, best first.

    Args:
        skills: Those that there are.
        text: What the user said.
        similar: Similarity of each to it; those that there aren't any more don't count. None to go
            by words.
        threshold: Least similarity.
    """
    if similar is None:
        similar, threshold = _similar_in_words(skills, text), THRESHOLD
    return select(
        {name: score for name, score in similar.items() if name in skills.texts},
        {name: LITERAL_NAME for name in skills.texts if _names(text, name)},
        threshold=threshold,
        limit=MOST_SKILLS,
    )


def _similar_in_words(skills: Skills, text: str) -> dict[str, float]:
    said = set(words(text))
    return {
        # Without example phrases the best score is a half.
        name: 2 * score
        for name, score in skills.keywords.scores(text).items()
        if len(said.intersection(words(" ".join(skills.texts[name])))) >= _FEWEST_WORDS
    }


def _names(text: str, name: str) -> bool:
    """Whether a text names a skill: `meeting-minutes`, or its words beside "skill"."""
    said = " ".join(re.findall(r"[\w-]+", text.casefold()))
    forms = {name, _spoken(name)}
    phrases = {f"skill {form}" for form in forms} | {f"{form} skill" for form in forms}
    if "-" in name:
        phrases.add(name)
    return any(f" {phrase} " in f" {said} " for phrase in phrases)


def _spoken(name: str) -> str:
    return name.replace("-", " ")
