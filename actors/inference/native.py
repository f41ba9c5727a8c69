"""llama.cpp through its C interface: a model, a context, and nothing above tokens.

This is the only module that calls llama.cpp, but for the reference in `llama_grammar`. Calls
release the GIL. A `NativeContext` belongs to one thread at a time; the vocabulary half of
`NativeModel` is constant and may be used from any thread.
"""

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from eris.errors import ModelError
from eris.logs import Logger

BUILD: Final = f"llama-cpp-python {version('llama-cpp-python')}"
"""Names the build, so that state saved by another one isn't loaded."""

Logits = NDArray[np.float32]

_ERROR_LEVEL: Final = 4
_CONTINUED_LINE: Final = 5
_LONGEST_PIECE: Final = 4096
_ABORTED: Final = 2
_ABORTED_LINES: Final = ("failed with error 1", "compute status: 1", "decode, ret = 2")
_SEQUENCE: Final = 0
_ADD_NOTHING: Final = False
_WITH_DATA: Final = True
_WITH_MARKUP: Final = True
_NONE: Final = -1

_log_callback: object | None = None
_backend_lock = threading.Lock()


def start_backend(log: Logger) -> None:
    """Initialise llama.cpp once for the process and send its log lines to ``log``.

    Without this it writes to the standard error. Its chatter goes out at debug level.
    """
    global _log_callback  # noqa: PLW0603 - C keeps a pointer to it for the process's lifetime

    def write(level: int, text: bytes | None, _data: object) -> None:
        line = (text or b"").decode("utf-8", "replace").strip()
        # llama.cpp reports a pass that was aborted on request as an error, in three lines.
        aborted = any(words in line for words in _ABORTED_LINES)
        severe = level == _ERROR_LEVEL and not aborted
        if line and level != _CONTINUED_LINE:
            (log.warning if severe else log.debug)("llama", line=line)

    with _backend_lock:
        callback = llama_cpp.llama_log_callback(write)
        llama_cpp.llama_log_set(callback, ctypes.c_void_p(0))
        if _log_callback is None:
            llama_cpp.llama_backend_init()
        _log_callback = callback


@dataclass(frozen=True)
class SpecialTokens:
    """Tokens of a vocabulary that aren't text."""

    end: frozenset[int]
    """Each ends a generation."""
    control: frozenset[int]
    """Have no text of their own; includes most of ``end``."""
    user_defined: frozenset[int]
    """Text that is one token wherever it stands."""
    beginning: int
    """Put in front of a prompt if ``add_beginning``; -1 if there is none."""
    add_beginning: bool
    message_end: int
    """What templates call ``eos_token``; -1 if there is none."""
    markup: tuple[str, ...]
    """Texts that the tokenizer would read as control tokens, such as ``<|im_end|>``."""


