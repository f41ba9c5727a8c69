"""Documents taken in, read page by page, listed and forgotten."""

import datetime as dt
import hashlib
import threading
from collections.abc import Callable
from pathlib import PurePath
from typing import BinaryIO

import msgspec

from actors.memory.catalogue import Catalogue, Source
from actors.memory.chunking import VERSION, Chunk, TokenCount, chunk_page
from actors.memory.chunking.chunk import DEFAULT_LIMIT
from actors.memory.documents.extractor import Extraction
from actors.memory.documents.names import DocumentNames, Known, Named
from actors.memory.documents.reach import Place, Reach
from actors.memory.documents.telling import (
    no_such_document,
    taken_in_note,
    view_of,
)
from actors.memory.extracting.report import Limits, Page
from eris.errors import CancelledWorkError, ErisError, InvalidError, UnavailableError
from proto.memory import DocumentView, Kind, PageText

BATCH_CHARACTERS = 60_000
"""Text of pages that is cut and handed to the catalogue at a time; at least one page."""

Progress = Callable[[str, int, int], None]
"""Told path, pages taken in and pages there are; may raise `CancelledWorkError`:
then `resume` goes on later where it was interrupted."""


def _silent(path: str, done: int, pages: int) -> None:
    del path, done, pages


class Documents:
    """All documents. Its methods may be called from any thread; taking in is done one by one."""

    def __init__(
        self,
        names: DocumentNames,
        catalogue: Catalogue,
        reach: Reach,
        count: TokenCount,
        now: Callable[[], dt.datetime],
        limits: Limits | None = None,
        chunk_tokens: int = DEFAULT_LIMIT,
    ) -> None:
        """Create it.

        Args:
            names: Where their names are kept.
            catalogue: Where their pages and chunks go.
            reach: Which files may be read.
            count: The embedder's tokenizer.
            now: The local time, with its offset.
            limits: What reading one may cost.
            chunk_tokens: Most tokens of a chunk.
        """
        self._names = names
        self._catalogue = catalogue
        self._reach = reach
        self._count = count
        self._now = now
        self._limits = limits or Limits()
        self._chunk_tokens = chunk_tokens
        self._taking_in = threading.Lock()

    def take_in(
        self, path: str, *, named_by_user: bool = False, progress: Progress = _silent
    ) -> DocumentView:
        """Take a document in, or anew if its file has changed; an unchanged one is left as it is.

        What was taken in before can be found until all of the new is there.

        Args:
            path: In the vault, or absolute.
            named_by_user: Whether the user named it on the command line of this machine.
            progress: Told after each batch of pages.

        Raises:
            DeniedError: It may not be read.
            NotFoundError: There's no such file.
            InvalidError: It's damaged, encrypted, too large, or of no known form.
            StorageError: Reading it failed, or nothing can be written.
        """
        place = self._reach.may_read(path, named_by_user=named_by_user)
        with self._taking_in:
            return self._take_in(place, progress, by_user=named_by_user)

    def resume(self, progress: Progress = _silent) -> list[ErisError]:
        """Go on with what was interrupted, and take in anew what the catalogue doesn't know.

        Returns:
            What went wrong, a document each; their names are kept, and what is found of them.
        """
        problems: list[ErisError] = []
        known = self._catalogue.digests(Kind.DOCUMENT)
        for each in self._names.all():
            if each.known and not each.unfinished and known.get(each.key) == each.known.digest:
                continue
            try:
                self.take_in(each.path, named_by_user=each.by_user, progress=progress)
            except ErisError as error:
                problems.append(error)
        return problems

    def read(self, document: str, page: int = 1) -> PageText:
        """Return one page, exactly as it was extracted.

        Args:
            document: Its id, path, file name or title.
            page: From 1.

        Raises:
            NotFoundError: No such document was taken in.
            InvalidError: It has no such page, or several documents are meant.
            UnavailableError: Its pages aren't there at the moment: the catalogue is made anew.
        """
        named = self._named(document)
        view = self._view(named)
        if not 1 <= page <= view.pages:
            raise InvalidError(
                f"{view.title} ({view.id}) has pages 1 to {view.pages}, no page {page}.",
                hint="Ask for one of these.",
            )
        text = self._catalogue.page(named.key, page)
        if text is None:
            raise UnavailableError(
                f"Page {page} of {view.title} isn't there: the document is being taken in anew.",
                hint=f"Try again soon; if it stays so: eris doc ingest {view.path}",
            )
        return PageText(document=view, page=page, text=text)

    def list(self) -> list[DocumentView]:
        """Return all documents, by path; the note of each says if its file has changed since."""
        return [self._view(each) for each in self._names.all() if each.known]

    def forget(self, document: str, key: str) -> DocumentView:
        """Forget a document, its file stays.

        Args:
            document: Its id, path, file name or title.
            key: Idempotency key: repeating it gives the first answer and does nothing.

        Raises:
            NotFoundError: No such document was taken in.
            InvalidError: Several are meant.
        """
        result = self._names.result(key)
        if result is not None:
            return msgspec.json.decode(result, type=DocumentView)
        with self._taking_in:
            named = self._named(document)
            view = self._view(named)
            # A crash in between leaves a name without pages: `resume` puts that right.
            self._catalogue.gone(named.key)
            self._names.forget(named.number, key, msgspec.json.encode(view))
        return view

    # Taking in.

    def _take_in(self, place: Place, progress: Progress, *, by_user: bool) -> DocumentView:
        state = self._reach.state(place) or ""
        with self._reach.opened(place) as stream:
            digest = f"{_digest(stream)}/{VERSION}/{self._chunk_tokens}"
            before = self._at(place.path)
            if before and before.known and before.known.digest == digest:
                source = self._catalogue.source(before.key)
                if source is not None and source.digest == digest:
                    known = msgspec.structs.replace(before.known, state=state)
                    self._names.finish(before.number, known)
                    return self._view(msgspec.structs.replace(before, known=known))
            named = self._names.begin(place.path, in_vault=place.in_vault, by_user=by_user)
            try:
                with Extraction(stream, place.path, self._limits) as extraction:
                    known = self._pages(named, extraction, digest, state, progress)
            except CancelledWorkError:
                raise
            except ErisError:
                # It was told, and may well fail again: nothing is to be resumed.
                self._names.give_up(named.number)
                if named.known is None:
                    self._catalogue.gone(named.key)
                raise
        self._names.finish(named.number, known)
        return self._view(msgspec.structs.replace(named, known=known, unfinished=False))

    def _pages(
        self, named: Named, extraction: Extraction, digest: str, state: str, progress: Progress
    ) -> Known:
        """Hand all pages to the catalogue, batch by batch; they're found when all are there."""
        begun = extraction.begun
        title = begun.title or PurePath(named.path).stem
        source = Source(
            key=named.key,
            kind=Kind.DOCUMENT,
            path=named.path,
            title=title,
            date=begun.date,
            digest=digest,
        )
        there = self._catalogue.begin(source)
        batch: list[tuple[int, str]] = []
        empty: list[int] = []
        problems: list[Page] = []
        chunks = length = 0

        def hand_over() -> None:
            nonlocal chunks, length
            cut: list[Chunk] = []
            for number, text in batch:
                cut.extend(chunk_page(title, number, text, self._count, self._chunk_tokens))
            chunks += len(cut)
            new = [each for each in batch if each[0] > there]
            if new:
                self._catalogue.grow(named.key, new, [each for each in cut if each.page > there])
            if batch:
                progress(named.path, batch[-1][0], begun.pages)
            batch.clear()
            length = 0

        for page in extraction.pages():
            batch.append((page.number, page.text))
            length += len(page.text)
            if not page.text.strip():
                empty.append(page.number)
            if page.problem:
                problems.append(page)
            if length >= BATCH_CHARACTERS:
                hand_over()
        hand_over()
        self._catalogue.finish(named.key)
        return Known(
            title=title,
            form=begun.form,
            pages=begun.pages,
            chunks=chunks,
            empty_pages=tuple(empty),
            note=taken_in_note(begun.form, begun.pages, empty, problems),
            added=self._now().isoformat(timespec="seconds"),
            digest=digest,
            state=state,
        )

    # Names.

    def _at(self, path: str) -> Named | None:
        return next((each for each in self._names.all() if each.path == path), None)

    def _named(self, document: str) -> Named:
        """Return the document that a name means.

        Raises:
            NotFoundError: There's none.
            InvalidError: There are several.
        """
        known = [each for each in self._names.all() if each.known]
        wanted = document.strip()
        folded = wanted.casefold()
        for found in (
            [each for each in known if wanted in {each.id, each.path}],
            [each for each in known if each.known and each.known.title.casefold() == folded],
            [
                each
                for each in known
                if folded in {PurePath(each.path).name.casefold(), each.path.casefold(), each.id}
            ],
        ):
            if len(found) == 1:
                return found[0]
            if found:
                raise InvalidError(
                    f"{len(found)} documents are named {document!r}.",
                    hint="Name one by its id: "
                    + ", ".join(f"{each.id} ({each.path})" for each in found),
                )
        raise no_such_document(document, [self._view(each) for each in known])

    def _view(self, named: Named) -> DocumentView:
        place = Place(named.path, in_vault=named.in_vault)
        return view_of(named, self._reach.state(place))


def _digest(stream: BinaryIO) -> str:
    """Return the digest of a file; afterwards it's at its start again."""
    digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    stream.seek(0)
    return digest
