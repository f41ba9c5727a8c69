"""The index: what is found in a vault, and that it's as if made anew, whatever happens."""

import datetime as dt
import os
import shutil
import sqlite3
import tempfile
import threading
import unicodedata
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.vault.index import VaultIndex, building, parsing, regexes
from actors.vault.index.extracting import extract
from actors.vault.right_of_way import RightOfWay
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConfigurationError, InvalidError, StorageError, UnavailableError
from eris.vault.markdown import parse
from eris.vault.settings import ignored, read_settings
from tests import vault_generator

TODAY = dt.date(2026, 5, 1)

NOTES = {
    "Garden.md": """---
aliases: [Allotment, "Le Jardin"]
tags: [hobby/plants]
status: open
due: 2026-06-01
rating: 4
---
# The garden

Water the roses, and the tomatoes. ^water

## Beds

Roses stand in the first bed. #todo
- [ ] buy compost
- [x] order seeds
""",
    "Projects/Shed.md": """---
status: done
due: 2026-04-01
rating: 5
author: "[[Ann Lee]]"
---
Build a shed in the [[Garden]], with a window. See [[Garden#Beds|the beds]] and [[Nowhere]].

Tomatoes aren't for the shed.
""",
    "Projects/Notes/Window.md": "A window needs glass: `[[Garden]]`. #todo/soon [up](../Shed.md)\n",
    "People/Ann Lee.md": "---\nstatus: open\nstarted: 2026-05-01T09:30\n---\nAnn knows tomatoes.\n",
    "日記.md": "今日は東京タワーに行った。カフェも。\n",
    "Café.md": "Un crème brûlée à Zürich.\r\nStraße und Ärger.\r\n",
    "Lone.md": "Nobody links here, and it links nowhere. tomato\n",
    "Board.canvas": '{"nodes": [{"type": "file", "file": "Garden.md"},'
    ' {"type": "text", "text": "canvas words [[Lone#x]] #board"}]}',
}


