"""External edits are found without being asked for, and nothing is done when nothing changed."""

import os
import shutil
import time

import pytest

from actors.vault import watching
from actors.vault.index import VaultIndex
from actors.vault.vault_folder import VaultFolder
from actors.vault.watching import MOST_HINTS, Watcher

WITHIN = 20.0
"""Seconds after which a test gives up; far more than it takes."""


def wait_until(fulfilled):
    end = time.monotonic() + WITHIN
    while not fulfilled():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


class Watched:
    def __init__(self, folder, **options):
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.folder = VaultFolder(self.vault)
        self.index = VaultIndex(folder / "index.sqlite", self.folder)
        self.failures = []
        self.watcher = Watcher(self.vault, self.index, failed=self.failures.append, **options)

    def start(self):
        self.watcher.start()
        assert self.watcher.reconciled.wait(WITHIN)

    def stop(self):
        self.watcher.stop()
        self.index.close()
        self.folder.close()

    def found(self, query):
        return [each.path for each in self.index.search(query).matches]


@pytest.fixture
def watched(tmp_path):
    watched = Watched(tmp_path)
    (watched.vault / "old.md").write_text("written before")
    watched.start()
    yield watched
    watched.stop()


def test_what_was_written_before_the_start_is_found(watched):
    assert watched.found("before") == ["old.md"]


def test_edits_of_all_kinds_are_found(watched):
    vault = watched.vault
    (vault / "new.md").write_text("fresh")
    wait_until(lambda: watched.found("fresh") == ["new.md"])
    (vault / "new.md").write_text("changed")
    wait_until(lambda: watched.found("changed") == ["new.md"] and not watched.found('"fresh"'))
    (vault / "next").write_text("replaced")
    (vault / "next").replace(vault / "new.md")
    wait_until(lambda: watched.found("replaced") == ["new.md"])
    (vault / "new.md").rename(vault / "renamed.md")
    wait_until(lambda: watched.found("replaced") == ["renamed.md"])
    (vault / "renamed.md").unlink()
    wait_until(lambda: not watched.found("replaced"))


def test_folders_that_are_made_moved_and_removed_are_followed(watched):
    vault = watched.vault
    (vault / "a" / "b").mkdir(parents=True)
    (vault / "a" / "b" / "c.md").write_text("deep")
    wait_until(lambda: watched.found("deep") == ["a/b/c.md"])
    (vault / "a").rename(vault / "z")
    wait_until(lambda: watched.found("deep") == ["z/b/c.md"])
    (vault / "z" / "b" / "d.md").write_text("deeper")
    wait_until(lambda: watched.found('"deeper"') == ["z/b/d.md"])
    shutil.rmtree(vault / "z")
    wait_until(lambda: not watched.found("deep"))


def test_a_burst_that_may_have_overrun_the_queue_is_found_by_comparing_everything(watched):
    for number in range(MOST_HINTS + 100):
        (watched.vault / f"{number}.md").write_text("burst")
    wait_until(lambda: watched.index.search("burst").found == MOST_HINTS + 100)


def test_reading_hidden_files_and_own_writes_are_no_work(watched):
    vault, index = watched.vault, watched.index
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "workspace.json").write_text("{}")
    (vault / ".eris-0123456789abcdef.tmp").write_text("half a note")
    (vault / "old.md").read_text()
    (vault / "own.md").write_text("own")
    os.utime(vault / "own.md", ns=(10**18, 10**18))
    assert index.update("own.md").changed == 1
    written = index.written
    # Something else, after which all of that has been told.
    (vault / "last.md").write_text("last")
    wait_until(lambda: watched.found("last"))
    assert index.written == written + 1


def test_settings_that_change_are_applied_to_all_files(tmp_path):
    changed = []
    watched = Watched(tmp_path, settings_changed=lambda: changed.append(True))
    (watched.vault / ".obsidian").mkdir()
    watched.start()
    passes = watched.index.passes
    (watched.vault / ".obsidian" / "app.json").write_text("{}")
    wait_until(lambda: changed and watched.index.passes > passes)
    watched.stop()


def test_a_vault_that_is_taken_away_and_put_back_is_followed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "RETRY_SECONDS", 0.05)
    watched = Watched(tmp_path)
    (watched.vault / "a.md").write_text("words")
    watched.start()
    watched.vault.rename(tmp_path / "elsewhere")
    wait_until(lambda: watched.failures)
    assert watched.found("words") == ["a.md"]
    (tmp_path / "elsewhere" / "b.md").write_text("words")
    (tmp_path / "elsewhere").rename(watched.vault)
    wait_until(lambda: watched.found("words") == ["a.md", "b.md"])
    (watched.vault / "c.md").write_text("more")
    wait_until(lambda: watched.found("more") == ["c.md"])
    watched.stop()


def test_an_edit_made_while_nobody_watched_is_found_at_the_next_start(tmp_path):
    watched = Watched(tmp_path)
    (watched.vault / "a.md").write_text("words")
    (watched.vault / "b.md").write_text("words")
    watched.start()
    watched.stop()
    (watched.vault / "a.md").write_text("other")
    (watched.vault / "b.md").unlink()
    again = Watched(tmp_path)
    again.start()
    assert again.found("other") == ["a.md"]
    assert again.found("words") == []
    again.stop()
