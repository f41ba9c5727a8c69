"""Ends an envelope that stops in the middle: the shortest text that makes it whole.

An open string ends where it stands. A call whose arguments aren't complete is left out, for
nobody may carry out what the model didn't finish saying. Everything that wasn't begun is empty.
"""

from dataclasses import dataclass
from functools import lru_cache

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.grammar.json_text import DEFAULT_FORM, Form
from proto.inference import EndedEarly, Ending, Section

SECTIONS = tuple(Section)

_ENVELOPE, _LIST, _CALL, _ARGUMENTS = 1, 2, 3, 4  # depths of braces and brackets
_UNICODE_ESCAPE = len("u0000")
_SURROGATE_PAIR = len("ud83d\\ude00")
_TEXTS = (Section.THOUGHT, Section.MESSAGE)


@dataclass(frozen=True, slots=True)
class Ended:
    """How an envelope is made whole.

    Attributes:
        kept: Characters of the text so far that stay.
        text: What is written behind them.
        early: What it lacks.
    """

    kept: int
    text: str
    early: EndedEarly


@lru_cache(maxsize=16)
def envelope_ending(form: Form = DEFAULT_FORM) -> Ending:
    """Give what ends an envelope of this form, read off envelopes that are written in it."""
    empty = render_envelope(Envelope(status="Process"), form)
    ends = _follow(empty).ends
    call = Envelope(status="Process", tool_calls=(ToolCall("x", {"x": 1}),))
    called = render_envelope(call, form)
    followed = _follow(called)
    return Ending(
        rests=(empty, *(empty[end:] for end in ends)),  # type: ignore[arg-type]
        call_end=called[followed.arguments_end : followed.call_end],
        list_end=called[followed.call_end : followed.ends[-1]],
    )


class EnvelopeFollower:
    """Reads along with an envelope that keeps to its grammar, and can end it at any character.

    Attributes:
        length: Characters so far.
        ends: Where the values of the finished sections end.
        arguments_end: Where the last complete arguments of a call end; 0 for none.
        call_end: Where the last complete call ends; 0 for none.
        calls: Complete calls so far.
        foreign: Whether the text isn't such an envelope; then nothing can be said about it.
    """

    def __init__(self) -> None:
        self.length = 0
        self.ends: list[int] = []
        self.arguments_end = 0
        self.call_end = 0
        self.calls = 0
        self.foreign = False
        self._depth = 0
        self._in_string = False
        self._escape: str | None = None
        self._key: str | None = None
        self._safe = 0
        self._captured: list[str] = []

    @property
    def section(self) -> Section | None:
        """The section whose value comes or is being written; None after the last one."""
        return SECTIONS[len(self.ends)] if len(self.ends) < len(SECTIONS) else None

    @property
    def complete(self) -> bool:
        """Whether the envelope is whole."""
        return self.section is None and self._depth == 0

    @property
    def in_text(self) -> bool:
        """Whether the string of the thought or the message is open."""
        return self._in_string and self._depth == _ENVELOPE and self._key in _TEXTS

    @property
    def before_first_call(self) -> bool:
        """Whether the next thing of weight is a first call or the end of the list."""
        listed = self._key == Section.CALLS and self.section is Section.CALLS
        return listed and not self.calls and self._depth <= _LIST

    @property
    def after_call(self) -> bool:
        """Whether the next thing of weight is another call or the end of the list."""
        return bool(self.calls) and self.call_end == self.length and self._depth == _LIST

    def feed(self, text: str) -> None:
        """Take the next piece of text, which may end anywhere."""
        for char in text:
            if self.foreign:
                return
            self.length += 1
            if self._in_string:
                self._inside(char)
            else:
                self._outside(char)

    def end(self, ending: Ending) -> Ended:
        """Say how the text so far is made a whole envelope.

        Raises:
            ValueError: It's no envelope.
        """
        if self.foreign:
            raise ValueError("the text is no envelope")
        section = self.section
        if section is None:
            rest = ending.rests[-1] if self._depth else ""
            return Ended(self.ends[-1] if rest else self.length, rest, EndedEarly())
        done = len(self.ends)
        kept, text = (self.ends[-1] if self.ends else 0), ending.rests[done]
        if self.in_text:
            kept, text = self._safe, '"' + ending.rests[done + 1]
        elif section is Section.CALLS and self.arguments_end:
            whole = self.call_end > self.arguments_end
            kept = self.call_end if whole else self.arguments_end
            text = ("" if whole else ending.call_end) + ending.list_end + ending.rests[-1]
        begun = self._depth >= _CALL and self.arguments_end <= self.call_end
        return Ended(kept, text, EndedEarly(cut=SECTIONS[done:], calls_left_out=int(begun)))

    def _outside(self, char: str) -> None:
        match char:
            case '"':
                self._in_string = True
                self._safe = self.length
                self._captured = []
            case "{" | "[":
                self._depth += 1
                self.foreign = self._depth == _ENVELOPE and self.length > 1
            case "}" | "]":
                self._close()
            case "," if self._depth == _ENVELOPE:
                self._end_value(self.length - 1)
                self._key = None
            case _:
                self.foreign = self._depth == 0

    def _close(self) -> None:
        self._depth -= 1
        match self._depth:
            case 0:
                self._end_value(self.length - 1)
            case 1:
                self._end_value(self.length)
            case 2:
                self.calls += 1
                self.call_end = self.length
            case 3:
                self.arguments_end = self.length
            case _:
                pass

    def _inside(self, char: str) -> None:
        """Read one character of a string; `_safe` is where it can be cut."""
        if self._escape is not None and _goes_on(self._escape, char):
            self._escape += char
            if _is_whole(self._escape):
                self._escape = None
                self._safe = self.length
            return
        if self._escape is not None:  # half a pair, alone
            self._escape = None
            self._safe = self.length - 1
        if char == "\\":
            self._escape = ""
        elif char == '"':
            self._in_string = False
            self._end_string()
        else:
            self._safe = self.length
            if self._depth == _ENVELOPE and self._key is None:
                self._captured.append(char)

    def _end_string(self) -> None:
        if self._depth != _ENVELOPE:
            return
        if self._key is None:
            self._key = "".join(self._captured)
            self.foreign = self._key != self.section
        else:
            self._end_value(self.length)

    def _end_value(self, position: int) -> None:
        """Note the end of a section's value, unless that was seen already (null ends late)."""
        if self._key is not None and self._key == self.section:
            self.ends.append(position)


def _goes_on(escape: str, char: str) -> bool:
    """Whether a character belongs to an open escape (given without its first backslash)."""
    following = len(escape) - _UNICODE_ESCAPE
    return following < 0 or "\\u"[following : following + 1] in ("", char)


def _is_whole(escape: str) -> bool:
    """Whether an escape is at its end; a pair of surrogates is one escape."""
    if not escape.startswith("u"):
        return True
    high = escape[1:2] in ("d", "D") and escape[2:3] in tuple("89abAB")
    return len(escape) == (_SURROGATE_PAIR if high else _UNICODE_ESCAPE)


def _follow(text: str) -> EnvelopeFollower:
    follower = EnvelopeFollower()
    follower.feed(text)
    return follower
