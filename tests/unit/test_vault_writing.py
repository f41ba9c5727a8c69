"""Notes are written whole, once, and never over what wasn't meant to be replaced."""

import contextlib
import errno
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from actors.vault import renaming
from actors.vault.replacing import MOST_BYTES, digest_of
from actors.vault.steps import Entry, Receipt, State, Write
from actors.vault.writing import Mode
from eris.errors import (
    ConfigurationError,
    ConflictError,
    DeniedError,
    ErisError,
    InvalidError,
    StorageError,
    UnavailableError,
)
from tests.opened_vault import OpenedVault, cause

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    return vault


@pytest.fixture
def opened(place, tmp_path):
    both = OpenedVault(place, tmp_path / "vault.sqlite")
    yield both
    both.close()


@pytest.fixture
def writer(opened):
    return opened.writer


def order(path, content="text", mode=Mode.APPEND, call_id=""):
    return cause(call_id=call_id), path, content, mode


def temporaries(place):
    return [path.name for path in place.rglob(".eris-*")]


APPENDS = {
    "to nothing": (None, "buy milk", b"buy milk"),
    "to an empty note": (b"", "buy milk", b"buy milk\n"),
    "after a finished line": (b"a\n", "b", b"a\nb\n"),
    "a list after a paragraph": (b"a\n", "- b", b"a\n\n- b\n"),
    "an item to a list": (b"a\n\n- b", "- c", b"a\n\n- b\n- c"),
    "a paragraph after a list": (b"- a\n", "b", b"- a\n\nb\n"),
    "a heading after a paragraph": (b"a\n", "# B\n\nc\n", b"a\n\n# B\n\nc\n"),
    "after an unfinished line": (b"a", "b", b"a\nb"),
    "text that begins with a new line": (b"a", "\nb", b"a\nb"),
    "to Windows lines": (b"a\r\nb\r\n", "c\nd\n", b"a\r\nb\r\nc\r\nd\r\n"),
    "to an unfinished Windows line": (b"a\r\nb", "c", b"a\r\nb\r\nc"),
    "to mostly Unix lines": (b"a\nb\nc\r\n", "d\ne", b"a\nb\nc\r\nd\ne\n"),
    "Windows text to Unix lines": (b"a\n", "b\r\nc", b"a\nb\nc\n"),
    "after a byte order mark": (b"\xef\xbb\xbfa\n", "b", b"\xef\xbb\xbfa\nb\n"),
    "only a byte order mark": (b"\xef\xbb\xbf", "b", b"\xef\xbb\xbfb\n"),
    "text with a byte order mark": (b"a\n", "\ufeffb", b"a\nb\n"),
    "old Mac lines stay": (b"a\rb\r", "c", b"a\rb\rc\r"),
    "hard breaks and tabs stay": (b"a  \n\tb \n\n", "c", b"a  \n\tb \n\nc\n"),
    "not only ASCII": ("naïve 🍋\n".encode(), "買う", "naïve 🍋\n買う\n".encode()),
}


@pytest.mark.parametrize(("before", "content", "after"), APPENDS.values(), ids=APPENDS.keys())
def test_an_append_adds_lines_and_touches_no_other_byte(place, writer, before, content, after):
    note = place / "notes" / "today.md"
    if before is not None:
        note.write_bytes(before)
    receipt = writer.write(*order("notes/today.md", content))
    assert note.read_bytes() == after
    assert receipt.action == ("created" if before is None else "appended")
    assert receipt.size == len(content.encode())


def test_writing_without_a_mode_by_default_never_destroys_the_day(place, writer):
    (place / "notes" / "today.md").write_text("a whole day\n")
    writer.write(*order("notes/today.md", "buy milk"))
    assert (place / "notes" / "today.md").read_text() == "a whole day\nbuy milk\n"


def test_overwriting_replaces_all_of_it_byte_for_byte(place, writer):
    note = place / "notes" / "today.md"
    note.write_bytes(b"\xef\xbb\xbfold\r\n")
    assert writer.write(*order("notes/today.md", "new\n", Mode.OVERWRITE)).action == "overwrote"
    assert note.read_bytes() == b"new\n"


