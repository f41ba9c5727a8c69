"""Embedding in small batches of like length."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.memory.embedder import LONGEST_TEXT, threads_for
from actors.memory.lanes import Lanes
from actors.memory.work import BATCH_CHARACTERS, BATCH_TEXTS, Job, Recent, Worker, batches
from eris.errors import CancelledWorkError


class Lengths:
    """An embedder whose vector of a text is its length; records its batches."""

    model = "lengths@1"
    dimensions = 1

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.batches.append(list(texts))
        if "bad" in texts:
            raise ValueError("bad text")
        return [len(text).to_bytes(4, "little") for text in texts]


class Desk:
    """A worker with its lanes, and what it answered."""

    def __init__(self) -> None:
        self.embedder = Lengths()
        self.lanes: Lanes[Job] = Lanes()
        self.worker = Worker(self.embedder, self.lanes, Recent())
        self.answers: dict[str, object] = {}

    def ask(self, name: str, *texts: str, background: bool = False, wanted: bool = True) -> None:
        job = Job(
            texts=texts,
            background=background,
            finish=lambda vectors: self.answers.update({name: list(vectors)}),
            fail=lambda error: self.answers.update({name: error}),
            wanted=lambda: wanted,
        )
        self.lanes.put(job, background=background)

    def work(self) -> None:
        while self.lanes.waiting():
            self.worker.step()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@given(st.lists(st.integers(0, 3000), max_size=60))
def test_batches_cover_every_text_once_and_stay_small(lengths: list[int]) -> None:
    texts = ["x" * length for length in lengths]
    found = batches(texts)
    assert sorted(index for batch in found for index in batch) == list(range(len(texts)))
    for batch in found:
        longest = max(len(texts[index]) for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= BATCH_CHARACTERS
        assert len(batch) <= BATCH_TEXTS


def test_short_texts_come_first_so_that_like_lengths_share_a_batch() -> None:
    assert batches(["x" * 900, "a", "y" * 900, "b"]) == [[1, 3], [0, 2]]


def test_a_text_beyond_the_limit_is_one_batch() -> None:
    assert batches(["x" * (LONGEST_TEXT * 3)]) == [[0]]


def test_vectors_come_in_the_order_of_the_request(desk: Desk) -> None:
    desk.ask("q", "four", "a", "three", "a")
    desk.work()
    assert desk.answers["q"] == [n.to_bytes(4, "little") for n in (4, 1, 5, 1)]


def test_an_empty_request_is_answered(desk: Desk) -> None:
    desk.ask("q")
    desk.work()
    assert desk.answers["q"] == []


def test_recent_texts_are_not_computed_again(desk: Desk) -> None:
    desk.ask("first", "one", "two!")
    desk.ask("second", "one", "three")
    desk.work()
    assert desk.embedder.batches == [["one", "two!"], ["three"]]
    assert len(desk.answers) == 2


def test_a_question_overtakes_bulk_work_between_its_batches(desk: Desk) -> None:
    desk.ask("bulk", *(f"{'x' * 1500}{n}" for n in range(3)), background=True)
    desk.worker.step()
    desk.ask("question", "hello")
    desk.work()
    assert list(desk.answers) == ["question", "bulk"]
    assert [len(batch) for batch in desk.embedder.batches] == [1, 1, 1, 1]


def test_work_that_nobody_waits_for_is_not_done(desk: Desk) -> None:
    desk.ask("gone", "text", wanted=False)
    desk.work()
    assert isinstance(desk.answers["gone"], CancelledWorkError)
    assert desk.embedder.batches == []


def test_a_failure_is_told_and_the_next_job_goes_on(desk: Desk) -> None:
    desk.ask("broken", "bad")
    desk.ask("fine", "good")
    desk.work()
    assert isinstance(desk.answers["broken"], ValueError)
    assert desk.answers["fine"] == [(4).to_bytes(4, "little")]


def test_the_text_not_used_for_longest_is_forgotten() -> None:
    recent = Recent(limit=2)
    recent.put("a", b"1")
    recent.put("b", b"2")
    recent.get("a")
    recent.put("c", b"3")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (b"1", None, b"3")


@pytest.mark.parametrize(
    ("cores", "environ", "threads"),
    [
        (1, {}, 1),
        (2, {}, 1),
        (4, {}, 2),
        (32, {}, 2),
        (4, {"ERIS_EMBEDDER_THREADS": "3"}, 3),
        (4, {"ERIS_EMBEDDER_THREADS": "0"}, 1),
        (4, {"ERIS_EMBEDDER_THREADS": "many"}, 2),
    ],
)
def test_the_embedder_leaves_cores_to_the_chat_model(
    cores: int, environ: dict[str, str], threads: int
) -> None:
    assert threads_for(cores, environ) == threads
