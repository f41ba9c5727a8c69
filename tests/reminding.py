"""The agenda's parts without its process, on a clock that tests turn."""

import datetime as dt
import itertools
import threading
from zoneinfo import ZoneInfo

from actors.agenda.desk import Desk
from actors.agenda.firing import Firing
from actors.agenda.leave import Leave
from actors.agenda.service import Service
from actors.agenda.store import Store
from eris.config import AgendaSettings
from proto.agenda import (
    AddItem,
    DeliveryStep,
    ExplainItem,
    ItemKind,
    ListItems,
    ReminderFired,
    ReportDelivery,
    ResolveItem,
    ResolveKind,
)

KEYS = itertools.count(1)


def at(text, zone="Europe/Berlin"):
    """Seconds since the epoch of a wall time."""
    return dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


class TurnedClock:
    """Shows what it's told to; never waits."""

    def __init__(self, now, zone="Europe/Berlin"):
        self.now = now
        self.run = 1000.0
        self.boot = "first"
        self.place = zone

    def wall(self):
        return self.now

    def steady(self):
        return self.boot, self.run

    def zone(self):
        return self.place

    def wait(self, until):
        raise AssertionError(f"nobody waits here, and not until {until}")

    def wake(self):
        pass

    def pass_time(self, seconds):
        self.now += seconds
        self.run += seconds

    def set(self, seconds):
        """Somebody sets the clock."""
        self.now += seconds


class Told:
    """Keeps what followers are told."""

    def __init__(self):
        self.lock = threading.RLock()
        self.events = []

    def tell(self, event):
        self.events.append(event)

    def fired(self):
        return [each.reminder.occurrence for each in self.events if isinstance(each, ReminderFired)]


class Reminding:
    """An agenda that can be killed and started again."""

    def __init__(self, folder, now="2026-12-03T14:00:00", zone="Europe/Berlin", **settings):
        self.file = folder / "agenda.sqlite"
        self.clock = TurnedClock(at(now, zone), zone)
        self.settings = AgendaSettings(**settings)
        self.told = Told()
        self.store = None
        self.start()

    def start(self):
        """Begin anew with what is on disk."""
        self.close()
        self.store = Store(self.file)
        desk = Desk(self.store, self.clock, self.told, self.settings)
        self.desk = desk
        self.leave = Leave(desk)
        self.service = Service(desk, self.leave)
        self.firing = Firing(desk, self.leave)

    def close(self):
        if self.store is not None:
            self.store.close()

    def ask(self, request):
        return self.service.answer(request)

    def add(self, text, kind=ItemKind.REMINDER, **more):
        return self.ask(AddItem(key=f"k{next(KEYS)}", kind=kind, text=text, **more))

    def resolve(self, item, action, **more):
        return self.ask(ResolveItem(key=f"k{next(KEYS)}", item=item, action=action, **more))

    def done(self, item, **more):
        return self.resolve(item, ResolveKind.DONE, **more)

    def report(self, occurrence, step=DeliveryStep.SHOWN, surface="console.1"):
        return self.ask(ReportDelivery(occurrence=occurrence, surface=surface, step=step))

    def look(self, seconds=0):
        """Let time pass, and fire what is due; returns when to look again."""
        self.clock.pass_time(seconds)
        return self.firing.look()

    def items(self, **wanted):
        return self.ask(ListItems(**wanted)).items

    def waiting(self):
        return self.service.waiting().reminders

    def history(self, item):
        return [(entry.event, entry.reason) for entry in self.ask(ExplainItem(item=item)).entries]
