"""Messages of the orchestrator: sessions, turns, and what surfaces see of them."""

from enum import StrEnum

import msgspec


class TurnState(StrEnum):
    """Where a turn is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    """Answered."""
    FAILED = "failed"
    """Ended without an answer; ``message`` says why in plain words."""
    CANCELLED = "cancelled"


class _Orchestrator(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class SubmitTurn(_Orchestrator, frozen=True, tag="orchestrator.submit.1"):
    """Hands in what the user said (reply: `TurnAccepted`, sent once the turn is on disk)."""

    session: str
    text: str
    idem: str
    """Idempotency key: the same one never makes a second turn."""


class TurnAccepted(_Orchestrator, frozen=True, tag="orchestrator.accepted.1"):
    """The turn is journalled and survives the death of any process."""

    turn: str
    position: int
    """Turns of this session in front of it."""
    repeated: bool = False
    """True if this idempotency key had been used before."""


class CancelTurn(_Orchestrator, frozen=True, tag="orchestrator.cancel.1"):
    """Stops a turn (reply: `Done`)."""

    session: str
    turn: str = ""
    """Empty for the one that is running."""


class NewSession(_Orchestrator, frozen=True, tag="orchestrator.new-session.1"):
    """Starts an empty session (reply: `SessionOpened`)."""

    name: str = ""
    """Empty for a name made from the date."""


class SessionOpened(_Orchestrator, frozen=True, tag="orchestrator.session.1"):
    """A session that can be subscribed to as ``session:<name>``."""

    session: str


class ListSessions(_Orchestrator, frozen=True, tag="orchestrator.sessions.1"):
    """Asks for the known sessions (reply: `SessionList`)."""


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One session."""

    session: str
    turns: int
    last_active: float
    """Seconds since the epoch."""


class SessionList(_Orchestrator, frozen=True, tag="orchestrator.session-list.1"):
    """Sessions, the most recently used first."""

    sessions: tuple[SessionSummary, ...]


class ListTurns(_Orchestrator, frozen=True, tag="orchestrator.turns.1"):
    """Asks for ended turns of all sessions, in the order they were handed in (reply: `TurnLog`)."""

    after: int = 0
    """Number of the last one that is known."""
    limit: int = 100


class LoggedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What was said in a turn that has ended."""

    number: int
    """Position among all turns, from 1."""
    turn: str
    session: str
    said: str
    """What the user said."""
    answer: str
    """What Eris answered; empty if it failed or was stopped."""
    accepted: float
    """Seconds since the epoch."""
    untrusted: str = ""
    """Where text from outside in it came from; empty if there was none."""


class TurnLog(_Orchestrator, frozen=True, tag="orchestrator.turn-log.1"):
    """Ended turns; one that runs, and all after it, are told of when it has ended."""

    turns: tuple[LoggedTurn, ...]


class DescribeContext(_Orchestrator, frozen=True, tag="orchestrator.context.1"):
    """Asks what fills a session's context (reply: `ContextReport`)."""

    session: str


class ContextReport(_Orchestrator, frozen=True, tag="orchestrator.context-report.1"):
    """Exact token counts of a session's latest prompt."""

    session: str
    context_length: int
    total: int
    segments: dict[str, int]
    reserved: int
    """Tokens kept free for the answer."""
    condensed_turns: int = 0
    """Turns no longer sent in full."""


class ToolCallView(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as surfaces show it."""

    call_id: str
    tool: str
    arguments: str
    """JSON text."""
    state: str
    """``running``, ``ok`` or ``failed``."""
    content: str = ""
    """What the model was told."""
    receipt: str = ""
    """From the gatekeeper's ledger; empty for pure reads and failures."""
    elapsed_ms: int = 0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn cost, summed over its rounds; tokens unless said."""

    prompt: int = 0
    """Size of the last prompt."""
    cached: int = 0
    """Of all prompts: found in the KV cache."""
    prefilled: int = 0
    """Of all prompts: computed."""
    generated: int = 0
    forced: int = 0
    """Of the generated ones: left no choice by the grammar."""
    rounds: int = 0
    """Calls of the model."""
    recoveries: int = 0
    """Attempts of the recovery loop."""
    segments: dict[str, int] = {}
    """The last prompt by segment."""
    route_ms: float = 0
    offer_ms: float = 0
    prefill_ms: float = 0
    decode_ms: float = 0
    tools_ms: float = 0
    first_text_ms: float = 0
    """From acceptance to the first character of the message; 0 if there was none."""
    total_ms: float = 0
    """From acceptance to the end."""


class TurnView(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as surfaces show it."""

    turn: str
    text: str
    """What the user said."""
    state: TurnState
    surface: str
    """Name of the connection that submitted it."""
    message: str = ""
    """The answer so far, or why the turn failed."""
    thought: str = ""
    calls: tuple[ToolCallView, ...] = ()
    offered: tuple[str, ...] = ()
    """Tools the model could choose from."""
    recalled: tuple[str, ...] = ()
    """Where what was recalled for the turn is from, such as ``people/ann.md:12, 2026-03-01``."""
    notice: str = ""
    """What the user is to be told beside the answer."""
    usage: Usage = Usage()
    error: str = ""
    """An `ErrorCode` if it failed."""
    truncated: bool = False
    """The answer was cut by the token limit."""
    started: float = 0
    """Seconds since the epoch at acceptance."""


class SessionSnapshot(_Orchestrator, frozen=True, tag="orchestrator.snapshot.1"):
    """First element of the subscription ``session:<name>``."""

    session: str
    turns: tuple[TurnView, ...]
    """The latest turns, oldest first."""


class TurnChanged(_Orchestrator, frozen=True, tag="orchestrator.turn-changed.1"):
    """A turn was queued, started or ended, or a round began again: this is all of it now."""

    view: TurnView


class ThoughtDelta(_Orchestrator, frozen=True, tag="orchestrator.thought.1"):
    """More of the thought of the running turn."""

    turn: str
    text: str


class MessageDelta(_Orchestrator, frozen=True, tag="orchestrator.message.1"):
    """More of the answer of the running turn."""

    turn: str
    text: str


class CallChanged(_Orchestrator, frozen=True, tag="orchestrator.call.1"):
    """A tool call of the running turn started or ended."""

    turn: str
    call: ToolCallView


class Progress(_Orchestrator, frozen=True, tag="orchestrator.progress.1"):
    """What the running turn is doing, for a status line."""

    turn: str
    phase: str
    """``routing``, ``waiting``, ``reading``, ``writing``, ``calling`` or ``recovering``."""
    detail: str = ""
    tokens: int = 0
    """Generated so far in this round."""
    tokens_per_second: float = 0
    queued: int = 0
    """Turns waiting behind this one."""


Orchestrator = (
    SubmitTurn
    | TurnAccepted
    | CancelTurn
    | NewSession
    | SessionOpened
    | ListSessions
    | SessionList
    | ListTurns
    | TurnLog
    | DescribeContext
    | ContextReport
    | SessionSnapshot
    | TurnChanged
    | ThoughtDelta
    | MessageDelta
    | CallChanged
    | Progress
)
