"""Skills: which files are one, what is said of those that aren't, and what a prompt gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError
from eris.vault.skills import (
    LONGEST_DESCRIPTION,
    LONGEST_FILE,
    LONGEST_NAME,
    MOST_SKILLS,
    Skill,
    is_skill_file,
    name_from,
    new_skill,
    prompt_text,
    read_skill,
    read_skills,
    skill_path,
)

PATH = "Eris/Skills/meeting-minutes/SKILL.md"
MINUTES = """\
---
name: meeting-minutes
description: Turns a transcript into minutes. Use after a meeting.
license: MIT
metadata:
  author: somebody
---

# Minutes

1. List who was there.
2. List what was decided.
"""


def skill_file(name, description="Does something."):
    return f"---\nname: {name}\ndescription: {description}\n---\nDo it.\n"


def skill(name, body):
    return Skill(name=name, description="Does something.", path=f"{name}/SKILL.md", body=body)


def test_a_skill_is_its_name_its_description_and_what_follows():
    assert read_skill(MINUTES, PATH) == Skill(
        name="meeting-minutes",
        description="Turns a transcript into minutes. Use after a meeting.",
        path=PATH,
        body="# Minutes\n\n1. List who was there.\n2. List what was decided.",
    )


READABLE = [
    (MINUTES.replace("\n", "\r\n"), "meeting-minutes"),
    ("\ufeff" + MINUTES, "meeting-minutes"),
    (skill_file("a"), "a"),
    (skill_file("größe-3"), "größe-3"),
    (skill_file("会議-メモ"), "会議-メモ"),
    (skill_file('"2026"'), "2026"),
    (skill_file("a" * LONGEST_NAME), "a" * LONGEST_NAME),
    (skill_file("a", "Use when: somebody asks"), "a"),
    (skill_file("a", "|\n  two\n  lines"), "a"),
    (skill_file("a", "x" * LONGEST_DESCRIPTION), "a"),
]


@pytest.mark.parametrize(("text", "name"), READABLE)
def test_what_people_write_is_read(text, name):
    assert read_skill(text, PATH).name == name
    assert "\n" not in read_skill(text, PATH).description


UNREADABLE = [
    # The text, what the sentence says, what the hint says.
    ("", "has no properties", "Begin it with ---"),
    ("# Minutes\n\nList who was there.\n", "has no properties", "Begin it with ---"),
    ("---\nname: a\ndescription: b\n", "has no properties", "Begin it with ---"),
    ("---\nname: [a\n---\n", "can't be read", "Correct the YAML"),
    ("---\ndescription: b\n---\n", "has no name", "`name: ...`"),
    ("---\nname:\ndescription: b\n---\n", "has no name", "`name: ...`"),
    ("---\nname: a\n---\n", "has no description", "`description: ...`"),
    (skill_file("2026"), "name of .* isn't text", "quotes"),
    (skill_file("2026-01-01"), "name of .* isn't text", "quotes"),
    (skill_file("[a, b]"), "name of .* isn't text", "quotes"),
    (skill_file("a", "[x]"), "description of .* isn't text", "quotes"),
    (skill_file("a", '"  "'), "description of .* is empty", "a sentence"),
    (skill_file("a", "x" * (LONGEST_DESCRIPTION + 1)), "has 1025 characters", "below the ---"),
    (skill_file("Meeting Minutes"), "'Meeting Minutes'", "Use meeting-minutes"),
    (skill_file("meeting_minutes"), "'meeting_minutes'", "Use meeting-minutes"),
    (skill_file("meeting--minutes"), "'meeting--minutes'", "Use meeting-minutes"),
    (skill_file("'-minutes'"), "'-minutes'", "Use minutes"),
    (skill_file("minutes-"), "'minutes-'", "Use minutes"),
    (skill_file("a" * (LONGEST_NAME + 1)), "64 characters at most", "Use a"),
    (skill_file("../../secrets"), "'../../secrets'", "Use secrets"),
    (skill_file(".obsidian"), "'.obsidian'", "Use obsidian"),
    (skill_file("a/b"), "'a/b'", "Use a-b"),
    (skill_file("'a\\b'"), "a.*b", "Use a-b"),
    (skill_file("con"), "'con'", "such as meeting-minutes"),
    (skill_file("a") + "x" * LONGEST_FILE, "more than 100000 characters", "other notes"),
]


@pytest.mark.parametrize(("text", "message", "hint"), UNREADABLE)
def test_what_is_no_skill_is_refused_with_the_field_and_what_to_do(text, message, hint):
    with pytest.raises(InvalidError, match=message) as caught:
        read_skill(text, PATH)
    assert hint in caught.value.hint
    assert len(caught.value.message) < 400


def test_a_file_that_is_no_skill_hides_none_of_the_others():
    read = read_skills(
        [(PATH, MINUTES), ("Eris/Skills/broken/SKILL.md", "---\nname: [\n---\n")],
    )
    assert [each.name for each in read.found] == ["meeting-minutes"]
    (problem,) = read.problems
    assert problem.path == "Eris/Skills/broken/SKILL.md"
    assert problem.message.endswith("Correct the YAML there.")


def test_of_two_skills_with_one_name_the_first_by_path_counts_and_the_other_is_told_of():
    files = [
        ("B/a/SKILL.md", skill_file("a", "second")),
        ("A/a/SKILL.md", skill_file("a", "first")),
    ]
    for order in (files, files[::-1]):
        read = read_skills(order)
        assert [each.description for each in read.found] == ["first"]
        (problem,) = read.problems
        assert problem.path == "B/a/SKILL.md"
        assert "taken by A/a/SKILL.md" in problem.message


def test_a_skill_in_a_folder_of_another_name_counts_and_is_told_of():
    read = read_skills([("Eris/Skills/My Minutes/SKILL.md", MINUTES)])
    assert [each.name for each in read.found] == ["meeting-minutes"]
    assert "Call the folder meeting-minutes" in read.problems[0].message


def test_a_vault_full_of_skills_is_read_up_to_a_limit():
    names = [f"s{number:04}" for number in range(MOST_SKILLS + 2)]
    read = read_skills((f"Skills/{name}/SKILL.md", skill_file(name)) for name in names)
    assert [each.name for each in read.found] == names[:MOST_SKILLS]
    assert [problem.path for problem in read.problems] == [
        f"Skills/{name}/SKILL.md" for name in names[MOST_SKILLS:]
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PATH, True),
        ("Eris/Skills/a/skill.md", True),
        ("SKILL.md", False),
        ("a/SKILLS.md", False),
        ("a/SKILL.md/b.md", False),
    ],
)
def test_a_skill_is_a_file_of_that_name_in_a_folder_of_its_own(path, expected):
    assert is_skill_file(path) is expected


NEW = [
    ("minutes", "Turns: a transcript # into minutes", "Do it."),
    ("größe-3", 'Says "yes"\nor no', "---\nname: other\ndescription: other\n---\nDo it."),
    ("2026", "- a list?", "# Heading\n\n- [ ] task"),
    ("null", "yes", "{{date}}"),
]


@pytest.mark.parametrize(("name", "description", "body"), NEW)
def test_a_new_skill_is_read_as_it_was_meant(name, description, body):
    made = read_skill(new_skill(name, description, body), skill_path("Eris/Skills", name))
    assert made.name == name
    assert made.description == " ".join(description.split())
    assert made.body == body
    assert read_skills([(made.path, new_skill(name, description, body))]).problems == ()


@pytest.mark.parametrize(
    ("name", "description", "body", "message"),
    [
        ("../a", "Does it.", "Do it.", "The name"),
        ("a", " ", "Do it.", "The description"),
        ("a", "Does it.", "\n", "The body"),
        ("a", "Does it.", "x" * LONGEST_FILE, "characters"),
    ],
)
def test_a_new_skill_that_would_not_be_read_is_not_made(name, description, body, message):
    with pytest.raises(InvalidError, match=message) as caught:
        new_skill(name, description, body)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["..", "../a", "/etc", "a/b", "a\\b", ".eris", "", "C:", "nul"])
def test_no_name_leads_out_of_the_folder_for_skills(name):
    with pytest.raises(InvalidError):
        skill_path("Eris/Skills", name)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Meeting Minutes!", "meeting-minutes"),
        ("  Größe (cm)  ", "größe-cm"),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("../..", ""),
        ("con", ""),
        ("", ""),
    ],
)
def test_a_title_gives_a_name(title, name):
    assert name_from(title) == name


@given(st.text(max_size=200))
def test_a_name_made_from_a_title_can_always_be_used(title):
    name = name_from(title)
    assert not name or skill_path("S", name) == f"S/{name}/SKILL.md"


@given(
    st.text(alphabet="ab1é-", max_size=9) | st.text(), st.text(max_size=60), st.text(max_size=300)
)
def test_whatever_is_said_a_new_skill_is_refused_or_read_as_meant(name, description, body):
    try:
        text = new_skill(name, description, body)
    except InvalidError:
        return
    made = read_skill(text, PATH)
    assert made.body == body.strip()
    assert made.description
    assert skill_path("S", made.name)


def test_a_prompt_gets_the_bodies_of_the_two_that_fit_best():
    skills = [skill(name, f"Do {name}.") for name in ("first", "second", "third")]
    assert prompt_text(skills, 1000) == "[skill first]\nDo first.\n[skill second]\nDo second.\n"
    assert prompt_text([], 1000) == ""


def lines_of(letter, count):
    return "\n".join(f"{letter} {'-' * 30}" for _ in range(count))


def test_a_long_skill_ends_after_a_whole_line_and_says_so():
    long = skill("long", lines_of("a", 100))
    text = prompt_text([long], 1000)
    assert 900 < len(text) <= 1000
    *shown, notice = text.splitlines()[1:]
    assert set(shown) == {f"a {'-' * 30}"}
    assert notice == "[shortened]"


def test_two_long_skills_share_and_what_a_short_one_leaves_is_the_others():
    long, other, short = (
        skill("a", lines_of("a", 99)),
        skill("b", lines_of("b", 99)),
        skill("c", "c"),
    )
    shared = prompt_text([long, other], 2000)
    assert 0.8 < shared.count("a --") / shared.count("b --") < 1.25
    for pair in ([long, short], [short, long]):
        text = prompt_text(pair, 2000)
        assert text.count("a --") > 1.5 * shared.count("a --")
        assert "[skill c]\nc\n" in text


@pytest.mark.parametrize("body", ["word " * 500, "漢" * 3000, "# Title\n" + "word " * 500])
def test_a_body_of_one_long_line_is_cut_within_it(body):
    assert 900 < len(prompt_text([skill("long", body)], 1000)) <= 1000


@given(st.lists(st.text(max_size=400), max_size=4), st.integers(-5, 700))
def test_a_prompt_never_gets_more_than_its_budget(bodies, budget):
    skills = [skill(f"s{number}", body) for number, body in enumerate(bodies)]
    assert len(prompt_text(skills, budget)) <= max(0, budget)
