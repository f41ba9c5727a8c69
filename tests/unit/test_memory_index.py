"""Vector indexes: one suite over Qdrant's engine in this process and over a server of it."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from actors.memory.catalogue import Catalogue, Source
from actors.memory.chunking import Chunk
from actors.memory.index import EdgeBackend, Indexes
from actors.memory.index.server import ServerBackend
from actors.memory.index.sparse import of_question, of_text
from actors.memory.ingest import Embedding, Ingest
from actors.memory.points import WITHOUT_VECTORS, Point, Wanted
from eris.errors import ConflictError, StorageError, UnavailableError
from eris.vault.words import tokens
from proto.memory import Kind

SIZE = 16
EMBEDDER = "small@1"


def embedded(text):
    """A unit vector that texts with the same words have."""
    total = np.zeros(SIZE)
    for word in tokens(text):
        seed = int.from_bytes(hashlib.blake2b(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(SIZE)
    return (total / (np.linalg.norm(total) or 1.0)).astype("<f4").tobytes()


def point(id_, text="", *, vector=True, **fields):
    fields = {"kind": Kind.NOTE, "source": f"note:{id_}.md", **fields}
    return Point(id=id_, text=text, vector=embedded(text) if vector else None, **fields)


TEXTS = {
    1: "The oak is older than the house.",
    2: "Buy oats and milk.",
    3: "Milk is in the fridge, oats are in the cupboard.",
    4: "味噌は冷蔵庫にあります",
    5: "Ein Apfelbaum steht im Garten.",
}


@pytest.fixture(params=["edge", "server"])
def backend(request, tmp_path):
    if request.param == "edge":
        return EdgeBackend(tmp_path / "index")
    return ServerBackend(QdrantClient(":memory:"), "http://stand-in:6333", "eris-test")


@pytest.fixture
def index(backend):
    made = backend.create(1, EMBEDDER, SIZE)
    made.put([point(id_, text) for id_, text in TEXTS.items()])
    yield made
    made.close()


def ids(found):
    return [each.id for each in found]


@pytest.mark.parametrize("id_", TEXTS)
def test_a_text_is_the_first_to_be_found_by_itself_in_every_way(index, id_):
    text = TEXTS[id_]
    assert ids(index.dense(embedded(text), Wanted(), 5))[0] == id_
    assert ids(index.words(text, Wanted(), 5))[0] == id_
    assert ids(index.hybrid(embedded(text), text, Wanted(), 5))[0] == id_
    assert index.dense(embedded(text), Wanted(), 5)[0].score == pytest.approx(1.0, abs=1e-5)


def test_rare_words_count_more_and_words_that_nobody_has_find_nothing(index):
    assert ids(index.words("the fridge", Wanted(), 2)) == [3, 1]
    assert index.words("zeppelin", Wanted(), 5) == []
    assert index.words("?!", Wanted(), 5) == []
    # Accents and case don't matter, and a part of a run of Japanese is found.
    assert ids(index.words("APFELBAUM", Wanted(), 5)) == [5]
    assert ids(index.words("冷蔵庫", Wanted(), 5)) == [4]


def test_fusion_finds_what_either_finds(index):
    found = ids(index.hybrid(embedded(TEXTS[1]), "cupboard", Wanted(), 5))
    assert set(found[:2]) == {1, 3}
    assert ids(index.hybrid(embedded(TEXTS[1]), "", Wanted(), 1)) == [1]


FILTERED = [
    point(1, "milk", kind=Kind.NOTE, folders=("a", "a/b"), tags=("work", "work/eris"), day=100),
    point(2, "milk", kind=Kind.MEMORY, source="memory:m1", tags=("work",), day=200),
    point(3, "milk", kind=Kind.DOCUMENT, source="document:d1", folders=("a",), day=300),
    point(4, "milk", kind=Kind.SESSION, source="session:main/t1"),
]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), {1, 2, 3, 4}),
        (Wanted(kinds=(Kind.NOTE, Kind.MEMORY)), {1, 2}),
        (Wanted(tags=("work",)), {1, 2}),
        (Wanted(tags=("work", "work/eris")), {1}),
        (Wanted(folder="a"), {1, 3}),
        (Wanted(folder="a/b"), {1}),
        (Wanted(source="document:d1"), {3}),
        (Wanted(first_day=150), {2, 3}),
        (Wanted(last_day=200), {1, 2}),
        (Wanted(first_day=200, last_day=200), {2}),
        (Wanted(kinds=(Kind.NOTE,), folder="b"), set()),
    ],
)
def test_only_what_is_wanted_is_found_in_every_way(backend, wanted, expected):
    index = backend.create(1, EMBEDDER, SIZE)
    index.put(FILTERED)
    vector = embedded("milk")
    for found in (
        index.dense(vector, wanted, 9),
        index.words("milk", wanted, 9),
        index.hybrid(vector, "milk", wanted, 9),
    ):
        assert set(ids(found)) == expected
    index.close()


def test_points_are_replaced_and_removed_and_ids_that_are_not_there_do_not_matter(index):
    index.put([point(2, "A zebra.")])
    assert index.count() == len(TEXTS)
    assert ids(index.words("zebra", Wanted(), 5)) == [2]
    assert 2 not in ids(index.words("oats", Wanted(), 5))
    index.remove([1, 3, 99])
    index.remove([])
    assert sorted(index.ids()) == [2, 4, 5]
    vectors = index.vectors([1, 2, 99])
    assert vectors.keys() == {2}
    assert np.allclose(np.frombuffer(vectors[2], "<f4"), np.frombuffer(embedded("A zebra."), "<f4"))
    index.tidy()
    assert sorted(index.ids()) == [2, 4, 5]


def test_tidying_keeps_everything_and_a_kill_in_the_middle_of_it_loses_nothing(tmp_path):
    backend = EdgeBackend(tmp_path)
    index = backend.create(1, EMBEDDER, SIZE)
    index.put([point(id_, text) for id_, text in TEXTS.items()])
    index.tidy()
    index.put([point(9, "zebra")])
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    assert ids(index.words("oak zebra", Wanted(), 5)) == [9, 1]
    index.close()
    # Killed between the two renamings, and while the copy was made.
    (tmp_path / "1").rename(tmp_path / "1.former")
    (tmp_path / "1.tidied").mkdir()
    index = backend.open(1, EMBEDDER, SIZE)
    assert sorted(index.ids()) == [*TEXTS, 9]
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    index.close()


def test_without_an_embedder_there_are_words(backend):
    index = backend.create(1, WITHOUT_VECTORS, 0)
    index.put([point(id_, text, vector=False) for id_, text in TEXTS.items()])
    assert ids(index.words("oak", Wanted(), 5)) == [1]
    assert index.vectors([1]) == {}
    index.close()


def test_a_vector_of_another_embedder_is_refused_with_a_way_out(index):
    with pytest.raises(StorageError, match="of 3 dimensions") as caught:
        index.put([Point(id=9, text="x", vector=b"\0" * 12, kind=Kind.NOTE, source="note:x")])
    assert "--rebuild" in caught.value.hint
    assert index.count() == len(TEXTS)


def test_an_index_that_is_not_there_is_an_error_and_deleting_it_is_none(backend):
    with pytest.raises(StorageError, match="any more"):
        backend.open(7, EMBEDDER, SIZE)
    backend.delete(7)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(
        st.tuples(
            st.booleans(),
            st.lists(st.tuples(st.integers(1, 12), st.sampled_from("abcdefgh")), max_size=6),
        ),
        max_size=6,
    )
)
def test_after_any_puts_and_removes_it_is_what_a_dictionary_is(tmp_path_factory, batches):
    place = tmp_path_factory.mktemp("index")
    index, known = EdgeBackend(place).create(1, EMBEDDER, SIZE), {}
    for put, items in batches:
        if put:
            index.put([point(id_, text) for id_, text in dict(items).items()])
            known |= dict(items)
        else:
            index.remove([id_ for id_, _ in items])
            for id_, _ in items:
                known.pop(id_, None)
    index.close()
    index = EdgeBackend(place).open(1, EMBEDDER, SIZE)
    assert sorted(index.ids()) == sorted(known)
    for text in "abcdefgh":
        same = {id_ for id_, each in known.items() if each == text}
        assert set(ids(index.words(text, Wanted(), 20))) == same
        found = [each.id for each in index.dense(embedded(text), Wanted(), 20) if each.score > 0.99]
        assert set(found) == same
    index.close()


# Sparse vectors.


def test_a_word_said_more_often_weighs_more_but_not_without_end():
    def weight(text):
        sparse, (number,) = of_text(text), of_question("oak").indices
        return sparse.values[sparse.indices.index(number)]

    once, twice, often = (weight(f"{'oak ' * number}{'x ' * 50}") for number in (1, 2, 40))
    assert once < twice < often < 2.5
    assert weight("oak " + "x " * 400) < once


# Which index serves.

WRITER = """
import sys
from pathlib import Path
from tests.unit.test_memory_index import EMBEDDER, SIZE, point
from actors.memory.index import EdgeBackend
index = EdgeBackend(Path(sys.argv[1])).open(1, EMBEDDER, SIZE)
for start in range(1, 100000, 10):
    index.put([point(id_, f"text {id_}") for id_ in range(start, start + 10)])
    print(start + 9, flush=True)
