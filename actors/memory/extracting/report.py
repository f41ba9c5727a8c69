"""What the process that reads a document tells the one that started it: lines of JSON."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a document may cost; given to the reading process as its argument."""

    file_bytes: int = 256 * 1024 * 1024
    """Larger files aren't opened."""
    unpacked_bytes: int = 256 * 1024 * 1024
    """What the parts of an archive (DOCX, EPUB) may be when unpacked, all together."""
    text_characters: int = 100_000_000
    """Text of all pages together."""
    pages: int = 20_000
    memory_bytes: int = 2 * 1024 * 1024 * 1024
    """Address space of the reading process, where the system can limit it."""
    processor_seconds: int = 600
    """Computing time of the reading process, where the system can limit it."""
    seconds: float = 900
    """From start to end, the time in between included in which pages are taken in."""
    silent_seconds: float = 60
    """Until the next page."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the reading process is to do; the file is its standard input."""

    suffix: str
    """Of the file's name, such as ``.pdf``: it only tells Markdown from text and HTML."""
    limits: Limits


class _Report(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the lines."""


class Begun(_Report, frozen=True, tag="begun"):
    """What the document is; comes first."""

    form: str
    """``pdf``, ``docx``, ``html``, ``epub``, ``markdown`` or ``text``."""
    pages: int
    title: str = ""
    """As the document says; empty if it says none."""
    date: str = ""
    """Day it was made, ISO 8601, as the document says."""


class Page(_Report, frozen=True, tag="page"):
    """One page; they come in order."""

    number: int
    """From 1."""
    text: str = ""
    """Empty if there's none on it, or none that could be read."""
    problem: str = ""
    """Why it couldn't be read; empty if it could."""


class Ended(_Report, frozen=True, tag="ended"):
    """That all is told; comes last."""

    pages: int


class Refused(_Report, frozen=True, tag="refused"):
    """That the document can't be read; nothing comes after it."""

    problem: str
    """What follows the file's name in a sentence, such as ``is protected by a password``."""
    hint: str = ""


Report = Begun | Page | Ended | Refused
