"""Edits of notes, and that each leaves every byte outside of what it says as it was."""

import datetime as dt
from bisect import bisect_left
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError, NotFoundError
from eris.vault.anchors import find_anchor
from eris.vault.editing import (
    appended,
    inserted_under,
    prepended,
    replaced,
    with_block,
    with_section,
)
from eris.vault.markdown import parse
from eris.vault.sections import heading_named, own_text
from eris.vault.tasks import tasks_of, ticked, unticked, with_task

CORPUS = {
    path.stem: path.read_bytes().decode()
    for path in sorted((Path(__file__).parents[1] / "data" / "vault").glob("*.md"))
}
CORPUS |= {
    "a line of a megabyte": "# A\n\n"
    + ("[[x]] #tag" + " word" * 200) * 1_000
    + "^long\n\n## B\n- [ ] b\n",
    "quotes in quotes": "# A\n\n" + "> " * 10_000 + "deep\n\n- [ ] b\n",
    "brackets": "# A\n" + "[" * 50_000 + "\n",
    "many headings": "".join(f"## H{number}\ntext\n" for number in range(2_000)),
    "only spaces": "   \n \t\n",
}
ADDITION = "added *by* a test\n\n- with [[Link]]"
NOTES = st.one_of(
    st.sampled_from(sorted(CORPUS.values(), key=len)[:-4]),
    st.lists(
        st.sampled_from(
            ["# A", "## B", "text", "- a", "  b", "> q", "", "", "| a |", "|---|", "```", "%%",
             "---", "===", "x ^id", "^id2", "\ttab", "1. [ ] t", "<div>", "[r]: x", "$$", "* * *"]
        ),
        max_size=10,
    ).map("\n".join),
)  # fmt: skip
ADDITIONS = st.sampled_from(
    [
        "text",
        "- a",
        "# H",
        "> q",
        "| a |",
        "---",
        "===",
        "```\nx\n```",
        "a\n\nb",
        "    code",
        "1. x",
    ]
)


def put_in(text, changed):
    """Return what an edit put in, told from one that changed something else."""
    differs = range(len(text) + 1)
    start = bisect_left(differs, 1, key=lambda end: not changed.startswith(text[:end])) - 1
    assert changed.endswith(text[start:]), "more than an insertion"
    return changed[start : len(changed) - len(text) + start]


def unambiguous(note):
    """Return the first headings that no other has the title of."""
    titles = [heading.title for heading in note.headings]
    return [heading for heading in note.headings[:3] if titles.count(heading.title) == 1]


def letters(text):
    return sorted(text.replace("\n", "").replace("\r", ""))


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_what_is_added_to_the_corpus_is_all_that_changes(text):
    note = parse(text)
    edits = [appended(text, ADDITION), prepended(text, ADDITION)]
    titles = [heading.title for heading in unambiguous(note)]
    edits += [inserted_under(text, title, ADDITION) for title in titles]
    for changed in edits:
        assert letters(put_in(text, changed)) == letters(ADDITION)
        assert changed.startswith(text[: note.body_start].rstrip("\r\n"))
        assert changed.count("\n") >= text.count("\n")
        if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
            assert "\n" not in changed.replace("\r\n", "")
    assert letters(put_in(text, with_task(text, "a task")))[1:].count("k") == 1


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_what_is_replaced_in_the_corpus_is_all_that_changes(text):
    note = parse(text)
    for heading in unambiguous(note):
        changed = with_section(text, heading.title, "new text")
        old = own_text(note, heading)
        assert changed.startswith(text[: heading.span.end])
        assert changed.endswith(text[old.end :])
        after = parse(changed)
        assert "new text" in own_text(after, heading_named(after, heading.title)).of(changed)
    for block in note.blocks:
        changed = with_block(text, block.name, "new text")
        assert changed.startswith(text[: block.span.start])
        assert changed.endswith(text[block.span.end :])
        assert block.name in {each.name for each in parse(changed).blocks}
    word = max(text[note.body_start :].split(), default="")
    if word:
        changed = replaced(text, word, "new\nline", count=None)
        pieces = text[note.body_start :].split(word)
        for piece in pieces[:50]:
            assert piece in changed
        assert changed.startswith(text[: note.body_start])


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_a_ticked_task_of_the_corpus_is_all_that_changes(text):
    today = dt.date(2027, 1, 5)
    for task in tasks_of(parse(text))[:5]:
        mark = task.place.mark
        assert ticked(text, task.line, today=today) in {
            text[: mark.start] + "x" + text[mark.end :], text
        }  # fmt: skip
        assert unticked(text, task.line) == (
            text if task.open else text[: mark.start] + " " + text[mark.end :]
        )


