"""A model hub on loopback: the two requests that a download needs, ranges included."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubStandIn:
    """Serves the files it's given, and can fail in the ways that a hub fails."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        """``owner/name/path`` -> content."""
        self.gated = False
        self.cut_after: int | None = None
        """Close the connection after so many bytes of the next body."""
        self.wrong_content = False
        """Send other bytes than the announced digest is of."""
        self.ranges: list[str | None] = []
        """The Range header of every download so far."""
        self.endpoint = ""

    @contextmanager
    def running(self) -> Iterator["HubStandIn"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join(10)


class _Handler(BaseHTTPRequestHandler):
    hub: HubStandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        repository, _, rest = self.path.lstrip("/").partition("/resolve/")
        _revision, _, path = rest.partition("/")
        content = self.hub.files.get(f"{repository}/{path}")
        if self.hub.gated:
            self._refuse(403, "GatedRepo")
        elif not any(name.startswith(f"{repository}/") for name in self.hub.files):
            self._refuse(404, "RepoNotFound")
        elif content is None:
            self._refuse(404, "EntryNotFound")
        else:
            self._send(content, body=body)

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, *, body: bool) -> None:
        first = 0
        asked = self.headers.get("Range")
        if body:
            self.hub.ranges.append(asked)
        if asked:
            first = int(asked.removeprefix("bytes=").partition("-")[0])
        sent = content[first:]
        self.send_response(206 if asked else 200)
        self.send_header("X-Repo-Commit", _COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(sent)))
        if asked:
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.end_headers()
        if not body:
            return
        if self.hub.wrong_content:
            sent = bytes(len(sent))
        if self.hub.cut_after is not None:
            self.wfile.write(sent[: self.hub.cut_after])
            self.wfile.flush()
            self.hub.cut_after = None
            self.close_connection = True
            self.connection.close()
            return
        self.wfile.write(sent)
