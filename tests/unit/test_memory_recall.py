"""Recall: the right piece, honestly labelled, and nothing where nothing fits."""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.memory.catalogue import Catalogue, Source
from actors.memory.chunking import Chunk
from actors.memory.embedder import MiniLM
from actors.memory.ingest import Embedding, Ingest, Numbered
from actors.memory.recall import Ranking, Recaller, excerpt, is_small_talk
from eris.errors import InvalidError, StorageError, UnavailableError
from proto.memory import Kind, Recall, SearchMemory
from tests.brute_index import BruteIndex, BruteIndexes, word_embedding
from tests.embedding import embedding_folder

TODAY = dt.date(2026, 6, 1)


class Bench:
    """A few notes, indexed."""

    def __init__(self, folder: Path, embedding: Embedding) -> None:
        self.catalogue = Catalogue.open(folder / "catalogue.sqlite")
        index = BruteIndex(embedding.identity, {})
        self.indexes = BruteIndexes(serving=Numbered(1, index))
        self.ingest = Ingest(self.catalogue, self.indexes, embedding)
        self.embedding = embedding
        self.recaller = self.recalling(Ranking())

    def recalling(self, ranking: Ranking) -> Recaller:
        return Recaller(
            self.catalogue, self.indexes, self.embedding, today=lambda: TODAY, ranking=ranking
        )

    def offer(
        self,
        key: str,
        *texts: str,
        date: str = "",
        tags: tuple[str, ...] = (),
        indexed: bool = True,
    ) -> None:
        kind, _, name = key.partition(":")
        source = Source(
            key=key,
            kind=Kind(kind),
            path=name if kind == "note" else "",
            title=name,
            date=date,
            digest="|".join(texts),
        )
        self.catalogue.offer(source, [Chunk(text=text, header="", tags=tags) for text in texts])
        while indexed and self.ingest.step():
            pass

    def texts(self, question: str, **wanted) -> list[str]:
        return [
            hit.text for hit in self.recaller.search(SearchMemory(text=question, **wanted)).hits
        ]


@pytest.fixture
def bench(tmp_path) -> Iterator[Bench]:
    made = Bench(tmp_path, word_embedding())
    yield made
    made.catalogue.close()


@pytest.fixture(scope="module")
def minilm() -> Embedding:
    model = MiniLM(embedding_folder(), 1, os.environ)
    return Embedding(model.model, model.embed)


NOTES = {
    "note:People/Anna.md": "Anna is my sister. Her birthday is on 14 September; she loves orchids.",
    "note:Home/Heating.md": "The boiler loses pressure in winter. Top it up to 1.5 bar.",
    "note:Travel/Lisbon.md": "We stayed in a small hotel in Alfama and took tram 28.",
    "note:Work/Budget.md": "The budget for the buoy project is 41,000 euros until December.",
    "note:Recipes/Bread.md": "Sourdough: 500 g flour, 350 g water, 10 g salt. Bake at 240 degrees.",
    "note:Garden/Tomatoes.md": "Sow tomatoes in March, plant them out after the last frost in May.",
    "note:Health/Dentist.md": "Doctor Weber has her practice near the station; open on Saturdays.",
    "note:Books/Dune.md": "Lent the novel Dune to Peter in April. He still has it.",
    "memory:m1": "The user takes black tea without sugar in the morning.",
    "document:d1": "Error E7 of the dishwasher means that the drain hose is blocked.",
}


@pytest.mark.model
def test_the_right_piece_comes_unasked_and_nothing_else_does(tmp_path, minilm) -> None:
    bench = Bench(tmp_path, minilm)
    for key, text in NOTES.items():
        bench.offer(key, text, date="2026-05-01", indexed=False)
    while bench.ingest.step():
        pass

    def told(text: str, context: str = "") -> list[str]:
        hits = bench.recaller.recall(Recall(text=text, context=context)).hits
        return [hit.path or hit.id for hit in hits][:1]

    asked = {
        "When is Anna's birthday?": "People/Anna.md",
        "who borrowed my copy of Dune": "Books/Dune.md",
        "what does error E7 on the dishwasher mean?": "d1",
        "How much water goes into the sourdough?": "Recipes/Bread.md",
        "which pressure does the boiler need?": "Home/Heating.md",
        "do I take sugar in my tea?": "m1",
        "Write a haiku about autumn leaves": None,
        "What is the capital of Mongolia?": None,
        "Explain how transistors work": None,
        "thanks a lot!": None,
    }
    assert {question: told(question) for question in asked} == {
        question: [path] if path else [] for question, path in asked.items()
    }
    assert told("and her birthday?", "I have to write to my sister Anna.") == ["People/Anna.md"]
    assert bench.texts("mum's other daughter, flowers she likes", limit=1) == [
        NOTES["note:People/Anna.md"]
    ]
    bench.catalogue.close()