@given(NOTES, ADDITIONS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_an_addition_changes_nothing_else_and_joins_no_other_block(text, addition, line_end, bom):
    text = "\ufeff" * bom + text.removeprefix("\ufeff").replace("\r\n", "\n").replace(
        "\n", line_end
    )
    note = parse(text)
    headings = [each.title for each in note.headings]
    for changed in (appended(text, addition), prepended(text, addition)):
        assert letters(put_in(text, changed)) == letters(addition)
        after = parse(changed)
        assert after.properties == note.properties
        if addition in {"text", "- a", "> q", "1. x"} and _plain_at_its_ends(text):
            assert [each.title for each in after.headings] == headings
    for title in headings:
        if headings.count(title) == 1 and title:
            changed = inserted_under(text, title, addition)
            assert letters(put_in(text, changed)) == letters(addition)


def _plain_at_its_ends(text):
    """Whether nothing that hides what follows is open, nor anything indented that an item takes."""
    probe = parse(f"{text}\n\n# probe")
    first = text[probe.body_start :].lstrip("\r\n")
    return "probe" in {each.title for each in probe.headings} and first[:1] not in {" ", "\t"}


@pytest.mark.parametrize(
    ("before", "addition", "after"),
    [
        ("", "a", "a\n"),
        ("\ufeff", "a", "\ufeffa\n"),
        ("text\n", "a", "text\na\n"),
        ("text", "a", "text\na"),
        ("text\r\n", "a\nb", "text\r\na\r\nb\r\n"),
        ("text\n\n", "a", "text\n\na\n"),
        ("text\n", "\n\na\n\n", "text\na\n"),
        ("- x\n", "- a", "- x\n- a\n"),
        ("- x\n  y\n", "- a", "- x\n  y\n- a\n"),
        ("- x\n", "a", "- x\n\na\n"),
        ("> x\n", "a", "> x\n\na\n"),
        ("| x |\n|---|\n", "| a |", "| x |\n|---|\n| a |\n"),
        ("| x |\n|---|\n", "a", "| x |\n|---|\n\na\n"),
        ("text\n", "---", "text\n\n---\n"),
        ("text\n", "# A", "text\n\n# A\n"),
        ("text ^id\n", "a", "text ^id\n\na\n"),
        ("> x\n", "> [!note] a", "> x\n\n> [!note] a\n"),
        ("# A\n", "a", "# A\na\n"),
        ("---\na: b\n---\n", "a", "---\na: b\n---\na\n"),
        ("---\na: b\n---", "a", "---\na: b\n---\na"),
    ],
)
def test_appending(before, addition, after):
    assert appended(before, addition) == after


@pytest.mark.parametrize(
    ("before", "addition", "after"),
    [
        ("", "a", "a\n"),
        ("text", "a", "a\n\ntext"),
        ("\ufefftext\r\n", "a", "\ufeffa\r\n\r\ntext\r\n"),
        ("---\na: b\n---\ntext\n", "a", "---\na: b\n---\na\n\ntext\n"),
        ("| a |\n|---|\n", "| b |", "| b |\n\n| a |\n|---|\n"),
        ("> [!note]\n", "> a", "> a\n\n> [!note]\n"),
        ("---\na: b\n---\n\ntext\n", "a", "---\na: b\n---\na\n\ntext\n"),
        ("---\na: b\n---", "a", "---\na: b\n---\na"),
        ("# T\n", "a", "a\n# T\n"),
        ("- x\n", "- a", "- a\n- x\n"),
        ("===\n", "a", "a\n\n===\n"),
    ],
)
def test_prepending(before, addition, after):
    assert prepended(before, addition) == after


SECTIONS = "# A\n\nown\n\n## B\n- b\n\n---\n\n## C\n\n# D\n%% hidden %%\n"


@pytest.mark.parametrize(
    ("before", "heading", "addition", "after"),
    [
        (SECTIONS, "A", "a", "# A\n\nown\na\n\n## B\n- b\n\n---\n\n## C\n\n# D\n%% hidden %%\n"),
        (
            SECTIONS,
            "B",
            "- a",
            "# A\n\nown\n\n## B\n- b\n- a\n\n---\n\n## C\n\n# D\n%% hidden %%\n",
        ),
        (SECTIONS, "C", "a", "# A\n\nown\n\n## B\n- b\n\n---\n\n## C\na\n\n# D\n%% hidden %%\n"),
        (SECTIONS, "D", "a", "# A\n\nown\n\n## B\n- b\n\n---\n\n## C\n\n# D\na\n\n%% hidden %%\n"),
        ("# A", "A", "a", "# A\na"),
        ("A\n=\nx", "A", "a", "A\n=\nx\na"),
        ("# A\nx  \n# B", "A", "a", "# A\nx  \na\n# B"),
        ("# A\n- x\n    - y\n\n# B", "A", "- a", "# A\n- x\n    - y\n- a\n\n# B"),
        ("# A\r\n# B\r\n", "A", "a\nb", "# A\r\na\r\nb\r\n# B\r\n"),
    ],
)
def test_inserting_under_a_heading(before, heading, addition, after):
    assert inserted_under(before, heading, addition) == after


@pytest.mark.parametrize(
    ("before", "heading", "content", "whole", "after"),
    [
        ("# A\n\nold\nmore\n\n## B\nb\n", "A", "new", False, "# A\n\nnew\n\n## B\nb\n"),
        ("# A\n\nold\n\n## B\nb\n\n# C\n", "A", "new", True, "# A\n\nnew\n\n# C\n"),
        ("# A\nold", "A", "# A\n\nnew\n", False, "# A\nnew"),
        ("# A\n\n# B\n", "A", "new", False, "# A\nnew\n\n# B\n"),
        ("# A\r\nold\r\n", "A", "new\nlines", False, "# A\r\nnew\r\nlines\r\n"),
        ("# A\nold\n\n# B\n", "A", "", False, "# A\n\n\n# B\n"),
        ("# A\n# B\n", "A", "", False, "# A\n# B\n"),
        ("# A\nold\n# B\n", "A", "    code", False, "# A\n    code\n# B\n"),
    ],
)
def test_replacing_a_section(before, heading, content, whole, after):
    assert with_section(before, heading, content, whole=whole) == after


@pytest.mark.parametrize(
    ("before", "name", "content", "after"),
    [
        ("one\ntwo ^b\n\nthree", "b", "new", "new ^b\n\nthree"),
        ("one ^b\r\n", "^b", "new\nmore ^b", "new\r\nmore ^b\r\n"),
        ("- [ ] one ^b\n- two", "B", "new", "- [ ] new ^b\n- two"),
        ("- one ^b\n  - part\n- two", "b", "* new\n  - other", "* new ^b\n  - other\n- two"),
        ("  1. one ^b\n", "b", "new\nmore", "  1. new\n     more ^b\n"),
        ("> - x\n> one ^b\n", "b", "new\nmore", None),
        ("> one ^b\n> \n> two", "b", "new\nmore", "> new\n> more ^b\n> \n> two"),
        ("## One ^b\ntext", "b", "New", "## New ^b\ntext"),
        ("| a |\n|---|\n\n^b\n", "b", "new", "new\n\n^b\n"),
        ("one ^b\n", "b", "| a |\n|---|\n| c |", "| a |\n|---|\n| c |\n\n^b\n"),
        ("```\nx\n```\n^b", "b", "```\ny\n```", "```\ny\n```\n^b"),
    ],
)
def test_replacing_a_block(before, name, content, after):
    if after is None:  # the id is on a line that continues the item
        assert parse(with_block(before, name, content)).blocks
    else:
        assert with_block(before, name, content) == after


@pytest.mark.parametrize(
    ("before", "old", "new", "count", "after"),
    [
        ("a b a", "b", "c", 1, "a c a"),
        ("a b a", "a", "c", 2, "c b c"),
        ("a b a", "a", "", None, " b "),
        ("a.b", ".", "\\1", 1, "a\\1b"),
        ("a\r\nb\r\n", "a\nb", "c\nd", 1, "c\r\nd\r\n"),
        ("---\nx: a\n---\na", "a", "b", 1, "---\nx: a\n---\nb"),
        ("aaa", "aa", "b", 1, "ba"),
    ],
)
def test_replacing_text(before, old, new, count, after):
    assert replaced(before, old, new, count) == after


def test_a_text_that_is_there_more_often_is_told_with_its_lines():
    with pytest.raises(InvalidError) as caught:
        replaced("milk\neggs\nmilk and milk\n", "milk", "oat milk")
    assert "3 times in the note, not once: lines 1, 3, 3" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("# Plan\nBuy the milk today\n", "buy milk today", "line 2: `Buy the milk today`"),
        ("# Plan\nBuy milk\n", "zzzz", "Nothing in the note is like it"),
        ("---\nstatus: draft\n---\nBody\n", "draft", "set the property"),
        ("", "a", "Nothing"),
    ],
)
def test_a_text_that_is_not_there_is_answered_with_the_nearest_line(text, old, hint):
    with pytest.raises(NotFoundError) as caught:
        replaced(text, old, "x")
    assert hint in caught.value.hint


