"""Messages that every process sends or answers, whatever its job."""

import msgspec


class _Control(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class Hello(_Control, frozen=True, tag="hello.1"):
    """A connection's first message to the bus, repeated after every reconnection."""

    schema: str
    """Digest of all message schemas the sender was built with; a mismatch is logged."""
    pid: int
    """Process id of the sender."""


class Welcome(_Control, frozen=True, tag="welcome.1"):
    """The bus's answer to `Hello`: messages to this name are now routed to this connection."""

    peers: dict[str, int]
    """Name and latest incarnation of every actor the bus has seen, gone ones included."""


class PeerUp(_Control, frozen=True, tag="peer-up.1"):
    """Tells every peer that a name is served by a new incarnation.

    Requests still pending at an older incarnation will never be answered.
    """

    name: str
    incarnation: int
    """Nanoseconds since the epoch at the peer's start."""


class Cancel(_Control, frozen=True, tag="cancel.1"):
    """Body of a cancel; the request meant is ``Head.corr``."""

    reason: str = ""
    """For the log and for people."""


class Credit(_Control, frozen=True, tag="credit.1"):
    """Acknowledges stream items, which lets the sender go on."""

    upto: int
    """Every item with ``seq < upto`` has been taken."""


class Resume(_Control, frozen=True, tag="resume.1"):
    """Asks for stream items again, after a gap, a silence or a reconnection."""

    start: int
    """First sequence number wanted."""


class Ping(_Control, frozen=True, tag="ping.1"):
    """Asks whether the actor thread still answers."""


class Pong(_Control, frozen=True, tag="pong.1"):
    """A sign of life from the actor thread, or from the connection on behalf of a busy one."""

    state: str
    """``ready``, ``busy`` or ``draining``."""
    phase: str = ""
    """What a busy actor is doing, such as ``loading``."""
    busy_ms: int = 0
    """For how long it has been doing that, in milliseconds."""
    mailbox: int = 0
    """Messages waiting in the mailbox."""
    streams: int = 0
    """Open streams that this process is sending."""
    handled: int = 0
    """Requests handled since the start."""
    failed: int = 0
    """Requests that ended in an internal error since the start."""
    dropped: dict[str, int] = {}
    """What was dropped since the start, by reason."""
    note: str = ""
    """What a working actor has to do without, and how to help; for `eris status`."""


class Subscribe(_Control, frozen=True, tag="subscribe.1"):
    """Opens a stream of events: first a snapshot, then what changes, in order."""

    topic: str
    """Such as ``session:main``."""


class Done(_Control, frozen=True, tag="done.1"):
    """The reply to a request that has nothing to say but that it was carried out."""


Control = Hello | Welcome | PeerUp | Cancel | Credit | Resume | Ping | Pong | Subscribe | Done
