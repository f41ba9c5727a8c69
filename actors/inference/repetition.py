"""Notices a model that goes round in circles."""

from typing import Final

import numpy as np

LONGEST_PERIOD: Final = 64
"""Tokens; a longer text may repeat without being noticed."""
FEWEST_TOKENS: Final = 64
"""A repetition is left alone until it's this long: rows of dashes and table columns are fine."""
FEWEST_TIMES: Final = 4


class RepetitionWatch:
    """Sees the tokens of an answer and says when its end is nothing but one text repeated."""

    def __init__(self) -> None:
        # For each period, how many of the latest tokens equal the one that is a period before.
        self._equal = np.zeros(LONGEST_PERIOD, dtype=np.int64)
        self._periods = np.arange(1, LONGEST_PERIOD + 1)
        self._needed = np.maximum(FEWEST_TIMES * self._periods, FEWEST_TOKENS) - self._periods
        self._latest = np.full(LONGEST_PERIOD, -1, dtype=np.int64)

    def saw(self, token: int) -> None:
        """Take the next token."""
        self._equal = np.where(self._latest == token, self._equal + 1, 0)
        self._latest = np.roll(self._latest, 1)
        self._latest[0] = token

    @property
    def repeated(self) -> int:
        """How many tokens at the end only repeat what is before them; 0 if it isn't stuck."""
        stuck = self._equal >= self._needed
        return int(self._equal[stuck].max()) if stuck.any() else 0
