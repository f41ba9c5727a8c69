"""Ingest: whatever happens, whenever it's killed, the index ends up as if made anew."""

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.memory.catalogue import Catalogue, Source, folders_above
from actors.memory.chunking import Chunk
from actors.memory.index import EdgeBackend, Indexes
from actors.memory.ingest import Embedding, Ingest, Numbered
from actors.memory.points import WITHOUT_VECTORS, Point, Wanted
from eris.errors import ErisError, StorageError, UnavailableError
from proto.memory import Kind
from tests.brute_index import DIMENSIONS, BruteIndex, BruteIndexes, word_embedding


class Killed(BaseException):
    """The process ended here."""


def chunks_of(*texts: str) -> list[Chunk]:
    return [Chunk(text=text, header="", first_line=n + 1) for n, text in enumerate(texts)]


def note(path: str, *texts: str) -> Source:
    title = path.rpartition("/")[2]
    return Source(
        key=f"note:{path}", kind=Kind.NOTE, path=path, title=title, digest="|".join(texts)
    )


def drain(ingest: Ingest, most: int = 10_000) -> int:
    for count in range(most):
        if not ingest.step():
            return count
    raise AssertionError("There's no end to the work.")


TEXTS = st.lists(
    st.sampled_from(["apple", "birch", "cedar", "dune", "elm", "fern", "grove"]), max_size=4
)
PATHS = st.sampled_from(["a/one.md", "b/one.md", "a/two.md", "b/two.md", "three.md"])


