"""The vault's service: every request that people at the machine may make, over a real folder."""

import difflib
import json
import os
from pathlib import Path
from typing import get_args

import pytest

from actors.vault.service.finding import NoteFile
from eris.errors import (
    ConflictError,
    DeniedError,
    ErisError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)
from proto.rights import RIGHTS
from proto.vault import (
    BlameNote,
    DiffNote,
    EditKind,
    EditNote,
    IndexStatus,
    LinkKinds,
    ListFolder,
    ListHistory,
    ListLinks,
    ListProperties,
    ListTags,
    ListTasks,
    MoveNote,
    NameNotes,
    OpenDaily,
    Outline,
    QueryProperties,
    ReadNote,
    RestoreNote,
    SearchNotes,
    TrashNote,
    Undo,
    VaultRequest,
)
from tests.served_vault import ServedVault

CORPUS = {
    path.name: path.read_bytes()
    for path in sorted((Path(__file__).parents[1] / "data" / "vault").iterdir())
}


@pytest.fixture
def place(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


@pytest.fixture
def vault(place, tmp_path):
    served = ServedVault(place, tmp_path, read_only=("Rules",))
    served.look()
    yield served
    served.close()


def key():
    return os.urandom(8).hex()


def edit(kind, note, content="", part="", **more):
    return EditNote(idem=key(), kind=kind, note=note, content=content, part=part, **more)


# What may be asked.


@pytest.mark.parametrize("role", ["cli", "console", "web"])
def test_people_at_the_machine_may_ask_all_but_what_is_for_those_who_follow_the_notes(role):
    answered = {request.__struct_config__.tag for request in get_args(VaultRequest)}
    assert set(RIGHTS[role]["vault"]) == answered - {
        "vault.states.1",
        "vault.read-file.1",
        "vault.name.1",
    }
    assert answered > set(RIGHTS["memory"]["vault"]) - {"subscribe.1"}


NAMED = {
    "Projects/Kestrel buoy.md": "---\naliases: [Kestrel, 'The buoy']\n---\n# Kestrel buoy\n",
    "People/Mother.md": "x",
    "People/Adaeze Okafor.md": "x",
    "Übersicht 2027.md": "x",
    "a/Plan.md": "x",
    "b/Plan.md": "x",
    "todo.md": "x",
}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Rename Kestrel buoy to Osprey", {"Kestrel buoy": "Projects/Kestrel buoy.md"}),
        ("what does kestrel   buoy say?", {"kestrel   buoy": "Projects/Kestrel buoy.md"}),
        ("Read the note Kestrel", {"Kestrel": "Projects/Kestrel buoy.md"}),
        ("What is new with Kestrel?", {"Kestrel": "Projects/Kestrel buoy.md"}),
        ("Open my todo note", {"todo": "todo.md"}),
        ("Was steht in der Notiz todo?", {"todo": "todo.md"}),
        ("Open 'todo'", {"todo": "todo.md"}),
        ("todo: buy milk", {}),
        ("Mother called today", {}),
        ("add it to the buoy", {"the buoy": "Projects/Kestrel buoy.md"}),
        (
            "put it under Adaeze Okafor and ubersicht 2027.",
            {
                "Adaeze Okafor": "People/Adaeze Okafor.md",
                "ubersicht 2027": "Übersicht 2027.md",
            },
        ),
        # Two notes of one name: which is meant, nobody knows.
        ("Read the note Plan", {}),
        ("", {}),
    ],
)
def test_notes_are_recognised_where_a_sentence_names_them(vault, text, named):
    vault.fill(NAMED)
    found = vault.ask(NameNotes(text=text))
    assert {note.said: note.path for note in found.notes} == named


def test_a_note_that_got_another_name_is_recognised_by_it(vault):
    vault.fill({"Kestrel buoy.md": "x"})
    assert vault.ask(NameNotes(text="Read Kestrel buoy")).notes
    vault.ask(MoveNote(idem=key(), note="Kestrel buoy", target="Osprey buoy"))
    assert not vault.ask(NameNotes(text="Read Kestrel buoy")).notes
    assert vault.ask(NameNotes(text="Read Osprey buoy")).notes[0].path == "Osprey buoy.md"