class NativeModel:
    """Weights and vocabulary of one GGUF file, memory-mapped.

    The file may be deleted while it's loaded: the mapping stays valid.
    """

    def __init__(self, path: Path, *, progress: Callable[[float], bool] | None = None) -> None:
        """Load the file.

        Args:
            path: A GGUF file.
            progress: Called with 0.0 to 1.0 while loading; returning False stops it.

        Raises:
            ModelError: llama.cpp can't load it, or loading was stopped.
        """
        parameters = llama_cpp.llama_model_default_params()
        if progress is not None:
            # The C structure keeps a pointer: the callback must live until the call returns.
            callback = llama_cpp.llama_progress_callback(lambda done, _data: progress(done))
            parameters.progress_callback = callback
        model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        if not model:
            raise ModelError(
                f"llama.cpp can't load the model {path}.",
                hint="The log of the inference process says why; try another GGUF file.",
            )
        self.handle: Final = model
        vocabulary = llama_cpp.llama_model_get_vocab(model)
        if not vocabulary:
            raise ModelError(f"The model {path} has no vocabulary.")
        self.vocabulary: Final = vocabulary
        self.vocabulary_size: Final = int(llama_cpp.llama_vocab_n_tokens(vocabulary))
        self.trained_context_length: Final = int(llama_cpp.llama_model_n_ctx_train(model))
        self.parameters: Final = int(llama_cpp.llama_model_n_params(model))
        self.pieces: Final = self._read_pieces()
        """Bytes of every token, markup included."""
        self.special: Final = self._read_special()

    def close(self) -> None:
        """Free the weights. Contexts must have been closed before."""
        llama_cpp.llama_model_free(self.handle)

    def metadata(self, key: str) -> str | None:
        """Return a metadata value of the file as text."""
        size = 1 << 12
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = llama_cpp.llama_model_meta_val_str(self.handle, key.encode(), buffer, size)
            if length < 0:
                return None
            if length < size:
                return buffer.raw[:length].decode("utf-8", "replace")
            size = length + 1

    def tokenize(self, text: str, *, markup: bool) -> list[int]:
        """Return the tokens of a text.

        Args:
            text: Any text.
            markup: Whether texts such as ``<|im_end|>`` are read as control tokens.
        """
        data = text.encode("utf-8", "surrogatepass")
        capacity = len(data) + 8
        tokens = (ctypes.c_int32 * capacity)()
        count = llama_cpp.llama_tokenize(
            self.vocabulary, data, len(data), tokens, capacity, _ADD_NOTHING, markup
        )
        if count < 0:
            capacity = -count
            tokens = (ctypes.c_int32 * capacity)()
            count = llama_cpp.llama_tokenize(
                self.vocabulary, data, len(data), tokens, capacity, _ADD_NOTHING, markup
            )
        return list(tokens[:count])

    def piece(self, token: int, *, markup: bool = False) -> bytes:
        """Return a token's bytes; those of a control token only if ``markup``."""
        return self.pieces[token] if markup or token not in self.special.control else b""

    def text_of(self, token: int) -> str:
        """Return a token's text, markup included; empty for -1."""
        return self.pieces[token].decode("utf-8", "replace") if token >= 0 else ""

    def _read_pieces(self) -> list[bytes]:
        # One buffer and no other call: 152,000 tokens take 0.15 s this way.
        buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
        to_piece, vocabulary = llama_cpp.llama_token_to_piece, self.vocabulary
        pieces = []
        for token in range(self.vocabulary_size):
            length = to_piece(vocabulary, token, buffer, _LONGEST_PIECE, 0, _WITH_MARKUP)
            pieces.append(ctypes.string_at(buffer, max(length, 0)))
        return pieces

    def _read_special(self) -> SpecialTokens:
        end: set[int] = set()
        control: set[int] = set()
        defined: set[int] = set()
        markup: list[str] = []
        attributes, vocabulary = llama_cpp.llama_vocab_get_attr, self.vocabulary
        hidden = int(llama_cpp.LLAMA_TOKEN_ATTR_CONTROL) | int(llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN)
        user_defined = int(llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED)
        for token in range(self.vocabulary_size):
            flags = attributes(vocabulary, token)
            if not flags & (hidden | user_defined):
                continue
            if llama_cpp.llama_vocab_is_eog(vocabulary, token):
                end.add(token)
            (control if flags & hidden else defined).add(token)
            text = self.text_of(token)
            if text.strip():
                markup.append(text)
        message_end = int(llama_cpp.llama_vocab_eos(vocabulary))
        return SpecialTokens(
            end=frozenset(end | ({message_end} - {_NONE})),
            control=frozenset(control),
            user_defined=frozenset(defined),
            beginning=int(llama_cpp.llama_vocab_bos(vocabulary)),
            add_beginning=bool(llama_cpp.llama_vocab_get_add_bos(vocabulary)),
            message_end=message_end,
            markup=tuple(markup),
        )


def tokenize_pointer() -> int:
    """Return the address of ``llama_tokenize``, for a library that calls it from C."""
    # The binding's decorator hides from type checkers that this is a C function.
    function: Any = llama_cpp.llama_tokenize
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class AbortFlag:
    """Stops a running `NativeContext.decode` from another thread, at its next graph node.

    llama.cpp asks an abort callback before each node. A Python callback would take the GIL some
    700 times a pass; instead the C library's own ``strlen`` is the callback and a two-byte buffer
    its argument: length 0 is false, length 1 is true.
    """

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)
        self._function = llama_cpp.ggml_abort_callback(
            ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p).value or 0
        )

    def attach(self, context: llama_cpp.llama_context_p) -> None:
        """Make ``context`` obey this flag; the flag must outlive it."""
        data = ctypes.cast(self._buffer, ctypes.c_void_p)
        llama_cpp.llama_set_abort_callback(context, self._function, data)

    def set(self) -> None:
        """Stop what is running now or next."""
        self._buffer[0] = b"x"

    def clear(self) -> None:
        """Let passes run again."""
        self._buffer[0] = b"\0"