class World:
    """A vault and its index."""

    def __init__(self, folder: Path, **options):
        self.vault = folder / "vault"
        self.state = folder / "index.sqlite"
        self.vault.mkdir(exist_ok=True)
        self.folder = VaultFolder(self.vault)
        self.options = options
        self.index = self.opened()

    def opened(self) -> VaultIndex:
        return VaultIndex(self.state, self.folder, **self.options)

    def write(self, path: str, content: str | bytes) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def found(self, query: str, **options) -> list[str]:
        return [each.path for each in self.index.search(query, today=TODAY, **options).matches]

    def close(self) -> None:
        self.index.close()
        self.folder.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A vault that no test changes."""
    world = World(tmp_path_factory.mktemp("filled"), zone=dt.UTC)
    for path, text in NOTES.items():
        world.write(path, text)
    world.write("picture.png", b"\x89PNG\0")
    world.index.reconcile()
    yield world
    world.close()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()


SHED, WINDOW, ANN = "Projects/Shed.md", "Projects/Notes/Window.md", "People/Ann Lee.md"


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("compost", {"Garden.md"}),
        ("TOMATOES shed", {SHED}),
        ("tomato", {"Lone.md", "Garden.md", SHED, ANN}),
        ("allotment", {"Garden.md"}),
        ('"water the roses"', {"Garden.md"}),
        ('"roses the water"', set()),
        ("tomat* -shed", {"Garden.md", "Lone.md", ANN}),
        ('"tomato"', {"Lone.md"}),
        ("glass OR compost", {WINDOW, "Garden.md"}),
        ("(glass OR compost) window", {WINDOW}),
        ("-tomato*", {WINDOW, "日記.md", "Café.md", "Board.canvas"}),
        ("path:projects", {SHED, WINDOW}),
        ("path:projects -path:notes", {SHED}),
        ("file:window", {WINDOW}),
        ("file:/^projects.*w/", {WINDOW}),
        ("content:garden", {"Garden.md", SHED, WINDOW}),
        ("tag:todo", {"Garden.md", WINDOW}),
        ("tag:#todo/soon", {WINDOW}),
        ("tag:hobby", {"Garden.md"}),
        ("tag:hob", set()),
        ("tag:board", {"Board.canvas"}),
        ("line:(roses tomatoes)", {"Garden.md"}),
        ("line:(roses seeds)", set()),
        ("block:(seeds roses)", {"Garden.md"}),
        ("section:(roses seeds)", {"Garden.md"}),
        ("section:(water seeds)", set()),
        ("section:(roses -seeds)", {"Garden.md"}),
        ("line:(/ro.es/ bed)", {"Garden.md"}),
        ('task:""', {"Garden.md"}),
        ("task:seeds", {"Garden.md"}),
        ("task-todo:seeds", set()),
        ("task-done:seeds", {"Garden.md"}),
        ("[status]", {"Garden.md", SHED, ANN}),
        ("[status:done]", {SHED}),
        ("[due:<2026-05-01]", {SHED}),
        ("[due:2026-06]", {"Garden.md"}),
        ("[author:Ann Lee]", {SHED}),
        ("[rating:>3] -[status:done]", {"Garden.md"}),
        ("東京", {"日記.md"}),
        ("京東", set()),
        ("タワー", {"日記.md"}),
        ("カフェ", {"日記.md"}),
        ("creme BRULEE", {"Café.md"}),
        ("strasse zurich", {"Café.md"}),
        ("canvas", {"Board.canvas"}),
        (r"/\bgl.ss\b/", {WINDOW}),
        (r"/^roses/", {"Garden.md"}),
        ("tomatos", {"Garden.md", SHED, ANN, "Lone.md"}),
        ("wndow", {SHED, WINDOW}),
        ("xyzzy", set()),
        ("picture", set()),
    ],
)
def test_a_search_finds(filled, query, paths):
    assert set(filled.found(query)) == paths


def test_a_word_in_the_name_or_title_counts_more_than_in_the_text(filled):
    assert filled.found("garden")[0] == "Garden.md"
    assert filled.found("window")[0] == WINDOW


def test_the_word_itself_counts_more_than_longer_ones(filled):
    assert filled.found("tomato")[0] == "Lone.md"


def test_a_result_shows_the_lines_that_match_with_their_numbers(filled):
    (found,) = filled.index.search("roses bed").matches
    assert [(each.line, each.text) for each in found.excerpts] == [
        (14, "Roses stand in the first bed. #todo"),
        (10, "Water the roses, and the tomatoes. ^water"),
        (12, "## Beds"),
    ]
    assert filled.index.search("tag:hobby").matches[0].excerpts[0].line == 3
    assert filled.index.search("task-done:seeds").matches[0].excerpts[0].line == 16


def test_a_long_line_is_shown_around_the_match(world):
    world.write("long.md", "x " * 5000 + "needle " + "y " * 5000)
    world.index.reconcile()
    (excerpt,) = world.index.search("needle").matches[0].excerpts
    assert "needle" in excerpt.text
    assert len(excerpt.text) < 200


def test_what_was_corrected_is_told(filled):
    results = filled.index.search("wndow")
    assert results.corrected == {"wndow": ("window",)}
    assert not filled.index.search("window").corrected


def test_if_no_note_has_all_words_those_with_the_rare_ones_are_shown(filled):
    results = filled.index.search("recipes about compost in zanzibar")
    assert not results.complete
    assert [each.path for each in results.matches] == ["Garden.md"]


def test_results_come_in_portions(filled):
    every = filled.found("tomato*")
    assert filled.found("tomato*", limit=2) == every[:2]
    assert filled.found("tomato*", limit=2, offset=2) == every[2:4]
    assert filled.index.search("tomato*", limit=1).found == 4


def test_a_search_can_be_kept_to_a_folder(filled):
    assert filled.found("tomato*", folder="Projects") == [SHED]


def test_an_expression_that_takes_too_long_is_refused(world, monkeypatch):
    monkeypatch.setattr(regexes, "LONGEST_SECONDS", 0.5)
    world.write("a.md", "a" * 60 + "!")
    world.index.reconcile()
    with pytest.raises(InvalidError, match="takes longer"):
        world.index.search("/(a+)+$/")


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("status = open", ["Garden.md", ANN]),
        ("status = OPEN", ["Garden.md", ANN]),
        ("status != open", [SHED]),
        ("not status = open and rating exists", [SHED]),
        ("rating > 4", [SHED]),
        ("rating > 3 sort by rating desc", [SHED, "Garden.md"]),
        ("due < today", [SHED]),
        ("due exists sort by due", [SHED, "Garden.md"]),
        ("started = 2026-05-01", [ANN]),
        ("started < 2026-05-01 10:00", [ANN]),
        ("status exists sort by due desc limit 2", ["Garden.md", SHED]),
        ("author = [[Ann Lee]]", [SHED]),
        ("author contains lee", [SHED]),
        ("aliases = allotment", ["Garden.md"]),
        ("tags = hobby/plants", ["Garden.md"]),
        ("tags contains todo", ["Garden.md", WINDOW]),
        ("file.folder = projects", [SHED]),
        ("file.name contains win", [WINDOW]),
        ("file.size > 100 and rating = 4", ["Garden.md"]),
        ("file.mtime < 2000-01-01", []),
        ("status = open or status = done limit 1", ["Garden.md"]),
    ],
)
def test_a_query_over_properties_finds(filled, query, paths):
    assert [row.path for row in filled.index.query(query, today=TODAY).rows] == paths


def test_a_table_has_the_properties_asked_for_as_they_are_written(filled):
    table = filled.index.query("rating exists sort by rating show status, due, aliases, file.name")
    assert table.columns == ("status", "due", "aliases", "file.name")
    assert [row.values for row in table.rows] == [
        ("open", dt.date(2026, 6, 1), ["Allotment", "Le Jardin"], "Garden"),
        ("done", dt.date(2026, 4, 1), None, "Shed"),
    ]


def test_links_are_known_in_both_directions(filled):
    index = filled.index
    assert [(link.source, link.anchor, link.line) for link in index.backlinks("Garden.md")] == [
        ("Board.canvas", "", 0),
        (SHED, "", 7),
        (SHED, "Beds", 7),
    ]
    assert [link.path for link in index.outgoing(SHED)] == [ANN, "Garden.md", "Garden.md", None]
    assert [(link.source, link.target) for link in index.unresolved()] == [(SHED, "Nowhere")]
    assert index.orphans() == ["Board.canvas", "Café.md", WINDOW, "日記.md"]
    assert index.dead_ends() == ["Café.md", "Garden.md", "Lone.md", ANN, "日記.md"]


def test_tags_tasks_headings_and_names_are_known(filled):
    index = filled.index
    assert [(tag.name, tag.notes) for tag in index.tags()] == [
        ("board", 1),
        ("hobby/plants", 1),
        ("todo", 1),
        ("todo/soon", 1),
    ]
    assert [(task.line, task.mark, task.text) for task in index.tasks()] == [
        (15, " ", "buy compost"),
        (16, "x", "order seeds"),
    ]
    assert index.tasks("Projects") == []
    assert [(each.level, each.title) for each in index.headings("Garden.md")] == [
        (1, "The garden"),
        (2, "Beds"),
    ]
    assert [each.path for each in index.headings_named("BEDS")] == ["Garden.md"]
    assert index.named("le jardin") == index.named("the garden") == ["Garden.md"]
    assert index.named("window") == [WINDOW]
    assert "picture.png" in index.names()


def test_a_link_leads_to_another_note_once_there_is_a_better_one(world):
    def target():
        (link,) = world.index.outgoing("b/from.md")
        return link.path

    world.write("b/from.md", "[[note]]")
    world.index.reconcile()
    assert target() is None
    world.write("a/deep/note.md", "")
    world.index.update("a/deep/note.md")
    assert target() == "a/deep/note.md"
    world.write("b/note.md", "")
    world.index.update("b/note.md")
    assert target() == "b/note.md"
    (world.vault / "b/note.md").rename(world.vault / "b/other.md")
    world.index.update("b/note.md", "b/other.md")
    assert target() == "a/deep/note.md"
    (world.vault / "a").rename(world.vault / "c")
    world.index.update("a", "c")
    assert target() == "c/deep/note.md"
    shutil.rmtree(world.vault / "c")
    world.index.update("c")
    assert target() is None


def test_excluded_files_are_known_by_name_only(tmp_path):
    world = World(tmp_path)
    config = '{"userIgnoreFilters": ["Old/", "/secret/"]}'
    chosen = [read_settings(config)]
    world.index.close()
    world.options["ignored"] = lambda path: ignored(path, chosen[0])
    world.index = world.opened()
    for path in ("Old/note.md", "my secret.md", "open.md"):
        world.write(path, "words [[Old/note]]")
    world.index.reconcile()
    assert world.found("words") == ["open.md"]
    assert world.index.outgoing("open.md")[0].path == "Old/note.md"
    chosen[0] = read_settings()
    world.index.reconcile()
    assert len(world.found("words")) == 3
    world.close()


def test_settings_trash_and_unfinished_writes_are_no_notes(world):
    for path in (".obsidian/a.md", ".trash/b.md", ".eris-0123456789abcdef.tmp", "x/.hidden.md"):
        world.write(path, "words")
    assert world.index.reconcile().looked == 0
    assert world.index.update(".trash/b.md").looked == 0
    assert world.found("words") == []


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("binary.md", b"a\0b", "binary"),
        ("latin.md", "für".encode("latin-1"), "UTF-8"),
        ("wide.md", "text".encode("utf-16"), "UTF-16"),
        ("large.md", b"x" * 2000, "2,000 bytes"),
        ("broken.canvas", b"{", "JSON"),
    ],
)
def test_a_file_that_cant_be_read_is_found_by_name_and_the_reason_told(
    tmp_path, name, content, reason
):
    world = World(tmp_path, largest=1000)
    world.write(name, content)
    world.write("good.md", "words")
    world.index.reconcile()
    assert world.found(name.partition(".")[0]) == [name]
    assert world.found("words") == ["good.md"]
    ((path, told),) = world.index.state().skipped
    assert path == name
    assert reason in told
    world.write(name, "words now")
    world.index.update(name)
    assert not world.index.state().skipped or name.endswith("canvas")
    world.close()


def test_a_pipe_and_a_link_are_passed_by(world):
    os.mkfifo(world.vault / "pipe.md")
    (world.vault / "link.md").symlink_to("good.md")
    world.write("good.md", "words")
    world.index.reconcile()
    assert world.found("words") == ["good.md"]
    assert "link.md" not in world.index.names()


def test_broken_yaml_doesnt_keep_the_text_from_being_found(world):
    world.write("a.md", "---\naliases:\na\n---\nwords [[b]] #tag\n")
    world.index.reconcile()
    assert world.found("words") == world.found("tag:tag") == ["a.md"]


@contextmanager
def ordinary_user():
    """Somebody for whom permissions count, even if root runs the tests."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_what_cant_be_looked_at_isnt_taken_for_deleted():
    with temporary_world() as world:
        world.vault.parent.chmod(0o755)
        world.write("shut/in/note.md", "words")
        world.write("open.md", "words")
        world.index.reconcile()
        assert world.found("words") == ["open.md", "shut/in/note.md"]
        (world.vault / "shut").chmod(0)
        (world.vault / "open.md").unlink()
        with ordinary_user():
            assert world.index.reconcile().unreadable == ["shut"]
            world.index.update("shut/in/note.md", "shut/in", "shut")
        (world.vault / "shut").chmod(0o700)
        assert world.found("words") == ["shut/in/note.md"]


