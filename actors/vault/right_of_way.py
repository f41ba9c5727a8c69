"""Somebody waits for a step, nobody for the index in the background: the step goes first.

Both are Python in one process, so that a pass over thousands of notes beside a step would make that
take twice as long; and what the step changes, the pass would have to look at again.
"""

import contextlib
import threading
from collections.abc import Iterator

LONGEST_WAIT_SECONDS = 5.0
"""How long work in the background waits at most each time, however many steps there are."""


class RightOfWay:
    """Lets work in the background wait while a step is carried out; thread-safe."""

    def __init__(self, longest_wait: float = LONGEST_WAIT_SECONDS) -> None:
        """Create it.

        Args:
            longest_wait: Seconds that `give_way` takes at most.
        """
        self._longest_wait = longest_wait
        self._free = threading.Event()
        self._free.set()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Go first until the ``with`` statement ends; only one may at a time."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def give_way(self) -> None:
        """Wait until nobody goes first, but not for ever. Hold no lock meanwhile."""
        self._free.wait(self._longest_wait)