# Reading.


def test_a_note_read_line_by_line_is_the_file_byte_for_byte(vault):
    vault.fill(CORPUS)
    for name, data in CORPUS.items():
        text, line = "", 1
        while line:
            page = vault.ask(ReadNote(note=name, first_line=line, lines=3))
            text += page.text
            assert page.first_line == line
            line = page.next_line
        assert text.encode() == data, name


def test_a_part_is_read_with_its_lines_of_the_note(vault):
    vault.fill({"a.md": "# A\n\none\n\n## B\ntwo ^x\n\nthree\n\n## C\n"})
    section = vault.ask(ReadNote(note="a", part="B"))
    assert (section.text, section.first_line) == ("## B\ntwo ^x\n\nthree\n\n", 5)
    assert vault.ask(ReadNote(note="a", part="A#C")).text == "## C\n"
    assert vault.ask(ReadNote(note="a", part="^x")).first_line == 6
    page = vault.ask(ReadNote(note="a", part="B", first_line=2, lines=1))
    assert (page.text, page.next_line) == ("two ^x\n", 3)
    for part in ("D", "^y"):
        with pytest.raises(NotFoundError) as caught:
            vault.ask(ReadNote(note="a", part=part))
        assert caught.value.hint
    with pytest.raises(InvalidError, match="line 99"):
        vault.ask(ReadNote(note="a", first_line=99))
    assert [each.line for each in vault.ask(Outline(note="a")).headings] == [1, 5, 10]


def test_files_are_listed_in_pages_without_what_is_hidden(vault):
    notes = {f"n/{number}.md": "" for number in range(5)}
    vault.fill({**notes, ".obsidian/app.json": "{}", "n/.eris-0123456789abcdef.tmp": "half"})
    found, after = [], ""
    while True:
        page = vault.ask(ListFolder(after=after, limit=2))
        assert page.total == 5
        if not page.paths:
            break
        found += page.paths
        after = page.paths[-1]
    assert found == sorted(notes)
    assert vault.ask(ListFolder(folders=True)).paths == ("n",)
    assert vault.ask(ListFolder(folder="N")).folder in {"n", "N"}


def test_properties_of_a_note_are_json_and_broken_ones_are_refused_with_their_place(vault):
    vault.fill(
        {
            "a.md": "---\nb: [x, 1]\na: 2027-01-31\nnone:\n---\n",
            "broken.md": "---\naliases:\na\n---\nfindable words\n",
        }
    )
    values = json.loads(vault.ask(ListProperties(note="a")).values)
    assert list(values.items()) == [("b", ["x", 1]), ("a", "2027-01-31"), ("none", None)]
    with pytest.raises(InvalidError, match=r"line \d+, column \d+"):
        vault.ask(ListProperties(note="broken"))
    before = vault.contents()
    with pytest.raises(InvalidError, match="can't be read"):
        vault.ask(edit(EditKind.SET_PROPERTY, "broken", '"x"', "status"))
    assert vault.contents() == before
    assert vault.ask(SearchNotes(query="findable")).hits[0].path == "broken.md"


def test_rows_beyond_the_limit_of_a_query_are_not_given_page_by_page(vault):
    vault.fill({f"{number}.md": f"---\nn: {number}\n---\n" for number in range(9)})
    page = vault.ask(QueryProperties(query="n > 1 sort by n desc limit 5", limit=2, offset=4))
    assert (page.rows, page.total) == ((("4.md", "4"),), 5)


def test_until_the_first_index_is_complete_answers_say_so_and_moves_wait(place, tmp_path):
    (place / "a.md").write_text("milk")
    served = ServedVault(place, tmp_path)
    for request in (
        SearchNotes(query="milk"),
        QueryProperties(query="a = 1"),
        ListLinks(kind=LinkKinds.ORPHANS),
        ListTags(),
        ListTasks(),
    ):
        assert "still being looked through" in served.ask(request).remark
    assert served.ask(IndexStatus()).building
    assert served.ask(ReadNote(note="a")).text == "milk"
    served.ask(edit(EditKind.APPEND, "a", "eggs"))
    with pytest.raises(UnavailableError, match="not all links"):
        served.ask(MoveNote(idem=key(), note="a", target="b"))
    served.look()
    assert served.ask(SearchNotes(query="milk")).remark == ""
    assert served.ask(MoveNote(idem=key(), note="a", target="b")).path == "b.md"
    served.close()


