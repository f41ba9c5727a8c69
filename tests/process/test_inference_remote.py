"""The inference process with the model behind a real server: llama.cpp's own."""

import contextlib
import json
import threading

import jsonschema
import pytest

from eris.envelope_ending import envelope_ending
from eris.errors import RemoteError
from eris.grammar import ToolSchema, envelope_grammar
from eris.grammar.envelope_schema import envelope_schema
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
    TextCounts,
    TokenCounts,
    TokenizeText,
)
from proto.orchestrator import TurnState
from tests.grammar_acceptor import acceptor
from tests.model_server import model_server
from tests.process.orchestrator_support import Talk
from tests.support import processes, wait_until

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.timeout(600)]

ACTORS = [
    *("bus", "inference", "gatekeeper", "router"),
    *("memory", "vault", "agenda", "orchestrator"),
]
TOOLS = [
    ToolSchema(
        "vault:write",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )
]
GRAMMAR = envelope_grammar(TOOLS).text
SCHEMA = json.dumps(envelope_schema(TOOLS))
ACTORS = ["bus", "inference", "gatekeeper", "router", "vault", "agenda", "orchestrator"]
ENDLESS = "root ::= [a-z ]{1500}"
ENGINES = {
    "llama-server": {"ERIS_MODEL_ENGINE": "llama-server"},
    "openai": {"ERIS_MODEL_ENGINE": "openai", "path": "/v1"},
    "openai-grammar": {
        "ERIS_MODEL_ENGINE": "openai",
        "ERIS_MODEL_STRUCTURED": "grammar",
        "path": "/v1",
    },
}


def environment(server, engine):
    settings = dict(ENGINES[engine])
    return {"ERIS_MODEL_URL": server.url + settings.pop("path", ""), **settings}


def ask(text):
    return (
        Message(role="system", parts=(Part(segment="identity", text="You are Eris."),)),
        Message(role="user", parts=(Part(segment="user", text=text),)),
    )


def generate(port, text="Save a note.", **more):
    body = Generate(messages=ask(text), session="main", **{"grammar": GRAMMAR, **more})
    return port.open("inference", body, item=Prefilled | Chunk, result=Generated)


def text_of(stream):
    text = ""
    for item in stream:
        if isinstance(item, Chunk) and not item.thinking:
            text = text[: len(text) - item.removed] + item.text
    return text


@contextlib.contextmanager
def inference(folder, server, engine):
    with processes(folder, environment(server, engine)) as group:
        group.start("bus")
        group.start("inference")
        yield group.connect("orchestrator")


@pytest.fixture(scope="module")
def server():
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def port(server, tmp_path_factory):
    with inference(tmp_path_factory.mktemp("remote"), server, "llama-server") as found:
        yield found


def test_the_context_is_the_one_that_the_server_has(port, server):
    model = port.ask("inference", DescribeModel(), ModelDescription, within=20)
    assert (model.engine, model.url) == ("llama-server", server.url)
    assert (model.context_length, model.trained_context_length) == (server.context, 8192)
    assert model.exact_counts
    assert not model.note


def test_prompts_are_counted_as_the_server_reads_them(port):
    counts = port.ask("inference", CountTokens(messages=ask("Hello!")), TokenCounts, within=20)
    assert sum(counts.segments.values()) == counts.total
    assert set(counts.segments) == {"template", "identity", "user"}
    stream = generate(port, "Hello!", max_tokens=64, ending=envelope_ending())
    text_of(stream)
    assert stream.result.prompt_tokens == counts.total


def test_texts_are_counted_and_cut(port):
    texts = TokenizeText(texts=("one two three", "", "äöü" * 20), limit=2)
    answer = port.ask("inference", texts, TextCounts, within=20)
    assert (answer.counts[:2], answer.cuts[:2]) == ((3, 0), (len("one two"), 0))
    assert 0 < answer.cuts[2] < 60


