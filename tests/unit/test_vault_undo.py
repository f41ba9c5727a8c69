"""Undo, history, conflicts: whatever was written can be taken back, and no edit is lost by it."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
)

from actors.vault.replacing import version_of
from actors.vault.writing import Mode
from eris.errors import ConflictError, ErisError, InvalidError, NotFoundError
from tests.opened_vault import CutOffError, OpenedVault, cause, contents

DAY = "# Day\n\n- milk\n- bread\n\n## Evening\n\nread\n"


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "day.md").write_text(DAY)
    return vault


@pytest.fixture
def opened(place, tmp_path):
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    yield process
    process.close()


def replaced(old, new):
    return lambda text: text.replace(old, new)


# Undo.

EXACT = {
    "Windows lines": b"a\r\nb\r\n",
    "a byte order mark": b"\xef\xbb\xbfa\n",
    "no last line ending": b"a",
    "empty": b"",
    "old Mac lines": b"a\rb\r",
    "trailing spaces and tabs": b"a  \n\tb \n\n\n",
    "decomposed letters": "cafe\u0301\n".encode(),
    "a line of a megabyte": b"x" * 1_000_000,
}
WRITES = {
    "append": lambda w: w.write(cause(), "x.md", "more\n"),
    "overwrite": lambda w: w.write(cause(), "x.md", "other", Mode.OVERWRITE),
    "edit": lambda w: w.edit(cause(), "x.md", lambda text: f"new\n{text}"),
    "move": lambda w: w.move(
        cause(), "x.md", "y/z.md", lambda *_: {"x.md": lambda text: f"{text}!"}
    ),
    "trash": lambda w: w.trash(cause(), "x.md"),
}


@pytest.mark.parametrize("data", EXACT.values(), ids=EXACT.keys())
@pytest.mark.parametrize("work", WRITES.values(), ids=WRITES.keys())
def test_undo_brings_back_the_exact_bytes_and_undoing_that_the_new_ones(place, opened, work, data):
    (place / "x.md").write_bytes(data)
    before = contents(place)
    receipt = work(opened.writer)
    after = contents(place)
    undone = opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == before
    redone = opened.writer.undoing.step(cause(), undone.step)
    assert contents(place) == after
    opened.writer.undoing.step(cause(), redone.step)
    assert contents(place) == before


def test_undo_of_a_new_note_removes_it_with_the_folders_made_for_it(place, opened):
    receipt = opened.writer.write(cause(), "a/b/new.md", "x")
    opened.writer.undoing.step(cause(), receipt.step)
    assert [path.name for path in place.iterdir()] == ["day.md"]


def test_undo_keeps_what_the_user_wrote_elsewhere_in_the_note_since(place, opened):
    receipt = opened.writer.edit(cause(), "day.md", replaced("milk", "oat milk"))
    now = (place / "day.md").read_text()
    (place / "day.md").write_text(now.replace("\nread", "\nread all night"))
    opened.writer.undoing.step(cause(), receipt.step)
    assert (place / "day.md").read_text() == DAY.replace("\nread", "\nread all night")


IN_THE_WAY = {
    "edited in the same line": (
        lambda place: (place / "day.md").write_text("# Day\n\n- my own milk\n"),
        "changed since, in the same places",
    ),
    "removed": (lambda place: (place / "day.md").unlink(), "isn't there any more"),
    "a folder by now": (
        lambda place: ((place / "day.md").unlink(), (place / "day.md").mkdir()),
        "isn't there any more",
    ),
}


@pytest.mark.parametrize(("since", "reason"), IN_THE_WAY.values(), ids=IN_THE_WAY.keys())
def test_undo_says_what_is_in_the_way_and_changes_nothing(place, opened, since, reason):
    receipt = opened.writer.edit(cause(), "day.md", replaced("milk", "oat milk"))
    since(place)
    before = contents(place)
    with pytest.raises(ConflictError, match=rf"day\.md is in the way; it .*{reason}") as caught:
        opened.writer.undoing.step(cause(), receipt.step)
    assert "You or another program" in caught.value.hint
    assert contents(place) == before


def test_a_new_note_that_the_user_went_on_with_is_not_removed(place, opened):
    receipt = opened.writer.write(cause(), "new.md", "x\n")
    (place / "new.md").write_text("x\nmy own\n")
    with pytest.raises(ConflictError, match="all of it would be removed"):
        opened.writer.undoing.step(cause(), receipt.step)
    assert (place / "new.md").read_text() == "x\nmy own\n"


def test_a_later_step_in_the_way_is_named(place, opened):
    first = opened.writer.edit(cause(), "day.md", replaced("milk", "oat milk"))
    second = opened.writer.edit(cause(), "day.md", replaced("oat milk", "soy milk"))
    with pytest.raises(ConflictError) as caught:
        opened.writer.undoing.step(cause(), first.step)
    assert caught.value.hint == f"Undo the later steps first: {second.step}."
    for receipt in (second, first):
        opened.writer.undoing.step(cause(), receipt.step)
    assert (place / "day.md").read_text() == DAY


def test_an_edit_is_undone_under_the_name_that_the_note_has_now(place, opened):
    (place / "notes").mkdir()
    (place / "day.md").rename(place / "notes" / "day.md")
    receipt = opened.writer.edit(cause(), "notes/day.md", replaced("milk", "oat milk"))
    opened.writer.move(cause(), "notes/day.md", "notes/night.md")
    opened.writer.move(cause(), "notes", "archive")
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == {"archive/night.md": DAY.encode()}


def test_a_step_is_undone_once(place, opened):
    receipt = opened.writer.write(cause(), "day.md", "x")
    opened.writer.undoing.step(cause(), receipt.step)
    with pytest.raises(ConflictError, match="is undone already, by step 2"):
        opened.writer.undoing.step(cause(), receipt.step)
    with pytest.raises(NotFoundError, match="no step 99"):
        opened.writer.undoing.step(cause(), 99)


def test_the_last_turn_is_undone_as_a_whole_then_the_one_before_it(place, opened):
    before = [contents(place)]
    for turn in ("one", "two"):
        opened.writer.write(cause(turn), "day.md", f"{turn}\n")
        opened.writer.write(cause(turn), f"{turn}.md", "x")
        opened.writer.move(cause(turn), f"{turn}.md", f"{turn}/moved.md")
        before.append(contents(place))
    call = cause()
    for _repeated in range(2):
        undone = opened.writer.undoing.last(call)
        assert len(undone.receipts) == 3
        assert undone.refused == ()
        assert contents(place) == before[1]
    redone = cause()
    opened.writer.undoing.turn(redone, call.turn)
    assert contents(place) == before[2]
    with pytest.raises(ConflictError, match=r"turn .* is undone already"):
        opened.writer.undoing.turn(cause(), call.turn)
    opened.writer.undoing.turn(cause(), redone.turn)
    opened.writer.undoing.last(cause())
    assert contents(place) == before[0]
    with pytest.raises(NotFoundError, match="nothing to undo"):
        opened.writer.undoing.last(cause())


def test_of_a_turn_what_can_be_undone_is_and_the_rest_is_said(place, opened):
    opened.writer.write(cause("t"), "new.md", "x\n")
    opened.writer.write(cause("t"), "day.md", "more\n")
    (place / "new.md").write_text("my own")
    undone = opened.writer.undoing.last(cause())
    assert [receipt.path for receipt in undone.receipts] == ["day.md"]
    assert [number for number, _error in undone.refused] == [1]
    assert contents(place) == {"day.md": DAY.encode(), "new.md": b"my own"}


def test_undo_of_a_session_leaves_the_others_alone(place, opened):
    opened.writer.write(cause("one", "mine"), "mine.md", "x")
    opened.writer.write(cause("two", "yours"), "yours.md", "x")
    opened.writer.undoing.last(cause(), session="mine")
    assert sorted(contents(place)) == ["day.md", "yours.md"]


def test_undo_works_after_a_restart(place, tmp_path):
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    process.writer.write(cause(), "day.md", "x")
    process.close()
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    process.writer.undoing.last(cause())
    process.close()
    assert (place / "day.md").read_text() == DAY


# Compare and swap.

MINE = DAY.replace("milk", "oat milk")
ELSEWHERE = DAY.replace("\nread", "\nread all night")
SAME_LINE = DAY.replace("milk", "soy milk")


@pytest.mark.parametrize("by", ["version", "session"])
def test_a_write_over_a_change_made_since_keeps_both(place, opened, by):
    version = opened.writer.saw("s", "day.md", DAY.encode())
    if by == "version":
        options = {"version": version}
    else:
        options, version = {}, ""
    (place / "day.md").write_text(ELSEWHERE)
    receipt = opened.writer.write(cause(session="s"), "day.md", MINE, Mode.OVERWRITE, **options)
    assert receipt.merged
    both = MINE.replace("\nread", "\nread all night")
    assert (place / "day.md").read_text() == both
    # The session still knows only its own text; writing that again doesn't drop the user's.
    opened.writer.write(cause(session="s"), "day.md", MINE.replace("bread", "rye"), Mode.OVERWRITE)
    assert (place / "day.md").read_text() == both.replace("bread", "rye")


def test_an_append_does_not_make_a_session_know_what_it_has_not_read(place, opened):
    opened.writer.saw("s", "day.md", DAY.encode())
    (place / "day.md").write_text(SAME_LINE)
    opened.writer.write(cause(session="s"), "day.md", "mine\n")
    opened.writer.write(cause(session="s"), "day.md", f"{DAY}mine\n", Mode.OVERWRITE)
    assert (place / "day.md").read_text() == f"{SAME_LINE}mine\n"


def test_changes_that_touch_are_a_conflict_with_both_texts(place, opened):
    version = opened.writer.saw("", "day.md", DAY.encode())
    (place / "day.md").write_text(SAME_LINE)
    with pytest.raises(ConflictError) as caught:
        opened.writer.write(cause(), "day.md", MINE, Mode.OVERWRITE, version=version)
    assert "it now says '- soy milk' where you wrote '- oat milk'" in caught.value.message
    assert "+- soy milk" in caught.value.details["theirs"]
    assert "+- oat milk" in caught.value.details["ours"]
    assert caught.value.details["version"] == version_of(SAME_LINE.encode())
    assert contents(place) == {"day.md": SAME_LINE.encode()}


def test_a_conflict_copy_is_made_if_asked_for(place, opened):
    version = opened.writer.saw("", "day.md", DAY.encode())
    (place / "day.md").write_text(SAME_LINE)
    copies = [
        opened.writer.write(
            cause(), "day.md", text, Mode.OVERWRITE, version=version, conflict_copy=True
        )
        for text in (MINE, "x")
    ]
    assert [receipt.copy_of for receipt in copies] == ["day.md"] * 2
    assert [receipt.path.partition(" 19")[0] for receipt in copies] == ["day (conflict"] * 2
    assert [(place / receipt.path).read_text() for receipt in copies] == [MINE, "x"]
    assert (place / "day.md").read_text() == SAME_LINE
    opened.writer.undoing.last(cause())
    assert not (place / copies[1].path).exists()


OUTDATED = {
    "a version nobody knows": (lambda _: None, "0123456789abcdef", "changed by somebody else"),
    "a note that was removed": (lambda place: (place / "day.md").unlink(), "", "isn't there any"),
    "a note that is binary now": (
        lambda place: (place / "day.md").write_bytes(b"\0"), "", "is a binary file",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("since", "version", "reason"), OUTDATED.values(), ids=OUTDATED.keys())
def test_an_outdated_version_that_can_not_be_merged_is_refused(
    place, opened, since, version, reason
):
    version = version or opened.writer.saw("", "day.md", DAY.encode())
    since(place)
    before = contents(place)
    with pytest.raises((ConflictError, InvalidError), match=reason):
        opened.writer.write(cause(), "day.md", MINE, Mode.OVERWRITE, version=version)
    assert contents(place) == before


def test_an_edit_meant_for_an_older_version_is_merged_or_refused(place, opened):
    version = opened.writer.saw("", "day.md", DAY.encode())
    (place / "day.md").write_text(ELSEWHERE)
    opened.writer.edit(cause(), "day.md", replaced("milk", "oat milk"), version=version)
    assert (place / "day.md").read_text() == MINE.replace("\nread", "\nread all night")
    with pytest.raises(ConflictError, match="'- oat milk' where you wrote '- no milk'"):
        opened.writer.edit(cause(), "day.md", replaced("milk", "no milk"), version=version)


def test_an_edit_that_changes_nothing_is_no_step(place, opened):
    receipt = opened.writer.edit(cause(), "day.md", replaced("wine", "beer"))
    assert (receipt.action, receipt.step) == ("unchanged", 0)
    assert opened.writer.history.latest(1) == []


# History.


def test_the_history_of_a_note_goes_back_through_its_names_and_folders(place, opened):
    opened.writer.write(cause(), "a/first.md", "one\n")
    opened.writer.write(cause(), "a/other.md", "not this one")
    opened.writer.move(cause(), "a/first.md", "a/second.md")
    opened.writer.write(cause(), "a/second.md", "two\n")
    opened.writer.move(cause(), "a", "b")
    opened.writer.write(cause(), "a/second.md", "another of the old name")
    opened.writer.edit(cause(), "b/second.md", replaced("two", "2"), did="replaced two")
    versions = opened.writer.history.versions("b/second.md")
    assert [(each.step.number, each.path) for each in versions] == [
        (7, "b/second.md"), (5, "b/second.md"), (4, "a/second.md"), (3, "a/second.md"),
        (1, "a/first.md"),
    ]  # fmt: skip
    assert versions[0].version == version_of(b"one\n2\n")
    assert len(opened.writer.history.versions("b/second.md", 2)) == 2
    assert versions[0].step.line == "replaced two in b/second.md"


def test_the_history_of_a_removed_note_is_found_under_its_old_name(place, opened):
    opened.writer.write(cause(), "day.md", "more\n")
    opened.writer.trash(cause(), "day.md")
    assert [each.step.number for each in opened.writer.history.versions("day.md")] == [2, 1]
    old = opened.writer.history.versions("day.md")[1].version
    assert opened.writer.restore(cause(), "day.md", old).action == "restored"
    assert (place / "day.md").read_text() == f"{DAY}more\n"


def test_differences_of_steps_and_since_a_version(place, opened):
    receipt = opened.writer.edit(cause(), "day.md", replaced("milk", "oat milk"))
    assert opened.writer.history.diff_step(receipt.step) == (
        "--- day.md\n+++ day.md\n@@ -1,6 +1,6 @@\n # Day\n \n"
        "-- milk\n+- oat milk\n - bread\n \n ## Evening\n"
    )
    (place / "day.md").write_text("# Day\n")
    since = opened.writer.history.diff_version("day.md", receipt.version)
    assert since.startswith(f"--- day.md ({receipt.version})\n+++ day.md\n")
    assert "-- oat milk\n" in since
    moved = opened.writer.move(cause(), "day.md", "night.md")
    assert opened.writer.history.diff_step(moved.step, "night.md") == (
        "rename from day.md\nrename to night.md\n"
    )
    with pytest.raises(NotFoundError, match=r"no changes of x\.md"):
        opened.writer.history.diff_step(moved.step, "x.md")


def test_a_version_is_restored_over_what_is_there_and_that_is_undone(place, opened):
    opened.writer.write(cause(), "day.md", "x", Mode.OVERWRITE)
    (place / "day.md").write_text("my own")
    opened.writer.restore(cause(), "day.md", version_of(DAY.encode()))
    assert (place / "day.md").read_text() == DAY
    opened.writer.undoing.last(cause())
    assert (place / "day.md").read_text() == "my own"
    with pytest.raises(NotFoundError, match=r"day\.md has no version 0123"):
        opened.writer.restore(cause(), "day.md", "0123")


def test_blame_names_the_step_of_each_line_and_none_for_the_users(place, opened):
    opened.writer.write(cause("one"), "day.md", "appended\n")
    (place / "day.md").write_text((place / "day.md").read_text() + "my own\n")
    opened.writer.move(
        cause("two"), "day.md", "night.md", lambda *_: {"day.md": replaced("milk", "tea")}
    )
    blamed = opened.writer.history.blame("night.md")
    turns = {
        line.text: blamed.steps[line.writer].cause.turn
        for line in blamed.lines
        if line.writer is not None
    }
    assert turns == {"appended\n": "one", "- tea\n": "two"}
    assert blamed.lines[-1].text == "my own\n"


# Anything, in any order.


class AnyOrder(RuleBasedStateMachine):
    """The agent and the user write at will, and the process ends at will."""

    names = st.sampled_from(["a.md", "b.md", "f/a.md", "f/c.md"])

    def __init__(self):
        super().__init__()
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112
        self.folder = tempfile.TemporaryDirectory(dir=shared)
        self.place = Path(self.folder.name) / "vault"
        self.place.mkdir()
        self.tokens = []
        self.opened = self.open()

    def open(self):
        opened = OpenedVault(self.place, Path(self.folder.name) / "vault.sqlite")
        opened.writer.recover()
        assert opened.journal.pending() == []
        return opened

    def teardown(self):
        self.opened.close()
        self.folder.cleanup()

    def token(self):
        self.tokens.append(f"<user {len(self.tokens)}>".encode())
        return self.tokens[-1]

    # What the agent does; afterwards it's undone at once, or not; or it's cut off.

    @rule(
        data=st.data(),
        path=names,
        other=names,
        moment=st.one_of(st.none(), st.integers(0, 12)),
        back=st.booleans(),
    )
    def agent(self, *, data, path, other, moment, back):
        writer, text = self.opened.writer, data.draw(st.sampled_from(["x\n", "y\r\nz", "w"]))
        work = data.draw(
            st.sampled_from(
                [
                    lambda: writer.write(cause(session="s"), path, text),
                    lambda: writer.write(cause(session="s"), path, text, Mode.OVERWRITE),
                    lambda: writer.edit(cause(session="s"), path, lambda old: text + old),
                    lambda: writer.move(
                        cause(), path, other, lambda *_: {path: lambda old: old + text}
                    ),
                    lambda: writer.move(cause(), "f", "g"),
                    lambda: writer.move(cause(), "g", "f"),
                    lambda: writer.trash(cause(), path),
                    lambda: writer.trash(cause(), "f"),
                    lambda: writer.undoing.last(cause()),
                    lambda: writer.undoing.step(cause(), data.draw(st.integers(1, 12))),
                    lambda: writer.restore(cause(), path, data.draw(self.versions(path))),
                ]
            )
        )
        before = contents(self.place)
        if moment is not None:
            self.opened.cut_off_at(moment)
        try:
            receipt = work()
        except CutOffError:
            self.restart()
            return
        except ErisError:
            assert contents(self.place) == before
            return
        finally:
            self.opened.between = lambda _where: None
        step = getattr(receipt, "step", 0)
        if back and step:
            writer.undoing.step(cause(), step)
            assert contents(self.place) == before

    def versions(self, path):
        known = [each.version for each in self.opened.writer.history.versions(path)]
        return st.sampled_from([*known, "0123"])

    # What the user does.

    @rule(path=names, where=st.sampled_from(["front", "back", "all"]))
    def save(self, path, where):
        file, token = self.place / path, self.token()
        if not file.parent.exists():
            file.parent.mkdir()
        old = file.read_bytes() if file.exists() else b""
        if where == "all":
            for each in [each for each in self.tokens if each in old]:
                self.tokens.remove(each)  # The user's own doing.
            old = b""
        file.write_bytes(token + b"\n" + old if where == "front" else old + token + b"\n")

    @rule(path=names)
    def read(self, path):
        if (self.place / path).is_file():
            self.opened.writer.saw("s", path, (self.place / path).read_bytes())

    @rule()
    def restart(self):
        self.opened.close()
        self.opened = self.open()

    @invariant()
    def nothing_of_the_users_is_lost(self):
        there = b"\n".join(contents(self.place).values())
        lost = [token for token in self.tokens if token not in there]
        if lost:
            journal = b"\n".join(
                self.opened.journal.content(digest)
                for _step, change in self.opened.journal.changes()
                for digest in {getattr(change, "before", ""), getattr(change, "digest", "")}
            )
            assert [token for token in lost if token not in journal] == []

    @invariant()
    def nothing_hidden_is_left(self):
        assert not [path for path in contents(self.place) if ".eris-" in path]


AnyOrder.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
test_in_any_order_nothing_is_lost_and_undo_is_exact = AnyOrder.TestCase
