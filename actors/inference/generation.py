"""One answer being generated, a token or a forced run of tokens at a time.

It can be interrupted between passes and go on later, from wherever the cache then is: all it
needs are its own tokens, so nothing has to be kept for it in the cache.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from actors.inference.constraint import Constraint
from actors.inference.native import NativeModel
from actors.inference.prefix_cache import Interrupt, PrefixCache
from actors.inference.prompt import Prompt
from actors.inference.sampling import Sampler
from actors.inference.text import CharacterStream
from proto.inference import FinishReason


@dataclass
class Statistics:
    """What a generation has cost so far."""

    prompt_tokens: int
    cached_tokens: int = 0
    """Tokens of the prompt that were in the KV cache."""
    prefilled_tokens: int = 0
    """Tokens of the prompt that had to be computed."""
    generated_tokens: int = 0
    forced_tokens: int = 0
    """Of the generated ones, those that the grammar left no choice about."""
    masked_tokens: int = 0
    """Of the generated ones, those that were picked again because the grammar refused the pick."""
    forward_passes: int = 0
    """Calls of the model while decoding."""
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0


class Listener(Protocol):
    """Is told how a generation proceeds, on the generating thread; it mustn't block."""

    def prefilled(self, statistics: Statistics) -> None:
        """The prompt has been read."""

    def text(self, text: str, tokens: int) -> None:
        """Some more text, whole characters only; ``tokens`` is the number generated so far."""


class Generation:
    """Made by `Engine.open`; `advance` until it returns a reason."""

    def __init__(
        self,
        model: NativeModel,
        cache: PrefixCache,
        prompt: Prompt,
        *,
        session: str,
        sampler: Sampler,
        constraint: Constraint | None,
        limit: int,
        cancelled: threading.Event,
        force: bool = True,
    ) -> None:
        """Prepare a generation; nothing is computed yet.

        Args:
            model: Gives the bytes of tokens.
            cache: Where it's computed.
            prompt: Leaves room for ``limit`` tokens in the context.
            session: Whose state the cache becomes.
            sampler: Picks the tokens.
            constraint: The grammar, at its start.
            limit: The most tokens to generate.
            cancelled: Ends the generation within one token.
            force: Whether tokens that the grammar leaves no choice about are taken unpicked.
        """
        self.statistics: Final = Statistics(prompt_tokens=len(prompt.tokens))
        self.tokens: Final[list[int]] = []
        """The answer so far."""
        self._model = model
        self._cache = cache
        self._prompt = prompt
        self._session = session
        self._sampler = sampler
        self._constraint = constraint
        self._limit = limit
        self._cancelled = cancelled
        self._force = force and constraint is not None
        self._characters = CharacterStream()
        self._read = False

    def advance(
        self,
        listener: Listener,
        yielding: threading.Event,
        progress: Callable[[int, int], None] | None = None,
    ) -> FinishReason | None:
        """Generate until the end, a cancel, or until ``yielding`` is set.

        Args:
            listener: Gets the text.
            yielding: Asks to give way within one token.
            progress: Called after each pass of the prompt with the tokens done and in all.

        Returns:
            Why it ended, or None if it gave way and has to be advanced again.

        Raises:
            ModelError: llama.cpp failed.
            InvalidError: The grammar can't be followed any further.
        """
        interrupt = Interrupt(self._cancelled, yielding)
        # Whoever was cancelled while waiting must not cost the others what the cache holds.
        if interrupt.requested or not self._prefill(interrupt, progress):
            return self._interrupted()
        if not self._read:
            self._read = True
            listener.prefilled(self.statistics)
        started = time.perf_counter()
        try:
            with self._cache.obeying(interrupt):
                return self._decode(listener, interrupt)
        finally:
            self.statistics.decode_seconds += time.perf_counter() - started

    def _prefill(self, interrupt: Interrupt, progress: Callable[[int, int], None] | None) -> bool:
        started = time.perf_counter()
        statistics = self.statistics
        tokens = [*self._prompt.tokens, *self.tokens]
        brought = self._cache.bring(tokens, self._session, interrupt, progress)
        statistics.prefill_seconds += time.perf_counter() - started
        if not self._read:
            # What an interrupted attempt computed is in the cache when the next one looks.
            known = min(brought.cached, statistics.prompt_tokens) - statistics.prefilled_tokens
            statistics.cached_tokens = max(known, statistics.cached_tokens, 0)
            statistics.prefilled_tokens += brought.computed
        return brought.complete

    def _decode(self, listener: Listener, interrupt: Interrupt) -> FinishReason | None:
        while not interrupt.requested:
            step, finish = self._step()
            if step:
                self._take(step, listener)
            if finish is not None:
                return finish
            self.statistics.forward_passes += 1
            if not self._cache.append(step, interrupt):
                break
        return self._interrupted()

    def _interrupted(self) -> FinishReason | None:
        return FinishReason.CANCELLED if self._cancelled.is_set() else None

    def _step(self) -> tuple[list[int], FinishReason | None]:
        """Return the next tokens, and why there are no more after them if there aren't.

        All but a picked one are forced. They are accepted by the constraint here.
        """
        room = self._limit - len(self.tokens)
        step = self._forced(room)
        if not step:
            token = self._pick()
            if token is None or token in self._model.special.end:
                return [], FinishReason.STOP
            if self._constraint is not None:
                self._constraint.accept([token])
            step = [token]
            step += self._forced(room - 1)
        if self._constraint is not None and self._constraint.finished:
            return step, FinishReason.STOP
        if len(step) >= room:
            return step, FinishReason.LENGTH
        return step, None

    def _forced(self, room: int) -> list[int]:
        constraint = self._constraint
        if constraint is None or not self._force or room <= 0 or constraint.finished:
            return []
        forced: list[int] = []
        for token in constraint.forced()[:room]:
            if token in self._model.special.end or not constraint.allows(token):
                break
            constraint.accept([token])
            forced.append(token)
        self.statistics.forced_tokens += len(forced)
        return forced

    def _pick(self) -> int | None:
        """Return a token that the grammar allows, or None if it allows only the end."""
        logits = self._cache.logits()
        token = self._sampler.pick(logits)
        if self._constraint is None or self._constraint.allows(token):
            return token
        allowed = self._constraint.mask()
        if not allowed.any():
            return None
        self.statistics.masked_tokens += 1
        return self._sampler.pick(logits, allowed)

    def _take(self, step: list[int], listener: Listener) -> None:
        for token in step:
            self.tokens.append(token)
            self._sampler.saw(token)
        self.statistics.generated_tokens = len(self.tokens)
        text = self._characters.feed(b"".join(self._model.piece(token) for token in step))
        if text:
            listener.text(text, len(self.tokens))
