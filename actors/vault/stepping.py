"""How a step happens: once, journalled first, whole or not at all, one after the other.

A call is carried out once, however often it's repeated. Every change is in the journal before it
happens, so that it can be finished or taken back after a crash, and undone at any time.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from actors.vault.applying import Disk
from actors.vault.journal import Journal
from actors.vault.planning import Locked, Plan
from actors.vault.replacing import VERSION_DIGITS, ChangedMeanwhileError, digest_of
from actors.vault.right_of_way import RightOfWay
from actors.vault.steps import Cause, Entry, Receipt, Recorded, Rename, State
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, ErisError, StorageError, UnavailableError

ATTEMPTS = 3
"""How often a step is worked out if somebody else writes to its files in between."""


@dataclass(frozen=True)
class Recovered:
    """A step that was interrupted, and what became of it."""

    step: Recorded
    state: State | None
    """None: it hasn't happened."""
    foreign: tuple[str, ...] = ()
    """Files that somebody else had changed meanwhile; they were left as they are."""
    recovered: tuple[str, ...] = ()
    """Files that hold what somebody else saved at the very moment of the interruption."""


@dataclass(frozen=True)
class Intent:
    """What somebody wants to happen, in one step."""

    cause: Cause
    request: str
    """What is asked for, such as the tool's arguments: the same call never means two things."""
    build: Callable[[Plan], Receipt]
    """Fills a plan and returns the receipt as far as it's known.

    Called again with an empty plan if somebody else writes to the files before it's carried out.
    """
    attempts: int = ATTEMPTS
    recorded: bool = False
    """Whether the plan's paths come from the journal."""
    line: str = ""
    """For people, in the past tense; action and path if empty."""
    undoes: int = 0
    """The step that it takes back; 0 if none."""
    emptied: Sequence[str] = ()
    """Folders that are removed afterwards if nothing is in them, the outermost first."""


