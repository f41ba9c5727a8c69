"""From the generating thread to the stream, without ever waiting for the receiver.

A receiver that takes its time would otherwise hold up the model for everybody else. What piles up
is joined into larger pieces; it's bounded by the length of one answer.
"""

import threading
from typing import Final

import msgspec

from actors.inference.generation import Statistics
from eris.actor import StreamWriter
from eris.errors import CancelledWorkError
from proto.inference import Chunk, Prefilled, TokenCounts


class Delivery:
    """Listens to one generation and feeds one stream, on a thread of its own."""

    def __init__(self, writer: StreamWriter, counts: TokenCounts) -> None:
        self._writer: Final = writer
        self._counts = counts
        self._changed = threading.Condition()
        self._prefilled: Prefilled | None = None
        self._thought = ""
        self._thought_tokens = 0
        self._removed = 0
        self._text = ""
        self._tokens = 0
        self._end: msgspec.Struct | Exception | None = None
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
        self._thread.start()

    def prefilled(self, statistics: Statistics) -> None:
        """The prompt has been read."""
        with self._changed:
            self._prefilled = Prefilled(
                counts=self._counts,
                cached_tokens=statistics.cached_tokens,
                prefilled_tokens=statistics.prefilled_tokens,
                seconds=statistics.prefill_seconds,
            )
            self._changed.notify()

    def thought(self, text: str, tokens: int) -> None:
        """Some more reasoning; ``tokens`` of it so far."""
        with self._changed:
            self._thought += text
            self._thought_tokens = tokens
            self._changed.notify()

    def text(self, text: str, tokens: int, removed: int = 0) -> None:
        """Some more text; ``tokens`` is the number generated so far."""
        with self._changed:
            waiting = len(self._text)
            self._removed += max(removed - waiting, 0)
            self._text = self._text[: max(waiting - removed, 0)] + text
            self._tokens = tokens
            self._changed.notify()

    def end(self, result: msgspec.Struct | Exception) -> None:
        """End the stream with a result or an error, after everything else."""
        with self._changed:
            self._end = result
            self._changed.notify()

    def join(self, within: float) -> None:
        """Wait until everything has been handed to the stream."""
        self._thread.join(within)

    def _run(self) -> None:
        try:
            while self._deliver():
                pass
        except CancelledWorkError:
            self._finish(self._wait_for_end())

    def _deliver(self) -> bool:
        """Send what there is; False after the end."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._prefilled or self._thought or self._text or self._removed or self._end
            )
            prefilled, end = self._prefilled, self._end
            thought = Chunk(text=self._thought, tokens=self._thought_tokens, thinking=True)
            chunk = Chunk(text=self._text, tokens=self._tokens, removed=self._removed)
            self._prefilled, self._thought, self._text, self._removed = None, "", "", 0
        if prefilled is not None:
            self._writer.put(prefilled)
        if thought.text:
            self._writer.put(thought)
        if chunk.text or chunk.removed:
            self._writer.put(chunk)
        if end is not None:
            self._finish(end)
        return end is None

    def _wait_for_end(self) -> msgspec.Struct | Exception:
        """The receiver wants no more items; it still gets the end, for its numbers."""
        with self._changed:
            while self._end is None:
                self._changed.wait()
            return self._end

    def _finish(self, end: msgspec.Struct | Exception) -> None:
        if isinstance(end, Exception):
            self._writer.fail(end)
        else:
            self._writer.end(end)
