"""`eris vault`: how commands are written, what they ask for, and how answers read."""

import datetime as dt
import io
import json
import subprocess
import sys
from typing import get_args

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.cli.answers import answer, document_of
from eris.cli.invocation import Invocation
from eris.cli.looks import Look
from eris.cli.main import run
from eris.cli.vault import finding, past, reading, telling, undo, vault, writing
from eris.cli.vault.asking import Notes, collect
from eris.cli.vault.property_values import value_as_json
from eris.errors import ConflictError, NotFoundError
from proto.rights import RIGHTS
from proto.vault import (
    Blame,
    BlamedLine,
    Difference,
    EditKind,
    Files,
    Found,
    Headings,
    HeadingView,
    History,
    Hit,
    IndexState,
    LineView,
    LinkKinds,
    Links,
    LinkView,
    ListFolder,
    ListLinks,
    ListTasks,
    NoteText,
    OpenDaily,
    Properties,
    ReadNote,
    SearchNotes,
    StepView,
    Table,
    Tags,
    TagView,
    Tasks,
    TaskView,
    Vault,
    Written,
)


def name_of(value):
    """The name of a function as the id of a case; nothing for its other parts."""
    return getattr(value, "__name__", "")


PIPE = Look(zone=dt.UTC)
TERMINAL = Look(terminal=True, zone=dt.UTC)
COLORS = Look(terminal=True, color=True, zone=dt.UTC)


def parsed(*words):
    """The command that words call, and the values of its parameters that were said."""
    context = click.Context(vault, obj=Invocation(environ={}, cwd=None))
    name, command, rest = vault.resolve_command(context, list(words))
    with command.make_context(name, rest, parent=context) as inner:
        said = {
            key: value
            for key, value in inner.params.items()
            if inner.get_parameter_source(key) is not click.core.ParameterSource.DEFAULT
        }
    return name, said


# How a command is written.

WAYS = [
    # As with other programs, and as in Obsidian; the command; its parameters.
    (["read", "Recipe"], ["read", "file=Recipe"], {"note": "Recipe"}),
    (["read", "a/b c.md"], ["read", "path=a/b c.md"], {"note": "a/b c.md"}),
    (
        ["append", "todo", "- [ ] eggs"],
        ["append", "file=todo", "content=- [ ] eggs", "silent"],
        {"note": "todo", "text": ("- [ ] eggs",)},
    ),
    (
        ["append", "todo", "a\n\tb\\c"],
        ["append", "content=a\\n\\tb\\\\c", "path=todo"],
        {"note": "todo", "text": ("a\n\tb\\c",)},
    ),
    (
        ["create", "Trip to Paris", "--template", "Travel"],
        ["create", "name=Trip to Paris", "template=Travel", "newtab"],
        {"note": "Trip to Paris", "template": "Travel"},
    ),
    (
        ["create", "a", "new", "--overwrite"],
        ["create", "name=a", "content=new", "overwrite"],
        {"note": "a", "text": ("new",), "overwrite": True},
    ),
    (
        ["move", "idea", "projects/", "--dry-run"],
        ["move", "to=projects/", "file=idea", "dry-run"],
        {"note": "idea", "target": "projects/", "dry_run": True},
    ),
    (
        ["property:set", "todo", "status", "done"],
        ["property:set", "name=status", "value=done", "file=todo"],
        {"note": "todo", "name": "status", "value": ("done",)},
    ),
    (
        ["search", "meeting notes", "--limit", "10"],
        ["search", "query=meeting notes", "limit=10"],
        {"query": ("meeting notes",), "limit": 10},
    ),
    (["tags", "--counts", "--sort", "count"], ["tags", "counts", "sort=count", "all"], None),
    (["tasks", "--todo"], ["tasks", "todo"], {"todo": True}),
    (["tasks", "--daily", "--done"], ["tasks", "daily", "done"], {"daily": True, "todo": False}),
    (
        ["task", "a.md:8", "--toggle"],
        ["task", "ref=a.md:8", "toggle"],
        {"note": "a.md:8", "to": "toggle"},
    ),
    (["task", "--daily", "--line=3"], ["task", "daily", "line=3"], {"daily": True, "line": 3}),
    (["orphans", "--total"], ["orphans", "total"], {"only_total": True}),
    (
        ["restore", "todo", "12"],
        ["restore", "file=todo", "version=12"],
        {"note": "todo", "step": 12},
    ),
    (["daily:append", "milk"], ["daily:append", "content=milk"], {"text": ("milk",)}),
    (["daily:append", "milk"], ["daily", "append", "milk"], {"text": ("milk",)}),
    (["property:read", "a", "b"], ["property", "read", "a", "b"], {"note": "a", "name": "b"}),
    (["task:tick", "a", "b"], ["task", "tick", "a", "b"], {"note": "a", "text": ("b",)}),
]


