"""The behaviour: takes turns in, puts them on disk, and hands them to their sessions."""

import re
import secrets
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import msgspec

from actors.orchestrator.context_report import report_context
from actors.orchestrator.generation import ModelFacts
from actors.orchestrator.journal import Journal
from actors.orchestrator.recalling import CoreMemory
from actors.orchestrator.sessions import Session
from actors.orchestrator.turn import Surroundings
from actors.orchestrator.warming import warm_up
from eris.absence import given_up
from eris.actor import Actor, Deferred, Request
from eris.errors import DeniedError, ErisError, InvalidError, NotFoundError
from proto.control import Done
from proto.errors import ErrorCode
from proto.orchestrator import (
    CancelTurn,
    DescribeContext,
    ListSessions,
    ListTurns,
    NewSession,
    SessionList,
    SessionOpened,
    SubmitTurn,
    TurnAccepted,
    TurnLog,
)
from proto.rights import TOOL_OWNERS
from proto.tools import Origin

JOURNAL = "orchestrator.sqlite"
"""File name of the journal, in the vault's state directory."""

MAIN = "main"
"""The session that is always there."""

ORIGINS: Mapping[str, Origin] = {
    "console": Origin.USER,
    "cli": Origin.USER,
    "web": Origin.USER,
    "api": Origin.USER,
    "discord": Origin.CHANNEL,
    "agenda": Origin.REMINDER,
}
"""Who starts a turn, by the role of the connection that submits it."""

MOST_WAITING = 50
"""Turns of a session that may wait."""

MOST_CHARACTERS = 1_000_000
"""Longest text of a turn."""

MOST_LOGGED = 500
"""Ended turns that are told of at once."""

NEEDED = frozenset({"router", "gatekeeper", "inference"})
"""Actors without which a turn can't be what it's meant to be; waited for after a start."""

NEEDED_SECONDS = 45.0
"""How long the turns of a fresh process wait for `NEEDED`."""

OWNERS_SECONDS = 5.0
"""How long they wait for the owners of tools."""

_SESSION_NAME = re.compile(r"\w[\w .:-]{0,63}")


