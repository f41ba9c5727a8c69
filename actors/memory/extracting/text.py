"""Plain text and Markdown: how they're decoded and parted."""

import codecs
import re
from typing import BinaryIO

from actors.memory.extracting.document import Opened, UnreadableError, numbered, sound
from actors.memory.extracting.document import sections as parted

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n(?:[^\S\n]*\n)*")
_LONG = 12_000
"""A paragraph longer than this is parted at its lines, so that a log has pages, too."""


def open_text(stream: BinaryIO, form: str) -> Opened:
    """Open a text. It has no pages: sections stand in for them.

    Raises:
        UnreadableError: It's no text.
    """
    text = sound(decoded(stream.read()))
    paragraphs: list[str] = []
    for paragraph in _BLANK_LINES.split(text.strip("\n")):
        if len(paragraph) > _LONG:
            paragraphs.extend(paragraph.split("\n"))
        elif paragraph.strip():
            paragraphs.append(paragraph.rstrip())
    pages = parted(paragraphs)
    return Opened(form=form, pages=len(pages), content=numbered(pages))


def decoded(content: bytes, declared: str = "") -> str:
    """Return the text of some bytes.

    A byte order mark is believed first, then UTF-8 if it fits, then what is declared, and at last
    Windows' Western European encoding, whose undefined bytes become replacement characters.

    Args:
        content: The bytes.
        declared: Encoding that the text says it has.

    Raises:
        UnreadableError: It has a mark, and isn't what that says.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise UnreadableError(f"isn't the {encoding} that it says it is") from error
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode(declared or "cp1252", errors="replace")
