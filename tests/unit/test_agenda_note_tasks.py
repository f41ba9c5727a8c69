"""Tasks of notes as items of the agenda: real notes' texts, the agenda's own parts."""

import datetime as dt

import pytest

from actors.agenda.note_tasks import NoteTasks
from eris.errors import ConflictError, ErisError, UnavailableError
from eris.logs import SilentLogger
from eris.vault.markdown import parse
from eris.vault.tasks import has_date, tasks_of, ticked, unticked
from proto.agenda import ItemState
from proto.vault import TaskView
from tests.reminding import Reminding

TODAY = dt.date(2026, 12, 3)


class Notes:
    """Notes by path, whose tasks are read and ticked as the vault does it."""

    def __init__(self):
        self.texts = {}
        self.complete = True
        self.away = False
        self.keys = []

    def _tasks(self, path):
        return [
            TaskView(path=path, line=each.line, text=each.text, done=each.done)
            for each in tasks_of(parse(self.texts.get(path, "")))
        ]

    def open_tasks(self):
        if self.away:
            raise UnavailableError("The vault is away.")
        found = [each for path in sorted(self.texts) for each in self._tasks(path)]
        return [each for each in found if not each.done and has_date(each.text)], self.complete

    def done_tasks(self, path):
        return [each for each in self._tasks(path) if each.done]

    def tick(self, task, key):
        if self.away:
            raise UnavailableError("The vault is away.")
        self.keys.append(key)
        lines = [each for each in self._tasks(task.path) if each.line == task.line]
        if not lines or lines[0].text != task.text:
            raise ConflictError("The line says something else.")
        self.texts[task.path] = ticked(self.texts[task.path], task.line, today=TODAY, dated=True)


class Both:
    """An agenda and notes."""

    def __init__(self, folder, *, remind=False):
        self.agenda = Reminding(folder)
        self.notes = Notes()
        self.remind = remind

    def sync(self):
        tasks = NoteTasks(self.agenda.service, self.notes, SilentLogger(), remind=self.remind)
        tasks.sync()

    def write(self, text, path="todo.md"):
        self.notes.texts[path] = text
        self.sync()

    def texts(self, state=ItemState.OPEN):
        return sorted(item.text for item in self.agenda.items(states=(state,)))


@pytest.fixture
def both(tmp_path):
    both = Both(tmp_path)
    yield both
    both.agenda.close()


def test_dated_tasks_are_listed_with_what_is_written_about_them(both):
    both.write(
        "- [ ] pay rent 📅 2027-01-03 ⏫\n- [ ] no date\n- [x] done 📅 2027-01-03\n"
        "- [ ] water 🔁 every week ⏳ 2027-01-04\n- [ ] call [due:: 2027-01-05]\n"
        "- [ ] call Tom tomorrow at 9 🛫 2027-01-06\n- [ ] broken 📅 2027-13-03\n"
    )
    assert both.texts() == [
        "call (due 2027-01-05)",
        "call Tom tomorrow at 9 (start 2027-01-06)",
        "pay rent (due 2027-01-03, high)",
        "water (scheduled 2027-01-04, every week)",
    ]
    both.sync()
    assert len(both.texts()) == 4
    # Listed, and not told of.
    both.agenda.look(60 * 24 * 3600)
    assert both.agenda.told.fired() == []


def test_done_here_is_ticked_there_once(both):
    both.write("- [ ] pay rent 📅 2027-01-03\n- [ ] water 📅 2027-01-03\n")
    both.agenda.done("pay rent")
    both.notes.away = True
    with pytest.raises(ErisError):
        both.sync()
    both.agenda.start()  # whatever dies meanwhile
    both.notes.away = False
    for _ in range(3):
        both.sync()
    assert both.notes.texts["todo.md"] == (
        "- [x] pay rent 📅 2027-01-03 ✅ 2026-12-03\n- [ ] water 📅 2027-01-03\n"
    )
    assert len(both.notes.keys) == 1
    assert both.texts() == ["water (due 2027-01-03)"]


