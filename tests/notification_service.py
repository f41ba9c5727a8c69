"""A D-Bus session of its own, with a notification service that tests look into."""

import asyncio
import shutil
import subprocess
import threading

import pytest

dbus_fast = pytest.importorskip("dbus_fast", reason="D-Bus is Linux's")
from dbus_fast.aio import MessageBus  # noqa: E402
from dbus_fast.service import ServiceInterface, dbus_method  # noqa: E402

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class Service(ServiceInterface):
    """A notification service that keeps what it was given, or never says that it did."""

    def __init__(self):
        super().__init__(NAME)
        self.shown = []
        self.silent = False
        self.ended = asyncio.Event()

    @dbus_method()
    async def Notify(  # noqa: N802 - the specification's names and types
        self,
        app: "s",  # noqa: F821
        _replaces: "u",  # noqa: F821
        _icon: "s",  # noqa: F821
        summary: "s",  # noqa: F821
        body: "s",  # noqa: F821
        _actions: "as",  # noqa: F722
        _hints: "a{sv}",  # noqa: F722
        _timeout: "i",  # noqa: F821
    ) -> "u":  # noqa: F821
        self.shown.append((app, summary, body))
        if self.silent:
            await self.ended.wait()
        return len(self.shown)

    @dbus_method()
    def GetCapabilities(self) -> "as":  # noqa: F722, N802
        return ["body", "body-markup"]

    @dbus_method()
    def GetServerInformation(self) -> "ssss":  # noqa: F821, N802
        return ["test", "eris", "1", "1.2"]


class Session:
    """A session bus with, at will, the service on it."""

    def __init__(self):
        daemon = shutil.which("dbus-daemon")
        if daemon is None:
            pytest.skip("this machine has no dbus-daemon")
        self.process = subprocess.Popen(
            [daemon, "--session", "--nofork", "--print-address"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()
        self.service = Service()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.bus = None

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def serve(self):
        async def serve():
            self.bus = await MessageBus(bus_address=self.address).connect()
            self.bus.export(PATH, self.service)
            await self.bus.request_name(NAME)

        self.call(serve())

    def leave(self):
        async def leave():
            bus, self.bus = self.bus, None
            self.service.ended.set()
            await bus.release_name(NAME)
            bus.disconnect()

        self.call(leave())

    def close(self):
        if self.bus:
            self.leave()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.process.terminate()
        self.process.wait(10)
