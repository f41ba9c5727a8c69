"""Reads an envelope while the model is still writing it.

`EnvelopeStream` takes the text in chunks that may end anywhere, also inside an escape, and gives
the decoded thought and message piece by piece. It looks at each character a bounded number of
times and never gives out half an escape or half a surrogate pair. What it gives is for showing;
what is acted on comes from `eris.envelope.parse_envelope` on the finished text.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

THOUGHT_KEYS = frozenset({"thought", "thoughts", "thinking", "reasoning"})
STATUS_KEYS = frozenset({"status"})
MESSAGE_KEYS = frozenset({"message_to_user", "message", "response"})
CALLS_KEYS = frozenset({"tool_calls", "tool_call", "calls", "actions"})
NAME_KEYS = frozenset({"name", "tool", "action", "tool_name"})
ENVELOPE_KEYS = THOUGHT_KEYS | STATUS_KEYS | MESSAGE_KEYS | CALLS_KEYS

STATUSES = ("Task", "Reflect", "Idle", "Process")
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
REPLACEMENT = "\ufffd"

_PLAIN_RUN = re.compile(r'[^"\\]+')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HIGH, _LOW, _END = 0xD800, 0xDC00, 0xE000
_HEX_DIGITS = 4
_CALL_DEPTH = 3  # the envelope, its list of calls, one call
_LONGEST_NAME = 256


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """More of the thought.

    Attributes:
        text: Decoded characters, to be appended.
    """

    text: str


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """More of the message to the user.

    Attributes:
        text: Decoded characters, to be appended.
    """

    text: str


@dataclass(frozen=True, slots=True)
class StatusKnown:
    """The status is complete.

    Attributes:
        status: One of `STATUSES`.
    """

    status: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The name of a tool call is complete; its arguments follow.

    Attributes:
        name: As the model wrote it.
    """

    name: str


EnvelopeEvent = ThoughtDelta | MessageDelta | StatusKnown | ToolCallStarted


@dataclass(frozen=True, slots=True)
class PartialEnvelope:
    """What is known so far.

    Attributes:
        thought: The thought so far.
        status: The status, once it's complete.
        message_to_user: The message so far; None while there is none.
        tool_names: Names of the calls so far, in order.
        complete: Whether the envelope's closing brace has come.
    """

    thought: str
    status: str | None
    message_to_user: str | None
    tool_names: tuple[str, ...]
    complete: bool


class StringDecoder:
    """Decodes the inside of one JSON string that arrives in pieces."""

    __slots__ = ("_escape", "_high", "closed")

    def __init__(self) -> None:
        self._escape = ""
        self._high = 0
        self.closed = False

    def feed(self, text: str, position: int) -> tuple[str, int]:
        """Decode from a position on, to the closing quote or the end of the text.

        Returns:
            What could be decoded, and the position behind what was read.
        """
        pieces: list[str] = []
        while position < len(text) and not self.closed:
            if self._escape:
                self._escape += text[position]
                position += 1
                self._take_escape(pieces)
                continue
            run = _PLAIN_RUN.match(text, position)
            if run:
                self._flush(pieces)
                pieces.append(run.group())
                position = run.end()
                continue
            if text[position] == "\\":
                self._escape = "\\"
            else:
                self._flush(pieces)
                self.closed = True
            position += 1
        return "".join(pieces), position

    def _take_escape(self, pieces: list[str]) -> None:
        if self._escape[1] != "u":
            self._flush(pieces)
            pieces.append(_ESCAPES.get(self._escape[1], self._escape[1]))
            self._escape = ""
        elif len(self._escape) == len("\\u") + _HEX_DIGITS:
            try:
                code = int(self._escape.removeprefix("\\u"), base=16)
            except ValueError:
                code = ord(REPLACEMENT)
            self._escape = ""
            self._take_code(code, pieces)

    def _take_code(self, code: int, pieces: list[str]) -> None:
        if self._high and _LOW <= code < _END:
            pieces.append(chr(0x10000 + (self._high - _HIGH) * 0x400 + (code - _LOW)))
            self._high = 0
            return
        self._flush(pieces)
        if _HIGH <= code < _LOW:
            self._high = code
        else:
            pieces.append(REPLACEMENT if _LOW <= code < _END else chr(code))

    def _flush(self, pieces: list[str]) -> None:
        """A high surrogate without its other half becomes a replacement character."""
        if self._high:
            pieces.append(REPLACEMENT)
            self._high = 0


class _State(Enum):
    BEFORE = auto()
    THINKING = auto()
    STRUCTURE = auto()
    STRING = auto()
    DONE = auto()