def test_ticked_there_is_done_here_and_open_again_when_it_is_unticked(both):
    text = "- [ ] pay rent 📅 2027-01-03\n"
    both.write(text)
    both.write(ticked(text, 1, today=TODAY, dated=True))
    assert both.texts() == []
    assert both.texts(ItemState.DONE) == ["pay rent (due 2027-01-03)"]
    both.write(unticked(both.notes.texts["todo.md"], 1))
    assert both.texts() == ["pay rent (due 2027-01-03)"]
    both.sync()
    assert "[ ]" in both.notes.texts["todo.md"]


def test_a_line_that_was_changed_is_another_task_and_is_not_ticked(both):
    both.write("- [ ] pay rent 📅 2027-01-03\n")
    both.agenda.done("a1")
    both.write("- [ ] pay no rent 📅 2027-01-03\n")
    assert both.notes.texts["todo.md"] == "- [ ] pay no rent 📅 2027-01-03\n"
    assert both.texts() == ["pay no rent (due 2027-01-03)"]


def test_a_line_that_changes_at_the_last_moment_is_not_ticked(both):
    both.write("- [ ] pay rent 📅 2027-01-03\n")
    both.agenda.done("a1")
    listed = both.notes.open_tasks()
    both.notes.texts["todo.md"] = "- [ ] pay no rent 📅 2027-01-03\n"
    both.notes.open_tasks = lambda: listed
    both.sync()
    assert both.notes.texts["todo.md"] == "- [ ] pay no rent 📅 2027-01-03\n"


def test_of_equal_lines_one_is_ticked_for_each_that_is_done(both):
    both.write("- [ ] tea 📅 2027-01-03\n\ntext\n\n- [ ] tea 📅 2027-01-03\n")
    first, second = both.agenda.items()
    assert first.source != second.source
    both.agenda.done(first.id)
    both.sync()
    assert both.notes.texts["todo.md"].count("[x]") == 1
    assert len(both.texts()) == 1


def test_the_next_occurrence_of_a_task_that_recurs_is_a_new_item(both):
    both.write("- [ ] water 🔁 every week 📅 2027-01-04\n")
    both.agenda.done("a1")
    both.sync()
    both.sync()
    assert both.texts() == ["water (due 2027-01-11, every week)"]
    assert both.notes.texts["todo.md"].count("[x]") == 1


def test_what_was_set_for_a_task_goes_with_its_note_to_another_name(both):
    both.write("- [ ] pay rent 📅 2027-01-03\n")
    (item,) = both.agenda.items()
    both.agenda.resolve(item.id, "snooze", when="tomorrow at 9")
    both.notes.texts["money.md"] = both.notes.texts.pop("todo.md")
    both.sync()
    (moved,) = both.agenda.items()
    assert (moved.id, moved.next_due) == (item.id, both.agenda.items()[0].next_due)
    assert moved.source.startswith("note:money.md#")


def test_what_is_gone_is_let_go_unless_not_all_notes_were_looked_at(both):
    both.write("- [ ] pay rent 📅 2027-01-03\n")
    both.notes.texts.clear()
    both.notes.complete = False
    both.sync()
    assert len(both.texts()) == 1
    both.notes.complete = True
    both.sync()
    assert both.texts() == []
    assert both.texts(ItemState.REMOVED) == ["pay rent (due 2027-01-03)"]


def test_they_are_told_of_on_their_day_where_that_is_wanted(both):
    both.write("- [ ] pay rent 📅 2026-12-05\n- [ ] over 📅 2020-01-01\n")
    both.remind = True
    both.sync()
    for _ in range(3):
        both.agenda.look(24 * 3600)
    (occurrence,) = both.agenda.told.fired()
    assert "pay rent" in both.texts()
    both.agenda.done(occurrence)
    both.sync()
    assert "- [x] pay rent" in both.notes.texts["todo.md"]
    assert "- [ ] over" in both.notes.texts["todo.md"]