class Stepper:
    """Carries steps out, one at a time."""

    def __init__(
        self,
        vault: VaultFolder,
        journal: Journal,
        *,
        random_hex: Callable[[int], str],
        read_only: Iterable[str] = (),
        done: Callable[[Entry], None] = lambda _entry: None,
        between: Callable[[str], None] = lambda _where: None,
        right_of_way: RightOfWay | None = None,
    ) -> None:
        """Create it.

        Args:
            vault: The vault.
            journal: Where every step is written down.
            random_hex: Returns so many random bytes in hexadecimal, such as `secrets.token_hex`.
            read_only: Folders and files, relative to the vault, that are never written to.
            done: Told of every step when it's done, while no other goes on.
            between: Called between any two things that are done to the disk; for tests.
            right_of_way: Taken while a step is carried out.
        """
        self._right_of_way = right_of_way or RightOfWay()
        self._vault = vault
        self._journal = journal
        self._random_hex = random_hex
        self._locked = Locked(read_only)
        self._done = done
        self._at_hand: Mapping[str, bytes] = {}
        self._disk = Disk(vault, self._content, between)
        self._lock = threading.Lock()
        self._stopped = False

    def _content(self, digest: str) -> bytes:
        known = self._at_hand.get(digest)
        return self._journal.content(digest) if known is None else known

    def recover(self) -> list[Recovered]:
        """Settle every step that a crash interrupted; call it before the first one.

        Returns:
            Each with what became of it.
        """
        with self._lock:
            settled: list[Recovered] = []
            for step in self._journal.pending():
                try:
                    settled.append(self._settle(step))
                except ErisError:  # Looked at again when the call is repeated.
                    settled.append(Recovered(step, State.PENDING))
            return settled

    def stop(self) -> None:
        """Wait for the step under way, and refuse more."""
        with self._lock:
            self._stopped = True

    def carry_out(self, intent: Intent) -> Receipt:
        """Do what is wanted, or say what came of it if it was done before.

        Raises:
            ConflictError: The call was used for something else, or was interrupted and can't be
                told to have happened.
            UnavailableError: Eris is stopping.
            ErisError: Nothing was written, except where the sentence says otherwise.
        """
        with self._lock, self._right_of_way.taken():
            if self._stopped:
                raise UnavailableError("Nothing was written: Eris is stopping.")
            known = self._journal.find(intent.cause.call_id)
            request = digest_of(intent.request.encode(errors="replace"))
            if known:
                if known.request != request:
                    raise ConflictError(
                        f"The call {intent.cause.call_id} was used before, for something else "
                        f"({known.line}).",
                        hint="Make a new call.",
                    )
                pending = known.state is State.PENDING
                match self._settle(known).state if pending else known.state:
                    case State.DONE | State.DROPPED:
                        return known.receipt
                    case State.UNCERTAIN:
                        raise ConflictError(
                            f"Writing {known.receipt.path} was interrupted, and a note was changed "
                            "by somebody else before Eris could look; nothing more was written.",
                            hint="Read the note to see whether the text is in it.",
                        )
            for _ in range(intent.attempts - 1):
                with contextlib.suppress(ChangedMeanwhileError):
                    return self._attempt(intent, request)
            return self._attempt(intent, request)

    def empty_plan(self) -> Plan:
        """Return a plan of a step that nobody carries out, to see what it would change."""
        return Plan(self._vault, self._locked, self._random_hex)

    def _attempt(self, intent: Intent, request: str) -> Receipt:
        plan = Plan(self._vault, self._locked, self._random_hex, recorded=intent.recorded)
        receipt = intent.build(plan)
        changes = plan.changes
        if not changes and not intent.undoes:
            message = f"left {receipt.path} as it was: it says that already"
            return msgspec.structs.replace(receipt, action="unchanged", message=message, files=0)
        made = [folder for folder in plan.folders if not folder.startswith(".")]
        receipt = msgspec.structs.replace(
            receipt,
            asked="" if receipt.asked == receipt.path or receipt.copy_of else receipt.asked,
            version=next(
                (
                    change.after[:VERSION_DIGITS]
                    for change in changes
                    if not isinstance(change, Rename) and change.path == receipt.path
                ),
                receipt.version,
            ),
            folder=made[0] if made else "",
            files=len({change.path for change in changes}),
        )
        entry = Entry(
            cause=intent.cause,
            request=request,
            line=receipt.message or intent.line or f"{receipt.action} {receipt.path}",
            receipt=receipt,
            undoes=intent.undoes,
            folders=tuple(plan.folders),
            changes=changes,
        )
        number = self._journal.begin(entry, plan.contents)
        self._at_hand = plan.contents
        try:
            self._happen(number, entry)
        finally:
            self._at_hand = {}
        self._disk.remove_folders(intent.emptied)
        self._done(entry)
        return msgspec.structs.replace(receipt, step=number)

    def _happen(self, number: int, entry: Entry) -> None:
        with self._disk.working():
            try:
                self._disk.carry_out(entry.changes)
            except Exception as error:
                self._take_back(number, entry, error)
                raise
            try:
                self._disk.confirm(entry.changes)
            finally:
                # If this can't be recorded, the digests will say so when the call is repeated.
                with contextlib.suppress(ErisError):
                    self._journal.finish(number, State.DONE)

    def _take_back(self, number: int, entry: Entry, cause: Exception) -> None:
        try:
            stuck = self._disk.take_back(entry.changes, entry.folders).stuck
        except (ErisError, OSError) as error:
            raise StorageError(
                f"Something failed in the middle ({cause}) and couldn't be taken back ({error}).",
                hint="It's settled when the call is repeated, or when Eris starts again.",
            ) from cause
        if not stuck:
            self._journal.forget(number)
            return
        self._journal.finish(number, State.UNCERTAIN)
        raise ConflictError(
            f"Something failed in the middle ({cause}), and {stuck[0]} couldn't be taken back: "
            "somebody else changed it at this moment.",
            hint="Read the note to see what is in it.",
        ) from cause

    def _settle(self, step: Recorded) -> Recovered:
        """Find out from the disk what became of a step, finish or end it, and record that."""
        settled = self._disk.settle(step.changes, step.folders)
        state: State | None = None
        if settled.done:
            state = State.DONE
            self._journal.finish(step.number, state)
            self._done(step)
        elif settled.foreign or settled.stuck:
            state = State.UNCERTAIN
            self._journal.finish(step.number, state)
        else:
            self._journal.forget(step.number)
        return Recovered(step, state, (*settled.foreign, *settled.stuck), tuple(settled.recovered))
