"""Changes of several files happen as a whole or not at all, whatever happens in the middle."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest

from actors.vault import applying, renaming
from actors.vault.planning import Locked
from actors.vault.replacing import MOST_BYTES
from actors.vault.steps import Receipt, State
from actors.vault.writing import Mode
from eris.errors import ConflictError, DeniedError, ErisError, InvalidError, NotFoundError
from tests.opened_vault import CutOffError, OpenedVault, cause, contents

REPOSITORY = Path(__file__).parents[2]
HUB = b"# Hub\r\n[[a]] [[deep/b]]\r\n"
NOTES = {
    "hub.md": HUB,
    "a.md": b"\xef\xbb\xbfsee [[hub]]\n",
    "deep/b.md": b"also [[hub]], twice [[hub]]",
    "deep/picture.png": b"\x89PNG\0\0",
}


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    fill(vault)
    return vault


def fill(vault):
    for path, data in NOTES.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(data)


@pytest.fixture
def opened(place, tmp_path):
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    yield process
    process.close()


def relinked(text):
    return text.replace("[[hub]]", "[[centre]]")


def move_hub(opened):
    rewrites = dict.fromkeys(("a.md", "deep/b.md"), relinked)
    return opened.writer.move(
        cause(), "hub", "new/centre", lambda *_: {**rewrites, "hub.md": str.upper}
    )


def move_folder(opened):
    rewrites = {"deep/b.md": relinked, "hub.md": lambda text: text.replace("deep/b", "low/b")}
    return opened.writer.move(cause(), "deep", "low", lambda *_: rewrites)


# What each does, when all goes well.


def test_a_move_rewrites_links_in_the_same_step_and_is_undone_in_one(place, opened):
    receipt = move_hub(opened)
    assert (receipt.path, receipt.asked, receipt.files, receipt.folder) == (
        "new/centre.md", "hub.md", 3, "new",
    )  # fmt: skip
    assert contents(place) == {
        "new/centre.md": HUB.upper(),
        "a.md": b"\xef\xbb\xbfsee [[centre]]\n",
        "deep/b.md": b"also [[centre]], twice [[centre]]",
        "deep/picture.png": NOTES["deep/picture.png"],
    }
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == NOTES
    assert not (place / "new").exists()


def test_a_folder_moves_with_all_that_is_in_it_and_notes_in_it_are_rewritten(place, opened):
    receipt = move_folder(opened)
    assert (place / "low" / "b.md").read_bytes() == b"also [[centre]], twice [[centre]]"
    assert (place / "low" / "picture.png").exists()
    assert not (place / "deep").exists()
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == NOTES


def test_a_note_that_is_moved_keeps_what_somebody_writes_to_it_at_the_last_moment(place, opened):
    def between(where):
        if where == "apply new.md":
            (place / "hub.md").write_bytes(b"edited")

    opened.between = between
    opened.writer.move(cause(), "hub.md", "new.md")
    assert (place / "new.md").read_bytes() == b"edited"


TARGETS = {
    "with extension": ("hub.md", "x/y.md", "x/y.md"),
    "without extension": ("hub.md", "x/y", "x/y.md"),
    "into a folder": ("hub", "deep/", "deep/hub.md"),
    "a version number": ("hub.md", "hub v1.2", "hub v1.2.md"),
    "a picture": ("deep/picture.png", "cat", "deep/cat.png"),
    "a folder": ("deep", "low.d", "low.d"),
    "other capitals": ("hub.md", "Hub.md", "Hub.md"),
}


@pytest.mark.parametrize(("path", "target", "moved"), TARGETS.values(), ids=TARGETS.keys())
def test_a_move_names_where_the_file_is_now(place, opened, path, target, moved):
    assert opened.writer.move(cause(), path, target).path == moved
    assert Path(moved).name in [each.name for each in (place / moved).parent.iterdir()]


def test_trash_keeps_paths_and_numbers_what_would_collide(place, opened):
    opened.writer.trash(cause(), "deep/b.md")
    (place / "deep" / "b.md").write_bytes(b"another")
    assert opened.writer.trash(cause(), "deep/b.md").path == ".trash/deep/b 2.md"
    (place / "deep" / "b.md").write_bytes(b"third")
    assert opened.writer.trash(cause(), "deep").path == ".trash/deep 2"
    assert contents(place / ".trash") == {
        "deep/b.md": NOTES["deep/b.md"],
        "deep/b 2.md": b"another",
        "deep 2/b.md": b"third",
        "deep 2/picture.png": NOTES["deep/picture.png"],
    }


def test_what_was_removed_comes_back_even_after_the_trash_was_emptied(place, opened):
    receipt = opened.writer.trash(cause(), "a.md")
    (place / ".trash" / "a.md").unlink()
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == NOTES


def test_any_other_step_is_whole_too(place, opened):
    def build(plan):
        plan.rewrite("a.md", str.upper)
        plan.create("c.md", b"new")
        plan.create("deep/b.md", b"taken")
        return Receipt(path="a.md", action="edited")

    with pytest.raises(ConflictError, match=r"There is a deep/b\.md already"):
        opened.writer.change(cause(), "x", build)
    assert contents(place) == NOTES


# What is refused.

REFUSED = {
    "what isn't there": (NotFoundError, "There is no note x", lambda w: w.trash(cause(), "x")),
    "the vault": (InvalidError, "empty", lambda w: w.trash(cause(), "")),
    "settings": (DeniedError, "hidden", lambda w: w.trash(cause(), ".obsidian")),
    "into settings": (DeniedError, "hidden", lambda w: w.move(cause(), "a.md", ".obsidian/a.md")),
    "out of the vault": (DeniedError, "climbs", lambda w: w.move(cause(), "a.md", "../a.md")),
    "a taken name": (ConflictError, "There is a hub.md already",
                     lambda w: w.move(cause(), "a.md", "hub.md")),
    "a reserved name": (InvalidError, "CON", lambda w: w.move(cause(), "a.md", "CON.md")),
    "into itself": (InvalidError, "into itself", lambda w: w.move(cause(), "deep", "deep/er")),
    "a file as folder": (InvalidError, "not a folder",
                         lambda w: w.move(cause(), "a.md", "hub.md/a.md")),
    "a link": (DeniedError, "is a link", lambda w: w.trash(cause(), "link.md")),
    "a pipe": (InvalidError, "pipe", lambda w: w.move(cause(), "pipe", "a2.md")),
    "through a link": (DeniedError, "is a link",
                       lambda w: w.move(cause(), "a.md", "linked/a.md")),
    "an edit of Latin-1": (InvalidError, "0xe9",
                           lambda w: w.edit(cause(), "latin.md", str.upper)),
    "an edit of a picture": (InvalidError, "binary",
                             lambda w: w.edit(cause(), "deep/picture.png", str.upper)),
    "to make what is there": (ConflictError, "There is a note hub.md already",
                              lambda w: w.write(cause(), "hub.md", "x", Mode.CREATE)),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "sentence", "work"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_changes_nothing(place, opened, kind, sentence, work):
    (place / ".obsidian").mkdir()
    (place / "latin.md").write_bytes(b"caf\xe9")
    (place / "link.md").symlink_to("hub.md")
    (place / "linked").symlink_to("deep")
    os.mkfifo(place / "pipe")
    before = contents(place)
    with pytest.raises(kind, match=sentence):
        work(opened.writer)
    assert contents(place) == before
    assert opened.journal.latest(1) == []


def test_a_file_of_two_gigabytes_is_moved_and_trashed_but_not_edited(place, opened):
    with (place / "film.md").open("wb") as film:
        film.truncate(2 * 1024**3)
    for work in (
        lambda: opened.writer.edit(cause(), "film.md", str.upper),
        lambda: opened.writer.write(cause(), "film.md", "x"),
    ):
        with pytest.raises(InvalidError, match=rf"2,147,483,648 bytes.*{MOST_BYTES:,}"):
            work()
    moved = opened.writer.move(cause(), "film.md", "deep/film.md")
    trashed = opened.writer.trash(cause(), "deep/film.md")
    assert (place / ".trash/deep/film.md").stat().st_size == 2 * 1024**3
    opened.writer.undoing.step(cause(), trashed.step)
    opened.writer.undoing.step(cause(), moved.step)
    assert (place / "film.md").stat().st_size == 2 * 1024**3


WRITES = {
    "create": lambda w: w.write(cause(), "deep/new/c.md", "x"),
    "append": lambda w: w.write(cause(), "deep/b.md", "x"),
    "overwrite": lambda w: w.write(cause(), "deep/b.md", "x", Mode.OVERWRITE),
    "edit": lambda w: w.edit(cause(), "deep/b.md", str.upper),
    "move out": lambda w: w.move(cause(), "deep/b.md", "./b.md"),
    "move in": lambda w: w.move(cause(), "a.md", "Deep/a.md"),
    "move": lambda w: w.move(cause(), "deep", "low"),
    "trash": lambda w: w.trash(cause(), "deep/b.md"),
    "trash all": lambda w: w.trash(cause(), "deep"),
}


@pytest.mark.parametrize("work", WRITES.values(), ids=WRITES.keys())
@pytest.mark.parametrize("locked", ["deep", "DEEP/"])
def test_a_read_only_folder_is_read_only_for_every_write(place, tmp_path, work, locked):
    opened = OpenedVault(place, tmp_path / "vault.sqlite", read_only=[locked])
    with pytest.raises(DeniedError, match="is read-only for tools"):
        work(opened.writer)
    assert contents(place) == NOTES
    opened.close()


def test_a_folder_that_holds_a_read_only_one_can_not_be_moved_away():
    locked = Locked(["raw/media"])
    with pytest.raises(DeniedError, match="raw/media is read-only"):
        locked.refuse("raw", whole=True)
    locked.refuse("raw", whole=False)
    locked.refuse("raw/mediation", whole=True)


# Cut off anywhere.

STEPS = {
    "create": lambda opened: opened.writer.write(cause(), "x/y/z.md", "new"),
    "overwrite": lambda opened: opened.writer.write(cause(), "hub.md", "new", Mode.OVERWRITE),
    "move with links": move_hub,
    "move a folder": move_folder,
    "trash": lambda opened: opened.writer.trash(cause(), "deep/b.md"),
    "undo a create": lambda opened: opened.writer.undoing.last(cause()),
    "undo a move": lambda opened: opened.writer.undoing.last(cause()),
}  # fmt: skip
FIRST = {"undo a create": STEPS["create"], "undo a move": move_hub}


@pytest.fixture(params=["one by one, exchanging", "all at once, renaming"])
def way(request, monkeypatch):
    """Both kinds of disks, those that can exchange two names and others; both ways to sync."""
    if request.param.startswith("all"):
        monkeypatch.setattr(renaming, "_CALL", None)
        monkeypatch.setattr(applying, "_FEW", 0)


@pytest.fixture
def memory(tmp_path):
    """A folder on a disk in memory, if there is one: these tests sync thousands of times."""
    shared = Path("/dev/shm")
    if not shared.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", STEPS)
def test_cut_off_anywhere_a_step_is_done_or_not_after_the_next_start(memory, name):
    for moment in range(100):
        place, record = memory / f"vault{moment}", memory / f"{moment}.sqlite"
        fill(place)
        opened = OpenedVault(place, record)
        if name in FIRST:
            FIRST[name](opened)
        before = contents(place)
        opened.cut_off_at(moment)
        try:
            STEPS[name](opened)
        except CutOffError:
            cut_off = True
        else:
            cut_off = False
        opened.close()
        again = OpenedVault(place, record)
        states = [each.state for each in again.writer.recover()]
        assert states in ([], [None], [State.DONE])
        assert again.journal.pending() == []
        now = contents(place)
        if states == [None]:
            assert now == before
        else:
            assert now != before
            again.writer.undoing.step(cause(), again.journal.latest(1)[0].number)
            assert contents(place) == before
        again.close()
        if not cut_off:
            assert moment > 0
            return
    raise AssertionError(f"{name} never came to its end")


@pytest.mark.parametrize("crash", [False, True], ids=["going on", "and a crash"])
@pytest.mark.parametrize("name", STEPS)
def test_what_somebody_saves_in_the_middle_of_a_step_is_never_lost(memory, name, crash):
    """To every file, at every moment, on a disk that can exchange two names."""
    for moment in range(100):
        place, record = memory / f"vault{moment}", memory / f"{moment}.sqlite"
        fill(place)
        opened = OpenedVault(place, record)
        if name in FIRST:
            FIRST[name](opened)
        saved, left = [], [moment]

        def between(_where, place=place, saved=saved, left=left):
            left[0] -= 1
            if left[0] >= 0 or saved:
                return
            for path in sorted(place.rglob("*.md")):
                token = f"saved {len(saved)}".encode()
                path.with_suffix(".part").write_bytes(path.read_bytes() + token)
                path.with_suffix(".part").replace(path)
                saved.append(token)
            if crash:
                raise CutOffError

        opened.between = between
        with contextlib.suppress(ErisError, CutOffError):
            STEPS[name](opened)
        opened.close()
        again = OpenedVault(place, record)
        again.writer.recover()
        assert again.journal.pending() == []
        there = b"".join(contents(place).values()).lower()  # An edit may have been to capitals.
        assert all(token in there for token in saved), (moment, contents(place))
        again.close()
        if not saved:
            return
    raise AssertionError(f"{name} never came to its end")


def test_a_step_of_which_a_file_was_edited_since_is_taken_back_and_the_edit_stays(place, tmp_path):
    opened = OpenedVault(place, tmp_path / "vault.sqlite")

    def between(where):
        if where == "apply deep/b.md":
            raise CutOffError

    opened.between = between
    with pytest.raises(CutOffError):
        move_hub(opened)
    assert (place / "a.md").read_bytes() != NOTES["a.md"]
    opened.close()
    (place / "deep" / "b.md").write_bytes(b"edited")
    again = OpenedVault(place, tmp_path / "vault.sqlite")
    (recovered,) = again.writer.recover()
    assert (recovered.state, recovered.foreign) == (State.UNCERTAIN, ("deep/b.md",))
    assert contents(place) == {**NOTES, "deep/b.md": b"edited"}
    again.close()


def test_a_file_edited_after_its_turn_stays_edited_and_the_step_is_finished(place, tmp_path):
    opened = OpenedVault(place, tmp_path / "vault.sqlite")

    def between(where):
        if where == "apply new/centre.md":
            (place / "a.md").write_bytes(b"edited")
            raise CutOffError

    opened.between = between
    with pytest.raises(CutOffError):
        move_hub(opened)
    opened.close()
    again = OpenedVault(place, tmp_path / "vault.sqlite")
    assert [each.state for each in again.writer.recover()] == [State.DONE]
    assert (place / "a.md").read_bytes() == b"edited"
    assert (place / "new" / "centre.md").exists()
    again.close()


def test_killed_at_any_moment_moves_are_whole(place, tmp_path):
    """A real process moves a note with many links back and forth, through 6 kills."""
    links = {f"n{number}.md": f"{number} [[hub]]\n" for number in range(20)}
    for path, text in links.items():
        (place / path).write_text(text)
    program = textwrap.dedent("""
        import os, sys
        from pathlib import Path
        from tests.opened_vault import OpenedVault, cause
        opened = OpenedVault(Path(sys.argv[1]), Path(sys.argv[2]))
        opened.writer.recover()
        def swap(old, new):
            edit = lambda text: text.replace(f"[[{old}]]", f"[[{new}]]")
            opened.writer.move(cause(), old, new, lambda *_: {f"n{n}.md": edit for n in range(20)})
        if Path(sys.argv[1], "centre.md").exists():
            swap("centre", "hub")
        while True:
            swap("hub", "centre")
            print(flush=True)
            swap("centre", "hub")
    """)
    dice = random.Random(3)
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", program, place, tmp_path / "k.sqlite"],
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
        )
        process.stdout.readline()
        threading.Event().wait(dice.random() * 0.05)  # Anywhere in the next moves.
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait(30)
        opened = OpenedVault(place, tmp_path / "k.sqlite")
        opened.writer.recover()
        assert opened.journal.pending() == []
        opened.close()
        name = "centre" if (place / "centre.md").exists() else "hub"
        expected = {path: text.replace("hub", name).encode() for path, text in links.items()}
        rest = {path: data for path, data in NOTES.items() if path != "hub.md"}
        assert contents(place) == {**expected, **rest, f"{name}.md": HUB}
