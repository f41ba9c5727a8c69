"""Tells the surfaces about one running turn."""

from collections.abc import Callable

from actors.orchestrator.projection import SessionProjection
from proto.orchestrator import Progress, ToolCallView, TurnView


class Telling:
    """Speaks about one turn to whoever follows its session."""

    def __init__(
        self,
        projection: SessionProjection,
        turn: str,
        *,
        clock: Callable[[], float],
        queued: Callable[[], int],
    ) -> None:
        self._projection = projection
        self._turn = turn
        self._clock = clock
        self._queued = queued
        self.first_text_at = 0.0
        """When the first character of a message was told, in seconds since the epoch; 0 before."""

    def view(self, view: TurnView) -> None:
        """All of the turn as it's now."""
        self._projection.put(view)

    def call(self, call: ToolCallView) -> None:
        """A tool call began or ended."""
        self._projection.put_call(self._turn, call)

    def phase(self, phase: str, detail: str = "") -> None:
        """What the turn is doing."""
        self._progress(phase, detail=detail)

    def reading(self, detail: str = "") -> None:
        """The prompt is being read, or waits to be."""
        self._progress("waiting" if detail else "reading", detail=detail)

    def writing(self, tokens: int, tokens_per_second: float) -> None:
        """So many tokens have been written, at this speed."""
        self._progress("writing", tokens=tokens, tokens_per_second=tokens_per_second)

    def said(self, thought: str, message: str) -> None:
        """More of the thought and of the message."""
        if thought:
            self._projection.add_thought(self._turn, thought)
        if message:
            self.first_text_at = self.first_text_at or self._clock()
            self._projection.add_message(self._turn, message)

    def again(self) -> None:
        """What was said of this answer is void: it begins anew."""
        self._projection.clear(self._turn)

    def _progress(
        self, phase: str, *, detail: str = "", tokens: int = 0, tokens_per_second: float = 0
    ) -> None:
        self._projection.tell(
            Progress(
                turn=self._turn,
                phase=phase,
                detail=detail,
                tokens=tokens,
                tokens_per_second=round(tokens_per_second, 1),
                queued=self._queued(),
            )
        )