class Orchestrator(Actor):
    """Sessions and turns."""

    ACCEPTS: ClassVar[Any] = (
        SubmitTurn | CancelTurn | NewSession | ListSessions | ListTurns | DescribeContext
    )

    def started(self) -> None:
        """Open the journal; what hadn't ended goes on when the other actors are there."""
        path = self.port.paths.state / JOURNAL
        self._journal = Journal(path, time.time)
        self._facts = ModelFacts(self.port)
        self._around = Surroundings(
            port=self.port,
            journal=self._journal,
            facts=self._facts,
            core=CoreMemory(self.port),
            clock=time.time,
            local_now=lambda: datetime.now().astimezone(),
        )
        self._gate = threading.Lock()
        self._held = True
        self._missing = set(NEEDED | set(TOOL_OWNERS))
        self._started_at = time.monotonic()
        self._journal.open_session(MAIN)
        self._sessions: dict[str, Session] = {}
        for summary in self._journal.sessions():
            self._open(summary.session)
        unfinished = self._journal.unfinished()
        for record in unfinished:
            self._sessions[record.session].enqueue(record)
        if unfinished:
            self.port.log.info("resuming", turns=[record.turn for record in unfinished])
        threading.Thread(target=self._await_others, name="await-others", daemon=True).start()

    def peer_up(self, name: str, incarnation: int) -> None:  # noqa: ARG002 - part of the interface
        """Forget what a restarted `inference` had loaded; begin when all are there."""
        if name == "inference":
            self._facts.forget()
        self._missing.discard(name)
        self._release()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Take a request; turns run on their session's own thread."""
        match request.body:
            case SubmitTurn() as body:
                return self._submit(request, body)
            case CancelTurn(session=session, turn=turn):
                self._session(session).cancel(turn)
                return Done()
            case NewSession(name=name):
                return self._new_session(name)
            case ListSessions():
                return SessionList(sessions=tuple(self._journal.sessions()))
            case ListTurns(after=after, limit=limit):
                return TurnLog(turns=self._journal.ended(after, max(1, min(limit, MOST_LOGGED))))
            case DescribeContext(session=session):
                self._session(session)
                self.port.submit(self._describe, request, session)
                return request.defer()
            case body:
                raise InvalidError(f"orchestrator can't handle {type(body).__name__}.")

    def drain(self) -> None:
        """Leave the running turns as they are; they go on after the next start."""
        for session in self._sessions.values():
            session.suspend()
        self._journal.close()

    def _submit(self, request: Request, body: SubmitTurn) -> TurnAccepted:
        origin = ORIGINS.get(request.role)
        if origin is None:
            raise DeniedError(f"{request.sender} may not start a turn.")
        if not body.text.strip():
            raise InvalidError("The message is empty.", hint="Say something.")
        if len(body.text) > MOST_CHARACTERS:
            raise InvalidError(
                f"The message has {len(body.text)} characters; {MOST_CHARACTERS} are the limit.",
                hint="Put long text into a note and ask about the note.",
            )
        if not body.idem:
            raise InvalidError("The turn has no idempotency key.", hint="Send a fresh random one.")
        session = self._open(_checked(body.session or MAIN))
        if session.waiting >= MOST_WAITING and not self._journal.knows(body.idem):
            raise ErisError(
                f"{MOST_WAITING} messages are waiting in the session {session.name!r} already.",
                hint="Wait for their answers, or cancel some.",
                code=ErrorCode.BUSY,
                retryable=True,
            )
        submitted = self._journal.submit(
            turn=secrets.token_hex(6),
            session=session.name,
            text=body.text,
            idem=body.idem,
            origin=origin,
            surface=request.sender,
        )
        record = submitted.record
        if not submitted.repeated:
            self.port.log.info("turn-accepted", turn=record.turn, session=record.session)
            session.enqueue(record)
        return TurnAccepted(
            turn=record.turn, position=submitted.position, repeated=submitted.repeated
        )

    def _new_session(self, name: str) -> SessionOpened:
        if name:
            name = _checked(name)
        else:
            today = f"{self._around.local_now():%Y-%m-%d}"
            name, number = today, 1
            while name in self._sessions:
                number += 1
                name = f"{today}-{number}"
        self._journal.open_session(name)
        return SessionOpened(session=self._open(name).name)

    def _open(self, name: str) -> Session:
        with self._gate:
            session = self._sessions.get(name)
            if session is None:
                session = Session(name, self._around, held=self._held)
                self._sessions[name] = session
            return session

    def _session(self, name: str) -> Session:
        session = self._sessions.get(name)
        if session is None:
            raise NotFoundError(
                f"There is no session {name!r}.", hint="ListSessions names those that there are."
            )
        return session

    def _await_others(self) -> None:
        """Let the turns run when those that aren't there have been waited for, or won't come."""
        while self._held:
            time.sleep(OWNERS_SECONDS)
            for name in given_up(self.port, tuple(self._missing)):
                self._missing.discard(name)
            self._release()

    def _release(self) -> None:
        """Let turns run once everything they need is there, or has been waited for."""
        waited = time.monotonic() - self._started_at
        missing = self._missing & (NEEDED if waited >= OWNERS_SECONDS else self._missing)
        with self._gate:
            if not self._held or (missing and waited < NEEDED_SECONDS):
                return
            self._held = False
            waiting = tuple(self._sessions.values())
        if missing:
            self.port.log.warning("beginning-without", missing=sorted(missing))
        for session in waiting:
            session.release()
        if not any(summary.turns for summary in self._journal.sessions()):
            self.port.submit(warm_up, self.port, self._facts, self._around.core, MAIN)

    def _describe(self, request: Request, session: str) -> None:
        try:
            request.reply(report_context(self._around, session, within=request.remaining))
        except ErisError as error:
            request.fail(error)


def _checked(name: str) -> str:
    if not _SESSION_NAME.fullmatch(name):
        raise InvalidError(
            f"{name!r} can't be the name of a session.",
            hint="Use up to 64 letters, digits, spaces and . : - _, with a letter or digit first.",
        )
    return name