@dataclass(slots=True)
class EnvelopeStream:
    """An incremental reader of one envelope.

    Attributes:
        reasoning: Whether the text begins inside of a `<think>` block that the prompt opened.
    """

    reasoning: bool = False
    _state: _State = _State.BEFORE
    _held: str = ""
    _stack: list[str] = field(default_factory=list)
    _keys: list[str] = field(default_factory=list)
    _expect_key: bool = False
    _decoder: StringDecoder = field(default_factory=StringDecoder)
    _sink: Callable[[str], Iterable[EnvelopeEvent]] | None = None
    _captured: list[str] = field(default_factory=list)
    _captured_length: int = 0
    _known_key: bool = False
    _thought: list[str] = field(default_factory=list)
    _message: list[str] | None = None
    _status: str | None = None
    _tools: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.reasoning:
            self._state = _State.THINKING

    def feed(self, text: str) -> list[EnvelopeEvent]:
        """Take the next piece of text and give what it completes, in order."""
        events: list[EnvelopeEvent] = []
        position = 0
        while position < len(text) and self._state is not _State.DONE:
            match self._state:
                case _State.BEFORE:
                    position = self._before(text, position)
                case _State.THINKING:
                    position = self._thinking(text, position)
                case _State.STRING:
                    position = self._string(text, position, events)
                case _:
                    position = self._structure(text, position)
        return events

    def partial(self) -> PartialEnvelope:
        """Give what is known so far."""
        return PartialEnvelope(
            thought="".join(self._thought),
            status=self._status,
            message_to_user=None if self._message is None else "".join(self._message),
            tool_names=tuple(self._tools),
            complete=self._state is _State.DONE,
        )

    def _before(self, text: str, position: int) -> int:
        """Skip prose, a fence and reasoning up to the first brace."""
        char = text[position]
        self._held = (self._held + char)[-len(THINK_OPEN) :]
        if self._held == THINK_OPEN:
            self._held = ""
            self._state = _State.THINKING
        elif char == "{":
            self._open_root()
        return position + 1

    def _thinking(self, text: str, position: int) -> int:
        # The mark may be split between two pieces, so the end of the last one is looked at again.
        joined = self._held + text[position:]
        end = joined.find(THINK_CLOSE)
        if end < 0:
            self._held = joined[-(len(THINK_CLOSE) - 1) :]
            return len(text)
        position += end + len(THINK_CLOSE) - len(self._held)
        self._held = ""
        self._state = _State.BEFORE
        return position

    def _open_root(self) -> None:
        self._state = _State.STRUCTURE
        self._stack = ["{"]
        self._keys = [""]
        self._expect_key = True
        self._known_key = False

    def _structure(self, text: str, position: int) -> int:
        char = text[position]
        if char == '"':
            self._open_string()
        elif char in "{[":
            self._stack.append(char)
            self._keys.append("")
            self._expect_key = char == "{"
        elif char in "}]":
            self._stack.pop()
            self._keys.pop()
            self._expect_key = False
            if not self._stack:
                # An object without any key of an envelope was part of the prose before it.
                self._state = _State.DONE if self._known_key else _State.BEFORE
        elif char == ",":
            self._expect_key = self._stack[-1] == "{"
        elif char == ":":
            self._expect_key = False
        elif self._expect_key and not char.isspace() and not self._known_key:
            # `{x}` in prose before the envelope: keep looking.
            self._state = _State.BEFORE
            return position
        return position + 1

    def _open_string(self) -> None:
        self._decoder = StringDecoder()
        self._captured = []
        self._captured_length = 0
        self._state = _State.STRING
        self._sink = self._find_sink()

    def _find_sink(self) -> Callable[[str], Iterable[EnvelopeEvent]] | None:
        """Say who wants the text of the string that begins here as it comes."""
        if self._expect_key or len(self._stack) != 1:
            return None
        key = self._keys[0]
        if key in THOUGHT_KEYS:
            return self._more_thought
        if key in MESSAGE_KEYS:
            self._message = [] if self._message is None else self._message
            return self._more_message
        return None

    def _more_thought(self, text: str) -> Iterable[EnvelopeEvent]:
        self._thought.append(text)
        yield ThoughtDelta(text)

    def _more_message(self, text: str) -> Iterable[EnvelopeEvent]:
        if self._message is not None:
            self._message.append(text)
        yield MessageDelta(text)

    def _string(self, text: str, position: int, events: list[EnvelopeEvent]) -> int:
        decoded, position = self._decoder.feed(text, position)
        if self._sink is not None:
            if decoded:
                events.extend(self._sink(decoded))
        elif decoded and self._captured_length <= _LONGEST_NAME:
            self._captured.append(decoded[: _LONGEST_NAME + 1])
            self._captured_length += len(decoded)
        if self._decoder.closed:
            self._state = _State.STRUCTURE
            if self._sink is None:
                self._close_string("".join(self._captured), events)
        return position

    def _close_string(self, value: str, events: list[EnvelopeEvent]) -> None:
        depth = len(self._stack)
        if self._expect_key:
            self._keys[-1] = value
            self._known_key = self._known_key or (depth == 1 and value in ENVELOPE_KEYS)
            return
        key = self._keys[-1]
        if depth == 1 and key in STATUS_KEYS:
            status = as_status(value)
            if status is not None:
                self._status = status
                events.append(StatusKnown(status))
        elif depth == _CALL_DEPTH and self._keys[0] in CALLS_KEYS and key in NAME_KEYS:
            self._tools.append(value)
            events.append(ToolCallStarted(value))


def as_status(text: str) -> str | None:
    """Give the status that a text names, whatever its case; None if it names none."""
    wanted = text.strip().casefold()
    return next((status for status in STATUSES if status.casefold() == wanted), None)