def test_markup_inside_a_message_ends_nothing(port):
    plain, imitated = (
        port.ask("inference", CountTokens(messages=ask(text)), TokenCounts, within=20)
        for text in ("x", "x<|im_end|>")
    )
    assert imitated.segments["template"] == plain.segments["template"]
    assert imitated.segments["user"] > plain.segments["user"] + 1


def test_a_prompt_that_cannot_fit_is_refused_with_the_numbers(port, server):
    stream = generate(port, "word " * server.context)
    with pytest.raises(RemoteError) as caught:
        text_of(stream)
    assert caught.value.code == ErrorCode.CONTEXT_FULL
    assert caught.value.details["context_length"] == server.context
    assert caught.value.details["prompt_tokens"] > server.context


def test_a_cancel_frees_the_server(port, server):
    stream = generate(port, grammar=ENDLESS, max_tokens=1500)
    next(item for item in stream if isinstance(item, Chunk))
    stream.cancel()
    text_of(stream)
    assert stream.result.finish is FinishReason.CANCELLED
    wait_until(lambda: not server.working(), 10, "the server is idle")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("limit", [400, 60])
def test_answers_keep_to_the_form_and_are_whole(server, tmp_path, engine, limit):
    with inference(tmp_path, server, engine) as port:
        stream = generate(port, max_tokens=limit, schema=SCHEMA, ending=envelope_ending())
        text = text_of(stream)
        assert jsonschema.Draft202012Validator(json.loads(SCHEMA)).is_valid(json.loads(text))
        if engine != "openai":
            assert acceptor(GRAMMAR)(text)
        assert (stream.result.finish is FinishReason.LENGTH) == bool(stream.result.ended_early)
        assert stream.result.generated_tokens <= limit
        assert not port.ask("inference", DescribeModel(), ModelDescription, within=20).note


def test_a_server_that_dies_is_named_and_used_again_when_it_is_back(tmp_path):
    with model_server() as mortal, inference(tmp_path, mortal, "llama-server") as port:
        stream = generate(port, grammar=ENDLESS, max_tokens=1500)
        next(item for item in stream if isinstance(item, Chunk))
        mortal.kill()
        with pytest.raises(RemoteError) as caught:
            text_of(stream)
        assert caught.value.code == ErrorCode.UNREACHABLE
        assert mortal.url in caught.value.message
        assert "llama-server" in caught.value.hint
        with pytest.raises(RemoteError, match="can't be reached"):
            text_of(generate(port))
        mortal.start()
        text = text_of(generate(port, max_tokens=100, ending=envelope_ending()))
        assert acceptor(GRAMMAR)(text)


@pytest.mark.parametrize("engine", [*ENGINES, "llama.cpp-reference"])
def test_a_turn_is_played_by_every_engine(server, system, tmp_path, engine):
    """Whatever a tiny model answers: the turn ends, and nothing is shown that is no message."""
    chosen = {"ERIS_MODEL_ENGINE": engine}
    eris = system(
        actors=ACTORS,
        extra=environment(server, engine) if engine in ENGINES else chosen,
    )
    talk = Talk(eris, tmp_path)
    ended = talk.say("Hello!", within=300)
    assert ended.state in {TurnState.DONE, TurnState.FAILED}
    assert ended.usage.prompt > 0
    assert not ended.message.startswith("{")
    detail = next(actor.detail for actor in eris.status().actors if actor.name == "inference")
    assert (server.url in detail) == (engine in ENGINES)


def test_a_turn_survives_the_death_of_the_server(system, tmp_path):
    with model_server() as mortal:
        eris = system(
            actors=ACTORS,
            extra=environment(mortal, "llama-server") | {"ERIS_MODEL_EMBEDDING": ""},
        )
        talk = Talk(eris, tmp_path)
        mortal.kill()
        back = threading.Timer(4, mortal.start)
        back.start()
        try:
            ended = talk.say("Hello!", within=300)
        finally:
            back.join()
        assert ended.usage.prompt > 0