def test_nothing_is_taken_for_deleted_when_the_vault_is_gone(world):
    world.write("note.md", "words")
    world.index.reconcile()
    world.vault.rename(world.vault.with_name("elsewhere"))
    with pytest.raises(StorageError, match="isn't there"):
        world.index.reconcile()
    with pytest.raises(StorageError, match="isn't there"):
        world.index.update("note.md")
    assert world.found("words") == ["note.md"]


def test_a_name_that_only_changed_case_is_a_new_one(world):
    world.write("Plan.md", "words")
    world.index.reconcile()
    (world.vault / "Plan.md").rename(world.vault / "plan.md")
    world.index.update("plan.md", "Plan.md")
    assert world.found("words") == ["plan.md"]


def test_a_decomposed_name_has_its_composed_path(world):
    world.write(unicodedata.normalize("NFD", "Café.md"), "words [[Cafe\u0301]]")
    world.index.reconcile()
    assert world.found("words") == ["Café.md"]
    assert world.index.outgoing("Café.md")[0].path == "Café.md"


def test_only_what_changed_is_read_again(world):
    for number in range(5):
        world.write(f"{number}.md", f"words {number}")
        os.utime(world.vault / f"{number}.md", ns=(10**18, 10**18))
    assert world.index.reconcile().read == 5
    assert world.index.reconcile().read == 0
    os.utime(world.vault / "1.md")  # Only touched.
    world.write("2.md", "other words")
    done = world.index.reconcile()
    assert (done.read, done.changed) == (2, 1)


