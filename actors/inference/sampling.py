"""Picking a token from logits.

With a grammar the first pick is made without it, for checking one token is far cheaper than
masking the vocabulary. If the grammar refuses that pick, it's thrown away and another one is made
from the masked logits. At temperature 0 this gives the same token as masking first: if the
likeliest token of all is allowed, it's the likeliest of the allowed. At higher temperatures it
doesn't quite: an allowed token has two chances, once among all and once among the allowed, and
top-k, top-p and min-p cut the tail of each distribution by itself.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from actors.inference.native import Logits

_REPEAT_WINDOW: Final = 64


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
    seed: int = 0


@dataclass
class Sampler:
    """Picks tokens for one generation; the same seed and logits give the same tokens."""

    sampling: Sampling
    _recent: deque[int] = field(default_factory=lambda: deque(maxlen=_REPEAT_WINDOW))

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.sampling.seed)

    def saw(self, token: int) -> None:
        """Note a token of the answer, picked or forced."""
        self._recent.append(token)

    def pick(self, logits: Logits, allowed: NDArray[np.bool_] | None = None) -> int:
        """Return a token, of the allowed ones if they're given."""
        sampling = self.sampling
        if sampling.repeat_penalty != 1.0 and self._recent:
            logits = self._penalised(logits)
        if allowed is not None:
            logits = np.where(allowed, logits, np.float32(-np.inf))
        if sampling.temperature <= 0:
            return int(logits.argmax())
        candidates, weights = self._truncated(logits)
        return int(self._random.choice(candidates, p=weights))

    def _penalised(self, logits: Logits) -> Logits:
        changed = logits.copy()
        tokens = np.fromiter(set(self._recent), dtype=np.int64)
        values, penalty = changed[tokens], self.sampling.repeat_penalty
        changed[tokens] = np.where(values > 0, values / penalty, values * penalty)
        return changed

    def _truncated(self, logits: Logits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return what is left of the vocabulary, likeliest first, with probabilities."""
        sampling = self.sampling
        count = sampling.top_k if 0 < sampling.top_k < logits.size else logits.size
        if count < logits.size:
            best = np.argpartition(logits, -count)[-count:]
        else:
            best = np.arange(logits.size)
        best = best[np.argsort(-logits[best], kind="stable")]
        scaled = logits[best].astype(np.float64) / sampling.temperature
        weights = np.exp(scaled - scaled[0])
        weights /= weights.sum()
        keep = weights >= max(sampling.min_p * weights[0], np.finfo(np.float64).tiny)
        if sampling.top_p < 1.0:
            # The token that crosses the limit stays, so that one is always left.
            keep &= np.concatenate(([0.0], weights.cumsum()[:-1])) < sampling.top_p
        keep[0] = True
        weights = weights[keep]
        return best[keep], weights / weights.sum()
