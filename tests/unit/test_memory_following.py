"""The catalogue follows the vault and the conversations: by comparing, whatever was missed."""

import datetime as dt
import threading

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.memory.catalogue import Catalogue, Source
from actors.memory.following import NoteFollower, TurnFollower
from actors.memory.vault_notes import VaultNotes
from eris.errors import ConflictError, RemoteError
from proto.errors import ErrorBody, ErrorCode
from proto.memory import Kind
from proto.orchestrator import LoggedTurn, TurnLog
from tests.served_vault import ServedVault


def count(texts):
    """One token for each word."""
    return [len(text.split()) for text in texts]


class ServicePort:
    """Hands requests to a vault's service, as the bus would."""

    def __init__(self, served):
        self.served = served

    def ask(self, dst, body, expect, **_waiting):
        assert dst == "vault"
        answer = self.served.service.answer(body)
        assert isinstance(answer, expect)
        return answer


class Followed:
    """A vault with what follows it."""

    def __init__(self, folder):
        place = folder / "vault"
        place.mkdir()
        self.vault = ServedVault(place, folder)
        self.vault.look()
        self.notes = VaultNotes(ServicePort(self.vault), threading.Event())
        self.file = folder / "catalogue.sqlite"
        self.catalogue = Catalogue.open(self.file)
        self.lost = []
        self.progress = []
        self.stop_after = None
        self.memories = {}
        self.history = set()
        self.follower = NoteFollower(
            self.notes,
            self.catalogue,
            lambda: count,
            memories=self,
            progress=lambda done, total: self.progress.append((done, total)),
            stopping=lambda: self.stop_after is not None and self._read() >= self.stop_after,
            log=structlog.get_logger(),
        )

    def _read(self):
        return self.progress[-1][0] if self.progress else 0

    def note_changed(self, memory, *_place):
        return self.memories.get(memory)

    def is_history(self, _memory, path):
        return path in self.history

    def note_gone(self, memory):
        self.lost.append(memory)

    def write(self, notes):
        for path, text in notes.items():
            file = self.vault.place / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.vault.look()

    def found(self):
        """Texts that can be found, by path."""
        return {
            source.path: [entry.text for entry in self.catalogue.texts(source.key)]
            for source in self.catalogue.located().values()
        }

    def ids(self, path):
        return [entry.id for entry in self.catalogue.texts(f"note:{path}")]

    def close(self):
        self.catalogue.close()
        self.vault.close()


@pytest.fixture
def followed(tmp_path):
    made = Followed(tmp_path)
    yield made
    made.close()


def test_notes_come_change_and_go_and_what_is_the_same_is_not_read_again(followed):
    followed.write({"a.md": "# A\nOne.\n", "b/c.md": "Two.\n", "pic.png": "no text"})
    assert followed.follower.sync()
    assert {path: " ".join(texts) for path, texts in followed.found().items()} == {
        "a.md": "# A\nOne.",
        "b/c.md": "Two.",
    }
    followed.progress.clear()
    assert followed.follower.sync()
    assert followed.progress == []
    followed.write({"a.md": "# A\nThree.\n", "b/c.md": None})
    assert followed.follower.sync()
    assert followed.progress == [(0, 1), (1, 1)]
    assert followed.found() == {"a.md": ["# A\nThree."]}


def test_a_note_that_only_moved_keeps_its_chunks_and_one_that_got_another_title_does_not(followed):
    followed.write({"in/a.md": "One.\n", "in/b.md": "---\ntitle: B\n---\nTwo.\n"})
    followed.follower.sync()
    moved, titled = followed.ids("in/a.md"), followed.ids("in/b.md")
    followed.progress.clear()
    followed.write(
        {
            "in/a.md": None,
            "out/a.md": "One.\n",
            "in/b.md": None,
            "x.md": "---\ntitle: B\n---\nTwo.\n",
        }
    )
    followed.follower.sync()
    assert (followed.ids("out/a.md"), followed.ids("x.md")) == (moved, titled)
    assert followed.progress == []
    followed.write({"out/a.md": None, "out/other.md": "One.\n"})
    followed.follower.sync()
    assert followed.progress == [(0, 1), (1, 1)]
    assert sorted(followed.found()) == ["out/other.md", "x.md"]