def test_a_write_in_the_same_tick_of_the_clock_isnt_missed(tmp_path):
    world = World(tmp_path, clock_ns=lambda: 10**18 + 1000)
    for content in ("first", "later"):
        world.write("a.md", content)
        os.utime(world.vault / "a.md", ns=(10**18, 10**18))
        world.index.update("a.md")
    assert world.found("later") == ["a.md"]
    world.close()


def test_a_pass_that_was_overtaken_looks_again(tmp_path):
    read = []

    def clock():  # Asked when a file was read and isn't stored yet.
        read.append(True)
        if len(read) == 1:
            world.index.update("a.md")  # Another thread's pass: it stores what is read here, too,
            world.write("a.md", "third")  # and what's written then is only told to that thread.
        return 10**18

    world = World(tmp_path, clock_ns=clock)
    world.write("a.md", "second")
    world.index.update("a.md")
    assert world.found("third") == ["a.md"]
    world.close()


def test_of_names_that_differ_by_case_only_the_one_removed_is_gone(world):
    for name in ("plan.md", "Plan.md", "PLAN.md"):
        world.write(name, "words")
    world.index.reconcile()
    (world.vault / "plan.md").unlink()
    world.index.update("plan.md")
    assert world.found("words") == ["PLAN.md", "Plan.md"]


