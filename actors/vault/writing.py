"""Writing notes: whole, once, and never over what wasn't meant to be replaced."""

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from actors.vault.folder import Kind
from actors.vault.ledger import Intent, Receipt, State, WriteLedger
from actors.vault.lookup import Found, find_note
from actors.vault.names import check_new_file_name, parse_path
from actors.vault.replacing import Content, put_file, read_file, remove_temporary
from actors.vault.scan import Budget
from actors.vault.text import appended, decode, encode, refuse_binary
from actors.vault.vault_folder import Place, VaultFolder
from eris.errors import (
    ConflictError,
    DeniedError,
    ErisError,
    InvalidError,
    NotFoundError,
    UnavailableError,
)

_ATTEMPTS = 3


class Mode(StrEnum):
    """What becomes of a note that is there already."""

    APPEND = "append"
    OVERWRITE = "overwrite"


@dataclass(frozen=True)
class Order:
    """What somebody wants written."""

    call_id: str
    """The same one writes once."""
    path: str
    content: str
    mode: Mode

    @property
    def digest(self) -> str:
        """Equal for equal orders."""
        return _digest(repr((self.path, str(self.mode), self.content)).encode(errors="replace"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Writer:
    """Carries out writes, one at a time."""

    def __init__(
        self,
        vault: VaultFolder,
        ledger: WriteLedger,
        *,
        clock: Callable[[], float],
        random_hex: Callable[[int], str],
    ) -> None:
        """Create the writer.

        Args:
            vault: The vault.
            ledger: Its record of writes.
            clock: A clock that only goes forward, in seconds.
            random_hex: Returns so many random bytes in hexadecimal, such as `secrets.token_hex`.
        """
        self._vault = vault
        self._ledger = ledger
        self._clock = clock
        self._random_hex = random_hex
        self._lock = threading.Lock()
        self._stopped = False

    def recover(self) -> list[tuple[Intent, State | None]]:
        """Look at every write that a crash interrupted; call it before the first write.

        Returns:
            Each with what became of it: none if it never happened.
        """
        with self._lock:
            settled: list[tuple[Intent, State | None]] = []
            for intent in self._ledger.pending():
                try:
                    settled.append((intent, self._settle(intent)))
                except ErisError:  # Looked at again when the call is repeated.
                    settled.append((intent, State.PENDING))
            return settled

    def stop(self) -> None:
        """Wait for the write under way, and refuse more."""
        with self._lock:
            self._stopped = True

    def write(self, order: Order) -> Receipt:
        """Carry out an order, or say what came of it if it was carried out before.

        Raises:
            ErisError: Nothing was written, except where the sentence says otherwise.
        """
        with self._lock:
            if self._stopped:
                raise UnavailableError(f"{order.path} wasn't written: Eris is stopping.")
            known = self._ledger.find(order.call_id)
            if known:
                intent, state = known
                if intent.request != order.digest:
                    raise ConflictError(
                        f"The call {order.call_id} was used before for {intent.receipt.path} "
                        "with other content.",
                        hint="Make a new call.",
                    )
                came_to = self._settle(intent) if state is State.PENDING else state
                if came_to is State.DONE:
                    return intent.receipt
                if came_to is State.UNCERTAIN:
                    raise ConflictError(
                        f"Writing {intent.receipt.path} was interrupted, and the note was changed "
                        "by somebody else before Eris could look; nothing more was written.",
                        hint="Read the note to see whether the text is in it.",
                    )
            return self._carry_out(order)

    def _carry_out(self, order: Order) -> Receipt:
        parts = parse_path(order.path)
        content = encode(order.content, order.path)
        for attempt in range(1, _ATTEMPTS + 1):
            found = find_note(self._vault, parts, Budget.starting(self._clock), follow=False)
            if order.mode is Mode.OVERWRITE and found.exists and not found.exact:
                raise ConflictError(
                    f"There is a note {'/'.join(found.parts)}, which isn't exactly "
                    f"{'/'.join(parts)}; nothing was overwritten.",
                    hint=f"Give the whole path {'/'.join(found.parts)}, or another name.",
                )
            with self._place(found) as place:
                before = self._existing(place)
                asked = "/".join(parts)
                receipt, data = _planned(place, before, content, order.mode, asked)
                try:
                    self._replace(order, place, before, data, receipt)
                except ConflictError:
                    # An append is as good to the note as it is now. To overwrite it isn't.
                    if order.mode is Mode.OVERWRITE or attempt == _ATTEMPTS:
                        raise
                else:
                    return receipt
        raise AssertionError("the last attempt returns or raises")

    @contextlib.contextmanager
    def _place(self, found: Found) -> Iterator[Place]:
        """Open the place for a note, and take folders made for nothing away again."""
        if not found.exists:
            check_new_file_name(found.parts[-1], "/".join(found.parts))
        made: tuple[tuple[str, ...], ...] = ()
        try:
            with self._vault.locate(found.parts, make=True) as place:
                made = place.made
                yield place
        except BaseException:
            for parts in reversed(made):
                with contextlib.suppress(ErisError), self._vault.locate(parts) as folder:
                    folder.folder.remove(folder.name)
            raise

    @staticmethod
    def _existing(place: Place) -> Content | None:
        if place.entry is None:
            return None
        if place.entry.kind is not Kind.FILE:
            raise DeniedError(
                f"{place.path} was replaced by something else at this moment.",
                hint="List the folder to see what is there.",
            )
        return read_file(place.folder, place.entry)

    def _replace(
        self, order: Order, place: Place, before: Content | None, data: bytes, receipt: Receipt
    ) -> None:
        name = place.entry.raw if place.entry else place.name
        intent = Intent(
            call_id=order.call_id,
            request=order.digest,
            parts=(*place.folder.parts, place.entry.name if place.entry else place.name),
            temporary=f".eris-{self._random_hex(8)}.tmp",
            before=_digest(before.data) if before else "",
            after=_digest(data),
            receipt=receipt,
        )
        self._ledger.begin(intent)
        try:
            put_file(place.folder, name, data, before=before, temporary=intent.temporary)
        except BaseException:
            with contextlib.suppress(ErisError):
                self._settle(intent, interfered=None)
            raise
        # If this can't be recorded, the digests will say so when the call is repeated.
        with contextlib.suppress(ErisError):
            self._ledger.finish(order.call_id, State.DONE)

    def _settle(
        self, intent: Intent, *, interfered: State | None = State.UNCERTAIN
    ) -> State | None:
        """Find out from the note what became of a write, and record it.

        Args:
            intent: The write.
            interfered: What it means if the note is neither as before nor as after: uncertain
                after a crash; not written if the write is known to have failed.

        Returns:
            None if it wasn't carried out.
        """
        current = ""
        with contextlib.suppress(NotFoundError), self._vault.locate(intent.parts) as place:
            remove_temporary(place.folder, intent.temporary)
            if place.entry and place.entry.kind is Kind.FILE:
                current = _digest_of(place)
            elif place.entry:
                current = place.entry.kind.value
        if current == intent.after:
            self._ledger.finish(intent.call_id, State.DONE)
            return State.DONE
        if current == intent.before or interfered is None:
            self._ledger.forget(intent.call_id)
            return None
        self._ledger.finish(intent.call_id, interfered)
        return interfered


def _digest_of(place: Place) -> str:
    """Digest of the note there; something that no digest equals if it can't be a note of ours."""
    try:
        return _digest(read_file(place.folder, place.entry).data) if place.entry else ""
    except InvalidError:
        return "too large"


def _planned(
    place: Place, before: Content | None, content: bytes, mode: Mode, asked: str
) -> tuple[Receipt, bytes]:
    """What the note will be, and what will be said about it."""
    path = place.path
    match before, mode:
        case None, _:
            action, data = "created", content
        case Content(data=old), _ if not content:
            raise InvalidError(
                f"The content for {path} is empty; it still has {len(old)} bytes.",
                hint="Say what to write.",
            )
        case Content(data=old), Mode.OVERWRITE:
            refuse_binary(old, path)
            action, data = "overwrote", content
        case Content(data=old), Mode.APPEND:
            decode(old, path)
            action, data = "appended", appended(old, content)
    receipt = Receipt(
        path=path,
        action=action,
        size=len(content),
        asked="" if asked == path else asked,
        folder="/".join(place.made[0]) if place.made else "",
    )
    return receipt, data
