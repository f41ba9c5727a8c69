"""The main function of an actor's process."""

import json
import logging
import os
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
from eris.actor._lock import ProcessLock, is_held
from eris.actor._port import Port
from eris.actor._request import Request
from eris.config import load_settings
from eris.errors import ConfigurationError, ConflictError, ErisError
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
        self.readable, self._writable = os.pipe()

    def ask(self, reason: str) -> None:
        """Ask for the end; the first reason counts."""
        self.reason = self.reason or reason
        if not self.asked.is_set():
            self.asked.set()
            # For a main thread that waits in a poll: `readable` is ready from now on.
            os.write(self._writable, b"\0")

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Signal handler."""
        self.ask(signal.Signals(number).name)


def run(actor_class: type[Actor], name: str) -> NoReturn:
    """Serve ``actor_class`` under ``name`` until the process is asked to stop; never returns."""
    stop = Stop()
    run_process(name, stop, lambda paths: _serve(actor_class, name, paths, stop))


def run_process(name: str, stop: Stop, serve: Callable[[Paths], None]) -> NoReturn:
    """Do what every process does around its work: signals, lock, exit status and its record."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop.on_signal)
    os.umask(0o077)
    code, reason = EXIT_INTERNAL, "defect"
    paths: Paths | None = None
    try:
        paths = paths_from_environment(os.environ)
        paths.create()
        with ProcessLock(paths.lock(name)):
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


def watch_supervisor(paths: Paths, stop: Stop) -> None:
    """Wait for the end; ask for it when no supervisor has been there for the grace time."""
    grace = float(os.environ.get("ERIS_ORPHAN_GRACE", ORPHAN_GRACE_SECONDS))
    last_seen = time.monotonic()
    while not stop.asked.wait(_WATCH_SECONDS if grace else None):
        if is_held(paths.lock("erisd")):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > grace:
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
    # The mailbox exists before the first message can arrive.
    mailbox.append(reference := actor_class.start(port))
    connection.start()
    # A model can take long to load; whoever wants the process to stop needn't wait for that.
    while not port.begun.done() and not stop.asked.wait(_BEGIN_POLL_SECONDS):
        pass
    if port.begun.done():
        port.begun.result()
        logger.info("started", pid=os.getpid(), incarnation=connection.incarnation)
        watch_supervisor(paths, stop)
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