@pytest.mark.parametrize(("ours", "theirs", "said"), WAYS, ids=lambda each: " ".join(each or ""))
def test_a_command_is_written_either_way(ours, theirs, said):
    name, parameters = parsed(*ours)
    assert parsed(*theirs) == (name, parameters)
    if said is not None:
        assert parameters == said


TEXTS = ["- eggs", "-draft", "-h1", "path=/usr/bin", "content=5", "silent", "---", "-4", "a=b"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_to_write_is_never_taken_for_anything_else(text):
    assert parsed("append", "todo.md", text)[1] == {"note": "todo.md", "text": (text,)}
    assert parsed("append", "todo.md", text, "--part", "Now")[1] == {
        "note": "todo.md",
        "text": (text,),
        "part": "Now",
    }


@given(st.text(min_size=1).filter(lambda text: not text.startswith("--")))
def test_any_text_in_obsidian_form_arrives_as_it_is(text):
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        return
    _, said = parsed("append", "file=todo.md", f"content={escaped}")
    assert said == {"note": "todo.md", "text": (text,)}


def test_after_two_dashes_everything_is_a_word():
    _, said = parsed("append", "--", "file=x", "--part")
    assert said == {"note": "file=x", "text": ("--part",)}


SLIPS = [
    (["append", "file=todo", "content=x", "inline"], "'inline' isn't known here"),
    (["append", "content=x"], "Missing argument 'NOTE'"),
    (["read"], "Missing argument 'NOTE'"),
    (["read", "a", "b"], "unexpected extra argument (b)"),
    (["raed", "a"], "Did you mean `eris vault read`?"),
    (["append", "a.md"], "There is nothing to write"),
    (["rename", "a.md", "b/c"], "eris vault move"),
    (["tasks", "a.md", "--daily"], "not both"),
    (["task", "a.md"], "NOTE:LINE"),
    (["task", "a.md:8", "--daily"], "NOTE:LINE"),
    (["property:set", "a", "due", "soon", "--type", "date"], "2027-01-31"),
    (["read", "caf\udce9"], "no UTF-8 text"),
    (["daily", "--day", "tomorrow"], "%Y-%m-%d"),
]


@pytest.mark.parametrize(("words", "part"), SLIPS, ids=lambda each: str(each).replace("\udce9", ""))
def test_a_slip_is_told_before_anything_is_asked_for(words, part, capsys, monkeypatch, tmp_path):
    # No vault runs there: whoever asks it anything gets another error than one of usage.
    monkeypatch.setenv("ERIS_VAULT", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run(["vault", *words]) == 2
    assert part in " ".join(capsys.readouterr().err.split())


def test_without_the_system_a_command_says_how_to_start_it(tmp_path, monkeypatch, capsys):
    (tmp_path / ".eris").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    assert run(["--vault", str(tmp_path), "vault", "read", "a.md", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["type"] == "unavailable"
    assert "eris up" in document["error"]["hint"]


def test_help_imports_nothing_that_is_slow():
    code = (
        "import sys; from eris.cli.main import run; run(['vault', '--help']);"
        "heavy = {'rich', 'zmq', 'pykka', 'markdown_it', 'eris.actor', 'eris.surface'};"
        "print('IMPORTED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "IMPORTED []" in done.stdout
    for name in vault.commands:
        assert f"\n  {name} " in done.stdout


def test_every_command_can_answer_as_json_and_start_the_system():
    for name, command in vault.commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--json", "--up", "--vault"} <= options, name


def test_whoever_is_at_the_machine_may_send_every_request_of_the_vault():
    # A request is what a command sends; what isn't is a reply.
    replies = {"text", "headings", "files", "found", "table", "link-list", "property-list"}
    replies |= {"tag-list", "task-list", "written", "step-list", "difference", "blamed"}
    replies |= {"index-state"}
    # What only actors ask, who follow the notes.
    replies |= {"notes-changed", "states", "state-list", "name", "named", "read-file", "bytes"}
    tags = {message.__struct_config__.tag for message in get_args(Vault)}
    requests = {tag for tag in tags if tag.split(".")[1] not in replies}
    for role in ("cli", "console", "web"):
        assert set(RIGHTS[role]["vault"]) == requests


# What a command asks for.


class Recorded(Notes):
    """Notes that give prepared replies, one after the other, and keep what was asked."""

    def __init__(self, *replies):
        self.asked = []
        waiting = list(replies)

        def ask(body, expect):
            self.asked.append(body)
            reply = waiting.pop(0)
            assert isinstance(reply, expect)
            return reply

        super().__init__(ask)


def edits(*bodies):
    """Edits without their keys, which are random."""
    return [
        tuple(getattr(body, name) for name in ("kind", "note", "content", "part", "line"))
        for body in bodies
    ]


DONE = Written(path="todo.md", message="appended 12 bytes to todo.md", step=7, files=("todo.md",))


def page(text, first, following, version="v1"):
    return NoteText(
        path="a.md",
        text=text,
        version=version,
        first_line=first,
        total_lines=4,
        next_line=following,
    )


def test_a_note_that_takes_several_messages_is_put_together():
    notes = Recorded(page("one\ntwo\n", 1, 3), page("three\r\nfour", 3, 0))
    reply = notes.read("a")
    assert (reply.text, reply.first_line, reply.next_line) == ("one\ntwo\nthree\r\nfour", 1, 0)
    assert [(body.note, body.first_line) for body in notes.asked] == [("a", 1), ("a.md", 3)]


def test_some_lines_of_a_note_are_read_no_further():
    notes = Recorded(page("two\n", 2, 3), page("three\n", 3, 4))
    assert notes.read("a", first_line=2, lines=2).text == "two\nthree\n"
    assert notes.asked[1] == ReadNote(note="a.md", first_line=3, lines=1)


def test_a_note_that_changes_between_two_messages_is_read_again():
    notes = Recorded(
        page("old\n", 1, 2),
        page("new", 2, 0, "v2"),
        page("one\n", 1, 2, "v2"),
        page("new", 2, 0, "v2"),
    )
    assert notes.read("a").text == "one\nnew"
    changing = [page("x\n", 1, 2), page("y", 2, 0, "v2")] * 5
    with pytest.raises(ConflictError):
        Recorded(*changing).read("a")


def test_all_files_are_listed_however_many_messages_it_takes():
    notes = Recorded(Files(paths=("a", "b"), total=3), Files(paths=("c",), total=3))
    assert notes.files().paths == ("a", "b", "c")
    assert notes.asked[1] == ListFolder(after="b")


@given(st.integers(0, 30), st.integers(1, 10), st.none() | st.integers(1, 40))
def test_things_in_pages_are_all_collected_and_no_more_than_asked_for(total, size, most):
    everything = tuple(range(total))

    def fetch(offset, wanted):
        return everything[offset : offset + min(size, wanted)], total

    assert collect(fetch, most) == (everything[:most], total)


def test_a_search_is_asked_for_until_it_is_complete_or_as_many_as_wanted():
    first, second = (
        Found(hits=(Hit(path=path),), total=2, remark=remark)
        for path, remark in (("a.md", "“gadren” was taken for “garden”."), ("b.md", ""))
    )
    notes = Recorded(first, second)
    result = finding.search(notes, query=("gadren", "tools"), path="p", limit=None)
    assert result.text(PIPE) == "a.md\nb.md\n"
    assert result.remark == "“gadren” was taken for “garden”."
    assert notes.asked[1] == SearchNotes(
        query="gadren tools", folder="p", limit=1000, offset=1, context=False
    )
    notes = Recorded(first)
    assert finding.search(notes, query=("x",), path="", limit=1).count == 2
    assert notes.asked[0].limit == 1


VALUES = [
    (["done"], None, '"done"'),
    (["true"], None, "true"),
    (["-4"], None, "-4"),
    (["2.50"], None, "2.5"),
    (["007"], None, '"007"'),
    (["12345678901234567890"], None, '"12345678901234567890"'),
    (["2027-01-31"], None, '"2027-01-31"'),
    (["[[Note]]"], None, '"[[Note]]"'),
    (['["a", 2]'], None, '["a",2]'),
    (["[draft"], None, '"[draft"'),
    (["a", "2"], None, '["a",2]'),
    ([""], None, '""'),
    (["42"], "text", '"42"'),
    (["a, b,"], "list", '["a","b"]'),
    (["a, b", "c"], "list", '["a, b","c"]'),
    (["007"], "number", "7"),
    (["yes"], "checkbox", "true"),
    (["2027-01-31"], "date", '"2027-01-31"'),
    (["2027-01-31 09:30"], "datetime", '"2027-01-31T09:30:00"'),
]


@pytest.mark.parametrize(("words", "kind", "value"), VALUES, ids=str)
def test_a_value_of_a_property_is_told_by_how_it_is_written_or_by_its_type(words, kind, value):
    assert value_as_json(words, kind) == value


EDITS = [
    (
        writing.append,
        {"note": "a", "text": ("- eggs", "2"), "part": "Now"},
        (EditKind.APPEND, "a", "- eggs 2", "Now", 0),
    ),
    (
        writing.prepend,
        {"note": "a", "text": ("x",), "part": ""},
        (EditKind.PREPEND, "a", "x", "", 0),
    ),
    (
        writing.property_set,
        {"note": "a", "name": "tags", "value": ("x", "y"), "type_": None},
        (EditKind.SET_PROPERTY, "a", '["x","y"]', "tags", 0),
    ),
    (
        writing.property_remove,
        {"note": "a", "name": "due"},
        (EditKind.REMOVE_PROPERTY, "a", "", "due", 0),
    ),
    (
        writing.task_add,
        {"note": "a", "text": ("buy milk",), "part": "Shopping"},
        (EditKind.ADD_TASK, "a", "buy milk", "Shopping", 0),
    ),
    (writing.task_tick, {"note": "a", "text": ("milk",)}, (EditKind.TICK_TASK, "a", "milk", "", 0)),
]


@pytest.mark.parametrize(("function", "parameters", "edit"), EDITS, ids=name_of)
def test_a_writing_command_asks_for_one_edit(function, parameters, edit):
    notes = Recorded(DONE)
    result = function(notes, **parameters)
    assert edits(*notes.asked) == [edit]
    assert result.text(PIPE) == "Appended 12 bytes to todo.md (step 7).\n"


def test_every_write_has_a_key_of_its_own():
    notes = Recorded(DONE, DONE)
    for _ in range(2):
        writing.append(notes, note="a", text=("x",), part="")
    assert len({body.idem for body in notes.asked}) == 2


STATES = [("done", False, EditKind.TICK_TASK), ("todo", True, EditKind.UNTICK_TASK)]
STATES += [("toggle", False, EditKind.TICK_TASK), ("toggle", True, EditKind.UNTICK_TASK)]


@pytest.mark.parametrize(("to", "done", "kind"), STATES)
def test_a_task_is_ticked_only_as_it_was_seen(to, done, kind):
    seen = TaskView(path="p/a.md", line=8, text="water the plants", done=done)
    notes = Recorded(Tasks(tasks=(seen,), total=1), DONE)
    writing.task(notes, note="a.md:8", line=None, daily=False, to=to)
    assert notes.asked[0].note == "a.md"
    assert edits(notes.asked[1]) == [(kind, "p/a.md", "water the plants", "", 8)]


def test_a_task_that_is_not_there_is_told_with_those_that_are():
    seen = TaskView(path="a.md", line=8, text="x", done=False)
    with pytest.raises(NotFoundError) as caught:
        writing.task(
            Recorded(Tasks(tasks=(seen,), total=1)), note="a.md", line=9, daily=False, to="done"
        )
    assert caught.value.hint == "There are tasks at: 8."


def test_tasks_of_today_are_those_of_the_daily_note_which_is_not_made_for_that():
    notes = Recorded(Written(path="d/2027-01-01.md", message=""), Tasks(tasks=(), total=0))
    finding.tasks(notes, note="", todo=True, daily=True, limit=None)
    assert isinstance(notes.asked[0], OpenDaily)
    assert not notes.asked[0].create
    assert notes.asked[1] == ListTasks(note="d/2027-01-01.md", done=False, limit=1000)


@pytest.mark.parametrize("shell", ["text\r\nwith all\n of it", "ümlaut"])
def test_text_from_standard_input_is_written_as_it_is(shell, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(shell.encode())))
    notes = Recorded(DONE)
    writing.append(notes, note="a", text=("-",), part="")
    assert notes.asked[0].content == shell


def test_standard_input_that_is_no_text_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9")))
    with pytest.raises(Exception, match=r"isn't UTF-8 text \(byte 3\)"):
        writing.append(Recorded(), note="a", text=(), part="")


# How answers read.

STEPS = (
    StepView(number=12, at=1.8e9, message="moved a.md to b.md", turn="4f2a91c300aa", files=3),
    StepView(number=9, at=1.79e9, message="appended 2 bytes to a.md", undone=True, kept=False),
)
LINKS = Links(
    path="hub.md",
    links=(
        LinkView(source="a.md", target="hub.md", line=3, text="see [[hub]]"),
        LinkView(source="a.md", target="lost", resolved=False, line=9, text="[[lost]]"),
        LinkView(source="b/c.md", target="hub.md", line=1, text="# [[hub|that]]"),
    ),
)

TOLD = [
    (telling.headings, Headings(path="a.md", headings=(
        HeadingView(level=2, title="Plan", line=5),
    )), "5: ## Plan\n"),
    (telling.note, page("no end", 1, 0), "no end"),
    (telling.history, History(steps=STEPS), (
        "   12  2027-01-15 08:00  moved a.md to b.md  (turn 4f2a91c300aa, 3 files)\n"
        "    9  2026-09-21 14:13  appended 2 bytes to a.md  (undone, contents no longer kept)\n"
    )),
    (telling.link_lines, LINKS, (
        "a.md:3: see [[hub]]\na.md:9: [[lost]]\nb/c.md:1: # [[hub|that]]\n"
    )),
    (telling.tasks, Tasks(tasks=(
        TaskView(path="a.md", line=8, text="water", done=False),
        TaskView(path="a.md", line=9, text="buy", done=True),
    ), total=2), "a.md:8: [ ] water\na.md:9: [x] buy\n"),
    (telling.written, DONE, "Appended 12 bytes to todo.md (step 7).\n"),
    (telling.written, Written(path="a.md", message="changed nothing."), "Changed nothing.\n"),
    (telling.written, Written(
        path="b.md", message="moved a.md to b.md", step=3, files=("b.md", "c.md")
    ), "Moved a.md to b.md (step 3).\n  b.md\n  c.md\n"),
    (telling.table, Table(columns=("status", "due"), rows=(("a.md", "open\tnow", ""),), total=1),
     "note\tstatus\tdue\na.md\topen now\t\n"),
    (telling.index, IndexState(
        notes=10_000, done=9_812, building=True, problems={"x.md": "it's Latin-1"}
    ), (
        "9,812 of 10,000 notes are in the index; it's being brought up to date.\n"
        "x.md: it's Latin-1\n"
    )),
    (telling.index, IndexState(notes=1, done=1), "1 of 1 notes are in the index.\n"),
    (telling.blame, Blame(path="a.md", lines=(
        BlamedLine(number=1, text="mine"),
        BlamedLine(number=2, text="  added", step=7, turn="4f2a91c300aa", at=1.8e9),
    )), (
        "                                    1: mine\n"
        "    7 2027-01-15 08:00 4f2a91c300aa 2:   added\n"
    )),
    (telling.blame, Blame(path="a.md", lines=(BlamedLine(number=1, text="mine"),)), "1: mine\n"),
    (telling.difference, Difference(path="a.md", text="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"),
     "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"),
]  # fmt: skip


@pytest.mark.parametrize(("tell", "reply", "text"), TOLD, ids=name_of)
def test_an_answer_reads(tell, reply, text):
    assert tell(reply, PIPE) == text
    assert click.unstyle(tell(reply, COLORS)) == tell(reply, TERMINAL)


@pytest.mark.parametrize(("tell", "reply", "text"), TOLD, ids=name_of)
def test_with_json_every_field_of_the_reply_is_in_one_document(tell, reply, text, capsysbinary):
    answer(reply, tell).print(PIPE, as_json=True, total=False)
    document = json.loads(capsysbinary.readouterr().out)
    assert document.pop("ok") is True
    assert set(document) == set(reply.__struct_fields__)


def test_the_path_of_a_link_is_told_once_or_with_its_number_of_links():
    def names(**options):
        return telling.link_names(LINKS, **options).splitlines()

    assert names(look=PIPE, sources=True, counts=False) == ["a.md", "b/c.md"]
    assert names(look=PIPE, sources=True, counts=True) == ["a.md\t2", "b/c.md\t1"]
    assert names(look=PIPE, sources=False, counts=False) == ["hub.md", "lost"]
    assert names(look=TERMINAL, sources=False, counts=False) == ["hub.md", "lost (unresolved)"]


@pytest.mark.parametrize(("kind", "function"), [
    (LinkKinds.ORPHANS, finding.orphans), (LinkKinds.DEAD_ENDS, finding.deadends)
])  # fmt: skip
def test_notes_without_links_are_listed_by_path(kind, function):
    notes = Recorded(Links(links=(LinkView(source="a.md"), LinkView(source="b.md"))))
    result = function(notes)
    assert notes.asked == [ListLinks(kind=kind)]
    assert (result.text(PIPE), result.count) == ("a.md\nb.md\n", 2)


def test_a_search_with_context_tells_lines_like_grep():
    hits = (Hit(path="a.md", lines=(LineView(number=3, text="the garden"),)), Hit(path="b.md"))
    assert telling.found(hits, PIPE) == "a.md:3: the garden\nb.md\n"


def test_a_table_is_in_line_on_a_terminal_wide_characters_too():
    reply = Table(columns=("who",), rows=(("日本.md", "x"), ("a.md", "y")), total=2)
    assert telling.table(reply, TERMINAL).splitlines() == [
        "note     who", "日本.md  x", "a.md     y"
    ]  # fmt: skip


def test_tags_are_sorted_by_name_or_number():
    reply = Tags(tags=(TagView(name="work", notes=5), TagView(name="Idea/big", notes=2)))
    by_name = finding.tags(Recorded(reply), counts=False, sort="name")
    assert by_name.text(PIPE) == "#Idea/big\n#work\n"
    by_count = finding.tags(Recorded(reply), counts=True, sort="count")
    assert by_count.text(PIPE) == "#work\t5\n#Idea/big\t2\n"


PROPERTIES = Properties(
    path="a.md", values='{"status": "done", "tags": ["a", "b"], "n": 1.5, "ok": true, "due": null}'
)


def test_properties_of_a_note_are_told_as_a_person_writes_them():
    result = reading.properties(Recorded(PROPERTIES), note="a", counts=False)
    assert result.text(PIPE) == "status: done\ntags: a, b\nn: 1.5\nok: true\ndue: \n"
    assert result.document["values"]["tags"] == ["a", "b"]


def test_one_property_is_read_without_regard_to_case_and_a_missing_one_told():
    assert (
        reading.property_read(Recorded(PROPERTIES), note="a", name="Status").text(PIPE) == "done\n"
    )
    with pytest.raises(NotFoundError) as caught:
        reading.property_read(Recorded(PROPERTIES), note="a", name="x")
    assert "status, tags" in caught.value.hint


def test_a_folder_lists_what_is_directly_in_it():
    files = ("p/a.md", "p/q/b.md")
    assert telling.children(files, ("p/empty", "p/q", "p/q/r"), "p") == (
        "p/empty/", "p/q/", "p/a.md"
    )  # fmt: skip
    assert telling.children(("a.md", "p/a.md"), ("p",), "") == ("p/", "a.md")


def test_a_random_note_is_one_of_the_notes():
    notes = Files(paths=("a.md", "picture.png"), total=2)
    assert reading.random_note(Recorded(notes), folder="").text(PIPE) == "a.md\n"
    with pytest.raises(NotFoundError):
        reading.random_note(Recorded(Files(paths=("p.png",), total=1)), folder="")


def test_a_history_that_is_cut_says_how_to_see_more():
    result = past.history(Recorded(History(steps=STEPS)), note="", limit=1)
    assert len(result.text(PIPE).splitlines()) == 1
    assert "--limit 10" in result.remark
    assert past.history(Recorded(History(steps=STEPS)), note="", limit=2).remark == ""


NASTY = "red\x1b[31m\x07 \u202e\x9b2J\rover"


@pytest.mark.parametrize("look", [TERMINAL, COLORS])
def test_what_a_note_says_is_no_command_for_the_terminal(look):
    for text in (
        telling.note(page(NASTY, 1, 0), look),
        telling.paths([NASTY], look),
        telling.found([Hit(path=NASTY, lines=(LineView(number=1, text=NASTY),))], look),
        telling.difference(Difference(path=NASTY, text=f"+{NASTY}\n-{NASTY}\n"), look),
        telling.table(Table(columns=(NASTY,), rows=((NASTY, NASTY),), total=1), look),
        telling.properties({NASTY: NASTY}, look),
        telling.written(Written(path="", message=NASTY, step=1), look),
        telling.tags(Tags(tags=(TagView(name=NASTY, notes=1),)), look, counts=True),
    ):
        assert not set("\x1b\x07\u202e\x9b\r") & set(click.unstyle(text))


def test_a_program_gets_a_note_byte_for_byte(capsysbinary):
    text = "\ufeff" + NASTY + "\r\nend"
    answer(page(text, 1, 0), telling.note).print(PIPE, as_json=False, total=False)
    assert capsysbinary.readouterr().out == text.encode()


def test_a_file_name_with_a_line_end_stays_on_one_line():
    assert telling.paths(["a\nb.md"], PIPE) == "a␤b.md\n"
    assert document_of(Files(paths=("a\nb.md",), total=1))["paths"] == ("a\nb.md",)


def test_undo_takes_the_number_of_a_step():
    with undo.make_context("undo", ["12"], obj=Invocation(environ={}, cwd=None)) as context:
        assert context.params["step"] == 12