def test_a_write_that_was_told_is_no_work_when_the_watcher_tells_it_again(world):
    world.write("a.md", "words")
    os.utime(world.vault / "a.md", ns=(10**18, 10**18))
    assert world.index.update("a.md").changed == 1
    done = world.index.update("a.md")
    assert (done.looked, done.read, done.changed) == (1, 0, 0)


def test_links_come_from_the_index_as_parsing_the_note_would_give_them(world):
    # Edits see a note without its byte order mark, as the index does.
    notes = {path: data.decode("utf-8-sig") for path, data in vault_generator.notes(60)}
    notes |= {
        "all.md": '---\nup: "[[a]]"\n---\n[[b#c|d]] ![[e]] '
        "[f](g%20h.md#i) `[[j]]`\r\n\r\n[k]: l.md\n",
        "none.md": "nothing",
    }
    for path, text in notes.items():
        world.write(path, text)
    world.index.reconcile()
    for path, text in notes.items():
        assert world.index.links_in(path, text) == parse(text).links
        assert world.index.links_in(path, f"{text}x") is None
    assert world.index.links_in("gone.md", "") is None
    assert len(world.index.links_in("all.md", notes["all.md"])) == 5


def test_a_pass_over_many_files_gives_way_and_one_over_few_does_not(tmp_path):
    before = []

    def give_way():
        if before:
            return
        before.append(world.index.search("urgent").found)
        # No lock is held: what somebody waits for is in the index before the pass goes on.
        world.index.update("a.md")
        before.append(world.index.search("urgent").found)

    world = World(tmp_path, give_way=give_way)
    world.write("a.md", "urgent")
    paths = [f"{number}.md" for number in range(building.MOST_AT_ONCE + 1)]
    for path in paths:
        world.write(path, "urgent, but not for anybody")
    assert world.index.update(*paths[:3]).changed == 3
    assert before == []
    result = world.index.update(*paths)
    assert before == [3, 4]
    assert result.changed == len(paths) - 3
    assert world.index.search("urgent").found == len(paths) + 1
    world.close()