class NativeContext:
    """A KV cache with one sequence, and the computation over it."""

    def __init__(
        self, model: NativeModel, *, context_length: int, batch: int, threads: int
    ) -> None:
        """Allocate the context.

        Args:
            model: Must outlive the context.
            context_length: Tokens; llama.cpp may round it up.
            batch: The most tokens of one pass.
            threads: For computation.

        Raises:
            ModelError: There isn't enough memory, or the model can't generate.
        """
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = context_length
        parameters.n_batch = batch
        parameters.n_ubatch = batch
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        handle = llama_cpp.llama_init_from_model(model.handle, parameters)
        if not handle:
            raise ModelError(
                f"A context of {context_length} tokens can't be allocated.",
                hint="Choose a smaller model.context_length; the inference log has the details.",
            )
        self.handle: Final = handle
        self.length: Final = int(llama_cpp.llama_n_ctx(handle))
        self.batch: Final = batch
        self.abort: Final = AbortFlag()
        self.abort.attach(handle)
        self._model: Final = model
        self._memory = llama_cpp.llama_get_memory(handle)
        self._batch = llama_cpp.llama_batch_init(batch, 0, 1)

    def close(self) -> None:
        """Free the KV cache."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self.handle)

    def decode(self, tokens: Sequence[int], position: int, outputs: int = 1) -> bool:
        """Compute at most ``batch`` tokens that follow the first ``position`` ones.

        Args:
            tokens: What to compute.
            position: Tokens in front of them.
            outputs: After how many of them, the last ones, logits are wanted.

        Returns:
            False if the abort flag stopped it; some of the tokens may be in the cache then.

        Raises:
            ModelError: llama.cpp failed; some of the tokens may be in the cache then.
        """
        batch = self._batch
        count = len(tokens)
        batch.n_tokens = count
        for index, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = position + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = _SEQUENCE
            batch.logits[index] = index >= count - outputs
        code = llama_cpp.llama_decode(self.handle, batch)
        if code == 0:
            return True
        if code == _ABORTED:
            return False
        raise ModelError(f"llama.cpp failed to compute {count} tokens at {position} (code {code}).")

    def logits(self, before: int = 0) -> Logits:
        """Return the logits after the last token of the last pass but ``before``.

        It's a view into llama.cpp's memory, valid until the next pass: copy it to keep it.
        """
        pointer = llama_cpp.llama_get_logits_ith(self.handle, -1 - before)
        return np.ctypeslib.as_array(pointer, shape=(self._model.vocabulary_size,))

    def truncate(self, position: int) -> bool:
        """Forget every token from ``position`` on.

        Returns:
            False if the model's memory can't be cut there; then everything was forgotten.
        """
        if llama_cpp.llama_memory_seq_rm(self._memory, _SEQUENCE, position, -1):
            return True
        llama_cpp.llama_memory_clear(self._memory, _WITH_DATA)
        return False

    def save(self, path: Path, tokens: Sequence[int]) -> int:
        """Write the sequence's state to a file; returns its bytes, 0 on failure."""
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        return int(
            llama_cpp.llama_state_seq_save_file(
                self.handle, str(path).encode(), _SEQUENCE, array, len(tokens)
            )
        )

    def load(self, path: Path, capacity: int) -> list[int] | None:
        """Replace the sequence by a saved one.

        Returns:
            Its tokens, or None if the file doesn't fit; then everything was forgotten.
        """
        llama_cpp.llama_memory_clear(self._memory, _WITH_DATA)
        tokens = (ctypes.c_int32 * capacity)()
        count = ctypes.c_size_t(0)
        size = llama_cpp.llama_state_seq_load_file(
            self.handle, str(path).encode(), _SEQUENCE, tokens, capacity, ctypes.byref(count)
        )
        if not size:
            llama_cpp.llama_memory_clear(self._memory, _WITH_DATA)
            return None
        return list(tokens[: count.value])
