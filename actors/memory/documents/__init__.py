"""Documents: PDF, DOCX, HTML, EPUB, Markdown and text, taken in page by page.

`Documents` is the whole of it for others. Which files may be read is `reach`'s, reading happens in
a process of its own (`actors.memory.extracting`, started by `extractor`), names are kept by
`names`, pages and chunks by the catalogue.
"""

from actors.memory.documents.documents import Documents, Progress
from actors.memory.documents.names import DocumentNames
from actors.memory.documents.reach import Place, Reach, VaultBytes
from actors.memory.extracting.report import Limits

__all__ = ["DocumentNames", "Documents", "Limits", "Place", "Progress", "Reach", "VaultBytes"]