def test_work_in_the_background_goes_on_when_a_step_is_done_or_takes_too_long():
    first = RightOfWay(longest_wait=60.0)
    waiting = threading.Thread(target=first.give_way)
    with first.taken():
        waiting.start()
        assert waiting.is_alive()
    waiting.join(10.0)
    assert not waiting.is_alive()
    with first.taken():
        RightOfWay(longest_wait=0.0).give_way()
        patient = RightOfWay(longest_wait=0.01)
        with patient.taken():
            patient.give_way()


def test_a_closed_index_refuses_questions_and_passes(world):
    world.write("a.md", "x")
    world.index.reconcile()
    world.index.close()
    with pytest.raises(UnavailableError, match="stopping"):
        world.index.search("x")
    assert world.index.update("a.md").stopped


def test_an_index_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "BATCH_FILES", 10)
    world = World(tmp_path)
    for number in range(35):
        world.write(f"{number}.md", f"words and [[{(number + 1) % 35}]]")
        os.utime(world.vault / f"{number}.md", ns=(10**18, 10**18))
    seen = []

    def progress(done, total):
        seen.append((done, total))
        if done == 20:
            world.index.stop()

    assert world.index.reconcile(progress).stopped
    assert seen == [(0, 35), (10, 35), (20, 35)]
    assert world.index.search("words").waiting == 15
    world.index.close()
    world.index = world.opened()
    assert world.index.reconcile().read == 15
    assert world.index.search("words").found == 35
    assert world.index.unresolved() == []
    world.close()


def test_many_notes_are_parsed_by_another_process_with_the_same_result(tmp_path, monkeypatch):
    vault_generator.generate(tmp_path / "vault", 60)
    world = World(tmp_path)
    world.index.reconcile()
    expected = contents(world.state)
    world.index.close()
    world.state.unlink()
    monkeypatch.setattr(parsing, "LEAST_FILES", 0)
    world.index = world.opened()
    world.index.reconcile()
    assert contents(world.state) == expected
    world.close()


