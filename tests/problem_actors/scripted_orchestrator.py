"""An orchestrator without a model, for tests of surfaces: what it answers is said to it.

It keeps its turns in a file, so that it can be killed and started again like the real one.

- ``count N [PAUSE]``: an answer of N numbers, one delta each.
- ``save``: a tool call with a receipt, then an answer.
- ``say TEXT``: that answer, with ``\\e`` for the escape character.
- ``fail``: the turn fails. ``wait``: it runs until it's cancelled.
"""

import os
import threading
import time
from typing import Any, ClassVar

import msgspec

from eris.actor import Actor, Deferred, Request, Topic, run
from eris.conversation import Conversation, fold
from eris.errors import InvalidError
from proto.control import Done
from proto.orchestrator import (
    CallChanged,
    CancelTurn,
    ContextReport,
    DescribeContext,
    ListSessions,
    MessageDelta,
    NewSession,
    Progress,
    SessionList,
    SessionOpened,
    SessionSnapshot,
    SessionSummary,
    SubmitTurn,
    ThoughtDelta,
    ToolCallView,
    TurnAccepted,
    TurnChanged,
    TurnState,
    TurnView,
    Usage,
)

PAUSE_SECONDS = 0.01


class ScriptedOrchestrator(Actor):
    """Plays one turn at a time."""

    ACCEPTS: ClassVar[Any] = SubmitTurn | CancelTurn | NewSession | ListSessions | DescribeContext

    def started(self) -> None:
        time.sleep(float(os.environ.get("SCRIPTED_SLOW_SECONDS", "0")))
        self.file = self.port.paths.state / "scripted.msgpack"
        self.sessions: dict[str, Conversation] = {}
        self.idems: dict[str, str] = {}
        self.topics: dict[str, Topic] = {}
        self.work = threading.Condition()
        self.cancelled: set[str] = set()
        self.open("main")
        if self.file.exists():
            saved = msgspec.msgpack.decode(
                self.file.read_bytes(), type=tuple[dict[str, Conversation], dict[str, str]]
            )
            self.sessions, self.idems = saved
            for name in self.sessions:
                self.open(name)
        threading.Thread(target=self.play_all, daemon=True).start()

    def open(self, session: str) -> None:
        self.sessions.setdefault(session, Conversation(session=session))
        self.topics[session] = self.port.topic(
            f"session:{session}",
            snapshot=lambda: SessionSnapshot(session=session, turns=self.sessions[session].turns),
        )

    def publish(self, session: str, event: Any) -> None:
        topic = self.topics[session]
        with topic.lock:
            self.sessions[session] = fold(self.sessions[session], event)
            topic.publish(event)
            if isinstance(event, TurnChanged):
                data = msgspec.msgpack.encode((self.sessions, self.idems))
                temporary = self.file.with_suffix(".tmp")
                temporary.write_bytes(data)
                temporary.replace(self.file)

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        body = request.body
        match body:
            case SubmitTurn():
                return self.submit(body, request.sender)
            case CancelTurn():
                running = self.sessions[body.session].running
                turn = body.turn or (running.turn if running else "")
                if not turn:
                    raise InvalidError("No turn is running.")
                with self.work:
                    self.cancelled.add(turn)
                    self.work.notify_all()
                return Done()
            case NewSession():
                name = body.name or f"session-{len(self.sessions)}"
                self.open(name)
                return SessionOpened(session=name)
            case DescribeContext():
                return ContextReport(
                    session=body.session,
                    context_length=2048,
                    total=120,
                    segments={"identity": 90, "user": 30},
                    reserved=512,
                )
            case _:
                return SessionList(
                    sessions=tuple(
                        SessionSummary(session=name, turns=len(one.turns), last_active=0)
                        for name, one in self.sessions.items()
                    )
                )

    def submit(self, body: SubmitTurn, surface: str) -> TurnAccepted:
        self.open(body.session)
        known = self.idems.get(body.idem)
        if known is not None:
            return TurnAccepted(turn=known, position=0, repeated=True)
        turn = f"t{len(self.idems) + 1}"
        self.idems[body.idem] = turn
        conversation = self.sessions[body.session]
        position = conversation.queued + (conversation.running is not None)
        view = TurnView(
            turn=turn, text=body.text, state=TurnState.QUEUED, surface=surface, started=time.time()
        )
        self.publish(body.session, TurnChanged(view=view))
        with self.work:
            self.work.notify_all()
        return TurnAccepted(turn=turn, position=position)

    def play_all(self) -> None:
        while True:
            with self.work:
                waiting = [
                    (session, view)
                    for session, one in self.sessions.items()
                    for view in one.turns
                    if view.state in {TurnState.QUEUED, TurnState.RUNNING}
                ]
                if not waiting:
                    self.work.wait(1.0)
                    continue
            self.play(*waiting[0])

    def play(self, session: str, view: TurnView) -> None:
        view = msgspec.structs.replace(
            view, state=TurnState.RUNNING, message="", thought="", calls=()
        )
        self.publish(session, TurnChanged(view=view))
        self.publish(session, ThoughtDelta(turn=view.turn, text="I think about it."))
        word, _, rest = view.text.partition(" ")
        state, message, calls = TurnState.DONE, "", ()
        match word:
            case "count":
                message = self.count(session, view, rest)
            case "save":
                calls = (self.save(session, view),)
                message = "Saved it."
            case "say":
                message = rest.replace("\\e", "\x1b")
            case "fail":
                state, message = TurnState.FAILED, "The model gave no usable answer."
            case "wait":
                with self.work:
                    self.work.wait_for(lambda: view.turn in self.cancelled)
        if view.turn in self.cancelled:
            state = TurnState.CANCELLED
        usage = Usage(prompt=120, cached=100, prefilled=20, generated=25, rounds=1, decode_ms=1000)
        ended = msgspec.structs.replace(
            view,
            state=state,
            message=message,
            thought="I think about it.",
            calls=calls,
            usage=usage,
            error="no-answer" if state is TurnState.FAILED else "",
        )
        self.publish(session, TurnChanged(view=ended))

    def count(self, session: str, view: TurnView, rest: str) -> str:
        upto, _, pause = rest.partition(" ")
        message = ""
        for number in range(1, int(upto) + 1):
            with self.work:
                if self.work.wait_for(
                    lambda: view.turn in self.cancelled, float(pause or PAUSE_SECONDS)
                ):
                    return message
            text = f"n{number} "
            message += text
            self.publish(session, MessageDelta(turn=view.turn, text=text))
            self.publish(
                session,
                Progress(turn=view.turn, phase="writing", tokens=number, tokens_per_second=12.5),
            )
        return message

    def save(self, session: str, view: TurnView) -> ToolCallView:
        call = ToolCallView(
            call_id=f"{view.turn}.0.0",
            tool="vault:write",
            arguments='{"path": "today.md", "content": "milk"}',
            state="running",
        )
        self.publish(session, CallChanged(turn=view.turn, call=call))
        done = msgspec.structs.replace(
            call, state="ok", content="Saved.", receipt="saved today.md (4 bytes)", elapsed_ms=3
        )
        self.publish(session, CallChanged(turn=view.turn, call=done))
        return done


if __name__ == "__main__":
    run(ScriptedOrchestrator, "orchestrator")
