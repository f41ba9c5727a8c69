"""Messages of the router: which tools fit what the user said."""

import msgspec


class _Router(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class Route(_Router, frozen=True, tag="router.route.1"):
    """Asks which tools fit (reply: `Routed`)."""

    text: str
    """What the user said."""
    limit: int = 5
    """Most tools to return."""
    context: str = ""
    """What the user said in the turn before; lends the name of a note to "what does it say?"."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that fits."""

    tool: str
    score: float
    """Cosine similarity, or the keyword score scaled to 0..1."""


class Routed(_Router, frozen=True, tag="router.routed.1"):
    """The tools that fit, best first; none if it's only conversation."""

    hits: tuple[Hit, ...]
    mode: str
    """``semantic``, or ``keywords`` when the embedder is away."""
    elapsed_ms: float
    evident: bool = False
    """One of them has to be called before anything is said."""
    call_odds: float = 0.0
    """Log-odds that one of them is wanted, by their scores; 0 where nothing is known."""


Router = Route | Routed