class IngestMachine(RuleBasedStateMachine):
    """Anything at all happens to the sources, the index and the process."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.disk: dict[int, dict[int, Point]] = {1: {}}
        """Points of each index: what a kill leaves."""
        self.numbers = itertools.count(2)
        self.identities = {1: "A"}
        self.identity = "A"
        self.away = False
        self.fuse: int | None = None
        self.indexes = BruteIndexes(touched=self.touched)
        self.indexes.serving = self.numbered(1)
        self.wanted: dict[str, tuple[str, ...]] = {}
        """What each source says now."""
        self.known: dict[str, set[tuple[str, ...]]] = {}
        """What it may say: also what it said before."""
        self.open()

    def teardown(self) -> None:
        self.settle()
        self.catalogue.close()
        self.folder.cleanup()

    def touched(self) -> None:
        """Something is about to be done, or was done, outside of the catalogue."""
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                raise Killed

    def numbered(self, number: int) -> Numbered:
        points = self.disk.setdefault(number, {})
        return Numbered(number, BruteIndex(self.identities[number], points, self.touched))

    def open(self) -> None:
        self.fuse = None
        self.catalogue = Catalogue.open(Path(self.folder.name) / "catalogue.sqlite")
        embedding = None if self.away else word_embedding(self.identity, self.touched)
        self.ingest = Ingest(self.catalogue, self.indexes, embedding)

    def reopen(self) -> None:
        self.catalogue.close()
        self.open()

    @rule(path=PATHS, texts=TEXTS)
    def offer(self, path: str, texts: list[str]) -> None:
        source = note(path, *texts)
        changed = self.catalogue.offer(source, chunks_of(*texts))
        assert changed == (self.wanted.get(source.key) != tuple(texts))
        self.expect(source.key, tuple(texts))

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        key = f"note:{path}"
        assert self.catalogue.gone(key) == (key in self.wanted)
        self.wanted.pop(key, None)
        self.known.pop(key, None)

    @rule(name=st.sampled_from(["one.md", "two.md"]))
    def move(self, name: str) -> None:
        old, new = f"note:a/{name}", f"note:b/{name}"
        texts = self.wanted.get(old)
        source = note(f"b/{name}", *(texts or ()))
        assert self.catalogue.moved(old, source) == (texts is not None)
        if texts is not None:
            self.wanted[new] = self.wanted.pop(old)
            self.known[new] = self.known.pop(old)

    @rule(parts=st.lists(TEXTS, max_size=3), kill=st.booleans(), complete=st.booleans())
    def document(self, parts: list[list[str]], kill: bool, complete: bool) -> None:
        texts = tuple(itertools.chain(*parts))
        source = Source(key="document:d1", kind=Kind.DOCUMENT, digest="/".join(map(str, parts)))
        begun = self.catalogue.begin(source)
        for page, part in enumerate(parts, start=1):
            if page > begun:
                self.catalogue.grow(source.key, [(page, " ".join(part))], chunks_of(*part))
            if kill and page == 1:
                self.ingest.step()
                self.reopen()
                assert self.catalogue.begin(source) == max(begun, 1)
        if complete:
            self.catalogue.finish(source.key)
            self.expect(source.key, texts)

    @rule(steps=st.integers(1, 3))
    def work(self, steps: int) -> None:
        for _ in range(steps):
            self.ingest.step()

    @rule(fuse=st.integers(0, 6))
    def work_and_die(self, fuse: int) -> None:
        self.fuse = fuse
        with contextlib.suppress(Killed):
            drain(self.ingest)
        self.reopen()

    @rule(identity=st.sampled_from(["A", "B"]), alike=st.booleans())
    def change_embedder(self, identity: str, alike: bool) -> None:
        """The actor's part: build beside when the identity differs, or when asked to."""
        self.identity, self.away = identity, False
        serving = self.indexes.serving
        assert serving is not None
        if serving.index.identity != identity or alike:
            number = next(self.numbers)
            self.identities[number] = identity
            self.indexes.building = self.numbered(number)
        else:
            self.indexes.building = None
        self.reopen()

    @rule()
    def lose_embedder(self) -> None:
        self.away = True
        self.ingest.embedding = None

    @rule()
    def find_embedder(self) -> None:
        self.away = False
        self.ingest.embedding = word_embedding(self.identity, self.touched)

    @rule(every=st.integers(1, 3), surplus=st.integers(10_000, 10_003))
    def damage(self, every: int, surplus: int) -> None:
        assert self.indexes.serving is not None
        points = self.disk[self.indexes.serving.number]
        for id_ in list(points)[::every]:
            del points[id_]
        points[surplus] = Point(
            id=surplus, text="gone", vector=bytes(256), kind=Kind.NOTE, source="note:gone"
        )
        self.reopen()

    def expect(self, key: str, texts: tuple[str, ...]) -> None:
        self.wanted[key] = texts
        self.known.setdefault(key, set()).add(texts)

    @invariant()
    def each_source_is_found_in_one_version(self) -> None:
        for key, known in self.known.items():
            assert tuple(entry.text for entry in self.catalogue.texts(key)) in known

    @invariant()
    def nothing_else_is_found(self) -> None:
        counts = self.catalogue.counts()
        assert sum(counts.sources.values()) == len(self.wanted)

    @precondition(lambda self: not self.away)
    @rule()
    def settle(self) -> None:
        self.find_embedder()
        drain(self.ingest)
        serving = self.indexes.serving
        assert serving is not None
        assert self.indexes.building is None
        points = self.disk[serving.number]
        entries = {e.id: e for key in self.wanted for e in self.catalogue.texts(key)}
        embed = word_embedding(self.identity).embed
        growing = set(points) - set(entries)
        assert {points[id_].source for id_ in growing} <= {"document:d1"}
        assert {
            id_: (p.source, p.folders, p.vector) for id_, p in points.items() if id_ in entries
        } == {
            id_: (e.key, folders_above(e.path), embed([e.embedded])[0])
            for id_, e in entries.items()
        }
        for key, texts in self.wanted.items():
            assert tuple(entry.text for entry in self.catalogue.texts(key)) == texts
            self.known[key] = {texts}


IngestMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestIngest = IngestMachine.TestCase


