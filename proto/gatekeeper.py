"""Messages of the gatekeeper: the registry of tools, what is offered, and calls."""

import msgspec

from proto.tools import Origin, ToolDeclaration


class _Gatekeeper(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class RegisterTools(_Gatekeeper, frozen=True, tag="gatekeeper.register.1"):
    """An actor declares the tools it owns, replacing what it declared before (reply: `Done`)."""

    tools: tuple[ToolDeclaration, ...]


class ListTools(_Gatekeeper, frozen=True, tag="gatekeeper.tools.1"):
    """Asks for every registered tool (reply: `ToolList`)."""


class ListedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A registered tool and who owns it."""

    declaration: ToolDeclaration
    owner: str
    """Name of the actor that carries it out."""


class ToolList(_Gatekeeper, frozen=True, tag="gatekeeper.tool-list.1"):
    """Every registered tool, sorted by name."""

    revision: str
    """Digest of the registry: equal revisions mean equal lists."""
    tools: tuple[ListedTool, ...]


class RegistryChanged(_Gatekeeper, frozen=True, tag="gatekeeper.registry-changed.1"):
    """Element of the subscription ``tools``: the registry has this content now."""

    revision: str


class Offer(_Gatekeeper, frozen=True, tag="gatekeeper.offer.1"):
    """Asks for grammar and prompt text for a set of tools (reply: `Offered`).

    The set is decided here, once: names that aren't registered or not permitted to the origin
    are left out of both.
    """

    tools: tuple[str, ...]
    """Candidate names, in the router's order."""
    origin: Origin
    """Who started the turn."""
    form: str = "spaced"
    """How the JSON of answers is written, in grammar and text: ``spaced``, ``compact`` or
    ``indented``."""


class Offered(_Gatekeeper, frozen=True, tag="gatekeeper.offered.1"):
    """Grammar and text of one set of tools; both speak of exactly ``tools``."""

    tools: tuple[str, ...]
    """The offered names, in the order of the request."""
    grammar: str
    """GBNF of the answer envelope, narrowed to these tools."""
    text: str
    """Description of these tools for the prompt; empty if there is none."""
    key: str
    """Digest of the grammar, for caches."""
    left_out: dict[str, str] = {}
    """Candidates that aren't offered, and why."""
    calling_grammar: str = ""
    """The same, with at least one call and no message; empty if no tool is offered."""
    schema: str = ""
    """What ``grammar`` allows, as JSON Schema, for servers that know no grammars."""
    calling_schema: str = ""
    """The same for ``calling_grammar``."""


class Invoke(_Gatekeeper, frozen=True, tag="gatekeeper.invoke.1"):
    """Authorise, normalise, validate and carry out one call (reply: `Invoked`).

    Journalled before it acts; repeating it with the same ``call_id`` returns the first outcome.
    """

    call_id: str
    """Idempotency key: turn, round and position of the call."""
    tool: str
    arguments: str
    """Arguments as the model wrote them, JSON text."""
    origin: Origin
    offered: tuple[str, ...]
    """The set that was offered; a call outside it is refused."""
    session: str
    turn: str
    said: str = ""
    """What the user said in that turn, cut to 2,000 characters."""
    untrusted: str = ""
    """Where text from outside that the model has seen comes from; empty if it has seen none."""


class Invoked(_Gatekeeper, frozen=True, tag="gatekeeper.invoked.1"):
    """The outcome of a call, whether it succeeded or not."""

    call_id: str
    tool: str
    arguments: str
    """Arguments as they were carried out, after normalisation, JSON text."""
    ok: bool
    content: str
    """Text for the model."""
    code: str = ""
    """An `ErrorCode` where ``ok`` is false."""
    receipt: str = ""
    """For people, in the past tense; only ever set for a call that succeeded."""
    data: dict[str, str | int] = {}
    elapsed_ms: int = 0
    """Time the tool took, in milliseconds."""
    repeated: bool = False
    """True if this is the recorded outcome of an earlier call with the same id."""
    untrusted: str = ""
    """Where text from outside in ``content`` comes from; empty if there is none."""


class Ledger(_Gatekeeper, frozen=True, tag="gatekeeper.ledger.1"):
    """Asks for the ledger's entries of a turn (reply: `LedgerEntries`)."""

    turn: str


class LedgerEntries(_Gatekeeper, frozen=True, tag="gatekeeper.ledger-entries.1"):
    """The finished calls of a turn, in order."""

    entries: tuple[Invoked, ...]


Gatekeeper = (
    RegisterTools
    | ListTools
    | ToolList
    | RegistryChanged
    | Offer
    | Offered
    | Invoke
    | Invoked
    | Ledger
    | LedgerEntries
)
