"""Who may use which tools: a table, and the deny list that is applied after it.

Authorisation looks at who started the turn and at what a tool may touch. Nothing the model writes
has any influence, and nothing here can be widened later in a turn.
"""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from proto.tools import Effect, Origin

PERMITTED: Mapping[Origin, frozenset[Effect]] = {
    # The user, at their own machine.
    Origin.USER: frozenset({Effect.READ, Effect.WRITE, Effect.SEND}),
    # A plan of the agent's own: nobody is there to notice what leaves the machine.
    Origin.REMINDER: frozenset({Effect.READ, Effect.WRITE}),
    # Others can write there, and read the answer: even reading would give the user's notes away.
    Origin.CHANNEL: frozenset(),
}
"""What a turn of each origin may touch. An origin that isn't listed may touch nothing."""

ONLY: Mapping[Origin, frozenset[str]] = {
    # Writes to its own folder (the vault sees to that), and looks again later, which is limited by
    # the day. What goes beyond is proposed, and waits until the user asks for it.
    Origin.REMINDER: frozenset({"vault:write", "vault:append", "agenda:remind_self"}),
}
"""Of the tools that change something, those that a turn of an origin may use; one that isn't listed
may use all that its effects permit."""

_WHO = {
    Origin.USER: "the user",
    Origin.REMINDER: "a reminder",
    Origin.CHANNEL: "a message from outside",
}
_WHAT = {
    Effect.READ: "read the user's data",
    Effect.WRITE: "change the user's data",
    Effect.SEND: "send something out of this machine",
}


def is_denied(tool: str, denied: Collection[str]) -> bool:
    """Whether a tool is on the deny list; an entry may be a pattern such as ``vault:*``."""
    return any(fnmatchcase(tool, pattern) for pattern in denied)


def why_not(tool: str, effect: Effect, origin: Origin, denied: Collection[str]) -> str:
    """Return why a turn of this origin may not use a tool, in words; empty if it may.

    Used for offering and again for every single call.
    """
    if effect not in PERMITTED.get(origin, frozenset()):
        return f"{_WHO[origin]} may not {_WHAT[effect]}"
    if effect is not Effect.READ and origin in ONLY and tool not in ONLY[origin]:
        return f"{_WHO[origin]} may only propose that, and the user decides"
    if is_denied(tool, denied):
        return "it's switched off in the settings"
    return ""
