"""Requests for restarts: who waits for which, and which were carried out already."""

from dataclasses import dataclass, field

import msgspec

from eris.supervisor.control import Respond

REMEMBERED_S = 600.0
"""A request's key is known for so long after its first use."""


@dataclass
class _Pending:
    """One restart, asked for once or several times with the same key."""

    key: str
    asked: float
    waiting: list[Respond] = field(default_factory=list)
    answer: msgspec.Struct | None = None


class RestartRequests:
    """Gives each new request a ticket and answers everybody who waits for one."""

    def __init__(self) -> None:
        self._pending: dict[int, _Pending] = {}
        self._next = 0

    def add(self, key: str, respond: Respond, now: float) -> int | None:
        """Take in a request; return its ticket, or None if its key was used before.

        Somebody who repeats a request gets the first one's answer, now or when it's there.
        """
        self._forget(now)
        for pending in self._pending.values():
            if pending.key == key:
                if pending.answer is not None:
                    respond(pending.answer)
                else:
                    pending.waiting.append(respond)
                return None
        self._next += 1
        self._pending[self._next] = _Pending(key, now, [respond])
        return self._next

    def answer(self, ticket: int, body: msgspec.Struct) -> None:
        """Answer everybody who waits for this ticket."""
        pending = self._pending[ticket]
        pending.answer = body
        for respond in pending.waiting:
            respond(body)
        pending.waiting.clear()

    def _forget(self, now: float) -> None:
        for ticket, pending in list(self._pending.items()):
            if pending.answer is not None and now - pending.asked > REMEMBERED_S:
                del self._pending[ticket]