@pytest.mark.parametrize(
    "damage", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_index_is_made_anew(tmp_path, damage):
    (tmp_path / "index.sqlite").write_bytes(damage)
    world = World(tmp_path)
    world.write("a.md", "words")
    world.index.reconcile()
    assert world.found("words") == ["a.md"]
    world.close()


def test_an_index_of_another_version_is_made_anew(world):
    world.write("a.md", "words")
    world.index.reconcile()
    world.index.close()
    with sqlite3.connect(world.state) as connection:
        connection.execute("UPDATE meta SET value = 'old'")
    world.index = world.opened()
    assert world.index.state().files == 0
    world.index.reconcile()
    assert world.found("words") == ["a.md"]


def test_an_index_that_cant_be_written_is_told(tmp_path):
    (tmp_path / "index.sqlite").mkdir()
    with pytest.raises(ConfigurationError, match="can't be opened"):
        World(tmp_path)


def test_the_generator_makes_the_same_vault_for_the_same_seed():
    assert list(vault_generator.notes(30)) == list(vault_generator.notes(30))
    assert list(vault_generator.notes(30, seed=5)) != list(vault_generator.notes(30))


def test_a_fifth_of_the_generated_notes_link_to_the_hub(tmp_path):
    vault_generator.generate(tmp_path / "vault", 50, size=500)
    world = World(tmp_path)
    world.index.reconcile()
    sources = {link.source for link in world.index.backlinks(vault_generator.HUB)}
    assert len(sources - {"Board.canvas"}) >= 10
    assert len([link for link in world.index.unresolved() if link.target[:7] != "missing"]) < 10
    world.close()


def contents(state: Path):
    """All that an index says, with paths in place of ids."""
    with sqlite3.connect(state) as connection:
        paths = dict(connection.execute("SELECT id, path FROM files"))
        every = {
            "files": connection.execute(
                "SELECT id, path, name, folded, title, size, digest, state, reason FROM files"
            ).fetchall()
        }
        for table in ("texts", "aliases", "headings", "links", "tags", "properties", "tasks"):
            every[table] = connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608
        connection.execute(
            "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'words', 'instance')"
        )
        every["words"] = connection.execute("SELECT doc, term, col, offset FROM temp.v").fetchall()
    every["links"] = [(*row[:-1], paths.get(row[-1])) for row in every["links"]]
    return {
        table: sorted((paths[row[0]], *row[1:]) for row in rows) if table != "files" else sorted(
            row[1:] for row in rows
        )
        for table, rows in every.items()
    }  # fmt: skip


NAMES = st.sampled_from(
    ["a.md", "b.md", "A.md", "x/a.md", "x/y/b.md", "x/c.md", "p.png", "c.canvas"]
)
PIECES = st.sampled_from(
    ["[[a]]", "[[x/a]]", "[[b|B]]", "[b](b.md)", "![[p.png]]", "#t", "#T/u", "- [ ] do", "# Head",
     "word", "wörd", "言葉", "---", "\r\n", "\0", "[[../b]]", '{"nodes": []}', "[[C]]", "[[]]"]
)  # fmt: skip
TEXTS = st.tuples(
    st.sampled_from(["", "---\ns: 1\naliases: q\n---\n", "---\ntags: [t]\nd: 2026-01-01\n---\n"]),
    st.lists(PIECES, max_size=6).map("\n".join),
).map("".join)
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, TEXTS),
    st.tuples(st.just("delete"), NAMES, st.just("")),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("folder"), st.sampled_from(["x", "x/y", "z"]), st.sampled_from(["x", "z"])),
    st.tuples(st.just("delete"), st.sampled_from(["x", "x/y"]), st.just("")),
    st.tuples(st.just("restart"), st.just(""), st.just("")),
    st.tuples(st.just("reconcile"), st.just(""), st.just("")),
)


@contextmanager
def temporary_world():
    with tempfile.TemporaryDirectory() as name:
        world = World(Path(name))
        yield world
        world.close()


def play(world: World, step: tuple[str, str, str]) -> list[str]:
    """Do it as another program would, and return what a watcher would tell."""
    kind, path, other = step
    file, target = world.vault / path, world.vault / other
    match kind:
        case "write" if not file.is_dir():
            world.write(path, other)
            return [path]
        case "delete" if path and file.exists():
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            return [path]
        case "move" if file.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
            return [path, other]
        case "folder" if file.is_dir() and not target.exists():
            file.rename(target)
            return [path, other]
        case "restart":
            world.index.close()
            world.index = world.opened()
        case "reconcile":
            world.index.reconcile()
    return []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=4), max_size=6))
def test_the_index_equals_one_made_anew_after_any_changes(rounds):
    with temporary_world() as world:
        world.index.reconcile()
        for steps in rounds:
            told = [path for step in steps for path in play(world, step)]
            world.index.update(*told)
        followed = contents(world.state)
        world.index.close()
        world.state.unlink()
        world.index = world.opened()
        world.index.reconcile()
        assert followed == contents(world.state)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["a.md", "a.txt", "a.canvas"]), st.binary(max_size=60) | TEXTS.map(str.encode)
)
def test_any_content_is_indexed_or_the_reason_is_told(path, content):
    extracted = extract(path, content)
    assert getattr(extracted, "reason", None) or extracted.text is not None
