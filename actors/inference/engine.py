"""The engine: one model file, one KV cache, any number of sessions.

`Engine.load` once, then `open` a generation and `advance` it, on one thread. `count` and what it
uses may be called from other threads meanwhile.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from actors.inference.constraint import ConstraintCompiler
from actors.inference.ending import minimum_tokens
from actors.inference.forms import identity_of
from actors.inference.generation import Generation, Wishes
from actors.inference.lookup import DraftEconomy
from actors.inference.native import BUILD, Logits, NativeContext, NativeModel, start_backend
from actors.inference.prefix_cache import Interrupt, PrefixCache
from actors.inference.prompt import Prompt, PromptBuilder
from actors.inference.reference import ReferenceCompiler
from actors.inference.sampling import Sampling
from actors.inference.state_store import DEFAULT_LIMIT_BYTES, StateStore
from actors.inference.template import ChatTemplate
from actors.inference.thinking import CLOSING_TOKENS, thinks
from eris.errors import ContextFullError, InvalidError, ModelError
from eris.logs import Logger
from eris.models.gguf import read_header
from proto.inference import Ending, Message

DEFAULT_CONTEXT_LENGTH: Final = 8192
DEFAULT_BATCH: Final = 128
"""Tokens of one prefill pass."""


@dataclass(frozen=True)
class EngineInfo:
    """What is loaded."""

    path: Path
    context_length: int
    """Real context length in tokens, as allocated."""
    trained_context_length: int
    """What the model was trained for, in tokens."""
    vocabulary: int
    parameters: int
    size_bytes: int
    threads: int
    load_seconds: float
    template: str
    """``gguf`` or the name of the fallback."""


class Engine:
    """A loaded model."""

    def __init__(
        self,
        *,
        model: NativeModel,
        template: ChatTemplate,
        compiler: ConstraintCompiler,
        cache: PrefixCache,
        context: NativeContext,
        info: EngineInfo,
    ) -> None:
        """Put the parts together; use `load`."""
        self.info: Final = info
        self.prompts: Final = PromptBuilder(model, template)
        self.model: Final = model
        self.context: Final = context
        self._cache = cache
        self._compiler = compiler
        self._economy = DraftEconomy()
        self._thinks = thinks(model, template.source)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        threads: int,
        log: Logger,
        context_length: int = DEFAULT_CONTEXT_LENGTH,
        batch: int = DEFAULT_BATCH,
        state_folder: Path | None = None,
        state_limit_bytes: int = DEFAULT_LIMIT_BYTES,
        progress: Callable[[float], bool] | None = None,
        reference: bool = False,
    ) -> Self:
        """Load a model file.

        Args:
            path: A GGUF file.
            threads: For computation.
            log: Gets llama.cpp's own lines too, at debug level.
            context_length: Tokens; not more than the model was trained for are used.
            batch: The most tokens of one pass.
            state_folder: Where KV states are kept over restarts; None to keep none.
            state_limit_bytes: For all of them together.
            progress: Called with 0.0 to 1.0 while loading; returning False stops it.
            reference: Let llama.cpp's own grammar sampler judge tokens, for comparison.

        Raises:
            NotFoundError: There is no such file.
            ModelError: It isn't GGUF, is truncated, or can't be loaded.
        """
        started = time.perf_counter()
        start_backend(log)
        # llama.cpp would fail with no more than a line in the log.
        read_header(path)
        status = path.stat()
        model = NativeModel(path, progress=progress)
        try:
            wanted = min(context_length, model.trained_context_length or context_length)
            context = NativeContext(model, context_length=wanted, batch=batch, threads=threads)
        except ModelError:
            model.close()
            raise
        store = None
        if state_folder is not None:
            identity = hashlib.sha256(
                f"{identity_of(path)} {context.length} {BUILD}".encode()
            ).hexdigest()
            store = StateStore(state_folder, identity, log, limit_bytes=state_limit_bytes)
        special = model.special
        template = ChatTemplate(
            model.metadata("tokenizer.chat_template"),
            beginning=model.text_of(special.beginning),
            end=model.text_of(special.message_end),
        )
        compiler = ReferenceCompiler(model) if reference else ConstraintCompiler(model)
        info = EngineInfo(
            path=path,
            context_length=context.length,
            trained_context_length=model.trained_context_length,
            vocabulary=model.vocabulary_size,
            parameters=model.parameters,
            size_bytes=status.st_size,
            threads=threads,
            load_seconds=time.perf_counter() - started,
            template=template.name,
        )
        return cls(
            model=model,
            template=template,
            compiler=compiler,
            cache=PrefixCache(context, store, log),
            context=context,
            info=info,
        )

    def close(self) -> None:
        """Free everything. Generations mustn't be advanced any more."""
        self.context.close()
        self.model.close()

    def count(self, messages: Sequence[Message]) -> Prompt:
        """Render and tokenise messages; the result has the counts.

        Raises:
            InvalidError: There is no message, or a role is unknown.
            ModelError: The model's template refuses these messages.
        """
        return self.prompts.build(messages)

    def open(
        self,
        prompt: Prompt,
        *,
        session: str,
        cancelled: threading.Event,
        grammar: str = "",
        max_tokens: int = 512,
        min_answer_tokens: int = 1,
        sampling: Sampling | None = None,
        batch_forced: bool = True,
        draft: bool = True,
        ending: Ending | None = None,
        think_tokens: int = 0,
        call_bias: float = 0.0,
        more_calls_bias: float = 0.0,
    ) -> Generation:
        """Prepare a generation.

        Args:
            prompt: From `count`.
            session: Whose KV state to continue from and to keep.
            cancelled: Ends the generation within one token.
            grammar: GBNF, or empty for none.
            max_tokens: The most to generate; the context's end lowers it further.
            min_answer_tokens: Refuse if fewer would fit.
            sampling: How tokens are picked; greedily by default.
            batch_forced: Whether tokens that the grammar leaves no choice about are computed in
                one pass with others; it changes the speed only.
            draft: Whether tokens are guessed from the prompt and checked in one pass; as above.
            ending: How to end the answer if it's stopped early.
            think_tokens: The most tokens of a ``<think>`` part before the answer.
            call_bias: Added to the log-odds of a first call against none, with ``ending``.
            more_calls_bias: Added to those of another call against no more.

        Raises:
            ContextFullError: The prompt leaves fewer than ``min_answer_tokens`` tokens.
            InvalidError: The grammar isn't GBNF, or ``max_tokens`` has no room for an answer.
        """
        least = minimum_tokens(ending, self.prompts.count) if ending else 1
        if max_tokens < least:
            raise InvalidError(
                f"max_tokens is {max_tokens}; the shortest answer has {least}.",
                hint="Raise generation.max_tokens.",
            )
        reserved = max(min(min_answer_tokens, max_tokens), least)
        length, used = self.context.length, len(prompt.tokens)
        margin = CLOSING_TOKENS if self._thinks else 0
        if used + reserved + margin > length:
            raise ContextFullError(
                f"A prompt of {used} tokens leaves no room for {reserved} more "
                f"in a context of {length}.",
                hint="Condense the conversation, or choose a larger model.context_length.",
                details={"prompt_tokens": used, "context_length": length, "reserved": reserved},
            )
        # Reasoning gets what the answer leaves, for an answer without it is better than none.
        limit = min(max_tokens, length - used - margin)
        thinking = min(think_tokens, length - used - margin - limit) if self._thinks else 0
        return Generation(
            self.model,
            self._cache,
            prompt,
            session=session,
            constraint=self._compiler.compile(grammar) if grammar else None,
            cancelled=cancelled,
            wishes=Wishes(
                limit=limit,
                think_limit=thinking,
                sampling=sampling or Sampling(),
                batch_forced=batch_forced,
                economy=self._economy if draft else None,
                ending=ending,
                call_bias=call_bias,
                more_calls_bias=more_calls_bias,
            ),
        )

    def log_probabilities(self, prompt: Prompt, text: str) -> list[tuple[bytes, float]]:
        """Return the tokens of a text behind a prompt, each with its log-probability.

        For the thread that advances generations. The cache holds both afterwards, for no session.

        Raises:
            ContextFullError: They are longer than the context.
        """
        tokens = self.model.tokenize(text, markup=False)
        if len(prompt.tokens) + len(tokens) > self.context.length:
            raise ContextFullError("The text to be measured is longer than the context.")
        never = Interrupt(threading.Event())
        self._cache.bring(prompt.tokens, "", never)
        likely = [_log_probability(self._cache.logits(), tokens[0])] if tokens else []
        for start in range(0, len(tokens) - 1, self._cache.batch):
            batch = tokens[start : start + self._cache.batch]
            self._cache.append(batch[:1], never, batch[1:])
            likely += [
                _log_probability(self._cache.logits(len(batch) - 1 - index), tokens[following])
                for index in range(len(batch))
                if (following := start + index + 1) < len(tokens)
            ]
        return [(self.model.piece(one), value) for one, value in zip(tokens, likely, strict=True)]

    def save_state(self) -> None:
        """Write the KV state of the current session to disk, if it changed."""
        self._cache.save()

    def forget_state(self) -> None:
        """Forget what the cache in memory holds."""
        self._cache.clear()


def _log_probability(logits: Logits, token: int) -> float:
    values = logits.astype(np.float64)
    peak = values.max()
    return float(values[token] - peak - np.log(np.exp(values - peak).sum()))
