"""Tells systemd that the service is ready, or stopping."""

import os
import socket
from collections.abc import Mapping


def notify(environ: Mapping[str, str], message: str) -> None:
    """Send a message such as ``READY=1`` to whoever started us, if they listen."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        try:
            channel.sendto(message.encode(), os.fsencode(name))
        except OSError:
            return  # a supervisor that went away needs no news
