"""What changes notes: each request becomes one step, which can be undone.

Which note is meant is looked up within the step: a call that is repeated after it was done means
the same again, though a move has given the note another name.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import msgspec

from actors.vault.index import VaultIndex
from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.names import stem
from actors.vault.planning import Edit, Plan
from actors.vault.service.edits import edit_of, ended
from actors.vault.service.finding import Finder
from actors.vault.service.obsidian import ObsidianSettings
from actors.vault.service.relinking import heading_rewrites, moves_of, rewrites
from actors.vault.steps import Cause, Change, Receipt, Rename, State, Write
from actors.vault.writing import Build, Mode, NoteWriter
from eris.errors import InvalidError, NotFoundError, UnavailableError
from eris.vault.daily import daily_path
from eris.vault.editing import appended
from eris.vault.file_names import shown
from eris.vault.names import folded, folder_of, name_of
from eris.vault.templates import filled_in
from proto.vault import (
    EditKind,
    EditNote,
    MoveNote,
    OpenDaily,
    RestoreNote,
    TrashNote,
    Undo,
    Written,
)

_MOST_TWINS = 3
_MOST_LEFT = 5
_RELINKS = frozenset({"moved", "renamed"})
"""What is done to a note or heading with all links to it."""
_ASKED_FOR = frozenset({"moved", "trashed"})
"""What is done to a note that then has another path than was asked for."""


class Changes:
    """Carries out changes; thread-safe."""

    def __init__(
        self,
        writer: NoteWriter,
        journal: Journal,
        index: VaultIndex,
        lookup: Lookup,
        finder: Finder,
        obsidian: ObsidianSettings,
        *,
        now: Callable[[], dt.datetime],
        complete: Callable[[], bool],
    ) -> None:
        """Create it.

        Args:
            writer: Writes.
            journal: Its journal.
            index: Knows which notes link to which.
            lookup: Knows what people mean by a name.
            finder: Opens notes by name.
            obsidian: The vault's settings.
            now: Returns the time, in the user's zone.
            complete: Whether the index knows all notes; waits a moment for it.
        """
        self._writer = writer
        self._journal = journal
        self._index = index
        self._lookup = lookup
        self._finder = finder
        self._obsidian = obsidian
        self._now = now
        self._complete = complete

    def edit(self, request: EditNote, cause: Cause) -> Written:
        """Change one note.

        Raises:
            ErisError: It can't be changed in this way; nothing was changed.
        """
        same = repr(msgspec.structs.replace(request, idem=""))
        if request.kind is EditKind.CREATE:
            content = request.content
            if request.template:
                text = self._from_template(request.template, request.note, self._now())
                content = _joined(text, content)
            receipt = self._writer.write(cause, request.note, content, Mode.CREATE, request=same)
        elif request.kind is EditKind.OVERWRITE and not request.part:
            receipt = self._writer.write(
                cause, request.note, request.content, Mode.OVERWRITE, version=request.version
            )
        else:
            wanted = edit_of(request, self._now().date())
            new = wanted.new
            receipt = self._writer.edit(
                cause,
                request.note,
                wanted.edit,
                did=same,
                message=wanted.message,
                version=request.version,
                replaces=wanted.replaces,
                new=None if new is None else lambda: new,
            )
        return self.written(receipt)

    def move(self, request: MoveNote, cause: Cause) -> Written:
        """Move or rename a note or folder, or a heading (`Note#Heading`), with all links to it.

        Raises:
            UnavailableError: Not all links are known yet.
            ErisError: The new path is taken, or the disk doesn't allow it.
        """
        if not self._complete():
            raise UnavailableError(
                "The notes are still being looked through, so not all links are known yet.",
                hint="Try again in a moment; `eris vault index` shows how far it is.",
            )
        self._index.reconcile()  # What was saved this second may have a link, too.

        def relinked(path: str, new_path: str) -> Mapping[str, Edit]:
            names = self._index.names()
            moves = moves_of(path, new_path, names)
            return rewrites(moves, names, self._index, self._obsidian.read())

        target = request.target.strip()
        name, heading = self._heading(request.note)
        build: Build
        if heading:
            build = partial(self._with_heading, name=name, heading=heading, target=target)
        else:
            build = self._writer.moving(request.note, target, relinked)
        if not request.dry_run:
            asked = repr(("move", request.note, target))
            return self.written(self._writer.change(cause, asked, build))
        receipt, changes = self._writer.rehearsed(build)
        return Written(
            path=receipt.path,
            message=f"would have {_relinked(receipt, changes)}",
            files=paths_of(changes),
            remark=_left_told(receipt.left),
        )

    def _heading(self, asked: str) -> tuple[str, str]:
        """Return the note and the heading that are named, if it's a heading."""
        name, _mark, heading = asked.partition("#")
        if name.strip() and heading.strip():
            try:
                self._lookup.anything(asked)
            except NotFoundError:
                return name, heading.strip()
        return asked, ""

    def _with_heading(self, plan: Plan, *, name: str, heading: str, target: str) -> Receipt:
        path = self._lookup.existing(name).path
        title = _title_of(target, name, path)
        text = self._finder.at(path).text.removeprefix("\ufeff")
        edits = heading_rewrites(path, heading, title, self._index, text)
        plan.rewrite(path, edits.pop(path))
        left = tuple(each for each, edit in edits.items() if not plan.relink(each, edit))
        told = f"renamed the heading '{shown(heading)}' to '{shown(title)}' in {path}"
        return Receipt(path=path, action="renamed", message=told, left=left)

    def trash(self, request: TrashNote, cause: Cause) -> Written:
        """Move a note or folder to the vault's trash.

        Raises:
            ErisError: It isn't there, or the disk doesn't allow it.
        """
        return self.written(self._writer.trash(cause, request.note))

    def daily(self, request: OpenDaily, cause: Cause) -> Written:
        """Open, make or append to the note of a day.

        Raises:
            InvalidError: The day is none.
            NotFoundError: It isn't there and isn't to be made.
        """
        now = self._now()
        try:
            day = dt.date.fromisoformat(request.day) if request.day else now.date()
        except ValueError as error:
            raise InvalidError(
                f"{request.day!r} is no date.", hint="Write it as in 2027-01-31."
            ) from error
        settings = self._obsidian.read()
        path = daily_path(day, settings)
        if not request.create and not self._lookup.find(path, exact=True).exists:
            raise NotFoundError(
                f"There is no daily note {path} yet.", hint="Make it with `eris vault daily`."
            )

        def new() -> str:
            moment = dt.datetime.combine(day, now.timetz())
            template = settings.daily_template
            text = self._from_template(template, path, moment) if template else ""
            return _joined(text, ended(request.content) if request.content else "")

        content = request.content
        wanted = edit_of(
            EditNote(idem="", kind=EditKind.APPEND, note=path, content=content), now.date()
        )
        receipt = self._writer.edit(
            cause,
            path,
            wanted.edit if content else lambda text: text,
            did=f"daily {content!r}",
            message=wanted.message,
            new=new,
            exact=True,
        )
        written = self.written(receipt)
        if content or written.step:
            return written
        return msgspec.structs.replace(written, message=f"opened {receipt.path}")

    def undo(self, request: Undo, cause: Cause) -> Written:
        """Take back a step, or what was done last.

        Raises:
            NotFoundError: There's nothing to be undone, or no such step.
            ConflictError: What was changed since is in the way.
        """
        if not request.step:
            return self.undo_last(cause)
        return self._undone([self._writer.undoing.step(cause, request.step)])

    def undo_last(self, cause: Cause, session: str = "") -> Written:
        """Take back every step of the last turn that wrote.

        Args:
            cause: Who wants it.
            session: Only turns of this session; of any if empty.

        Raises:
            ErisError: There's nothing to undo, or nothing could be undone.
        """
        undone = self._writer.undoing.last(cause, session=session)
        remark = " ".join(f"{error.message} {error.hint}" for _, error in undone.refused)
        return msgspec.structs.replace(self._undone(undone.receipts), remark=remark)

    def _undone(self, receipts: Iterable[Receipt]) -> Written:
        steps = [self._journal.step(each.step) for each in receipts]
        files = dict.fromkeys(path for step in steps for path in paths_of(step.changes))
        return Written(
            path=steps[-1].receipt.path,
            message="; ".join(step.line for step in steps),
            version=steps[-1].receipt.version,
            step=steps[-1].number,
            files=tuple(files),
            action=steps[-1].receipt.action,
        )

    def restore(self, request: RestoreNote, cause: Cause) -> Written:
        """Bring a note back to what it was before or after a step.

        Raises:
            NotFoundError: The step didn't touch the note, or its contents aren't kept.
        """
        path = self._lookup.find(request.note).path
        for each in self._writer.history.versions(path):
            change = each.change
            if each.step.number == request.step:
                if isinstance(change, Rename):
                    digest = change.digest
                else:
                    digest = change.before if request.before else change.after
                if digest:
                    return self.written(self._writer.restore(cause, path, digest))
                when = "before" if request.before else "after"
                raise NotFoundError(
                    f"There was no {path} {when} step {request.step}.",
                    hint=f"Undo the step instead: eris undo {request.step}",
                )
        raise NotFoundError(
            f"Step {request.step} didn't change {path}.",
            hint=f"See `eris vault history {path}` for those that did.",
        )

    def repeated(self, cause: Cause) -> Written | None:
        """Return what a call did if it's done already."""
        known = self._journal.find(cause.call_id)
        done = known and known.state in {State.DONE, State.DROPPED}
        return self.written(known.receipt) if known and done else None

    def written(self, receipt: Receipt) -> Written:
        """Tell what a write did."""
        changes = self._journal.step(receipt.step).changes if receipt.step else ()
        return Written(
            path=receipt.path,
            message=_relinked(receipt, changes),
            version=receipt.version,
            step=receipt.step,
            files=paths_of(changes),
            action=receipt.action,
            size=receipt.size,
            remark=" ".join(self._remarks(receipt)),
        )

    def _remarks(self, receipt: Receipt) -> Iterable[str]:
        path, asked = receipt.path, receipt.asked
        if asked and receipt.action == "created":
            if name_of(path) not in {name_of(asked), f"{name_of(asked)}.md"}:
                yield f"No file can be called '{shown(name_of(asked))}': it's kept as an alias."
            elif path == f"{asked}.md":
                yield f"{asked} had no extension, so .md was added."
            else:
                yield f"New notes go to {folder_of(path)}."
        elif asked not in {"", path.removesuffix(".md")} and receipt.action not in _ASKED_FOR:
            yield f"You asked for {asked}; this is the note of that name."
        if receipt.left:
            yield _left_told(receipt.left)
        if receipt.merged:
            yield "It was changed since you read it; that change was kept."
        if receipt.folder:
            yield f"The folder {receipt.folder} is new."
        if receipt.action == "created" and not receipt.copy_of:
            twins = self._lookup.twins(path)
            if twins:
                notes = "another note" if len(twins) == 1 else "other notes"
                yield f"There is {notes} of that name: {', '.join(twins[:_MOST_TWINS])}."

    def _from_template(self, template: str, note: str, moment: dt.datetime) -> str:
        settings = self._obsidian.read()
        folder = settings.template_folder
        found = self._lookup.find(f"{folder}/{template}" if folder else template)
        file = self._finder.at(found.path) if found.exists else self._finder.load(template)
        return filled_in(file.text.removeprefix("\ufeff"), stem(name_of(note)), moment, settings)


