"""Answers of servers that don't do what they say, served by a real HTTP server on this machine."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from actors.inference.remote.address import address_of
from actors.inference.remote.ollama import Ollama
from actors.inference.remote.openai_compatible import OpenAICompatible
from eris.config import ModelSettings
from eris.envelope import Envelope, render_envelope
from eris.envelope_ending import envelope_ending
from eris.errors import ConfigurationError, ContextFullError, UnavailableError
from eris.grammar import envelope_grammar
from eris.grammar.envelope_schema import envelope_schema
from eris.logs import SilentLogger
from proto.inference import FinishReason, Generate, Message, Part

GOOD = render_envelope(Envelope(thought="Hm.", message_to_user="A\u2028B \U0001f600"))
GRAMMAR, SCHEMA = envelope_grammar([]).text, json.dumps(envelope_schema([]))
LIST = {"data": [{"id": "m", "max_model_len": 4000}]}


class Script:
    """What the server answers to each path, and what it was asked."""

    def __init__(self, **answers):
        self.answers = {
            "/models": (200, LIST),
            "/api/tags": (200, {"models": [{"name": "m:latest", "size": 5}]}),
            "/api/show": (200, {"model_info": {"x.context_length": 4096}}),
            **{"/" + path.replace("_", "/"): answer for path, answer in answers.items()},
        }
        self.asked = []

    def answer(self, path, body):
        """Return status and bytes."""
        self.asked.append((path, body))
        answer = self.answers[path]
        status, content = answer(body) if callable(answer) else answer
        if isinstance(content, list):
            return status, b"".join(content)
        return status, json.dumps(content).encode()


class Heard:
    """Listens to an answer."""

    def __init__(self):
        self.text_so_far, self.thoughts, self.read = "", "", 0

    def prefilled(self, _statistics):
        self.read += 1

    def thought(self, text, _tokens):
        self.thoughts += text

    def text(self, text, _tokens, removed=0):
        self.text_so_far = self.text_so_far[: len(self.text_so_far) - removed] + text


@contextlib.contextmanager
def connected(kind, script, **settings):
    """An engine of this kind in front of a server that follows the script."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.removeprefix("/v1")
            status, body = script.answer(path, json.loads(content) if content else None)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815 - the library calls it so

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    openai = kind is OpenAICompatible
    url = f"http://127.0.0.1:{server.server_port}{'/v1' if openai else ''}"
    chosen = ModelSettings(engine="openai" if openai else "ollama", url=url, **settings)
    remarks = []
    engine = kind(chosen, address_of(chosen), SilentLogger(), remarks.append)
    engine.remarks = remarks
    try:
        yield engine
    finally:
        engine.close()
        server.shutdown()
        server.server_close()


def events(*lines, done=True):
    """A stream of server-sent events."""
    sent = [f"data: {json.dumps(line, ensure_ascii=False)}\n\n".encode() for line in lines]
    return 200, [*sent, b"data: [DONE]\n\n"] if done else sent


def said(text, finish="stop", usage=None, **delta):
    """An answer of OpenAI's protocol in two pieces."""
    half = len(text) // 2
    yield {"choices": [{"delta": {"content": text[:half], **delta}}]}
    yield {"choices": [{"delta": {"content": text[half:]}, "finish_reason": finish}]}
    if usage:
        yield {"choices": [], "usage": usage}


def request(text="Hello!", **more):
    body = {"grammar": GRAMMAR, "schema": SCHEMA, "ending": envelope_ending(), **more}
    messages = (Message(role="user", parts=(Part(segment="user", text=text),)),)
    return Generate(messages=messages, session="main", **body)


def answered(engine, body=None):
    """Return how an answer ended, what was heard of it, and its writing."""
    heard, opened = Heard(), engine.open(body or request(), threading.Event())
    return opened.writing.advance(heard, threading.Event()), heard, opened.writing


def test_an_answer_arrives_as_it_was_sent():
    usage = {"prompt_tokens": 9, "completion_tokens": 7, "prompt_tokens_details": {}}
    script = Script(chat_completions=events(*said(GOOD, usage=usage, reasoning_content="Well.")))
    with connected(OpenAICompatible, script) as engine:
        finish, heard, writing = answered(engine)
        assert (finish, heard.text_so_far, heard.read) == (FinishReason.STOP, GOOD, 1)
        assert heard.thoughts == "Well."
        assert (writing.statistics.prompt_tokens, writing.statistics.generated_tokens) == (9, 7)
        assert not engine.note


@pytest.mark.parametrize(
    ("structured", "keys"),
    [
        ("auto", {"response_format"}),
        ("grammar", {"structured_outputs", "grammar"}),
        ("guided_grammar", {"guided_grammar"}),
    ],
)
def test_the_form_is_sent_as_the_settings_say_and_nothing_empty(structured, keys):
    usual = {"model", "messages", "max_tokens", "temperature", "top_p", "seed", "stream"}
    script = Script(chat_completions=events(*said(GOOD)))
    with connected(OpenAICompatible, script, structured=structured) as engine:
        answered(engine)
        answered(engine, request(grammar="", schema=""))
    with_form, without = (body for path, body in script.asked if "chat" in path)
    assert with_form.keys() - without.keys() == keys
    assert without.keys() == usual | {"stream_options"}


