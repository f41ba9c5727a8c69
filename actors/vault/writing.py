"""The one way in which the vault changes: what tools call to write, move, remove, undo, restore.

What becomes of one note is worked out in `note_plans`; how a step happens at all is in `stepping`.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import tzinfo

from actors.vault.history import History
from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.names import target_of
from actors.vault.note_plans import Mode, NotePlans
from actors.vault.planning import Edit, Plan
from actors.vault.right_of_way import RightOfWay
from actors.vault.seen import View
from actors.vault.stepping import ATTEMPTS, Intent, Recovered, Stepper
from actors.vault.steps import Cause, Change, Entry, Receipt
from actors.vault.text import encode
from actors.vault.undoing import Undoing
from actors.vault.vault_folder import VaultFolder

__all__ = ["Build", "Mode", "NoteWriter", "Rewrites"]

Rewrites = Callable[[str, str], Mapping[str, Edit]]
"""From a path and what it will be: what becomes of the texts of files, by their old paths."""


Build = Callable[[Plan], Receipt]
"""Fills a plan, and returns the receipt as far as it's known."""


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
        right_of_way: RightOfWay | None = None,
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
            right_of_way: Taken while a step is carried out.
        """
        self._lookup = lookup
        self._notes = NotePlans(vault, journal, lookup, zone)
        self._stepper = Stepper(
            vault,
            journal,
            random_hex=random_hex,
            read_only=read_only,
            done=done,
            between=between,
            right_of_way=right_of_way,
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
        return self._notes.saw(session, path, data)

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
            return self._notes.write(
                plan, view, path, new, mode, version=version, conflict_copy=conflict_copy
            )

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
            self._notes.remember(view)
        return receipt

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

        def build(plan: Plan) -> Receipt:
            return self._notes.edit(
                plan,
                view,
                path,
                edit,
                tell=message or (lambda real: f"{did} in {real}"),
                version=version,
                replaces=replaces,
                new=new,
                exact=exact,
            )

        receipt = self._stepper.carry_out(Intent(cause, repr((path, did)), build))
        self._notes.remember(view)
        return receipt

    def restore(self, cause: Cause, path: str, version: str) -> Receipt:
        """Give a note the content of one of its versions; it's made anew if it isn't there.

        Raises:
            NotFoundError: The note has no such version.
            ErisError: The disk doesn't allow it.
        """

        def build(plan: Plan) -> Receipt:
            data = self.history.content(path, version)
            return self._notes.restore(plan, path, data)

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
        build = self.moving(path, target, rewrites)
        return self._stepper.carry_out(Intent(cause, repr(("move", path, target)), build))

    def moving(self, path: str, target: str, rewrites: Rewrites | None = None) -> Build:
        """Return what fills a plan with a move; see `move`."""

        def build(plan: Plan) -> Receipt:
            real, is_folder = self._lookup.anything(path)
            new = target_of(real, target, is_folder=is_folder)
            edits = rewrites(real, new) if rewrites else {}
            left = tuple(each for each, edit in edits.items() if not plan.relink(each, edit))
            moved = plan.move(real, new)
            message = f"moved {real} to {moved}"
            return Receipt(path=moved, action="moved", asked=real, message=message, left=left)

        return build

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
        build: Build,
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

    def rehearsed(self, build: Build) -> tuple[Receipt, tuple[Change, ...]]:
        """Return what `change` would do, and do nothing.

        Raises:
            ErisError: As `change`.
        """
        plan = self._stepper.empty_plan()
        return build(plan), plan.changes
