"""What every reader gives, and how text is put in order for all of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from actors.memory.extracting.report import Page

SECTION_CHARACTERS = 3000
"""About the length of a page where a document has no pages of its own."""

_UNSOUND = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")
_NO_TITLE = re.compile(r"\s*(untitled|microsoft word\b.*|.*\.[a-z]{2,5}|\W*)\s*\Z", re.IGNORECASE)


class UnreadableError(Exception):
    """A document can't be read.

    Attributes:
        problem: What follows the file's name in a sentence.
        hint: What to do about it.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


@dataclass(frozen=True)
class Opened:
    """A document that is being read."""

    form: str
    pages: int
    content: Iterator[Page]
    """Can be gone through once."""
    title: str = ""
    date: str = ""


def sound(text: str) -> str:
    """Return text without what no text has, its line ends unified."""
    return _UNSOUND.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def sound_title(title: str | None) -> str:
    """Return a title from a document's own description; empty if it's none for people."""
    one_line = " ".join(sound(title or "").split())[:300]
    return "" if _NO_TITLE.match(one_line) else one_line


def sound_day(date: str | None) -> str:
    """Return the day, ISO 8601, that a date in some notation begins with; or nothing."""
    found = _DAY.match((date or "").strip().removeprefix("D:"))
    return "-".join(found.groups()) if found else ""


def sections(paragraphs: Iterable[str]) -> list[str]:
    """Return paragraphs put together to texts of about the length of a page.

    They're cut between paragraphs, so one may be longer than others.
    """
    found: list[str] = []
    current: list[str] = []
    length = 0
    for paragraph in paragraphs:
        if current and length + len(paragraph) > SECTION_CHARACTERS:
            found.append("\n\n".join(current))
            current, length = [], 0
        current.append(paragraph)
        length += len(paragraph)
    if current:
        found.append("\n\n".join(current))
    return found


def numbered(texts: Iterable[str]) -> Iterator[Page]:
    """Give texts as pages."""
    for number, text in enumerate(texts, 1):
        yield Page(number=number, text=text)
