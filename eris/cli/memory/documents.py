"""`eris doc`: take documents in, search and read them, without a model."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask, fresh_key
from eris.cli.invocation import Invocation, example, pass_invocation
from eris.cli.memory import telling
from eris.cli.memory.command import answering
from eris.cli.texts import TextGroup
from eris.cli.texts import text as text_type
from eris.errors import ErisError, RemoteError
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
@click.group(cls=TextGroup)
def doc() -> None:
    """Take documents in, search them and read them by page.

    PDF, DOCX, HTML, EPUB, Markdown and text. The files stay where they are. Needs the running
    system (`eris up`).
    """


@example("eris doc ingest ~/Manuals/boiler.pdf", "eris doc ingest Papers/lease.docx notes.epub")
@doc.command()
@click.argument("paths", type=text_type, nargs=-1, required=True)
@answering
@pass_invocation
def ingest(invocation: Invocation, ask: Ask, *, paths: tuple[str, ...]) -> Answer:
    """Take documents in, or anew if they have changed.

    A path that isn't here is one in the vault. One that can't be taken in doesn't keep the others
    out.
    """
    taken: list[DocumentView] = []
    refused: list[RemoteError] = []
    for path in paths:
        request = IngestDocument(key=fresh_key(), path=_named(path, invocation))
        try:
            taken.append(ask(request, DocumentView))
        except RemoteError as error:
            if error.retryable or len(paths) == 1:
                raise
            refused.append(error)
    if refused:
        raise _of_several(refused, taken)
    return answer(Documents(documents=tuple(taken)), telling.documents, count=len(taken))


@example("eris doc list")
@doc.command("list")
@answering
def list_(ask: Ask) -> Answer:
    """List the documents that were taken in."""
    reply = ask(ListDocuments(), Documents)
    remark = "" if reply.documents else "No document was taken in yet: eris doc ingest FILE"
    return answer(reply, telling.documents, count=len(reply.documents), remark=remark)


@example(
    "eris doc read d1",
    "eris doc read boiler.pdf --page 12",
    "eris doc read lease.docx --all > lease.txt",
)
@doc.command()
@click.argument("document", type=text_type)
@click.option("--page", type=click.IntRange(1), help="Which page (default: 1).")
@click.option("--all", "every", is_flag=True, help="All pages.")
@answering
def read(ask: Ask, *, document: str, page: int | None, every: bool) -> Answer:
    """Print a page of a document, or all, named by its id, path or title."""
    if every and page:
        raise click.UsageError("--page and --all: say which is meant, not both.")
    reply = ask(ReadDocument(document=document, page=page or 1), PageText)
    if every:
        pages = _pages(ask, reply)
        return answer(pages, telling.all_pages, count=len(pages.pages))
    return answer(reply, telling.page, remark=f"Page {reply.page} of {reply.document.pages}.")


@example('eris doc query "how often to descale"', 'eris doc query "notice period" --doc d2')
@doc.command()
@click.argument("text", type=text_type, nargs=-1, required=True)
@click.option("--doc", "document", type=text_type, default="", help="Only this one, by its id.")
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
@click.argument("document", type=text_type)
@answering
def delete(ask: Ask, *, document: str) -> Answer:
    """Take a document out again; its file stays."""
    reply = ask(ForgetDocument(key=fresh_key(), document=document), DocumentView)
    return answer(reply, telling.document, remark="It was taken out. The file stays.")


def _of_several(refused: Sequence[RemoteError], taken: Sequence[DocumentView]) -> ErisError:
    """Return what to say of several documents of which some were refused."""
    reasons = " ".join(f"{error.message} {error.hint}".strip() for error in refused)
    ids = ", ".join(f"{each.id} {each.path}" for each in taken) or "none"
    return ErisError(
        f"{len(refused)} of {len(refused) + len(taken)} documents weren't taken in. {reasons}",
        hint=f"Taken in: {ids}.",
        code=refused[0].code,
    )


def _pages(ask: Ask, first: PageText) -> telling.Pages:
    """Return all pages of a document, given its first."""
    name, last = first.document.id, first.document.pages
    following = [
        ask(ReadDocument(document=name, page=number), PageText) for number in range(2, last + 1)
    ]
    texts = tuple(each.text for each in (first, *following))
    return telling.Pages(document=first.document, pages=texts)


def _named(path: str, invocation: Invocation) -> str:
    """Return how the memory is told of a file: wholly, unless it's only in the vault.

    The memory works in another folder, so what is said from here means nothing there.
    """
    # Not by Path's own methods: they raise for names that are too long and for unknown users.
    here = invocation.cwd / os.path.expanduser(path)  # noqa: PTH111
    if os.path.exists(here) or ".." in Path(path).parts:  # noqa: PTH110
        return str(here)
    return path if os.path.exists(invocation.vault() / path) else str(here)  # noqa: PTH110
