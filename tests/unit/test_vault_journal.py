"""The journal is bounded, tells damage from soundness, and never costs a note."""

import os
import sqlite3

import pytest

from actors.vault.journal import Journal
from actors.vault.journal_file import CALLS_KEPT_SECONDS, KEPT_STEPS, Bounds
from actors.vault.steps import State
from actors.vault.writing import Mode
from eris.errors import NotFoundError, StorageError
from tests.opened_vault import CutOffError, OpenedVault, cause, contents

DAY = 24 * 3600.0


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


@pytest.fixture
def file(tmp_path):
    return tmp_path / "vault.sqlite"


def write_all(opened, count, size=0):
    """Overwrite one note often, with what can't be compressed."""
    return [
        opened.writer.write(cause(), "x.md", f"{number} {os.urandom(size).hex()}", Mode.OVERWRITE)
        for number in range(count)
    ]


def test_the_oldest_steps_lose_their_contents_first_when_there_are_too_many_bytes(place, file):
    opened = OpenedVault(place, file, bounds=Bounds(most_bytes=100_000))
    write_all(opened, 60, size=2000)
    states = [opened.journal.step(number).state for number in range(1, 61)]
    dropped = states.count(State.DROPPED)
    assert 10 < dropped <= 60 - KEPT_STEPS
    assert states == [State.DROPPED] * dropped + [State.DONE] * (60 - dropped)
    assert opened.journal.verify().sound
    assert file.stat().st_size < 400_000
    with pytest.raises(NotFoundError, match="too old to be undone"):
        opened.writer.undoing.step(cause(), 1)
    opened.writer.undoing.step(cause(), 60)
    opened.close()


def test_even_the_last_steps_lose_their_contents_at_twice_the_bound(place, file):
    opened = OpenedVault(place, file, bounds=Bounds(most_bytes=10_000))
    write_all(opened, KEPT_STEPS, size=2000)
    states = [opened.journal.step(number).state for number in range(1, KEPT_STEPS + 1)]
    assert State.DROPPED in states
    assert states[-1] is State.DONE
    opened.close()


def test_a_content_that_a_kept_step_shares_with_a_dropped_one_stays(place, file):
    clock = Clock()
    opened = OpenedVault(place, file, now=clock)
    opened.writer.write(cause(), "x.md", "shared")
    clock.now += 100 * DAY
    for number in range(KEPT_STEPS):
        opened.writer.write(cause(), f"{number}.md", "shared")
    assert opened.journal.compact() == 1
    assert opened.journal.verify().sound
    opened.writer.undoing.last(cause())
    opened.close()


def test_old_calls_are_forgotten_long_after_their_contents_and_pending_ones_never(place, file):
    clock = Clock()
    opened = OpenedVault(place, file, now=clock)
    first, pending = cause(), cause()
    opened.writer.write(first, "x.md", "x")
    opened.cut_off_at(1)
    with pytest.raises(CutOffError):
        opened.writer.write(pending, "y.md", "x")
    opened.between = lambda _where: None
    clock.now += 100 * DAY
    write_all(opened, KEPT_STEPS)
    clock.now += 1
    opened.journal.compact()
    assert opened.journal.find(first.call_id) is None
    assert opened.journal.find(pending.call_id).state is State.PENDING
    opened.close()


def test_a_call_whose_contents_are_gone_is_still_not_carried_out_twice(place, file):
    opened = OpenedVault(place, file, bounds=Bounds(most_bytes=1))
    call = cause()
    receipt = opened.writer.write(call, "x.md", "x" * 100)
    assert opened.journal.step(1).state is State.DROPPED
    assert CALLS_KEPT_SECONDS > DAY
    (place / "x.md").unlink()
    assert opened.writer.write(call, "x.md", "x" * 100) == receipt
    assert contents(place) == {}
    opened.close()


def test_damage_behind_a_sound_beginning_is_said_and_the_next_write_works(place, file):
    opened = OpenedVault(place, file)
    write_all(opened, 40, size=2000)
    opened.close()
    data = bytearray(file.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    file.write_bytes(data)
    before = contents(place)
    opened = OpenedVault(place, file)
    assert opened.journal.damage.startswith("The record of writes was damaged. It was put aside")
    assert opened.journal.damage.endswith("the notes are as they were.")
    assert contents(place) == before
    receipt = opened.writer.write(cause(), "x.md", "more")
    opened.writer.undoing.step(cause(), receipt.step)
    assert contents(place) == before
    assert file.with_name(f"{file.name}.damaged-1000").exists()
    opened.close()


def test_verifying_finds_a_content_that_was_altered_and_one_that_is_missing(place, file):
    opened = OpenedVault(place, file)
    write_all(opened, 3)
    assert opened.journal.verify().sound
    opened.close()
    database = sqlite3.connect(file)
    digests = [row[0] for row in database.execute("SELECT digest FROM contents ORDER BY digest")]
    database.execute("UPDATE contents SET packed = x'00' WHERE digest = ?", (digests[0],))
    database.execute("DELETE FROM contents WHERE digest = ?", (digests[1],))
    database.commit()
    database.close()
    journal = Journal(file, lambda: 1000.0)
    verdict = journal.verify()
    assert (verdict.damaged, verdict.missing, verdict.sound) == (
        (digests[0],), (digests[1],), False,
    )  # fmt: skip
    with pytest.raises(StorageError, match="damaged"):
        journal.content(digests[0])
    with pytest.raises(NotFoundError, match="isn't in the journal any more"):
        journal.content(digests[1])
    journal.close()


def test_the_earlier_format_is_taken_over(place, file):
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE writes (call_id TEXT)")
    database.execute("PRAGMA user_version = 1")
    database.close()
    opened = OpenedVault(place, file)
    assert opened.writer.write(cause(), "x.md", "x").action == "created"
    assert opened.journal.damage == ""
    opened.close()
