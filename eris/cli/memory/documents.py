"""`eris doc`: take documents in, search and read them, without a model."""

from pathlib import Path

import click

from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask, fresh_key
from eris.cli.invocation import example
from eris.cli.memory import telling
from eris.cli.memory.command import answering
from proto.memory import (
    Documents,
    DocumentView,
    ForgetDocument,
    Hits,
    IngestDocument,
    Kind,
    ListDocuments,
    PageText,
    ReadDocument,
    SearchMemory,
)


@example(
    "eris doc ingest ~/Manuals/boiler.pdf",
    'eris doc query "how often to descale"',
    "eris doc read boiler.pdf --page 12",
)
@click.group()
def doc() -> None:
    """Take documents in, search them and read them by page.

    PDF, DOCX, HTML, EPUB, Markdown and text. The files stay where they are. Needs the running
    system (`eris up`).
    """


@example("eris doc ingest ~/Manuals/boiler.pdf", "eris doc ingest Papers/lease.docx notes.epub")
@doc.command()
@click.argument("paths", nargs=-1, required=True)
@answering
def ingest(ask: Ask, *, paths: tuple[str, ...]) -> Answer:
    """Take documents in, or anew if they have changed.

    A path that isn't here is one in the vault.
    """
    taken = [
        ask(IngestDocument(key=fresh_key(), path=_absolute(path)), DocumentView) for path in paths
    ]
    return answer(Documents(documents=tuple(taken)), telling.documents, count=len(taken))


@example("eris doc list")
@doc.command("list")
@answering
def list_(ask: Ask) -> Answer:
    """List the documents that were taken in."""
    reply = ask(ListDocuments(), Documents)
    remark = "" if reply.documents else "No document was taken in yet: eris doc ingest FILE"
    return answer(reply, telling.documents, count=len(reply.documents), remark=remark)


@example("eris doc read d1", "eris doc read boiler.pdf --page 12")
@doc.command()
@click.argument("document")
@click.option("--page", type=click.IntRange(1), default=1, help="Which page (default: 1).")
@answering
def read(ask: Ask, *, document: str, page: int) -> Answer:
    """Print a page of a document, named by its id, path or title."""
    reply = ask(ReadDocument(document=document, page=page), PageText)
    return answer(reply, telling.page, remark=f"Page {reply.page} of {reply.document.pages}.")


@example('eris doc query "how often to descale"', 'eris doc query "notice period" --doc d2')
@doc.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--doc", "document", default="", help="Only this one, by its id.")
@click.option("--limit", type=click.IntRange(1, 50), default=5, help="How many (default: 5).")
@answering
def query(ask: Ask, *, text: tuple[str, ...], document: str, limit: int) -> Answer:
    """Find what documents say about something, with path and page."""
    request = SearchMemory(
        text=" ".join(text), kinds=(Kind.DOCUMENT,), document=document, limit=limit
    )
    reply = ask(request, Hits)
    remark = reply.note or ("" if reply.hits else "Nothing was found.")
    return answer(reply, telling.hits, count=len(reply.hits), remark=remark)


@example("eris doc delete d1")
@doc.command()
@click.argument("document")
@answering
def delete(ask: Ask, *, document: str) -> Answer:
    """Take a document out again; its file stays."""
    reply = ask(ForgetDocument(key=fresh_key(), document=document), DocumentView)
    return answer(reply, telling.document, remark="It was taken out. The file stays.")


def _absolute(path: str) -> str:
    """What is here is named wholly; anything else is left to the memory, as a path in the vault."""
    given = Path(path).expanduser()
    return str(given.absolute()) if given.exists() else path
