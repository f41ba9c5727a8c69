"""The actor runtime: one behaviour per process, one connection to the bus.

A process has a *pump* thread that owns its one ZeroMQ socket, and one Pykka actor whose mailbox
holds the requests that wait. The pump checks time and rights, delivers cancels past the mailbox,
answers pings for a busy behaviour, and keeps streams going across the death of the bus.

`run` is the main function of an actor's process; `Connection` alone serves surfaces and tests.
"""

from eris.actor._actor import Actor
from eris.actor._connection import Connection
from eris.actor._port import Port
from eris.actor._request import Deferred, Request
from eris.actor._run import run
from eris.actor._streams import StreamReader, StreamWriter
from eris.actor._subscription import Subscription
from eris.actor._topic import Topic

__all__ = [
    "Actor",
    "Connection",
    "Deferred",
    "Port",
    "Request",
    "StreamReader",
    "StreamWriter",
    "Subscription",
    "Topic",
    "run",
]
