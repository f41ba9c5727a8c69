"""What a surface knows of a session: the orchestrator's events folded into one value; pure.

A surface that takes every event in order has at any time what a fresh snapshot would say.
"""

import msgspec

from proto.orchestrator import (
    CallChanged,
    MessageDelta,
    Progress,
    SessionSnapshot,
    ThoughtDelta,
    ToolCallView,
    TurnChanged,
    TurnState,
    TurnView,
)

SessionEvent = SessionSnapshot | TurnChanged | ThoughtDelta | MessageDelta | CallChanged | Progress
"""Every element of the subscription ``session:<name>``."""

UNFINISHED = frozenset({TurnState.QUEUED, TurnState.RUNNING})
"""States in which a turn can still change."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A session as far as it's known."""

    session: str
    turns: tuple[TurnView, ...] = ()
    """The latest turns, oldest first."""
    progress: Progress | None = None
    """What the running turn is doing; None if nothing is known of it."""

    def find(self, turn: str) -> TurnView | None:
        """Return a turn by its id."""
        return next((view for view in self.turns if view.turn == turn), None)

    @property
    def running(self) -> TurnView | None:
        """The turn that is running, if any."""
        return next((view for view in self.turns if view.state is TurnState.RUNNING), None)

    @property
    def queued(self) -> int:
        """How many turns wait."""
        return sum(view.state is TurnState.QUEUED for view in self.turns)


def fold(conversation: Conversation, event: SessionEvent) -> Conversation:
    """Return the conversation after an event. One about an unknown turn changes nothing."""
    match event:
        case SessionSnapshot():
            return Conversation(session=event.session, turns=event.turns)
        case TurnChanged(view=view):
            return _put(conversation, view)
        case ThoughtDelta():
            return _append(conversation, event.turn, thought=event.text)
        case MessageDelta():
            return _append(conversation, event.turn, message=event.text)
        case CallChanged():
            return _put_call(conversation, event.turn, event.call)
        case Progress():
            return msgspec.structs.replace(conversation, progress=event)


def _put(conversation: Conversation, view: TurnView) -> Conversation:
    turns = {known.turn: known for known in conversation.turns} | {view.turn: view}
    progress = conversation.progress
    if progress is not None and progress.turn == view.turn and view.state not in UNFINISHED:
        progress = None
    return msgspec.structs.replace(conversation, turns=tuple(turns.values()), progress=progress)


def _append(
    conversation: Conversation, turn: str, thought: str = "", message: str = ""
) -> Conversation:
    view = conversation.find(turn)
    if view is None:
        return conversation
    longer = msgspec.structs.replace(
        view, thought=view.thought + thought, message=view.message + message
    )
    return _put(conversation, longer)


def _put_call(conversation: Conversation, turn: str, call: ToolCallView) -> Conversation:
    view = conversation.find(turn)
    if view is None:
        return conversation
    calls = {known.call_id: known for known in view.calls} | {call.call_id: call}
    return _put(conversation, msgspec.structs.replace(view, calls=tuple(calls.values())))
