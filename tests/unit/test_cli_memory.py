"""`eris memory` and `eris doc`: what commands ask for, and how answers read."""

import json
import subprocess
import sys

import click
import msgspec
import pytest

from eris.cli.answers import answer
from eris.cli.invocation import Invocation
from eris.cli.looks import Look
from eris.cli.main import run
from eris.cli.memory import doc, memory, telling
from eris.errors import ErisError, RemoteError
from proto.errors import ErrorBody, ErrorCode
from proto.memory import (
    Core,
    DescribeMemory,
    Documents,
    DocumentView,
    ForgetDocument,
    Hits,
    HitView,
    IngestDocument,
    KeepMemory,
    Kind,
    ListDocuments,
    ListMemories,
    Memories,
    MemoryChanged,
    MemoryReport,
    MemoryState,
    MemoryView,
    PageText,
    ReadCore,
    ReadDocument,
    RebuildIndex,
    ResolveKind,
    ResolveMemory,
    SearchMemory,
)
from proto.rights import RIGHTS

PIPE = Look()
TERMINAL = Look(terminal=True)
COLORS = Look(terminal=True, color=True)

ALARM = MemoryView(
    id="m3",
    title="Alarm code",
    text="The alarm code is 4711.",
    state=MemoryState.STAGED,
    created="2027-01-15T08:00:00+01:00",
    expires="2027-02-14T08:00:00+01:00",
)
CHANGED = MemoryChanged(memory=ALARM, receipt="staged “Alarm code” as m3")
BOILER = DocumentView(
    id="d1", path="/manuals/boiler.pdf", title="Boiler", form="pdf", pages=3, chunks=9
)
NOTE = HitView(
    kind=Kind.NOTE,
    text="The vet said:\nless food.",
    score=0.514,
    path="Pets/Vet.md",
    first_line=7,
    last_line=8,
    date="2027-01-02",
)
REPORT = MemoryReport(
    embedder="e5-small",
    backend="edge",
    chunks=12_345,
    notes=1_000,
    documents=2,
    staged=1,
    floor=0.5,
)

REPLIES = {
    SearchMemory: Hits(hits=(NOTE,)),
    ListMemories: Memories(memories=(ALARM,), total=1),
    KeepMemory: CHANGED,
    ResolveMemory: CHANGED,
    ReadCore: Core(path="Eris/About me.md", text="Call me Robin."),
    DescribeMemory: REPORT,
    RebuildIndex: REPORT,
    IngestDocument: BOILER,
    ListDocuments: Documents(documents=(BOILER,)),
    ForgetDocument: BOILER,
}


def pages_of(view, *texts):
    """Replies to requests for pages."""
    return lambda body: PageText(document=view, page=body.page, text=texts[body.page - 1])


class Asked:
    """Runs a command as it's written; stands in for the connection and keeps what was asked."""

    def __init__(self, folder, also=()):
        self.bodies = []
        self.vault = folder / "vault"
        self.here = folder / "here"
        self.vault.mkdir(exist_ok=True)
        self.here.mkdir(exist_ok=True)
        self.replies = REPLIES | {ReadDocument: pages_of(BOILER, "one", "two\n", "")}
        self.replies |= dict(also)

    def __call__(self, *words):
        group = {"memory": memory, "doc": doc}[words[0]]
        invocation = Invocation(environ={"ERIS_VAULT": str(self.vault)}, cwd=self.here)
        outer = click.Context(group, obj=invocation)
        name, command, rest = group.resolve_command(outer, list(words[1:]))
        with command.make_context(name, rest, parent=outer) as context:
            said = {
                key: value
                for key, value in context.params.items()
                if key not in ("start", "as_json")
            }
            # Below what gives every command its connection and prints its answer.
            return command.callback.__wrapped__.__wrapped__(self.ask, **said)

    def ask(self, body, expect):
        self.bodies.append(body)
        reply = self.replies[type(body)]
        reply = reply(body) if callable(reply) else reply
        assert isinstance(reply, expect)
        return reply


@pytest.fixture
def eris(tmp_path):
    return Asked(tmp_path)


