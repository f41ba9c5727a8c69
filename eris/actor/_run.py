"""The main function of an actor's process."""

import contextlib
import json
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pykka import ActorRef

from eris.actor._actor import Actor, Draining, PeerCame
from eris.actor._connection import Connection
from eris.actor._port import Port
from eris.actor._request import Request
from eris.config import load_settings
from eris.errors import ConfigurationError, ConflictError, ErisError
from eris.locks import HeldLock, holder
from eris.logs import start_logging
from eris.paths import Paths, paths_from_environment

EXIT_INTERNAL = 70
"""``EX_SOFTWARE``: the behaviour couldn't start because of a defect."""
EXIT_LOCKED = 75
"""``EX_TEMPFAIL``: another process serves this name."""
EXIT_CONFIGURATION = 78
"""``EX_CONFIG``: starting again can't help until a setting is changed."""

ORPHAN_GRACE_SECONDS = 60.0
STOP_SECONDS = 10.0
_WATCH_SECONDS = 1.0
_BEGIN_POLL_SECONDS = 0.02


class Stop:
    """Why and when the process is to stop; set by signals and by the orphan watch."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.reason = ""
        self._readable, self._writable = os.pipe()
        os.set_blocking(self._readable, False)
        os.set_blocking(self._writable, False)

    def listen(self) -> None:
        """Ask for the end when a signal says so; call it from the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        # Python runs its handlers between two instructions. A signal that comes just before a
        # wait begins would be noticed at the wait's end only, were it not for this byte.
        signal.set_wakeup_fd(self._writable, warn_on_full_buffer=False)

    def fileno(self) -> int:
        """A descriptor that is readable when something may have happened; see `drain`."""
        return self._readable

    def drain(self) -> None:
        """Take what made the descriptor readable, so that it can be waited on again."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._readable, 64)

    def wait(self, seconds: float | None) -> bool:
        """Wait at most so long; whether the end has been asked for."""
        if not self.asked.is_set() and select.select([self], [], [], seconds)[0]:
            self.drain()
        return self.asked.is_set()

    def ask(self, reason: str) -> None:
        """Ask for the end; the first reason counts."""
        self.reason = self.reason or reason
        if not self.asked.is_set():
            self.asked.set()
            with contextlib.suppress(BlockingIOError):
                os.write(self._writable, b"\0")

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.ask(signal.Signals(number).name)


def run(actor_class: type[Actor], name: str) -> NoReturn:
    """Serve ``actor_class`` under ``name`` until the process is asked to stop; never returns."""
    stop = Stop()
    run_process(name, stop, lambda paths: _serve(actor_class, name, paths, stop))


def run_process(name: str, stop: Stop, serve: Callable[[Paths], None]) -> NoReturn:
    """Do what every process does around its work: signals, lock, exit status and its record."""
    stop.listen()
    os.umask(0o077)
    code, reason = EXIT_INTERNAL, "defect"
    paths: Paths | None = None
    try:
        paths = paths_from_environment(os.environ)
        paths.create()
        with HeldLock.acquire(paths.lock(name)):
            serve(paths)
        code, reason = 0, stop.reason
    except ConfigurationError as error:
        code, reason = EXIT_CONFIGURATION, _sentence(error)
    except ConflictError as error:
        code, reason = EXIT_LOCKED, _sentence(error)
    except ErisError as error:
        reason = _sentence(error)
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        logging.getLogger("eris").exception("process-failed")
    if code:
        sys.stderr.write(f"{name}: {reason}\n")
        sys.stderr.flush()
    if paths is not None and code != EXIT_LOCKED:
        _record_exit(paths.runtime / f"exit-{name}.json", code, reason)
    # Worker threads may be in the middle of something that can't be interrupted.
    os._exit(code)


class SupervisorWatch:
    """Asks for the end when no supervisor has been there for the grace time."""

    def __init__(self, paths: Paths) -> None:
        self.grace = float(os.environ.get("ERIS_ORPHAN_GRACE", ORPHAN_GRACE_SECONDS))
        """Seconds; 0 for a process that does without a supervisor."""
        self._lock = paths.lock("erisd")
        self._looked = self._seen = time.monotonic()

    def check(self, stop: Stop) -> None:
        """Look whether the supervisor is there, at most once a second."""
        now = time.monotonic()
        if not self.grace or now - self._looked < _WATCH_SECONDS:
            return
        self._looked = now
        if holder(self._lock):
            self._seen = now
        elif now - self._seen > self.grace:
            stop.ask("no supervisor")


def _serve(
    actor_class: type[Actor],
    name: str,
    paths: Paths,
    stop: Stop,
) -> None:
    settings = load_settings(paths.vault, os.environ).settings
    logger = start_logging(name, paths.logs, settings.log_level)
    mailbox: list[ActorRef[Actor]] = []

    def deliver(mail: Request | PeerCame) -> None:
        mailbox[0].tell(mail)

    connection = Connection(
        name,
        paths.bus_socket,
        accepts=actor_class.ACCEPTS,
        deliver=deliver,
        peer_up=lambda peer, incarnation: deliver(PeerCame(peer, incarnation)),
        logger=logger,
    )
    port = Port(connection, paths, settings)
    connection.starting = True
    port.begun.add_done_callback(lambda _: setattr(connection, "starting", False))
    # The mailbox exists before the first message can arrive.
    mailbox.append(reference := actor_class.start(port))
    connection.start()
    # A model can take long to load; whoever wants the process to stop needn't wait for that.
    while not port.begun.done() and not stop.wait(_BEGIN_POLL_SECONDS):
        pass
    if port.begun.done():
        port.begun.result()
        logger.info("started", pid=os.getpid(), incarnation=connection.incarnation)
    watch = SupervisorWatch(paths)
    while not stop.wait(_WATCH_SECONDS if watch.grace else None):
        watch.check(stop)
    logger.info("draining", reason=stop.reason)
    stop_seconds = float(os.environ.get("ERIS_STOP_SECONDS", STOP_SECONDS))
    _watchdog(stop_seconds)
    connection.draining = True
    # A behaviour that was stopped while it started has nothing to save.
    if port.begun.exception(timeout=stop_seconds) is None:
        drained = reference.ask(Draining(), block=False)
        drained.get(timeout=stop_seconds)
    connection.stop(within=1.0)
    port.close()
    logger.info("stopped")


def _watchdog(seconds: float) -> None:
    """End the process by force if stopping takes longer than it may."""
    timer = threading.Timer(seconds, os._exit, (EXIT_INTERNAL,))
    timer.daemon = True
    timer.start()


def _sentence(error: ErisError) -> str:
    return f"{error.message} {error.hint}".strip()


def _record_exit(path: Path, code: int, reason: str) -> None:
    """Leave word for a supervisor that isn't the parent and so gets no exit status."""
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps({"code": code, "reason": reason, "pid": os.getpid()}))
        temporary.replace(path)
    except OSError:
        pass  # the runtime directory is gone: nobody is left who could read it
