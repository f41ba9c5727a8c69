"""The pump: a connection's socket, and the thread that receives from it.

Whoever has something to send does it on its own thread if the socket is free, for waking another
thread takes longer than sending. The socket is touched under a lock only, and nobody waits with
the lock held: the pump sleeps on the socket's file descriptor, which tells of changes and not of
states (zmq_getsockopt(3), ZMQ_FD), so whoever has used the socket looks whether something has
arrived meanwhile.
"""

import contextlib
import os
import select
import threading
import time
from collections import deque
from typing import Protocol

import msgspec
import zmq
from zmq.utils.monitor import parse_monitor_message

from eris.logs import Logger

Frames = tuple[bytes, bytes]
"""Head and body of a message."""

QUICK_TICK_SECONDS = 0.25
"""The owner's `tick` is called within this time after a `wake`."""

_RECONNECT_MS = 10
_LONGEST_RECONNECT_MS = 40
_LINGER_MS = 300
_SEND_QUEUE = 4096


class Curve(msgspec.Struct, frozen=True):
    """Keys for a connection to another machine, each 40 characters of Z85."""

    server_public: str
    public: str
    secret: str


class Owner(Protocol):
    """Whom a pump works for. Everything here is called on the pump's thread."""

    log: Logger

    def connected(self) -> None:
        """The socket has found the bus."""

    def disconnected(self) -> None:
        """The bus is gone; ZeroMQ looks for it again by itself."""

    def received(self, frames: list[bytes]) -> None:
        """A message has arrived."""

    def tick(self, now: float) -> float:
        """Do what is due at ``now``; return the seconds until it should be done again."""


class Pump:
    """Sends what is posted, hands over what arrives, and keeps the owner's time."""

    def __init__(self, name: str, owner: Owner) -> None:
        self._name = name
        self._owner = owner
        self._outbox: deque[Frames] = deque()
        """What couldn't be sent at once. While there is something, all else queues behind it."""
        self._socket: zmq.Socket[bytes] | None = None
        self._lock = threading.Lock()
        self._sleeping = False
        self._stopping = False
        self._next_tick = 0.0
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._thread: threading.Thread | None = None

    def start(self, endpoint: str, routing_id: str, curve: Curve | None) -> None:
        """Connect, in the pump's own thread."""
        self._thread = threading.Thread(
            target=self._run,
            args=(endpoint, routing_id, curve),
            name=f"pump-{self._name}",
            daemon=True,
        )
        self._thread.start()

    def stop(self, within: float) -> None:
        """Send what is waiting, for at most ``within`` seconds, and disconnect."""
        self._stopping = True
        self.wake()
        thread = self._thread
        if thread is not None and thread.is_alive() and threading.current_thread() is not thread:
            thread.join(within)

    def post(self, frames: Frames) -> None:
        """Have a message sent; from any thread."""
        if self._lock.acquire(blocking=False):
            try:
                socket = self._socket
                if socket is not None and not self._outbox and _sent(socket, frames):
                    if _events(socket) & zmq.POLLIN:
                        self.wake()
                    return
                self._outbox.append(frames)
            finally:
                self._lock.release()
        else:
            self._outbox.append(frames)
        self.wake()

    def wake(self) -> None:
        """Have the owner's tick called soon; from any thread."""
        if self._sleeping:
            self._sleeping = False
            # Full means that the pump is being woken already; closed, that it's gone.
            with contextlib.suppress(OSError):
                os.write(self._wake_write, b"\0")

    def soon(self) -> None:
        """Have the owner's tick called soon; from the pump's own thread."""
        self._next_tick = min(self._next_tick, time.monotonic() + QUICK_TICK_SECONDS)

    def _run(self, endpoint: str, routing_id: str, curve: Curve | None) -> None:
        context = zmq.Context()
        socket = context.socket(zmq.DEALER)
        monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
        try:
            _configure(socket, routing_id, curve)
            socket.connect(endpoint)
            with self._lock:
                self._socket = socket
            self._loop(socket, monitor)
        except Exception:
            self._owner.log.exception("pump-failed")
            raise
        finally:
            with self._lock:
                self._socket = None
            socket.disable_monitor()
            monitor.close(linger=0)
            socket.close(linger=_LINGER_MS)
            context.term()
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _loop(self, socket: zmq.Socket[bytes], monitor: zmq.Socket[bytes]) -> None:
        # select.poll, since zmq's poller would use the socket while others do.
        poller = select.poll()
        monitor_fd = int(monitor.getsockopt(zmq.FD))
        for descriptor in (int(socket.getsockopt(zmq.FD)), monitor_fd, self._wake_read):
            poller.register(descriptor, select.POLLIN)
        self._on_monitor(monitor)  # a descriptor tells of nothing before it was looked at once
        while True:
            blocked = not self._flush(socket)
            now = time.monotonic()
            if now >= self._next_tick:
                self._next_tick = now + self._owner.tick(now)
            # From here on whoever posts wakes us; what was posted before is seen below.
            self._sleeping = True
            if self._stopping and (not self._outbox or blocked):
                return
            with self._lock:
                events = _events(socket)
                frames = socket.recv_multipart(zmq.NOBLOCK) if events & zmq.POLLIN else None
            if frames is not None:
                self._sleeping = False
                self._owner.received(frames)
                continue
            if self._outbox and (not blocked or events & zmq.POLLOUT):
                self._sleeping = False
                continue
            ready = {fd for fd, _ in poller.poll(max(0, int((self._next_tick - now) * 1000)))}
            self._sleeping = False
            if self._wake_read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
                self.soon()  # A stream may have been opened that wants a quicker tick.
            if monitor_fd in ready:
                self._on_monitor(monitor)

    def _flush(self, socket: zmq.Socket[bytes]) -> bool:
        """Send what waits; False if the socket can't take more now."""
        outbox = self._outbox
        while outbox:
            with self._lock:
                if not _sent(socket, outbox[0]):
                    return False
                outbox.popleft()
        return True

    def _on_monitor(self, monitor: zmq.Socket[bytes]) -> None:
        while monitor.poll(0):
            event = parse_monitor_message(monitor.recv_multipart())["event"]
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._owner.connected()
            else:
                self._owner.disconnected()


def _sent(socket: zmq.Socket[bytes], frames: Frames) -> bool:
    """Send a message, unless the socket can't take it now."""
    try:
        socket.send_multipart(frames, zmq.NOBLOCK, copy=True)
    except zmq.Again:
        return False
    return True


def _events(socket: zmq.Socket[bytes]) -> int:
    """Return what the socket is ready for; only asking for it keeps its descriptor telling."""
    return int(socket.getsockopt(zmq.EVENTS))


def _configure(socket: zmq.Socket[bytes], routing_id: str, curve: Curve | None) -> None:
    socket.setsockopt(zmq.ROUTING_ID, routing_id.encode())
    socket.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MS)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, _LONGEST_RECONNECT_MS)
    socket.setsockopt(zmq.SNDHWM, _SEND_QUEUE)
    socket.setsockopt(zmq.RCVHWM, _SEND_QUEUE)
    if curve is not None:
        socket.setsockopt_string(zmq.CURVE_SERVERKEY, curve.server_public)
        socket.setsockopt_string(zmq.CURVE_PUBLICKEY, curve.public)
        socket.setsockopt_string(zmq.CURVE_SECRETKEY, curve.secret)
        socket.setsockopt(zmq.HEARTBEAT_IVL, 2000)
        socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 6000)
