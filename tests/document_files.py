"""Small documents of every form, made by hand, for tests."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import docx


def pdf(pages: Sequence[str], *, title: str = "", scanned: Sequence[int] = ()) -> bytes:
    """Return a PDF with a line of text a page.

    Args:
        pages: ASCII text of each page; its lines become lines.
        title: In its description.
        scanned: Numbers, from 1, of the pages that are a picture instead.
    """
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
    objects.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    objects.append(
        b"<</Type/XObject/Subtype/Image/Width 2/Height 2/ColorSpace/DeviceGray/BitsPerComponent 8"
        b"/Length 4>>\nstream\n\x00\xff\xff\x00\nendstream"
    )
    objects.append(f"<</Title({title})/CreationDate(D:20240501100000)>>".encode())
    kids = []
    for number, text in enumerate(pages, 1):
        if number in scanned:
            content = b"q 500 0 0 700 50 50 cm /Im Do Q"
        else:
            shown = b" T* ".join(
                b"(%s) Tj"
                % line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode()
                for line in text.split("\n")
            )
            content = b"BT /F 12 Tf 14 TL 50 700 Td " + shown + b" ET"
        kids.append(len(objects) + 1)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>/XObject<</Im 4 0 R>>>>>>" % (len(objects) + 2)
        )
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content))
    refs = b" ".join(b"%d 0 R" % each for each in kids)
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (refs, len(kids))
    out = io.BytesIO(b"")
    out.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for place in places:
        out.write(b"%010d 00000 n \n" % place)
    out.write(b"trailer<</Size %d/Root 1 0 R/Info 5 0 R>>\n" % (len(objects) + 1))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def encrypted_pdf() -> bytes:
    """Return a PDF whose description says that it's encrypted, with a password nobody knows."""
    guard = b"<</Filter/Standard/V 1/R 2/O(" + b"o" * 32 + b")/U(" + b"u" * 32 + b")/P -4>>"
    whole = pdf(["Secret."])
    return whole.replace(b"/Info 5 0 R>>", b"/Info 5 0 R/ID[(a)(a)]/Encrypt " + guard + b">>")


def docx_file(paragraphs: Sequence[str], table: Sequence[Sequence[str]] = ()) -> bytes:
    """Return a DOCX with these paragraphs, then a table."""
    document = docx.Document()
    for each in paragraphs:
        document.add_paragraph(each)
    if table:
        made = document.add_table(len(table), len(table[0]))
        for row, texts in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def epub(
    chapters: Mapping[str, str], spine: Sequence[str], more: Mapping[str, bytes] | None = None
) -> bytes:
    """Return an EPUB.

    Args:
        chapters: HTML of each file, by name.
        spine: Names in the order of reading.
        more: Other files of the archive.
    """
    items = "".join(
        f'<item id="i{n}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    numbers = {name: n for n, name in enumerate(chapters)}
    refs = "".join(f'<itemref idref="i{numbers[name]}"/>' for name in spine)
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Book of Boats</dc:title>'
        f"<dc:date>1899-02-03</dc:date></metadata><manifest>{items}</manifest>"
        f"<spine>{refs}</spine></package>"
    )
    container = (
        '<?xml version="1.0"?><container><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    return archive(
        {
            "mimetype": b"application/epub+zip",
            "META-INF/container.xml": container.encode(),
            "OEBPS/book.opf": package.encode(),
            **{f"OEBPS/{name}": html.encode() for name, html in chapters.items()},
            **(more or {}),
        }
    )


def archive(parts: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return out.getvalue()


def sparse(path: Path, size: int, start: bytes = b"%PDF-1.4\n") -> Path:
    """Make a file of this size that takes no room on the disk."""
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(size)
    return path
