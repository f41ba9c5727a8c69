"""What people are told of a document, in words."""

from collections.abc import Sequence

from actors.memory.documents.names import Named
from actors.memory.extracting.report import Page
from eris.errors import NotFoundError
from proto.memory import DocumentView

NO_TEXT_LAYER = (
    "Not indexed: none of its pages has a text layer, so it's a scan or consists of pictures. "
    "Nothing of it can be found or read; a program for OCR can add a text layer."
)
CHANGED = "Its file has changed since: take it in again."
GONE = "Its file is gone; what was taken in of it stays until it's forgotten."

_MOST_NAMED = 10


def taken_in_note(form: str, pages: int, empty: Sequence[int], problems: Sequence[Page]) -> str:
    """Return what is to be said of a document that was read."""
    said = []
    if problems:
        numbers = _numbers([each.number for each in problems])
        said.append(f"{_pages(len(problems))} couldn't be read ({numbers}).")
    if len(empty) == pages and not problems:
        said.append(NO_TEXT_LAYER if form == "pdf" else "Not indexed: there's no text in it.")
    elif len(empty) > len(problems):
        bad = {each.number for each in problems}
        numbers = _numbers([each for each in empty if each not in bad])
        said.append(f"{_pages(len(empty) - len(bad))} without text ({numbers}).")
    return " ".join(said)


def view_of(named: Named, state: str | None) -> DocumentView:
    """Return a document as others see it.

    Args:
        named: One that was taken in.
        state: Of its file now; None if it can't be told.
    """
    known = named.known
    assert known is not None  # noqa: S101 - only such ones are shown
    changed = ""
    if known.state and state is not None and state != known.state:
        changed = GONE if not state else CHANGED
    return DocumentView(
        id=named.id,
        path=named.path,
        title=known.title,
        form=known.form,
        pages=known.pages,
        chunks=known.chunks,
        empty_pages=known.empty_pages,
        note=" ".join(each for each in (known.note, changed) if each),
        added=known.added,
    )


def no_such_document(name: str, documents: Sequence[DocumentView]) -> NotFoundError:
    """Return the error for a name that no document has."""
    listed = ", ".join(f"{each.id} ({each.title})" for each in documents[:_MOST_NAMED])
    more = " and others" if len(documents) > _MOST_NAMED else ""
    return NotFoundError(
        f"No document {name!r} was taken in.",
        hint=f"There are {listed}{more}." if listed else "There are none; take one in first.",
    )


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number:,} pages"


def _numbers(pages: Sequence[int]) -> str:
    """Return page numbers in words: the first of them, if they're many."""
    listed = ", ".join(map(str, pages[:_MOST_NAMED]))
    return f"{listed}, …" if len(pages) > _MOST_NAMED else listed