@pytest.mark.parametrize(
    ("state", "mode", "said"),
    [
        ("whole", "hybrid", ""),
        ("no embedder", "words", "no embedder"),
        ("embedder away", "words", "away"),
        ("other embedder", "words", "another embedder"),
        ("no index", "words", "no index"),
        ("index damaged", "words", "disk"),
        ("index empty", "words", "One piece of text isn't in the index"),
    ],
)
def test_what_is_known_is_found_in_every_state_and_it_says_how(bench, state, mode, said) -> None:
    def fail() -> None:
        raise UnavailableError("The embedder is away.")

    def broken(*_) -> None:
        raise StorageError("The disk is broken.")

    bench.offer("note:a.md", "the kestrel buoy")
    match state:
        case "no embedder":
            bench.recaller.embedding = None
        case "embedder away":
            bench.recaller.embedding = word_embedding(asked=fail)
        case "other embedder":
            bench.recaller.embedding = word_embedding("other")
        case "no index":
            bench.indexes.serving = None
        case "index damaged":
            bench.indexes.serving.index.hybrid = broken
        case "index empty":
            bench.indexes.serving = Numbered(2, BruteIndex(bench.embedding.identity, {}))
            Ingest(bench.catalogue, bench.indexes, bench.embedding)
    hits = bench.recaller.search(SearchMemory(text="kestrel buoy"))
    assert [hit.text for hit in hits.hits] == ["the kestrel buoy"]
    assert hits.mode == mode
    assert said in hits.note
    assert bool(hits.note) == bool(said)
    recalled = bench.recaller.recall(Recall(text="the kestrel buoy"))
    assert [hit.path for hit in recalled.hits] == ["a.md"]


def test_what_is_not_indexed_yet_is_found_among_the_rest(bench) -> None:
    bench.offer("note:a.md", "the kestrel buoy")
    bench.offer("note:b.md", "a kestrel in the garden", indexed=False)
    assert bench.texts("kestrel in the garden") == ["a kestrel in the garden", "the kestrel buoy"]
    assert [key for key, _, _ in bench.recaller.similar("a kestrel", (Kind.NOTE,), 5)] == [
        "note:b.md",
        "note:a.md",
    ]


def test_nothing_taken_back_or_replaced_is_found(bench) -> None:
    bench.offer("memory:m1", "Anna lives in Rome")
    bench.offer("memory:m2", "Anna lives in Bern")
    bench.offer("note:a.md", "Anna lives by the lake")
    bench.catalogue.gone("memory:m1")
    bench.offer("note:a.md", "Anna lives by the sea")
    assert sorted(bench.texts("Anna lives")) == ["Anna lives by the sea", "Anna lives in Bern"]


def test_many_points_of_texts_that_are_gone_hide_nothing(bench) -> None:
    for number in range(60):
        bench.offer(f"note:{number}.md", "kestrel " * 3, indexed=False)
    bench.offer("note:a.md", "one kestrel among the gulls")
    for number in range(60):
        bench.catalogue.gone(f"note:{number}.md")
    assert bench.texts("kestrel") == ["one kestrel among the gulls"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"since": "2026-05-02"}, ["alpha two"]),
        ({"until": "2026-05-01"}, ["alpha one"]),
        ({"since": "2026-05-01", "until": "2026-05-02"}, ["alpha one", "alpha two"]),
        ({"tags": ("#Work",)}, ["alpha one"]),
        ({"folder": "/Plans/"}, ["alpha two"]),
        ({"document": "d1"}, ["alpha three"]),
        ({"kinds": (Kind.SESSION,)}, ["alpha four"]),
        ({"limit": 1}, ["alpha one"]),
    ],
)
@pytest.mark.parametrize("embedded", [True, False])
def test_only_what_is_wanted_is_found(bench, wanted, found, embedded) -> None:
    bench.offer("note:a.md", "alpha one", date="2026-05-01", tags=("work/eris",))
    bench.offer("note:plans/b.md", "alpha two", date="2026-05-02")
    bench.offer("document:d1", "alpha three")
    bench.offer("session:s1/4", "alpha four")
    bench.recaller.embedding = bench.embedding if embedded else None
    assert sorted(bench.texts("alpha one", **wanted)) == found


@pytest.mark.parametrize("wrong", [{"text": " "}, {"text": "a", "since": "last week"}])
def test_nonsense_is_refused_with_what_to_do(bench, wrong) -> None:
    with pytest.raises(InvalidError) as caught:
        bench.recaller.search(SearchMemory(**wrong))
    assert caught.value.hint


