"""EPUB: each file of the spine, mostly a chapter, is a page."""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from actors.memory.extracting.archive import check_archive
from actors.memory.extracting.document import Opened, UnreadableError, sound_day, sound_title
from actors.memory.extracting.html import html_text
from actors.memory.extracting.report import Limits, Page

_CONTAINER = "META-INF/container.xml"
_LOCKS = ("META-INF/rights.xml", "META-INF/license.lcpl")
_ENCRYPTION = "META-INF/encryption.xml"


def open_epub(stream: BinaryIO, limits: Limits) -> Opened:
    """Open an EPUB.

    Raises:
        UnreadableError: It's damaged, copy-protected, or larger than the limits.
    """
    try:
        archive = zipfile.ZipFile(stream)
        check_archive(archive, limits)
        names = frozenset(archive.namelist())
        if any(each in names for each in _LOCKS):
            raise UnreadableError("is copy-protected", "Only books without protection can be read.")
        root = _tree(archive, _CONTAINER).css_first("rootfile")
        package_path = (root.attributes.get("full-path") if root else "") or ""
        package = _tree(archive, package_path)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, ValueError) as error:
        raise UnreadableError(
            f"is damaged: it can't be read as EPUB ({error})", "Get the file anew."
        ) from error
    folder = posixpath.dirname(package_path)
    targets = {
        each.attributes.get("id"): each.attributes.get("href") or ""
        for each in package.css("manifest item")
    }
    chapters = [
        posixpath.normpath(posixpath.join(folder, unquote(targets[name])))
        for each in package.css("spine itemref")
        if (name := each.attributes.get("idref")) in targets
    ]
    if not chapters:
        raise UnreadableError("is damaged: its EPUB names no chapters", "Get the file anew.")
    locked = _locked(archive) if _ENCRYPTION in names else frozenset()
    if locked.intersection(chapters):
        raise UnreadableError("is copy-protected", "Only books without protection can be read.")
    return Opened(
        form="epub",
        pages=len(chapters),
        content=_pages(archive, chapters),
        title=sound_title(_text(package, "dc\\:title")),
        date=sound_day(_text(package, "dc\\:date")),
    )


def _pages(archive: zipfile.ZipFile, chapters: list[str]) -> Iterator[Page]:
    for number, name in enumerate(chapters, 1):
        try:
            _, paragraphs = html_text(archive.read(name))
        except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, ValueError, UnreadableError):
            yield Page(number=number, problem="is missing or damaged in the book's archive")
        else:
            yield Page(number=number, text="\n\n".join(paragraphs))


def _locked(archive: zipfile.ZipFile) -> frozenset[str]:
    """Return the files that are encrypted; often only fonts are, lightly, and that's no matter."""
    tree = LexborHTMLParser(archive.read(_ENCRYPTION).decode(errors="replace"))
    found = (each.attributes.get("uri") for each in tree.css("*"))
    return frozenset(unquote(each) for each in found if each)


def _tree(archive: zipfile.ZipFile, name: str) -> LexborHTMLParser:
    # The parser of HTML knows no empty elements of XML and nests them; all are found nevertheless.
    return LexborHTMLParser(archive.read(name).decode(errors="replace"))


def _text(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return node.text(deep=False) if node else ""
