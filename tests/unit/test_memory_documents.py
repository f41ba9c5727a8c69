"""Documents taken in page by page by a real reading process, read back, changed and forgotten."""

import datetime as dt
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from actors.memory.catalogue import Catalogue
from actors.memory.documents import DocumentNames, Documents, Limits, Reach
from actors.memory.documents.extractor import Extraction, _environment
from eris.errors import (
    CancelledWorkError,
    DeniedError,
    ErisError,
    InvalidError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from proto.memory import DocumentView
from tests.document_files import archive, docx_file, encrypted_pdf, epub, pdf, sparse

NOW = dt.datetime(2026, 3, 4, 5, 6, 7, tzinfo=dt.UTC)


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


class Desk:
    """Documents over real files, a vault of bytes, and one folder that may be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.papers = folder / "papers"
        self.outside = folder / "outside"
        self.state = folder / "state"
        for each in (self.papers, self.outside, self.state):
            each.mkdir(exist_ok=True)
        self.vault: dict[str, bytes] = {}
        self.open()

    def open(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.catalogue = Catalogue.open(self.state / "catalogue.sqlite")
        self.names = DocumentNames(self.state / "memories.sqlite")
        reach = Reach(
            [self.papers], self.read, self.look, self.state / "scratch", self.limits.file_bytes
        )
        self.documents = Documents(
            self.names, self.catalogue, reach, count, lambda: NOW, self.limits
        )

    def close(self) -> None:
        self.names.close()
        self.catalogue.close()

    def reopen(self, limits: Limits | None = None) -> None:
        self.close()
        self.open(limits)

    def read(self, path: str) -> Iterator[bytes]:
        if path not in self.vault:
            raise NotFoundError(f"There's no {path} in the vault.")
        yield self.vault[path]

    def look(self, path: str) -> str:
        if path.startswith("away/"):
            raise UnavailableError("The vault is away.")
        return str(hash(self.vault[path])) if path in self.vault else ""

    def write(self, name: str, content: bytes) -> str:
        (self.papers / name).write_bytes(content)
        return str(self.papers / name)

    def take_in(self, name: str, content: bytes) -> DocumentView:
        return self.documents.take_in(self.write(name, content))

    def pages(self, view: DocumentView) -> list[str]:
        return [self.documents.read(view.id, n).text for n in range(1, view.pages + 1)]

    def found(self, view: DocumentView) -> str:
        return " ".join(each.text for each in self.catalogue.texts(f"document:{view.id}"))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


# Forms.


def test_a_pdf_of_300_pages_is_exact_to_the_last_page(desk: Desk) -> None:
    texts = [f"Page {n} says {hashlib.sha256(str(n).encode()).hexdigest()}" for n in range(1, 301)]
    view = desk.take_in("long.pdf", pdf(texts, title="A Long Report"))
    assert (view.id, view.form, view.pages, view.chunks) == ("d1", "pdf", 300, 300)
    assert (view.title, view.note, view.empty_pages) == ("A Long Report", "", ())
    assert view.added == "2026-03-04T05:06:07+00:00"
    assert desk.pages(view) == texts
    chunks = desk.catalogue.texts("document:d1")
    assert [(each.page, each.text) for each in chunks] == list(enumerate(texts, 1))
    assert chunks[0].date == "2024-05-01"


def test_word_files_have_sections_instead_of_pages_and_keep_tables(desk: Desk) -> None:
    paragraphs = [f"Paragraph {n}. " + "Words and words. " * 30 for n in range(20)]
    view = desk.take_in("a.docx", docx_file(paragraphs, [["Name", "Age"], ["Ann", "7"]]))
    assert view.form == "docx"
    assert view.pages == 4
    text = "\n\n".join(desk.pages(view))
    assert text == "\n\n".join([*(each.strip() for each in paragraphs), "Name | Age\nAnn | 7"])


def test_html_is_what_a_reader_sees(desk: Desk) -> None:
    html = (
        "<!doctype html><html><head><title>On Boats</title><style>p {color: red}</style></head>"
        "<body><nav>Home | About</nav><h1>Boats</h1><p>They <b>flo</b>at.<br>Mostly.</p>"
        "<script>alert('x')</script><ul><li>Sail</li><li>Oar</li></ul><div hidden>unseen</div>"
        "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>loose</body>"
    )
    view = desk.take_in("boats.html", html.encode())
    assert (view.form, view.title) == ("html", "On Boats")
    assert desk.pages(view) == [
        "Boats\n\nThey float.\nMostly.\n\nSail\n\nOar\n\na | b\nc | d\n\nloose"
    ]


def test_a_book_is_read_in_the_order_of_its_spine(desk: Desk) -> None:
    chapters = {
        "two.xhtml": "<html><body><p>Second.</p></body></html>",
        "the first.xhtml": "<html><body><p>First.</p><script>x</script></body></html>",
        "cover.xhtml": "<html><body><img src='c.png'/></body></html>",
    }
    view = desk.take_in("b.epub", epub(chapters, ["cover.xhtml", "the first.xhtml", "two.xhtml"]))
    assert (view.form, view.title) == ("epub", "A Book of Boats")
    assert desk.pages(view) == ["", "First.", "Second."]
    assert view.empty_pages == (1,)
    assert view.note == "1 page without text (1)."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Grüße, 漢字"),
        ("utf-8-sig", "Grüße"),
        ("utf-16", "Grüße, 漢字"),
        ("cp1252", "Grüße – „schön“"),  # noqa: RUF001
    ],
)
def test_text_is_decoded(desk: Desk, encoding: str, text: str) -> None:
    view = desk.take_in("t.txt", f"{text}\r\n\r\nMore.".encode(encoding))
    assert view.form == "text"
    assert desk.pages(view) == [f"{text}\n\nMore."]


def test_an_encoding_that_html_names_is_used(desk: Desk) -> None:
    view = desk.take_in("t.html", "<html><meta charset=koi8-r><p>Привет".encode("koi8-r"))
    assert desk.pages(view) == ["Привет"]


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("report.docx", pdf(["Really a PDF."]), "pdf"),
        ("report.pdf", docx_file(["Really Word."]), "docx"),
        ("report.txt", b"<!DOCTYPE html><html><p>Really HTML.</html>", "html"),
        ("report", b"Just text.", "text"),
        ("report.MD", b"# Notes\n\nText.", "markdown"),
        ("report.html", b"<p>No head.</p>", "html"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_file_is_shows_in_its_content_not_its_name(
    desk: Desk, name: str, content: bytes, form: str
) -> None:
    assert desk.take_in(name, content).form == form


# What can't be read.


def test_a_scan_is_said_to_be_one_and_nothing_is_pretended(desk: Desk) -> None:
    view = desk.take_in("scan.pdf", pdf(["", "", ""], scanned=[1, 2, 3]))
    assert (view.pages, view.chunks, view.empty_pages) == (3, 0, (1, 2, 3))
    assert view.note.startswith("Not indexed: none of its pages has a text layer")
    assert desk.documents.list() == [view]
    assert desk.documents.read(view.id, 3).text == ""


def test_a_page_without_text_among_others_is_named(desk: Desk) -> None:
    view = desk.take_in("mixed.pdf", pdf(["one", "", "three"], scanned=[2]))
    assert (view.empty_pages, view.note) == ((2,), "1 page without text (2).")
    assert desk.pages(view) == ["one", "", "three"]


WHOLE = pdf([f"page {n}" for n in range(50)])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("secret.pdf", encrypted_pdf(), "is protected by a password"),
        ("cut.pdf", WHOLE[:300], "is damaged or incomplete"),
        ("junk.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 40, "is damaged or incomplete"),
        ("cut.docx", docx_file(["text"])[:4000], "is damaged or incomplete"),
        ("bad.docx", archive({"word/document.xml": b"<w"}), "is damaged"),
        ("old.doc", b"\xd0\xcf\x11\xe0" + bytes(600), "is an old Office file"),
        ("sheet.xlsx", archive({"xl/workbook.xml": b""}), "is an archive, but no DOCX"),
        ("empty.epub", epub({}, []), "names no chapters"),
        ("shop.epub", epub({"a": "a"}, ["a"], {"META-INF/rights.xml": b"x"}), "is copy-protected"),
        ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(50), "is a picture"),
        ("program", b"\x7fELF\x00\x00", "isn't a text"),
        ("empty.txt", b"", "is empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    desk: Desk, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(InvalidError, match=said) as refusal:
        desk.take_in(name, content)
    assert name in refusal.value.message
    assert refusal.value.hint
    assert desk.documents.list() == []
    assert desk.documents.resume() == []


def test_a_zip_bomb_is_not_unpacked(desk: Desk) -> None:
    desk.reopen(Limits(unpacked_bytes=10_000_000))
    zeros = b"\0" * 20_000_000
    word = archive({"[Content_Types].xml": b"", "word/document.xml": zeros})
    book = epub({"a": "<p>a"}, ["a"], {"OEBPS/b": zeros})
    for name, content in (("bomb.docx", word), ("bomb.epub", book)):
        assert len(content) < 50_000
        with pytest.raises(InvalidError, match=r"unpacks to 20 MB in \d parts; at most 10 MB"):
            desk.take_in(name, content)


def test_a_truncated_pdf_never_counts_as_whole(desk: Desk) -> None:
    # PDFium repairs what it can: either all pages that it then has are told, or it's refused.
    for length in range(600, len(WHOLE), len(WHOLE) // 4):
        try:
            view = desk.take_in(f"cut{length}.pdf", WHOLE[:length])
        except ErisError:
            continue
        assert len(desk.pages(view)) == view.pages


def test_a_file_of_a_gigabyte_is_refused_with_the_limit(desk: Desk) -> None:
    path = sparse(desk.papers / "huge.pdf", 1 << 30)
    with pytest.raises(InvalidError, match="1,074 MB or more; documents of at most 268 MB"):
        desk.documents.take_in(str(path))


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(pages=10), "has 50 pages or more, of at most 10"),
        (Limits(text_characters=100), "characters of text or more, of at most 100"),
        (Limits(seconds=0.001), "takes too long to read"),
    ],
)
def test_a_document_beyond_a_limit_is_refused(desk: Desk, limits: Limits, said: str) -> None:
    desk.reopen(limits)
    with pytest.raises(InvalidError, match=said):
        desk.take_in("a.pdf", WHOLE)
    assert desk.documents.list() == []


def test_a_reader_that_runs_out_of_memory_takes_nobody_down(desk: Desk) -> None:
    desk.reopen(Limits(memory_bytes=250 * 1024 * 1024))
    with pytest.raises((InvalidError, StorageError)):
        desk.take_in("a.html", b"<p>" + b"word " * 40_000_000)
    assert desk.take_in("b.txt", b"Fine.").chunks == 1


def test_a_reader_that_is_killed_is_an_error_and_no_short_document(desk: Desk) -> None:
    path = Path(desk.write("a.pdf", pdf([f"page {n} " * 300 for n in range(800)])))
    with path.open("rb") as stream, Extraction(stream, "a.pdf", Limits()) as extraction:
        pages = extraction.pages()
        assert next(pages).number == 1
        os.kill(extraction.process_id, signal.SIGKILL)
        with pytest.raises(StorageError, match="of 800 pages were read, then its reader was ended"):
            list(pages)


def test_the_reader_has_no_network_and_cannot_write(tmp_path: Path) -> None:
    attempts = (
        "import socket; socket.socket()",
        "import subprocess; subprocess.Popen(['true'])",
        f"open({str(tmp_path / 'x')!r}, 'w')",
        f"import os; os.open({str(tmp_path / 'x')!r}, os.O_WRONLY | os.O_CREAT)",
    )
    for attempt in attempts:
        program = (
            "import sys, actors.memory.extracting.__main__ as reader;"
            f"sys.addaudithook(reader._forbid); {attempt}"
        )
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, env=_environment(), check=False
        )
        assert b"PermissionError" in ended.stderr, attempt


# Taken in anew, interrupted, forgotten.


def test_an_unchanged_file_is_left_as_it_is(desk: Desk) -> None:
    first = desk.take_in("a.pdf", pdf(["one"]))
    seen: list[int] = []
    again = desk.documents.take_in(first.path, progress=lambda *told: seen.append(told[1]))
    assert (again, seen) == (first, [])
    os.utime(first.path, ns=(1, 1))
    assert "has changed" in desk.documents.list()[0].note
    assert desk.documents.take_in(first.path).note == ""
    assert desk.documents.list() == [first]


def test_a_changed_file_says_so_and_keeps_its_id(desk: Desk) -> None:
    first = desk.take_in("a.pdf", pdf(["one", "two"]))
    desk.write("a.pdf", pdf(["other one", "other two", "three"]))
    assert "Its file has changed since" in desk.documents.list()[0].note
    assert desk.pages(first) == ["one", "two"]
    second = desk.documents.take_in(first.path)
    assert (second.id, second.pages, second.note) == ("d1", 3, "")
    assert desk.found(second) == "other one other two three"
    Path(first.path).unlink()
    assert "Its file is gone" in desk.documents.list()[0].note
    assert desk.pages(second)[2] == "three"


def stop_after(pages: int) -> Callable[[str, int, int], None]:
    def progress(path: str, done: int, all_pages: int) -> None:
        if done >= pages:
            raise CancelledWorkError("Stopped.")

    return progress


def big(name: str) -> list[str]:
    return [f"{name} {n} " + " ".join(f"{name}{n}x{m}" for m in range(400)) for n in range(60)]


def test_the_old_stays_until_all_of_the_new_is_there(desk: Desk) -> None:
    first = desk.take_in("a.txt", b"The old text.")
    desk.write("a.txt", "\n\n".join(big("new")).encode())
    with pytest.raises(CancelledWorkError):
        desk.documents.take_in(first.path, progress=stop_after(1))
    desk.reopen()
    assert desk.found(first) == "The old text."
    assert desk.documents.read("d1").text == "The old text."
    assert desk.documents.resume() == []
    [view] = desk.documents.list()
    assert view.pages > 10
    assert desk.found(view).startswith("new 0 ")


def test_what_was_interrupted_goes_on_without_doing_anything_twice(desk: Desk) -> None:
    text = "\n\n".join(big("word")).encode()
    with pytest.raises(CancelledWorkError):
        desk.documents.take_in(desk.write("a.txt", text), progress=stop_after(20))
    assert desk.documents.list() == []
    desk.reopen()
    seen: list[int] = []
    assert desk.documents.resume(lambda *told: seen.append(told[1])) == []
    [view] = desk.documents.list()
    fresh = desk.take_in("b.txt", text)
    assert (view.pages, view.chunks) == (fresh.pages, fresh.chunks)
    assert [each.text for each in desk.catalogue.texts("document:d1")] == [
        each.text for each in desk.catalogue.texts(f"document:{fresh.id}")
    ]
    assert desk.documents.resume() == []


def test_a_deleted_catalogue_is_filled_again_from_the_files(desk: Desk) -> None:
    kept = desk.take_in("a.pdf", pdf(["one"]))
    gone = desk.take_in("b.pdf", pdf(["two"]))
    Path(gone.path).unlink()
    desk.close()
    for file in desk.state.glob("catalogue.sqlite*"):
        file.unlink()
    desk.open()
    with pytest.raises(UnavailableError, match="taken in anew"):
        desk.documents.read(kept.id)
    [problem] = desk.documents.resume()
    assert "b.pdf" in problem.message
    assert desk.documents.read(kept.id).text == "one"
    assert [view.id for view in desk.documents.list()] == ["d1", "d2"]


def test_a_failed_attempt_leaves_the_former_version(desk: Desk) -> None:
    view = desk.take_in("a.pdf", pdf(["one"]))
    desk.write("a.pdf", encrypted_pdf())
    with pytest.raises(InvalidError):
        desk.documents.take_in(view.path)
    assert desk.found(view) == "one"
    assert desk.documents.read(view.id).text == "one"


def test_a_forgotten_document_is_not_found_and_its_id_is_never_used_again(desk: Desk) -> None:
    view = desk.take_in("a.pdf", pdf(["one"]))
    assert desk.documents.forget("a.pdf", "key") == view
    assert (desk.found(view), desk.documents.list()) == ("", [])
    desk.reopen()
    again = desk.documents.take_in(view.path)
    assert again.id == "d2"
    assert desk.documents.forget("a.pdf", "key") == view, "a repeated request does nothing"
    assert desk.documents.list() == [again]
    assert Path(view.path).exists()


def test_documents_are_named_by_id_path_title_or_file(desk: Desk) -> None:
    view = desk.take_in("a.pdf", pdf(["one"], title="The Big Report"))
    for name in ("d1", "D1", view.path, "the big report", "A.PDF"):
        assert desk.documents.read(name).document == view
    (desk.papers / "sub").mkdir()
    desk.take_in("sub/a.pdf", pdf(["two"]))
    with pytest.raises(InvalidError, match="2 documents are named") as refusal:
        desk.documents.read("a.pdf")
    assert "d1" in refusal.value.hint
    with pytest.raises(NotFoundError, match=r"No document 'b\.pdf'") as missing:
        desk.documents.read("b.pdf")
    assert "d1 (The Big Report)" in missing.value.hint
    with pytest.raises(InvalidError, match="has pages 1 to 1, no page 2"):
        desk.documents.read("d1", 2)


# Which files may be read.


def test_files_of_the_vault_are_read_through_the_vault(desk: Desk) -> None:
    desk.vault["Papers/a.pdf"] = pdf(["from the vault"])
    view = desk.documents.take_in("Papers/a.pdf")
    assert (view.path, view.title) == ("Papers/a.pdf", "a")
    assert desk.documents.read("d1").text == "from the vault"
    assert list((desk.state / "scratch").iterdir()) == []
    assert desk.documents.list()[0].note == ""
    desk.vault["Papers/a.pdf"] = pdf(["other words"])
    assert "has changed" in desk.documents.list()[0].note
    assert desk.documents.take_in("Papers/a.pdf").note == ""
    assert desk.documents.read("d1").text == "other words"
    del desk.vault["Papers/a.pdf"]
    assert "gone" in desk.documents.list()[0].note
    desk.vault["away/b.pdf"] = pdf(["b"])
    assert desk.documents.take_in("away/b.pdf").note == ""
    with pytest.raises(NotFoundError, match=r"no Papers/b\.pdf in the vault"):
        desk.documents.take_in("Papers/b.pdf")


def test_only_files_that_may_be_named_are_read(desk: Desk, tmp_path: Path) -> None:
    secret = desk.outside / "secret.txt"
    secret.write_bytes(b"secret")
    (desk.papers / "link.txt").symlink_to(secret)
    (desk.papers / "folder").symlink_to(desk.outside)
    (desk.papers / ".hidden").write_bytes(b"secret")
    for path in (
        str(secret),
        str(desk.papers / "link.txt"),
        str(desk.papers / "folder" / "secret.txt"),
        str(desk.papers / ".." / "outside" / "secret.txt"),
        str(desk.papers / ".hidden"),
        "../outside/secret.txt",
        ".eris/settings.toml",
        "/etc/passwd",
        str(tmp_path / "missing.txt"),
    ):
        with pytest.raises(DeniedError):
            desk.documents.take_in(path)
    view = desk.documents.take_in(str(secret), named_by_user=True)
    assert desk.pages(view) == ["secret"]
    with pytest.raises(NotFoundError, match="There's no file"):
        desk.documents.take_in(str(tmp_path / "missing.txt"), named_by_user=True)


def test_a_folder_that_becomes_a_link_after_the_check_is_not_followed(desk: Desk) -> None:
    (desk.papers / "sub").mkdir()
    (desk.papers / "sub" / "a.txt").write_bytes(b"fine")
    (desk.outside / "a.txt").write_bytes(b"secret")
    reach = Reach([desk.papers], desk.read, desk.look, desk.state, 1000)
    place = reach.may_read(str(desk.papers / "sub" / "a.txt"))
    (desk.papers / "sub").rename(desk.papers / "other")
    (desk.papers / "sub").symlink_to(desk.outside)
    with pytest.raises(DeniedError, match="can't be opened"), reach.opened(place):
        pass


def test_a_folder_or_a_pipe_is_no_document(desk: Desk) -> None:
    os.mkfifo(desk.papers / "pipe")
    (desk.papers / "sub").mkdir()
    for name in ("pipe", "sub"):
        with pytest.raises(InvalidError, match="is no file"):
            desk.documents.take_in(str(desk.papers / name))
