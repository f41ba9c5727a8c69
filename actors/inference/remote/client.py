"""HTTP to one server, and to no other: requests, and answers that arrive bit by bit.

Everything runs on one event loop in a thread of its own, because only there a request can be given
up at any point: while it connects, while the server reads the prompt, or in the middle of an
answer. Giving up closes the connection, which is how servers learn that nobody listens.
"""

import json
import queue
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, Final

import httpx
import tenacity
from anyio.from_thread import start_blocking_portal

from actors.inference.remote.address import Address
from actors.inference.remote.failures import refusal, unreachable
from eris.errors import ErisError, ProtocolError

CONNECT_SECONDS: Final = 5.0
ASK_SECONDS: Final = 20.0
"""For questions that a server answers from memory."""

_ATTEMPTS: Final = 4
_FIRST_PAUSE: Final = 0.25
_LONGEST_PAUSE: Final = 4.0
_LONGEST_RETRY_AFTER: Final = 30.0
_AGAIN: Final = frozenset({429, 502, 503, 504})
_LONGEST_LINE: Final = 1 << 20
_LONGEST_BODY: Final = 16 << 20
_LONGEST_ERROR: Final = 16_384

Json = Mapping[str, Any]


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """An error status."""

    def __init__(self, status: int, body: str, retry_after: str) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.pause = float(retry_after) if retry_after.isdigit() else 0.0


def _worth_repeating(error: BaseException) -> bool:
    """Whether nothing has been done yet and it may go better in a moment."""
    if isinstance(error, _Refused):
        return error.status in _AGAIN and error.pause <= _LONGEST_RETRY_AFTER
    # A connection that was kept open may have been closed meanwhile.
    return isinstance(error, httpx.NetworkError | httpx.ConnectTimeout | httpx.RemoteProtocolError)


_BACK_OFF: Final = tenacity.wait_exponential_jitter(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE)


def _pause(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.pause if isinstance(error, _Refused) else 0.0
    return max(asked, _BACK_OFF(state))


class ServerClient:
    """One server. May be used from any thread."""

    def __init__(self, address: Address, *, silence: float, start: str) -> None:
        """Prepare; nothing is sent yet.

        Args:
            address: The only server that is talked to.
            silence: Seconds without a byte after which an answer is given up.
            start: A sentence that says how the server is started, for errors.
        """
        self.address: Final = address
        self.start: Final = start
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        headers = {"Authorization": f"Bearer {address.key}"} if address.key else {}
        self._http: Final = httpx.AsyncClient(
            headers=headers,
            follow_redirects=False,
            # A proxy from the environment must not get what is meant for this machine.
            trust_env=not address.loopback,
            timeout=httpx.Timeout(silence, connect=CONNECT_SECONDS),
        )

    def close(self) -> None:
        """Close all connections."""
        self._portal.call(self._http.aclose)
        self._stack.close()

    def ask(self, path: str, body: Json | None = None, *, model: str = "") -> dict[str, Any]:
        """Return the JSON object that the server answers: to a POST if there's a body.

        Raises:
            ErisError: As `failures` says.
        """
        return self._portal.call(self._ask, path, body, model)

    def open(self, path: str, body: Json, *, model: str) -> "Exchange":
        """Send a request whose answer arrives in lines of JSON."""
        lines: queue.SimpleQueue[dict[str, Any] | ErisError | None] = queue.SimpleQueue()
        return Exchange(lines, self._portal.start_task_soon(self._pump, path, body, model, lines))

    async def _ask(self, path: str, body: Json | None, model: str) -> dict[str, Any]:
        try:
            async for attempt in _attempts():
                with attempt:
                    response = await self._send(path, body, silence=ASK_SECONDS)
                    try:
                        return _object(await _all(response), path, self.address)
                    finally:
                        await response.aclose()
        except _Refused as error:
            raise refusal(self.address, path, error.status, error.body, model) from error
        except httpx.HTTPError as error:
            raise unreachable(self.address, error, self.start) from error
        raise AssertionError  # the last attempt raises

    async def _pump(
        self,
        path: str,
        body: Json,
        model: str,
        lines: "queue.SimpleQueue[dict[str, Any] | ErisError | None]",
    ) -> None:
        try:
            async for attempt in _attempts():
                with attempt:
                    response = await self._send(path, body)
            try:
                async for line in _lines(response):
                    lines.put(_event(line))
            finally:
                await response.aclose()
        except _Refused as error:
            lines.put(refusal(self.address, path, error.status, error.body, model))
        except httpx.RemoteProtocolError:
            lines.put(None)  # it was cut off: whoever reads misses the end
        except httpx.HTTPError as error:
            lines.put(unreachable(self.address, error, self.start))
        except ErisError as error:
            lines.put(error)
        else:
            lines.put(None)

    async def _send(
        self, path: str, body: Json | None, silence: float | None = None
    ) -> httpx.Response:
        """Return a response with a good status, its body unread."""
        request = self._http.build_request(
            "GET" if body is None else "POST",
            self.address.at(path),
            json=body,
            timeout=httpx.USE_CLIENT_DEFAULT if silence is None else silence,
        )
        response = await self._http.send(request, stream=True)
        if response.is_success:
            return response
        try:
            said = (await _all(response, _LONGEST_ERROR)).decode("utf-8", "replace")
        finally:
            await response.aclose()
        raise _Refused(response.status_code, said, response.headers.get("Retry-After", ""))


class Exchange:
    """An answer that arrives; for one thread."""

    def __init__(
        self,
        lines: "queue.SimpleQueue[dict[str, Any] | ErisError | None]",
        task: "Future[None]",
    ) -> None:
        self._lines = lines
        self._task = task
        self.over = False
        """Whether nothing more comes."""

    def next(self, within: float) -> dict[str, Any] | None:
        """Return the next piece; None if there is none within so many seconds, or any more.

        Raises:
            ErisError: The server can't be reached, refuses, or talks nonsense.
        """
        try:
            line = self._lines.get(timeout=within)
        except queue.Empty:
            if self._task.done() and self._lines.empty():
                self.over = True
                self._task.result()
            return None
        if isinstance(line, ErisError):
            self.over = True
            raise line
        if line is None:
            self.over = True
        return line

    def close(self) -> None:
        """Give up what hasn't arrived: the connection is closed."""
        self._task.cancel()


def _attempts() -> tenacity.AsyncRetrying:
    return tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        wait=_pause,
        retry=tenacity.retry_if_exception(_worth_repeating),
        reraise=True,
    )


async def _all(response: httpx.Response, limit: int = _LONGEST_BODY) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > limit:
            break
    return bytes(body[:limit])


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Cut at line feeds alone: JSON text may hold every other character that ends a line."""
    rest = b""
    async for piece in response.aiter_bytes():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if content := _content(line):
                yield content
        if len(rest) > _LONGEST_LINE:
            raise ProtocolError(f"The model server sent a line of more than {_LONGEST_LINE} bytes.")
    if content := _content(rest):
        yield content


def _content(line: bytes) -> bytes:
    """Return the JSON of a line, plain or as a server-sent event; empty for everything else."""
    line = line.strip()
    for prefix in (b"data:", b"error:"):
        if line.startswith(prefix):
            line = line.removeprefix(prefix).strip()
            break
    return line if line.startswith(b"{") else b""


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"The model server sent a line that isn't JSON: {error}.") from error
    return event if isinstance(event, dict) else {}


def _object(body: bytes, path: str, address: Address) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ProtocolError(
            f"The model server at {address} doesn't answer {path} with a JSON object.",
            hint="Check model.engine and model.url.",
        )
    return found
