"""Tools as they travel: their declaration, a call, its result."""

from enum import StrEnum

import msgspec


class Effect(StrEnum):
    """What a tool may touch; the permission table is written in these terms."""

    READ = "read"
    """Reads what belongs to the user; changes nothing."""
    WRITE = "write"
    """Changes the user's notes or data on this machine."""
    SEND = "send"
    """Sends something out of this machine."""


class Origin(StrEnum):
    """Who started a turn. Authorisation looks at this and at nothing the model says."""

    USER = "user"
    """The user, at a surface on their own machine."""
    REMINDER = "reminder"
    """A reminder or another plan of the agent's own."""
    CHANNEL = "channel"
    """A message from outside, such as a chat channel that others can write to."""


class _Tools(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class ToolDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the rest of Eris knows about a tool; the one source of schema and text."""

    name: str
    """``area:verb``, such as ``vault:read``."""
    description: str
    """One sentence for the model: what it does and when to use it."""
    hints: tuple[str, ...]
    """Example phrases of users who need this tool, for routing."""
    parameters: str
    """JSON Schema of the arguments object, as JSON text."""
    aliases: dict[str, str] = {}
    """Argument names that models invent, and the right one for each."""
    effect: Effect
    """What it may touch."""
    receipt: str = ""
    """Past-tense form for receipts, such as ``saved {path}``; empty for a tool that only reads."""


class CallTool(_Tools, frozen=True, tag="tool.call.1"):
    """Gatekeeper to the owner of a tool: carry out one call, once.

    Repeating it with the same ``call_id`` returns the first result and does nothing twice.
    """

    call_id: str
    """Idempotency key, unique to this call of this turn."""
    tool: str
    """Name of the tool."""
    arguments: str
    """Arguments as JSON text, normalised and valid by the tool's schema."""
    origin: Origin
    """Who started the turn."""
    session: str
    """Session the turn belongs to."""
    turn: str = ""
    said: str = ""
    """What the user said in that turn, cut to 2,000 characters."""
    untrusted: str = ""
    """Where text from outside that the model has seen comes from, such as ``manual.pdf``; empty if
    it has seen none. What such text asks for is not what the user asks for."""


class ToolResult(_Tools, frozen=True, tag="tool.result.1"):
    """What came of a call. A tool that failed is a result too: the model is told."""

    ok: bool
    """Whether the tool did what it was asked to."""
    content: str
    """Text for the model: the result, or why it failed and what to do instead."""
    code: str = ""
    """An `ErrorCode` where ``ok`` is false."""
    receipt: str = ""
    """For people, in the past tense: ``saved notes/today.md (14 bytes)``; empty for pure reads."""
    data: dict[str, str | int] = {}
    """Facts for programs, such as ``path`` and ``bytes``."""
    untrusted: str = ""
    """Where text from outside in ``content`` comes from; empty if there is none."""


Tools = CallTool | ToolResult
