"""The documents as messages ask for them."""

from actors.memory.documents import Documents, Progress
from proto.memory import Documents as DocumentList
from proto.memory import DocumentView, ForgetDocument, IngestDocument, PageText, ReadDocument


class Shelf:
    """Answers what is asked about documents. Its methods may be called from any thread."""

    def __init__(self, documents: Documents, progress: Progress) -> None:
        """Create it; ``progress`` is told of pages taken in."""
        self._documents = documents
        self._progress = progress

    def ingest(self, request: IngestDocument, *, by_user: bool) -> DocumentView:
        """Take a document in."""
        return self._documents.take_in(request.path, named_by_user=by_user, progress=self._progress)

    def list(self) -> DocumentList:
        """Return all documents."""
        return DocumentList(documents=tuple(self._documents.list()))

    def read(self, request: ReadDocument) -> PageText:
        """Return a page."""
        return self._documents.read(request.document, request.page)

    def forget(self, request: ForgetDocument) -> DocumentView:
        """Take a document out."""
        return self._documents.forget(request.document, request.key)
