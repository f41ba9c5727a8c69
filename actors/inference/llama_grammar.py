"""llama-cpp-python's own way to generate under a grammar, to measure ours against.

It masks the whole vocabulary at every token. Nothing but benchmarks and tests uses it: a grammar
that it can't parse ends the process, so give it only what `ConstraintCompiler` has compiled.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import llama_cpp
from llama_cpp.llama_grammar import LlamaGrammar


@dataclass(frozen=True)
class ReferenceRun:
    """One generation of the reference."""

    tokens: tuple[int, ...]
    seconds: float
    """For all tokens but the first, which includes reading the prompt."""


class LlamaReference:
    """The same model file in llama-cpp-python's high-level class; the weights are shared."""

    def __init__(self, path: Path, *, context_length: int, batch: int, threads: int) -> None:
        """Load the file; arguments as for `Engine.load`."""
        self._llama: Final = llama_cpp.Llama(
            str(path),
            n_ctx=context_length,
            n_batch=batch,
            n_ubatch=batch,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )

    def close(self) -> None:
        """Free it."""
        self._llama.close()

    def generate(self, prompt: Sequence[int], *, grammar: str, limit: int) -> ReferenceRun:
        """Generate greedily until the grammar ends or ``limit`` tokens are there."""
        constraint = LlamaGrammar.from_string(grammar, verbose=False) if grammar else None
        end = self._llama.token_eos()
        tokens: list[int] = []
        started = 0.0
        for token in self._llama.generate(list(prompt), temp=0.0, grammar=constraint):
            if not tokens:
                started = time.perf_counter()
            if token == end:
                break
            tokens.append(token)
            if len(tokens) >= limit:
                break
        return ReferenceRun(tokens=tuple(tokens), seconds=time.perf_counter() - started)
