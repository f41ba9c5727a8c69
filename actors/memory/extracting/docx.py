"""DOCX, by python-docx. The file doesn't say where its pages end: sections stand in for them."""

import zipfile
from collections.abc import Iterator
from typing import BinaryIO

import docx
from docx.document import Document
from docx.opc.exceptions import OpcError
from docx.table import Table

from actors.memory.extracting.archive import check_size
from actors.memory.extracting.document import (
    Opened,
    UnreadableError,
    numbered,
    sections,
    sound,
    sound_day,
    sound_title,
)
from actors.memory.extracting.report import Limits

_DAMAGED = (
    OpcError,
    zipfile.BadZipFile,
    KeyError,
    ValueError,
    OSError,
    SyntaxError,  # Of its XML, as lxml calls it.
    AttributeError,  # python-docx meets an element that lacks what it must have.
)


def open_docx(stream: BinaryIO, limits: Limits) -> Opened:
    """Open a DOCX: its paragraphs, lists and tables, without headers, footers and notes.

    Raises:
        UnreadableError: It's damaged, or larger than the limits.
    """
    try:
        check_size(stream, limits)
        document = docx.Document(stream)
        pages = sections(_paragraphs(document))
        details = document.core_properties
        title, created = details.title, details.created
    except _DAMAGED as error:
        raise UnreadableError(
            f"is damaged: it can't be read as DOCX ({error})", "Open it in Word and save it anew."
        ) from error
    return Opened(
        form="docx",
        pages=len(pages),
        content=numbered(pages),
        title=sound_title(title),
        date=sound_day(created.isoformat() if created else None),
    )


def _paragraphs(document: Document) -> Iterator[str]:
    for part in document.iter_inner_content():
        text = _table(part) if isinstance(part, Table) else part.text
        text = sound(text).strip()
        if text:
            yield text


def _table(table: Table) -> str:
    """Return a table, a row a line; a cell that spans several columns is there once."""
    rows = []
    for row in table.rows:
        cells = dict.fromkeys((id(cell._tc), " ".join(cell.text.split())) for cell in row.cells)  # noqa: SLF001
        rows.append(" | ".join(text for _, text in cells))
    return "\n".join(rows)
