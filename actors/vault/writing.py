"""The one way in which the vault changes: what tools call to write, move, remove, undo, restore.

A write that is based on a version which somebody has changed since is merged with that change, or
not made. How a step happens at all is in `stepping`.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, tzinfo
from enum import StrEnum

import msgspec

from actors.vault.conflicts import conflict, conflict_names, merged
from actors.vault.folder import Kind
from actors.vault.history import History
from actors.vault.journal import Journal
from actors.vault.lookup import Found, Lookup
from actors.vault.names import check_new_file_name, parse_path, target_of
from actors.vault.planning import Edit, Plan, edited
from actors.vault.replacing import VERSION_DIGITS, Content, read_file
from actors.vault.seen import Seen, View
from actors.vault.stepping import ATTEMPTS, Intent, Recovered, Stepper
from actors.vault.steps import Cause, Change, Entry, Receipt
from actors.vault.text import appended, decode, encode, refuse_binary, told_size
from actors.vault.undoing import Undoing
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, DeniedError, InvalidError, NotFoundError


class Mode(StrEnum):
    """What becomes of a note that is there already."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    CREATE = "create"
    """Nothing: then the write is refused."""


Rewrites = Callable[[str, str], Mapping[str, Edit]]
"""From a path and what it will be: what becomes of the texts of files, by their old paths."""


