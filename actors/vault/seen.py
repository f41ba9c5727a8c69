"""What each session has read: so that a write based on it can tell whether it's still current."""

from collections import OrderedDict
from dataclasses import dataclass

from actors.vault.replacing import VERSION_DIGITS, digest_of

_MOST_BYTES = 16 * 1024 * 1024
_MOST_NOTES = 2000


class Seen:
    """Versions and contents that were read lately; bounded, the oldest are forgotten."""

    def __init__(self) -> None:
        self._versions: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def saw(self, session: str, path: str, data: bytes) -> str:
        """Remember what a session has read, and return the version."""
        version = digest_of(data)[:VERSION_DIGITS]
        self._versions[session, path] = version
        self._versions.move_to_end((session, path))
        while len(self._versions) > _MOST_NOTES:
            self._versions.popitem(last=False)
        if version not in self._contents:
            self._contents[version] = data
            self._bytes += len(data)
        self._contents.move_to_end(version)
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._contents.popitem(last=False)[1])
        return version

    def version(self, session: str, path: str) -> str:
        """Return the version that a session has read last, or nothing."""
        return self._versions.get((session, path), "")

    def content(self, version: str) -> bytes | None:
        """Return the content that a version means, if it's still known."""
        return self._contents.get(version)


@dataclass
class View:
    """What a session knows of a note after its write."""

    session: str
    path: str = ""
    data: bytes | None = None

    def knows(self, path: str, data: bytes, *, if_knew: bool = True) -> None:
        """Note what it knows: all of the note, if it knew what was there before."""
        self.path, self.data = path, data if if_knew else None
