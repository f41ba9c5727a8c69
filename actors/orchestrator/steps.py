"""What a turn consists of: the steps that are journalled, in order.

A turn is the list of its steps and nothing else; `actors.orchestrator.machine` decides from that
list what comes next, so a turn that was interrupted goes on from its last completed step. A step
is written when it's complete: half an answer is no step.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from proto.orchestrator import TurnState


class Fault(StrEnum):
    """Classes of failure that the recovery loop tells apart."""

    TRUNCATED = "truncated"
    """The answer was stopped before its end, by the token limit or because it went in circles."""
    SCHEMA = "schema"
    """The answer isn't an envelope."""
    UNKNOWN_TOOL = "unknown-tool"
    """The answer calls a tool that wasn't offered."""
    TOOL_FAILED = "tool-failed"
    """A tool was called and failed."""
    EMPTY = "empty"
    """Neither a message nor a call."""
    REPEATED = "repeated"
    """The same call with the same result again."""
    UNBACKED = "unbacked"
    """The message claims that something was saved, and nothing was."""


class _Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of the steps in this module."""


class OfferStep(_Step, frozen=True, tag="offered"):
    """What the model can choose from now on, and what else varies in the prompt.

    The first one of a turn fixes the turn's prompt; a later one only narrows the grammar.
    """

    tools: tuple[str, ...]
    grammar: str
    """GBNF of the envelope for exactly these tools."""
    text: str = ""
    """Description of these tools."""
    memory: str = ""
    """What was recalled for this turn, as the prompt tells it."""
    recalled: tuple[str, ...] = ()
    """Where that is from."""
    notice: str = ""
    """What the user is to be told beside the answer."""
    core: str = ""
    """The core memory, as the beginning of the prompt tells it."""
    untrusted: str = ""
    """Where text from outside in what was recalled comes from; empty if there is none."""
    skills: str = ""
    """What the skills that fit say."""
    notes: dict[str, str] = {}
    """Path of each note that the user's words name, by the name they use."""
    local_time: str = ""
    """The user's local time with the weekday, as the prompt says it."""
    final: bool = False
    """No tool is offered any more: the model has to answer with what is known."""
    evident: bool = False
    """A tool is certainly needed: the first answer has to call one."""
    call_odds: float = 0.0
    """Log-odds that a tool is wanted, by the router's scores."""
    calling_grammar: str = ""
    """GBNF for the same tools, with at least one call; empty without tools."""
    form: str = "spaced"
    """How the JSON of answers is written in this turn."""
    schema: str = ""
    """JSON Schema of the envelope, where the model's server knows no grammars."""
    calling_schema: str = ""
    """The same with at least one call."""
    note: str = ""
    """What is missing, in plain words, such as a router that can't be reached."""
    route_ms: float = 0
    recall_ms: float = 0
    offer_ms: float = 0


class AnswerStep(_Step, frozen=True, tag="answer"):
    """A complete answer of the model, as it wrote it, and what it cost (tokens unless said)."""

    round: int
    """Number of the answer in its turn, from 0."""
    text: str
    cut: bool = False
    """It was stopped before its end; a call whose arguments weren't complete isn't in it."""
    repeating: bool = False
    """It was stopped because the model went round in circles."""
    prompt: int = 0
    cached: int = 0
    prefilled: int = 0
    generated: int = 0
    forced: int = 0
    prefill_ms: float = 0
    decode_ms: float = 0
    segments: dict[str, int] = {}
    """The prompt by segment."""


class CallStep(_Step, frozen=True, tag="call"):
    """The intent to call a tool; the call itself may or may not have happened yet."""

    call_id: str
    """Turn, round and position: the same again after a restart, so the gatekeeper runs it once."""
    tool: str
    arguments: str
    """JSON text as the model wrote it."""


class ResultStep(_Step, frozen=True, tag="result"):
    """What came of a call."""

    call_id: str
    tool: str
    arguments: str
    """JSON text as carried out."""
    ok: bool
    content: str
    """What the model is told, already capped."""
    code: str = ""
    receipt: str = ""
    elapsed_ms: int = 0
    untrusted: str = ""
    """Where text from outside in ``content`` comes from; empty if there is none."""
    skipped: bool = False
    """Not carried out, because it had been in this turn already."""


class CorrectionStep(_Step, frozen=True, tag="correction"):
    """One attempt of the recovery loop: what went wrong and what the model is told."""

    fault: Fault
    text: str
    """Added to the prompt."""
    more_room: bool = False
    """The next answer gets a higher token limit."""


class FinishedStep(_Step, frozen=True, tag="finished"):
    """The end of a turn."""

    state: TurnState
    message: str
    """The answer, or why there is none."""
    error: str = ""
    """An `ErrorCode` if it failed."""
    truncated: bool = False


Step = OfferStep | AnswerStep | CallStep | ResultStep | CorrectionStep | FinishedStep


def untrusted_in(steps: Sequence[Step]) -> str:
    """Return where text from outside that these steps told the model of comes from."""
    found = dict.fromkeys(
        step.untrusted for step in steps if isinstance(step, (OfferStep, ResultStep))
    )
    return ", ".join(source for source in found if source)


def is_repeat(step: Step) -> bool:
    """Whether a step is the result of a call that wasn't made again, since its result was known."""
    return isinstance(step, ResultStep) and step.skipped and step.ok


def looked_up(results: Sequence[ResultStep]) -> bool:
    """Whether there are results, and not all of them of changes."""
    return any(not result.receipt for result in results)