def without_key(body):
    return msgspec.structs.replace(body, key="") if hasattr(body, "key") else body


# What a command asks for.

REQUESTS = [
    ("memory search what did -the- vet say", SearchMemory(text="what did -the- vet say")),
    (
        "memory search boiler --kind note --kind session --tag a --tag b --folder H --limit 9",
        SearchMemory(
            text="boiler",
            kinds=(Kind.NOTE, Kind.SESSION),
            tags=("a", "b"),
            folder="H",
            limit=9,
        ),
    ),
    (
        "memory why boiler --kind memory",
        SearchMemory(text="boiler", kinds=(Kind.MEMORY,), explain=True),
    ),
    (
        "memory search x --since 2026-01-01 --until 2026-12-31",
        SearchMemory(text="x", since="2026-01-01", until="2026-12-31"),
    ),
    ("memory list", ListMemories()),
    (
        "memory list --state waiting --state expired --tag home --limit 2",
        ListMemories(states=(MemoryState.WAITING, MemoryState.EXPIRED), tag="home", limit=2),
    ),
    ("memory add - the key is with Tom", KeepMemory(key="", text="- the key is with Tom")),
    (
        "memory add Ann --title Who --tag people --tag food --commit",
        KeepMemory(key="", text="Ann", title="Who", tags=("people", "food"), commit=True),
    ),
    ("memory add -- --commit", KeepMemory(key="", text="--commit")),
    ("memory commit m3", ResolveMemory(key="", memory="m3", action=ResolveKind.COMMIT)),
    (
        "memory commit m3 --replaces m2",
        ResolveMemory(key="", memory="m3", action=ResolveKind.COMMIT, replaces="m2"),
    ),
    (
        "memory commit m3 --keep-both",
        ResolveMemory(key="", memory="m3", action=ResolveKind.KEEP_BOTH),
    ),
    ("memory approve m3", ResolveMemory(key="", memory="m3", action=ResolveKind.APPROVE)),
    ("memory forget m3", ResolveMemory(key="", memory="m3", action=ResolveKind.FORGET)),
    ("memory about-me", ReadCore()),
    ("memory status", DescribeMemory()),
    ("memory index", DescribeMemory()),
    ("memory index --rebuild", RebuildIndex()),
    ("memory index --move-to http://nas:6333", RebuildIndex(move_to="http://nas:6333")),
    ("doc list", ListDocuments()),
    ("doc read boiler.pdf", ReadDocument(document="boiler.pdf", page=1)),
    ("doc read d1 --page 2", ReadDocument(document="d1", page=2)),
    (
        "doc query how often --doc d1 --limit 3",
        SearchMemory(text="how often", kinds=(Kind.DOCUMENT,), document="d1", limit=3),
    ),
    ("doc delete d1", ForgetDocument(key="", document="d1")),
]


@pytest.mark.parametrize(("line", "request_"), REQUESTS, ids=[line for line, _ in REQUESTS])
def test_a_command_asks_for_one_thing(line, request_, eris):
    eris(*line.split())
    assert [without_key(body) for body in eris.bodies] == [request_]


@pytest.mark.parametrize("line", ["memory add x", "memory forget m3", "doc delete d1"])
def test_every_change_has_a_key_of_its_own(line, eris):
    for _ in range(2):
        eris(*line.split())
    first, second = (body.key for body in eris.bodies)
    assert first != second
    assert first


def test_whoever_is_at_the_machine_may_send_all_of_it():
    asked = {type(request) for _, request in REQUESTS} | {IngestDocument}
    tags = {message.__struct_config__.tag for message in asked}
    assert tags <= set(RIGHTS["cli"]["memory"])