@pytest.mark.parametrize("structured", ["grammar", "json_schema"])
@pytest.mark.parametrize("text", ["Sure! I saved it.", '{"name": "x", "arguments": {}}', ""])
def test_a_server_that_ignores_the_form_is_found_out_once(structured, text):
    script = Script(chat_completions=events(*said(text)))
    with connected(OpenAICompatible, script, structured=structured) as engine:
        for _ in range(2):
            finish, heard, _ = answered(engine)
            assert (finish, heard.text_so_far) == (FinishReason.STOP, text)
        assert "doesn't keep to it" in engine.describe().note
        assert sum("doesn't keep to it" in remark for remark in engine.remarks) == 1


def test_a_form_that_the_server_cannot_parse_is_left_out():
    def chat(body):
        if "response_format" in body:
            return 400, {"error": {"message": "failed to parse grammar"}}
        return events(*said(GOOD))

    with connected(OpenAICompatible, Script(chat_completions=chat)) as engine:
        finish, heard, _ = answered(engine)
        assert (finish, heard.text_so_far) == (FinishReason.STOP, GOOD)
        assert f"({len(SCHEMA)} characters)" in engine.note


def test_an_answer_that_breaks_off_is_an_error_that_names_model_and_server():
    script = Script(chat_completions=events(*list(said(GOOD))[:1], done=False))
    with (
        connected(OpenAICompatible, script) as engine,
        pytest.raises(UnavailableError, match="in the middle of an answer of m") as caught,
    ):
        answered(engine)
    assert caught.value.retryable
    assert str(engine.address) in caught.value.message


@pytest.mark.parametrize("finish", ["length", None])
def test_an_answer_that_is_too_long_is_made_whole(finish):
    begun = GOOD[: GOOD.index("B")]
    endless = [{"choices": [{"delta": {"content": "a"}}]}] * 400
    lines = list(said(begun, finish)) if finish else [*list(said(begun, None)), *endless]
    with connected(OpenAICompatible, Script(chat_completions=events(*lines))) as engine:
        why, heard, writing = answered(engine, request(max_tokens=128))
    assert why is FinishReason.LENGTH
    assert json.loads(heard.text_so_far)["message_to_user"].startswith("A\u2028")
    assert writing.ended_early is not None


def test_a_server_that_read_too_little_of_the_prompt_is_found_out():
    lines = said(GOOD, usage={"prompt_tokens": 20, "completion_tokens": 5})
    with connected(OpenAICompatible, Script(chat_completions=events(*lines))) as engine:
        answered(engine, request("word " * 500))
        assert "20 tokens of a prompt of 2500 bytes" in engine.note


def test_a_prompt_that_cannot_fit_is_refused_before_it_is_sent():
    script = Script()
    with connected(OpenAICompatible, script) as engine, pytest.raises(ContextFullError) as caught:
        answered(engine, request("word " * 4000))
    assert caught.value.details["context_length"] == 4000
    assert not [path for path, _ in script.asked if "chat" in path]


def test_estimates_follow_what_the_server_reports():
    lines = said(GOOD, usage={"prompt_tokens": 1000, "completion_tokens": 5})
    with connected(OpenAICompatible, Script(chat_completions=events(*lines))) as engine:
        body = request("word " * 1000)
        before = engine.count(body.messages).total
        answered(engine, body)
        assert 1000 <= engine.count(body.messages).total < before


def test_an_answer_that_gives_way_begins_anew():
    script = Script(chat_completions=events(*said(GOOD)))
    with connected(OpenAICompatible, script) as engine:
        heard, yielding = Heard(), threading.Event()
        writing = engine.open(request(), threading.Event()).writing
        yielding.set()
        assert writing.advance(heard, yielding) is None
        assert writing.advance(heard, threading.Event()) is FinishReason.STOP
        assert heard.text_so_far == GOOD


@pytest.mark.parametrize(("wanted", "names"), [("", ["a", "b"]), ("c", ["a", "b"]), ("", [])])
def test_a_model_that_is_not_certain_is_asked_for(wanted, names):
    script = Script(models=(200, {"data": [{"id": name} for name in names]}))
    with (
        connected(OpenAICompatible, script, server_model=wanted) as engine,
        pytest.raises(ConfigurationError, match=", ".join(names) or "none"),
    ):
        engine.describe()


def test_ollama_is_asked_in_its_own_protocol():
    lines = [
        {"message": {"content": GOOD}, "done": False},
        {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 30},
    ]
    sent = [json.dumps(line).encode() + b"\n" for line in lines]
    script = Script(api_chat=(200, sent))
    with connected(Ollama, script, server_model="m") as engine:
        finish, heard, writing = answered(engine)
        assert (engine.describe().name, engine.describe().context_length) == ("m:latest", 4096)
    assert (finish, heard.text_so_far) == (FinishReason.STOP, GOOD)
    assert writing.statistics.generated_tokens == 30
    body = next(body for path, body in script.asked if path == "/api/chat")
    assert body["format"] == json.loads(SCHEMA)
    assert body["options"]["num_ctx"] == 4096
