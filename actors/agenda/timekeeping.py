"""What time it is, in which zone, and waiting for a time: the agenda's only way to a clock."""

import os
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from actors.agenda.clock import local_moment, system_zone
from actors.agenda.wall_timer import WallTimer

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_HOUR = 3600


class Clock(Protocol):
    """A wall clock that people can set, a zone that they can change, and a steady clock."""

    def wall(self) -> float:
        """Return seconds since the epoch."""

    def steady(self) -> tuple[str, float]:
        """Return how long the machine has run, asleep or not, and which run of it that is.

        Values of different runs can't be compared; an empty one can't be compared with any.
        """

    def zone(self) -> str:
        """Return the IANA name of the user's zone."""

    def wait(self, until: float | None) -> None:
        """Wait until the wall clock shows a time; it may end before, and does when it's woken.

        Args:
            until: Seconds since the epoch; None for as long as the clock likes.
        """

    def wake(self) -> None:
        """End the wait under way, or the next one. May be called from any thread."""


class SystemClock:
    """The machine's clock."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Make it.

        Args:
            environ: Environment, for ``TZ``.
        """
        self._environ = environ
        self._timer = WallTimer()
        self._boot = ""
        try:
            self._boot = _BOOT_ID.read_text(encoding="ascii").strip()
        except OSError:
            self._boot = f"process {os.getpid()}"  # compared with itself only

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def steady(self) -> tuple[str, float]:
        """Return how long the machine has run, asleep or not."""
        kind = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        return self._boot, time.clock_gettime(kind)

    def zone(self) -> str:
        """Return the zone that the system is set to, looked up afresh: users travel."""
        found = system_zone(self._environ)
        if isinstance(found.rules, ZoneInfo):
            return found.name
        return nearest_zone(local_moment(self.wall(), found))

    def wait(self, until: float | None) -> None:
        """Wait until the wall clock shows a time, or is set."""
        self._timer.wait(until)

    def wake(self) -> None:
        """End the wait."""
        self._timer.wake()


def nearest_zone(moment: datetime) -> str:
    """Return an IANA zone for a local time whose own has no name: one of the same offset.

    Where the offset isn't a whole number of hours there is none, and it's UTC.
    """
    offset = moment.utcoffset()
    seconds = int(offset.total_seconds()) if offset else 0
    hours, rest = divmod(seconds, _HOUR)
    if rest or not hours:
        return "UTC"
    return f"Etc/GMT{-hours:+d}"  # named by what is added to reach UTC
