"""The agenda's process: keeps items, fires what is due, and tells those who follow.

One thread waits for the next due time; requests and tools run on workers. Whatever changes is on
disk before it's told or answered.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from actors.agenda.clock_tools import clock_tools
from actors.agenda.desk import Desk, Event
from actors.agenda.desktop import DesktopSurface
from actors.agenda.firing import Firing
from actors.agenda.health import System, health_tools
from actors.agenda.leave import Leave
from actors.agenda.note_tasks import NoteTasks
from actors.agenda.notes_followed import VAULT, NoteFollower, VaultTasks
from actors.agenda.own_turns import SESSION, OwnTurns
from actors.agenda.service import Service
from actors.agenda.store import Store
from actors.agenda.timekeeping import Clock, SystemClock
from actors.agenda.tools import agenda_tools
from eris.actor import Deferred, Port, Request
from eris.desktop import Desktop
from eris.errors import ErisError, UnavailableError
from eris.surface import ORCHESTRATOR, follow_turn, submit
from eris.tools import ToolBox, ToolOwner
from proto.agenda import AgendaRequest, ItemChanged, ItemState, ReminderFired, ReminderView
from proto.orchestrator import TurnView
from proto.tools import CallTool

FILE = "agenda.sqlite"
"""File name of the agenda, in the vault's state directory."""

REMINDERS_TOPIC = "reminders"
"""Topic for surfaces: `WaitingReminders`, then `ReminderFired` and `ReminderChanged`."""

AGENDA_TOPIC = "agenda"
"""Topic for those who mirror the items: `AgendaReport`, then `ItemChanged`."""

_FAILED_SECONDS = 5.0
_FOLLOW_SECONDS = 3600.0
_STOP_SECONDS = 3.0


class Agenda(ToolOwner):
    """Owns what has to do with time."""

    ACCEPTS: ClassVar[Any] = CallTool | AgendaRequest

    make_clock: ClassVar[Callable[[Mapping[str, str]], Clock]] = SystemClock
    """From the environment; tests put a clock here that they can turn."""

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._stopping = threading.Event()
        self._desktop: DesktopSurface | None = None
        self._notes: NoteFollower | None = None

    def started(self) -> None:
        """Open the agenda, and begin to fire.

        Raises:
            ConfigurationError: It's damaged, or a newer Eris made it.
        """
        clock = type(self).make_clock(os.environ)
        self._store = Store(self.port.paths.state / FILE)
        self._followers = Followers(self.port)
        desk = Desk(self._store, clock, self._followers, self.port.settings.agenda)
        leave = Leave(desk)
        self._service = Service(desk, leave)
        self._followers.open(self._service)
        self._clock = clock
        self._firing = Firing(desk, leave, self.port.log)
        system = System(self.port, self.port.paths.state)
        self.toolbox = ToolBox(
            (
                *clock_tools(clock.wall, os.environ),
                *agenda_tools(self._service),
                *health_tools(system.lines),
            )
        )
        self._own = OwnTurns(desk, OrchestratorTurns(self.port), self.port.log)
        desk.own_claimed = self._own.wake
        self._own.start()
        if self.port.settings.agenda.desktop:
            desktop = Desktop(self.port.log)
            self._desktop = DesktopSurface(self._service, desktop, self.port.log)
            self._followers.fired = self._desktop.fired
            self._desktop.start()
        if self.port.settings.agenda.note_tasks != "off":
            remind = self.port.settings.agenda.note_tasks == "remind"
            tasks = NoteTasks(self._service, VaultTasks(self.port), self.port.log, remind=remind)
            self._notes = NoteFollower(self.port, tasks)
            self._followers.done = self._notes.wake
            self._notes.start()
        self._thread = threading.Thread(target=self._fire, name="firing", daemon=True)
        self._thread.start()
        super().started()

    def peer_up(self, name: str, incarnation: int) -> None:
        """Go on with what another process was needed for."""
        super().peer_up(name, incarnation)
        if name == ORCHESTRATOR:
            self._own.wake()
        if name == VAULT and self._notes is not None:
            self._notes.wake()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Answer on a worker."""
        match request.body:
            case CallTool():
                return super().receive(request)
            case body:
                self.port.submit(self._answer, request, body)
                return request.defer()

    def drain(self) -> None:
        """Stop firing; what isn't claimed is due at the next start."""
        self._stopping.set()
        self._own.stop()
        self._clock.wake()
        if self._notes is not None:
            self._notes.stop()
        if self._desktop is not None:
            self._desktop.stop()
        self._thread.join(_STOP_SECONDS)
        if not self._thread.is_alive():
            self._store.close()

    def _answer(self, request: Request, body: AgendaRequest) -> None:
        try:
            request.reply(self._service.answer(body))
        except ErisError as error:
            request.fail(error)
        except Exception as error:
            request.fail(error)
            raise

    def _fire(self) -> None:
        """Fire and wait, until the process stops."""
        while not self._stopping.is_set():
            try:
                until = self._firing.look()
                self.port.remark("")
            except ErisError as error:
                self.port.log.exception("not-fired", code=error.code)
                self.port.remark(f"Reminders aren't told of: {error.message} {error.hint}")
                self._stopping.wait(_FAILED_SECONDS)
            except Exception as error:
                self.port.log.exception("firing-broke")
                self.port.remark(f"Reminders aren't told of, because of a defect: {error!r}")
                self._stopping.wait(_FAILED_SECONDS)
            else:
                if not self._stopping.is_set():
                    self._clock.wait(until)


class OrchestratorTurns:
    """Has turns run by the orchestrator; a `Turns`."""

    def __init__(self, port: Port) -> None:
        """Make it."""
        self._port = port

    def submit(self, text: str, key: str) -> str:
        """Hand a turn in; the same key never makes a second one. Returns its id."""
        return submit(self._port, SESSION, text, key).turn

    def end(self, turn: str) -> TurnView:
        """Wait for the end of a turn.

        Raises:
            UnavailableError: Nobody could tell of it in time.
        """
        views = deque(follow_turn(self._port, SESSION, turn, within=_FOLLOW_SECONDS), maxlen=1)
        if not views:
            raise UnavailableError(f"Nothing was heard of the turn {turn}.")
        return views[0]


class Followers:
    """Tells the subscribers of both topics; a `Telling`."""

    def __init__(self, port: Port) -> None:
        """Make it; nobody can follow before `open`."""
        self.lock = threading.RLock()
        self.fired: Callable[[ReminderView], None] = lambda _reminder: None
        """Called with each reminder that is due now, after the subscribers were told."""
        self.done: Callable[[], None] = lambda: None
        """Called when an item that is mirrored from elsewhere is done."""
        self._port = port

    def open(self, service: Service) -> None:
        """Let others follow.

        Args:
            service: Gives the snapshots.
        """
        self._reminders = self._port.topic(REMINDERS_TOPIC, snapshot=service.waiting)
        self._items = self._port.topic(AGENDA_TOPIC, snapshot=service.describe)
        # One lock for both: who holds it keeps everybody from attaching in between.
        self._reminders.lock = self._items.lock = self.lock

    def tell(self, event: Event) -> None:
        """Send an event to everybody who follows; never waits."""
        match event:
            case ItemChanged():
                self._items.publish(event)
                if event.item.source and event.item.state is ItemState.DONE:
                    self.done()
            case _:
                self._reminders.publish(event)
        if isinstance(event, ReminderFired):
            self.fired(event.reminder)
