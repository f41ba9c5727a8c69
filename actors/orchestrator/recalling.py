"""Asks the memory for what belongs into a turn, and follows the core memory.

A turn never waits for long and never fails for it: without the memory it goes on with what the
user says alone.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTimeError

from eris.actor import Port
from eris.errors import ErisError
from proto.memory import Core, Recall, Recalled

RECALL_SECONDS = 1.0
"""How long a turn waits for what is recalled."""

FIRST_CORE_SECONDS = 2.0
"""How long the first turn waits for the core memory."""

CORE_TOPIC = "core"
"""Topic of the memory whose events are `Core`."""

_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class CoreMemory:
    """The core memory as it is now."""

    def __init__(self, port: Port) -> None:
        """Begin to follow it."""
        self._port = port
        self._text = ""
        self._known = threading.Event()
        threading.Thread(target=self._follow, name="core-memory", daemon=True).start()

    def text(self, within: float) -> str:
        """Return it; empty if there's none, or if it isn't known within so many seconds."""
        self._known.wait(min(within, FIRST_CORE_SECONDS))
        # Waited for once: a memory that doesn't start must not slow down every turn.
        self._known.set()
        return self._text

    def _follow(self) -> None:
        pause = _PAUSE
        while True:
            try:
                for core in self._port.subscribe("memory", CORE_TOPIC, item=Core):
                    self._text = core.text
                    self._known.set()
                    pause = _PAUSE
            except ErisError as error:
                self._port.log.info("no-core-memory", code=error.code, error=error.message)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


class Recalling:
    """What is recalled for one turn, asked for in the background while other things are done."""

    def __init__(self, port: Port, request: Recall, trace: str) -> None:
        """Ask for it."""
        self._port = port
        self._begun = time.monotonic()
        self._asked: Future[Recalled] | None = None
        try:
            self._asked = port.submit(
                lambda: port.ask("memory", request, Recalled, within=RECALL_SECONDS, trace=trace)
            )
        except ErisError as error:  # Too busy for what isn't needed.
            port.log.info("nothing-recalled", code=error.code)

    def result(self, cancelled: Callable[[], None]) -> Recalled:
        """Return what was recalled; nothing if it isn't there in time.

        Args:
            cancelled: Raises if the turn was stopped.
        """
        cancelled()
        if self._asked is None:
            return Recalled()
        remaining = RECALL_SECONDS - (time.monotonic() - self._begun)
        try:
            return self._asked.result(max(0.0, remaining))
        except (ErisError, NotInTimeError) as error:
            self._port.log.info("nothing-recalled", error=repr(error))
            return Recalled()
