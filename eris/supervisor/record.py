"""The table of children on disk, by which a new supervisor finds what an earlier one started."""

import os
from pathlib import Path

import msgspec


class ChildRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One running child."""

    pid: int
    start_ticks: int
    """Start time, in hundredths of a second since boot."""
    digest: str
    """Of the specification it was started with."""
    restarts: int = 0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All running children of a vault."""

    boot_id: str
    """The boot that the pids belong to."""
    children: dict[str, ChildRecord]


def read(path: Path) -> Record | None:
    """Return the record, or None if there is none or it's damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (FileNotFoundError, msgspec.DecodeError):
        # Without it the lock files still lead to the children.
        return None


def write(path: Path, record: Record) -> None:
    """Replace the record in one step, readable by its owner alone."""
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(record))
    temporary.replace(path)
