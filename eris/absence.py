"""Tells whether a process that is out of reach will come back: the supervisor knows.

A process that was killed is waited for. One that the supervisor has given up, because its
configuration is wrong or because it died too often, is not: whoever needs it is told at once why
it isn't there and what to do.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from eris.actor import Port
from eris.errors import CancelledWorkError, RemoteError, UnavailableError
from proto.errors import ErrorCode
from proto.supervisor import Status, StatusReport

R = TypeVar("R", bound=msgspec.Struct)

AWAY = frozenset(
    {
        ErrorCode.UNREACHABLE,
        ErrorCode.PEER_RESTARTED,
        ErrorCode.DRAINING,
        ErrorCode.LOADING,
        ErrorCode.BUSY,
        ErrorCode.OVERRUN,
    }
)
"""Errors that say nothing about a request: it can be repeated when the receiver is back."""

_AT_REST = frozenset({"failed", "stopped"})
"""States from which a process doesn't return by itself."""

_LOOK_SECONDS = 2.0
"""Shortest time between two questions; also how long an answer may take."""

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5


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
    gone = dict.fromkeys(names, "it isn't among the actors that are started")
    for actor in report.actors:
        if actor.name in gone:
            gone[actor.name] = actor.detail
            if actor.state not in _AT_REST:
                del gone[actor.name]
    return gone


class Absence:
    """Watches over one wait for a process."""

    def __init__(
        self, port: Port, name: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Create it when the wait begins.

        Args:
            port: The waiting process's own.
            name: Whom it waits for.
            monotonic: A clock that never goes back, in seconds.
        """
        self._port = port
        self._name = name
        self._monotonic = monotonic
        self._next = monotonic()

    def check(self, cancelled: threading.Event | None = None) -> None:
        """Raise if waiting any longer is useless; call it as often as you like.

        Raises:
            UnavailableError: The supervisor has given the process up.
            CancelledWorkError: ``cancelled`` was set.
        """
        if self._monotonic() < self._next:
            return
        reason = given_up(self._port, [self._name], cancelled).get(self._name)
        self._next = self._monotonic() + _LOOK_SECONDS
        if reason is not None:
            raise UnavailableError(
                f"The process {self._name} can't run: {reason.rstrip('.') or 'it was stopped'}.",
                hint=f"When that is mended: eris restart {self._name}",
            )


def ask_while_it_lives(
    port: Port,
    dst: str,
    body: msgspec.Struct,
    expect: type[R],
    *,
    within: float,
    trace: str = "",
    cancelled: threading.Event | None = None,
) -> R:
    """Ask as `Port.ask` does, repeating what got lost, unless the receiver was given up.

    Only for requests that can be repeated.

    Raises:
        UnavailableError: The supervisor has given the receiver up.
        RemoteError: The receiver answered with an error, or not in time.
        CancelledWorkError: ``cancelled`` was set.
    """
    absence, deadline, pause = Absence(port, dst), time.monotonic() + within, _FIRST_PAUSE
    while True:
        try:
            left = max(0.05, deadline - time.monotonic())
            return port.ask(dst, body, expect, within=left, trace=trace, cancelled=cancelled)
        except RemoteError as error:
            if error.code not in AWAY or time.monotonic() + pause >= deadline:
                raise
        if pause > _FIRST_PAUSE:
            # Most absences are restarts that are over in a moment.
            absence.check(cancelled)
        if cancelled is None:
            time.sleep(pause)
        elif cancelled.wait(pause):
            raise CancelledWorkError(f"The request to {dst} was cancelled.")
        pause = min(pause * 2, _LONGEST_PAUSE)
