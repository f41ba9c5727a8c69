"""Grammars over tokens: which may come next, and which must.

GBNF is checked and compiled by llguidance, never by llama.cpp, which a bad grammar can crash.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

import llguidance
import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from actors.inference.native import NativeModel, tokenize_pointer
from eris.errors import InvalidError

_COMPILED_KEPT: Final = 32
_SILENT: Final = 0
_NOT_TEXT: Final = b"\xff"
"""Tells llguidance that a token isn't text: no UTF-8 begins with this byte."""


P = ParamSpec("P")
R = TypeVar("R")


def _timed(
    method: Callable[Concatenate["Constraint", P], R],
) -> Callable[Concatenate["Constraint", P], R]:
    @wraps(method)
    def timed(self: "Constraint", /, *args: P.args, **kwargs: P.kwargs) -> R:
        started = time.perf_counter()
        try:
            return method(self, *args, **kwargs)
        finally:
            self.seconds += time.perf_counter() - started

    return timed


class Constraint:
    """Where one generation stands in its grammar."""

    def __init__(self, matcher: LLMatcher, end: frozenset[int], vocabulary_size: int) -> None:
        self._matcher = matcher
        self._end = end
        self._bits: NDArray[np.int32] = np.zeros((vocabulary_size + 31) // 32, dtype=np.int32)
        self._size = vocabulary_size
        self.masks = 0
        """How often the whole vocabulary was masked."""
        self.seconds = 0.0
        """Time spent in here."""

    @property
    def complete(self) -> bool:
        """Whether the text so far is a sentence of the grammar."""
        return bool(self._matcher.is_accepting())

    @property
    def finished(self) -> bool:
        """Whether nothing can follow.

        Raises:
            InvalidError: The grammar became too complex to follow.
        """
        # A matcher in an error state says that it's stopped, too.
        self._check()
        return bool(self._matcher.is_stopped())

    @_timed
    def forced(self) -> list[int]:
        """Return the tokens that must come next, empty if there is a choice.

        They are the canonical tokenisation of the forced text, short of its last tokens where
        what follows could change them.
        """
        return list(self._matcher.compute_ff_tokens())

    @_timed
    def allows(self, token: int) -> bool:
        """Tell whether a token may come next."""
        if token in self._end:
            return self.complete
        return bool(self._matcher.validate_tokens([token]) == 1)

    @_timed
    def allowed_prefix(self, tokens: list[int]) -> int:
        """Return how many of these tokens may come next, one after the other."""
        return int(self._matcher.validate_tokens(tokens))

    @_timed
    def accept(self, tokens: list[int]) -> None:
        """Go on by tokens that are allowed.

        Raises:
            InvalidError: One isn't, or the grammar became too complex to follow.
        """
        self._matcher.consume_tokens(tokens)
        self._check()

    @_timed
    def mask(self) -> NDArray[np.bool_]:
        """Return which tokens may come next, one flag for each of the vocabulary.

        Raises:
            InvalidError: The grammar became too complex to follow.
        """
        self.masks += 1
        self._matcher.unsafe_compute_mask_ptr(self._bits.ctypes.data, self._bits.nbytes)
        self._check()
        flags = np.unpackbits(self._bits.view(np.uint8), bitorder="little")[: self._size]
        allowed = flags.view(np.bool_)
        allowed[list(self._end)] = self.complete
        return allowed

    def _check(self) -> None:
        if self._matcher.is_error():
            raise InvalidError(
                f"The grammar can't be followed any further: {self._matcher.get_error()}.",
                hint="Offer fewer tools at once, or simplify their schemas.",
            )


class ConstraintCompiler:
    """Compiles grammars for one model and keeps the last ones, warm. May be used by any thread."""

    def __init__(self, model: NativeModel) -> None:
        """Build llguidance's tokenizer from the model's vocabulary: 0.3 s for 152,000 tokens."""
        self._model = model
        self._tokenizer = _tokenizer(model)
        self._compiled: OrderedDict[str, LLMatcher] = OrderedDict()
        self._lock = threading.Lock()

    def compile(self, grammar: str) -> Constraint:
        """Return a constraint at the start of a GBNF grammar.

        Raises:
            InvalidError: It isn't GBNF, or uses an undefined rule.
        """
        key = hashlib.sha256(grammar.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            matcher = self._compiled.get(key)
            if matcher is None:
                matcher = self._build(grammar)
                self._compiled[key] = matcher
                if len(self._compiled) > _COMPILED_KEPT:
                    self._compiled.popitem(last=False)
            self._compiled.move_to_end(key)
            return Constraint(
                matcher.deep_copy(), self._model.special.end, self._model.vocabulary_size
            )

    def _build(self, grammar: str) -> LLMatcher:
        try:
            text = llguidance.grammar_from("gbnf", grammar)
        except ValueError as error:
            raise InvalidError(
                f"A grammar of {len(grammar)} characters isn't GBNF: {error}.",
            ) from error
        matcher = LLMatcher(self._tokenizer, text, log_level=_SILENT)
        if matcher.is_error():
            raise InvalidError(
                f"A grammar of {len(grammar)} characters can't be used: {matcher.get_error()}."
            )
        # Lexer states are computed on first use and shared by copies of this matcher.
        matcher.compute_bitmask()
        return matcher


def _tokenizer(model: NativeModel) -> LLTokenizer:
    """Do what ``llguidance.llamacpp.lltokenizer_from_vocab`` does, in a quarter of its time.

    It reads the vocabulary again, through a deprecated function that warns at every token, and
    prepares masks that the pick-first loop seldom needs (0.5 instead of 2 ms for the worst one).
    """
    special = model.special
    hidden = special.control | {
        token
        for token in special.user_defined
        if (piece := model.pieces[token]).startswith(b"<") and piece.endswith(b">")
    }
    tokens = [
        _NOT_TEXT + piece if token in hidden else piece for token, piece in enumerate(model.pieces)
    ]
    # Its stub doesn't know this constructor.
    tokenizer: LLTokenizer = LLTokenizer.from_llamacpp(  # type: ignore[attr-defined]
        tokens=tokens,
        vocab_ptr=model.vocabulary,
        tokenize_fptr=tokenize_pointer(),
        eos_token=special.message_end,
        slices=[],
    )
    return tokenizer
