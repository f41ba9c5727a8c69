# ruff: noqa: RUF001 - the heavy plus is one of the plugin's marks
"""Tasks listed, added, ticked and made to recur, with every other byte of the note as it was."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.errors import InvalidError, NotFoundError
from eris.vault.markdown import parse
from eris.vault.recurrence import next_date
from eris.vault.tasks import tasks_of, ticked, unticked, with_task

TODAY = dt.date(2027, 1, 5)  # a Tuesday


def day(text):
    return dt.date.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "description", "fields"),
    [
        ("water 📅 2027-01-03", "water", {"due": "2027-01-03"}),
        ("water 🗓️ 2027-01-03 ^id", "water", {"due": "2027-01-03"}),
        ("a ⏳ 2027-01-01 🛫 2027-01-02 ➕ 2026-12-01", "a",
         {"scheduled": "2027-01-01", "start": "2027-01-02", "created": "2026-12-01"}),
        ("a ✅ 2027-01-01 ❌ 2027-01-02", "a",
         {"completion": "2027-01-01", "cancelled": "2027-01-02"}),
        ("a [due:: 2027-01-03] b (scheduled::2027-01-01)", "a b",
         {"due": "2027-01-03", "scheduled": "2027-01-01"}),
        ("a 📅 2027-02-30", "a", {}),
        ("a 📅 tomorrow", "a 📅 tomorrow", {}),
        ("a 🆔 x1 ⛔ y1,z2 #tag 📅 2027-01-03", "a #tag", {"due": "2027-01-03"}),
    ],
)  # fmt: skip
def test_dates_are_read_in_both_notations(text, description, fields):
    (task,) = tasks_of(parse(f"- [ ] {text}\n"))
    assert (task.text, task.description) == (text, description)
    assert task.dates == {name: day(date) for name, date in fields.items()}


@pytest.mark.parametrize(
    ("text", "priority", "recurrence"),
    [
        ("a 🔺", "highest", ""),
        ("a ⏫ 📅 2027-01-03", "high", ""),
        ("a 🔼", "medium", ""),
        ("a 🔽️", "low", ""),
        ("a ⏬", "lowest", ""),
        ("a [priority:: High]", "high", ""),
        ("a 🔁 every week when done 📅 2027-01-03", "", "every week when done"),
        ("a [repeat:: every 2 days]  [due:: 2027-01-03]", "", "every 2 days"),
        ("a", "", ""),
    ],
)
def test_priority_and_recurrence(text, priority, recurrence):
    (task,) = tasks_of(parse(f"- [ ] {text}"))
    assert (task.priority, task.recurrence, task.description) == (priority, recurrence, "a")


def test_tasks_have_their_line_and_state():
    note = parse(
        "---\na: b\n---\n# H\n- [ ] a\n  - [x] b\n> 1. [-] c\n* [/] d\n```\n- [ ] no\n```\n"
    )
    assert [(each.line, each.mark, each.text, each.done, each.open) for each in tasks_of(note)] == [
        (5, " ", "a", False, True),
        (6, "x", "b", True, False),
        (7, "-", "c", False, False),
        (8, "/", "d", False, True),
    ]


@pytest.mark.parametrize(
    ("before", "heading", "after"),
    [
        ("", "", "- [ ] new\n"),
        ("text", "", "text\n\n- [ ] new"),
        ("---\na: b\n---\n", "", "---\na: b\n---\n- [ ] new\n"),
        ("- [ ] a\n", "", "- [ ] a\n- [ ] new\n"),
        ("- [ ] a", "", "- [ ] a\n- [ ] new"),
        ("* [x] a\r\n\r\ntext\r\n", "", "* [x] a\r\n* [ ] new\r\n\r\ntext\r\n"),
        ("9. [ ] a\n", "", "9. [ ] a\n10. [ ] new\n"),
        ("- [ ] a\n  - [ ] b\n\n    more\n\ntext", "",
         "- [ ] a\n  - [ ] b\n\n    more\n- [ ] new\n\ntext"),
        ("  + [ ] a\n", "", "  + [ ] a\n  + [ ] new\n"),
        ("- [ ] a\n\n* b\n", "", "- [ ] a\n- [ ] new\n\n* b\n"),
        ("* b\n", "", "* b\n* [ ] new\n"),
        ("> - [ ] a\n", "", "> - [ ] a\n\n- [ ] new\n"),
        ("# A\n- [ ] a\n\n# B\n- [ ] b\n", "A", "# A\n- [ ] a\n- [ ] new\n\n# B\n- [ ] b\n"),
        ("# A\n\n# B\n", "A", "# A\n- [ ] new\n\n# B\n"),
        ("# A\ntext\n# B\n", "a", "# A\ntext\n\n- [ ] new\n# B\n"),
        ("# A\n- [ ] a\n## B\n- [ ] b\n", "A", "# A\n- [ ] a\n- [ ] new\n## B\n- [ ] b\n"),
        ("## To do\n\n- [ ] a\n\n\n***\n\n## Archive\n\n- [x] b\n", "To do",
         "## To do\n\n- [ ] a\n- [ ] new\n\n\n***\n\n## Archive\n\n- [x] b\n"),
        ("## To do\n\n\n\n%% kanban:settings\n```\n{}\n```\n%%", "To do",
         "## To do\n- [ ] new\n\n\n\n%% kanban:settings\n```\n{}\n```\n%%"),
    ],
)  # fmt: skip
def test_a_task_is_added_where_the_others_are(before, heading, after):
    assert with_task(before, "new", heading=heading) == after


@pytest.mark.parametrize("given_task", ["new", "- [ ] new", "[ ] new", " * new ", "- [x]  new\n"])
def test_a_task_may_be_given_with_its_box(given_task):
    assert with_task("- [ ] a\n", given_task) == "- [ ] a\n- [ ] new\n"


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("- [ ] a\n", "new 📅 2027-01-05 ^id"),
        ("- [ ] a 🛫 2027-01-01\n", "new 📅 2027-01-05 ^id"),
        ("- [ ] a (scheduled:: 2027-01-01)\n", "new (due:: 2027-01-05) ^id"),
    ],
)
def test_when_it_is_due_is_written_as_the_others_write_it(before, added):
    assert with_task(before, "new ^id", due=TODAY) == f"{before}- [ ] {added}\n"


@pytest.mark.parametrize("task", ["", "  ", "- [ ] ", "\n"])
def test_a_task_needs_a_text(task):
    with pytest.raises(InvalidError):
        with_task("- [ ] a\n", task)


@pytest.mark.parametrize(
    ("before", "which", "after"),
    [
        ("- [ ] a\n- [ ] b\n", "b", "- [ ] a\n- [x] b\n"),
        ("- [ ] a\n- [ ] b\n", 2, "- [ ] a\n- [x] b\n"),
        ("- [ ] a\r\n- [ ] b  \r\n", "- [ ] B", "- [ ] a\r\n- [x] b  \r\n"),
        ("- [ ] Water the plants 📅 2027-01-03\n", "water the plants",
         "- [x] Water the plants 📅 2027-01-03\n"),
        ("- [ ] Water the plants\n- [ ] Call Anna", "plants",
         "- [x] Water the plants\n- [ ] Call Anna"),
        ("- [x] a\n- [ ] a\n", "a", "- [x] a\n- [x] a\n"),
        ("- [/] a\n", "a", "- [x] a\n"),
        ("- [X] a\n", "a", "- [X] a\n"),
        ("- [ ] a ^id\n- [x] b ✅ 2027-01-01\n", "a",
         "- [x] a ✅ 2027-01-05 ^id\n- [x] b ✅ 2027-01-01\n"),
        ("- [ ] a [due:: 2027-01-01] \n- [x] [completion:: 2027-01-01]", "a",
         "- [x] a [due:: 2027-01-01] [completion:: 2027-01-05] \n- [x] [completion:: 2027-01-01]"),
        ("> - [ ] a\n", "a", "> - [x] a\n"),
        ("\ufeff- [ ] a", "a", "\ufeff- [x] a"),
    ],
)  # fmt: skip
def test_ticking(before, which, after):
    assert ticked(before, which, today=TODAY) == after


def test_the_date_is_written_when_asked_for_and_left_out_when_asked_for():
    text = "- [ ] a\n"
    assert ticked(text, "a", today=TODAY, dated=True) == "- [x] a ✅ 2027-01-05\n"
    text += "- [x] b ✅ 2027-01-01\n"
    assert ticked(text, "a", today=TODAY, dated=False) == text.replace("[ ]", "[x]")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [x] a\n", "- [ ] a\n"),
        ("- [X] a ✅ 2027-01-01 ^id\r\n", "- [ ] a ^id\r\n"),
        ("- [-] a ❌ 2027-01-01", "- [ ] a"),
        ("- [x] a [completion:: 2027-01-01] #t\n", "- [ ] a #t\n"),
        ("- [x] ✅ 2027-01-01\n", "- [ ]\n"),
        ("- [ ] a\n", "- [ ] a\n"),
        ("- [x] a 📅 2027-01-01\n", "- [ ] a 📅 2027-01-01\n"),
    ],
)
def test_unticking(before, after):
    assert unticked(before, 1) == after


@pytest.mark.parametrize(
    ("before", "above"),
    [
        ("- [ ] a 🔁 every day 📅 2027-01-03 ^id\n", "- [ ] a 🔁 every day 📅 2027-01-04\n"),
        ("- [ ] a 🔁 every week when done 📅 2027-01-03\n",
         "- [ ] a 🔁 every week when done 📅 2027-01-12\n"),
        ("- [ ] a 🔁 every month ➕ 2026-01-01 🛫 2027-01-29 📅 2027-01-31\r\n",
         "- [ ] a 🔁 every month ➕ 2027-01-05 🛫 2027-02-26 📅 2027-02-28\r\n"),
        ("> 1. [ ] a [repeat:: every year] [due:: 2028-02-29] [id:: x]\n",
         "> 1. [ ] a [repeat:: every year] [due:: 2029-02-28]\n"),
        ("  - [ ] a 🔁 every weekday ⏳ 2027-01-08\n    - [ ] part\n",
         "  - [ ] a 🔁 every weekday ⏳ 2027-01-11\n"),
        ("- [ ] a 🔁 every day\n", "- [ ] a 🔁 every day\n"),
    ],
)  # fmt: skip
def test_what_recurs_is_written_anew_above_what_is_ticked(before, above):
    old = before.replace("[ ]", "[x]", 1)
    assert ticked(before, 1, today=TODAY) == above + old


@pytest.mark.parametrize("rule", ["every week on Monday", "every month on the last", "weekly"])
def test_a_recurrence_that_is_not_understood_is_not_lost(rule):
    with pytest.raises(InvalidError) as caught:
        ticked(f"- [ ] a 🔁 {rule} 📅 2027-01-03\n", "a", today=TODAY)
    assert rule in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("rule", "reference", "after"),
    [
        ("every day", "2027-12-31", "2028-01-01"),
        ("every 3 days", "2027-01-01", "2027-01-04"),
        ("every week", "2027-01-01", "2027-01-08"),
        ("Every  other week", "2027-01-01", "2027-01-15"),
        ("every month", "2027-12-31", "2028-01-31"),
        ("every month", "2028-01-31", "2028-02-29"),
        ("every 2 months", "2027-12-31", "2028-02-29"),
        ("every year", "2028-02-29", "2029-02-28"),
        ("every weekday", "2027-01-01", "2027-01-04"),
        ("every day when done", "2020-01-01", "2027-01-06"),
        ("every 2 weekdays", "2027-01-01", None),
        ("every 0 days", "2027-01-01", None),
        ("every 0 months", "2027-01-01", None),
        ("every year", "9999-01-01", None),
        ("every Monday", "2027-01-01", None),
    ],
)
def test_recurrence(rule, reference, after):
    assert next_date(rule, day(reference), TODAY) == (after and day(after))


def test_a_text_of_several_tasks_is_refused_with_their_lines():
    text = "- [ ] call Anna\n- [ ] call Ben\n- [x] call Carl\n"
    with pytest.raises(InvalidError) as caught:
        ticked(text, "call", today=TODAY)
    assert "line 1 `[ ] call Anna`, line 2 `[ ] call Ben`" in str(caught.value)
    assert "Carl" not in str(caught.value)


@pytest.mark.parametrize("which", ["write to Dora", "", 4])
def test_a_task_that_is_not_there_is_told_with_those_that_are(which):
    with pytest.raises(NotFoundError) as caught:
        ticked("- [ ] call Anna\n- [x] call Carl\n\ntext\n", which, today=TODAY)
    assert "line 1 `[ ] call Anna`" in caught.value.hint


@given(
    st.lists(
        st.sampled_from(
            ["- [ ] a", "- [x] b ✅ 2027-01-01", "  - [ ] c 🔁 every day 📅 2027-01-03 ^i", "text",
             "> - [ ] d", "1. [/] e [due:: 2027-01-01]", "", "```", "# H", "\t* [X] f  ", "%%"]
        ),
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)  # fmt: skip
def test_ticking_and_unticking_change_one_line_or_none(lines, line_end, data):
    text = line_end.join([*lines, ""])
    tasks = tasks_of(parse(text))
    if not tasks:
        return
    task = data.draw(st.sampled_from(tasks))
    span = task.place.span
    for changed in (ticked(text, task.line, today=TODAY), unticked(text, task.line)):
        assert changed.startswith(text[: span.start])
        assert changed.endswith(text[span.end :])
        added = changed.count(line_end) - text.count(line_end)
        recurs = bool(task.recurrence) and not task.done
        assert added == (1 if recurs and changed.count("[x]") > text.count("[x]") else 0)
