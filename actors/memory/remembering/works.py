"""Writes notes so that a crash at any moment costs nothing and doubles nothing.

Intention committed, notes written under keys that the vault knows again, memories and answer
committed together. What a crash leaves is an intention, and it's carried on with the same keys.
"""

from collections.abc import Callable

import msgspec

from actors.memory.remembering.ports import Notes
from actors.memory.remembering.record import Record
from actors.memory.remembering.store import NoteWrite, Store, Work
from eris.errors import ErisError, UnavailableError
from proto.errors import ErrorCode

MOST_ATTEMPTS = 5
"""How often something is worked out anew because the user was writing to the same note."""

_UNSETTLED = frozenset(
    {
        ErrorCode.UNREACHABLE,
        ErrorCode.PEER_RESTARTED,
        ErrorCode.EXPIRED,
        ErrorCode.DRAINING,
        ErrorCode.LOADING,
        ErrorCode.BUSY,
        ErrorCode.OVERRUN,
        ErrorCode.UNAVAILABLE,
        ErrorCode.NO_ANSWER,
        ErrorCode.CANCELLED,
    }
)
"""Errors after which the note may have been written or not."""


class NoteWorks:
    """Does works. For one thread at a time."""

    def __init__(self, store: Store, notes: Notes) -> None:
        self._store = store
        self._notes = notes

    def run(self, plan: Callable[[int], Work]) -> bytes:
        """Work something out, do it, and return the answer.

        Args:
            plan: Works it out; it's given the number of the attempt, from 0, which has to be in
                the keys of the writes.

        Raises:
            UnavailableError: The vault didn't answer; it's done later.
            ErisError: The vault refuses; nothing was done.
        """
        attempt = 0
        while True:
            work = plan(attempt)
            self._begin(work)
            try:
                return self._finish(work)
            except ErisError as error:
                attempt += 1
                if error.code != ErrorCode.CONFLICT or attempt == MOST_ATTEMPTS:
                    raise

    def _begin(self, work: Work) -> None:
        self._store.transaction(lambda: self._store.begin(work))

    def carry_on(self) -> None:
        """Do what was begun and isn't done.

        Raises:
            UnavailableError: The vault doesn't answer.
        """
        for work in self._store.works():
            try:
                self._finish(work)
            except UnavailableError:
                raise
            except ErisError:
                # Whoever asked wasn't answered; asking again works it out anew.
                continue

    def _finish(self, work: Work) -> bytes:
        """Do a work; one that can't be done is forgotten.

        Raises:
            UnavailableError: It isn't known whether it's done.
            ErisError: It can't be done.
        """
        paths: dict[str, str] = {}
        try:
            for write in work.writes:
                paths[write.target or write.path] = self._write(write)
        except ErisError as error:
            if error.code in _UNSETTLED or error.retryable:
                raise UnavailableError(
                    f"The vault didn't answer, so it isn't known whether "
                    f"{work.writes[0].path} was written: {error.message}",
                    hint="It will be done when the vault answers.",
                ) from error
            self._store.transaction(lambda: self._store.end(work.key))
            raise
        result = work.result
        for wanted, path in paths.items():
            if wanted != path:
                one, other = (msgspec.json.encode(each)[1:-1] for each in (wanted, path))
                result = result.replace(one, other)

        def keep() -> None:
            for record in work.records:
                self._store.save(_placed(record, paths))
            self._store.keep_result(work.key, result)
            self._store.end(work.key)

        self._store.transaction(keep)
        return result

    def _write(self, write: NoteWrite) -> str:
        if write.trash:
            try:
                self._notes.trash(write.path, write.key)
            except ErisError as error:
                if error.code != ErrorCode.NOT_FOUND:
                    raise
        elif write.target:
            return self._notes.move(write.path, write.target, write.key)
        elif write.version:
            self._notes.replace(write.path, write.text, write.version, write.key)
        else:
            return self._notes.create(write.path, write.text, write.key)
        return write.path


def _placed(record: Record, paths: dict[str, str]) -> Record:
    return msgspec.structs.replace(record, path=paths.get(record.path, record.path))
