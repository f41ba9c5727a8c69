"""The inference process with a real, small model, asked over the real bus."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from eris.actor import Port, StreamReader
from eris.errors import RemoteError
from proto.control import Ping, Pong
from proto.envelope import STREAM_WINDOW
from proto.errors import ErrorCode
from proto.inference import (
    Chunk,
    CountTokens,
    DescribeModel,
    FinishReason,
    Generate,
    Generated,
    Message,
    ModelDescription,
    Part,
    Prefilled,
    Priority,
    TextCounts,
    TokenCounts,
    TokenizeText,
)
from tests.support import Processes, processes, wait_until

pytestmark = [pytest.mark.process, pytest.mark.model]
MODEL = {"ERIS_MODEL_CHAT": "smollm2-135m", "ERIS_MODEL_CONTEXT_LENGTH": "1024"}
WORD = r'root ::= "{\"word\": \"" [a-z]{1,12} "\"}"'
ENDLESS = "root ::= [a-z ]{800}"


def ask(text: str) -> tuple[Message, ...]:
    return (
        Message(role="system", parts=(Part(segment="identity", text="You are Eris."),)),
        Message(role="user", parts=(Part(segment="user", text=text),)),
    )


def generate(
    port: Port,
    text: str = "A word, please.",
    *,
    session: str = "main",
    grammar: str = WORD,
    max_tokens: int = 40,
    priority: Priority = Priority.INTERACTIVE,
) -> StreamReader[Generated]:
    body = Generate(
        messages=ask(text),
        session=session,
        grammar=grammar,
        max_tokens=max_tokens,
        priority=priority,
    )
    return port.open("inference", body, item=Prefilled | Chunk, result=Generated)


def text_of(stream: StreamReader[Generated]) -> str:
    return "".join(item.text for item in stream if isinstance(item, Chunk))


def result_of(stream: StreamReader[Generated]) -> Generated:
    for _ in stream:
        pass
    assert stream.result is not None
    return stream.result


def await_text(stream: StreamReader[Generated]) -> None:
    """Read until the first piece of text has arrived."""
    for item in stream:
        if isinstance(item, Chunk):
            return


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Port]]:
    with processes(tmp_path_factory.mktemp("inference"), MODEL) as group:
        group.start("bus")
        group.start("inference")
        yield group, group.connect("orchestrator")


@pytest.fixture
def port(system: tuple[Processes, Port]) -> Port:
    return system[1]


def test_it_tells_what_is_loaded(port: Port) -> None:
    model = port.ask("inference", DescribeModel(), ModelDescription, within=10)
    assert model.name == "smollm2-135m"
    assert (model.context_length, model.trained_context_length) == (1024, 8192)


def test_it_counts_prompts_by_segment_and_texts_on_their_own(port: Port) -> None:
    counts = port.ask("inference", CountTokens(messages=ask("Hello!")), TokenCounts, within=10)
    assert sum(counts.segments.values()) == counts.total
    assert set(counts.segments) == {"template", "identity", "user"}
    texts = TokenizeText(texts=("one two three", ""), limit=2)
    answer = port.ask("inference", texts, TextCounts, within=10)
    assert answer == TextCounts(counts=(3, 0), cuts=(len("one two"), 0))


def test_it_streams_a_sentence_of_the_grammar(port: Port) -> None:
    stream = generate(port)
    items = list(stream)
    assert isinstance(items[0], Prefilled)
    assert json.loads("".join(item.text for item in items if isinstance(item, Chunk)))["word"]
    assert stream.result is not None
    assert stream.result.finish is FinishReason.STOP


@pytest.mark.parametrize(
    ("text", "grammar", "code", "words"),
    [
        ("Hi", "root ::= missing", ErrorCode.INVALID, "grammar"),
        ("word " * 1500, WORD, ErrorCode.CONTEXT_FULL, "1024"),
    ],
)
def test_what_cannot_be_generated_is_refused(
    port: Port, text: str, grammar: str, code: str, words: str
) -> None:
    with pytest.raises(RemoteError, match=words) as caught:
        result_of(generate(port, text, grammar=grammar))
    assert caught.value.code == code


def test_the_refusal_of_a_long_prompt_carries_the_numbers(port: Port) -> None:
    with pytest.raises(RemoteError) as caught:
        result_of(generate(port, "word " * 1500))
    details = caught.value.details
    assert details["context_length"] == 1024
    assert int(details["prompt_tokens"]) > 1500


def test_a_cancel_ends_the_generation_and_frees_the_model(port: Port) -> None:
    stream = generate(port, grammar=ENDLESS, max_tokens=600)
    await_text(stream)
    stream.cancel()
    assert result_of(generate(port)).finish is FinishReason.STOP


def test_pings_are_answered_while_it_generates(system: tuple[Processes, Port]) -> None:
    group, port = system
    stream = generate(port, grammar=ENDLESS, max_tokens=600)
    await_text(stream)
    pong = group.connect("erisd").ask("inference", Ping(), Pong, within=10)
    assert pong.streams == 1
    stream.cancel()


def test_a_second_caller_waits_and_is_told_how_long(port: Port) -> None:
    first = generate(port, grammar=ENDLESS, max_tokens=60)
    await_text(first)
    second = result_of(generate(port, session="second"))
    assert second.queued_seconds > 0
    assert result_of(first).generated_tokens <= 60


def test_an_interactive_generation_overtakes_a_background_one(port: Port) -> None:
    slow = generate(
        port,
        "Many words.",
        session="background",
        grammar=ENDLESS,
        max_tokens=120,
        priority=Priority.BACKGROUND,
    )
    await_text(slow)
    quick = result_of(generate(port))
    finished = result_of(slow)
    assert quick.finish is FinishReason.STOP
    # The background generation waited for the whole of the other, and was completed after it.
    assert finished.queued_seconds >= quick.decode_seconds
    assert finished.generated_tokens == 120


def test_a_receiver_that_does_not_read_holds_up_nobody(port: Port) -> None:
    idle = generate(port, session="idle", grammar=ENDLESS, max_tokens=200)
    assert result_of(generate(port)).finish is FinishReason.STOP
    # It gets everything all the same, when it comes to read.
    assert len(text_of(idle)) > STREAM_WINDOW
    assert idle.result.generated_tokens == 200


def test_nobody_generates_for_an_asker_that_was_restarted(tmp_path: Path) -> None:
    with processes(tmp_path, MODEL) as group:
        group.start("bus")
        group.start("inference")
        await_text(generate(group.connect("orchestrator"), grammar=ENDLESS, max_tokens=600))
        successor = group.connect("orchestrator")
        assert result_of(generate(successor)).finish is FinishReason.STOP
        log = group.paths.logs / "inference.log"
        ends = [json.loads(line) for line in log.read_text().splitlines() if '"generated"' in line]
        assert ends[0]["finish"] == "cancelled"


def test_a_restart_costs_no_prompt(tmp_path: Path) -> None:
    with processes(tmp_path, MODEL) as group:
        group.start("bus")
        group.start("inference")
        port = group.connect("orchestrator")
        before = result_of(generate(port, "A word, please. " * 20))
        wait_until(lambda: list((group.paths.state / "kv").glob("*.json")), 10, "state saved")
        group.kill("inference", signal.SIGKILL)
        group.start("inference")
        after = result_of(generate(port, "A word, please. " * 20))
    assert before.prefilled_tokens == before.prompt_tokens
    assert after.prefilled_tokens <= 1
    assert after.cached_tokens + after.prefilled_tokens == before.prompt_tokens


def test_stopping_tells_who_waits_and_saves_what_there_is(tmp_path: Path) -> None:
    with processes(tmp_path, MODEL) as group:
        group.start("bus")
        group.start("inference")
        port = group.connect("orchestrator")
        running = generate(port, grammar=ENDLESS, max_tokens=600)
        await_text(running)
        waiting = generate(port, session="waiting")
        assert group.kill("inference", signal.SIGTERM) == 0
        for stream in (running, waiting):
            with pytest.raises(RemoteError) as caught:
                result_of(stream)
            assert caught.value.code == ErrorCode.DRAINING
            assert caught.value.retryable
        assert list((group.paths.state / "kv").glob("*.bin"))


def test_it_can_be_stopped_while_it_loads(tmp_path: Path) -> None:
    with processes(tmp_path, MODEL) as group:
        group.start("bus")
        child = group.start("inference", ready=False)
        log = group.paths.logs / "inference.log"
        lock = group.paths.lock("inference")
        wait_until(lock.exists, 10, "the process has begun")
        child.terminate()
        assert child.wait(15) == 0
        assert not log.exists() or '"internal"' not in log.read_text()


def no_file(folder: Path) -> str:
    return str(folder / "none.gguf")


def half_a_file(folder: Path) -> str:
    (folder / "half.gguf").write_bytes(b"GGUF" + bytes(20))
    return str(folder / "half.gguf")


def text_file(folder: Path) -> str:
    (folder / "text.gguf").write_text("just text")
    return str(folder / "text.gguf")


def unknown_name(folder: Path) -> str:
    del folder
    return "no-such-model"


@pytest.mark.parametrize("make", [no_file, half_a_file, text_file, unknown_name])
def test_a_model_that_cannot_be_used_is_a_matter_of_configuration(
    tmp_path: Path, make: "object"
) -> None:
    assert callable(make)
    name = make(tmp_path)
    with processes(tmp_path, {"ERIS_MODEL_CHAT": name}) as group:
        group.start("bus")
        child = group.start("inference", ready=False)
        assert child.wait(20) == 78
        record = json.loads((group.paths.runtime / "exit-inference.json").read_text())
    assert Path(name).name in record["reason"]
