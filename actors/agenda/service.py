"""Where everything that the agenda is asked ends, by messages and by tools."""

import datetime as dt

import msgspec

from actors.agenda.adding import Adding
from actors.agenda.asking import Asking
from actors.agenda.delivering import Delivering
from actors.agenda.desk import Desk
from actors.agenda.leave import Leave
from actors.agenda.naming import Named
from actors.agenda.resolving import Resolving
from eris.dates import Meant, Options
from proto.agenda import (
    AddItem,
    AgendaChanged,
    AgendaReport,
    AgendaRequest,
    ChangeItem,
    DeliveryNoted,
    DescribeAgenda,
    ExplainItem,
    Items,
    ListItems,
    PauseAgenda,
    ReportDelivery,
    ResolveItem,
    ResumeAgenda,
    SimulateAgenda,
    WaitingReminders,
)


class Service:
    """Answers. Its methods may be called from any thread."""

    def __init__(self, desk: Desk, leave: Leave) -> None:
        """Make it."""
        named = Named(desk.store)
        self.desk = desk
        self._leave = leave
        self._adding = Adding(desk, named)
        self._resolving = Resolving(desk, named)
        self._delivering = Delivering(desk, named)
        self._asking = Asking(desk, named, leave)

    def answer(self, request: AgendaRequest) -> msgspec.Struct:  # noqa: C901, PLR0911 - one case for each message
        """Answer a message.

        Raises:
            ErisError: As the parts do.
        """
        match request:
            case AddItem():
                return self.add(request)
            case ChangeItem():
                return self.change(request)
            case ResolveItem():
                return self.resolve(request)
            case ListItems():
                return self.items(request)
            case ReportDelivery():
                return self.report(request)
            case ExplainItem():
                return self._asking.explain(request)
            case SimulateAgenda():
                return self._asking.simulate(request)
            case PauseAgenda(until=words):
                self._leave.pause(self._asking.pause_until(words))
                return self.describe()
            case ResumeAgenda():
                self._leave.resume()
                return self.describe()
            case DescribeAgenda():
                return self.describe()

    def moment(self) -> dt.datetime:
        """Return the time in the user's zone."""
        return self.desk.moment()

    def options(self) -> Options:
        """Return how this user says dates."""
        return self.desk.options()

    def add(self, request: AddItem, meant: Meant | None = None) -> AgendaChanged:
        """Add an item; doing it twice under one key does nothing twice.

        Args:
            request: What is wanted.
            meant: A time that was understood already, instead of its words.
        """
        return self._adding.add(request, meant)

    def change(self, request: ChangeItem) -> AgendaChanged:
        """Change an open item."""
        return self._adding.change(request)

    def resolve(self, request: ResolveItem) -> AgendaChanged:
        """Do with an item or an occurrence what is asked."""
        return self._resolving.resolve(request)

    def items(self, request: ListItems) -> Items:
        """Return items, those that are due next first."""
        return self._asking.items(request)

    def report(self, request: ReportDelivery) -> DeliveryNoted:
        """Note how far a surface got with showing an occurrence."""
        return self._delivering.report(request)

    def waiting(self) -> WaitingReminders:
        """Return what isn't acknowledged."""
        return self._delivering.waiting()

    def describe(self) -> AgendaReport:
        """Return how things stand."""
        return self._asking.describe()
