"""Two changes of one note are both kept if they don't touch, and otherwise neither is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.vault.line_changes import line_changes, lines_of, unified
from eris.vault.merge import Collision, merge

BASE = "title\n\none\ntwo\nthree\nfour\nfive\n"

MERGED = {
    "only we changed": (BASE, BASE.replace("one", "1"), BASE, BASE.replace("one", "1")),
    "only they changed": (BASE, BASE, BASE.replace("two", "2"), BASE.replace("two", "2")),
    "both the same": ("a\nb\n", "a\nB\n", "a\nB\n", "a\nB\n"),
    "far apart": (
        BASE,
        BASE.replace("one\n", "1\n"),
        BASE.replace("five", "5"),
        BASE.replace("one\n", "1\n").replace("five", "5"),
    ),
    "we add on top, they at the end": ("a\nb\nc\n", "0\na\nb\nc\n", "a\nb\nc\nd\n",
                                       "0\na\nb\nc\nd\n"),
    "we delete, they add elsewhere": (BASE, BASE.replace("one\n", ""), BASE + "six\n",
                                      BASE.replace("one\n", "") + "six\n"),
    "both make one of two changes": (
        BASE,
        BASE.replace("title", "Title").replace("three", "3"),
        BASE.replace("title", "Title").replace("five", "5"),
        BASE.replace("title", "Title").replace("three", "3").replace("five", "5"),
    ),
    "Windows lines": ("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC", "A\r\nb\r\nC"),
    "no final newline": ("a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"),
    "other separators don't end lines": ("a\x0bb\u2028c\n-\nd\n", "a\x0bB\u2028c\n-\nd\n",
                                         "a\x0bb\u2028c\n-\nD\n", "a\x0bB\u2028c\n-\nD\n"),
    "several changes on both sides": (
        "".join(f"{n}\n" for n in range(20)),
        "".join(f"{n}\n" for n in range(20) if n not in {3, 11}),
        "".join(f"{n}\n" + ("new\n" if n in {6, 16} else "") for n in range(20)),
        "".join(f"{n}\n" + ("new\n" if n in {6, 16} else "") for n in range(20)
                if n not in {3, 11}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("base", "ours", "theirs", "both"), MERGED.values(), ids=MERGED.keys())
def test_changes_that_do_not_touch_are_both_kept(base, ours, theirs, both):
    assert merge(base, ours, theirs).text == both
    assert merge(base, theirs, ours).text == both
    assert merge(base, ours, theirs).collisions == ()


COLLISIONS = {
    "one line": ("a\nb\nc\n", "a\nB\nc\n", "a\n2\nc\n", Collision(2, "b\n", "B\n", "2\n")),
    "neighbouring lines": ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n",
                           Collision(2, "b\nc\n", "B\nc\n", "b\nC\n")),
    "both add at one place": ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", Collision(2, "", "x\n", "y\n")),
    "both add at the end": ("a\n", "a\nx\n", "a\ny\n", Collision(2, "", "x\n", "y\n")),
    "one deletes what the other changes": ("a\nb\nc\n", "a\nc\n", "a\nB\nc\n",
                                           Collision(2, "b\n", "", "B\n")),
    "one empties all": ("a\nb\n", "", "a\nB\n", Collision(1, "a\nb\n", "", "a\nB\n")),
    "an end of line": ("a", "a\nb", "a\nc", Collision(1, "a", "a\nb", "a\nc")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "collision"), COLLISIONS.values(), ids=COLLISIONS.keys()
)
def test_changes_that_touch_leave_their_text_alone_and_are_named(base, ours, theirs, collision):
    merged = merge(base, ours, theirs)
    assert merged.text == theirs
    assert merged.collisions == (collision,)


texts = st.lists(st.sampled_from(["a", "b", "c", "\r", "dd", "é"]), max_size=12).map("\n".join)


@given(texts, texts, texts)
def test_a_merge_is_the_same_from_both_sides_and_total(base, ours, theirs):
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert bool(one.collisions) == bool(other.collisions)
    if not one.collisions:
        assert one.text == other.text
    assert merge(base, ours, base).text == ours
    assert merge(base, base, theirs).text == theirs


@given(texts, texts, texts, texts, st.integers(2, 5))
def test_changes_on_two_sides_of_an_untouched_block_always_merge(a, b, c, d, lines):
    fence = "".join(f"\nfence {number}\n" for number in range(lines))
    merged = merge(a + fence + b, c + fence + b, a + fence + d)
    assert not merged.collisions
    assert merged.text == c + fence + d


@given(texts, texts)
def test_the_changes_between_two_texts_lead_from_one_to_the_other(old, new):
    old_lines, new_lines = lines_of(old), lines_of(new)
    assert "".join(old_lines) == old
    rebuilt, done = [], 0
    for change in line_changes(old_lines, new_lines):
        rebuilt += old_lines[done : change.start] + new_lines[change.new_start : change.new_end]
        done = change.end
    assert "".join(rebuilt + old_lines[done:]) == new


def test_a_merge_of_very_long_and_repetitive_notes_ends():
    base = "- [ ] task\n\n" * 20_000
    ours = base.replace("task", "TASK", 1)
    theirs = base + "done\n"
    assert merge(base, ours, theirs).text == ours + "done\n"
    scattered = "".join("x\n\n" if n % 50 == 0 else line for n, line in enumerate(lines_of(base)))
    assert merge(base, scattered, theirs).text.count("x\n") == 800


def test_a_unified_diff_says_where_the_last_line_has_no_end():
    assert unified("a\nb", "a\nc\n", "before", "after") == (
        "--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )
    assert unified("a", "a", "x", "y") == ""
