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
    Progress,
    SessionSnapshot,
    SubmitTurn,
    ThoughtDelta,
    TurnAccepted,
    TurnChanged,
    TurnState,
)

EVENTS = SessionSnapshot | TurnChanged | ThoughtDelta | MessageDelta | CallChanged | Progress
ENDED = {TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED}
ACTORS = ("gatekeeper", "vault", "agenda", "router", "orchestrator")


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

    def __init__(self, system, folder: Path):
        self.system = system
        self.folder = folder
        self.port = system.connect("console")

    def script(self, *lines):
        """Set what the model answers, from now on."""
        (self.folder / "script.json").write_text(json.dumps(lines))
        (self.folder / "index").unlink(missing_ok=True)

    def prompts(self):
        """The prompts that the model got."""
        file = self.folder / "prompts.jsonl"
        lines = file.read_bytes().splitlines() if file.exists() else []
        return [msgspec.json.decode(line, type=Generate) for line in lines]

    def submit(self, text, *, session="main", idem="", role=None):
        """Hand a message in; returns what was acknowledged."""
        port = self.port if role is None else self.system.connect(role)
        body = SubmitTurn(session=session, text=text, idem=idem or secrets.token_hex(4))
        return port.ask("orchestrator", body, TurnAccepted, within=10, retry=True)

    def follow(self, session="main"):
        """Subscribe to a session."""
        return self.port.subscribe("orchestrator", f"session:{session}", item=EVENTS)

    def until(self, condition, *, session="main", within=30.0):
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

    def end_of(self, turn, *, session="main", within=30.0):
        """Wait for the end of a turn; returns all of it."""
        events = self.until(
            lambda event: ended_view(event, turn) is not None, session=session, within=within
        )
        return ended_view(events[-1], turn)

    def say(self, text, *, session="main", within=30.0, role=None):
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
