"""What a file is, told from its first bytes; its name only tells texts from each other."""

import re
import zipfile
from enum import StrEnum
from typing import BinaryIO

from actors.memory.extracting.document import UnreadableError

HEAD_BYTES = 4096

_FORMS = "PDF, DOCX, HTML, EPUB, Markdown and text can be taken in."
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+)?html\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (
        b"\xd0\xcf\x11\xe0",
        "is an old Office file, or a newer one protected by a password",
        "Save it as DOCX, without a password.",
    ),
    (b"{\\rtf", "is RTF, which isn't supported", f"Save it as DOCX. {_FORMS}"),
    (b"\x89PNG", "is a picture", "A picture has no text layer; a program for OCR can add one."),
    (
        b"\xff\xd8\xff",
        "is a picture",
        "A picture has no text layer; a program for OCR can add one.",
    ),
)


class Form(StrEnum):
    """What kind of document a file is."""

    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    EPUB = "epub"
    MARKDOWN = "markdown"
    TEXT = "text"


def form_of(stream: BinaryIO, suffix: str) -> Form:
    """Return what a file is; afterwards it's at its start again.

    Args:
        stream: The file.
        suffix: Of its name, with the dot.

    Raises:
        UnreadableError: It's nothing that could be read.
    """
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    if not head:
        raise UnreadableError("is empty")
    if b"%PDF-" in head[:1024]:
        return Form.PDF
    if head.startswith(b"PK\x03\x04"):
        return _form_of_archive(stream)
    for start, problem, hint in _FOREIGN:
        if head.startswith(start):
            raise UnreadableError(problem, hint)
    if b"\x00" in head and not head.startswith(_UTF16):
        raise UnreadableError("isn't a text, nor any document that is known", _FORMS)
    if _HTML.match(head) or suffix.lower() in _HTML_SUFFIXES:
        return Form.HTML
    return Form.MARKDOWN if suffix.lower() in _MARKDOWN_SUFFIXES else Form.TEXT


def _form_of_archive(stream: BinaryIO) -> Form:
    try:
        with zipfile.ZipFile(stream) as archive:
            names = frozenset(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise UnreadableError(
            "is damaged or incomplete: its archive can't be opened", "Get the file anew."
        ) from error
    finally:
        stream.seek(0)
    if "word/document.xml" in names:
        return Form.DOCX
    if "META-INF/container.xml" in names:
        return Form.EPUB
    raise UnreadableError("is an archive, but no DOCX and no EPUB", _FORMS)
