"""Work that is done in the background, again and again, whenever there's a reason to."""

import threading
from collections.abc import Callable

from eris.errors import ErisError
from eris.logs import Logger

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""Seconds after a failure until it's tried again: doubled each time, up to this."""


class Errand:
    """One kind of work on a thread of its own.

    What fails is tried again after a growing pause, or as soon as somebody wakes it: the other
    actors come and go, and nothing that is done here is lost by being late.
    """

    def __init__(self, name: str, work: Callable[[], float | None], log: Logger) -> None:
        """Create it; `start` starts it.

        Args:
            name: Of the thread.
            work: Does it. Returns after how many seconds it wants to be called again, or None if
                it doesn't, unless woken.
            log: Where failures are told.
        """
        self._name = name
        self._work = work
        self._log = log
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def stopping(self) -> bool:
        """Whether the work should come to an end soon."""
        return self._stopped.is_set()

    def start(self) -> None:
        """Begin, with a first call."""
        self._thread.start()

    def wake(self) -> None:
        """There's something to do, or may be."""
        self._woken.set()

    def stop(self) -> None:
        """Let it end after the call under way."""
        self._stopped.set()
        self._woken.set()

    def join(self, within: float) -> bool:
        """Wait so many seconds for its end; whether it came."""
        if self._thread.is_alive():
            self._thread.join(within)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failed = FIRST_PAUSE
        while not self.stopping:
            self._woken.clear()
            pause: float | None
            try:
                pause = self._work()
                failed = FIRST_PAUSE
            except ErisError as error:
                self._log.info("not-now", errand=self._name, code=error.code, error=error.message)
                pause, failed = failed, min(failed * 2, LONGEST_PAUSE)
            except Exception as error:  # noqa: BLE001 - see below
                # A defect: the actor lives on, and says in `eris status` what it can't do.
                self._log.exception("errand-broke", errand=self._name, error=repr(error))
                pause, failed = failed, min(failed * 2, LONGEST_PAUSE)
            if not self.stopping:
                self._woken.wait(pause)