def paths_of(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return the files that a step changed, by their paths after it."""
    changes = tuple(changes)
    renames = [change for change in changes if isinstance(change, Rename)]
    paths: dict[str, None] = {}
    for change in changes:
        path = change.path
        for rename in renames:
            path = rename.moved(path)
        paths[path] = None
    return tuple(paths)


def _title_of(target: str, name: str, path: str) -> str:
    """Return the title that is meant by `Title`, `#Title` or `Note#Title`."""
    before, mark, title = target.partition("#")
    own = {"", folded(name.strip()), folded(path), folded(stem(name_of(path)))}
    return title.strip("# ") if mark and folded(before.strip()) in own else target.strip()


def _relinked(receipt: Receipt, changes: Iterable[Change]) -> str:
    message = receipt.message or f"{receipt.action} {receipt.path}"
    if receipt.action not in _RELINKS:
        return message
    own = {receipt.path} if receipt.action == "renamed" else set()
    rewritten = sum(isinstance(change, Write) and change.path not in own for change in changes)
    files = "1 file" if rewritten == 1 else f"{rewritten:,} files"
    return f"{message} and rewrote links in {files}" if rewritten else message


def _left_told(paths: Sequence[str]) -> str:
    """Say in which notes links weren't rewritten."""
    if not paths:
        return ""
    notes = "a read-only note was" if len(paths) == 1 else f"{len(paths):,} read-only notes were"
    more = len(paths) - _MOST_LEFT
    named = ", ".join(paths[:_MOST_LEFT]) + (f" and {more:,} more" if more > 0 else "")
    return f"What links to it in {notes} left as it is: {named}."


def _joined(text: str, content: str) -> str:
    """Return a new note's text with more at its end."""
    return appended(text, content) if text and content else text or content
