"""A wait for a time of the wall clock that also ends when somebody sets the clock.

Linux tells a waiting process at once (`timerfd` with `TFD_TIMER_CANCEL_ON_SET`), and such a timer
is right after the machine slept. Elsewhere the wait is by the monotonic clock, and `LOOK_SECONDS`
is the longest that a clock that was set stays unnoticed; so it is everywhere for a changed zone.
"""

import contextlib
import ctypes
import math
import os
import select
import sys
import time

LOOK_SECONDS = 90.0
"""The longest wait."""

_CLOCK_REALTIME = 0
_TFD_CLOEXEC, _TFD_NONBLOCK = 0o2000000, 0o4000
_ABSTIME, _CANCEL_ON_SET = 1, 2


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Itimerspec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class WallTimer:
    """One thread waits; any thread wakes it."""

    def __init__(self) -> None:
        self._readable, self._writable = os.pipe()
        os.set_blocking(self._readable, False)
        os.set_blocking(self._writable, False)
        self._libc, self._timer = _timerfd()

    def wake(self) -> None:
        """End the wait under way, or the next one."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writable, b"\0")

    def wait(self, until: float | None) -> None:
        """Wait until the wall clock shows a time, at most `LOOK_SECONDS`.

        It ends before if somebody wakes it, or sets the clock.

        Args:
            until: Seconds since the epoch; None for no time in particular.
        """
        ready = [self._readable]
        seconds = LOOK_SECONDS
        if until is not None:
            seconds = min(seconds, max(0.0, until - time.time()))
        if self._timer >= 0:
            # Always armed, for news of a clock that is set.
            self._arm(until if until is not None else time.time() + 2 * LOOK_SECONDS)
            ready.append(self._timer)
            if until is not None and 0 < seconds < LOOK_SECONDS:
                seconds += 1.0  # the timer is more exact
        select.select(ready, [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self._readable, 4096)
        if self._timer >= 0:
            with contextlib.suppress(OSError):  # ECANCELED is the news; it has done its work
                os.read(self._timer, 8)

    def close(self) -> None:
        """Let go of the descriptors; nobody may be waiting."""
        for descriptor in (self._readable, self._writable, self._timer):
            if descriptor >= 0:
                os.close(descriptor)

    def _arm(self, until: float) -> None:
        fraction, whole = math.modf(max(until, 1.0))
        value = _Timespec(int(whole), int(fraction * 1e9))
        spec = _Itimerspec(_Timespec(0, 0), value)
        self._libc.timerfd_settime(self._timer, _ABSTIME | _CANCEL_ON_SET, ctypes.byref(spec), None)


def _timerfd() -> tuple["ctypes.CDLL", int]:
    """Return the C library and a timer's descriptor; negative where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not sys.platform.startswith("linux") or not hasattr(libc, "timerfd_create"):
        return libc, -1
    return libc, int(libc.timerfd_create(_CLOCK_REALTIME, _TFD_CLOEXEC | _TFD_NONBLOCK))
