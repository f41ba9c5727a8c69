"""Messages of the router: which tools and skills fit what the user said."""

import msgspec


class _Router(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class SkillSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a skill without reading it."""

    name: str
    description: str
    """What it does and when it's wanted."""


class RegisterSkills(_Router, frozen=True, tag="router.skills.1"):
    """The vault says which skills there are, replacing what it said before (reply: `Done`)."""

    skills: tuple[SkillSummary, ...]


class Route(_Router, frozen=True, tag="router.route.1"):
    """Asks which tools and skills fit (reply: `Routed`)."""

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
    skills: tuple[str, ...] = ()
    """Names of the skills that fit, best first, two at most. They don't bear on the tools."""
    notes: dict[str, str] = {}
    """Notes that the text names without writing their path: the path by what was said."""


Router = RegisterSkills | Route | Routed
