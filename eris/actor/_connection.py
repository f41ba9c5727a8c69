"""The connection of a process to the bus: requests, streams and subscriptions both ways."""

import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import msgspec

from eris.actor._pending import Answer, AnswerLog, PendingRequest
from eris.actor._pump import QUICK_TICK_SECONDS, Curve, Frames, Pump
from eris.actor._request import Request, error_body
from eris.actor._streams import StreamReader, StreamWriter
from eris.actor._topic import Topic
from eris.codec import decode_body, decode_head, encode, schema_digest, tag_of
from eris.errors import ErisError, InvalidError, NotFoundError, ProtocolError
from eris.logs import Logger, SilentLogger
from proto.control import Control, Credit, Hello, PeerUp, Ping, Pong, Resume, Subscribe, Welcome
from proto.envelope import DEFAULT_BUDGET_MS, PROTOCOL_VERSION, Head, Kind
from proto.errors import ErrorBody, ErrorCode
from proto.rights import role_of

BUS = "bus"

MAILBOX_LIMIT = 256
"""Requests that may wait in front of a behaviour; more are refused with ``busy``."""

_HELLO_AGAIN_SECONDS = 1.0
_IDLE_TICK_SECONDS = 5.0
_REJOIN_SECONDS = 2.0
"""After a restart of the bus others may say hello later than we do: so long nobody is missing."""

_PING, _SUBSCRIBE = tag_of(Ping), tag_of(Subscribe)

Deliver = Callable[[Request], None]


