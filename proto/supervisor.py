"""Messages of the supervisor `erisd`."""

import msgspec


class _Supervisor(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class Status(_Supervisor, frozen=True, tag="supervisor.status.1"):
    """Asks how every process is (reply: `StatusReport`)."""


class ActorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One supervised process."""

    name: str
    state: str
    """``starting``, ``ready``, ``busy``, ``hung``, ``stopping``, ``waiting`` (for its back-off or
    its dependencies), ``stopped``, ``failed`` (given up)."""
    pid: int
    """0 if it isn't running."""
    restarts: int
    """Restarts since the supervisor's first start, adopted ones included."""
    uptime_seconds: float
    rss_bytes: int
    adopted: bool
    """Whether it was started by an earlier supervisor."""
    mailbox: int
    """Messages waiting."""
    streams: int
    handled: int
    failed: int
    dropped: dict[str, int]
    """What it dropped, by reason."""
    detail: str = ""
    """What it's busy with, or why it failed, in its own words."""


class StatusReport(_Supervisor, frozen=True, tag="supervisor.report.1"):
    """The whole system."""

    version: str
    vault: str
    vault_id: str
    pid: int
    """Of the supervisor."""
    uptime_seconds: float
    state: str
    """``ready``, ``starting``, ``degraded`` or ``stopping``."""
    actors: tuple[ActorStatus, ...]


class Restart(_Supervisor, frozen=True, tag="supervisor.restart.1"):
    """Restarts one process; answered when it's ready again (reply: `ActorStatus` in a report)."""

    name: str
    idem: str = ""
    """Idempotency key: the same one restarts once."""


class Shutdown(_Supervisor, frozen=True, tag="supervisor.shutdown.1"):
    """Stops everything in order, then the supervisor itself (reply: `Done`, before it stops)."""


Supervisor = Status | StatusReport | Restart | Shutdown