# Writing.

EDITS = {
    EditKind.APPEND: {"content": "something new"},
    EditKind.PREPEND: {"content": "something new"},
    EditKind.SET_PROPERTY: {"part": "rating", "content": "5"},
    EditKind.ADD_TASK: {"content": "something to do"},
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_of_an_awkward_note_only_adds_and_its_undo_brings_back_the_exact_bytes(vault, kind):
    vault.fill(CORPUS)
    edited = 0
    for name, old in CORPUS.items():
        try:
            written = vault.ask(edit(kind, name, **EDITS[kind]))
        except InvalidError:
            assert vault.contents() == CORPUS
            continue
        assert written.files == (name,)
        edited += 1
        codes = difflib.SequenceMatcher(None, old, vault.bytes(name), autojunk=False).get_opcodes()
        assert {code for code, *_ in codes} <= {"equal", "insert"}, name
        vault.ask(Undo(idem=key()))
        assert vault.contents() == CORPUS
    assert edited > len(CORPUS) / 2


def test_a_title_with_a_colon_is_quoted(vault):
    vault.fill({"a.md": "# A\n"})
    vault.ask(edit(EditKind.SET_PROPERTY, "a", '"Governance: Manifest"', "title"))
    values = vault.ask(ListProperties(note="a")).values
    assert json.loads(values) == {"title": "Governance: Manifest"}


def test_a_version_that_is_given_has_to_be_the_one_that_is_there(vault):
    vault.fill({"a.md": "# A\n\none\n\n# B\n\ntwo\n"})
    version = vault.ask(ReadNote(note="a")).version
    vault.fill({"a.md": "# A\n\none\n\n# B\n\ntwo and more\n"})
    with pytest.raises(ConflictError) as caught:
        vault.ask(edit(EditKind.OVERWRITE, "a", "mine", "B", version=version))
    assert "two and more" in str(caught.value.details)
    written = vault.ask(edit(EditKind.OVERWRITE, "a", "mine", "A", version=version))
    assert vault.text("a.md") == "# A\n\nmine\n\n# B\n\ntwo and more\n"
    assert "that change was kept" in written.remark
    assert written.version == vault.ask(ReadNote(note="a")).version


def test_a_task_is_ticked_by_its_line_only_if_that_still_says_the_same(vault):
    vault.fill({"a.md": "- [ ] one\n- [ ] two\n"})
    vault.fill({"a.md": "- [ ] new\n- [ ] one\n- [ ] two\n"})
    with pytest.raises(ConflictError, match="Line 1 says 'new' now"):
        vault.ask(edit(EditKind.TICK_TASK, "a", "one", line=1))
    vault.ask(edit(EditKind.TICK_TASK, "a", "one", line=2))
    assert vault.text("a.md") == "- [ ] new\n- [x] one\n- [ ] two\n"


def test_a_note_is_made_from_a_template(vault):
    vault.fill(
        {
            ".obsidian/templates.json": '{"folder": "T"}',
            "T/Trip.md": "\ufeff# {{title}}\n{{date}} {{time}}\n",
        }
    )
    vault.ask(edit(EditKind.CREATE, "Paris", template="Trip"))
    assert vault.text("Paris.md") == "# Paris\n2027-01-31 14:05\n"
    with pytest.raises(ConflictError):
        vault.ask(edit(EditKind.CREATE, "Paris", template="Trip"))


def test_the_note_of_a_day_is_opened_only_if_it_is_not_to_be_made(vault):
    with pytest.raises(NotFoundError):
        vault.ask(OpenDaily(idem=key(), create=False))
    assert vault.contents() == {}
    made = vault.ask(OpenDaily(idem=key(), day="2027-02-03"))
    assert (made.path, made.action) == ("2027-02-03.md", "created")
    again = vault.ask(OpenDaily(idem=key(), day="2027-02-03", create=False))
    assert (again.message, again.step) == ("opened 2027-02-03.md", 0)


LINKS = {
    "inbox/idea.md": "# Idea\n\nSee [[#Idea]] and [own](idea.md). ^b\n",
    "a.md": "[[inbox/idea]] ![[inbox/idea]] [link](inbox/idea.md) [[inbox/idea|shown]]\n"
    "[[inbox/idea#Idea]] [[inbox/idea#^b]]\n`[[inbox/idea]]`\n```\n[[inbox/idea]]\n```\n"
    "%%[[inbox/idea]]%%\n",
    "p.md": '---\nrelated: "[[inbox/idea]]"\n---\n',
    "c.canvas": '{"nodes":[{"id":"1","type":"file","file":"inbox/idea.md"}],"edges":[]}',
    "q.base": "filters: 'file.hasLink(\"inbox/idea.md\")'\n",
}


def test_a_move_rewrites_every_kind_of_link_shows_it_before_and_is_one_undo(vault):
    vault.fill(LINKS)
    before = vault.contents()
    rehearsed = vault.ask(MoveNote(idem=key(), note="idea", target="done/plan", dry_run=True))
    assert vault.contents() == before
    written = vault.ask(MoveNote(idem=key(), note="idea", target="done/plan"))
    assert set(written.files) == {"done/plan.md", "a.md", "p.md", "c.canvas", "q.base"}
    assert set(rehearsed.files) == set(written.files)
    assert vault.text("a.md") == (
        "[[done/plan]] ![[done/plan]] [link](done/plan.md) [[done/plan|shown]]\n"
        "[[done/plan#Idea]] [[done/plan#^b]]\n`[[inbox/idea]]`\n```\n[[inbox/idea]]\n```\n"
        "%%[[inbox/idea]]%%\n"
    )
    assert vault.text("p.md") == '---\nrelated: "[[done/plan]]"\n---\n'
    assert '"file":"done/plan.md"' in vault.text("c.canvas")
    assert vault.text("done/plan.md") == "# Idea\n\nSee [[#Idea]] and [own](plan.md). ^b\n"
    backlinks = vault.ask(ListLinks(kind=LinkKinds.BACKLINKS, note="plan")).links
    assert {link.source for link in backlinks} == {"a.md", "p.md", "c.canvas"}
    vault.ask(Undo(idem=key()))
    assert vault.contents() == before


def test_a_folder_is_moved_with_all_in_it(vault):
    vault.fill({**LINKS, "inbox/picture.png": b"\x89PNG", "b.md": "![[inbox/picture.png]]\n"})
    before = vault.contents()
    vault.ask(MoveNote(idem=key(), note="inbox", target="done"))
    assert vault.text("b.md") == "![[done/picture.png]]\n"
    assert vault.text("a.md").startswith("[[done/idea]]")
    vault.ask(Undo(idem=key()))
    assert vault.contents() == before


def test_a_link_saved_at_this_moment_is_rewritten_too(vault):
    vault.fill({"idea.md": "x"})
    (vault.place / "new.md").write_text("[[idea]]")
    vault.ask(MoveNote(idem=key(), note="idea", target="plan"))
    assert vault.text("new.md") == "[[plan]]"


@pytest.mark.parametrize(
    ("title", "content", "path", "text"),
    [
        ("Trip: Paris?", "x\n", "Trip - Paris.md", '---\naliases:\n  - "Trip: Paris?"\n---\nx\n'),
        ("con", "", "con note.md", "---\naliases:\n  - con\n---\n"),
        (
            "ideas/Why?",
            "---\naliases: [reasons]\ntags: a # b\n---\nx\n",
            "ideas/Why.md",
            "---\naliases: [reasons, Why?]\ntags: a # b\n---\nx\n",
        ),
    ],
)
def test_a_title_that_no_file_can_have_is_kept_as_an_alias(vault, title, content, path, text):
    written = vault.ask(edit(EditKind.CREATE, title, content))
    assert (written.path, vault.text(path)) == (path, text)
    assert "kept as an alias" in written.remark
    assert vault.ask(ReadNote(note=title.rpartition("/")[2])).path == path
    vault.ask(edit(EditKind.APPEND, title.rpartition("/")[2], "more"))
    assert vault.text(path).endswith("more\n")
    with pytest.raises(ConflictError, match="already"):
        vault.ask(edit(EditKind.CREATE, title, content))


def test_what_links_to_a_note_that_moves_is_left_where_nothing_may_be_written(vault):
    vault.fill(
        {
            "Rules/law.md": "the law and [[a]]\n",
            "Rules/other.md": "no link\n",
            "shut.md": "[[a]]\n",
            "Rules/board.canvas": '{"nodes":[{"type":"file","file":"a.md"}]}',
            "free.md": "[[a]]\n",
            "a.md": "x\n",
        }
    )
    (vault.place / "shut.md").chmod(0o444)
    before = vault.contents()
    rehearsed = vault.ask(MoveNote(idem=key(), note="a", target="b", dry_run=True))
    written = vault.ask(MoveNote(idem=key(), note="a", target="b"))
    assert vault.contents() == {
        **{path: data for path, data in before.items() if path != "a.md"},
        "b.md": b"x\n",
        "free.md": b"[[b]]\n",
    }
    assert rehearsed.remark == written.remark
    assert "3 read-only notes" in written.remark
    assert "Rules/board.canvas, Rules/law.md, shut.md" in written.remark
    left = ("Rules/board.canvas", "Rules/law.md", "shut.md")
    assert vault.journal.step(written.step).receipt.left == left
    vault.ask(Undo(idem=key()))
    assert vault.contents() == before


def test_a_note_that_isnt_text_can_be_moved_with_its_folder(vault):
    vault.fill({"old/latin.md": b"caf\xe9 [[x]]\n", "old/a.md": "[x](latin.md)\n", "x.md": ""})
    written = vault.ask(MoveNote(idem=key(), note="old", target="new"))
    assert vault.bytes("new/latin.md") == b"caf\xe9 [[x]]\n"
    assert written.remark == ""


HEADED = {
    "plan.md": "# Plan\n\n## To do ^b\n\nsee [[#To do]]\n\n## Later\n\n### To do\n",
    "a.md": "[[plan#To do]] [[plan#To do|x]] [[plan]] [x](plan.md#To%20do) [[plan#Later]]\n",
    "c.canvas": '{"nodes":[{"type":"file","file":"plan.md","subpath":"#To do"},'
    '{"type":"file","file":"a.md","subpath":"#To do"},{"type":"text","text":"[[plan#To do]]"}]}',
}


def test_a_heading_is_renamed_with_all_links_to_it(vault):
    headed = {**HEADED, "plan.md": HEADED["plan.md"].replace("### To do", "### Done")}
    vault.fill(headed)
    before = vault.contents()
    written = vault.ask(MoveNote(idem=key(), note="plan#to do", target="Next: steps"))
    assert set(written.files) == {"plan.md", "a.md", "c.canvas"}
    assert written.message == (
        "renamed the heading 'to do' to 'Next: steps' in plan.md and rewrote links in 2 files"
    )
    assert vault.text("plan.md") == headed["plan.md"].replace(
        "## To do ^b", "## Next: steps ^b"
    ).replace("[[#To do]]", "[[#Next steps]]")
    assert vault.text("a.md") == (
        "[[plan#Next steps]] [[plan#Next steps|x]] [[plan]] [x](plan.md#Next%20steps) "
        "[[plan#Later]]\n"
    )
    assert vault.text("c.canvas") == (
        '{"nodes":[{"type":"file","file":"plan.md","subpath":"#Next steps"},'
        '{"type":"file","file":"a.md","subpath":"#To do"},'
        '{"type":"text","text":"[[plan#Next steps]]"}]}'
    )
    vault.ask(Undo(idem=key()))
    assert vault.contents() == before


def test_links_stay_if_they_mean_another_heading_of_that_title(vault):
    plan = HEADED["plan.md"].replace(" ^b", "")
    vault.fill({**HEADED, "plan.md": plan})
    vault.ask(MoveNote(idem=key(), note="plan#Later#To do", target="plan#Done"))
    assert vault.text("plan.md") == plan.replace("### To do", "### Done")
    assert vault.text("a.md") == HEADED["a.md"]


@pytest.mark.parametrize(
    ("note", "target", "error"),
    [
        ("plan#To do", "x", InvalidError),
        ("plan#Nowhere", "x", NotFoundError),
        ("plan#Later", "two\nlines", InvalidError),
        ("plan#Later", "#", InvalidError),
    ],
)
def test_a_heading_that_isnt_clear_isnt_renamed(vault, note, target, error):
    vault.fill(HEADED)
    before = vault.contents()
    with pytest.raises(error):
        vault.ask(MoveNote(idem=key(), note=note, target=target))
    assert vault.contents() == before


def test_a_note_and_a_folder_with_a_hash_in_their_names_are_moved_themselves(vault):
    vault.fill({"C.md": "# tips\n", "C# tips.md": "x", "C#/a.md": "y"})
    assert vault.ask(MoveNote(idem=key(), note="C# tips", target="D")).path == "D.md"
    assert vault.ask(MoveNote(idem=key(), note="C#", target="E")).path == "E"


WRITES = {
    "create": edit(EditKind.CREATE, "Rules/new.md", "x"),
    "append": edit(EditKind.APPEND, "Rules/law.md", "x"),
    "overwrite": edit(EditKind.OVERWRITE, "Rules/law.md", "x"),
    "replace": edit(EditKind.REPLACE, "law", "x", find="law"),
    "property": edit(EditKind.SET_PROPERTY, "law", "1", "x"),
    "task": edit(EditKind.ADD_TASK, "law", "x"),
    "move out": MoveNote(idem=key(), note="law", target="free/"),
    "move in": MoveNote(idem=key(), note="a", target="Rules/"),
    "rename the folder": MoveNote(idem=key(), note="Rules", target="Norms"),
    "trash": TrashNote(idem=key(), note="law"),
}


@pytest.mark.parametrize("request_", WRITES.values(), ids=WRITES.keys())
def test_a_read_only_folder_stays_as_it_is(vault, request_):
    vault.fill({"Rules/law.md": "the law and [[a]]\n", "a.md": "x\n"})
    before = vault.contents()
    with pytest.raises(DeniedError, match="read-only"):
        vault.ask(request_)
    assert vault.contents() == before


# Looking back.


def test_history_diff_restore_and_blame(vault):
    vault.fill({"a.md": "zero\n"})
    first = vault.ask(edit(EditKind.APPEND, "a", "one")).step
    vault.call("vault:append", "turn-9.1.0", path="a", content="two")
    steps = vault.ask(ListHistory(note="a")).steps
    assert [step.message for step in steps] == ["appended 3 bytes to a.md"] * 2
    assert [(step.turn, step.session) for step in steps] == [("turn-9", "main"), ("", "")]
    second = steps[0].number
    assert "+two" in vault.ask(DiffNote(note="a")).text
    assert "+two" not in vault.ask(DiffNote(note="a", step=first)).text
    assert "+two" in vault.ask(DiffNote(note="a", step=first, since=True)).text
    lines = vault.ask(BlameNote(note="a")).lines
    assert [(line.text, line.step, line.turn) for line in lines] == [
        ("zero", 0, ""),
        ("one", first, ""),
        ("two", second, "turn-9"),
    ]
    vault.ask(MoveNote(idem=key(), note="a", target="b"))
    restored = vault.ask(RestoreNote(idem=key(), note="b", step=second, before=True))
    assert vault.text("b.md") == "zero\none\n"
    vault.ask(Undo(idem=key(), step=restored.step))
    assert vault.text("b.md") == "zero\none\ntwo\n"
    with pytest.raises(NotFoundError):
        vault.ask(RestoreNote(idem=key(), note="b", step=999))


def test_a_deleted_note_is_restored_from_its_history(vault):
    made = vault.ask(edit(EditKind.CREATE, "a.md", "precious")).step
    vault.ask(TrashNote(idem=key(), note="a"))
    assert set(vault.contents()) == {".trash/a.md"}
    vault.ask(RestoreNote(idem=key(), note="a.md", step=made))
    assert vault.text("a.md") == "precious"


def test_a_note_is_not_restored_to_what_it_was_before_it_was_made(vault):
    made = vault.ask(edit(EditKind.CREATE, "a.md", "x")).step
    with pytest.raises(NotFoundError, match=r"There was no a\.md before"):
        vault.ask(RestoreNote(idem=key(), note="a.md", step=made, before=True))
    assert vault.text("a.md") == "x"


def test_an_undo_that_would_lose_an_edit_of_the_users_is_refused_and_says_what_to_do(vault):
    vault.fill({"a.md": "one\n"})
    step = vault.ask(edit(EditKind.REPLACE, "a", "two", find="one")).step
    vault.fill({"a.md": "two by me\n"})
    with pytest.raises(ConflictError) as caught:
        vault.ask(Undo(idem=key(), step=step))
    assert caught.value.hint
    assert vault.text("a.md") == "two by me\n"


@pytest.mark.parametrize("path", ["../x.md", "/etc/x.md", ".obsidian/x.md", "~/x", "C:/x.md"])
def test_nothing_outside_or_hidden_is_reached(vault, path):
    before = vault.contents()
    for request in (
        ReadNote(note=path),
        Outline(note=path),
        ListFolder(folder=path),
        SearchNotes(query="x", folder=path),
        ListLinks(kind=LinkKinds.LINKS, note=path),
        ListTasks(note=path),
        edit(EditKind.CREATE, path, "x"),
        edit(EditKind.APPEND, path, "x"),
        MoveNote(idem=key(), note=path, target="x"),
        TrashNote(idem=key(), note=path),
        ListHistory(note=path),
        BlameNote(note=path),
    ):
        with pytest.raises(ErisError):
            vault.ask(request)
    assert vault.contents() == before


def test_lines_are_read_without_parsing_the_note(vault, monkeypatch):
    vault.fill({"a.md": "one\n# Two\nthree\n"})

    def refuse(_file):
        raise AssertionError("the whole note was parsed")

    monkeypatch.setattr(NoteFile, "note", property(refuse))
    assert vault.ask(ReadNote(note="a", first_line=2, lines=1)).text == "# Two\n"
    assert "three" in vault.call("vault:read", path="a", line=3).content


def test_the_history_of_a_note_goes_on_when_it_is_restored_after_its_deletion(vault):
    vault.fill({"x.md": ""})
    first = vault.ask(edit(EditKind.CREATE, "a.md", "one\n"))
    vault.ask(edit(EditKind.APPEND, "a", "two"))
    vault.ask(TrashNote(idem=key(), note="a"))
    vault.ask(RestoreNote(idem=key(), note="a.md", step=first.step + 1))
    assert vault.text("a.md") == "one\ntwo\n"
    steps = vault.ask(ListHistory(note="a.md")).steps
    assert [each.number for each in steps] == [first.step + count for count in (3, 2, 1, 0)]
    vault.ask(RestoreNote(idem=key(), note="a.md", step=first.step))
    assert vault.text("a.md") == "one\n"


SKILL = "---\nname: {0}\ndescription: Does {0}.\n---\nDo it.\n"


def test_skills_are_told_again_only_if_a_file_of_one_was_written(vault, monkeypatch):
    vault.fill({"Eris/Skills/brew/SKILL.md": SKILL.format("brew"), "a.md": "x\n"})
    skills = vault.service.skills
    assert [each.name for each in skills.changed().found] == ["brew"]
    reads = []
    at = vault.service.finder.at
    monkeypatch.setattr(vault.service.finder, "at", lambda path: reads.append(path) or at(path))
    vault.ask(edit(EditKind.APPEND, "a", "y"))
    vault.fill({"Eris/Skills/brew/notes.md": "z"})
    assert skills.changed() is None
    assert reads == []
    vault.fill({"Eris/Skills/bake/SKILL.md": SKILL.format("bake")})
    assert [each.name for each in skills.changed().found] == ["bake", "brew"]
    vault.ask(TrashNote(idem=key(), note="Eris/Skills/brew/SKILL.md"))
    assert [each.name for each in skills.changed().found] == ["bake"]
    vault.fill({"Eris/Skills/bake/SKILL.md": SKILL.format("bake").replace("Do it", "Do it now")})
    assert "now" in skills.changed().found[0].body
    assert skills.changed() is None
