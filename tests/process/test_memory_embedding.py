"""The embedder as a service, through the real bus."""

import math
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from eris.actor import Port
from eris.errors import CancelledWorkError, RemoteError
from proto.memory import Embed, Embedded
from tests.embedding import embedding_folder
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process


def ask(port: Port, *texts: str, background: bool = False, within: float = 60) -> Embedded:
    return port.ask(
        "memory", Embed(texts=texts, background=background), Embedded, within=within, retry=True
    )


def rows(answer: Embedded) -> list["array[float]"]:
    values = array("f", answer.vectors)
    size = answer.dimensions
    return [values[start : start + size] for start in range(0, len(values), size)]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Port]]:
    embedding_folder()
    # As supervisor.toml has it: without these the process keeps 200 MB more.
    lean = {"MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "1000000"}
    with processes(tmp_path_factory.mktemp("memory"), lean) as group:
        group.start("bus")
        group.start("memory", ready=False)
        port = group.connect("router")
        ask(port, "warm up")
        yield group, port


@pytest.mark.model
def test_texts_become_unit_vectors_in_their_order(loaded: tuple[Processes, Port]) -> None:
    _, port = loaded
    answer = ask(port, "a long text about cooking " * 20, "milk", "milk")
    vectors = rows(answer)
    assert answer.dimensions == 384
    assert answer.model.startswith("minilm-l6-v2-int8@")
    assert all(math.isclose(math.hypot(*vector), 1, abs_tol=1e-4) for vector in vectors)
    assert vectors[1] == vectors[2] != vectors[0]


@pytest.mark.model
def test_like_texts_have_like_vectors(loaded: tuple[Processes, Port]) -> None:
    question, near, far = rows(ask(loaded[1], "what time is it", "tell me the hour", "buy milk"))
    assert math.dist(question, near) < math.dist(question, far)


@pytest.mark.model
@pytest.mark.parametrize("texts", [(), ("",), ("\x00\ud7ff😀",), ("x" * 100_000,)])
def test_odd_texts_are_embedded_too(loaded: tuple[Processes, Port], texts: tuple[str, ...]) -> None:
    assert len(rows(ask(loaded[1], *texts))) == len(texts)


@pytest.mark.model
def test_a_question_overtakes_bulk_work(loaded: tuple[Processes, Port]) -> None:
    _, port = loaded
    cancelled = threading.Event()
    finished = threading.Event()

    def bulk() -> None:
        texts = tuple(f"note {number} " + "about many things " * 40 for number in range(400))
        try:
            port.ask(
                "memory",
                Embed(texts=texts, background=True),
                Embedded,
                within=120,
                cancelled=cancelled,
            )
        except CancelledWorkError:
            pass
        finally:
            finished.set()

    worker = threading.Thread(target=bulk)
    worker.start()
    ask(port, "a question that nobody asked before")
    assert not finished.is_set()
    cancelled.set()
    worker.join(20)
    ask(port, "another question, after the bulk work was given up")


@pytest.mark.model
def test_too_many_texts_at_once_are_refused(loaded: tuple[Processes, Port]) -> None:
    with pytest.raises(RemoteError, match="too many to embed"):
        ask(loaded[1], *["x"] * 2001)


@pytest.mark.model
def test_the_process_keeps_its_size_after_long_texts(loaded: tuple[Processes, Port]) -> None:
    group, port = loaded
    ask(port, *(f"{number} " + "a long sentence of many words " * 100 for number in range(12)))
    resident = psutil.Process(group.children["memory"].pid).memory_info().rss
    assert resident < 350 * 1024 * 1024


def test_without_a_model_the_actor_lives_and_says_how_to_get_one(tmp_path: Path) -> None:
    with processes(tmp_path, {"XDG_DATA_HOME": str(tmp_path / "empty")}) as group:
        group.start("bus")
        group.start("memory")
        port = group.connect("router")
        for _ in range(2):
            with pytest.raises(RemoteError) as refused:
                ask(port, "text")
            assert refused.value.code == "unavailable"
            assert "eris models pull minilm-l6-v2-int8" in refused.value.hint
        assert group.wait_ready("memory").state == "ready"


def test_a_broken_model_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "broken model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"not a model")
    with processes(tmp_path, {"ERIS_MODEL_EMBEDDING": str(folder)}) as group:
        group.start("bus")
        group.start("memory")
        port = group.connect("router")
        with pytest.raises(RemoteError, match=r"lacks tokenizer\.json") as refused:
            ask(port, "text")
        assert refused.value.code == "model"


@pytest.mark.model
def test_a_model_that_arrives_later_is_loaded(tmp_path: Path) -> None:
    folder = embedding_folder()
    models = tmp_path / "data" / "eris" / "models"
    models.mkdir(parents=True)
    with processes(tmp_path, {"XDG_DATA_HOME": str(tmp_path / "data")}) as group:
        group.start("bus")
        group.start("memory")
        port = group.connect("router")
        with pytest.raises(RemoteError):
            ask(port, "text")
        (models / folder.name).symlink_to(folder)

        def answers() -> bool:
            try:
                return bool(ask(port, "text").vectors)
            except RemoteError:
                return False

        wait_until(answers, 30, "the embedder answers")
