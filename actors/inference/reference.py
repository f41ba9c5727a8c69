"""Constraints that llama.cpp's own grammar sampler judges, to compare ours with.

Every token is checked by masking in C; nothing is forced. Grammars are compiled by llguidance
first all the same: one that llama.cpp's parser can't read would end the process at the first token.
"""

import ctypes
import threading
import time
from collections import OrderedDict
from typing import Final

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from actors.inference.constraint import Constraint, ConstraintCompiler
from actors.inference.native import NativeModel
from eris.errors import InvalidError

_KEPT: Final = 8
_ENTRY: Final = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class ReferenceConstraint(Constraint):
    """Where one generation stands in its grammar, as llama.cpp sees it."""

    def __init__(self, model: NativeModel, sampler: int) -> None:
        """Take over a sampler at the start of its grammar; it's freed with this."""
        self.masks = 0
        self.seconds = 0.0
        self._ends = model.special.end
        self._vocabulary = model.vocabulary_size
        self._sampler = sampler

    def __del__(self) -> None:
        llama_cpp.llama_sampler_free(self._sampler)

    @property
    def complete(self) -> bool:
        """Whether the text so far is a sentence of the grammar."""
        return bool(self._allowed(np.fromiter(self._ends, np.int32)).any())

    @property
    def finished(self) -> bool:
        """Whether nothing can follow."""
        return self.complete and int(self.mask().sum()) == len(self._ends)

    def forced(self) -> list[int]:
        """Return nothing: llama.cpp's sampler forces nothing."""
        return []

    def allows(self, token: int) -> bool:
        """Tell whether a token may come next."""
        return bool(self._allowed(np.array([token], np.int32))[0])

    def allowed_prefix(self, tokens: list[int]) -> int:
        """Return how many of these tokens may come next, one after the other."""
        probe = ReferenceConstraint.__new__(ReferenceConstraint)
        probe.__dict__.update(self.__dict__)
        probe._sampler = llama_cpp.llama_sampler_clone(self._sampler)  # noqa: SLF001 - its own
        for count, token in enumerate(tokens):
            if not probe.allows(token):
                return count
            probe.accept([token])
        return len(tokens)

    def accept(self, tokens: list[int]) -> None:
        """Go on by tokens that are allowed.

        Raises:
            InvalidError: One isn't; llama.cpp would end the process.
        """
        for token in tokens:
            if not self.allows(token):
                raise InvalidError(f"The grammar doesn't allow the token {token} here.")
            llama_cpp.llama_sampler_accept(self._sampler, token)

    def mask(self) -> NDArray[np.bool_]:
        """Return which tokens may come next, one flag for each of the vocabulary."""
        self.masks += 1
        return self._allowed(np.arange(self._vocabulary, dtype=np.int32))

    def _allowed(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        started = time.perf_counter()
        entries = np.zeros(len(tokens), _ENTRY)
        entries["id"] = tokens
        array = llama_cpp.llama_token_data_array(
            data=entries.ctypes.data_as(llama_cpp.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        self.seconds += time.perf_counter() - started
        allowed: NDArray[np.bool_] = np.isfinite(entries["logit"])
        return allowed


class ReferenceCompiler(ConstraintCompiler):
    """Compiles grammars with llama.cpp's parser. May be used by any thread."""

    def __init__(self, model: NativeModel) -> None:
        super().__init__(model)
        self._native = model
        self._pristine: OrderedDict[str, int] = OrderedDict()
        self._using = threading.Lock()

    def compile(self, grammar: str) -> Constraint:
        """Return a constraint at the start of a GBNF grammar.

        Raises:
            InvalidError: It isn't GBNF, or llama.cpp can't use it.
        """
        super().compile(grammar)
        with self._using:
            pristine = self._pristine.get(grammar)
            if pristine is None:
                pristine = llama_cpp.llama_sampler_init_grammar(
                    self._native.vocabulary, grammar.encode(), b"root"
                )
                if not pristine:
                    raise InvalidError(
                        f"llama.cpp can't parse a grammar of {len(grammar)} characters.",
                        hint='Use model.engine = "llama.cpp".',
                    )
                self._pristine[grammar] = pristine
                if len(self._pristine) > _KEPT:
                    llama_cpp.llama_sampler_free(self._pristine.popitem(last=False)[1])
            return ReferenceConstraint(self._native, llama_cpp.llama_sampler_clone(pristine))