class NoteWriter:
    """Changes notes, one step at a time; thread-safe.

    Every method that changes something takes a `Cause`, and returns the first receipt when it's
    called again with the same one. It raises an `ErisError` if nothing was written; where something
    was, the sentence says so.
    """

    def __init__(
        self,
        vault: VaultFolder,
        journal: Journal,
        *,
        lookup: Lookup,
        random_hex: Callable[[int], str],
        zone: tzinfo | None = None,
        read_only: Iterable[str] = (),
        done: Callable[[Entry], None] = lambda _entry: None,
        between: Callable[[str], None] = lambda _where: None,
    ) -> None:
        """Create the writer.

        Args:
            vault: The vault.
            journal: Where every step is written down.
            lookup: Finds the notes that are meant.
            random_hex: Returns so many random bytes in hexadecimal, such as `secrets.token_hex`.
            zone: The user's time zone, for the names of conflict copies; the machine's if none.
            read_only: Folders and files, relative to the vault, that are never written to.
            done: Told of every step when it's done, while no other goes on.
            between: Called between any two things that are done to the disk; for tests.
        """
        self._vault = vault
        self._journal = journal
        self._lookup = lookup
        self._zone = zone
        self._seen = Seen()
        self._seen_lock = threading.Lock()
        self._stepper = Stepper(
            vault,
            journal,
            random_hex=random_hex,
            read_only=read_only,
            done=done,
            between=between,
        )
        self.history = History(vault, journal)
        """Versions, differences, and who wrote which line."""
        self.undoing = Undoing(vault, journal, self._stepper)
        """Takes steps and turns back."""

    def recover(self) -> list[Recovered]:
        """Settle every step that a crash interrupted; call it before the first write."""
        return self._stepper.recover()

    def stop(self) -> None:
        """Wait for the write under way, and refuse more."""
        self._stepper.stop()

    def saw(self, session: str, path: str, data: bytes) -> str:
        """Remember that a session has read a note, and return its version.

        Overwriting the note in this session is then based on that version.
        """
        with self._seen_lock:
            return self._seen.saw(session, path, data)

    # One note.

    def write(
        self,
        cause: Cause,
        path: str,
        content: str,
        mode: Mode = Mode.APPEND,
        *,
        version: str = "",
        conflict_copy: bool = False,
        request: str = "",
    ) -> Receipt:
        """Append to a note, create it, or replace all of it.

        Args:
            cause: Who wants it.
            path: The note, as a model wrote it; to overwrite, it must be exact.
            content: The text.
            mode: What becomes of a note that is there.
            version: For overwriting, the version that the content is based on; the session's last
                read if empty.
            conflict_copy: Write to a copy beside the note if it was changed since and the changes
                touch.
            request: What was asked for, if it's more than path, content and mode; the same call
                with another one is refused.

        Raises:
            ConflictError: The note was changed since, in the same places; both texts are in the
                details. Or it's there already, if it was to be created.
            ErisError: The path, the note or the disk doesn't allow it.
        """
        new = encode(content, path)
        view = View(cause.session)

        def build(plan: Plan) -> Receipt:
            asked = "/".join(parse_path(path))
            found = self._lookup.find(path)
            there = "/".join(found.parts)
            if not found.exists:
                check_new_file_name(found.parts[-1], there)
                if version:
                    raise ConflictError(
                        f"{there} isn't there any more; it had the version {version}.",
                        hint="Write it without a version to make it anew.",
                    )
                real = plan.create(there, new)
                view.knows(real, new)
                return _created(real, new, asked)
            if mode is not Mode.APPEND:
                _refuse_other(mode, found, asked)
            real, before = self._read(found)
            data = _planned(before.data, new, mode, real)
            receipt = Receipt(
                path=real,
                action="appended" if mode is Mode.APPEND else "overwrote",
                size=len(new),
                asked=asked,
                message=f"appended {told_size(len(new))} to {real}"
                if mode is Mode.APPEND
                else f"overwrote {real} ({told_size(len(new))})",
            )
            seen = self._version_seen(cause.session, real)
            expected = version or seen
            # Whatever else is in the note then, what this session knows of it is what it wrote.
            view.knows(real, data, if_knew=mode is Mode.OVERWRITE or _is(before, seen))
            if mode is Mode.APPEND or before.digest.startswith(expected):
                plan.rewrite(real, data, before.digest)
                return receipt
            return self._over_a_change(plan, receipt, before, new, expected, copy=conflict_copy)

        receipt = self._stepper.carry_out(
            Intent(
                cause,
                request or repr((path, str(mode), content)),
                build,
                # An append is as good to what somebody has just written; replacing that isn't.
                attempts=1 if mode is Mode.OVERWRITE else ATTEMPTS,
            )
        )
        if not receipt.copy_of:
            self._remember(view)
        return receipt

    def _over_a_change(
        self, plan: Plan, receipt: Receipt, now: Content, new: bytes, expected: str, *, copy: bool
    ) -> Receipt:
        """Write over a change made since: merged, to a copy, or not at all."""
        path, base = receipt.path, self._content_of(expected)
        data = merged(base, new, now.data)
        if data is not None:
            plan.rewrite(path, data, now.digest)
            return msgspec.structs.replace(receipt, merged=True)
        if not copy:
            raise conflict(path, base, new, now.data, expected)
        at = datetime.fromtimestamp(self._journal.now(), self._zone)
        for name in conflict_names(path, at):
            with contextlib.suppress(ConflictError):
                real = plan.create(name, new)
                return msgspec.structs.replace(
                    receipt,
                    path=real,
                    action="created",
                    copy_of=path,
                    message=f"created {real} ({told_size(len(new))}), a conflict copy of {path}",
                )
        raise AssertionError("there is always another name")

    def edit(
        self,
        cause: Cause,
        path: str,
        edit: Edit,
        *,
        did: str = "edited",
        message: Callable[[str], str] | None = None,
        version: str = "",
        replaces: bool = False,
        new: Callable[[], str] | None = None,
        exact: bool = False,
    ) -> Receipt:
        """Change a note's text by a function; nothing else of it is touched.

        Args:
            cause: Who wants it.
            path: The note, as a model wrote it.
            edit: A pure function; called again with the new text if somebody writes in between.
            did: What it does, with all that makes it up, such as ``replaced 'x' by 'y'``; the same
                call with another one is refused.
            message: What it did, in the past tense, of the note at a path; from `did` if none.
            version: The version that the edit is meant for; the note as it is if empty.
            replaces: Whether it can replace what it doesn't name; it's then based on the version
                that the session has read last, if none is given.
            new: Returns the text of the note if it isn't there yet; by default it has to be.
            exact: Only mean the note of this very path.

        Returns:
            The receipt; its action is ``unchanged`` if the function changed nothing.

        Raises:
            NotFoundError: There's no such note.
            ConflictError: It was changed since the version, in the same places.
            ErisError: The note isn't UTF-8 text, or the disk doesn't allow it.
        """
        view = View(cause.session)
        tell = message or (lambda real: f"{did} in {real}")

        def build(plan: Plan) -> Receipt:
            asked = "/".join(parse_path(path))
            found = self._lookup.find(path, exact=exact)
            if not found.exists:
                if new is None:
                    raise self._lookup.missing(path)
                check_new_file_name(found.parts[-1], found.path)
                data = encode(new(), found.path)
                real = plan.create(found.path, data)
                view.knows(real, data)
                return _created(real, data, asked)
            real, before = self._read(found)
            seen = self._version_seen(cause.session, real)
            data, was_merged = self._edited(
                real, before, edit, version or (seen if replaces else "")
            )
            plan.rewrite(real, data, before.digest)
            view.knows(real, data, if_knew=_is(before, seen))
            return Receipt(
                path=real,
                action="edited",
                size=abs(len(data) - len(before.data)),
                asked=asked,
                version=before.digest[:VERSION_DIGITS],
                merged=was_merged,
                message=tell(real),
            )

        receipt = self._stepper.carry_out(Intent(cause, repr((path, did)), build))
        self._remember(view)
        return receipt

    def _edited(self, path: str, now: Content, edit: Edit, version: str) -> tuple[bytes, bool]:
        if now.digest.startswith(version):
            return edited(now.data, path, edit), False
        decode(now.data, path)
        base = self._content_of(version)
        if base is None:
            raise conflict(path, None, now.data, now.data, version)
        ours = edited(base, path, edit)
        data = merged(base, ours, now.data)
        if data is None:
            raise conflict(path, base, ours, now.data, version)
        return data, True

    def restore(self, cause: Cause, path: str, version: str) -> Receipt:
        """Give a note the content of one of its versions; it's made anew if it isn't there.

        Raises:
            NotFoundError: The note has no such version.
            ErisError: The disk doesn't allow it.
        """

        def build(plan: Plan) -> Receipt:
            data = self.history.content(path, version)
            try:
                _path, now = self._read(Found(parse_path(path), exists=True))
            except NotFoundError:
                plan.create(path, data)
            else:
                plan.rewrite(path, data, now.digest)
            return Receipt(path=path, action="restored", size=len(data))

        line = f"restored {path} to version {version}"
        return self._stepper.carry_out(Intent(cause, line, build, attempts=1, line=line))

    # Several files.

    def move(
        self, cause: Cause, path: str, target: str, rewrites: Rewrites | None = None
    ) -> Receipt:
        """Move or rename a file or folder, and rewrite links to it, as one step.

        Args:
            cause: Who wants it.
            path: The file or folder: its path, or a note's only name.
            target: Its new path, which must be free; with ``/`` at the end, the folder that it goes
                into; a name alone renames it where it is. A file keeps its extension if none is
                given.
            rewrites: Returns what becomes of the text of other notes, and of the file itself, by
                their paths before the move, from the old and the new path; called again if somebody
                writes in between.

        Raises:
            ConflictError: The new path is taken.
            ErisError: The files or the disk don't allow it.
        """

        def build(plan: Plan) -> Receipt:
            return self._moved(plan, path, target, rewrites)

        return self._stepper.carry_out(Intent(cause, repr(("move", path, target)), build))

    def rehearsed_move(
        self, path: str, target: str, rewrites: Rewrites | None = None
    ) -> tuple[Receipt, tuple[Change, ...]]:
        """Return what `move` would do, and do nothing.

        Raises:
            ErisError: As `move`.
        """
        plan = self._stepper.empty_plan()
        receipt = self._moved(plan, path, target, rewrites)
        return receipt, plan.changes

    def _moved(self, plan: Plan, path: str, target: str, rewrites: Rewrites | None) -> Receipt:
        real, is_folder = self._lookup.anything(path)
        new = target_of(real, target, is_folder=is_folder)
        for each, edit in (rewrites(real, new) if rewrites else {}).items():
            plan.rewrite(each, edit)
        moved = plan.move(real, new)
        return Receipt(path=moved, action="moved", asked=real, message=f"moved {real} to {moved}")

    def trash(self, cause: Cause, path: str) -> Receipt:
        """Put a file or folder into the vault's trash.

        Args:
            cause: Who wants it.
            path: The file or folder: its path, or a note's only name.

        Raises:
            ErisError: It isn't there, or the disk doesn't allow it.
        """

        def build(plan: Plan) -> Receipt:
            real, _is_folder = self._lookup.anything(path)
            return Receipt(
                path=plan.trash(real),
                action="trashed",
                asked=real,
                message=f"moved {real} to the trash",
            )

        return self._stepper.carry_out(Intent(cause, repr(("trash", path)), build))

    def change(
        self,
        cause: Cause,
        request: str,
        build: Callable[[Plan], Receipt],
        *,
        line: str = "",
    ) -> Receipt:
        """Do anything else as one step.

        Args:
            cause: Who wants it.
            request: What is asked for, such as the tool's arguments.
            build: Fills a plan and returns the receipt; called again if somebody writes in between.
            line: For people, in the past tense; action and path if empty.

        Raises:
            ErisError: As `build` does, or the disk doesn't allow it.
        """
        return self._stepper.carry_out(Intent(cause, request, build, line=line))

    # Finding and reading.

    def _read(self, found: Found) -> tuple[str, Content]:
        """The path of a note as it is on the disk, and its content."""
        with self._vault.locate(found.parts) as place:
            if place.entry is None:
                raise NotFoundError(f"{place.path} was removed at this moment.")
            if place.entry.kind is not Kind.FILE:
                raise DeniedError(
                    f"{place.path} was replaced by something else at this moment.",
                    hint="List the folder to see what is there.",
                )
            return place.real_path, read_file(place.folder, place.entry)

    # Versions.

    def _version_seen(self, session: str, path: str) -> str:
        with self._seen_lock:
            return self._seen.version(session, path)

    def _content_of(self, version: str) -> bytes | None:
        """The content that a version means, if anybody still knows it."""
        with self._seen_lock:
            known = self._seen.content(version[:VERSION_DIGITS])
        if known is not None:
            return known
        digest = self._journal.digest_starting(version)
        return self._journal.content(digest) if digest else None

    def _remember(self, view: "View") -> None:
        """Base the session's next write on what it knows after this one."""
        if view.session and view.data is not None:
            self.saw(view.session, view.path, view.data)


def _created(path: str, content: bytes, asked: str) -> Receipt:
    size = len(content)
    message = f"created {path} ({told_size(size)})"
    return Receipt(path=path, action="created", size=size, asked=asked, message=message)


def _is(content: Content, version: str) -> bool:
    return bool(version) and content.digest.startswith(version)


def _refuse_other(mode: Mode, found: Found, asked: str) -> None:
    """Refuse to replace a note, or to make one that is there."""
    there = "/".join(found.parts)
    if mode is Mode.CREATE:
        raise ConflictError(
            f"There is a note {there} already; nothing was written.",
            hint="Append to it, or give another name.",
        )
    if not found.exact:
        raise ConflictError(
            f"There is a note {there}, which isn't exactly {asked}; nothing was overwritten.",
            hint=f"Give the whole path {there}, or another name.",
        )


def _planned(old: bytes, content: bytes, mode: Mode, path: str) -> bytes:
    """What a note that is there will be."""
    if not content:
        raise InvalidError(
            f"The content for {path} is empty; it still has {len(old)} bytes.",
            hint="Say what to write.",
        )
    if mode is Mode.APPEND:
        decode(old, path)
        return appended(old, content)
    refuse_binary(old, path)
    return content
