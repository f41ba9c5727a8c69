"""Taking steps back, and taking that back again.

An undo is a step like any other: journalled, whole or not at all, and undone by undoing it. If
nothing else happened, the exact bytes come back. If a note was changed since, by the user or by a
later step, both changes are kept where they don't touch; where they do, the undo is refused and
names what is in the way. A note that was renamed since is found under its new name.
"""

from dataclasses import dataclass

import msgspec

from actors.vault.conflicts import merged
from actors.vault.folder import Kind
from actors.vault.journal import Journal
from actors.vault.open_folders import parts_of
from actors.vault.planning import Plan
from actors.vault.replacing import Content, read_file
from actors.vault.stepping import Intent, Stepper
from actors.vault.steps import TRASH, Cause, Receipt, Recorded, Rename, State, Write
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, ErisError, InvalidError, NotFoundError

_MOST_LOOKED_AT = 10_000


@dataclass(frozen=True)
class UndoneTurn:
    """What came of undoing a turn."""

    receipts: tuple[Receipt, ...]
    """One for each step that was undone, in this order."""
    refused: tuple[tuple[int, ErisError], ...]
    """Steps that weren't, and why."""


class Undoing:
    """Undoes steps and turns."""

    def __init__(self, vault: VaultFolder, journal: Journal, stepper: Stepper) -> None:
        """Create it.

        Args:
            vault: The vault.
            journal: The journal of its steps.
            stepper: Carries them out.
        """
        self._vault = vault
        self._journal = journal
        self._stepper = stepper

    def step(self, cause: Cause, number: int) -> Receipt:
        """Undo one step; undoing an undo does again what it had taken back.

        Raises:
            NotFoundError: There is no such step, or its contents aren't kept any more.
            ConflictError: It's undone already, or what was changed since is in the way; nothing
                was changed then.
        """
        step = self._journal.step(number)
        original = self._journal.step(step.undoes) if step.undoes else step
        did = "redid" if step.undoes else "undid"

        def build(plan: Plan) -> Receipt:
            self._check(step)
            _TakingBack(self._vault, self._journal, step, plan).run()
            return Receipt(path=step.receipt.path, action=did)

        return self._stepper.carry_out(
            Intent(
                cause,
                f"undo {number}",
                build,
                recorded=True,
                line=f"{did} step {original.number}: {original.line}",
                undoes=number,
                emptied=step.folders,
            )
        )

    def turn(self, cause: Cause, turn: str) -> UndoneTurn:
        """Undo all steps of a turn, the newest first; each as a whole or not at all.

        An undo is part of a turn too: undoing that turn does again what it had taken back.

        Raises:
            NotFoundError: The turn has no steps.
            ErisError: None of them could be undone.
        """
        steps = self._journal.of_turn(turn) if turn else []
        if not steps:
            raise NotFoundError(
                f"The turn {turn} changed nothing that can be undone.",
                hint="Look at the history for what can.",
            )
        refused: list[tuple[int, ErisError]] = []
        for step in steps:
            if self._journal.undone_by(step.number):
                continue
            each = msgspec.structs.replace(cause, call_id=f"{cause.call_id}/{step.number}")
            try:
                self.step(each, step.number)
            except ErisError as error:
                refused.append((step.number, error))
        done = self._journal.calls_starting(f"{cause.call_id}/")
        receipts = tuple(each.receipt for each in done if each.state is not State.UNCERTAIN)
        if not receipts:
            raise refused[0][1] if refused else ConflictError(f"The turn {turn} is undone already.")
        return UndoneTurn(receipts, tuple(refused))

    def last(self, cause: Cause, *, session: str = "") -> UndoneTurn:
        """Undo the last turn that wrote and isn't undone yet; the next time, the one before it.

        Args:
            cause: Who wants it.
            session: Look at the turns of this session only; at all if empty.

        Raises:
            NotFoundError: There's nothing to undo.
            ErisError: No step of the turn could be undone.
        """
        begun = self._journal.calls_starting(f"{cause.call_id}/")
        if begun:  # The call is repeated: it means the same turn, not the one before it.
            return self.turn(cause, self._journal.step(begun[0].undoes).cause.turn)
        for step in self._journal.latest(_MOST_LOOKED_AT, session=session):
            if not step.undoes and not self._journal.undone_by(step.number):
                return self.turn(cause, step.cause.turn)
        raise NotFoundError(
            "There is nothing to undo.", hint="Only what was written through Eris can be undone."
        )

    def _check(self, step: Recorded) -> None:
        if step.state is State.DROPPED:
            raise NotFoundError(
                f"Step {step.number} ({step.line}) is too old to be undone.",
                hint="The journal keeps the latest changes only.",
            )
        if step.state is not State.DONE:
            raise ConflictError(
                f"Step {step.number} ({step.line}) was interrupted, so it can't be undone.",
                hint="Look at the note, and restore a version from its history.",
            )
        undone = self._journal.undone_by(step.number)
        if undone:
            raise ConflictError(
                f"Step {step.number} ({step.line}) is undone already, by step {undone}.",
                hint=f"Undo step {undone} to do it again.",
            )