@pytest.mark.parametrize(("word", "told"), [
    ("both.pdf", "{here}/both.pdf"),
    ("./here.pdf", "{here}/here.pdf"),
    ("../outside.pdf", "{here}/../outside.pdf"),
    ("Papers/vault.pdf", "Papers/vault.pdf"),
    ("-vault.pdf", "-vault.pdf"),
    ("../vault.pdf", "{here}/../vault.pdf"),  # It's above the vault, not in it.
    ("lost.pdf", "{here}/lost.pdf"),
    ("~/home.pdf", "{home}/home.pdf"),
    ("~nobody-of-that-name/a.pdf", "{here}/~nobody-of-that-name/a.pdf"),
    ("a" * 300, "{here}/" + "a" * 300),
    ("/nowhere/a.pdf", "/nowhere/a.pdf"),
])  # fmt: skip
def test_a_document_is_named_wholly_unless_it_is_only_in_the_vault(
    word, told, eris, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("both.pdf", "Papers/vault.pdf", "-vault.pdf"):
        (eris.vault / path).parent.mkdir(exist_ok=True)
        (eris.vault / path).touch()
    for path in (eris.here / "both.pdf", eris.here / "here.pdf", tmp_path / "home.pdf"):
        path.touch()
    (tmp_path / "outside.pdf").touch()
    (tmp_path / "vault.pdf").mkdir()
    eris("doc", "ingest", word)
    assert eris.bodies[0].path == told.format(here=eris.here, home=tmp_path)


def test_several_documents_are_taken_in_one_after_the_other(eris):
    result = eris("doc", "ingest", "/a.pdf", "/b.pdf")
    assert [body.path for body in eris.bodies] == ["/a.pdf", "/b.pdf"]
    assert result.text(PIPE) == "d1  /manuals/boiler.pdf  pdf, 3 pages\n" * 2


def test_a_document_that_is_refused_does_not_keep_the_others_out(eris):
    taken = eris.replies[IngestDocument]

    def replies(body):
        if body.path == "/b.pdf":
            raise RemoteError(ErrorBody(code=ErrorCode.NOT_FOUND, message="No /b.pdf."), "memory")
        return taken

    eris.replies[IngestDocument] = replies
    with pytest.raises(ErisError, match=r"^1 of 3 documents weren't taken in\. No /b") as raised:
        eris("doc", "ingest", "/a.pdf", "/b.pdf", "/c.pdf")
    assert [body.path for body in eris.bodies] == ["/a.pdf", "/b.pdf", "/c.pdf"]
    assert raised.value.hint.count("d1 /manuals/boiler.pdf") == 2
    assert raised.value.code == ErrorCode.NOT_FOUND


def test_all_pages_are_read_by_id_and_each_ends_its_line(eris):
    result = eris("doc", "read", "boiler.pdf", "--all")
    assert [(body.document, body.page) for body in eris.bodies] == [
        ("boiler.pdf", 1), ("d1", 2), ("d1", 3)
    ]  # fmt: skip
    assert result.text(PIPE) == "Page 1 of 3\none\nPage 2 of 3\ntwo\nPage 3 of 3\n"
    assert result.document["pages"] == ("one", "two\n", "")
    assert result.document["document"]["id"] == "d1"


SLIPS = [
    (["memory", "search"], "Missing argument 'TEXT...'"),
    (["memory", "search", "x", "--kind", "letter"], "'note', 'memory', 'document', 'session'"),
    (["memory", "search", "x", "--limt", "3"], "--limt"),
    (["memory", "search", "x", "--limit", "0"], "1<=x<=50"),
    (["memory", "search", "x", "--since", "soon"], "'soon' is no day"),
    (["memory", "why", "x", "--until", "2026-02-30"], "no day"),
    (["memory", "add", "caf\udce9"], "no UTF-8 text"),
    (["memory", "commit", "m3", "--replaces", "m2", "--keep-both"], "not both"),
    (["memory", "remember", "x"], "remember"),
    (["doc", "ingest"], "Missing argument 'PATHS...'"),
    (["doc", "ingest", "caf\udce9.pdf"], "no UTF-8 text"),
    (["doc", "read", "d1", "--page", "0"], "x>=1"),
    (["doc", "read", "d1", "--page", "1", "--all"], "not both"),
]


@pytest.mark.parametrize(("words", "part"), SLIPS, ids=lambda each: str(each).replace("\udce9", ""))
def test_a_slip_is_told_before_anything_is_asked_for(words, part, capsys, monkeypatch, tmp_path):
    # No system runs there: whoever asks it anything gets another error than one of usage.
    monkeypatch.setenv("ERIS_VAULT", str(tmp_path))
    assert run([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["type"] == "usage"
    assert part in error["message"]


def test_without_the_system_a_command_says_how_to_start_it(tmp_path, monkeypatch, capsys):
    (tmp_path / ".eris").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    assert run(["--vault", str(tmp_path), "memory", "search", "x"]) == 2
    output = capsys.readouterr()
    assert "eris up" in output.err
    assert not output.out


def test_help_imports_nothing_that_is_slow():
    code = (
        "import sys; from eris.cli.main import run; run(['memory', '-h']); run(['doc', '-h']);"
        "heavy = {'rich', 'zmq', 'pykka', 'numpy', 'qdrant_client', 'eris.actor', 'eris.surface'};"
        "print('IMPORTED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "IMPORTED []" in done.stdout
    for name in (*memory.commands, *doc.commands):
        assert f"\n  {name} " in done.stdout


def test_every_command_can_answer_as_json_and_start_the_system():
    for name, command in {**memory.commands, **doc.commands}.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--json", "--up", "--vault"} <= options, name


# How answers read.

EXPLAINED = msgspec.structs.replace(NOTE, parts={"dense": 0.8312, "words": 4.2, "recency": 0.1})
PAGE = HitView(kind=Kind.DOCUMENT, text="Descale it.", score=0.9, path="/b.pdf", page=12, id="d1")
STAGED = HitView(
    kind=Kind.MEMORY, text="4711", score=0.4, id="m3", title="Alarm", origin="https://a.example"
)
COMMITTED = HitView(kind=Kind.MEMORY, text="4711", score=0.4, id="m3", path="M/A.md", first_line=4)
TURN = HitView(kind=Kind.SESSION, text="Hello", score=0.2, id="s9", date="2027-01-03")
WAITING = msgspec.structs.replace(
    ALARM, id="m4", state=MemoryState.WAITING, expires="", origin="mail.html", contradicts=("m3",)
)

TOLD = [
    (telling.hits, Hits(hits=(NOTE,)), (
        "Pets/Vet.md:7  2027-01-02  0.51\n    The vet said:\n    less food.\n"
    )),
    (telling.hits, Hits(hits=(EXPLAINED,)), (
        "Pets/Vet.md:7  2027-01-02  0.51\n"
        "    likeness 0.831, words (BM25) 4.200, recency 0.100\n"
        "    The vet said:\n    less food.\n"
    )),
    (telling.hits, Hits(hits=(PAGE, COMMITTED, TURN)), (
        "/b.pdf, page 12  d1  0.90\n    Descale it.\n"
        "M/A.md:4  m3  0.40\n    4711\n"
        "conversation s9  2027-01-03  0.20\n    Hello\n"
    )),
    (telling.hits, Hits(hits=(STAGED,)), "m3 Alarm  0.40  (from https://a.example)\n    4711\n"),
    (telling.memories, Memories(memories=(ALARM, WAITING), total=7), (
        "m3  2027-01-15  staged, until 2027-02-14\n    The alarm code is 4711.\n"
        "m4  2027-01-15  waiting\n    The alarm code is 4711.\n"
        "    may come from mail.html\n"
        "    waits for your yes: eris memory approve m4\n"
        "    contradicts m3\n"
        "and 5 more\n"
    )),
    (telling.changed, CHANGED, "Staged “Alarm code” as m3.\n"),
    (telling.changed, msgspec.structs.replace(CHANGED, receipt="", note="m3 says:\nno."), (
        "Nothing was changed.\nm3 says:\nno.\n"
    )),
    (telling.core, Core(path="a.md", text="Call me Robin."), "Call me Robin.\n"),
    (telling.core, Core(path="a.md", text=""), ""),
    (telling.report, MemoryReport(waiting=5, note="It's being built."), (
        "embedder:  none: found by words alone\nindex:     none yet\npieces:    0, 5 to go\n"
        "notes:     0\ndocuments: 0\n"
        "memories:  0 staged, 0 committed, 0 waiting for your yes\nfloor:     0.00\n"
        "It's being built.\n"
    )),
    (telling.documents, Documents(documents=(
        msgspec.structs.replace(BOILER, pages=1, note="It has no text."),
    )), "d1  /manuals/boiler.pdf  pdf, 1 page  It has no text.\n"),
    (telling.page, PageText(document=BOILER, page=1, text="one\r\n"), "one\r\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tell", "reply", "text"), TOLD, ids=lambda each: getattr(each, "__name__", "")
)
def test_an_answer_reads(tell, reply, text):
    assert tell(reply, PIPE) == text
    assert click.unstyle(tell(reply, COLORS)) == tell(reply, TERMINAL)


@pytest.mark.parametrize(
    ("tell", "reply", "text"), TOLD, ids=lambda each: getattr(each, "__name__", "")
)
def test_with_json_every_field_of_the_reply_is_in_one_document(tell, reply, text, capsysbinary):
    answer(reply, tell).print(PIPE, as_json=True, total=False)
    document = json.loads(capsysbinary.readouterr().out)
    assert document.pop("ok") is True
    assert set(document) == set(reply.__struct_fields__)


REMARKS = [
    ("memory search x", Hits(hits=()), "Nothing was found."),
    ("memory search x", Hits(hits=(), note="The index is being built."), "The index is being"),
    ("memory search x", Hits(hits=(NOTE,), note="By words alone."), "By words alone."),
    ("doc query x", Hits(hits=(), note="The index is being built."), "The index is being"),
    ("memory list", Memories(memories=(), total=0), "Nothing is remembered."),
    ("memory about-me", Core(path="A.md", text=""), "A.md says nothing yet."),
    ("memory about-me", Core(path="A.md", text="x", cut=True), "says more than is told"),
    ("doc list", Documents(documents=()), "eris doc ingest"),
]


@pytest.mark.parametrize(("line", "reply", "remark"), REMARKS)
def test_what_people_should_know_beside_an_answer_is_said(line, reply, remark, tmp_path):
    kind = {
        "search": SearchMemory, "query": SearchMemory, "list": ListMemories, "about-me": ReadCore
    }[line.split()[1]]  # fmt: skip
    kind = ListDocuments if line == "doc list" else kind
    eris = Asked(tmp_path, also={kind: reply})
    assert remark in eris(*line.split()).remark


NASTY = "red\x1b[31m\x07 \u202e\x9b2J\rover"


def nasty(reply):
    """A reply with all of its texts, wherever they are, replaced by what a terminal may obey."""
    match reply:
        case MemoryState() | Kind():
            return reply
        case str():
            return NASTY
        case tuple():
            return tuple(map(nasty, reply))
        case dict():
            return dict.fromkeys([NASTY], 0.5)
        case msgspec.Struct():
            fields = {name: nasty(getattr(reply, name)) for name in reply.__struct_fields__}
            return type(reply)(**fields)
        case _:
            return reply


ALL_PAGES = (telling.all_pages, telling.Pages(document=BOILER, pages=("a",)), "")


@pytest.mark.parametrize("look", [TERMINAL, COLORS], ids=["plain", "colours"])
def test_nothing_that_was_remembered_is_a_command_for_the_terminal(look):
    committed = (telling.hits, Hits(hits=(STAGED, COMMITTED)), "")
    for tell, reply, _ in (*TOLD, ALL_PAGES, committed):
        told = click.unstyle(tell(nasty(reply), look))
        assert not set("\x1b\x07\u202e\x9b\r") & set(told), tell.__name__


def test_a_program_gets_a_page_byte_for_byte(capsysbinary):
    text = "\ufeff" + NASTY + "\r\nend"
    reply = PageText(document=BOILER, page=1, text=text)
    answer(reply, telling.page).print(PIPE, as_json=False, total=False)
    assert capsysbinary.readouterr().out == text.encode()
