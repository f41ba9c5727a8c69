"""Sessions: one turn at a time in each, the others wait in order.

Sessions don't wait for each other. What waits is in the journal too, so that nothing accepted is
lost with this process.
"""

import threading
from collections import deque
from dataclasses import dataclass

from actors.orchestrator.cancellation import Cancellation
from actors.orchestrator.journal import TurnRecord
from actors.orchestrator.projection import LATEST, SessionProjection
from actors.orchestrator.steps import FinishedStep
from actors.orchestrator.telling import Telling
from actors.orchestrator.turn import Surroundings, TurnRun
from actors.orchestrator.views import view_of
from eris.errors import NotFoundError
from proto.errors import ErrorCode
from proto.orchestrator import Progress, TurnState, TurnView

SUSPEND_SECONDS = 3.0
"""How long the end of the process waits for a turn to let go."""


@dataclass(frozen=True)
class _Running:
    record: TurnRecord
    cancellation: Cancellation


class Session:
    """One conversation. Every method may be called from any thread."""

    def __init__(self, name: str, surroundings: Surroundings, *, held: bool) -> None:
        """Make the session's topic known.

        Args:
            name: The session's name.
            surroundings: What its turns need.
            held: Turns only wait, until `release`.
        """
        self.name = name
        self._around = surroundings
        self._lock = threading.RLock()
        self._waiting: deque[TurnRecord] = deque()
        self._running: _Running | None = None
        self._thread: threading.Thread | None = None
        self._held = held
        self._projection = SessionProjection(surroundings.port, name, self._load)

    @property
    def waiting(self) -> int:
        """Turns that haven't begun."""
        return len(self._waiting)

    def enqueue(self, record: TurnRecord) -> None:
        """Take a journalled turn; it runs when those before it have ended."""
        with self._lock:
            self._waiting.append(record)
            steps = self._around.journal.steps(record.turn)
            self._projection.put(view_of(record, steps))
            if self._held:
                detail = "for the other parts of Eris to start"
                self._projection.tell(
                    Progress(
                        turn=record.turn,
                        phase="waiting",
                        detail=detail,
                        queued=len(self._waiting) - 1,
                    )
                )
            self._work_on()

    def release(self) -> None:
        """Let the turns run."""
        with self._lock:
            self._held = False
            self._work_on()

    def cancel(self, turn: str) -> None:
        """End a turn, running or waiting; an empty id means the running one.

        One that has ended already stays as it is.

        Raises:
            NotFoundError: The session has no such turn.
        """
        with self._lock:
            if self._running is not None and turn in {"", self._running.record.turn}:
                self._running.cancellation.cancel()
                return
            waiting = next((record for record in self._waiting if record.turn == turn), None)
            if waiting is not None:
                self._waiting.remove(waiting)
                self._end_unbegun(waiting)
                return
        if turn and self._around.journal.find(turn) is None:
            raise NotFoundError(
                f"The session {self.name!r} has no turn {turn!r}.",
                hint="Cancel without an id to stop the running one.",
            )

    def suspend(self) -> None:
        """Stop, to go on after the next start; waits a moment for the running turn."""
        with self._lock:
            self._held = True
            if self._running is not None:
                self._running.cancellation.suspend()
            thread = self._thread
        if thread is not None:
            thread.join(SUSPEND_SECONDS)

    def _work_on(self) -> None:
        if self._thread is None and self._waiting and not self._held:
            self._thread = threading.Thread(
                target=self._work, name=f"session-{self.name}", daemon=True
            )
            self._thread.start()

    def _work(self) -> None:
        while (running := self._next()) is not None:
            telling = Telling(
                self._projection,
                running.record.turn,
                clock=self._around.clock,
                queued=lambda: len(self._waiting),
            )
            TurnRun(running.record, self._around, running.cancellation, telling).run()

    def _next(self) -> _Running | None:
        with self._lock:
            self._running = None
            if self._held or not self._waiting:
                self._thread = None
                return None
            self._running = _Running(self._waiting.popleft(), Cancellation())
            return self._running

    def _end_unbegun(self, record: TurnRecord) -> None:
        end = FinishedStep(
            state=TurnState.CANCELLED,
            message="Stopped before it began.",
            error=ErrorCode.CANCELLED,
        )
        steps = self._around.journal.steps(record.turn)
        view = view_of(record, [*steps, end])
        self._around.journal.finish(record.turn, view, end)
        self._projection.put(view)

    def _load(self) -> list[TurnView]:
        journal = self._around.journal
        return [
            record.view or view_of(record, journal.steps(record.turn))
            for record in journal.recent(self.name, LATEST)
        ]