class Connection:
    """One peer on the bus. Use it as a context manager, or call `start` and `stop`.

    Everything public may be called from any thread.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        *,
        accepts: Any = None,
        deliver: Deliver | None = None,
        peer_up: Callable[[str, int], None] | None = None,
        curve: Curve | None = None,
        logger: Logger | None = None,
    ) -> None:
        """Create a connection that isn't open yet.

        Args:
            name: The name to serve, such as ``vault`` or ``console.4f2a``.
            endpoint: ZeroMQ endpoint of the bus.
            accepts: The message types of requests taken here; None refuses every request.
            deliver: Takes each request, on the pump thread: must return at once.
            peer_up: Told of every new incarnation of an actor, on the pump thread.
            curve: Keys, for a ``tcp://`` endpoint.
            logger: Where to log.
        """
        if role_of(name) == BUS:
            raise InvalidError(f"{name!r} can't be a peer's name: it's the bus's own.")
        self.name = name
        self.incarnation = time.time_ns()
        self.endpoint = endpoint
        self.log: Logger = logger or SilentLogger()
        self.welcomed = threading.Event()
        """Set while the bus has acknowledged this connection."""
        self.starting = False
        """While set, a topic that isn't there may still come: the subscriber is asked to wait."""
        self.draining = False
        """When set, every new request is refused with ``draining``."""
        self.dropped: Counter[str] = Counter()
        self.handled = 0
        self.failed = 0
        self.note = ""
        self._accepts = accepts
        self._deliver = deliver
        self._peer_up = peer_up
        self._curve = curve
        self._phases: list[tuple[str, float]] = []
        self._topics: dict[str, Topic] = {}
        self._next_id = secrets.randbits(48)
        self._id_lock = threading.Lock()
        self._pending: dict[int, PendingRequest] = {}
        self._reading: dict[int, tuple[StreamReader[Any], Frames]] = {}
        self._writing: dict[tuple[str, int], StreamWriter] = {}
        self._working: dict[tuple[str, int], Request] = {}
        self._answers = AnswerLog()
        self._known: dict[str, int] = {}
        self._was_welcomed = False
        self._rejoined_at = -_REJOIN_SECONDS
        self._again: list[Frames] = []
        self._hello_at = 0.0
        self._pump = Pump(name, self)

    def start(self) -> None:
        """Open the connection; returns at once, `welcomed` says when the bus has answered."""
        self._pump.start(self.endpoint, f"{self.name}/{self.incarnation}", self._curve)

    def stop(self, within: float = 2.0) -> None:
        """Send what is waiting, for at most ``within`` seconds, and close."""
        self._pump.stop(within)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # Sending, from any thread.

    def new_id(self) -> int:
        """Return a message id never used before by this incarnation."""
        with self._id_lock:
            self._next_id += 1
            return self._next_id

    def send(
        self,
        dst: str,
        kind: Kind,
        body: msgspec.Struct | bytes,
        *,
        tag: str = "",
        corr: int = 0,
        seq: int = 0,
        budget_ms: int = DEFAULT_BUDGET_MS,
        trace: str = "",
    ) -> None:
        """Send a message; see `Outgoing`."""
        if isinstance(body, bytes):
            data = body
        else:
            data, tag = encode(body), tag_of(body)
        head = self._head(dst, kind, tag, self.new_id(), corr, budget_ms, trace, seq)
        self._pump.post((encode(head), data))

    def request(
        self, dst: str, body: msgspec.Struct, budget_ms: int, trace: str = ""
    ) -> tuple[int, PendingRequest]:
        """Send a request and return its id and the place where its answer will arrive."""
        request_id, frames = self._new_request(dst, body, budget_ms, trace)
        pending = PendingRequest(dst, frames)
        self._pending[request_id] = pending
        self._pump.post(frames)
        return request_id, pending

    def abandon(self, request_id: int) -> None:
        """Stop waiting for an answer."""
        self._pending.pop(request_id, None)

    def open(
        self,
        dst: str,
        body: msgspec.Struct,
        *,
        item: Any,
        result: type[Any] | None,
        budget_ms: int,
        trace: str = "",
    ) -> StreamReader[Any]:
        """Send a request that is answered by a stream."""
        request_id, frames = self._new_request(dst, body, budget_ms, trace)
        reader: StreamReader[Any] = StreamReader(dst, request_id, self, item, result)
        self._reading[request_id] = (reader, frames)
        self._pump.post(frames)
        self._pump.wake()  # it keeps the reader's time
        return reader

    def topic(self, name: str, snapshot: Callable[[], msgspec.Struct]) -> Topic:
        """Return the topic of that name, made on first use."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics.setdefault(name, Topic(name, snapshot))
        return topic

    def push_phase(self, phase: str) -> tuple[str, float]:
        """From now on pings are answered on behalf of a busy behaviour."""
        entry = (phase, time.monotonic())
        self._phases.append(entry)
        # A ping may have reached the mailbox just before its owner became busy.
        for request in list(self._working.values()):
            if isinstance(request.body, Ping):
                request.reply(self.pong())
        return entry

    def pop_phase(self, entry: tuple[str, float]) -> None:
        """The behaviour is no longer busy with that."""
        self._phases.remove(entry)

    def pong(self) -> Pong:
        """Return the sign of life that a ping is answered with."""
        phase, since = self._phases[-1] if self._phases else ("", 0.0)
        state = "draining" if self.draining else "busy" if phase else "ready"
        return Pong(
            state=state,
            phase=phase,
            busy_ms=int((time.monotonic() - since) * 1000) if phase else 0,
            mailbox=max(0, self.waiting - 1),  # the ping itself doesn't count
            streams=sum(writer.open for writer in list(self._writing.values())),
            handled=self.handled,
            failed=self.failed,
            dropped=dict(self.dropped),
            note=self.note,
        )

    def remember_stream(self, writer: StreamWriter) -> None:
        """See `Outgoing`."""
        self._writing[writer.key] = writer
        self._pump.wake()

    def forget_request(
        self, src: str, request_id: int, answer: bytes, tag: str, kind: Kind
    ) -> None:
        """See `Outgoing`."""
        self._working.pop((src, request_id), None)
        self._answers.keep(src, request_id, Answer(kind, tag, answer, self.name))

    def forget_stream(self, peer: str, request_id: int) -> None:
        """See `Outgoing`: a reading or a writing stream is over."""
        self._reading.pop(request_id, None)
        self._writing.pop((peer, request_id), None)
        self._working.pop((peer, request_id), None)

    @property
    def waiting(self) -> int:
        """Requests delivered and not yet answered, streams not counted."""
        return max(0, len(self._working) - len(self._writing))

    def _new_request(
        self, dst: str, body: msgspec.Struct, budget_ms: int, trace: str
    ) -> tuple[int, Frames]:
        request_id = self.new_id()
        kind = Kind.PING if isinstance(body, Ping) else Kind.REQUEST
        head = self._head(dst, kind, tag_of(body), request_id, 0, budget_ms, trace, 0)
        return request_id, (encode(head), encode(body))

    def _head(
        self,
        dst: str,
        kind: Kind,
        tag: str,
        message_id: int,
        corr: int,
        budget_ms: int,
        trace: str,
        seq: int,
    ) -> Head:
        return Head(
            PROTOCOL_VERSION,
            kind,
            tag,
            message_id,
            corr,
            self.name,
            dst,
            self.incarnation,
            budget_ms,
            trace,
            seq,
        )

    # What follows is called by the pump.

    def connected(self) -> None:
        """See `Owner`."""
        self._say_hello()
        self._pump.soon()  # Until it's acknowledged.

    def disconnected(self) -> None:
        """See `Owner`."""
        self.welcomed.clear()

    def received(self, frames: list[bytes]) -> None:
        """See `Owner`."""
        try:
            self._on_frames(frames)
        except ProtocolError as error:
            self.dropped["bad-message"] += 1
            self.log.warning("bad-message", error=error.message)

    def _say_hello(self) -> None:
        self._hello_at = time.monotonic()
        self.send(BUS, Kind.CONTROL, Hello(schema=schema_digest(), pid=os.getpid()))

    def tick(self, now: float) -> float:
        """See `Owner`."""
        again, self._again = self._again, []
        for frames in again:
            self._pump.post(frames)
        for reader, _ in list(self._reading.values()):
            reader.tick(now)
        for writer in list(self._writing.values()):
            writer.tick(now)
        if (
            not self.welcomed.is_set()
            and self._hello_at
            and (now - self._hello_at > _HELLO_AGAIN_SECONDS)
        ):
            self._say_hello()
        waits = self._reading or self._writing or self._pending or not self.welcomed.is_set()
        return QUICK_TICK_SECONDS if waits else _IDLE_TICK_SECONDS

    def _on_frames(self, frames: list[bytes]) -> None:
        if len(frames) != 2:  # noqa: PLR2004 - head and body
            raise ProtocolError(f"A message has {len(frames)} frames instead of 2.")
        head = decode_head(frames[0])
        match head.kind:
            case Kind.REQUEST | Kind.PING:
                self._on_request(head, frames[1])
            case Kind.REPLY | Kind.ITEM | Kind.END | Kind.EVENT:
                self._on_answer(head, frames[1])
            case Kind.ERROR:
                self._on_error(head, frames[1])
            case Kind.CANCEL:
                self._on_cancel(head)
            case Kind.CONTROL:
                self._on_control(head, decode_body(frames[1], Control, head.type))
            case _:
                raise ProtocolError(f"{head.src} sent a message of the unknown kind {head.kind}.")

    def _on_request(self, head: Head, data: bytes) -> None:
        key = (head.src, head.id)
        if key in self._working:
            return  # repeated after a restart of the bus: it's being worked on
        earlier = self._answers.get(head)
        if earlier is not None:
            self.send(head.src, earlier.kind, earlier.data, tag=earlier.tag, corr=head.id)
            return
        if head.budget_ms <= 0:
            self.dropped["expired"] += 1
            return
        try:
            request = Request(head, self._decode_request(head, data), self)
        except ErisError as error:
            self._refuse(head, error)
            return
        self._working[key] = request
        if isinstance(request.body, Subscribe):
            self._on_subscribe(request, request.body)
        elif isinstance(request.body, Ping) and (self._phases or self._deliver is None):
            request.reply(self.pong())
        elif self._deliver is not None:
            self._deliver(request)

    def _decode_request(self, head: Head, data: bytes) -> Any:
        if head.type == _PING:
            return decode_body(data, Ping, head.type)
        if self.draining:
            raise ErisError(
                f"{self.name} is shutting down.", code=ErrorCode.DRAINING, retryable=True
            )
        if head.type == _SUBSCRIBE:
            return decode_body(data, Subscribe, head.type)
        if self._accepts is None:
            raise ProtocolError(f"{self.name} takes no requests.")
        if len(self._working) >= MAILBOX_LIMIT:
            self.dropped["busy"] += 1
            raise ErisError(
                f"{self.name} has {MAILBOX_LIMIT} requests waiting already.",
                hint="Try again in a moment.",
                code=ErrorCode.BUSY,
                retryable=True,
            )
        return decode_body(data, self._accepts, head.type)

    def _refuse(self, head: Head, error: ErisError) -> None:
        self.log.info("refused", sender=head.src, type=head.type, error=error.message)
        self.send(head.src, Kind.ERROR, error_body(error), corr=head.id, trace=head.trace)

    def _on_subscribe(self, request: Request, body: Subscribe) -> None:
        topic = self._topics.get(body.topic)
        if topic is None and self.starting:
            request.fail(
                ErisError(f"{self.name} is still starting.", code=ErrorCode.LOADING, retryable=True)
            )
            return
        if topic is None:
            request.fail(
                NotFoundError(
                    f"{self.name} has no topic {body.topic!r}.",
                    hint="Open the session first.",
                )
            )
            return
        topic.subscribe(request.stream())

    def _on_answer(self, head: Head, data: bytes) -> None:
        pending = self._pending.pop(head.corr, None)
        if pending is not None:
            pending.arrived.put(Answer(Kind(head.kind), head.type, data, head.src))
            return
        reading = self._reading.get(head.corr)
        if reading is not None and head.kind != Kind.REPLY:
            reading[0].arrive(head, data)

    def _on_error(self, head: Head, data: bytes) -> None:
        if head.src == BUS:
            self._on_dead_letter(head, data, decode_body(data, ErrorBody, head.type))
        elif head.corr in self._pending:
            self._on_answer(head, data)
        elif (reading := self._reading.get(head.corr)) is not None:
            reading[0].arrive(head, data)

    def _on_dead_letter(self, head: Head, data: bytes, error: ErrorBody) -> None:
        now = time.monotonic()
        rejoining = (
            error.code == ErrorCode.UNREACHABLE and now - self._rejoined_at < _REJOIN_SECONDS
        )
        pending = self._pending.get(head.corr)
        if pending is not None:
            if rejoining:
                self._repeat(pending.frames)
            else:
                self._on_answer(head, data)
            return
        writer = self._writing.get((str(error.details.get("dst", "")), head.corr))
        if writer is not None:
            writer.park(now)
            return
        reading = self._reading.get(head.corr)
        if reading is not None:
            # Credit and cancels that got lost are sent again with the next probe.
            if error.details.get("kind") == Kind.REQUEST and rejoining:
                self._repeat(reading[1])
            elif error.details.get("kind") == Kind.REQUEST or not error.retryable:
                reading[0].lose(error)
            else:
                reading[0].unreachable(now)
            return
        self.dropped["dead-letter"] += 1

    def _repeat(self, frames: Frames) -> None:
        """Send a request again in a moment: whom it's for may say hello until then."""
        self._again.append(frames)
        self._pump.soon()

    def _on_cancel(self, head: Head) -> None:
        request = self._working.get((head.src, head.corr))
        if request is None:
            return
        request.cancel()
        if isinstance(request.body, Subscribe):
            # Nobody else will end a subscription; without this each one would stay for ever.
            request.stream().give_up()

    def _on_control(self, head: Head, body: Any) -> None:
        match body:
            case Welcome(peers=peers):
                self._on_welcome(peers)
            case PeerUp(name=name, incarnation=incarnation):
                self._on_peer(name, incarnation)
            case Credit(upto=upto):
                writer = self._writing.get((head.src, head.corr))
                if writer is not None:
                    writer.acknowledge(upto)
            case Resume(start=start):
                self._on_resume(head, start)
            case _:
                raise ProtocolError(f"{head.src} sent {head.type} where only connections talk.")

    def _on_resume(self, head: Head, start: int) -> None:
        writer = self._writing.get((head.src, head.corr))
        if writer is not None:
            writer.resume(start)
        elif (head.src, head.corr) not in self._working:
            self.send(
                head.src,
                Kind.ERROR,
                ErrorBody(
                    code=ErrorCode.STREAM_UNKNOWN,
                    message=f"{self.name} doesn't know that stream: it was restarted.",
                    retryable=True,
                ),
                corr=head.corr,
                seq=start,
            )

    def _on_welcome(self, peers: dict[str, int]) -> None:
        first, self._was_welcomed = not self._was_welcomed, True
        self.welcomed.set()
        for name, incarnation in peers.items():
            self._on_peer(name, incarnation)
        if first:
            return
        # The bus was restarted, or we were cut off: what was on its way may be lost.
        self._rejoined_at = time.monotonic()
        for pending in list(self._pending.values()):
            self._pump.post(pending.frames)
        for reader, frames in list(self._reading.values()):
            if reader.untouched:
                self._pump.post(frames)
            reader.resume()
        for writer in list(self._writing.values()):
            writer.resume(0)

    def _on_peer(self, name: str, incarnation: int) -> None:
        before = self._known.get(name, 0)
        if name == self.name or incarnation <= before:
            return
        self._known[name] = incarnation
        if before:
            self._lose_peer(name, incarnation)
        if self._peer_up is not None:
            self._peer_up(name, incarnation)

    def _lose_peer(self, name: str, incarnation: int) -> None:
        error = ErrorBody(
            code=ErrorCode.PEER_RESTARTED, message=f"{name} was restarted.", retryable=True
        )
        for request_id, pending in list(self._pending.items()):
            if pending.dst == name and self._pending.pop(request_id, None) is not None:
                pending.arrived.put(Answer(Kind.ERROR, tag_of(error), encode(error), name))
        for reader, _ in list(self._reading.values()):
            if reader.dst == name:
                reader.lose(error)
        for writer in list(self._writing.values()):
            if writer.key[0] == name and writer.incarnation < incarnation:
                writer.give_up()
        for (asker, _), request in list(self._working.items()):
            if asker == name and request.head.incarnation < incarnation:
                request.cancel()
