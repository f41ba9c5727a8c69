"""One answer being generated, a token or a forced run of tokens at a time.

It can be interrupted between passes and go on later, from wherever the cache then is: all it
needs are its own tokens, so nothing has to be kept for it in the cache.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from actors.inference.calling import CallWeighing
from actors.inference.constraint import Constraint
from actors.inference.ending import AnswerEnding
from actors.inference.lookup import DraftEconomy, PromptLookup
from actors.inference.native import Logits, NativeModel
from actors.inference.prefix_cache import Interrupt, PrefixCache
from actors.inference.prompt import Prompt
from actors.inference.repetition import RepetitionWatch
from actors.inference.sampling import Sampler, Sampling
from actors.inference.text import CharacterStream
from actors.inference.thinking import Thinking
from eris.errors import InvalidError
from proto.inference import EndedEarly, Ending, FinishReason

_BREAKERS: Final = (b"\n", b":", b'"', b"*")
"""No repetition goes on over a token with one of these (llama.cpp's default for DRY)."""


@dataclass
class Statistics:
    """What a generation has cost so far."""

    prompt_tokens: int
    cached_tokens: int = 0
    """Tokens of the prompt that were in the KV cache."""
    prefilled_tokens: int = 0
    """Tokens of the prompt that had to be computed."""
    generated_tokens: int = 0
    thinking_tokens: int = 0
    """Tokens of the reasoning before the answer."""
    forced_tokens: int = 0
    """Of the generated ones, those that the grammar left no choice about."""
    masked_tokens: int = 0
    """How often the whole vocabulary had to be masked."""
    drafted_tokens: int = 0
    """Tokens that were guessed by looking them up in the prompt."""
    accepted_tokens: int = 0
    """Of those, the ones that were right."""
    forward_passes: int = 0
    """Calls of the model while decoding."""
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    constraint_seconds: float = 0.0
    """Of the time for decoding, what the grammar took."""


class Listener(Protocol):
    """Is told how a generation proceeds, on the generating thread; it mustn't block."""

    def prefilled(self, statistics: Statistics) -> None:
        """The prompt has been read."""

    def thought(self, text: str, tokens: int) -> None:
        """Some more reasoning, which isn't part of the answer; ``tokens`` of it so far."""

    def text(self, text: str, tokens: int, removed: int = 0) -> None:
        """Some more text, whole characters only; ``tokens`` is the number generated so far.

        ``removed`` characters are first taken away from the end of what was there.
        """


@dataclass(frozen=True)
class Wishes:
    """How an answer is to be generated.

    Attributes:
        limit: The most tokens of the answer.
        think_limit: The most tokens of reasoning before it.
        sampling: How tokens are picked.
        batch_forced: Whether tokens that the grammar leaves no choice about are computed in one
            pass with others; the text is the same.
        economy: Says where it pays to guess tokens by looking them up in the prompt, which
            doesn't change the text; None not to.
        ending: How to end the answer if it's stopped early; None to leave it as it is then.
        call_bias: Added to the log-odds of a first call, with ``ending``.
        more_calls_bias: Added to the log-odds of another call, with ``ending``.
    """

    limit: int
    think_limit: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    batch_forced: bool = True
    economy: DraftEconomy | None = None
    ending: Ending | None = None
    call_bias: float = 0.0
    more_calls_bias: float = 0.0


class Generation:
    """Made by `Engine.open`; `advance` until it returns a reason."""

    def __init__(
        self,
        model: NativeModel,
        cache: PrefixCache,
        prompt: Prompt,
        *,
        session: str,
        constraint: Constraint | None,
        cancelled: threading.Event,
        wishes: Wishes,
    ) -> None:
        """Prepare a generation; nothing is computed yet.

        Args:
            model: Gives the bytes of tokens.
            cache: Where it's computed.
            prompt: Leaves room for the limits in the context.
            session: Whose state the cache becomes.
            constraint: The grammar, at its start.
            cancelled: Ends the generation within one token.
            wishes: How to generate.
        """
        self.statistics: Final = Statistics(prompt_tokens=len(prompt.tokens))
        self.tokens: Final[list[int]] = []
        """The answer so far, without what ends it early."""
        self.ended_early: EndedEarly | None = None
        """What the answer lacks, if it was ended early."""
        self.problem = ""
        """Why the grammar couldn't be followed any further, if that is what ended it."""
        self._model = model
        self._cache = cache
        self._prompt = prompt
        self._session = session
        self._sampler = Sampler(wishes.sampling, self._breaks)
        self._constraint = constraint
        self._limit = wishes.limit
        self._cancelled = cancelled
        self._batch_forced = wishes.batch_forced
        self._characters = CharacterStream()
        self._thinking = Thinking(model, prompt.tokens, wishes.think_limit)
        self._economy = wishes.economy
        self._lookup = PromptLookup(prompt.tokens, wishes.economy) if wishes.economy else None
        self._looked = 0
        self._opening: list[int] | None = None
        self._read = False
        self._ending: AnswerEnding | None = None
        self._weighing: CallWeighing | None = None
        self._watch = RepetitionWatch()
        if wishes.ending is not None:
            self._ending = AnswerEnding(wishes.ending, self._count, wishes.limit)
            self._weighing = CallWeighing(
                self._ending.follower,
                model.text_of,
                first=wishes.call_bias,
                more=wishes.more_calls_bias,
            )

    @property
    def call_odds(self) -> float | None:
        """Log-odds of a first call against none, unbiased; None if the model had no choice."""
        return self._weighing.odds if self._weighing else None

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
            InvalidError: The grammar can't be followed any further, and the answer can't be ended.
        """
        interrupt = Interrupt(self._cancelled, yielding)
        # Whoever was cancelled while waiting must not cost the others what the cache holds.
        if interrupt.requested or not self._prefill(interrupt, progress):
            return self._interrupted(listener)
        if not self._read:
            self._read = True
            listener.prefilled(self.statistics)
            self._take(self._opening or [], listener)
        started = time.perf_counter()
        try:
            with self._cache.obeying(interrupt):
                if not self._think(listener, interrupt):
                    return self._interrupted(listener)
                return self._decode(listener, interrupt)
        except InvalidError as error:
            self.problem = error.message
            if not self._end_early(listener):
                raise
            return FinishReason.LENGTH
        finally:
            self.statistics.decode_seconds += time.perf_counter() - started

    def _prefill(self, interrupt: Interrupt, progress: Callable[[int, int], None] | None) -> bool:
        """Read the prompt, and with it what every answer under this grammar begins with."""
        if self._opening is None:
            at_once = self._batch_forced and self._thinking.over
            self._opening = self._forced(self._limit) if at_once else []
        opening = [] if self._read else self._opening
        started = time.perf_counter()
        statistics = self.statistics
        tokens = [*self._prompt.tokens, *self._thinking.tokens, *self.tokens, *opening]
        brought = self._cache.bring(tokens, self._session, interrupt, progress)
        seconds = time.perf_counter() - started
        if brought.complete and opening:
            # What is generated is paid for as generated, though it came in the prompt's last pass.
            share = seconds * min(1.0, len(opening) / max(brought.computed, 1))
            statistics.decode_seconds += share
            seconds -= share
        statistics.prefill_seconds += seconds
        if not self._read:
            # What an interrupted attempt computed is in the cache when the next one looks.
            known = min(brought.cached, statistics.prompt_tokens) - statistics.prefilled_tokens
            statistics.cached_tokens = max(known, statistics.cached_tokens, 0)
            statistics.prefilled_tokens += brought.computed
            if brought.complete:
                statistics.prefilled_tokens -= min(len(opening), brought.computed)
        return brought.complete

    def _think(self, listener: Listener, interrupt: Interrupt) -> bool:
        """Let the model reason; False if it was interrupted."""
        thinking = self._thinking
        while not thinking.over:
            if interrupt.requested:
                return False
            logits, text = self._cache.logits(), ""
            tokens = thinking.next(int(logits.argmax()))
            if tokens is None:
                token = self._sampler.pick(logits)
                tokens, text = ([], "") if token is None else thinking.saw(token)
            if tokens:
                self.statistics.forward_passes += 1
                if not self._cache.append(tokens, interrupt):
                    return False
                thinking.computed(tokens)
                self.statistics.thinking_tokens = len(thinking.tokens)
            if text:
                listener.thought(text, len(thinking.tokens))
        return True

    def _decode(self, listener: Listener, interrupt: Interrupt) -> FinishReason | None:
        statistics = self.statistics
        ahead: list[int] = []  # of a draft, what stands in the cache behind the answer
        while not interrupt.requested:
            step, finish = self._step(self._cache.logits(len(ahead)))
            self._take(step, listener)
            right = _agreeing(step, ahead)
            statistics.accepted_tokens += right
            if finish is not None:
                self._cache.drop(len(ahead) - right)
                return self._finished(finish, listener)
            if right == len(step):
                del ahead[:right]
                continue
            self._cache.drop(len(ahead) - right)
            ahead = self._draft(step)
            if not self._compute(step[right:], ahead, interrupt):
                break
        return self._interrupted(listener)

    def _compute(self, step: list[int], draft: list[int], interrupt: Interrupt) -> bool:
        started = time.perf_counter()
        self.statistics.forward_passes += 1
        self.statistics.drafted_tokens += len(draft)
        if not self._cache.append(step, interrupt, draft):
            return False
        if self._economy is not None:
            self._economy.passed(len(step) + len(draft), time.perf_counter() - started)
        return True

    def _interrupted(self, listener: Listener) -> FinishReason | None:
        if not self._cancelled.is_set():
            return None
        self._end_early(listener)
        return FinishReason.CANCELLED

    def _finished(self, finish: FinishReason, listener: Listener) -> FinishReason:
        if self._ending is not None and not self._end_early(listener):
            self.ended_early = self._ending.early
        return finish

    def _end_early(self, listener: Listener) -> bool:
        """Make the answer whole; False if it is already, or if that isn't wanted or possible."""
        finish = self._ending.finish(self._watch.repeated) if self._ending else None
        if finish is None:
            return False
        self.statistics.generated_tokens = finish.tokens
        self.ended_early = finish.early
        listener.text(finish.text, finish.tokens, finish.removed)
        return True

    def _step(self, logits: Logits) -> tuple[list[int], FinishReason | None]:
        """Return the next tokens, and why there are no more after them if there aren't.

        They are accepted by the constraint here.
        """
        room = self._limit - len(self.tokens)
        if self._ending is not None:
            if self._ending.due:
                return [], FinishReason.LENGTH
            if self._watch.repeated:
                return [], FinishReason.REPEATING
        step = self._forced(room) or self._end_of_thought()
        if not step:
            token = self._pick(logits)
            if token is None or token in self._model.special.end:
                return [], FinishReason.STOP
            if self._constraint is not None:
                self._constraint.accept([token])
            step = [token]
            if self._batch_forced:
                step += self._forced(room - 1)
        if self._constraint is not None and self._constraint.finished:
            return step, FinishReason.STOP
        return step, FinishReason.LENGTH if len(step) >= room else None

    def _forced(self, room: int) -> list[int]:
        """Return tokens that the grammar leaves no choice about, accepted."""
        constraint = self._constraint
        if constraint is None or room <= 0 or constraint.finished:
            return []
        forced: list[int] = []
        for token in constraint.forced()[: room if self._batch_forced else 1]:
            if token in self._model.special.end or not constraint.allows(token):
                break
            constraint.accept([token])
            forced.append(token)
        self.statistics.forced_tokens += len(forced)
        return forced

    def _end_of_thought(self) -> list[int]:
        """Return the quotation mark that ends a thought which leaves too little room."""
        constraint, ending = self._constraint, self._ending
        if constraint is None or ending is None or not ending.thought_due:
            return []
        quote = self._model.tokenize('"', markup=False)
        if constraint.allowed_prefix(quote) < len(quote):
            return []  # within an escape
        constraint.accept(quote)
        ending.cut_thought()
        return quote

    def _pick(self, logits: Logits) -> int | None:
        """Return a token that the grammar allows, or None if it allows only the end."""
        constraint = self._constraint
        if constraint is not None and self._weighing is not None:
            logits = self._weighing.weigh(logits, constraint)
        return self._sampler.pick(logits, constraint)

    def _take(self, step: list[int], listener: Listener) -> None:
        text = ""
        for token in step:
            self.tokens.append(token)
            self._sampler.saw(token)
            piece = self._characters.feed(self._model.piece(token))
            if self._ending is not None:
                self._ending.saw(piece)
                self._watch.saw(token)
            text += piece
        statistics = self.statistics
        statistics.generated_tokens = len(self.tokens)
        if self._constraint is not None:
            statistics.masked_tokens = self._constraint.masks
            statistics.constraint_seconds = self._constraint.seconds
        if text:
            listener.text(text, len(self.tokens))

    def _draft(self, step: Sequence[int]) -> list[int]:
        """Guess what follows the step; the pass has room for both."""
        lookup = self._lookup
        if lookup is None:
            return []
        lookup.saw(self.tokens[self._looked :])
        self._looked = len(self.tokens)
        draft = lookup.draft()[: max(0, self._cache.batch - len(step))]
        if draft and self._constraint is not None:
            draft = draft[: self._constraint.allowed_prefix(draft)]
        return draft

    def _count(self, text: str) -> int:
        return len(self._model.tokenize(text, markup=False))

    def _breaks(self, token: int) -> bool:
        piece = self._model.pieces[token]
        return any(breaker in piece for breaker in _BREAKERS)


def _agreeing(step: Sequence[int], ahead: Sequence[int]) -> int:
    """Return how many tokens a step has in common with a draft."""
    count = 0
    for one, other in zip(step, ahead, strict=False):
        if one != other:
            break
        count += 1
    return count
