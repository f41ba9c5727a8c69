"""Drafts by looking them up: what followed the last few tokens when they occurred before.

Answers copy: a path from the request, a note from the context. Where the last tokens stand in the
prompt already, those behind them are a good guess, and several guesses are checked in one pass
("prompt lookup decoding", Saxena 2023). Whether that is faster depends on the machine: a pass over
four tokens costs as much as one on a graphics card, and twice as much on two cores. So the passes
are timed, guesses are counted right or wrong even where nothing is drafted, and a draft is made
only where it pays.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

_NEEDED: Final = 3
"""Tokens that must agree before anything is guessed."""
_LONG: Final = (4, 8, 16)
"""Up to so many agreeing tokens, guesses are counted together."""
_SHORT_DRAFT: Final = 3
_LONG_DRAFT: Final = 7
_SURE: Final = 0.9
_WEIGHT: Final = 0.1
"""Of the newest guess in the share of right ones."""
_MARGIN: Final = 1.4
"""Every token of a draft must be right for the next one to count."""
_OBSERVED: Final = 31
"""Passes whose median counts; single ones may be slow for other reasons."""
_FEWEST: Final = 5


@dataclass
class DraftEconomy:
    """What drafts cost and bring, learnt from all generations of an engine.

    Attributes:
        rates: Share of right guesses, by how many tokens agreed.
    """

    rates: list[float] = field(default_factory=lambda: [0.5] * (len(_LONG) + 1))
    _singles: deque[float] = field(default_factory=lambda: deque(maxlen=_OBSERVED))
    _extras: deque[float] = field(default_factory=lambda: deque(maxlen=_OBSERVED))

    def passed(self, tokens: int, seconds: float) -> None:
        """Note how long a pass took."""
        if tokens == 1:
            self._singles.append(seconds)
        elif self._singles:
            self._extras.append((seconds - median(self._singles)) / (tokens - 1))

    def guessed(self, agreed: int, *, right: bool) -> None:
        """Note whether a guess was right."""
        level = _level(agreed)
        self.rates[level] += _WEIGHT * (right - self.rates[level])

    def size(self, agreed: int) -> int:
        """Return how many tokens it pays to draft; 0 if none."""
        if len(self._extras) < _FEWEST:
            return 0
        rate = self.rates[_level(agreed)]
        if rate * median(self._singles) < median(self._extras) * _MARGIN:
            return 0
        return _LONG_DRAFT if rate >= _SURE else _SHORT_DRAFT


class PromptLookup:
    """Drafts for one generation."""

    def __init__(self, prompt: Sequence[int], economy: DraftEconomy) -> None:
        self._tokens = list(prompt)
        self._economy = economy
        self._places: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._guess = -1
        self._agreed = 0

    def saw(self, tokens: Sequence[int]) -> None:
        """Take the next tokens of the answer, the first of which was picked or drafted."""
        if self._agreed and tokens:
            self._economy.guessed(self._agreed, right=tokens[0] == self._guess)
        self._tokens.extend(tokens)
        self._agreed = 0

    def draft(self) -> list[int]:
        """Return what probably comes next; empty if nothing is known or it wouldn't pay."""
        tokens = self._tokens
        self._index()
        place = self._places.get(tuple(tokens[-_NEEDED:]))
        if place is None:
            return []
        self._agreed = _agreement(tokens, place)
        self._guess = tokens[place]
        return tokens[place : place + self._economy.size(self._agreed)]

    def _index(self) -> None:
        """Note where each run of tokens was seen last, but for the one at the very end."""
        tokens = self._tokens
        for end in range(max(self._indexed, _NEEDED), len(tokens)):
            self._places[tuple(tokens[end - _NEEDED : end])] = end
        self._indexed = len(tokens)


def _agreement(tokens: Sequence[int], place: int) -> int:
    """Return how many tokens before ``place`` are the same as those at the end."""
    count = 0
    while count < min(place, _LONG[-1] + 1) and tokens[place - 1 - count] == tokens[-1 - count]:
        count += 1
    return count


def _level(agreed: int) -> int:
    return sum(agreed > length for length in _LONG)
