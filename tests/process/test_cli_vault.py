"""`eris vault` and `eris undo` against the real vault actor, over a real bus."""

import json
import subprocess
import sys
import threading

import pexpect
import pytest

from tests.supervised import supervised
from tests.support import processes, wait_until

pytestmark = pytest.mark.process

TODO = """\
---
status: open  # for now
tags: [home]
---
# Todo

- [ ] water

## Later

- [x] sow
"""
PLAN = """\
# Plan

See [[todo]] and [[todo#Later|later]] and [[lost]]. The tomatoes need sun. #garden/2027
"""
DAILY = {"folder": "days", "format": "YYYY/MM-DD", "template": "Templates/Day"}

NOTES = {
    "todo.md": TODO,
    "garden/plan.md": PLAN,
    "garden/log.md": "\ufeffwindows\r\nline ends\r\n",
    "people/Anna.md": "---\naliases: [Annie]\n---\nAnna likes tomatoes.\n",
    "lonely.md": "Nobody links here.\n",
    "a/twin.md": "one\n",
    "b/twin.md": "two\n",
    "Templates/Day.md": "# {{title}}\n",
    ".obsidian/daily-notes.json": json.dumps(DAILY),
}


class Caller:
    """Runs `eris` on the vault of some processes."""

    def __init__(self, system):
        self.system = system
        self.vault = system.vault

    def __call__(self, *arguments, said=None, code=0):
        """Return what `eris` prints on standard output, after it exited with ``code``."""
        done = self.run(*arguments, said=said)
        assert done.returncode == code, done
        return done.stdout.decode()

    def json(self, *arguments, code=0):
        """Return the one document on standard output."""
        done = self.run(*arguments, "--json")
        assert (done.returncode, done.stderr) == (code, b""), done
        return json.loads(done.stdout)

    def run(self, *arguments, said=None):
        return subprocess.run(
            [sys.executable, "-m", "eris", *arguments],
            env=self.system.environ,
            input=b"" if said is None else said,
            capture_output=True,
            timeout=90,
            check=False,
        )

    def bytes(self, path):
        return (self.vault / path).read_bytes()

    def everything(self):
        """Every file of the vault and what it says."""
        return {
            str(file.relative_to(self.vault)): file.read_bytes()
            for file in self.vault.rglob("*")
            if file.is_file() and ".eris" not in file.parts
        }


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The bus and the vault, started once: each test takes a fresh state of the notes."""
    with processes(tmp_path_factory.mktemp("cli")) as group:
        write_notes(group.vault)
        group.start("bus")
        group.start("vault")
        yield Caller(group)


def write_notes(vault):
    for path, text in NOTES.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())


@pytest.fixture
def eris(started):
    """`eris` on notes that are as in `NOTES`, and known to the index."""
    for path in started.everything():
        if path not in NOTES:
            (started.vault / path).unlink()
    write_notes(started.vault)
    started("vault", "index", "--wait")
    wait_until(lambda: names(started, "orphans") == ORPHANS, 20, "the index knows the notes")
    return started


def names(eris, *arguments):
    return sorted(eris("vault", *arguments).splitlines())


ORPHANS = ["Templates/Day.md", "a/twin.md", "b/twin.md", "garden/log.md", "garden/plan.md"]
ORPHANS = sorted([*ORPHANS, "lonely.md", "people/Anna.md"])


# Reading.


def test_a_note_goes_to_a_program_byte_for_byte(eris):
    done = eris.run("vault", "read", "garden/log.md")
    assert done.stdout == NOTES["garden/log.md"].encode()


@pytest.mark.parametrize("name", ["todo.md", "todo", "TODO", "file=todo"])
def test_a_note_is_read_however_it_is_named(eris, name):
    assert eris("vault", "read", name) == TODO


def test_a_note_is_read_by_its_alias_in_part_and_by_lines(eris):
    assert eris.json("vault", "read", "Annie")["path"] == "people/Anna.md"
    assert eris("vault", "read", "todo", "--part", "Later").strip() == "## Later\n\n- [x] sow"
    assert eris("vault", "read", "todo", "--first-line", "2", "--lines", "2") == (
        "status: open  # for now\ntags: [home]\n"
    )


def test_control_characters_do_not_reach_the_terminal(eris):
    (eris.vault / "lonely.md").write_text("a \x1b]0;title\x07 b\n")
    environ = {key: value for key, value in eris.system.environ.items() if key != "NO_COLOR"}
    out, code = pexpect.run(
        f"{sys.executable} -m eris vault read lonely.md", env=environ, withexitstatus=True
    )
    assert (code, out) == (0, "a ␛]0;title␇ b\r\n".encode())


def test_folders_and_files_are_listed(eris):
    assert eris("vault", "list").splitlines()[:2] == ["Templates/", "a/"]
    assert names(eris, "list", "garden") == ["garden/log.md", "garden/plan.md"]
    assert names(eris, "files", "--ext", "md") == sorted(p for p in NOTES if p.endswith(".md"))
    (eris.vault / "empty").mkdir(exist_ok=True)
    assert "empty" in names(eris, "folders")
    assert eris("vault", "files", "garden", "--total") == "2\n"
    assert eris("vault", "random", "--folder", "people") == "people/Anna.md\n"


def test_the_outline_and_the_properties_of_a_note(eris):
    assert eris("vault", "outline", "todo") == "5: # Todo\n9: ## Later\n"
    assert eris("vault", "properties", "todo") == "status: open\ntags: home\n"
    assert eris("vault", "property:read", "todo", "status") == "open\n"
    assert {"status", "tags", "aliases"} <= set(names(eris, "properties"))


# Finding.


def test_notes_are_found_by_words_properties_and_tags(eris):
    assert names(eris, "search", "tomatoes") == ["garden/plan.md", "people/Anna.md"]
    assert names(eris, "search", "tomatoes", "-path:garden") == ["people/Anna.md"]
    assert eris("vault", "search:context", "tomatoes", "--path", "people") == (
        "people/Anna.md:4: Anna likes tomatoes.\n"
    )
    assert eris("vault", "search", "tomatoes", "--total") == "2\n"
    assert eris("vault", "query", "status = open") == "note\tstatus\ntodo.md\topen\n"
    assert eris("vault", "tags", "--counts") == "#garden/2027\t1\n#home\t1\n"
    assert eris.json("vault", "search", "xylophone")["hits"] == []


def test_links_are_listed_both_ways(eris):
    assert eris("vault", "backlinks", "todo") == "garden/plan.md\n"
    assert eris("vault", "backlinks", "todo", "--counts") == "garden/plan.md\t2\n"
    assert names(eris, "links", "garden/plan.md") == ["lost", "todo.md"]
    assert eris("vault", "unresolved") == "lost\n"
    assert eris("vault", "unresolved", "--verbose").startswith("garden/plan.md:3: See [[todo]]")
    assert "lonely.md" in names(eris, "deadends")
    assert "garden/plan.md" not in names(eris, "deadends")


def test_tasks_are_listed_added_and_ticked(eris):
    assert eris("vault", "tasks", "todo.md") == ("todo.md:7: [ ] water\ntodo.md:11: [x] sow\n")
    assert eris("vault", "tasks", "todo.md", "--todo") == "todo.md:7: [ ] water\n"
    eris("vault", "task", "todo.md:7", "--done")
    assert eris.bytes("todo.md") == TODO.replace("[ ] water", "[x] water").encode()
    eris("vault", "task", "ref=todo.md:11", "toggle")
    assert b"- [ ] sow" in eris.bytes("todo.md")
    eris("vault", "task:add", "todo.md", "harvest", "--part", "Later")
    assert eris.bytes("todo.md").endswith(b"- [ ] sow\n- [ ] harvest\n")
    eris("vault", "task:tick", "todo.md", "harv")
    assert b"- [x] harvest" in eris.bytes("todo.md")
    document = eris.json("vault", "task", "todo.md:8", "--done", code=1)
    assert document["error"]["type"] == "not-found"


# Writing.


def test_text_is_added_where_it_is_asked_for(eris):
    assert eris("vault", "append", "lonely", "- eggs").startswith("Appended ")
    assert eris.bytes("lonely.md") == b"Nobody links here.\n\n- eggs\n"
    eris("vault", "append", "todo", "--part", "Todo", "- milk")
    assert eris.bytes("todo.md").index(b"- milk") < eris.bytes("todo.md").index(b"## Later")
    eris("vault", "prepend", "todo", "First.")
    assert b"---\nFirst.\n# Todo" in eris.bytes("todo.md").replace(b"\n\n", b"\n")


def test_text_can_come_from_standard_input_and_in_obsidian_form(eris):
    eris("vault", "append", "lonely", "-", said="ümlaut\nzwei\n".encode())
    assert eris.bytes("lonely.md").decode() == "Nobody links here.\nümlaut\nzwei\n"
    eris("vault", "create", "name=new/idea", "content=# Idea\\n\\nBody", "silent")
    assert eris.bytes("new/idea.md") == b"# Idea\n\nBody"
    refused = eris.run("vault", "append", "lonely", "-", said=b"caf\xe9")
    assert refused.returncode == 1
    assert b"UTF-8" in refused.stderr


def test_creating_never_replaces_unless_asked_to(eris):
    before = eris.bytes("lonely.md")
    document = eris.json("vault", "create", "lonely.md", "new", code=1)
    assert document["error"]["type"] == "conflict"
    assert eris.bytes("lonely.md") == before
    eris("vault", "create", "lonely.md", "new", "--overwrite")
    assert eris.bytes("lonely.md") == b"new"


def test_a_version_that_is_no_longer_there_is_not_overwritten(eris):
    version = eris.json("vault", "read", "lonely")["version"]
    (eris.vault / "lonely.md").write_text("The user was here.\n")
    arguments = ("lonely.md", "mine", "--overwrite", "--if-version", version)
    assert eris.json("vault", "create", *arguments, code=1)["error"]["type"] == "conflict"
    assert eris.bytes("lonely.md") == b"The user was here.\n"


def test_a_text_is_replaced_if_it_is_there_as_often_as_expected(eris):
    assert eris.json("vault", "replace", "todo", "-", "*", code=1)["ok"] is False
    assert eris.bytes("todo.md") == TODO.encode()
    eris("vault", "replace", "todo", "water", "water the roses")
    assert eris.bytes("todo.md") == TODO.replace("water", "water the roses").encode()


def test_a_property_is_set_and_removed_and_nothing_else_touched(eris):
    eris("vault", "property:set", "todo", "status", "done")
    assert eris.bytes("todo.md") == TODO.replace("open ", "done ").encode()
    eris("vault", "property:set", "todo", "due", "2027-01-31", "--type", "date")
    assert b"\ndue: 2027-01-31\n---\n" in eris.bytes("todo.md")
    eris("vault", "property:remove", "todo", "due")
    assert eris.bytes("todo.md") == TODO.replace("open ", "done ").encode()


def test_a_name_of_two_notes_is_refused_for_writing_and_both_are_named(eris):
    error = eris.json("vault", "append", "twin", "x", code=1)["error"]
    assert "a/twin.md" in error["message"] + error["hint"]
    assert "b/twin.md" in error["message"] + error["hint"]
    assert (eris.bytes("a/twin.md"), eris.bytes("b/twin.md")) == (b"one\n", b"two\n")


def test_a_move_takes_its_links_along_and_is_undone_as_one(eris):
    before = eris.everything()
    told = eris("vault", "rename", "todo.md", "Chores", "--dry-run")
    assert "garden/plan.md" in told
    assert eris.everything() == before
    eris("vault", "rename", "todo.md", "Chores")
    assert b"See [[Chores]] and [[Chores#Later|later]]" in eris.bytes("garden/plan.md")
    assert eris("vault", "backlinks", "Chores") == "garden/plan.md\n"
    eris("undo")
    assert eris.everything() == before


def test_a_deleted_note_is_in_the_trash_and_comes_back(eris):
    before = eris.everything()
    eris("vault", "delete", "lonely.md")
    assert not (eris.vault / "lonely.md").exists()
    assert eris.bytes(".trash/lonely.md") == before["lonely.md"]
    eris("undo")
    assert eris.everything() == before


def test_the_daily_note_is_made_from_its_template_where_the_settings_say(eris):
    assert eris.run("vault", "daily:read").returncode == 1
    path = eris("vault", "daily").strip()
    assert path.startswith("days/")
    made = eris.bytes(path).decode()
    assert made.startswith("# ")
    assert eris("vault", "daily:append", "- [ ] call").startswith("Appended ")
    assert eris("vault", "daily:read").rstrip("\n") == made.rstrip("\n") + "\n- [ ] call"
    assert "call" in eris("vault", "tasks", "daily", "todo")
    assert eris("vault", "daily", "--day", "2027-01-31") == "days/2027/01-31.md\n"


# Looking back.


def test_what_was_done_is_listed_shown_restored_and_undone(eris):
    original = eris.bytes("lonely.md")
    first = eris.json("vault", "append", "lonely", "one")["step"]
    second = eris.json("vault", "append", "lonely", "two")["step"]
    steps = eris.json("vault", "history", "lonely")["steps"]
    assert [step["number"] for step in steps][:2] == [second, first]
    assert eris("vault", "history", "lonely").splitlines()[0].split()[0] == str(second)
    assert "+two\n" in eris("vault", "diff", "lonely")
    assert "+one\n" in eris("vault", "diff", "lonely", str(first))
    since = eris("vault", "diff", "lonely", str(first), "--since")
    assert "+two\n" in since
    assert "+one\n" not in since
    told = eris("vault", "blame", "lonely").splitlines()
    assert told[0].endswith("1: Nobody links here.")
    assert told[2].split()[0] == str(second)
    eris("vault", "history:restore", "lonely", str(first))
    assert eris.bytes("lonely.md") == original + b"one\n"
    eris("undo")
    assert eris.bytes("lonely.md") == original + b"one\ntwo\n"
    eris("undo", str(second))
    eris("undo", str(first))
    assert eris.bytes("lonely.md") == original


def test_the_index_tells_how_it_is_and_is_made_anew(eris):
    document = eris.json("vault", "index", "--rebuild", "--wait")
    assert document["done"] == document["notes"] > 0
    assert names(eris, "orphans") == ORPHANS


# Failing.


def test_a_note_that_is_not_there_is_told_in_one_document(eris):
    document = eris.json("vault", "read", "nothing-like-it", code=1)
    assert document["ok"] is False
    assert document["error"]["type"] == "not-found"


@pytest.mark.parametrize("path", ["../secret.md", ".obsidian/daily-notes.json", "/etc/passwd"])
def test_nothing_outside_or_hidden_is_written(eris, path):
    before = eris.everything()
    assert eris.json("vault", "append", path, "x", code=1)["ok"] is False
    assert eris.everything() == before


def test_a_vault_that_dies_again_and_again_does_every_write_once(tmp_path):
    with processes(tmp_path) as group:
        group.start("bus")
        group.start("vault")
        eris = Caller(group)
        results = []

        def write():
            results.extend(
                eris.run("vault", "append", "log.md", f"line {number}").returncode
                for number in range(12)
            )

        thread = threading.Thread(target=write)
        thread.start()
        log = group.vault / "log.md"
        for least in (2, 5, 8):
            wait_until(
                lambda least=least: log.exists() and log.read_text().count("line") >= least, 60
            )
            group.kill("vault")
            group.start("vault")
        thread.join(120)
        assert results == [0] * 12
        assert log.read_text().split("\n")[:12] == [f"line {number}" for number in range(12)]
        assert log.read_text().count("line") == 12


def test_up_starts_the_system_first(tmp_path):
    configuration = '[supervisor]\nactors = ["bus", "vault"]\n'
    with supervised(tmp_path, configuration) as system:
        (system.vault / "a.md").write_text("there\n")
        refused = system.eris("vault", "read", "a.md")
        assert refused.returncode == 2
        assert "eris up" in refused.stderr
        done = system.eris("vault", "read", "a.md", "--up")
        assert (done.returncode, done.stdout) == (0, "there\n")
