"""Skills: which of them fit what was said."""

from array import array

import pytest

from actors.router.selection import vector_index
from actors.router.skills import MOST_SKILLS, Skills, fitting, known_skills
from proto.router import SkillSummary

SKILLS = known_skills(
    SkillSummary(name=name, description=description)
    for name, description in (
        ("meeting-minutes", "Turns a transcript into minutes. Use after a meeting."),
        ("weekly-review", "Looks back on the week and plans the next one."),
        ("recipes", "Writes down how a dish is cooked, with amounts for two."),
    )
)


def names(text: str, similar: dict[str, float] | None = None, skills: Skills = SKILLS) -> list[str]:
    return [hit.tool for hit in fitting(skills, text, similar, 0.38)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("turn this transcript into minutes, please", ["meeting-minutes"]),
        ("let's plan next week", ["weekly-review"]),
        ("write down how the dish is cooked", ["recipes"]),
        ("when is the meeting?", []),
        ("tell me a joke", []),
        ("", []),
    ],
)
def test_without_an_embedder_words_find_a_skill(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("follow meeting-minutes here", ["meeting-minutes"]),
        ("use the skill 'Meeting Minutes'", ["meeting-minutes"]),
        ("the recipes skill, please", ["recipes"]),
        ("skill recipes", ["recipes"]),
        ("recipes", []),
        ("no-meeting-minutes", []),
    ],
)
def test_a_skill_that_is_named_counts_whatever_its_similarity(text: str, found: list[str]) -> None:
    assert names(text, dict.fromkeys(SKILLS.texts, 0.1)) == found


@pytest.mark.parametrize(
    ("similar", "found"),
    [
        ({"recipes": 0.37}, []),
        ({"recipes": 0.38}, ["recipes"]),
        ({"recipes": 0.5, "weekly-review": 0.6}, ["weekly-review", "recipes"]),
        ({"recipes": 0.39, "weekly-review": 0.9}, ["weekly-review"]),
        ({"removed": 0.9}, []),
    ],
)
def test_similar_skills_count_that_there_are_and_that_are_near_the_best(
    similar: dict[str, float], found: list[str]
) -> None:
    assert names("x", similar) == found


def test_no_more_skills_are_found_than_a_turn_gets() -> None:
    assert len(names("x", dict.fromkeys(SKILLS.texts, 0.9))) == MOST_SKILLS


def test_a_skill_is_represented_by_its_name_in_words_and_its_description() -> None:
    skills = known_skills([SkillSummary(name="a-b", description="does c")])
    vectors = {"a b": array("f", [0, 1]), "does c": array("f", [1, 0])}
    index = vector_index("model", skills.texts, vectors)
    assert index.scores(array("f", [0, 1])) == {"a-b": pytest.approx(0.7071, abs=1e-4)}


def test_without_skills_nothing_is_found() -> None:
    assert names("follow meeting-minutes", skills=Skills()) == []