def test_overwriting_what_is_not_there_creates_it(place, writer):
    assert writer.write(*order("notes/x.md", "new", Mode.OVERWRITE)).action == "created"


PATHS = {
    "as written": (["a.md"], "b.md", "b.md", ""),
    "without extension": ([], "notes/today", "notes/today.md", "notes/today"),
    "without extension, existing": (["notes/today.md"], "notes/today", "notes/today.md",
                                    "notes/today"),
    "an existing file without extension": (["LICENSE"], "LICENSE", "LICENSE", ""),
    "the one note of that name": (["notes/today.md"], "today.md", "notes/today.md", "today.md"),
    "the one note of that stem": (["notes/today.md"], "Today", "notes/today.md", "Today"),
    "at the top before elsewhere": (["notes/today.md", "today.md"], "today.md", "today.md", ""),
    "another case": (["notes/today.md"], "Notes/Today.md", "notes/today.md", "Notes/Today.md"),
    "a new note in a folder of another case": (["notes/a.md"], "Notes/b.md", "notes/b.md",
                                               "Notes/b.md"),
    "a folder's name": (["plan/a.md"], "plan.md", "plan.md", ""),
    "a note beside a folder of its name": (["plan/a.md", "plan.md"], "plan", "plan.md", "plan"),
    "not a hidden one": ([".trash/today.md"], "today.md", "today.md", ""),
}  # fmt: skip


@pytest.mark.parametrize(("there", "path", "written", "asked"), PATHS.values(), ids=PATHS.keys())
def test_the_receipt_names_the_note_that_was_written(*, place, writer, there, path, written, asked):
    for name in there:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("before\n")
    receipt = writer.write(*order(path, "milk"))
    assert (receipt.path, receipt.asked) == (written, asked)
    assert "milk" in (place / written).read_text()


def test_a_slash_in_a_title_makes_a_folder_and_says_so(place, writer):
    receipt = writer.write(*order("notes/Coupon Enable/Disable Feature", "x"))
    assert receipt.path == "notes/Coupon Enable/Disable Feature.md"
    assert receipt.folder == "notes/Coupon Enable"


def test_of_several_notes_of_one_name_none_is_written_and_all_are_named(place, writer):
    (place / "old").mkdir()
    for folder in ("notes", "old"):
        (place / folder / "today.md").write_text("x")
    with pytest.raises(ConflictError, match=r"notes/today\.md, old/today\.md"):
        writer.write(*order("today"))
    assert not (place / "today.md").exists()


@pytest.mark.parametrize("path", ["Plan.md", "plan.md", "plan", "Notes/plan.md"])
def test_overwriting_needs_the_exact_path(place, writer, path):
    (place / "notes" / "plan.md").write_text("precious")
    if (place / "Notes").exists():
        pytest.skip("this disk doesn't tell case apart")
    with pytest.raises(ConflictError, match=r"There is a note notes/plan\.md, which isn't exactly"):
        writer.write(*order(path, "x", Mode.OVERWRITE))
    assert (place / "notes" / "plan.md").read_text() == "precious"
    assert not (place / "plan.md").exists()


