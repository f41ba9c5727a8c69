"""The real actors around a scripted model, for tests of turns."""

import json
import secrets
import time
from pathlib import Path

import msgspec

from eris.envelope import Envelope, ToolCall, render_envelope
from proto.inference import Generate
from proto.orchestrator import (
    CallChanged,
    MessageDelta,
    NewSession,
    Progress,
    SessionOpened,
    SessionSnapshot,
    SubmitTurn,
    ThoughtDelta,
    TurnAccepted,
    TurnChanged,
    TurnState,
)
from tests.support import wait_until

EVENTS = SessionSnapshot | TurnChanged | ThoughtDelta | MessageDelta | CallChanged | Progress
ENDED = {TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED}
ACTORS = ("gatekeeper", "vault", "agenda", "router", "orchestrator")


def start_system(system):
    """Start the bus, the scripted model and the actors, and wait for them."""
    system.start("bus")
    system.start("inference", "tests.problem_actors.scripted_inference", ready=False)
    for name in ACTORS:
        system.start(name, ready=False)
    for name in ("inference", *ACTORS):
        system.wait_ready(name)


def scripted(folder: Path, **extra):
    """Environment of a system with a scripted model and no embedder."""
    script = folder / "script"
    script.mkdir()
    return {"ERIS_SCRIPT": str(script), "ERIS_MODEL_EMBEDDING": "", **extra}


def says(message, *, thought="Hm.", **line):
    """A scripted answer without calls."""
    envelope = Envelope(thought=thought, message_to_user=message)
    return {"text": render_envelope(envelope), **line}


def calls(name, args, *, message=None, **line):
    """A scripted answer with one call."""
    envelope = Envelope(thought="", message_to_user=message, tool_calls=(ToolCall(name, args),))
    return {"text": render_envelope(envelope), **line}


def writes(content="buy milk", path="notes/today.md", **line):
    """A scripted answer that writes a note."""
    return calls("vault:write", {"path": path, "content": content}, **line)


class Talk:
    """A console attached to one session, beside a system with a scripted model."""

    def __init__(self, system, folder: Path, session=""):
        self.system = system
        self.folder = folder
        self.session = session or f"s{secrets.token_hex(3)}"
        self.port = system.connect("console")
        self.port.ask(
            "orchestrator", NewSession(name=self.session), SessionOpened, within=10, retry=True
        )

    def beside(self):
        """Another console attached to the same session."""
        return Talk(self.system, self.folder, self.session)

    def script(self, *lines):
        """Set what the model answers, from now on."""
        (self.folder / "script.json").write_text(json.dumps(lines))
        (self.folder / "index").unlink(missing_ok=True)
        (self.folder / "prompts.jsonl").unlink(missing_ok=True)

    def warm_up(self):
        """Wait until the router knows all tools; leaves a session of that name."""
        self.script(says("Ready."))
        wait_until(lambda: "vault:write" in self.say("Save a note.", session="warm-up").offered, 20)

    def prompts(self):
        """The prompts that the model got."""
        file = self.folder / "prompts.jsonl"
        lines = file.read_bytes().splitlines() if file.exists() else []
        return [msgspec.json.decode(line, type=Generate) for line in lines]

    def submit(self, text, *, session="", idem="", role=None):
        """Hand a message in; returns what was acknowledged."""
        port = self.port if role is None else self.system.connect(role)
        body = SubmitTurn(
            session=session or self.session, text=text, idem=idem or secrets.token_hex(4)
        )
        return port.ask("orchestrator", body, TurnAccepted, within=10, retry=True)

    def follow(self, session=""):
        """Subscribe to a session."""
        return self.port.subscribe(
            "orchestrator", f"session:{session or self.session}", item=EVENTS
        )

    def until(self, condition, *, session="", within=30.0):
        """Follow the session until an event fulfils the condition; returns all events."""
        events = []
        deadline = time.monotonic() + within
        subscription = self.follow(session)
        try:
            while time.monotonic() < deadline:
                event = subscription.next(max(0.05, deadline - time.monotonic()))
                if event is None:
                    continue
                events.append(event)
                if condition(event):
                    return events
        finally:
            subscription.close()
        raise AssertionError(f"not within {within} s; the last events: {events[-5:]}")

    def end_of(self, turn, *, session="", within=30.0):
        """Wait for the end of a turn; returns all of it."""
        events = self.until(
            lambda event: ended_view(event, turn) is not None, session=session, within=within
        )
        return ended_view(events[-1], turn)

    def say(self, text, *, session="", within=30.0, role=None):
        """Hand a message in and wait for its end; returns the turn."""
        accepted = self.submit(text, session=session, role=role)
        return self.end_of(accepted.turn, session=session, within=within)


def views(event):
    """The turns that an event shows as a whole."""
    match event:
        case SessionSnapshot():
            return event.turns
        case TurnChanged():
            return (event.view,)
    return ()


def ended_view(event, turn):
    """The turn, if an event shows its end."""
    return next((one for one in views(event) if one.turn == turn and one.state in ENDED), None)


def running(turn):
    """Whether an event shows that a turn's answer is being written."""
    return lambda event: (
        (isinstance(event, MessageDelta) and event.turn == turn)
        or any(view.turn == turn and view.message for view in views(event))
    )
