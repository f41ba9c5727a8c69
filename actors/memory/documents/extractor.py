"""Starts the process that reads a document, and believes nothing of what it says unchecked."""

import contextlib
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from actors.memory.extracting.report import Begun, Ended, Limits, Page, Refused, Report, Task
from eris.errors import InvalidError, StorageError

_MODULE = "actors.memory.extracting"
_ROOT = Path(__file__).parents[3]
_READ_BYTES = 1 << 16
_LONGEST_LINE = 512 * 1024 * 1024
_SLOW = (
    "Part the document, or convert it, for example by printing it to a PDF file; "
    "what was taken in before stays."
)


class Extraction:
    """The pages of one document, while it's read by another process.

    Use it as a context manager: however it's left, the process is gone afterwards.
    """

    def __init__(self, stream: BinaryIO, name: str, limits: Limits) -> None:
        """Start to read.

        Args:
            stream: The file, open for reading at its start.
            name: What to call it in sentences; its suffix tells Markdown from text.
            limits: What it may cost.

        Raises:
            InvalidError: It can't be read: the sentence says why.
            StorageError: The process can't be started, or ended by itself.
        """
        self._name = name
        self._limits = limits
        task = Task(suffix=Path(name).suffix, limits=limits)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE, msgspec.json.encode(task).decode()],
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise StorageError(f"{name} can't be read: no process can be started.") from error
        self._lines = self._reports()
        try:
            self.begun = self._begun()
            """What the document is."""
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """Of the reading process."""
        return self._process.pid

    def pages(self) -> Iterator[Page]:
        """Give every page, in order, from the first to the last; can be gone through once.

        Raises:
            InvalidError: The document can't be read to its end.
            StorageError: The process ended by itself, or told other pages than it said.
        """
        told = 0
        for report in self._lines:
            match report:
                case Page(number=number) if number == told + 1:
                    told = number
                    yield report
                case Ended(pages=pages) if pages == told == self.begun.pages:
                    return
                case _:
                    break
        raise self._broken(f"{told} of {self.begun.pages} pages were read")

    def close(self) -> None:
        """End the process, if it lives."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _begun(self) -> Begun:
        first = next(self._lines, None)
        if not isinstance(first, Begun):
            raise self._broken("it didn't say what it is")
        return first

    def _reports(self) -> Iterator[Report]:
        """Give what the process tells, until it ends.

        Raises:
            InvalidError: It refused the document, or took too long.
            StorageError: It told what makes no sense.
        """
        decoder = msgspec.json.Decoder(Report)
        for line in self._output():
            try:
                report = decoder.decode(line)
            except msgspec.DecodeError as error:
                raise self._broken("it told what makes no sense") from error
            if isinstance(report, Refused):
                raise InvalidError(
                    f"{self._name} {report.problem}.",
                    hint=report.hint or "Check the file, or take in another form of it.",
                )
            yield report

    def _output(self) -> Iterator[bytes]:
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101 - it's told to be a pipe
        end = time.monotonic() + self._limits.seconds
        parts: list[bytes] = []
        length = 0
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                patience = min(self._limits.silent_seconds, end - time.monotonic())
                if patience <= 0 or not selector.select(patience):
                    raise InvalidError(
                        f"{self._name} takes too long to read: a page may take "
                        f"{self._limits.silent_seconds:g} seconds and all of it "
                        f"{self._limits.seconds:g}.",
                        hint=_SLOW,
                    )
                data = os.read(pipe.fileno(), _READ_BYTES)
                if not data:
                    return
                *lines, rest = data.split(b"\n")
                for line in lines:
                    yield b"".join([*parts, line])
                    parts, length = [], 0
                parts.append(rest)
                length += len(rest)
                if length > _LONGEST_LINE:
                    raise self._broken("one of its pages has no end")

    def _broken(self, why: str) -> StorageError:
        """Return the error for a process that ended too early, or told what can't be."""
        if self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        code = self._process.poll()
        ended = "" if code is None else _ending(code)
        return StorageError(
            f"{self._name} couldn't be read: {why}{ended}.",
            hint="The file may be damaged. Open it in its own program and save it anew.",
        )


def _ending(code: int) -> str:
    if code < 0:
        return f", then its reader was ended by signal {-code}"
    return f", then its reader ended with status {code}" if code else ""


def _environment() -> dict[str, str]:
    """Return what the process needs to start, and nothing else: no keys, no proxies."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH")
        if name in os.environ
    }
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
