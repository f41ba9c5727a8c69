"""Picking a token from logits, among those that a grammar allows.

The order is llama.cpp's default: grammar, penalties (repetition, DRY), top-k, top-p, min-p,
temperature. The result is distributed as if the whole vocabulary were masked first, but it seldom
has to be: the likeliest tokens are asked about one by one, at half a microsecond each, and only if
too few of them are allowed is the mask computed.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.inference.native import Logits

_REPEAT_WINDOW: Final = 64
_SPARE: Final = 16
"""So many tokens more than needed are asked about before the vocabulary is masked."""
_SLOPE: Final = np.float32(16.0)
"""Tokens that are this far below the likeliest are seldom among the best."""
_STEEPEST: Final = 30.0
"""Largest exponent of the DRY penalty: more than enough to rule a token out."""

Tokens = NDArray[np.int64]


class Allowed(Protocol):
    """What may come next."""

    def allows(self, token: int) -> bool:
        """Tell whether a token may come next."""

    def mask(self) -> NDArray[np.bool_]:
        """Tell it for every token of the vocabulary."""


@dataclass(frozen=True)
class Sampling:
    """How tokens are picked."""

    temperature: float = 0.0
    """0 picks the likeliest."""
    top_k: int = 40
    """0 for no limit."""
    top_p: float = 0.95
    """1 for no limit."""
    min_p: float = 0.05
    """0 for no limit."""
    repeat_penalty: float = 1.0
    """1 for none; over the last 64 tokens of the answer."""
    dry_multiplier: float = 0.0
    """0 for none; over the whole answer."""
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    """Tokens of a repetition that cost nothing."""
    seed: int = 0


@dataclass
class Sampler:
    """Picks tokens for one generation; the same seed and logits give the same tokens."""

    sampling: Sampling
    breaks: Callable[[int], bool] = lambda _token: False
    """Whether no repetition goes on over a token (DRY's sequence breakers)."""
    _answer: list[int] = field(default_factory=list)
    _recent: deque[int] = field(default_factory=lambda: deque(maxlen=_REPEAT_WINDOW))

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.sampling.seed)

    def saw(self, token: int) -> None:
        """Note a token of the answer, picked or forced."""
        self._recent.append(token)
        if self.sampling.dry_multiplier > 0:
            self._answer.append(token)

    def pick(self, logits: Logits, allowed: Allowed | None = None) -> int | None:
        """Return a token, or None if none is allowed."""
        sampling = self.sampling
        logits = self._penalised(logits)
        if sampling.temperature <= 0:
            best = likeliest(logits, 1, allowed)
            return int(best[0]) if best.size else None
        count = sampling.top_k if 0 < sampling.top_k < logits.size else logits.size
        best = likeliest(logits, count, allowed)
        if not best.size:
            return None
        tokens, weights = self._truncated(best, logits[best].astype(np.float64))
        place = np.searchsorted(weights.cumsum(), self._random.random(), side="right")
        return int(tokens[min(int(place), tokens.size - 1)])

    def _truncated(
        self, tokens: Tokens, values: NDArray[np.float64]
    ) -> tuple[Tokens, NDArray[np.float64]]:
        """Cut the tail by top-p and min-p; ``tokens`` come likeliest first."""
        sampling = self.sampling
        values = values - values[0]
        weights = np.exp(values)
        weights /= weights.sum()
        keep = weights >= sampling.min_p * weights[0]
        if sampling.top_p < 1.0:
            # The token that crosses the limit stays, so that one is always left.
            keep &= np.concatenate(([0.0], weights.cumsum()[:-1])) < sampling.top_p
        keep[0] = True
        final = np.exp(values[keep] / sampling.temperature)
        return tokens[keep], final / final.sum()

    def _penalised(self, logits: Logits) -> Logits:
        sampling = self.sampling
        repeats = sampling.repeat_penalty != 1.0 and bool(self._recent)
        lengths = self._repetitions() if sampling.dry_multiplier > 0 else {}
        if not repeats and not lengths:
            return logits
        changed = logits.copy()
        if repeats:
            tokens = np.fromiter(set(self._recent), dtype=np.int64)
            values, penalty = changed[tokens], sampling.repeat_penalty
            changed[tokens] = np.where(values > 0, values / penalty, values * penalty)
        for token, length in lengths.items():
            exponent = (length - sampling.dry_allowed_length) * math.log(sampling.dry_base)
            changed[token] -= sampling.dry_multiplier * math.exp(min(exponent, _STEEPEST))
        return changed

    def _repetitions(self) -> dict[int, int]:
        """Find the tokens that would go on with what the answer has said before.

        After p-e-w's DRY (https://github.com/oobabooga/text-generation-webui/pull/5677), over the
        answer only: copying from the prompt is what an assistant is for.

        Returns:
            For each, the length of the longest repetition so far, if it costs something.
        """
        answer = self._answer
        lengths: dict[int, int] = {}
        if not answer or self.breaks(answer[-1]):
            return {}
        end = len(answer) - 1
        for place in range(end):
            length = 0
            while (
                length <= place
                and answer[place - length] == answer[end - length]
                and not self.breaks(answer[place - length])
            ):
                length += 1
            if length >= max(self.sampling.dry_allowed_length, 1):
                following = answer[place + 1]
                lengths[following] = max(length, lengths.get(following, 0))
        return lengths


def likeliest(logits: Logits, count: int, allowed: Allowed | None = None) -> Tokens:
    """Return the ``count`` likeliest allowed tokens, likeliest first; fewer if there are fewer."""
    if allowed is None:
        return _best(logits, count)
    asked = min(1 if count == 1 else count + _SPARE, logits.size)
    if asked < logits.size:
        found = [token for token in _best(logits, asked) if allowed.allows(int(token))]
        if len(found) >= count:
            return np.array(found[:count], dtype=np.int64)
    indices = np.flatnonzero(allowed.mask())
    return indices[_best(logits[indices], count)]


def _best(values: Logits, count: int) -> Tokens:
    if count == 1:
        return np.array([values.argmax()] if values.size else [], dtype=np.int64)
    candidates = np.arange(values.size)
    if count < values.size:
        near = np.flatnonzero(values >= values.max() - _SLOPE)
        candidates = near if near.size >= count else candidates
    if count < candidates.size:
        candidates = candidates[np.argpartition(-values[candidates], count - 1)[:count]]
    # Equal values in the order of the tokens, so that the way here doesn't matter.
    return candidates[np.lexsort((candidates, -values[candidates]))]