"""


def test_what_was_put_survives_a_kill(tmp_path):
    backend = EdgeBackend(tmp_path)
    backend.create(1, EMBEDDER, SIZE).close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    acknowledged = 0
    while acknowledged < 500:
        acknowledged = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read().split()
    writer.wait()
    acknowledged = int(rest[-1]) if rest else acknowledged
    index = backend.open(1, EMBEDDER, SIZE)
    assert set(range(1, acknowledged + 1)) <= set(index.ids())
    assert ids(index.words(f"text {acknowledged}", Wanted(), 1)) == [acknowledged]
    index.close()


class House:
    """A folder of indexes on two backends."""

    def __init__(self, folder):
        self.folder = folder
        self.backends = {
            "edge": EdgeBackend(folder),
            "http://nas:6333": ServerBackend(QdrantClient(":memory:"), "http://nas:6333", "eris"),
        }

    def open(self, catalogue="c1"):
        return Indexes(self.folder, catalogue, self.backends.__getitem__)


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "index")


def filled(house, texts=TEXTS, backend="edge"):
    indexes = house.open()
    indexes.begin(EMBEDDER, SIZE, backend).index.put([point(*each) for each in texts.items()])
    indexes.swap()
    return indexes


def test_the_new_index_is_built_beside_the_old_one_and_takes_its_place(house):
    indexes = filled(house)
    first = indexes.serving
    building = indexes.begin("other@2", SIZE, "edge")
    building.index.put([point(1, "new")])
    assert indexes.serving == first
    assert first.index.count() == len(TEXTS)
    indexes.close()
    # A kill here: both are there again, the old one serves.
    indexes = house.open()
    assert indexes.serving.index.count() == len(TEXTS)
    assert (indexes.building.index.identity, indexes.building.index.count()) == ("other@2", 1)
    indexes.swap()
    assert indexes.building is None
    assert ids(indexes.serving.index.words("new", Wanted(), 1)) == [1]
    assert sorted(path.name for path in house.folder.iterdir()) == [
        str(indexes.serving.number),
        "current.json",
        "lock",
    ]
    indexes.close()


def test_an_index_moves_from_this_machine_to_a_server_and_back(house):
    indexes = filled(house)
    for backend in ("http://nas:6333", "edge"):
        before = indexes.serving.index
        target = indexes.begin(EMBEDDER, SIZE, backend).index
        vectors = before.vectors(before.ids())
        target.put(
            [
                Point(id=id_, text=TEXTS[id_], vector=vector, kind=Kind.NOTE, source="note:x")
                for id_, vector in vectors.items()
            ]
        )
        indexes.swap()
        assert indexes.entries[0].backend == backend
        assert indexes.serving.index.count() == len(TEXTS)
    indexes.close()


def test_ingest_moves_vectors_to_another_place_without_computing_them(house, tmp_path):
    catalogue = Catalogue.open(tmp_path / "catalogue.sqlite")
    for id_, text in TEXTS.items():
        source = Source(key=f"note:{id_}.md", kind=Kind.NOTE, path=f"{id_}.md", digest=str(id_))
        catalogue.offer(source, [Chunk(text=text, header="")])
    embedded_texts = []

    def embed(texts):
        embedded_texts.extend(texts)
        return [embedded(text) for text in texts]

    indexes = house.open(catalogue.id)
    ingest = Ingest(catalogue, indexes, Embedding(EMBEDDER, embed))
    for place in ("edge", "http://nas:6333", "edge"):
        indexes.begin(EMBEDDER, SIZE, place)
        while ingest.step():
            pass
        assert indexes.entries[0].backend == place
        assert indexes.building is None
        found = indexes.serving.index.dense(embedded(TEXTS[1]), Wanted(), 1)
        assert catalogue.entries(ids(found))[found[0].id].text == TEXTS[1]
    assert sorted(embedded_texts) == sorted(TEXTS.values())
    indexes.close()
    catalogue.close()


def test_an_index_of_another_catalogue_is_not_used(house):
    filled(house).close()
    indexes = house.open(catalogue="c2")
    assert indexes.serving is None
    assert "another" in indexes.damage
    # It's deleted when there's another one, which never gets its number.
    building = indexes.begin(EMBEDDER, SIZE, "edge")
    assert sorted(path.name for path in house.folder.glob("[0-9]*")) == ["1", "2"]
    indexes.swap()
    assert [path.name for path in house.folder.glob("[0-9]*")] == [str(building.number)]
    indexes.close()


def test_only_one_process_has_the_indexes(house):
    indexes = filled(house)
    with pytest.raises(ConflictError, match=f"process {os.getpid()}"):
        house.open()
    assert ids(indexes.serving.index.words("oak", Wanted(), 1)) == [1]
    indexes.close()
    house.open().close()


def test_an_index_whose_opening_ends_processes_is_opened_twice_and_then_set_aside(house):
    filled(house).close()
    (house.folder / "1" / "opening").write_bytes(b".")
    indexes = house.open()
    assert indexes.serving.index.count() == len(TEXTS)
    indexes.close()
    (house.folder / "1" / "opening").write_bytes(b"..")
    indexes = house.open()
    assert indexes.serving is None
    assert "2 processes ended" in indexes.damage
    indexes.close()


def test_a_full_disk_is_said_before_anything_is_written_and_loses_nothing(house, monkeypatch):
    indexes = filled(house)
    free = shutil.disk_usage(house.folder).free
    monkeypatch.setattr("actors.memory.index.edge.LEAST_FREE_BYTES", 2 * free)
    with pytest.raises(UnavailableError, match="full") as caught:
        indexes.serving.index.put([point(9, "more")])
    assert "room" in caught.value.hint
    assert ids(indexes.serving.index.words("oak", Wanted(), 1)) == [1]
    indexes.close()
    with pytest.raises(UnavailableError, match="full"):
        house.open()
    monkeypatch.undo()
    indexes = house.open()
    assert indexes.serving.index.count() == len(TEXTS)
    indexes.close()


@pytest.mark.parametrize(
    "damage", ["gone", "segment", "vectors", "config", "current.json", "no record"]
)
def test_damage_is_said_and_the_rest_goes_on(house, damage):
    filled(house).close()
    folder = next(house.folder.glob("[0-9]*"))
    match damage:
        case "gone":
            for file in sorted(folder.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            folder.rmdir()
        case "segment":
            for file in folder.rglob("segment.json"):
                file.write_bytes(b"")
        case "vectors":
            for file in folder.rglob("vector_storage-dense/vectors/status.dat"):
                file.unlink()
        case "no record":
            (house.folder / "current.json").unlink()
        case "config":
            (folder / "edge_config.json").write_bytes(b"\0" * 50)
        case "current.json":
            (house.folder / "current.json").write_text("{nonsense")
    indexes = house.open()
    assert indexes.serving is None
    assert indexes.damage or damage == "no record"
    again = indexes.begin(EMBEDDER, SIZE, "edge")
    again.index.put([point(1, "new")])
    indexes.swap()
    assert indexes.damage == ""
    assert indexes.serving.index.count() == 1
    assert [path.name for path in house.folder.glob("[0-9]*")] == ["2"]
    indexes.close()


def test_a_server_that_is_away_says_what_to_do():
    backend = ServerBackend.at("http://127.0.0.1:1", "", "eris")
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:1 can't be reached") as caught:
        backend.create(1, EMBEDDER, SIZE)
    assert "memory.index" in caught.value.hint
