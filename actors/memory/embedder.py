"""The embedding model, loaded from a local folder with the hub switched off."""

import ctypes
import hashlib
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Protocol

from eris.errors import ModelError

DIMENSIONS = 384
LONGEST_TEXT = 8000
"""Characters of a text that are looked at; the model takes 512 tokens anyway."""

_MODEL_FILE = "model.onnx"
_REQUIRED = (
    _MODEL_FILE,
    "tokenizer.json",
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_DIGEST_LETTERS = 12
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "0"}


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def model(self) -> str:
        """Name and revision: vectors of different ones must not be compared."""

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a unit vector for each text, as little-endian float32."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, those at its ends included."""


class MiniLM:
    """all-MiniLM-L6-v2 (or a model of the same form) through fastembed."""

    def __init__(self, folder: Path, threads: int, environ: MutableMapping[str, str]) -> None:
        """Load the model; takes about two seconds.

        Args:
            folder: Where model and tokenizer are.
            threads: Threads of one computation.
            environ: The process's environment, in which the hub is switched off.

        Raises:
            ModelError: The folder lacks a file or the model can't be loaded.
        """
        missing = [name for name in _REQUIRED if not (folder / name).is_file()]
        if missing:
            raise ModelError(
                f"The embedding model in {folder} lacks {', '.join(missing)}.", hint=_hint(folder)
            )
        environ.update(_OFFLINE)
        # Heavy, and it reads the environment while it's imported.
        from fastembed import TextEmbedding  # noqa: PLC0415
        from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415

        self._revision = revision(folder / _MODEL_FILE)
        self._name = folder.name
        known = {entry["model"] for entry in TextEmbedding.list_supported_models()}
        if self.model not in known:
            TextEmbedding.add_custom_model(
                model=self.model,
                pooling=PoolingType.MEAN,
                normalization=True,
                # A source must be named, and is never asked: the folder is given below.
                sources=ModelSource(hf=f"local/{self._name}"),
                dim=DIMENSIONS,
                model_file=_MODEL_FILE,
            )
        try:
            self._model = TextEmbedding(
                self.model,
                specific_model_path=str(folder),
                threads=threads,
                # The arena never gives memory back: 600 MB after one batch of long texts.
                enable_cpu_mem_arena=False,
            )
            # Of its own, for the model's cuts texts that are too long for it.
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        except Exception as error:
            # The libraries below raise whatever they like for a broken file.
            raise ModelError(
                f"The embedding model in {folder} can't be loaded: {error}.", hint=_hint(folder)
            ) from error
        _give_back()

    @property
    def model(self) -> str:
        """Name and revision of the model."""
        return f"{self._name}@{self._revision}"

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a unit vector for each text, as little-endian float32."""
        shortened = [text[:LONGEST_TEXT] for text in texts]
        vectors = self._model.embed(shortened, batch_size=max(1, len(shortened)))
        return [vector.astype("<f4").tobytes() for vector in vectors]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has, those at its ends included."""
        return [len(found.ids) for found in self._tokenizer.encode_batch_fast(list(texts))]


def revision(file: Path) -> str:
    """Return a short digest of a model file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:_DIGEST_LETTERS]


def threads_for(cores: int, environ: Mapping[str, str]) -> int:
    """Return how many threads to compute with: few, for the chat model needs the cores."""
    wanted = environ.get("ERIS_EMBEDDER_THREADS", "")
    return max(1, int(wanted)) if wanted.isdigit() else max(1, min(2, cores // 2))


def _give_back() -> None:
    """Return what loading has left to the system: 55 MB of 280, where C's library is glibc."""
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)


def _hint(folder: Path) -> str:
    return f"Get it anew with: eris models rm {folder.name}; eris models pull {folder.name}"
