"""Reminders on a surface: each is shown there once, whatever is repeated or restarted meanwhile.

A surface says that it begins before it shows anything and shows what it's granted, under a name
that is its own for as long as it runs. If the agenda dies in between, the surface still knows what
it has shown; if the surface dies, what it had begun counts as perhaps seen, and stays with the
agenda as waiting.
"""

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from eris.actor import Port
from eris.errors import RemoteError
from proto.agenda import (
    MOST_WAITING,
    DeliveryNoted,
    DeliveryStep,
    OccurrenceState,
    ReminderChanged,
    ReminderFired,
    ReminderView,
    ReportDelivery,
    WaitingReminders,
)

AGENDA = "agenda"
REMINDERS_TOPIC = "reminders"

UNANSWERED = frozenset({OccurrenceState.WAITING, OccurrenceState.SHOWN})
"""States of a reminder that was told of and isn't acknowledged."""

ReminderEvent = WaitingReminders | ReminderFired | ReminderChanged
"""Every element of the subscription ``reminders``."""

_LOOK_SECONDS = 0.25
_AGAIN_SECONDS = 1.0
_REPORT_SECONDS = 5.0


@dataclass(frozen=True)
class Showing:
    """What a surface does with reminders. Called on the thread that follows them."""

    show: Callable[[ReminderView], None]
    """Show one, as a message."""
    changed: Callable[[ReminderView], None] = lambda _reminder: None
    """One that was shown here has another state now."""
    gone: Callable[[str], None] = lambda _occurrence: None
    """One that was shown here was answered while this surface didn't hear it."""
    unanswered: Callable[[tuple[ReminderView, ...]], None] = lambda _reminders: None
    """These were seen on other surfaces before this one came, and nobody answered."""
    seen: bool = True
    """Whether what is shown is in front of a person; if not, it still waits to be seen."""


class Reminders:
    """Follows the agenda for one surface."""

    def __init__(self, port: Port, showing: Showing) -> None:
        """Create it; `follow` does the work.

        Args:
            port: The surface's; its name is the surface's name.
            showing: What to do with reminders.
        """
        self._port = port
        self._showing = showing
        self._key = uuid.uuid4().hex
        """One attempt for each reminder: asked again because an answer was lost, it's the same."""
        self._attached = False
        self._wanted: dict[str, ReminderView] = {}
        """To be shown, and not granted yet."""
        self._settled: set[str] = set()
        """Shown here, or not to be."""
        self._shown: set[str] = set()
        """Shown here and not answered, as far as it's known."""
        self._unreported: list[str] = []
        """Shown here, which the agenda doesn't know yet."""

    def follow(self, stopped: threading.Event) -> None:
        """Show what is due until told to stop; goes on across restarts."""
        while not stopped.is_set():
            try:
                self._follow(stopped)
            except RemoteError as error:
                # The topic isn't there: an agenda that is older, or gives up.
                self._port.log.warning("reminders-not-followed", code=error.code)
                stopped.wait(_AGAIN_SECONDS)

    def _follow(self, stopped: threading.Event) -> None:
        subscription = self._port.subscribe(AGENDA, REMINDERS_TOPIC, item=ReminderEvent)
        try:
            while not stopped.is_set():
                event: ReminderEvent | None = subscription.next(_LOOK_SECONDS)
                if event is not None:
                    self.take(event)
                self._work()
        finally:
            subscription.close()

    def take(self, event: ReminderEvent) -> None:
        """Take an event of the subscription; nothing is asked or shown yet."""
        match event:
            case WaitingReminders():
                self._catch_up(event)
            case ReminderFired(reminder=reminder):
                self._want(reminder)
            case ReminderChanged(reminder=reminder):
                if reminder.state is OccurrenceState.WAITING:
                    self._want(reminder)
                self._change(reminder)

    def _catch_up(self, snapshot: WaitingReminders) -> None:
        """Take what isn't acknowledged; what was seen before this surface came is only named."""
        unanswered = []
        for reminder in snapshot.reminders:
            if reminder.state is OccurrenceState.SHOWN and not self._attached:
                self._settled.add(reminder.occurrence)
                unanswered.append(reminder)
            else:
                self._want(reminder)
                self._change(reminder)
        if len(snapshot.reminders) < MOST_WAITING:
            still = {reminder.occurrence for reminder in snapshot.reminders}
            for occurrence in self._shown - still:
                self._shown.discard(occurrence)
                self._showing.gone(occurrence)
        if unanswered:
            self._showing.unanswered(tuple(unanswered))
        self._attached = True

    def _want(self, reminder: ReminderView) -> None:
        if reminder.occurrence not in self._settled:
            self._wanted[reminder.occurrence] = reminder

    def _change(self, reminder: ReminderView) -> None:
        if reminder.occurrence in self._shown:
            self._showing.changed(reminder)
        if reminder.state not in UNANSWERED:
            self._shown.discard(reminder.occurrence)
            self._settle(reminder.occurrence)

    def _settle(self, occurrence: str) -> None:
        self._wanted.pop(occurrence, None)
        self._settled.add(occurrence)

    def _work(self) -> None:
        """Ask to show what is wanted, show it, report it.

        What doesn't get through is tried again later; what is refused isn't.
        """
        while self._wanted or self._unreported:
            occurrence = next(iter(self._wanted), "")
            try:
                if occurrence:
                    self._begin(occurrence)
                else:
                    self._report(self._unreported[0], DeliveryStep.SHOWN)
                    self._unreported.pop(0)
            except RemoteError as error:
                if error.retryable:
                    return
                self._port.log.warning("reminder-refused", code=error.code, reason=error.message)
                self._settle(occurrence)
                self._unreported = self._unreported if occurrence else self._unreported[1:]

    def _begin(self, occurrence: str) -> None:
        noted = self._report(occurrence, DeliveryStep.BEGAN)
        self._settle(occurrence)
        if noted.granted:
            self._shown.add(occurrence)
            self._showing.show(noted.reminder)
            if self._showing.seen:
                self._unreported.append(occurrence)

    def _report(self, occurrence: str, step: DeliveryStep) -> DeliveryNoted:
        return self._port.ask(
            AGENDA,
            ReportDelivery(
                occurrence=occurrence, surface=self._port.name, step=step, key=self._key
            ),
            DeliveryNoted,
            within=_REPORT_SECONDS,
            retry=True,
        )


def headline(reminder: ReminderView) -> str:
    """Return what a reminder says first, in one line."""
    return " ".join(reminder.text.split())


def details(reminder: ReminderView) -> str:
    """Return when a reminder was due, and how late it is."""
    return ", ".join(part for part in (reminder.due_local, reminder.late) if part)
