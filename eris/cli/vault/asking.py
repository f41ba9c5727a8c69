"""Asking the vault actor: attached when first needed, patient while it's being restarted."""

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from eris.cli.invocation import Invocation
from eris.errors import ConflictError
from proto.vault import Files, ListFolder, NoteText, OpenDaily, ReadNote, Written

if TYPE_CHECKING:
    from eris.actor import Port

R = TypeVar("R", bound=msgspec.Struct)
T = TypeVar("T")

VAULT = "vault"

_ANSWER_SECONDS = 60.0
"""How long an answer may take, restarts on the way included."""

_PAGE = 1000
"""The most things to ask for at once."""

_READINGS = 5


def fresh_key() -> str:
    """Return an idempotency key, so that a write that is repeated isn't done twice."""
    return uuid.uuid4().hex


class Ask(Protocol):
    """Sends a request to the vault and returns its reply."""

    def __call__(self, body: msgspec.Struct, expect: type[R], /) -> R:
        """Ask.

        Raises:
            UnavailableError: The system doesn't run, or the vault can't.
            RemoteError: The vault refused, or didn't answer in time.
        """
        ...


@contextmanager
def attached(invocation: Invocation, *, start: bool) -> Iterator["Notes"]:
    """Give the notes of the running system.

    Nothing is attached before the first request, so that wrong usage is told without a system. A
    request that got lost in a restart is repeated.

    Args:
        invocation: Which vault.
        start: Whether to start its system if it doesn't run.
    """
    with ExitStack() as stack:
        port: Port | None = None

        def ask(body: msgspec.Struct, expect: type[R], /) -> R:
            from eris.absence import ask_while_it_lives  # noqa: PLC0415 - zmq: not for help

            nonlocal port
            port = port or stack.enter_context(_attach(invocation, start=start))
            return ask_while_it_lives(port, VAULT, body, expect, within=_ANSWER_SECONDS)

        yield Notes(ask)


@contextmanager
def _attach(invocation: Invocation, *, start: bool) -> "Iterator[Port]":
    from eris.cli.starting import start_system  # noqa: PLC0415
    from eris.surface import attach, is_running, require_running  # noqa: PLC0415

    paths = invocation.paths()
    if start and not is_running(paths):
        start_system(paths.vault, invocation.child_environment(), sys.stderr)
    require_running(paths)
    with attach("cli", paths, invocation.settings().settings) as port:
        yield port


class Notes:
    """The notes of a vault, as one command asks about them."""

    def __init__(self, ask: Ask) -> None:
        """Create it over a way to ask."""
        self.ask = ask

    def read(self, note: str, part: str = "", first_line: int = 1, lines: int = 0) -> NoteText:
        """Return all that is asked for of a note, however many messages it takes.

        Args:
            note: Path, name, title or alias.
            part: Heading or block; empty for all of it.
            first_line: Where to begin.
            lines: How many lines; 0 for all.

        Raises:
            ConflictError: It was changed again and again while it was being read.
        """
        for _ in range(_READINGS):
            page = self.ask(
                ReadNote(note=note, part=part, first_line=first_line, lines=lines), NoteText
            )
            pages = [page]
            last = first_line + lines
            while pages[-1].next_line and (not lines or pages[-1].next_line < last):
                on = pages[-1].next_line
                body = ReadNote(
                    note=page.path, part=part, first_line=on, lines=last - on if lines else 0
                )
                pages.append(self.ask(body, NoteText))
            if all(each.version == page.version for each in pages):
                text = "".join(each.text for each in pages)
                return msgspec.structs.replace(page, text=text, next_line=pages[-1].next_line)
        raise ConflictError(
            f"{note} was changed again and again while it was being read.",
            hint="Try again when it's left alone.",
        )

    def files(self, folder: str = "", *, folders: bool = False) -> Files:
        """Return the paths of all files, or folders, below a folder."""
        paths: list[str] = []
        while True:
            after = paths[-1] if paths else ""
            page = self.ask(ListFolder(folder=folder, folders=folders, after=after), Files)
            paths += page.paths
            if not page.paths or len(paths) >= page.total:
                return msgspec.structs.replace(page, paths=tuple(paths), total=len(paths))

    def daily(self) -> str:
        """Return the path of today's note.

        Raises:
            RemoteError: ``not-found``: there is none yet.
        """
        return self.ask(OpenDaily(idem=fresh_key(), create=False), Written).path


def collect(
    fetch: Callable[[int, int], tuple[Sequence[T], int]], most: int | None
) -> tuple[tuple[T, ...], int]:
    """Return things that come in pages, and how many there are in all.

    Args:
        fetch: Takes how many to leave out and how many to give at most; returns them and the total.
        most: How many to return at most; None for all.
    """
    found: list[T] = []
    while True:
        page, total = fetch(len(found), _PAGE if most is None else min(_PAGE, most - len(found)))
        found += page
        if not page or len(found) >= total or (most is not None and len(found) >= most):
            return tuple(found), total
