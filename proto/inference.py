"""Messages of the inference actor: the model as a service."""

from enum import StrEnum

import msgspec


class Priority(StrEnum):
    """Who goes first when two callers want the model."""

    INTERACTIVE = "interactive"
    """Somebody is waiting."""
    BACKGROUND = "background"
    """Nobody is; runs when the model is free."""


class FinishReason(StrEnum):
    """Why a generation ended."""

    STOP = "stop"
    """The model, or the grammar, was done."""
    LENGTH = "length"
    """The token limit or the context's end was reached; the text may be incomplete."""
    CANCELLED = "cancelled"
    """A cancel arrived."""
    REPEATING = "repeating"
    """The model went round in circles and was stopped; the text may be incomplete."""


class Section(StrEnum):
    """A part of an envelope, in the order of the text."""

    THOUGHT = "thought"
    STATUS = "status"
    MESSAGE = "message_to_user"
    CALLS = "tool_calls"


class _Inference(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """Base of the messages in this module."""


class DescribeModel(_Inference, frozen=True, tag="inference.describe.1"):
    """Asks what is loaded (reply: `ModelDescription`)."""


class ModelDescription(_Inference, frozen=True, tag="inference.description.1"):
    """The loaded model."""

    name: str
    """Catalogue name, or the file's stem."""
    path: str
    context_length: int
    """Real context length in tokens, as allocated."""
    trained_context_length: int
    """What the model was trained for, in tokens."""
    vocabulary: int
    """Number of tokens in the vocabulary."""
    parameters: int
    """Number of weights."""
    size_bytes: int
    threads: int
    load_seconds: float
    template: str
    """``gguf`` if the file's own chat template is used, else the name of the fallback."""
    engine: str = "llama.cpp"
    """What runs it, as in ``model.engine``."""
    url: str = ""
    """Address of the server that runs it; empty if this process does."""
    exact_counts: bool = True
    """Whether token counts are the model's own; otherwise they are estimates, rather too high."""
    form: str = "spaced"
    """Form of JSON that the model finds likeliest, as in ``generation.form``."""
    note: str = ""
    """What is wrong with the server, such as that it doesn't keep to the grammar; or empty."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a message; pieces are joined without anything between them."""

    segment: str
    """What it counts as: ``identity``, ``history``, ``tools``, ``memory``, ``user`` and so on."""
    text: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a prompt, before the chat template."""

    role: str
    """``system``, ``user`` or ``assistant``."""
    parts: tuple[Part, ...]


class CountTokens(_Inference, frozen=True, tag="inference.count.1"):
    """Asks how many tokens a prompt has, exactly (reply: `TokenCounts`)."""

    messages: tuple[Message, ...]


class TokenCounts(_Inference, frozen=True, tag="inference.counts.1"):
    """Token counts of a rendered prompt; the segments sum to the total."""

    total: int
    segments: dict[str, int]
    """Tokens by segment; the chat template's own markup counts as ``template``."""


class TokenizeText(_Inference, frozen=True, tag="inference.tokenize.1"):
    """Asks how many tokens some texts have on their own (reply: `TextCounts`)."""

    texts: tuple[str, ...]
    limit: int = 0
    """If positive: also say where each text must be cut to have at most this many tokens."""


class TextCounts(_Inference, frozen=True, tag="inference.text-counts.1"):
    """Counts for `TokenizeText`, in its order."""

    counts: tuple[int, ...]
    cuts: tuple[int, ...] = ()
    """Characters of each text that fit the limit; empty if none was given."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What ends an envelope early, in the form that its grammar forces.

    `eris.envelope_ending` makes it. With it the text is a whole envelope whatever stops the
    generation: an open string ends, a call whose arguments aren't complete is left out.
    """

    rests: tuple[str, str, str, str, str]
    """From the end of the first so many sections to the end of the envelope, with nothing in the
    others; the first one is a whole envelope that says nothing."""
    call_end: str
    """From the end of a call's arguments to the end of the call."""
    list_end: str
    """From the end of the last call to the end of the list of calls."""


class Generate(_Inference, frozen=True, tag="inference.generate.1"):
    """Opens a stream of `Chunk`, ended by `Generated`."""

    messages: tuple[Message, ...]
    session: str
    """Whose KV state to continue from and to keep."""
    grammar: str = ""
    """GBNF that the text must follow; empty for none."""
    max_tokens: int = 512
    """Upper limit of tokens to generate; the context's end lowers it further."""
    min_answer_tokens: int = 64
    """Refuse with ``context-full`` if the prompt leaves fewer tokens than this."""
    temperature: float = 0.0
    """0 picks the likeliest token."""
    top_k: int = 40
    """0 for no limit."""
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    """1 for none."""
    seed: int = 0
    priority: Priority = Priority.INTERACTIVE
    dry_multiplier: float = 0.0
    """Weight of the penalty on tokens that would lengthen a repetition (DRY); 0 for none."""
    dry_base: float = 1.75
    """The penalty is ``dry_multiplier * dry_base ** (length - dry_allowed_length)``."""
    dry_allowed_length: int = 2
    """Tokens of a repetition that cost nothing."""
    ending: Ending | None = None
    """How to end the answer if it's stopped early; None to leave it as it is then."""
    think_tokens: int = 0
    """Most tokens of a ``<think>`` part, where the model has one; it comes before the grammar."""
    call_bias: float = 0.0
    """Added to the log-odds of a first call against none. Needs ``ending``."""
    more_calls_bias: float = 0.0
    """Added to the log-odds of another call against no more. Needs ``ending``."""
    schema: str = ""
    """JSON Schema of the same answers as ``grammar``, for servers that know no grammars."""


class Prefilled(_Inference, frozen=True, tag="inference.prefilled.1"):
    """First element of the stream: the prompt has been read."""

    counts: TokenCounts
    cached_tokens: int
    """Tokens of the prompt that were in the KV cache already."""
    prefilled_tokens: int
    """Tokens of the prompt that had to be computed."""
    seconds: float


class Chunk(_Inference, frozen=True, tag="inference.chunk.1"):
    """Some more text; only ever whole characters."""

    text: str
    tokens: int
    """Tokens generated so far."""
    removed: int = 0
    """Characters to take away from the end of the answer so far before ``text`` is added: an
    answer that is ended early loses the call that it was writing."""
    thinking: bool = False
    """It belongs to the ``<think>`` part, not to the answer."""


class EndedEarly(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer lacks that was ended early; its text is a whole envelope all the same."""

    cut: tuple[Section, ...] = ()
    """Sections that stop in the middle or were left out."""
    calls_left_out: int = 0
    """Calls that were begun and aren't there."""


class Generated(_Inference, frozen=True, tag="inference.generated.1"):
    """Result of a generation."""

    finish: FinishReason
    prompt_tokens: int
    cached_tokens: int
    prefilled_tokens: int
    generated_tokens: int
    forced_tokens: int
    """Tokens that the grammar left no choice about."""
    forward_passes: int
    """Calls of the model while decoding."""
    prefill_seconds: float
    decode_seconds: float
    queued_seconds: float
    """Time spent waiting for another caller's generation."""
    ended_early: EndedEarly | None = None
    """Set if the answer was ended by the ``ending`` of the request."""
    thinking_tokens: int = 0
    """Tokens of the ``<think>`` part; not among the generated ones."""
    drafted_tokens: int = 0
    """Tokens that were proposed by looking them up in the prompt."""
    accepted_tokens: int = 0
    """Of the drafted ones, those that the model agreed with."""
    constraint_seconds: float = 0.0
    """Of the time for decoding, what the grammar took."""
    call_odds: float | None = None
    """Log-odds of a first call against none, without the bias; None if the model hadn't both."""


Inference = (
    DescribeModel
    | ModelDescription
    | CountTokens
    | TokenCounts
    | TokenizeText
    | TextCounts
    | Generate
    | Prefilled
    | Chunk
    | Generated
)
