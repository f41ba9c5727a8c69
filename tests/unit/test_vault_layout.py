"""Layouts: what a new vault begins with is sound by Eris's own rules."""

import pytest

from eris.vault.file_names import name_problem
from eris.vault.frontmatter import read
from eris.vault.layout import LAYOUTS, LayoutName
from eris.vault.skills import is_skill_file, read_skill


@pytest.fixture(params=LayoutName)
def layout(request):
    return LAYOUTS[request.param]


def test_every_folder_says_what_it_is_for(layout):
    assert {f"{folder}/README.md" for folder in layout.folders} <= set(layout.notes)
    for text in layout.notes.values():
        assert text.startswith("# ")
        assert text.endswith("\n")
        assert len(text) < 1000
        assert read(text) is None


def test_every_name_can_be_stored_on_any_system(layout):
    names = {name for path in layout.notes for name in path.split("/")}
    assert [problem for name in sorted(names) if (problem := name_problem(name))] == []


def test_eris_can_write_its_own_notes_and_skills(layout):
    for own in (layout.settings.agent_folder, *layout.settings.skills):
        locked = [path for path in layout.settings.read_only if f"{own}/".startswith(f"{path}/")]
        assert locked == []


def test_no_note_of_a_layout_is_taken_for_a_skill(layout):
    assert [path for path in layout.notes if is_skill_file(path)] == []


def test_the_plain_layout_is_a_note_and_no_setting():
    assert set(LAYOUTS[LayoutName.PLAIN].notes) == {"Welcome.md"}
    assert LAYOUTS[LayoutName.PLAIN].changed_settings == {}


def test_the_numbered_layout_has_the_five_kinds_of_notes_and_locks_the_invariants():
    layout = LAYOUTS[LayoutName.NUMBERED]
    tops = [folder for folder in layout.folders if "/" not in folder]
    assert tops == ["00_Invariants", "10_Topology", "20_Discourse", "30_Synthesis", "40_MEDIA"]
    assert layout.changed_settings == {
        "vault.read_only": ("00_Invariants",),
        "vault.agent_folder": "20_Discourse",
        "vault.skills": ("10_Topology/skills",),
        "memory.layout": "revisions",
    }


def test_the_skill_that_the_numbered_layout_shows_is_one():
    shown = LAYOUTS[LayoutName.NUMBERED].notes["10_Topology/skills/README.md"]
    lines = [line.removeprefix("    ") for line in shown.splitlines() if line.startswith("    ")]
    skill = read_skill("\n".join(lines), "10_Topology/skills/meeting-minutes/SKILL.md")
    assert skill.name == "meeting-minutes"
    assert skill.body.startswith("1. ")
