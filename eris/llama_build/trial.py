"""Does this build of llama.cpp run here? Found out in a process of its own.

An instruction that the processor doesn't have shows only when it's executed, and then it kills the
process. So a tiny model (one layer, all weights zero) is written to a temporary folder and the
process under trial evaluates two tokens with it: this runs the matrix kernels of the quantisations
that are in use.
"""

import os
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_WITHIN_SECONDS = 120.0

# Run by the process under trial: llama-cpp-python's low-level interface only.
_PROGRAM = """
import ctypes, sys
import llama_cpp as l
l.llama_backend_init()
quiet = l.llama_log_callback(lambda *_: None)
l.llama_log_set(quiet, ctypes.c_void_p(0))
for path in sys.argv[1:]:
    options = l.llama_model_default_params()
    options.use_mmap = False
    model = l.llama_model_load_from_file(path.encode(), options)
    assert model, path
    settings = l.llama_context_default_params()
    settings.n_ctx, settings.n_batch, settings.n_threads = 32, 32, 1
    context = l.llama_init_from_model(model, settings)
    assert context, path
    # More than one token goes another way through the kernels than one does.
    for count in (4, 1):
        tokens = (l.llama_token * count)(*range(count))
        assert l.llama_decode(context, l.llama_batch_get_one(tokens, count)) == 0, path
    l.llama_free(context)
    l.llama_model_free(model)
"""


@dataclass(frozen=True)
class Trial:
    """How a trial went."""

    runs: bool
    illegal_instruction: bool = False
    """It died of SIGILL: built for another processor."""
    problem: str = ""
    """A sentence, if it doesn't run."""


def try_installed(within: float = _WITHIN_SECONDS) -> Trial:
    """Try the llama-cpp-python that this Python imports."""
    return _try(dict(os.environ), within)


def try_wheel(wheel: Path, within: float = _WITHIN_SECONDS) -> Trial:
    """Try a wheel without installing it; what it depends on comes from this Python."""
    with tempfile.TemporaryDirectory(prefix="eris-trial-") as folder:
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
        except (zipfile.BadZipFile, OSError) as error:
            return Trial(runs=False, problem=f"{wheel.name} can't be unpacked: {error}")
        return _try({**os.environ, "PYTHONPATH": folder}, within)


def _try(environ: Mapping[str, str], within: float) -> Trial:
    with tempfile.TemporaryDirectory(prefix="eris-trial-") as folder:
        models = []
        for name, quantisation in _QUANTISATIONS.items():
            model = Path(folder) / f"{name}.gguf"
            model.write_bytes(tiny_model(quantisation))
            models.append(str(model))
        try:
            ended = subprocess.run(
                [sys.executable, "-c", _PROGRAM, *models],
                cwd=folder,
                env={**environ, "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=within,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Trial(runs=False, problem=f"it did nothing for {within:.0f} seconds")
    return judge(ended.returncode, ended.stderr)


def judge(code: int, said: str) -> Trial:
    """Return what an exit code and the standard error of the process under trial mean."""
    if code == 0:
        return Trial(runs=True)
    if code == -signal.SIGILL:
        return Trial(
            runs=False,
            illegal_instruction=True,
            problem="it uses instructions that this processor doesn't have",
        )
    if code < 0:
        return Trial(runs=False, problem=f"it died of {signal.Signals(-code).name}")
    lines = said.strip().splitlines()
    return Trial(runs=False, problem=lines[-1] if lines else f"it ended with code {code}")


@dataclass(frozen=True)
class Quantisation:
    """A way to store weights in blocks."""

    number: int
    """Of the type in GGUF."""
    values: int
    """In a block."""
    bytes: int
    """Of a block."""


_F32 = Quantisation(0, 1, 4)

# Those of the default models, and F16 for what is computed in between.
_QUANTISATIONS: Mapping[str, Quantisation] = {
    "q4_1": Quantisation(3, 32, 20),
    "q8_0": Quantisation(8, 32, 34),
    "q4_k": Quantisation(12, 256, 144),
    "q6_k": Quantisation(14, 256, 210),
    "f16": Quantisation(1, 1, 2),
}

_WIDTH = 256
_VOCABULARY = 32
_ALIGNMENT = 32


def tiny_model(quantisation: Quantisation) -> bytes:
    """Return a GGUF file with a Llama of one layer whose weights are all zero."""
    metadata: dict[str, str | int | float] = {
        "general.architecture": "llama",
        "general.name": "trial",
        "llama.block_count": 1,
        "llama.context_length": 32,
        "llama.embedding_length": _WIDTH,
        "llama.feed_forward_length": _WIDTH,
        "llama.attention.head_count": 4,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": _VOCABULARY,
        "tokenizer.ggml.model": "no_vocab",
    }
    square = (_WIDTH, _WIDTH)
    weights = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_down", "ffn_up")
    tensors: list[tuple[str, tuple[int, ...], Quantisation]] = [
        ("token_embd.weight", (_WIDTH, _VOCABULARY), quantisation),
        ("output.weight", (_WIDTH, _VOCABULARY), quantisation),
        ("output_norm.weight", (_WIDTH,), _F32),
        ("blk.0.attn_norm.weight", (_WIDTH,), _F32),
        ("blk.0.ffn_norm.weight", (_WIDTH,), _F32),
        *((f"blk.0.{name}.weight", square, quantisation) for name in weights),
    ]
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
    for key, value in metadata.items():
        out += _text(key) + _value(value)
    offset = 0
    for name, shape, kind in tensors:
        out += _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", kind.number, offset)
        offset += _aligned(_length(shape, kind))
    out += bytes(_aligned(len(out)) - len(out) + offset)
    return bytes(out)


def _length(shape: tuple[int, ...], kind: Quantisation) -> int:
    values = 1
    for dimension in shape:
        values *= dimension
    return values // kind.values * kind.bytes


def _aligned(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: str | float) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + _text(value)
        case int():
            return struct.pack("<II", 4, value)
        case _:
            return struct.pack("<If", 6, value)