def test_nothing_is_taken_for_deleted_while_the_vault_does_not_know_all(followed):
    followed.write({"a.md": "One.\n", "b.md": "Two.\n"})
    followed.follower.sync()
    followed.write({"a.md": None})
    followed.vault.complete.clear()
    assert not followed.follower.sync()
    assert sorted(followed.found()) == ["a.md", "b.md"]
    followed.vault.complete.set()
    assert followed.follower.sync()
    assert sorted(followed.found()) == ["b.md"]


def test_stopped_in_the_middle_it_goes_on_where_it_was(followed):
    followed.write({f"{number}.md": f"Text {number}.\n" for number in range(10)})
    followed.stop_after = 4
    assert not followed.follower.sync()
    assert len(followed.found()) == 4
    followed.stop_after = None
    followed.progress.clear()
    assert followed.follower.sync()
    assert followed.progress[-1] == (6, 6)
    assert len(followed.found()) == 10


def test_the_note_of_a_memory_is_the_memory_and_is_found_once(followed):
    followed.memories["m7"] = Source(
        key="memory:m7",
        kind=Kind.MEMORY,
        title="Code",
        date="2026-12-01",
        digest="",
        origin="x.pdf",
    )
    text = "---\neris_memory: m7\n---\nThe code is 17.\n\n## History\n\n- 2026-11-01: It was 16.\n"
    followed.write({"Eris/Memory/Code.md": text, "mine.md": "---\neris_memory: m99\n---\nMine.\n"})
    followed.follower.sync()
    located = followed.catalogue.located()
    assert located["Eris/Memory/Code.md"].key == "memory:m7"
    assert located["Eris/Memory/Code.md"].origin == "x.pdf"
    assert followed.found()["Eris/Memory/Code.md"] == ["The code is 17."]
    # Somebody else's property of that name makes no memory.
    assert located["mine.md"].key == "note:mine.md"
    followed.write({"Eris/Memory/Code.md": None})
    followed.follower.sync()
    assert followed.lost == ["m7"]
    assert sorted(followed.found()) == ["mine.md"]


def test_a_memory_that_moved_is_still_there_and_one_that_lost_its_property_is_a_note(followed):
    followed.memories["m7"] = Source(key="memory:m7", kind=Kind.MEMORY, digest="")
    text = "---\neris_memory: m7\n---\nThe code is 17.\n"
    followed.write({"a.md": text})
    followed.follower.sync()
    followed.write({"a.md": None, "b/a.md": text})
    followed.follower.sync()
    assert followed.catalogue.located()["b/a.md"].key == "memory:m7"
    assert followed.lost == []
    followed.write({"b/a.md": "The code is 17.\n"})
    followed.follower.sync()
    assert [source.key for source in followed.catalogue.located().values()] == ["note:b/a.md"]
    assert followed.lost == ["m7"]


def test_a_vault_that_is_away_is_waited_for_and_nothing_is_left_out(followed, monkeypatch):
    followed.write({"a.md": "One.\n"})
    away = RemoteError(ErrorBody(code=ErrorCode.UNREACHABLE, message="x", retryable=True), "vault")
    with monkeypatch.context() as patched:
        patched.setattr(followed.notes, "read", lambda _path: (_ for _ in ()).throw(away))
        with pytest.raises(RemoteError):
            followed.follower.sync()
    assert followed.follower.sync()
    assert followed.found() == {"a.md": ["One."]}


