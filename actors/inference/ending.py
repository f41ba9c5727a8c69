"""Sees to it that an answer closes within its token limit."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from eris.envelope_ending import EnvelopeFollower
from proto.inference import EndedEarly, Ending, Section

_FOR_THE_REST: Final = 0.5
"""Share of the limit that a thought leaves for what matters more."""


@dataclass(frozen=True)
class Finish:
    """How an answer is ended early."""

    removed: int
    """Characters that are taken away from its end."""
    text: str
    """What is added."""
    tokens: int
    """Tokens of the whole answer then."""
    early: EndedEarly


class AnswerEnding:
    """Follows one answer and knows at any time how to end it."""

    def __init__(self, ending: Ending, count: Callable[[str], int], limit: int) -> None:
        """Prepare.

        Args:
            ending: How an envelope is ended, in the form of its grammar.
            count: Gives the number of tokens of a text.
            limit: Tokens of the answer, its end included; at least `minimum_tokens`.
        """
        self.follower: Final = EnvelopeFollower()
        self._ending = ending
        self._count = count
        self._limit = limit
        self._text = ""
        self._offsets = [0]
        self._thought_cut = False
        close = '"'
        empty, thought, status, message, end = ending.rests
        listed = ending.call_end + ending.list_end + end
        self._reserve: Final = {
            Section.THOUGHT: max(count(empty), count(close + thought)),
            Section.STATUS: count(thought),
            Section.MESSAGE: max(count(status), count(close + message)),
            Section.CALLS: max(count(message), count(listed)),
            None: count(end),
        }

    def saw(self, text: str) -> None:
        """Take the text that one more token completes; it may be empty."""
        self._text += text
        self._offsets.append(len(self._text))
        self.follower.feed(text)

    @property
    def due(self) -> bool:
        """Whether the answer must end now to end within the limit."""
        return not self.follower.foreign and self._room <= self._reserve[self.follower.section]

    @property
    def thought_due(self) -> bool:
        """Whether the thought must end now to leave room for the rest."""
        follower = self.follower
        if follower.section is not Section.THOUGHT or not follower.in_text:
            return False
        rest = self._reserve[Section.THOUGHT] + int(self._limit * _FOR_THE_REST)
        return self._room <= rest

    def cut_thought(self) -> None:
        """Note that the thought was ended."""
        self._thought_cut = True

    @property
    def early(self) -> EndedEarly | None:
        """What an answer lacks that came to its own end."""
        return EndedEarly(cut=(Section.THOUGHT,)) if self._thought_cut else None

    def finish(self, repeated: int = 0) -> Finish | None:
        """Say how to end the answer here; None if it can't be or needn't be.

        Args:
            repeated: Tokens at the end that only repeat what is before them.
        """
        if self.follower.foreign or self.follower.complete:
            return None
        for kept in range(len(self._offsets) - 1 - repeated, -1, -1):
            finish = self._finish_at(kept)
            if finish.tokens <= self._limit:
                return finish
        return self._finish_at(0)

    @property
    def _room(self) -> int:
        return self._limit - (len(self._offsets) - 1)

    def _finish_at(self, tokens: int) -> Finish:
        follower = self.follower
        if tokens < len(self._offsets) - 1:
            follower = EnvelopeFollower()
            follower.feed(self._text[: self._offsets[tokens]])
        end = follower.end(self._ending)
        early = end.early
        if self._thought_cut and Section.THOUGHT not in early.cut:
            early = EndedEarly(
                cut=(Section.THOUGHT, *early.cut), calls_left_out=early.calls_left_out
            )
        return Finish(
            removed=len(self._text) - end.kept,
            text=end.text,
            tokens=bisect_left(self._offsets, end.kept) + self._count(end.text),
            early=early,
        )


def minimum_tokens(ending: Ending, count: Callable[[str], int]) -> int:
    """Return how many tokens the shortest answer has."""
    return count(ending.rests[0])
