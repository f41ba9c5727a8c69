"""What a model server's refusals mean, said by a real HTTP server on this machine."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from actors.inference.remote.address import address_of
from actors.inference.remote.client import ServerClient
from actors.inference.remote.failures import GrammarRefused
from eris.config import YOURS_ALONE, ModelSettings, load_settings, vault_file
from eris.errors import ConfigurationError, ContextFullError, ErisError, UnavailableError
from proto.errors import ErrorCode

KEY = "sk-very-secret"


@contextlib.contextmanager
def serving(*answers):
    """Serve these (status, body, headers) one after the other, the last one again and again."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            asked.append((self.path, dict(self.headers), self.rfile.read(length)))
            status, body, headers = answers[min(len(asked), len(answers)) - 1]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def client(url, monkeypatch, key=""):
    monkeypatch.setenv("MODEL_KEY", key)
    settings = ModelSettings(engine="openai", url=url, api_key_env="MODEL_KEY" if key else "")
    return ServerClient(address_of(settings), silence=5, start="Start it.")


@pytest.mark.parametrize(
    ("status", "body", "kind", "said", "code"),
    [
        (401, "{}", ConfigurationError, "doesn't accept the key", None),
        (403, "{}", ConfigurationError, "doesn't accept the key", None),
        (404, '{"error": {"message": "none"}}', ConfigurationError, "for the model m", None),
        (302, "", ConfigurationError, "points to another address", None),
        (400, '{"error": "maximum context length is 4096"}', ContextFullError, "too long", None),
        (400, '{"detail": "failed to parse grammar"}', GrammarRefused, "can't use the form", None),
        (400, '{"message": "no"}', ErisError, "refuses the request: no", None),
        (500, "<html>", UnavailableError, "failed \\(500\\)", None),
        (429, "{}", UnavailableError, "too much to do", ErrorCode.BUSY),
        (503, "{}", UnavailableError, "isn't ready", ErrorCode.LOADING),
    ],
)  # fmt: skip
def test_every_refusal_names_the_server_and_says_what_to_do(
    monkeypatch, status, body, kind, said, code
):
    headers = {"Retry-After": "0", "Location": "http://elsewhere.invalid/"}
    with serving((status, body, headers)) as (url, _):
        asker = client(url, monkeypatch, KEY)
        with pytest.raises(kind, match=said) as caught:
            asker.ask("/v1/completions", {"prompt": "x"}, model="m")
        asker.close()
    error = caught.value
    assert url in error.message
    assert error.hint
    assert KEY not in f"{error.message} {error.hint} {error.details}"
    assert code is None or error.code == code


def test_a_busy_server_is_asked_again(monkeypatch):
    busy, fine = (429, "{}", {"Retry-After": "0"}), (200, json.dumps({"ok": True}), {})
    with serving(busy, busy, fine) as (url, asked):
        asker = client(url, monkeypatch)
        assert asker.ask("/x", {"prompt": "y"}) == {"ok": True}
        asker.close()
    assert len(asked) == 3
    assert "Authorization" not in asked[0][1]


def test_a_refused_request_is_not_repeated(monkeypatch):
    with serving((400, '{"message": "no"}', {})) as (url, asked):
        asker = client(url, monkeypatch)
        with pytest.raises(ErisError):
            asker.ask("/x", {})
        asker.close()
    assert len(asked) == 1


@pytest.mark.parametrize("body", ["[1, 2]", "not json", ""])
def test_an_answer_that_is_no_object_is_an_error_in_words(monkeypatch, body):
    with serving((200, body, {})) as (url, _):
        asker = client(url, monkeypatch)
        with pytest.raises(ErisError, match="127"):
            asker.ask("/x", {})
        asker.close()


def test_a_server_that_is_not_there_is_unreachable(monkeypatch):
    with serving((200, "{}", {})) as (url, _):
        pass
    asker = client(url, monkeypatch)
    with pytest.raises(UnavailableError, match="can't be reached") as caught:
        asker.ask("/x", {})
    asker.close()
    assert caught.value.retryable


@pytest.mark.parametrize(
    "url", ["http://example.org/v1", "http://10.0.0.7:8080", "https://[2001:db8::1]/v1"]
)
def test_the_conversation_stays_on_this_machine_unless_the_user_says_so(url):
    with pytest.raises(ConfigurationError, match="would be sent there"):
        address_of(ModelSettings(engine="openai", url=url), {})
    assert not address_of(ModelSettings(engine="openai", url=url, allow_remote=True), {}).loopback


@pytest.mark.parametrize("url", ["http://me:pw@127.0.0.1/", "http://127.0.0.1/?key=1"])
def test_an_address_with_a_key_in_it_is_refused(url):
    with pytest.raises(ConfigurationError, match="address alone"):
        address_of(ModelSettings(engine="openai", url=url), {})


def test_a_key_file_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o644)
    settings = ModelSettings(engine="openai", api_key_file=str(file))
    with pytest.raises(ConfigurationError, match=str(file)):
        address_of(settings, {})
    file.chmod(0o600)
    address = address_of(settings, {})
    assert address.key == KEY
    assert KEY not in f"{address!r} {address}"


@pytest.mark.parametrize("key", sorted(YOURS_ALONE))
def test_a_folder_of_notes_cannot_say_where_a_conversation_goes(tmp_path, key):
    file = vault_file(tmp_path)
    file.parent.mkdir()
    value = "true" if key == "model.allow_remote" else '"http://127.0.0.1:1"'
    file.write_text(f"[model]\n{key.partition('.')[2]} = {value}\n")
    with pytest.raises(ConfigurationError, match=f"line 2: {key} can't be set in a vault"):
        load_settings(tmp_path, {"HOME": str(tmp_path)})
