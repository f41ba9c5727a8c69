"""A surface that writes what it shows into a file, a line each; to be killed at any moment.

    python -m tests.problem_actors.screen NAME FILE

It has to find the vault by the environment, as every process has.
"""

import os
import secrets
import sys
import time
from pathlib import Path

from eris.actor import Connection, Port
from eris.config import Settings
from eris.errors import ErisError
from eris.paths import paths_from_environment
from proto.agenda import (
    DeliveryNoted,
    DeliveryStep,
    OccurrenceState,
    ReminderChanged,
    ReminderFired,
    ReportDelivery,
    WaitingReminders,
)

EVENTS = WaitingReminders | ReminderFired | ReminderChanged


def main(name: str, file: Path) -> None:
    """Show what waits, and what is told of, until somebody ends it."""
    paths = paths_from_environment(os.environ)
    connection = Connection(f"console.{name}", paths.bus_socket)
    connection.start()
    port = Port(connection, paths, Settings())
    subscription = port.subscribe("agenda", "reminders", item=EVENTS)
    with file.open("a", buffering=1) as screen:
        while True:
            try:
                for reminder in waiting(subscription.next(1.0)):
                    show(port, name, reminder, screen)
            except ErisError:
                # The agenda is away for longer: what waits comes with the next snapshot.
                subscription.close()
                time.sleep(0.2)
                subscription = port.subscribe("agenda", "reminders", item=EVENTS)


def waiting(event):
    """The reminders that an event has to be shown for."""
    match event:
        case WaitingReminders(reminders=reminders):
            return [each for each in reminders if each.state is OccurrenceState.WAITING]
        case ReminderFired(reminder=reminder):
            return [reminder]
    return []


def show(port, name, reminder, screen):
    """Show one, if it's granted."""

    attempt = secrets.token_hex(8)

    def report(step):
        body = ReportDelivery(occurrence=reminder.occurrence, surface=name, step=step, key=attempt)
        return port.ask("agenda", body, DeliveryNoted, within=60, retry=True)

    if report(DeliveryStep.BEGAN).granted:
        screen.write(f"{reminder.occurrence}\t{reminder.text}\t{reminder.answer}\n")
        report(DeliveryStep.SHOWN)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
