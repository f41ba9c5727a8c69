"""A vault on a disk that ignores case, as those of Macs and Windows and most USB sticks do.

Where there is none, an exFAT disk in a file is mounted; that takes root, Debian's packages
exfat-fuse and exfatprogs, and a kernel that lets it. Such a disk has no hard links, no permissions
and no lasting inode numbers either.
"""

import shutil
import subprocess

import pytest

from actors.vault.index import VaultIndex
from eris.errors import ConflictError
from tests.opened_vault import CutOffError, OpenedVault, cause, contents

NOTES = {
    "notes/today.md": b"milk\n",
    "hub.md": b"the hub\n",
    "a.md": b"see [[hub]]\n",
}
MOMENTS = 12
"""More than the things that the longest step here does to the disk."""


def ignores_case(folder):
    (folder / "case").touch()
    return (folder / "CASE").exists()


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    if ignores_case(folder):
        yield folder
        return
    if not all(map(shutil.which, ("mkfs.exfat", "mount.exfat-fuse"))):
        pytest.skip("no disk that ignores case, and no exfat-fuse to make one")
    image, mounted = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    mounted.mkdir()
    run("mkfs.exfat", image)
    device = run("losetup", "--find", "--show", image)
    try:
        run("mount.exfat-fuse", device, mounted)
        yield mounted
        run("umount", "--lazy", mounted)
    finally:
        run("losetup", "--detach", device)


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"an exFAT disk can't be mounted: {command[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


@pytest.fixture
def place(disk, request):
    place = disk / request.node.name.translate(str.maketrans("[]<>|:*?", "()______"))
    fill(place)
    return place


def fill(place):
    shutil.rmtree(place, ignore_errors=True)
    for path, data in NOTES.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)


@pytest.fixture
def opened(place, tmp_path):
    opened = OpenedVault(place, tmp_path / "journal.sqlite")
    yield opened
    opened.close()


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("asked", ["notes/TODAY.md", "Notes/today.md", "NOTES/Today"])
def test_a_note_has_the_name_that_it_has_on_the_disk(place, opened, asked):
    receipt = opened.writer.write(cause(), asked, "more")
    assert (receipt.path, receipt.asked) == ("notes/today.md", asked)
    assert (place / "notes/today.md").read_bytes() == b"milk\nmore\n"
    assert names(place / "notes") == ["today.md"]


def test_what_is_there_in_other_capitals_is_neither_made_nor_overwritten(place, opened):
    with pytest.raises(ConflictError, match=r"notes/today\.md"):
        opened.writer.move(cause(), "hub.md", "notes/Today.md")
    (place / "notes/hub.md").write_bytes(b"another\n")
    with pytest.raises(ConflictError, match=r"notes/hub\.md"):
        opened.writer.move(cause(), "hub.md", "notes/Hub.md")
    assert contents(place) == NOTES | {"notes/hub.md": b"another\n"}


def rename_note(opened):
    rewrites = {"a.md": lambda text: text.replace("[[hub]]", "[[Hub]]")}
    return opened.writer.move(cause(), "hub.md", "Hub.md", lambda *_: rewrites)


def rename_folder(opened):
    return opened.writer.move(cause(), "notes", "Notes", lambda *_: {"notes/today.md": str.upper})


RENAMES = {
    "a note": (rename_note, {"hub.md": "Hub.md"}, {"a.md": b"see [[Hub]]\n"}),
    "a folder": (
        rename_folder, {"notes/today.md": "Notes/today.md"}, {"Notes/today.md": b"MILK\n"},
    ),
}  # fmt: skip


def after(moved, rewritten):
    return {moved.get(path, path): data for path, data in NOTES.items()} | rewritten


@pytest.mark.parametrize(("rename", "moved", "rewritten"), RENAMES.values(), ids=RENAMES.keys())
def test_other_capitals_are_another_name_and_the_old_one_comes_back(
    place, opened, rename, moved, rewritten
):
    receipt = rename(opened)
    assert contents(place) == after(moved, rewritten)
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == NOTES


@pytest.mark.parametrize(("rename", "moved", "rewritten"), RENAMES.values(), ids=RENAMES.keys())
def test_a_rename_of_capitals_that_was_cut_off_is_done_or_taken_back(
    place, tmp_path, rename, moved, rewritten
):
    done = 0
    for moment in range(MOMENTS):
        fill(place)
        journal = tmp_path / f"{moment}.sqlite"
        opened = OpenedVault(place, journal)
        opened.cut_off_at(moment)
        try:
            rename(opened)
            done += 1
        except CutOffError:
            pass
        opened.close()
        again = OpenedVault(place, journal)
        again.writer.recover()
        again.close()
        assert contents(place) in (NOTES, after(moved, rewritten))
    assert 0 < done < MOMENTS


def test_a_name_in_other_capitals_is_in_the_index_once(place, opened, tmp_path):
    index = VaultIndex(tmp_path / "index.sqlite", opened.folder)
    index.reconcile()
    (place / "hub.md").rename(place / "HUB.md")
    index.update("HUB.md", "hub.md")
    assert sorted(index.paths()) == ["HUB.md", "a.md", "notes/today.md"]
    index.close()
