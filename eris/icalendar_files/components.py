"""A file taken apart into its components, without understanding them.

Works line by line, so that what is broken ends with its component and the rest is taken. Properties
that nobody here reads are left out at once: inline attachments make most of many a file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from eris.errors import InvalidError
from eris.icalendar_files.items import Skipped

MOST_BYTES = 16 * 1024 * 1024
"""Of a whole file; a calendar of ten years has a tenth of it."""
MOST_COMPONENTS = 20_000
_MOST_COMPONENT_BYTES = 256 * 1024

_READ = frozenset({b"VEVENT", b"VTODO", b"VTIMEZONE"})
_CALENDAR = b"VCALENDAR"
_NAME = re.compile(rb"[A-Za-z0-9-]+")
_UNREAD = frozenset(
    {b"ATTACH", b"ATTENDEE", b"ORGANIZER", b"COMMENT", b"CONTACT", b"GEO", b"STYLED-DESCRIPTION"}
)
_OURS = b"X-ERIS-"
_ZONE_NAME = b"X-LIC-LOCATION"
_DEFAULT_ZONE = b"X-WR-TIMEZONE"


@dataclass(frozen=True)
class Component:
    """An event, a task or a time zone, unread."""

    name: str
    line: int
    """Where it begins, from 1."""
    lines: tuple[str, ...]
    """Unfolded, from BEGIN to END."""

    @property
    def uid(self) -> str:
        """Its UID as written; empty if it has none."""
        return _uid(self.lines)


@dataclass(frozen=True)
class Parts:
    """What a file is made of."""

    components: tuple[Component, ...]
    broken: tuple[Skipped, ...]
    default_zone: str = ""
    """Google's `X-WR-TIMEZONE`: the zone of the calendar."""


def parts_of(data: bytes) -> Parts:
    """Take a file apart.

    Raises:
        InvalidError: It's too large, or no iCalendar file.
    """
    if len(data) > MOST_BYTES:
        raise InvalidError(
            f"The calendar has {len(data) / 1e6:.1f} MB; up to {MOST_BYTES / 1e6:.1f} MB are read.",
            hint="Export a shorter time, or one calendar at a time.",
        )
    splitter = _Splitter()
    for number, line in _logical_lines(_as_utf8(data)):
        splitter.take(number, line)
    return splitter.finished()


class _Splitter:
    """Collects components while lines come in."""

    def __init__(self) -> None:
        self._found: list[Component] = []
        self._broken: list[Skipped] = []
        self._calendars = 0
        self._default_zone = ""
        self._inside: list[bytes] = []
        """What was begun within the component and isn't ended, the component itself first."""
        self._lines: list[str] = []
        self._began = 0
        self._size = 0

    def take(self, number: int, line: bytes) -> None:
        """Take an unfolded line."""
        match = _NAME.match(line)
        name = match[0].upper() if match else b""
        if name == b"BEGIN":
            self._begin(number, line)
        elif name == b"END":
            self._end(number, line)
        elif self._inside:
            if not _unread(name):
                self._keep(line)
        elif name == _DEFAULT_ZONE:
            self._default_zone = _text(line).partition(":")[2].strip()

    def finished(self) -> Parts:
        """Return what was collected."""
        if self._inside:
            self._drop("the file ends before it does")
        if not self._calendars:
            raise InvalidError(
                "This isn't an iCalendar file: BEGIN:VCALENDAR is nowhere in it.",
                hint="Give a file that a calendar exported as .ics.",
            )
        return Parts(tuple(self._found), tuple(self._broken), self._default_zone)

    def _begin(self, number: int, line: bytes) -> None:
        name = _value(line)
        if name == _CALENDAR:
            self._calendars += 1
        if name in _READ or name == _CALENDAR:
            if self._inside:
                self._drop(f"it has no end before line {number}, where another begins")
            if name in _READ:
                self._inside, self._began = [name], number
                self._lines, self._size = [], 0
                self._keep(line)
        elif self._inside:
            self._inside.append(name)
            self._keep(line)

    def _end(self, number: int, line: bytes) -> None:
        if not self._inside:
            return
        name = _value(line)
        if name != self._inside[-1]:
            begun = self._inside[-1].decode(errors="replace")
            ended = name.decode(errors="replace")
            self._drop(f"line {number} ends {ended!r} where {begun!r} was begun")
            return
        self._keep(line)
        self._inside.pop()
        if not self._inside:
            self._complete(name)

    def _complete(self, name: bytes) -> None:
        if self._size > _MOST_COMPONENT_BYTES:
            self._drop(f"it has {self._size:,} bytes; up to {_MOST_COMPONENT_BYTES:,} are read")
            return
        if len(self._found) >= MOST_COMPONENTS:
            raise InvalidError(
                f"The calendar has more than {MOST_COMPONENTS:,} entries.",
                hint="Export a shorter time, or one calendar at a time.",
            )
        self._found.append(Component(name.decode(), self._began, tuple(self._lines)))
        self._lines = []

    def _keep(self, line: bytes) -> None:
        self._size += len(line)
        if self._size <= _MOST_COMPONENT_BYTES:
            self._lines.append(_text(line))

    def _drop(self, reason: str) -> None:
        self._broken.append(Skipped(self._began, _uid(self._lines), reason))
        self._inside, self._lines = [], []


def _as_utf8(data: bytes) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", errors="replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data if b"\n" in data else data.replace(b"\r", b"\n")


def _logical_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield lines unfolded, each with the number of its first.

    As bytes: a fold may be in the middle of a character.
    """
    began, pieces = 1, [b""]
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.rstrip(b"\r")  # noqa: PLW2901 - a line without its end is the same line
        if line.startswith((b" ", b"\t")):
            pieces.append(line[1:])
            continue
        yield began, b"".join(pieces)
        began, pieces = number, [line]
    yield began, b"".join(pieces)


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace")  # what else old programs write


def _value(line: bytes) -> bytes:
    return line.partition(b":")[2].strip().upper()


def _unread(name: bytes) -> bool:
    if name.startswith(b"X-"):
        return not name.startswith(_OURS) and name != _ZONE_NAME
    return name in _UNREAD


def _uid(lines: "list[str] | tuple[str, ...]") -> str:
    for line in lines:
        if line[:4].upper() in {"UID:", "UID;"}:
            return line.partition(":")[2].strip()
    return ""