HEADINGS = "# Plan\n## Log\n# Notes: C#\n## log\n### Deep **one** ^id\nTwo\nlines\n---\n"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Plan", 1),
        ("# Plan", 1),
        ("## Plan", 1),
        ("#Plan", 1),
        ("plan", 1),
        (" Log ", 2),
        ("log", 4),
        ("Plan#log", 2),
        ("Notes: C##log", 4),
        ("notes c#log", 4),
        ("Notes: C#", 3),
        ("notes c", 3),
        ("deep one", 5),
        ("Notes c#Deep **one**", 5),
        ("### Deep **one**", 5),
        ("Two lines", 6),
    ],
)
def test_headings_are_found_as_people_name_them(name, line):
    note = parse(HEADINGS)
    assert note.line(heading_named(note, name).span.start) == line


def test_a_heading_of_several_is_refused_with_their_lines():
    note = parse("# A\n## Log\n# B\n## Log\n")
    with pytest.raises(InvalidError) as caught:
        heading_named(note, "Log")
    assert "line 2 (`## Log`), line 4 (`## Log`)" in str(caught.value)
    assert note.line(heading_named(note, "B#Log").span.start) == 4
    with pytest.raises(InvalidError):
        heading_named(note, "LOG")


def test_a_heading_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(NotFoundError) as caught:
        heading_named(parse("# A\n## B\n"), "C")
    assert "`# A`, `## B`" in caught.value.hint
    with pytest.raises(NotFoundError) as caught:
        heading_named(parse(CORPUS["many headings"]), "H 1234")
    assert "`## H1234`" in caught.value.hint
    assert len(caught.value.hint) < 500


def test_a_block_of_several_and_one_that_is_not_there():
    text = "a ^x\n\nb ^x\n\nc ^y\n"
    assert with_block(text, "x", "new") == "new ^x\n\nb ^x\n\nc ^y\n"
    assert find_anchor(parse(text), "^x").of(text) == "a ^x"
    assert with_block("a ^X\n\nb ^x\n", "x", "new") == "a ^X\n\nnew ^x\n"
    with pytest.raises(NotFoundError) as caught:
        with_block(text, "z", "new")
    assert "^x, ^x, ^y" in caught.value.hint


@pytest.mark.parametrize("nothing", ["", " \n\t\n"])
def test_nothing_cannot_be_added(nothing):
    for edit in (appended, prepended):
        with pytest.raises(InvalidError):
            edit("text", nothing)
    with pytest.raises(InvalidError):
        inserted_under("# A\n", "A", nothing)
    with pytest.raises(InvalidError):
        replaced("text", nothing, "x")
