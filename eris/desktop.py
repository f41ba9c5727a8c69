"""Notifications of the desktop: where the system has them, something can be told without a surface.

Over D-Bus on Linux, Notification Center on macOS, WinRT on Windows, through the library
`desktop-notifier`. Whether anybody looked is never known; only whether the system took it.
"""

import asyncio
import html
import os
import stat
import sys
import threading
from collections.abc import MutableMapping
from concurrent.futures import TimeoutError as WaitedTooLongError
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from eris.logs import Logger, SilentLogger
from eris.terminal_text import harmless

if TYPE_CHECKING:
    from desktop_notifier import DesktopNotifier

WITHIN_SECONDS = 10.0
_TITLE_CHARACTERS = 200
_TEXT_CHARACTERS = 1000
_BUS_ADDRESS = "DBUS_SESSION_BUS_ADDRESS"


class Outcome(StrEnum):
    """What became of a notification."""

    SHOWN = "shown"
    """The system took it."""
    NOT_SHOWN = "not-shown"
    """Certainly not: it never got to the system."""
    UNKNOWN = "unknown"
    """It was handed over, and nothing came back."""


class Notified(msgspec.Struct, frozen=True):
    """What became of a notification, and why."""

    outcome: Outcome
    reason: str = ""
    """In words; empty if it was shown."""


class Desktop:
    """The notifications of this user's desktop.

    Can be used from any thread; one of its own talks to the system. That there are none is logged
    once, and again only after there were some.
    """

    def __init__(
        self,
        logger: Logger | None = None,
        environ: MutableMapping[str, str] = os.environ,
        within: float = WITHIN_SECONDS,
    ) -> None:
        """Create it; nothing is asked of the system before the first notification.

        Args:
            logger: Where it's told that there are no notifications.
            environ: The environment of this process, in which libraries look for the session.
            within: Seconds that a notification may take.
        """
        self._logger = logger or SilentLogger()
        self._environ = environ
        self._within = within
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notifier: DesktopNotifier | None = None
        self._absence_told = False

    def show(self, title: str, text: str = "") -> Notified:
        """Show a notification; waits until the system has taken it.

        Args:
            title: One line.
            text: More about it; may be empty.
        """
        work = self._show(_line(title), _body(text))
        with self._lock:
            loop = self._loop = self._loop or _started_loop()
        try:
            notified = asyncio.run_coroutine_threadsafe(work, loop).result(2 * self._within)
        except WaitedTooLongError:
            notified = Notified(Outcome.UNKNOWN, "The desktop didn't answer in time.")
        self._tell_absence(notified)
        return notified

    def close(self) -> None:
        """Let the system go."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._forget(), loop).result(self._within)
            loop.call_soon_threadsafe(loop.stop)

    async def _show(self, title: str, body: str) -> Notified:
        try:
            notifier = await asyncio.wait_for(self._connected(), self._within)
        except Exception as error:  # noqa: BLE001 - of three systems' libraries, each with its own
            await self._forget()
            return Notified(Outcome.NOT_SHOWN, f"There is no desktop to notify: {_short(error)}")
        taken = asyncio.Event()
        try:
            await asyncio.wait_for(
                notifier.send(title, body, on_dispatched=taken.set), self._within
            )
        except Exception as error:  # noqa: BLE001
            await self._forget()
            return Notified(Outcome.UNKNOWN, f"The desktop didn't say yes: {_short(error)}")
        if not taken.is_set():  # the library logs why, and raises nothing
            await self._forget()
            return Notified(Outcome.UNKNOWN, "The desktop didn't say yes; the log says more.")
        return Notified(Outcome.SHOWN)

    async def _connected(self) -> "DesktopNotifier":
        """Return the library's notifier when the system answers it.

        Raises:
            Exception: There is no system for it; of whatever type.
        """
        if self._notifier is None:
            from desktop_notifier import Capability, DesktopNotifier  # noqa: PLC0415 - seldom used

            _find_session(self._environ)
            notifier = DesktopNotifier(app_name="Eris")
            # A desktop that went away is found out here, before anything is handed over.
            if Capability.TITLE not in await notifier.get_capabilities():
                raise OSError(
                    "this system has no notifications for a program without an app bundle"
                )
            self._notifier = notifier
            return notifier
        await self._notifier._backend._get_capabilities()  # noqa: SLF001 - the public one is cached
        return self._notifier

    async def _forget(self) -> None:
        """Connect anew next time."""
        notifier, self._notifier = self._notifier, None
        bus = getattr(getattr(notifier, "_backend", None), "bus", None)
        if bus is not None:
            bus.disconnect()

    def _tell_absence(self, notified: Notified) -> None:
        absent = notified.outcome is Outcome.NOT_SHOWN
        if absent and not self._absence_told:
            self._logger.warning("desktop.absent", reason=notified.reason)
        self._absence_told = absent


def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()

    def run() -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()

    threading.Thread(target=run, name="desktop", daemon=True).start()
    return loop


def _find_session(environ: MutableMapping[str, str]) -> None:
    """Let the library find the user's session where a service or SSH didn't say which it is."""
    runtime = environ.get("XDG_RUNTIME_DIR")
    if not sys.platform.startswith("linux") or environ.get(_BUS_ADDRESS) or not runtime:
        return
    socket = Path(runtime) / "bus"
    try:
        found = stat.S_ISSOCK(socket.stat().st_mode)
    except OSError:
        return
    if found:
        environ[_BUS_ADDRESS] = f"unix:path={socket}"


def _line(title: str) -> str:
    return " ".join(harmless(title).split())[:_TITLE_CHARACTERS]


def _body(text: str) -> str:
    shown = harmless(text)[:_TEXT_CHARACTERS]
    # By the D-Bus specification a body is markup; a title isn't, nor is either elsewhere.
    return html.escape(shown, quote=False) if sys.platform.startswith("linux") else shown


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