class _TakingBack:
    """Fills a plan with what takes one step back."""

    def __init__(self, vault: VaultFolder, journal: Journal, step: Recorded, plan: Plan) -> None:
        self._vault = vault
        self._journal = journal
        self._step = step
        self._plan = plan
        self._since = journal.changes(step.number)
        self._renames = [
            (number, change) for number, change in self._since if isinstance(change, Rename)
        ]

    def run(self) -> None:
        """Fill the plan.

        Raises:
            ConflictError: Something that happened since is in the way.
            ErisError: Something can't be looked at, or may not be written.
        """
        for change in self._step.changes:
            if isinstance(change, Rename):
                self._rename_back(change)
            else:
                self._write_back(change)

    def _rename_back(self, change: Rename) -> None:
        path = self._path_now(change.new_path, self._step.number + 1)
        if path != change.new_path:
            raise self._in_the_way(change.new_path, f"it was moved again, to {path}")
        if self._is_there(path):
            self._plan.move(path, change.path)
        elif change.digest and path.startswith(f"{TRASH}/"):
            # The trash was emptied; the journal has the content.
            self._plan.create(change.path, self._journal.content(change.digest))
        else:
            raise self._in_the_way(path, "it isn't there any more")

    def _write_back(self, change: Write) -> None:
        path = self._path_now(change.path, self._step.number)
        if path.startswith(f"{TRASH}/") and not change.path.startswith(f"{TRASH}/"):
            raise self._in_the_way(change.path, f"it's in the trash, as {path}")
        now = self._now(path)
        if not change.after:
            if now is None or now.digest != change.before:
                self._plan.create(path, self._journal.content(change.before), change.mode)
        elif not change.before:
            if now is not None and now.digest != change.after:
                raise self._in_the_way(path, "it was changed since, and all of it would be removed")
            if now is not None:
                self._plan.remove(path, now.digest)
        elif now is None:
            raise self._in_the_way(path, "it isn't there any more")
        else:
            before = self._journal.content(change.before)
            data: bytes | None = before
            if now.digest != change.after:
                data = merged(self._journal.content(change.after), before, now.data)
            if data is None:
                raise self._in_the_way(path, "it was changed since, in the same places")
            self._plan.rewrite(path, data, now.digest)

    def _path_now(self, path: str, since: int) -> str:
        """What a path is called by now that it had before the step ``since``."""
        for number, rename in self._renames:
            if number >= since:
                path = rename.moved(path)
        return path

    def _is_there(self, path: str) -> bool:
        try:
            with self._vault.locate(parts_of(path), recorded=True) as place:
                return place.entry is not None and place.exact
        except NotFoundError:
            return False

    def _now(self, path: str) -> Content | None:
        """A file as it is now; none if there's none, or something that can't be a note."""
        try:
            with self._vault.locate(parts_of(path), recorded=True) as place:
                if place.entry is None or not place.exact or place.entry.kind is not Kind.FILE:
                    return None
                return read_file(place.folder, place.entry)
        except (NotFoundError, InvalidError):
            return None

    def _in_the_way(self, path: str, reason: str) -> ConflictError:
        names, later = {path}, list[int]()
        for number, change in self._since:
            if number > self._step.number and change.path in names:
                later.append(number)
                if isinstance(change, Rename):
                    names.add(change.new_path)
        open_steps = [
            str(number)
            for number in dict.fromkeys(later)
            if not self._journal.step(number).undoes and not self._journal.undone_by(number)
        ]
        hint = (
            f"Undo the later steps first: {', '.join(open_steps)}."
            if open_steps
            else "You or another program changed it; restore a version from its history instead."
        )
        number, line = self._step.number, self._step.line
        return ConflictError(
            f"Step {number} ({line}) wasn't undone: {path} is in the way; {reason}.",
            hint=hint,
            details={"step": number, "path": path},
        )
