"""Turns of Eris's own: what was claimed is submitted, followed to its end, and told.

Everything can be repeated: the occurrence's id is the idempotency key, so that a turn that was
accepted is found again and never run twice.
"""

import threading
from functools import partial
from typing import Protocol

import msgspec

from actors.agenda.desk import Change, Desk
from actors.agenda.record import Item, Occurrence
from eris.errors import ErisError
from eris.logs import Logger
from proto.agenda import OccurrenceState
from proto.errors import ErrorCode
from proto.orchestrator import TurnState, TurnView

SESSION = "reminders"
"""The conversation in which such turns are."""

LONGEST_ANSWER = 4_000
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""Seconds until what can't be done now is tried again: doubled each time, up to this."""

_REFUSED = frozenset({ErrorCode.INVALID, ErrorCode.CONFLICT, ErrorCode.DENIED, ErrorCode.FORBIDDEN})
"""Errors that trying again can't help."""


class Turns(Protocol):
    """Has turns run."""

    def submit(self, text: str, key: str) -> str:
        """Hand a turn in; the same key never makes a second one. Returns its id."""

    def end(self, turn: str) -> TurnView:
        """Wait for the end of a turn."""


class OwnTurns:
    """One thread takes what is claimed, the earliest first."""

    def __init__(self, desk: Desk, turns: Turns, log: Logger) -> None:
        """Make it; `start` starts it."""
        self._desk = desk
        self._turns = turns
        self._log = log
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="own-turns", daemon=True)

    def start(self) -> None:
        """Take up what a crash interrupted, and then what is claimed."""
        self._thread.start()

    def wake(self) -> None:
        """Something was claimed, or somebody who was away is back."""
        self._woken.set()

    def stop(self) -> None:
        """Take nothing new; a turn that runs goes on, and is followed after the next start."""
        self._stopped.set()
        self._woken.set()

    def take(self) -> bool:
        """Bring one claimed occurrence to its end; whether there was one.

        Raises:
            ErisError: Not now.
        """
        claimed = [
            each for each in self._desk.store.unended() if each.state is OccurrenceState.CLAIMED
        ]
        if not claimed:
            return False
        occurrence = claimed[0]
        if not occurrence.turn:
            try:
                turn = self._turns.submit(occurrence.asked, f"agenda/{occurrence.id}")
            except ErisError as error:
                if error.code not in _REFUSED:
                    raise
                told = f"It was refused: {error.message} {error.hint}".strip()
                self._desk.change(partial(_told, occurrence=occurrence, answer=told))
                return True
            occurrence = self._desk.change(partial(_submitted, occurrence=occurrence, turn=turn))
        view = self._turns.end(occurrence.turn)
        answer = view.message.strip()
        if view.state is not TurnState.DONE:
            answer = f"It didn't work: {answer or view.state.value}"
        self._desk.change(partial(_told, occurrence=occurrence, answer=answer))
        return True

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                more = self.take()
            except ErisError as error:
                self._log.info("own-turn-not-now", code=error.code, error=error.message)
                self._woken.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            except Exception as error:  # noqa: BLE001 - a defect with one turn isn't the agenda's end
                self._log.exception("own-turn-broke", error=repr(error))
                self._woken.wait(LONGEST_PAUSE)
                continue
            pause = FIRST_PAUSE
            if not more and not self._stopped.is_set():
                self._woken.wait()


def _submitted(change: Change, occurrence: Occurrence, turn: str) -> Occurrence:
    item, current = _current(change, occurrence)
    current = msgspec.structs.replace(current, turn=turn, session=SESSION)
    change.store.update(current)
    change.note(item, "submitted", f"turn {turn}", current)
    return current


def _told(change: Change, occurrence: Occurrence, answer: str) -> None:
    item, current = _current(change, occurrence)
    if current.state is not OccurrenceState.CLAIMED:
        change.note(item, "answered", "it was taken back meanwhile", current)
        return
    answer = answer[:LONGEST_ANSWER]
    current = msgspec.structs.replace(current, answer=answer, state=OccurrenceState.WAITING)
    change.store.update(current)
    change.note(item, "fired", "with the answer", current)
    change.told(item, current, fired=True)


def _current(change: Change, occurrence: Occurrence) -> tuple[Item, Occurrence]:
    item = change.store.item(occurrence.item)
    current = change.store.occurrence(occurrence.item, occurrence.number)
    if item is None or current is None:
        raise ErisError(f"The occurrence {occurrence.id} is gone.")
    return item, current
