"""What surfaces see of a session: one place where it's changed and told, under one lock."""

from collections.abc import Callable, Sequence

import msgspec

from eris.actor import Port
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

_OPEN = {TurnState.QUEUED, TurnState.RUNNING}

LATEST = 20
"""Turns in a snapshot, besides those that haven't ended."""


class SessionProjection:
    """The latest turns of one session and the topic ``session:<name>`` that tells of them.

    A subscriber sees each change either in its snapshot or as an event: both happen under the
    topic's lock.
    """

    def __init__(self, port: Port, session: str, load: Callable[[], Sequence[TurnView]]) -> None:
        """Make the topic known; ``load`` gives the latest turns when somebody first asks."""
        self._session = session
        self._load = load
        self._loaded: dict[str, TurnView] | None = None
        self._topic = port.topic(f"session:{session}", snapshot=self.snapshot)

    @property
    def _views(self) -> dict[str, TurnView]:
        if self._loaded is None:
            self._loaded = {view.turn: view for view in self._load()}
        return self._loaded

    def snapshot(self) -> SessionSnapshot:
        """The latest turns as they are now, partial answers included. Needs the topic's lock."""
        return SessionSnapshot(session=self._session, turns=tuple(self._views.values()))

    def put(self, view: TurnView) -> None:
        """Tell all of a turn: it's new, has changed as a whole, or has ended."""
        with self._topic.lock:
            self._views[view.turn] = view
            while len(self._views) > LATEST:
                oldest = next(iter(self._views))
                if self._views[oldest].state in _OPEN:
                    break
                del self._views[oldest]
            self._topic.publish(TurnChanged(view=view))

    def clear(self, turn: str) -> None:
        """Take back what was told of an answer that begins anew."""
        with self._topic.lock:
            view = self._views[turn]
            if view.message or view.thought:
                self.put(msgspec.structs.replace(view, message="", thought=""))

    def add_thought(self, turn: str, text: str) -> None:
        """Tell more of the thought."""
        with self._topic.lock:
            view = self._views[turn]
            self._views[turn] = msgspec.structs.replace(view, thought=view.thought + text)
            self._topic.publish(ThoughtDelta(turn=turn, text=text))

    def add_message(self, turn: str, text: str) -> None:
        """Tell more of the answer."""
        with self._topic.lock:
            view = self._views[turn]
            self._views[turn] = msgspec.structs.replace(view, message=view.message + text)
            self._topic.publish(MessageDelta(turn=turn, text=text))

    def put_call(self, turn: str, call: ToolCallView) -> None:
        """Tell that a tool call began or ended."""
        with self._topic.lock:
            view = self._views[turn]
            calls = {known.call_id: known for known in view.calls} | {call.call_id: call}
            self._views[turn] = msgspec.structs.replace(view, calls=tuple(calls.values()))
            self._topic.publish(CallChanged(turn=turn, call=call))

    def tell(self, progress: Progress) -> None:
        """Tell what the running turn is doing; not part of the snapshot."""
        self._topic.publish(progress)