def test_an_earlier_revision_of_a_memory_is_not_found(followed):
    followed.history.add("m/r0001.md")
    followed.memories["m7"] = Source(key="memory:m7", kind=Kind.MEMORY, digest="")
    text = "---\neris_memory: m7\n---\nThe code is {}.\n"
    followed.write({"m/r0001.md": text.format(16), "m/r0002.md": text.format(17)})
    followed.follower.sync()
    assert followed.found() == {"m/r0002.md": ["The code is 17."]}


def test_a_note_that_cannot_be_read_is_left_out_until_it_changes(followed):
    followed.write({"a.md": "One.\n"})
    (followed.vault.place / "b.md").write_bytes("Käse".encode("latin-1"))
    followed.vault.look()
    followed.follower.sync()
    assert sorted(followed.found()) == ["a.md"]
    followed.write({"b.md": "Two.\n"})
    followed.follower.sync()
    assert sorted(followed.found()) == ["a.md", "b.md"]


def test_bytes_of_any_file_come_whole_or_not_at_all(followed, monkeypatch):
    data = bytes(range(256)) * 9000
    (followed.vault.place / "manual.pdf").write_bytes(data)
    assert b"".join(followed.notes.bytes("manual.pdf")) == data
    parts = followed.notes.bytes("manual.pdf")
    next(parts)
    (followed.vault.place / "manual.pdf").write_bytes(data[:-1])
    with pytest.raises(ConflictError, match=r"manual\.pdf was changed"):
        list(parts)
    (followed.vault.place / "empty.txt").write_bytes(b"")
    assert list(followed.notes.bytes("empty.txt")) == []


PATHS = st.sampled_from(["a.md", "b.md", "d/a.md", "d/e/f.md", "c.md"])
TEXTS = st.sampled_from(
    ["One.\n", "Two.\n", "# T\n\nThree.\n\n## U\n\nFour.\n", "---\ntitle: X\n---\nOne.\n"]
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(st.dictionaries(PATHS, TEXTS | st.none(), max_size=4), max_size=5))
def test_after_any_changes_the_catalogue_is_like_a_fresh_one(tmp_path_factory, rounds):
    followed = Followed(tmp_path_factory.mktemp("followed"))
    fresh = None
    try:
        for changes in rounds:
            followed.write(
                {
                    path: text
                    for path, text in changes.items()
                    if text is not None or (followed.vault.place / path).exists()
                }
            )
            assert followed.follower.sync()
        assert followed.follower.sync()
        fresh = Catalogue.open(followed.file.with_name("fresh.sqlite"))
        before, followed.catalogue = followed.catalogue, fresh
        followed.follower._catalogue = fresh
        followed.follower.sync()
        expected = followed.found()
        followed.catalogue = before
        assert followed.found() == expected
    finally:
        if fresh is not None:
            fresh.close()
        followed.close()


def test_turns_are_taken_in_once_with_their_day_and_where_their_text_is_from(tmp_path):
    turns = [
        LoggedTurn(
            number=number,
            turn=f"t{number}",
            session="main",
            said=f"question {number}",
            answer=f"answer {number}",
            accepted=1_764_547_200 + number * 43_200,
            untrusted="m.pdf" if number == 2 else "",
        )
        for number in range(1, 6)
    ]
    asked = []

    def ask(after):
        asked.append(after)
        return TurnLog(turns=tuple(turn for turn in turns if turn.number > after)[:2])

    catalogue = Catalogue.open(tmp_path / "c.sqlite")
    follower = TurnFollower(ask, catalogue, lambda: count, dt.UTC)
    follower.sync()
    asked.clear()
    follower.sync()
    assert asked == [5]
    source = catalogue.source("session:main/t2")
    assert (source.date, source.origin) == ("2025-12-02", "m.pdf")
    (entry,) = catalogue.texts("session:main/t2")
    assert "question 2" in entry.text
    assert "answer 2" in entry.text
    assert entry.source_id == "main"
    catalogue.close()