class Bench:
    """A catalogue with an index, and what was embedded."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue.open(folder / "catalogue.sqlite")
        self.embedded: list[str] = []
        self.points: dict[int, Point] = {}
        self.indexes = BruteIndexes(serving=Numbered(1, BruteIndex("A", self.points)))
        self.ingest = Ingest(self.catalogue, self.indexes, self.embedding("A"))

    def embedding(self, identity: str) -> Embedding:
        words = word_embedding(identity)

        def embed(texts: Sequence[str]) -> list[bytes]:
            self.embedded += texts
            return words.embed(texts)

        return Embedding(identity, embed)

    def offer(self, path: str, *texts: str) -> None:
        self.catalogue.offer(note(path, *texts), chunks_of(*texts))

    def found(self, key: str) -> list[str]:
        return [entry.text for entry in self.catalogue.texts(key)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.catalogue.close()


def test_a_changed_note_is_found_as_it_was_until_the_new_one_is_indexed(bench: Bench) -> None:
    bench.offer("a.md", "old fact")
    drain(bench.ingest)
    texts = ["new fact", "x" * 1900]
    bench.offer("a.md", *texts)
    seen = [bench.found("note:a.md")]
    while bench.ingest.step():
        seen.append(bench.found("note:a.md"))
    assert seen[:2] == [["old fact"], ["old fact"]]
    assert seen[-1] == texts


def test_a_chunk_put_but_not_noted_goes_with_its_note(bench: Bench) -> None:
    bench.offer("a.md", "secret")
    entry = bench.catalogue.texts("note:a.md")[0]
    bench.points[entry.id] = entry.point(word_embedding("A").embed([entry.text])[0])
    bench.catalogue.gone("note:a.md")
    drain(bench.ingest)
    assert bench.points == {}


def test_only_what_changed_is_embedded(bench: Bench) -> None:
    bench.offer("a.md", "alpha", "beta", "gamma")
    drain(bench.ingest)
    bench.embedded.clear()
    bench.offer("a.md", "alpha", "beta changed", "gamma")
    drain(bench.ingest)
    assert bench.embedded == ["beta changed"]


def test_what_moves_or_is_copied_keeps_its_vectors(bench: Bench) -> None:
    bench.offer("a/n.md", "alpha")
    drain(bench.ingest)
    bench.embedded.clear()
    before = set(bench.points)
    assert bench.catalogue.moved("note:a/n.md", note("b/c/n.md", "alpha"))
    drain(bench.ingest)
    assert set(bench.points) == before
    assert [point.folders for point in bench.points.values()] == [("b", "b/c")]
    bench.offer("copy.md", "alpha")
    bench.catalogue.gone("note:b/c/n.md")
    drain(bench.ingest)
    assert [point.source for point in bench.points.values()] == ["note:copy.md"]
    assert bench.embedded == []


def test_an_index_of_the_same_embedder_takes_over_the_vectors(bench: Bench) -> None:
    bench.offer("a.md", "alpha", "beta")
    drain(bench.ingest)
    bench.embedded.clear()
    bench.indexes.building = Numbered(2, BruteIndex("A", {}))
    drain(bench.ingest)
    assert bench.embedded == []
    assert bench.indexes.serving is not None
    assert (bench.indexes.serving.number, bench.indexes.serving.index.count()) == (2, 2)


def test_the_old_index_serves_while_one_for_another_embedder_is_built(bench: Bench) -> None:
    bench.offer("a.md", *[f"word{number} " + "x" * 1000 for number in range(6)])
    drain(bench.ingest)
    bench.ingest.embedding = bench.embedding("B")
    bench.indexes.building = Numbered(2, BruteIndex("B", {}))
    bench.ingest.step()
    assert bench.indexes.serving is not None
    assert (bench.indexes.serving.number, bench.indexes.serving.index.count()) == (1, 6)
    progress = bench.ingest.progress()
    assert progress.building
    assert 0 < progress.waiting < 6
    drain(bench.ingest)
    assert bench.indexes.serving.index.identity == "B"
    assert bench.indexes.serving.index.count() == 6


def test_what_was_just_said_overtakes_a_book(bench: Bench) -> None:
    book = Source(key="document:d1", kind=Kind.DOCUMENT, digest="1")
    pages = [f"page {number} " + "x" * 900 for number in range(20)]
    bench.catalogue.offer(book, chunks_of(*pages))
    bench.ingest.step()
    memory = Source(key="memory:m1", kind=Kind.MEMORY, digest="1")
    bench.catalogue.offer(memory, chunks_of("tea, no sugar"))
    bench.ingest.step()
    assert "tea, no sugar" in bench.embedded
    assert pages[-1] not in bench.embedded


def test_without_an_embedder_changes_are_found_by_words_at_once(bench: Bench) -> None:
    bench.ingest.embedding = None
    for text in ("first", "second"):
        bench.offer("a.md", text)
        drain(bench.ingest)
        assert bench.found("note:a.md") == [text]


def test_an_index_of_words_needs_no_embedder(bench: Bench) -> None:
    bench.ingest.embedding = None
    bench.indexes.serving = Numbered(3, BruteIndex(WITHOUT_VECTORS, {}))
    bench.offer("a.md", "alpha")
    drain(bench.ingest)
    assert bench.indexes.serving.index.count() == 1


@pytest.mark.parametrize(
    "error", [UnavailableError("The embedder is away."), StorageError("The disk is full.")]
)
def test_what_fails_is_done_when_it_works_again(bench: Bench, error: ErisError) -> None:
    def fail() -> None:
        raise error

    bench.offer("a.md", "alpha")
    bench.ingest.embedding = word_embedding("A", fail)
    with pytest.raises(type(error)):
        drain(bench.ingest)
    assert bench.ingest.progress().waiting == 1
    bench.ingest.embedding = bench.embedding("A")
    drain(bench.ingest)
    assert len(bench.points) == 1


def test_an_index_made_anew_under_the_same_number_is_filled(bench: Bench) -> None:
    bench.offer("a.md", "alpha")
    drain(bench.ingest)
    bench.indexes.serving = Numbered(1, BruteIndex("A", {}))
    drain(bench.ingest)
    assert bench.indexes.serving.index.count() == 1


@dataclass(frozen=True)
class Touchy:
    """An index, or a pair of them, that tells before and after whatever is done to it."""

    inner: Any
    touched: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        if name in {"serving", "building"}:
            slot = getattr(self.inner, name)
            return slot and Numbered(slot.number, Touchy(slot.index, self.touched))
        if name not in {"put", "remove", "swap", "tidy"}:
            return getattr(self.inner, name)

        def told(*arguments: object) -> None:
            self.touched()
            getattr(self.inner, name)(*arguments)
            self.touched()

        return told


def test_killed_anywhere_the_real_index_ends_up_as_if_made_anew(tmp_path: Path) -> None:
    backend = EdgeBackend(tmp_path / "index")
    fuse = [0]

    def touched() -> None:
        fuse[0] -= 1
        if fuse[0] < 0:
            raise Killed

    def begun(kill: int) -> None:
        """One life: a change, a move, a note gone, another embedder, killed after some steps."""
        catalogue = Catalogue.open(tmp_path / "catalogue.sqlite")
        indexes = Indexes(tmp_path / "index", catalogue.id, lambda _: backend)
        identity = "AB"[kill % 2]
        serving = indexes.serving
        if serving is None or serving.index.identity != identity:
            indexes.begin(identity, DIMENSIONS, "edge")
        fuse[0] = kill
        embedding = word_embedding(identity, touched)
        ingest = Ingest(catalogue, Touchy(indexes, touched), embedding)
        try:
            catalogue.offer(note("a.md", f"life {kill}", "same"), chunks_of(f"life {kill}", "same"))
            catalogue.moved("note:x/b.md", note("y/b.md", "moving"))
            drain(ingest)
            catalogue.offer(note("x/b.md", "moving"), chunks_of("moving"))
            catalogue.gone("note:y/b.md")
            drain(ingest)
        except Killed:
            pass
        finally:
            indexes.close()
            catalogue.close()

    for kill in [*range(18), 10_000]:
        begun(kill)
    catalogue = Catalogue.open(tmp_path / "catalogue.sqlite")
    indexes = Indexes(tmp_path / "index", catalogue.id, lambda _: backend)
    assert indexes.serving is not None
    assert indexes.building is None
    index = indexes.serving.index
    entries = {e.id: e for key in ("note:a.md", "note:x/b.md") for e in catalogue.texts(key)}
    assert sorted(e.text for e in entries.values()) == ["life 10000", "moving", "same"]
    assert sorted(index.ids()) == sorted(entries)
    embed = word_embedding(index.identity).embed
    assert index.vectors(entries) == {id_: embed([e.text])[0] for id_, e in entries.items()}
    (moved,) = index.words("moving", Wanted(folder="x"), 5)
    assert entries[moved.id].path == "x/b.md"
    indexes.close()
    catalogue.close()
