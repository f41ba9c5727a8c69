"""PDF, by PDFium: its pages are the document's own."""

from collections.abc import Iterator
from typing import BinaryIO

import pypdfium2

from actors.memory.extracting.document import (
    Opened,
    UnreadableError,
    sound,
    sound_day,
    sound_title,
)
from actors.memory.extracting.report import Page

_HYPHEN_AT_LINE_END = "\ufffe"


def open_pdf(stream: BinaryIO) -> Opened:
    """Open a PDF. PDFium unpacks page by page, so the process's own limits are enough.

    Raises:
        UnreadableError: It's damaged, or protected by a password.
    """
    try:
        document = pypdfium2.PdfDocument(stream)
    except pypdfium2.PdfiumError as error:
        said = str(error).lower()
        if "password" in said or "security" in said:
            raise UnreadableError(
                "is protected by a password", "Save it without one, then take it in."
            ) from error
        raise UnreadableError(
            "is damaged or incomplete: it can't be opened as PDF", "Get the file anew."
        ) from error
    details = document.get_metadata_dict(skip_empty=True)
    return Opened(
        form="pdf",
        pages=len(document),
        content=_pages(document),
        title=sound_title(details.get("Title")),
        date=sound_day(details.get("CreationDate")),
    )


def _pages(document: pypdfium2.PdfDocument) -> Iterator[Page]:
    for index in range(len(document)):
        try:
            page = document[index]
            layer = page.get_textpage()
            text = sound(layer.get_text_bounded().replace(_HYPHEN_AT_LINE_END, ""))
            layer.close()
            page.close()
        except pypdfium2.PdfiumError as error:
            yield Page(number=index + 1, problem=f"can't be read ({error})")
        else:
            yield Page(number=index + 1, text=text if text.strip() else "")