REFUSED = {
    "the vault itself": ("", "x", Mode.APPEND, InvalidError, "is empty"),
    "a folder": ("notes", "x", Mode.APPEND, InvalidError, "is a folder"),
    "a note as folder": ("there.md/x.md", "x", Mode.APPEND, InvalidError, "not a folder"),
    "an unsound name": ("notes/a:b.md", "x", Mode.APPEND, InvalidError, "character :"),
    "an unsound folder": ("new/what?/b.md", "x", Mode.APPEND, InvalidError, r"character \?"),
    "a picture": ("cat.png", "x", Mode.APPEND, InvalidError, "isn't text"),
    "a NUL": ("x.md", "a\0b", Mode.APPEND, InvalidError, "NUL"),
    "half a character": ("x.md", "a\ud83d", Mode.APPEND, InvalidError, "half a character"),
    "nothing to append": ("there.md", "", Mode.APPEND, InvalidError, "is empty"),
    "emptying by overwriting": ("there.md", "", Mode.OVERWRITE, InvalidError, "is empty"),
    "too much": ("x.md", "x" * (MOST_BYTES + 1), Mode.APPEND, InvalidError, "limit"),
    "appending to Latin-1": ("latin.md", "x", Mode.APPEND, InvalidError, "0xe9"),
    "appending to binary": ("binary.md", "x", Mode.APPEND, InvalidError, "binary"),
    "overwriting binary": ("binary.md", "x", Mode.OVERWRITE, InvalidError, "binary"),
    "marked read-only": ("locked.md", "x", Mode.OVERWRITE, DeniedError, "read-only"),
    "another's temporary file": (".eris-0123456789abcdef.tmp", "x", Mode.APPEND, DeniedError,
                                 "hidden"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "content", "mode", "kind", "sentence"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_is_refused_changes_nothing_and_leaves_nothing(
    *, place, opened, path, content, mode, kind, sentence
):
    (place / "there.md").write_text("there")
    (place / "latin.md").write_bytes(b"caf\xe9")
    (place / "binary.md").write_bytes(b"\x89PNG\0\0")
    (place / "locked.md").write_text("locked")
    (place / "locked.md").chmod(0o444)
    before = {each: each.is_file() and each.read_bytes() for each in place.rglob("*")}
    with pytest.raises(kind, match=sentence):
        opened.writer.write(*order(path, content, mode))
    assert {each: each.is_file() and each.read_bytes() for each in place.rglob("*")} == before
    assert opened.journal.pending() == []


def test_the_permissions_of_a_note_are_kept_and_new_ones_follow_their_folder(place, writer):
    mask = os.umask(0o077)  # As the process has it, for its sockets.
    try:
        (place / "notes").chmod(0o755)
        (place / "script.md").write_text("x")
        (place / "script.md").chmod(0o754)
        writer.write(*order("script.md"))
        writer.write(*order("notes/new/b.md"))
    finally:
        os.umask(mask)
    modes = {
        name: stat.S_IMODE((place / name).stat().st_mode)
        for name in ("script.md", "notes/new", "notes/new/b.md")
    }
    assert modes == {"script.md": 0o754, "notes/new": 0o755, "notes/new/b.md": 0o644}


def test_whoever_reads_meanwhile_sees_the_old_or_the_new_note_whole(place, writer):
    note = place / "big.md"
    contents = [letter * 300_000 for letter in "ab"]
    note.write_text(contents[0])
    seen = set()
    done = threading.Event()

    def look():
        while not done.is_set():
            seen.add(note.read_text())

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for number in range(30):
            writer.write(*order("big.md", contents[number % 2], Mode.OVERWRITE))
    finally:
        done.set()
        reader.join(30)
    assert seen <= set(contents)


# Once, even when asked twice.


def test_a_repeated_call_returns_the_first_receipt_and_writes_nothing_more(place, writer):
    call = order("notes/today.md", "buy milk")
    first = writer.write(*call)
    (place / "notes" / "today.md").write_text("edited since")
    assert writer.write(*call) == first
    assert (place / "notes" / "today.md").read_text() == "edited since"


def test_a_repeated_call_is_known_after_a_restart(place, tmp_path):
    call = order("notes/today.md", "buy milk")
    for _ in range(3):
        process = OpenedVault(place, tmp_path / "ledger.sqlite")
        process.writer.write(*call)
        process.close()
    assert (place / "notes" / "today.md").read_text() == "buy milk"


def test_the_same_call_with_other_content_is_a_conflict(place, writer):
    call = order("notes/today.md", "buy milk")
    writer.write(*call)
    with pytest.raises(ConflictError, match="used before"):
        writer.write(*order("notes/today.md", "sell milk", call_id=call[0].call_id))


def test_a_call_that_failed_can_be_tried_again(place, writer):
    call = order("notes/today.md", "x")
    (place / "notes" / "today.md").mkdir()
    with pytest.raises(InvalidError):
        writer.write(*call)
    (place / "notes" / "today.md").rmdir()
    assert writer.write(*call).action == "created"


def test_twenty_threads_with_one_call_write_once_and_with_twenty_calls_twenty_times(place, writer):
    same = order("same.md", "line\n")
    calls = [same] * 20 + [order("each.md", f"line {number}\n") for number in range(20)]
    threads = [threading.Thread(target=writer.write, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (place / "same.md").read_text() == "line\n"
    assert sorted((place / "each.md").read_text().split("\n")) == sorted(
        ["", *(f"line {number}" for number in range(20))]
    )


CRASHES = {
    "before the rename": ("old", "old\nmilk", "appended", None),
    "after the rename": ("old\nmilk", "old\nmilk", "appended", State.DONE),
    "a new note, before": (None, "milk", "created", None),
    "a new note, after": ("milk", "milk", "created", State.DONE),
}


@pytest.mark.parametrize(
    ("on_disk", "finally_there", "action", "settled"), CRASHES.values(), ids=CRASHES.keys()
)
@pytest.mark.parametrize("at_start", [True, False])
def test_after_a_crash_the_note_says_whether_it_was_written(
    *, place, opened, on_disk, finally_there, action, settled, at_start
):
    call = order("notes/today.md", "milk")
    begin_and_crash(opened, call, "old" if action == "appended" else None, action)
    if on_disk is not None:
        (place / "notes" / "today.md").write_text(on_disk)
    (place / "notes" / ".eris-0123456789abcdef.tmp").write_text(finally_there[:2])
    if at_start:
        assert [each.state for each in opened.writer.recover()] == [settled]
        assert temporaries(place) == []
    receipt = opened.writer.write(*call)
    assert receipt.action == action
    assert (place / "notes" / "today.md").read_text() == finally_there
    assert temporaries(place) == []
    assert opened.journal.pending() == []


def begin_and_crash(opened, call, before, action):
    after = f"{before}\nmilk" if before else "milk"
    old, new = (before or "").encode(), after.encode()
    opened.journal.begin(
        Entry(
            cause=call[0],
            request=digest_of(repr((call[1], str(call[3]), call[2])).encode()),
            receipt=Receipt(path="notes/today.md", action=action, size=4),
            changes=(
                Write(
                    path="notes/today.md",
                    before=digest_of(old) if before else "",
                    after=digest_of(new),
                    temporary=".eris-0123456789abcdef.tmp",
                ),
            ),
        ),
        {digest_of(data): data for data in (old, new)},
    )


def test_a_note_changed_by_somebody_after_a_crash_is_left_alone_and_said_so(place, opened):
    call = order("notes/today.md", "milk")
    begin_and_crash(opened, call, "old", "appended")
    (place / "notes" / "today.md").write_text("edited by hand")
    assert [each.state for each in opened.writer.recover()] == [State.UNCERTAIN]
    for _ in range(2):
        with pytest.raises(ConflictError, match="nothing more was written"):
            opened.writer.write(*call)
    assert (place / "notes" / "today.md").read_text() == "edited by hand"


def test_a_write_that_never_happened_is_forgotten_before_others_edit_the_note(place, opened):
    call = order("notes/today.md", "milk")
    (place / "notes" / "today.md").write_text("old")
    begin_and_crash(opened, call, "old", "appended")
    opened.writer.recover()
    (place / "notes" / "today.md").write_text("edited by hand")
    opened.writer.write(*call)
    assert (place / "notes" / "today.md").read_text() == "edited by hand\nmilk"


def test_killed_at_any_moment_every_line_is_there_once(place, tmp_path):
    """Repeats calls until they are acknowledged, as the gatekeeper does, through 15 kills."""
    program = textwrap.dedent("""
        import os, sys, time, secrets
        from pathlib import Path
        from actors.vault.vault_folder import VaultFolder
        from actors.vault.journal import Journal
        from actors.vault.steps import Cause
        from actors.vault.writing import NoteWriter
        from actors.vault.lookup import Lookup
        vault = VaultFolder(Path(sys.argv[1]))
        journal = Journal(Path(sys.argv[2]), time.time)
        lookup = Lookup(vault, clock=time.monotonic)
        writer = NoteWriter(vault, journal, lookup=lookup, random_hex=secrets.token_hex)
        writer.recover()
        for number in range(int(sys.argv[3]), 10**6):
            writer.write(Cause(f"call-{number}"), f"log{number % 3}", f"line {number}")
            print(number, flush=True)
    """)
    dice = random.Random(7)
    acknowledged = -1
    for _ in range(15):
        process = subprocess.Popen(
            [sys.executable, "-c", program, place, tmp_path / "k.sqlite", str(acknowledged + 1)],
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            text=True,
        )
        for _ in range(dice.randint(1, 12)):
            acknowledged = int(process.stdout.readline())
        threading.Event().wait(dice.random() * 0.02)  # Anywhere in the next writes.
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait(30)
        process.stdout.close()
        acknowledged = int(rest[-1]) if rest else acknowledged
    process = OpenedVault(place, tmp_path / "k.sqlite")
    process.writer.recover()
    process.close()
    lines = "\n".join(path.read_text() for path in place.glob("log*.md")).split("\n")
    numbers = sorted(int(line.removeprefix("line ")) for line in lines)
    assert numbers == list(range(len(numbers)))
    assert acknowledged <= numbers[-1] <= acknowledged + 1
    assert temporaries(place) == []


# Disks that refuse.


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk here; the test with a limit stands in")
    try:
        (place / "notes").mkdir()
        (place / "notes" / "today.md").write_text("precious\n")
        process = OpenedVault(place, tmp_path / "vault.sqlite")
        call = order("notes/today.md", "x" * 100_000)
        with pytest.raises(StorageError, match=r"notes/today\.md wasn't written.*disk is full"):
            process.writer.write(*call)
        with pytest.raises(StorageError, match="disk is full"):
            process.writer.write(*order("deep/er/new.md", "x" * 100_000))
        assert (place / "notes" / "today.md").read_text() == "precious\n"
        assert sorted(path.name for path in place.rglob("*")) == ["notes", "today.md"]
        assert process.writer.write(*order("notes/today.md", "small")).action == "appended"
        subprocess.run(["mount", "-o", "remount,size=1m", place], check=True)
        assert process.writer.write(*call).action == "appended"
        process.close()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_a_limit_in_the_middle_of_a_write_loses_nothing(place, tmp_path):
    (place / "today.md").write_text("precious\n")
    program = textwrap.dedent("""
        import resource, signal, sys, time, secrets
        from pathlib import Path
        from actors.vault.vault_folder import VaultFolder
        from actors.vault.journal import Journal
        from actors.vault.steps import Cause
        from actors.vault.writing import NoteWriter
        from actors.vault.lookup import Lookup
        from eris.errors import StorageError
        journal = Journal(Path(sys.argv[2]), time.time)
        vault = VaultFolder(Path(sys.argv[1]))
        lookup = Lookup(vault, clock=time.monotonic)
        writer = NoteWriter(vault, journal, lookup=lookup, random_hex=secrets.token_hex)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        try:
            writer.write(Cause("c"), "today.md", "x" * 1_000_000)
        except StorageError as error:
            print(error.message)
    """)
    run = subprocess.run(
        [sys.executable, "-c", program, place, tmp_path / "l.sqlite"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.startswith("today.md wasn't written, and nothing was changed: the file")
    assert (place / "today.md").read_text() == "precious\n"
    assert temporaries(place) == []


@contextlib.contextmanager
def an_ordinary_user():
    """Lose the rights over everybody's files in this thread, if it has them."""
    if os.getuid():
        yield
        return
    if sys.platform != "linux":
        pytest.skip("needs an ordinary user")
    import ctypes  # noqa: PLC0415 - only here, and only on Linux

    library = ctypes.CDLL(None)
    library.setfsuid(65534)
    try:
        yield
    finally:
        library.setfsuid(0)


def test_missing_permissions_are_said(tmp_path):
    # Everybody may pass through to the vault, whatever the test's own folder allows.
    place = tmp_path / "vault"
    place.mkdir()
    (place / "there.md").write_text("there")
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    (place / "there.md").chmod(0o400)
    place.chmod(0o555)
    parents = [parent for parent in place.parents if str(parent).startswith("/tmp/")]
    modes = [parent.stat().st_mode for parent in parents]
    try:
        for parent in parents:
            parent.chmod(0o711)
        with an_ordinary_user():
            with pytest.raises(StorageError, match=r"new\.md wasn't written.*permission"):
                process.writer.write(*order("new.md"))
            with pytest.raises(StorageError, match=r"deep can't be made.*permission"):
                process.writer.write(*order("deep/new.md"))
    finally:
        place.chmod(0o755)
        for parent, mode in zip(parents, modes, strict=True):
            parent.chmod(stat.S_IMODE(mode))
        process.close()
    assert [path.name for path in place.iterdir()] == ["there.md"]


def test_a_record_that_can_not_be_kept_prevents_the_write(place, opened):
    opened.journal.close()
    with pytest.raises(StorageError, match="record of writes"):
        opened.writer.write(*order("x.md"))
    assert not (place / "x.md").exists()


def test_a_damaged_record_is_put_aside(place, tmp_path):
    (tmp_path / "vault.sqlite").write_bytes(b"this is no database at all" * 100)
    process = OpenedVault(place, tmp_path / "vault.sqlite")
    assert process.writer.write(*order("x.md")).action == "created"
    process.close()
    assert (tmp_path / "vault.sqlite.damaged-1000").exists()


def test_a_record_of_a_newer_version_is_not_touched(place, tmp_path):
    import sqlite3  # noqa: PLC0415 - one test's own way in

    database = sqlite3.connect(tmp_path / "vault.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ConfigurationError, match="another version"):
        OpenedVault(place, tmp_path / "vault.sqlite")


def test_a_note_edited_at_the_last_moment_is_not_overwritten(place, opened, monkeypatch):
    (place / "x.md").write_text("old")
    original = opened.journal.begin

    def begin(*step):
        number = original(*step)
        (place / "x.md").write_text("edited at the last moment")
        return number

    monkeypatch.setattr(opened.journal, "begin", begin)
    with pytest.raises(ConflictError, match="changed by somebody else"):
        opened.writer.write(*order("x.md", "new", Mode.OVERWRITE))
    assert (place / "x.md").read_text() == "edited at the last moment"
    assert temporaries(place) == []


def test_an_append_to_a_note_edited_at_the_last_moment_keeps_both(place, opened, monkeypatch):
    original = opened.journal.begin
    edits = ["one\n", "two\n"]

    def begin(*step):
        number = original(*step)
        if edits:
            (place / "x.md").write_text(edits.pop(0))
        return number

    monkeypatch.setattr(opened.journal, "begin", begin)
    opened.writer.write(*order("x.md", "milk"))
    assert (place / "x.md").read_text() == "two\nmilk\n"


def test_on_a_disk_without_hard_links_a_new_note_is_created_and_a_taken_name_left(
    place, opened, monkeypatch
):
    def no_links(*_names, **_options):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(renaming, "_CALL", None)
    assert opened.writer.write(*order("x.md", "milk")).action == "created"
    original = opened.journal.begin

    def begin(*step):
        number = original(*step)
        if not (place / "y.md").exists():
            (place / "y.md").write_text("somebody was faster\n")
        return number

    monkeypatch.setattr(opened.journal, "begin", begin)
    assert opened.writer.write(*order("y.md", "milk")).action == "appended"
    assert (place / "x.md").read_text() == "milk"
    assert (place / "y.md").read_text() == "somebody was faster\nmilk\n"
    assert temporaries(place) == []


def test_after_the_stop_nothing_is_written(place, writer):
    writer.stop()
    with pytest.raises(UnavailableError) as caught:
        writer.write(*order("x.md"))
    assert caught.value.retryable
    assert isinstance(caught.value, ErisError)
