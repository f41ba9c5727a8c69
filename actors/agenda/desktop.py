"""The surface of last resort: a notification of the desktop when no other one takes a reminder.

It doesn't count as seen, since a notification passes by itself: the reminder waits for a surface.
"""

import queue
import threading
import time
from typing import Protocol

from actors.agenda.service import Service
from eris.desktop import Notified, Outcome
from eris.errors import ErisError
from eris.logs import Logger
from proto.agenda import (
    DESKTOP,
    DeliveryNoted,
    DeliveryStep,
    OccurrenceState,
    ReminderView,
    ReportDelivery,
)

PATIENCE_SECONDS = 3.0
"""How long an attached surface may take to say that it shows a reminder. After a restart of the
agenda they have to find it again first."""

_STOP_SECONDS = 2.0


class Notifies(Protocol):
    """What shows notifications; `eris.desktop.Desktop` does."""

    def show(self, title: str, text: str = "") -> Notified:
        """Show one."""

    def close(self) -> None:
        """Let the system go."""


class DesktopSurface:
    """Notifies of what nobody else shows. A thread of its own waits; nothing here blocks others."""

    def __init__(
        self,
        service: Service,
        desktop: Notifies,
        log: Logger,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Make it, with what waits from before; `start` begins.

        Args:
            service: Knows what waits, and notes deliveries.
            desktop: Shows notifications.
            log: Where defects are told.
            patience: Seconds to wait for another surface.
        """
        self._service = service
        self._desktop = desktop
        self._log = log
        self._patience = patience
        self._fired: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="desktop-surface", daemon=True)

    def start(self) -> None:
        """Begin, with what was fired before and went to no surface."""
        for reminder in self._service.waiting().reminders:
            self.fired(reminder)
        self._thread.start()

    def fired(self, reminder: ReminderView) -> None:
        """Take a reminder that is due now; never waits."""
        self._fired.put((time.monotonic() + self._patience, reminder.occurrence))

    def stop(self) -> None:
        """End; what nobody was notified of is taken up at the next start."""
        self._stopping.set()
        self._fired.put(None)
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while (entry := self._fired.get()) is not None:
            until, occurrence = entry
            if self._stopping.wait(max(0.0, until - time.monotonic())):
                break
            try:
                self.notify(occurrence)
            except ErisError as error:
                self._log.warning("desktop-not-notified", code=error.code, reason=error.message)
        self._desktop.close()

    def notify(self, occurrence: str) -> None:
        """Notify of a reminder if no surface has taken it.

        Raises:
            ErisError: The delivery can't be noted; nothing was shown that isn't on disk.
        """
        waiting = {each.occurrence: each for each in self._service.waiting().reminders}
        reminder = waiting.get(occurrence)
        if reminder is None or reminder.state is not OccurrenceState.WAITING:
            return
        if reminder.deliveries or not self._noted(occurrence, DeliveryStep.BEGAN).granted:
            return
        notified = self._desktop.show(reminder.text, _text(reminder))
        match notified.outcome:
            case Outcome.SHOWN:
                self._noted(occurrence, DeliveryStep.SHOWN)
            case Outcome.NOT_SHOWN:
                self._noted(occurrence, DeliveryStep.FAILED, notified.reason)
            case Outcome.UNKNOWN:
                # It may have been shown: what was begun stays so, and isn't repeated.
                self._log.warning("desktop-unknown", reason=notified.reason)

    def _noted(self, occurrence: str, step: DeliveryStep, reason: str = "") -> DeliveryNoted:
        report = ReportDelivery(occurrence=occurrence, surface=DESKTOP, step=step, reason=reason)
        return self._service.report(report)


def _text(reminder: ReminderView) -> str:
    when = ", ".join(part for part in (reminder.due_local, reminder.late) if part)
    return "\n".join(part for part in (reminder.answer, when) if part)
