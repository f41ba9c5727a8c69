"""Daily notes, templates, and the file names that titles get."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError
from eris.vault.daily import daily_path, date_of
from eris.vault.file_names import name_problem
from eris.vault.link_syntax import fits_wiki_link
from eris.vault.moment import ISO_WEEKS
from eris.vault.settings import Settings
from eris.vault.templates import filled_in
from eris.vault.titles import name_for_title

DAY = dt.date(2026, 12, 3)


@pytest.mark.parametrize(
    ("folder", "pattern", "path"),
    [
        ("", "YYYY-MM-DD", "2026-12-03.md"),
        ("Journal", "YYYY-MM-DD", "Journal/2026-12-03.md"),
        ("a/b", "YYYY/MM-MMMM/YYYY-MM-DD-dddd", "a/b/2026/12-December/2026-12-03-Thursday.md"),
        ("Journal", "/YYYY//[Day] D-MM", "Journal/2026/Day 3-12.md"),
        ("", "gggg-[W]ww-e", "2026-W49-3.md"),
        ("", "YYYY-MM-DD[.md]", "2026-12-03.md"),
        ("", "dddd, MMMM Do YYYY", "Thursday, December 3rd 2026.md"),
    ],
)
def test_a_day_has_its_note_where_the_settings_say(folder, pattern, path):
    settings = Settings(daily_folder=folder, daily_format=pattern)
    assert daily_path(DAY, settings, ISO_WEEKS) == path
    assert date_of(path, settings, ISO_WEEKS) == DAY


@pytest.mark.parametrize("pattern", ["[../]YYYY-MM-DD", "[.]YYYY", "[ ]", "YYYY/[..]/DD"])
def test_a_format_that_leaves_the_folder_or_hides_the_note_is_refused(pattern):
    with pytest.raises(InvalidError, match="is no path for a note"):
        daily_path(DAY, Settings(daily_format=pattern))


@pytest.mark.parametrize(
    "path",
    [
        "2026-12-03.md",
        "Journal/2026-12-3.md",
        "Journal/2026-12-03 plan.md",
        "Journal/old/2026-12-03.md",
        "Journal/2026-13-03.md",
        "Journal/2026-12-03.png",
        "Journal/.md",
    ],
)
def test_other_notes_are_of_no_day(path):
    assert date_of(path, Settings(daily_folder="Journal")) is None


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("# {{title}}\n{{date}} {{time}}", "# Plan \\1 {{date}}\n3.12.2026 08:05"),
        ("{{date:dddd, Do}} {{time:HH.mm:ss}}", "Thursday, 3rd 08.05:09"),
        ("{{ Date : YYYY }}{{TITLE}}", "2026Plan \\1 {{date}}"),
        ("{{time:YYYY}} {{date:[at] HH}}", "2026 at 08"),
        ("{{date:}}", "3.12.2026"),
        ("{{date:YYYY}}-{{date:MM}}", "2026-12"),
        ("{{cursor}} {{date+1d}} {{ x }} {{{title", "{{cursor}} {{date+1d}} {{ x }} {{{title"),
        ("{{date\n}} \r\n<% tp.date %>", "{{date\n}} \r\n<% tp.date %>"),
    ],
)
def test_a_template_is_filled_in_and_what_is_unknown_stays(template, text):
    moment = dt.datetime(2026, 12, 3, 8, 5, 9, tzinfo=dt.UTC)
    settings = Settings(date_format="D.M.YYYY")
    assert filled_in(template, "Plan \\1 {{date}}", moment, settings) == text


@pytest.mark.parametrize(
    ("title", "name", "alias"),
    [
        ("Water the plants", "Water the plants.md", None),
        # V14
        ("Coupon Enable/Disable Feature", "Coupon Enable-Disable Feature.md", True),
        ("Plan: now", "Plan - now.md", True),
        ('What? "Why" * <b> |', "What - 'Why' - b.md", True),
        ("CON", "CON note.md", True),
        ("Wait...", "Wait.md", True),
        ("../../etc/passwd", "etc-passwd.md", True),
        (".hidden", "hidden.md", True),
        ("Follow-up 2026-12-03", "Follow-up 2026-12-03.md", None),
        ("C# [draft] #5 ^a", "C (draft) 5 a.md", True),
        ("v1.2", "v1.2.md", None),
        ("Node.js", "Node.js.md", None),
        ("Cafe\u0301", "Café.md", None),
        ("  two \n lines ", "two lines.md", None),
        ("???", "Untitled.md", True),
        ("", "Untitled.md", None),
    ],
)
def test_a_title_becomes_one_sound_name_and_is_kept_as_an_alias(title, name, alias):
    assert name_for_title(title) == (name, title if alias else None)


@given(st.text(max_size=300))
def test_any_title_becomes_one_name_that_every_system_and_link_can_have(title):
    name, alias = name_for_title(title)
    assert name.endswith(".md")
    assert "/" not in name
    assert not name.startswith(".")
    assert name_problem(name) == ""
    assert fits_wiki_link(name.removesuffix(".md"))
    assert alias is None or alias.split() != [name.removesuffix(".md")]