def test_a_hit_says_where_it_is_from_and_how_its_score_came_about(bench) -> None:
    bench.offer("session:s1/4", "the kestrel buoy", date="2026-05-01")
    request = SearchMemory(text="kestrel buoy", kinds=(Kind.SESSION,), explain=True)
    (hit,) = bench.recaller.search(request).hits
    assert (hit.kind, hit.id, hit.date, hit.path) == (Kind.SESSION, "s1", "2026-05-01", "")
    assert hit.parts.keys() == {"dense", "words", "fused", "coverage"}
    assert 0 < hit.score <= 1
    recent = bench.recalling(Ranking(recency=0.1)).search(request).hits[0]
    assert recent.parts["recency"] == pytest.approx(1.1, abs=0.02)


def test_recency_and_sources_count_if_they_are_meant_to(bench) -> None:
    bench.offer(
        "note:old.md", "kestrel facts", "kestrel facts!", "kestrel facts?", date="2020-01-01"
    )
    bench.offer("note:new.md", "kestrel facts and more", date="2026-05-31")
    request = SearchMemory(text="kestrel facts", limit=4)
    paths = {
        name: [hit.path for hit in bench.recalling(ranking).search(request).hits]
        for name, ranking in {
            "plain": Ranking(),
            "recent": Ranking(recency=1.0),
            "diverse": Ranking(per_source=1),
        }.items()
    }
    assert paths == {
        "plain": ["old.md", "old.md", "old.md", "new.md"],
        "recent": ["new.md", "old.md", "old.md", "old.md"],
        "diverse": ["old.md", "new.md", "old.md", "old.md"],
    }


def test_recall_stays_within_its_room_and_tells_no_conversation(bench) -> None:
    text = "\n".join(f"Line {number} about the kestrel buoy." for number in range(100))
    for number in range(6):
        bench.offer(f"note:{number}.md", f"{text}\nEnd {number}")
    bench.offer("session:s1/1", "kestrel buoy kestrel buoy")
    hits = bench.recaller.recall(Recall(text="kestrel buoy", characters=700)).hits
    assert hits
    assert sum(len(hit.text) for hit in hits) <= 700
    for hit in hits:
        assert hit.kind is Kind.NOTE
        assert set(hit.text.strip("… ").split("\n")) <= set(text.split("\n"))


def test_the_floor_is_learned_once_there_is_enough_and_again_after_growth(bench) -> None:
    def grow(first: int, last: int) -> None:
        for number in range(first, last):
            words = " ".join(f"w{number * 7 % 31}x{letter}" for letter in "abcdefg")
            bench.offer(f"note:{number}.md", f"{words}.", indexed=False)
        bench.offer("note:last.md", f"the end {last}")

    def learned() -> int:
        return sum(1 for _ in iter(bench.recaller.floor.step, False))  # noqa: FBT003

    grow(0, 150)
    assert learned() == 0
    grow(150, 210)
    assert learned() > 0
    floor = bench.recalling(Ranking()).floor.floor()
    assert floor == bench.recaller.floor.floor()
    grow(210, 300)
    assert learned() == 0
    grow(300, 330)
    assert learned() > 0


@pytest.mark.parametrize(
    ("text", "polite"),
    [
        ("hi", True),
        ("Thanks a lot!!", True),
        ("Guten Morgen 🙂", False),
        ("guten Morgen", True),
        ("Добрый день", True),
        ("你好", True),
        ("👍", False),
        ("…", True),
        ("", True),
        ("Who is Anna?", False),
        ("tea", False),
        ("hello, where did I put the key", False),
    ],
)
def test_small_talk_needs_no_memory(text, polite) -> None:
    assert is_small_talk(text) == polite


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("short", 80, "short"),
        ("One.\nTwo about boats.\nThree.", 24, "… Two about boats. …"),
        ("First thing. Then boats came. Last thing here.", 24, "… Then boats came. …"),
        ("boats " * 10, 24, "boats boats boats …"),
        ("x" * 50, 24, f"{'x' * 20} …"),
        ("long enough text", 4, ""),
    ],
)
def test_an_excerpt_is_whole_lines_or_sentences(text, room, cut) -> None:
    assert excerpt(text, "when did the boats come", room) == cut


@given(text=st.text(max_size=300), question=st.text(max_size=30), room=st.integers(0, 320))
def test_an_excerpt_never_takes_more_than_its_room(text, question, room) -> None:
    cut = excerpt(text, question, room)
    assert len(cut) <= room
    assert cut.removeprefix("… ").removesuffix(" …") in text
