"""Tells whether a process that is out of reach will come back: the supervisor knows.

A process that was killed is waited for. One that the supervisor has given up, because its
configuration is wrong or because it died too often, is not: the turn ends at once and says why.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from eris.actor import Port
from eris.errors import RemoteError, UnavailableError
from proto.supervisor import Status, StatusReport

_AT_REST = frozenset({"failed", "stopped"})
"""States from which a process doesn't return by itself."""

_LOOK_SECONDS = 2.0
"""Shortest time between two questions; also how long an answer may take."""


def given_up(
    port: Port, names: Iterable[str], cancelled: threading.Event | None = None
) -> Mapping[str, str]:
    """Return those of the named processes that won't come back, and why.

    While the supervisor itself is away nothing is known, and nothing returned.

    Raises:
        CancelledWorkError: ``cancelled`` was set.
    """
    try:
        report = port.ask(
            "erisd", Status(), StatusReport, within=_LOOK_SECONDS, cancelled=cancelled
        )
    except RemoteError:
        return {}
    gone = {name: f"{name} isn't among the actors that are started." for name in names}
    for actor in report.actors:
        if actor.name in gone:
            gone[actor.name] = actor.detail
            if actor.state not in _AT_REST:
                del gone[actor.name]
    return gone


class ModelAbsence:
    """Watches over one wait for `inference`."""

    def __init__(self, port: Port, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._port = port
        self._monotonic = monotonic
        self._next = monotonic()

    def check(self, cancelled: threading.Event | None = None) -> None:
        """Raise if waiting any longer is useless; call it as often as you like.

        Raises:
            UnavailableError: The supervisor has given `inference` up.
            CancelledWorkError: ``cancelled`` was set.
        """
        if self._monotonic() < self._next:
            return
        reason = given_up(self._port, ["inference"], cancelled).get("inference")
        self._next = self._monotonic() + _LOOK_SECONDS
        if reason is not None:
            raise UnavailableError(
                f"The model's process can't run. {reason}".strip(),
                hint="When that is mended: eris restart inference",
            )
