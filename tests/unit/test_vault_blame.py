"""Every line of a note is told with the step that wrote it, or as nobody's of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.vault.blame import Written, blame
from eris.vault.line_changes import lines_of

CASES = {
    "never written by us": ([], "a\nb\n", [None, None]),
    "created whole": ([(1, "", "a\nb\n")], "a\nb\n", [1, 1]),
    "appended to the user's": ([(1, "a\n", "a\nb\n")], "a\nb\n", [None, 1]),
    "two steps": ([(1, "", "a\n"), (2, "a\n", "a\nb\n")], "a\nb\n", [1, 2]),
    "a line changed later": ([(1, "", "a\nb\nc\n"), (2, "a\nb\nc\n", "a\nB\nc\n")], "a\nB\nc\n",
                             [1, 2, 1]),
    "the user edits between": ([(1, "", "a\n"), (2, "a\nmine\n", "a\nmine\nb\n")],
                               "a\nmine\nb\n", [1, None, 2]),
    "the user edits after": ([(1, "", "a\nb\n")], "a\nB\nb\n", [1, None, 1]),
    "moved down by the user": ([(1, "", "a\n")], "x\ny\na\n", [None, None, 1]),
    "a step undone": ([(1, "", "a\n"), (2, "a\n", "a\nb\n"), (3, "a\nb\n", "a\n")], "a\n", [1]),
    "an undo brings the writers back": ([(1, "", "a\nb\n"), (2, "a\nb\n", "a\n"),
                                         (3, "a\n", "a\nb\n")], "a\nb\n", [1, 1]),
    "the user takes a step back": ([(1, "u\n", "u\na\n"), (2, "u\na\n", "u\n")], "u\na\n",
                                   [None, 1]),
    "removed and made anew": ([(1, "", "a\n"), (2, "a\n", ""), (3, "", "b\n")], "b\n", [3]),
    "an empty note": ([(1, "", "a\n")], "", []),
    "no final newline": ([(1, "a", "a\nb")], "a\nb", [1, 1]),
    "Windows lines": ([(1, "a\r\n", "a\r\nb\r\n")], "a\r\nb\r\n", [None, 1]),
}  # fmt: skip


@pytest.mark.parametrize(("writes", "now", "writers"), CASES.values(), ids=CASES.keys())
def test_each_line_has_the_step_that_wrote_it(writes, now, writers):
    lines = blame([Written(*write) for write in writes], now)
    assert [line.writer for line in lines] == writers
    assert "".join(line.text for line in lines) == now
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


texts = st.lists(st.sampled_from(["a", "b", "", "c"]), max_size=8).map("\n".join)


@given(st.lists(st.tuples(texts, texts), max_size=6), texts)
def test_whatever_was_written_every_line_is_told_once(pairs, now):
    writes = [Written(number, *pair) for number, pair in enumerate(pairs)]
    lines = blame(writes, now)
    assert [line.text for line in lines] == lines_of(now)
    assert {line.writer for line in lines} <= {None, *range(len(pairs))}
