"""Whether Eris may do something of its own accord now: pause, quiet hours, daily limit."""

import datetime as dt

from actors.agenda import told
from actors.agenda.desk import Desk

NEVER = float("inf")
"""Until somebody says otherwise."""

_PAUSE = "pause"
_FOREVER = "forever"


class Leave:
    """Asked before each turn of Eris's own. What the user was promised needs none."""

    def __init__(self, desk: Desk) -> None:
        """Make it."""
        self._desk = desk

    def held_until(self, now: float) -> float:
        """Return until when nothing may be done; 0 if it may be done now.

        Args:
            now: Seconds since the epoch.
        """
        return max(self.paused_until(now), self._quiet_until(now), self._limited_until(now))

    def why(self, now: float) -> str:
        """Return what holds Eris back, in words; empty if nothing does."""
        if self.paused_until(now):
            return "Eris's own turns are paused"
        if self._quiet_until(now):
            return f"it's within the quiet hours, {self._desk.settings.quiet}"
        if self._limited_until(now):
            return f"there were {self._desk.settings.own_turns} turns of its own today already"
        return ""

    # Pausing.

    def pause(self, until: float) -> None:
        """Do nothing until then; `NEVER` for until it's resumed."""
        value = _FOREVER if until == NEVER else str(until)
        self._desk.change(lambda change: change.store.keep_fact(_PAUSE, value))
        self._desk.clock.wake()

    def resume(self) -> None:
        """End a pause."""
        self._desk.change(lambda change: change.store.keep_fact(_PAUSE, ""))
        self._desk.clock.wake()

    def paused_until(self, now: float) -> float:
        """Return the end of the pause; `NEVER` if it has none, 0 if there's no pause."""
        value = self._desk.store.fact(_PAUSE)
        if not value:
            return 0.0
        until = NEVER if value == _FOREVER else float(value)
        return until if until > now else 0.0

    # Quiet hours and the limit.

    def quiet(self, now: float) -> bool:
        """Whether it's within the quiet hours."""
        return bool(self._quiet_until(now))

    def taken_today(self, now: float) -> int:
        """Return how many turns of its own Eris had since midnight."""
        return self._desk.store.own_since(self._midnight(now, 0))

    def _quiet_until(self, now: float) -> float:
        hours = self._desk.settings.quiet
        if not hours:
            return 0.0
        begin, end = (dt.time.fromisoformat(part) for part in hours.split("-"))
        if begin == end:
            return 0.0
        local = told.local(now, self._desk.clock.zone())
        at = local.time()
        inside = begin <= at < end if begin < end else at >= begin or at < end
        if not inside:
            return 0.0
        days = 1 if begin > end and at >= begin else 0
        day = local.date() + dt.timedelta(days=days)
        ends = dt.datetime.combine(day, end, local.tzinfo).timestamp()
        return max(ends, now + 1)

    def _limited_until(self, now: float) -> float:
        if self.taken_today(now) < self._desk.settings.own_turns:
            return 0.0
        if not self._desk.settings.own_turns:
            return NEVER
        return self._midnight(now, 1)

    def _midnight(self, now: float, days: int) -> float:
        local = told.local(now, self._desk.clock.zone())
        day = local.date() + dt.timedelta(days=days)
        return dt.datetime.combine(day, dt.time(), local.tzinfo).timestamp()
