"""What the tools need: everything that is done for a model, in terms of messages."""

import datetime as dt
from typing import Protocol

from eris.dates import Meant, Options
from eris.errors import DeniedError
from eris.tools import Call
from proto.agenda import (
    AddItem,
    AgendaChanged,
    Items,
    ListItems,
    ResolveItem,
    WaitingReminders,
)


class AgendaService(Protocol):
    """What tools ask for. A failure is an `ErisError`, whose sentence the model is told."""

    def moment(self) -> dt.datetime:
        """Return the time in the user's zone."""

    def options(self) -> Options:
        """Return how this user says dates."""

    def add(self, request: AddItem, meant: Meant | None = None) -> AgendaChanged:
        """Add an item, for a time that was understood already if it's given."""

    def resolve(self, request: ResolveItem) -> AgendaChanged:
        """Do with an item or an occurrence what is asked."""

    def items(self, request: ListItems) -> Items:
        """Return items, those that are due next first."""

    def waiting(self) -> WaitingReminders:
        """Return what isn't acknowledged."""


def refuse_untrusted(call: Call, what: str) -> None:
    """Check that no text from outside may have caused a call.

    Raises:
        DeniedError: The model has seen some in this turn.
    """
    if call.untrusted:
        raise DeniedError(
            f"This turn has text from outside in it ({call.untrusted}), which must not {what}.",
            hint="Ask the user to say it again in a message of its own.",
        )
