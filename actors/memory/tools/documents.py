"""Tools for documents: take one in, search it, read it page by page."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.memory.tools.finding import QUERY_ALIASES, hits_told
from actors.memory.tools.port import Asked, MemoryService
from actors.memory.tools.remembering import sentence
from eris.errors import DeniedError
from eris.tools import Call, Outcome, Tool
from proto.memory import DocumentView, Kind, PageText, SearchMemory
from proto.tools import Effect

_MOST_HITS = 5
_MOST_SHOWN = 20

DocumentName = Annotated[
    str, Meta(description="The document: its id such as d3, path or title", min_length=1)
]
_NAMES = ("id", "doc_id", "document_id", "path", "file", "filename", "file_path", "title", "name")
_DOCUMENT_ALIASES = dict.fromkeys((*_NAMES, "doc"), "document")
_PATH_ALIASES = dict.fromkeys(
    ("file", "filename", "file_name", "file_path", "document", "doc", "source", "name"), "path"
)


class Ingest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``doc:ingest``."""

    path: Annotated[str, Meta(description="The file, such as manuals/boiler.pdf", min_length=1)]


class QueryDocuments(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``doc:query``."""

    query: Annotated[str, Meta(description="What to look for, in words", min_length=1)]
    document: Annotated[
        str, Meta(description="Only this one: its id such as d3, path or title; empty for all")
    ] = ""


class ReadPage(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``doc:read``."""

    document: DocumentName
    page: Annotated[int, Meta(description="Number of the page, from 1", ge=1)] = 1


class ListAll(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``doc:list``."""


class Delete(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``doc:delete``."""

    document: DocumentName


def document_tools(service: MemoryService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def ingest(arguments: Ingest, call: Call) -> Outcome:
        document = service.ingest(Asked.by(call), arguments.path)
        pages = counted(document.pages, "page")
        message = f"took in {document.path} as {document.id} ({pages})"
        return Outcome(
            content=f"{sentence(message)} {document.note}".strip(),
            receipt=message,
            data={"id": document.id, "path": document.path, "pages": document.pages},
        )

    def query(arguments: QueryDocuments, call: Call) -> Outcome:
        document = ""
        if arguments.document.strip():
            document = service.read_document(arguments.document, 1).document.id
        request = SearchMemory(
            text=arguments.query, kinds=(Kind.DOCUMENT,), limit=_MOST_HITS, document=document
        )
        return hits_told(service.find(Asked.by(call), request), "No document says that.")

    def read(arguments: ReadPage, _call: Call) -> Outcome:
        return page_told(service.read_document(arguments.document, arguments.page))

    def list_all(_arguments: ListAll, _call: Call) -> Outcome:
        return documents_told(list(service.documents()))

    def delete(arguments: Delete, call: Call) -> Outcome:
        asked = Asked.by(call)
        if asked.untrusted:
            raise DeniedError(
                f"This turn has text from outside in it ({asked.untrusted}), which must not "
                "take documents out.",
                hint="Ask the user to say it again in a message of its own.",
            )
        document = service.forget_document(asked, arguments.document)
        message = f"took {document.path} ({document.id}) out of memory"
        return Outcome(
            content=f"{sentence(message)} The file itself is still there.",
            receipt=message,
            data={"id": document.id, "path": document.path},
        )

    return (
        Tool(
            name="doc:ingest",
            description="Take in a document (PDF, Word, HTML, EPUB, text) so that it can be "
            "searched and read.",
            hints=(
                "Ingest this file.",
                "Ingest contract.docx.",
                "Index this PDF.",
                "Add book.epub to your documents.",
                "Take in the document boiler.pdf.",
                "Learn this document.",
            ),
            arguments=Ingest,
            handler=ingest,
            effect=Effect.WRITE,
            aliases=_PATH_ALIASES,
            receipt="took in {path} as {id}",
        ),
        Tool(
            name="doc:query",
            description="Search the documents that were taken in; says on which page it stands.",
            hints=(
                "What does the manual say about descaling?",
                "Search the contract for the notice period.",
                "On which page does it say that?",
                "Find it in my documents.",
                "What do the documents say about insurance?",
                "Look it up in the handbook.",
            ),
            arguments=QueryDocuments,
            handler=query,
            effect=Effect.READ,
            aliases=QUERY_ALIASES
            | dict.fromkeys(("id", "doc", "doc_id", "document_id", "path", "file"), "document"),
        ),
        Tool(
            name="doc:read",
            description="Read one page of a document, exactly as it is.",
            hints=(
                "Read page 3 of the manual.",
                "Show me the first page of the PDF.",
                "Open page 12.",
                "Next page.",
                "Go on reading the document.",
                "What is on the last page of the report?",
            ),
            arguments=ReadPage,
            handler=read,
            effect=Effect.READ,
            aliases=_DOCUMENT_ALIASES
            | dict.fromkeys(("page_number", "number", "pages", "start"), "page"),
        ),
        Tool(
            name="doc:list",
            description="List the documents that were taken in.",
            hints=(
                "Which documents do you have?",
                "List my documents.",
                "Which PDFs do you know?",
                "What files did you ingest?",
                "Show all documents.",
            ),
            arguments=ListAll,
            handler=list_all,
            effect=Effect.READ,
        ),
        Tool(
            name="doc:delete",
            description="Take a document out of memory; the file itself stays.",
            hints=(
                "Remove the manual from your documents.",
                "Remove document d3.",
                "Delete that document from the index.",
                "Take the report out of your documents.",
                "You don't need that PDF any more, remove it.",
            ),
            arguments=Delete,
            handler=delete,
            effect=Effect.WRITE,
            aliases=_DOCUMENT_ALIASES,
            receipt="took {path} out of memory",
        ),
    )


def page_told(page: PageText) -> Outcome:
    """Give a page, and say how to read on in front of it: a long page is cut at its end."""
    document = page.document
    told = f"{document.path} ({document.id}), page {page.page} of {document.pages}."
    if page.page < document.pages:
        told += f" For the next one, call doc:read with {document.id} and page {page.page + 1}."
    text = page.text if page.text.strip() else "(This page has no text: a picture or a scan.)"
    return Outcome(
        content=f"{told}\n{text}",
        data={"id": document.id, "path": document.path, "page": page.page},
        untrusted=document.path,
    )


def documents_told(documents: list[DocumentView]) -> Outcome:
    """List documents."""
    if not documents:
        return Outcome(content="There are no documents yet.", data={"found": 0})
    lines = [f"{counted(len(documents), 'document')}:"]
    for each in documents[:_MOST_SHOWN]:
        remark = f" {each.note}" if each.note else ""
        lines.append(
            f"{each.id}: {each.path}, {each.title} ({counted(each.pages, 'page')}).{remark}"
        )
    if len(documents) > _MOST_SHOWN:
        lines.append(f"({len(documents) - _MOST_SHOWN} more aren't shown.)")
    return Outcome(content="\n".join(lines), data={"found": len(documents)})


def counted(number: int, what: str) -> str:
    """Return a number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"
