"""Sizes and digests of files."""

import hashlib
from pathlib import Path

_MEGA = 1_000_000
_GIGA = 1_000_000_000


def megabytes(size: int) -> str:
    """Return a size for people, in units of a thousand."""
    if size < _MEGA:
        return f"{max(size, 0) / 1000:.0f} kB"
    if size < _GIGA:
        return f"{size / _MEGA:.0f} MB"
    return f"{size / _GIGA:.1f} GB"


def digest(path: Path) -> str:
    """Return the sha256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bytes_below(folder: Path) -> int:
    """Return the length of all files in a folder and below; 0 if there is no such folder."""
    if not folder.is_dir():
        return 0
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
