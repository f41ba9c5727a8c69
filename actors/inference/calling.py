"""The place where a model chooses between calling a tool and leaving it, and its odds there.

A small model under a grammar calls a function even when none fits. Whoever knows better (the
router has seen the request) adds a bias to the log-odds, at this place and nowhere else.
"""

import math
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

import numpy as np

from actors.inference.native import Logits
from actors.inference.sampling import Allowed
from eris.envelope_ending import EnvelopeFollower

_BEFORE: Final = ": \n\t"


class _Choice(Enum):
    CALL = auto()
    NONE = auto()
    OPEN = auto()
    """The token says neither, such as a lone bracket."""


class CallWeighing:
    """Weighs the choice between a call and none for one generation.

    Attributes:
        odds: Log-odds of a first call against none, as the model saw them; None until it had
            to choose between both.
    """

    def __init__(
        self,
        follower: EnvelopeFollower,
        text_of: Callable[[int], str],
        *,
        first: float,
        more: float,
    ) -> None:
        """Prepare.

        Args:
            follower: Reads along with the answer.
            text_of: Gives the text of a token.
            first: Added to the log-odds of a first call.
            more: Added to those of another one.
        """
        self.odds: float | None = None
        self._follower = follower
        self._text_of = text_of
        self._first = first
        self._more = more

    def weigh(self, logits: Logits, allowed: Allowed) -> Logits:
        """Return the logits with the bias added, if this is the place for it."""
        follower = self._follower
        if follower.before_first_call:
            bias, first = self._first, True
        elif follower.after_call and self._more:
            bias, first = self._more, False
        else:
            return logits
        choices: dict[_Choice, list[int]] = {choice: [] for choice in _Choice}
        for token in np.flatnonzero(allowed.mask()).tolist():
            choices[_choice(self._text_of(token), first=first)].append(token)
        calls, none = choices[_Choice.CALL], choices[_Choice.NONE]
        if first and calls and none:
            self.odds = _log_sum(logits[calls]) - _log_sum(logits[none])
        if not bias or not calls:
            return logits
        weighed = logits.copy()
        weighed[calls] += bias
        return weighed


def _choice(text: str, *, first: bool) -> _Choice:
    rest = text.lstrip(_BEFORE)
    if first and rest.startswith("["):
        rest = rest[1:].lstrip()
    if rest.startswith("]"):
        return _Choice.NONE
    return _Choice.CALL if rest.startswith("{" if first else ",") else _Choice.OPEN


def _log_sum(values: Logits) -> float:
    largest = float(values.max())
    return largest + math.log(float(np.exp(values.astype(np.float64) - largest).sum()))
