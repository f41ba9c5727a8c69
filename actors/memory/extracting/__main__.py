"""Reads the document of standard input and tells its pages on standard output."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from actors.memory.extracting.detecting import Form, form_of
from actors.memory.extracting.document import Opened, UnreadableError
from actors.memory.extracting.report import Begun, Ended, Limits, Refused, Report, Task

try:
    import resource
except ImportError:  # Windows has no such limits.
    resource = None  # type: ignore[assignment]

_FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "os.remove",
    "os.rename",
    "shutil.",
    "urllib.",
    "ftplib.",
    "smtplib.",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def reports(stream: BinaryIO, task: Task) -> Iterator[Report]:
    """Give all that is to be told of a document."""
    limits = task.limits
    try:
        opened = _opened(stream, form_of(stream, task.suffix), limits)
        _check(opened.pages, limits.pages, "pages")
        yield Begun(form=opened.form, pages=opened.pages, title=opened.title, date=opened.date)
        told = characters = 0
        for page in opened.content:
            characters += len(page.text)
            _check(characters, limits.text_characters, "characters of text")
            yield page
            told = page.number
        yield Ended(pages=told)
    except UnreadableError as error:
        yield Refused(problem=error.problem, hint=error.hint)
    except MemoryError:
        yield Refused(
            problem=f"needs more than {limits.memory_bytes / 1e6:,.0f} MB of memory to be read",
            hint="Part it, or remove its pictures.",
        )
    except Exception as error:  # noqa: BLE001
        # What the libraries raise for a broken file isn't known; it's told and this process ends.
        yield Refused(
            problem=f"can't be read ({type(error).__name__}: {error})",
            hint="Open it in its own program and save it anew.",
        )


def _opened(stream: BinaryIO, form: Form, limits: Limits) -> Opened:
    # Only the reader that is needed is imported: a process is started for every document.
    match form:
        case Form.PDF:
            from actors.memory.extracting.pdf import open_pdf  # noqa: PLC0415

            return open_pdf(stream)
        case Form.DOCX:
            from actors.memory.extracting.docx import open_docx  # noqa: PLC0415

            return open_docx(stream, limits)
        case Form.HTML:
            from actors.memory.extracting.html import open_html  # noqa: PLC0415

            return open_html(stream)
        case Form.EPUB:
            from actors.memory.extracting.epub import open_epub  # noqa: PLC0415

            return open_epub(stream, limits)
        case Form.MARKDOWN | Form.TEXT:
            from actors.memory.extracting.text import open_text  # noqa: PLC0415

            return open_text(stream, form)


def _check(number: int, most: int, what: str) -> None:
    if number > most:
        raise UnreadableError(f"has {number:,} {what} or more, of at most {most:,}", "Part it.")


def main() -> int:
    """Read the document of standard input."""
    task = msgspec.json.decode(sys.argv[1], type=Task)
    _limit(task.limits)
    sys.addaudithook(_forbid)
    encoder = msgspec.json.Encoder()
    with open(0, "rb", closefd=False) as stream:
        for report in reports(stream, task):
            sys.stdout.buffer.write(encoder.encode(report) + b"\n")
            sys.stdout.buffer.flush()
    return 0


def _limit(limits: Limits) -> None:
    if resource is None:
        return
    for name, value in (
        ("RLIMIT_AS", limits.memory_bytes),
        ("RLIMIT_CPU", limits.processor_seconds),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
    ):
        number = getattr(resource, name, None)
        if number is None:
            continue
        _, most = resource.getrlimit(number)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS.
            resource.setrlimit(number, (allowed, most))


def _forbid(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what reading a document never needs."""
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"{event} isn't allowed while a document is read")
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        raise PermissionError("nothing may be written while a document is read")


if __name__ == "__main__":
    sys.exit(main())
