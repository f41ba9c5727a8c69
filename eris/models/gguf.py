"""Is this a whole GGUF file, and what does it say about itself?

Reads the header only: metadata and the table of tensors, which tells how long the file must be.
llama.cpp crashes or fails with a riddle on damaged files; this says what is wrong in a sentence.
Pure but for opening the file; loads no model.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eris.errors import ModelError, NotFoundError, NotGGUFError, TruncatedGGUFError

MAGIC = b"GGUF"

Value = str | int | float | bool
"""A metadata value; arrays are skipped."""

_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_MOST_DIMENSIONS = 8
_DEEPEST_ARRAY = 4

# Number of a metadata type -> its struct format.
_SCALARS: Mapping[int, str] = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
_STRING = 8
_ARRAY = 9

# Number of a tensor type -> values in a block, bytes of a block.
_BLOCKS: Mapping[int, tuple[int, int]] = {
    0: (1, 4),  # F32
    1: (1, 2),  # F16
    2: (32, 18),  # Q4_0
    3: (32, 20),  # Q4_1
    6: (32, 22),  # Q5_0
    7: (32, 24),  # Q5_1
    8: (32, 34),  # Q8_0
    9: (32, 36),  # Q8_1
    10: (256, 84),  # Q2_K
    11: (256, 110),  # Q3_K
    12: (256, 144),  # Q4_K
    13: (256, 176),  # Q5_K
    14: (256, 210),  # Q6_K
    15: (256, 292),  # Q8_K
    16: (256, 66),  # IQ2_XXS
    17: (256, 74),  # IQ2_XS
    18: (256, 98),  # IQ3_XXS
    19: (256, 50),  # IQ1_S
    20: (32, 18),  # IQ4_NL
    21: (256, 110),  # IQ3_S
    22: (256, 82),  # IQ2_S
    23: (256, 136),  # IQ4_XS
    24: (1, 1),  # I8
    25: (1, 2),  # I16
    26: (1, 4),  # I32
    27: (1, 8),  # I64
    28: (1, 8),  # F64
    29: (256, 56),  # IQ1_M
    30: (1, 2),  # BF16
    34: (256, 54),  # TQ1_0
    35: (256, 66),  # TQ2_0
    39: (32, 17),  # MXFP4
}


@dataclass(frozen=True)
class GGUFHeader:
    """What a GGUF file says about itself."""

    version: int
    tensors: int
    needed_bytes: int
    """Shortest length of a whole file (of a tensor type we don't know, one byte is counted)."""
    metadata: Mapping[str, Value] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """Family of the model, such as ``qwen2``; empty if it isn't said."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def name(self) -> str:
        """The model's own name; empty if it isn't said."""
        return str(self.metadata.get("general.name", ""))

    @property
    def context_length(self) -> int | None:
        """Tokens the model was trained for."""
        value = self.metadata.get(f"{self.architecture}.context_length")
        return value if isinstance(value, int) else None

    @property
    def chat_template(self) -> str | None:
        """The model's own chat template in Jinja."""
        value = self.metadata.get("tokenizer.chat_template")
        return value if isinstance(value, str) else None


def read_header(path: Path) -> GGUFHeader:
    """Read and check the header of the file at ``path``.

    Raises:
        NotFoundError: There is no such file, or it can't be read.
        NotGGUFError: It's something else, or a version we don't know.
        TruncatedGGUFError: It ends before its tensors; ``details``: ``needed``, ``actual``.
        ModelError: The header contradicts itself.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise NotGGUFError(
                    f"{path} is not a GGUF file.",
                    hint="Give a file that ends in .gguf, or a name from: eris models list",
                )
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return parse_header(data, str(path))
    except OSError as error:
        raise NotFoundError(
            f"The model file {path} can't be read: {error.strerror}.", hint="Check the path."
        ) from error


def parse_header(data: bytes | mmap.mmap, name: str = "the file") -> GGUFHeader:
    """Read and check the header of a whole file in ``data``; ``name`` is for the sentences.

    Raises:
        NotGGUFError: It's something else, or a version we don't know.
        TruncatedGGUFError: It's shorter than its tensors.
        ModelError: The header contradicts itself.
    """
    reader = _Reader(data, name)
    if reader.take(len(MAGIC)) != MAGIC:
        raise NotGGUFError(f"{name} is not a GGUF file.")
    version = reader.integer("<I")
    if version not in _VERSIONS:
        raise NotGGUFError(
            f"{name} is GGUF of version {version}; versions 2 and 3 can be read.",
            hint="Convert it with llama.cpp's tools, or take a newer file.",
        )
    tensors = reader.integer("<Q")
    entries = reader.integer("<Q")
    metadata: dict[str, Value] = {}
    for _ in range(entries):
        key = reader.text()
        value = reader.value(reader.integer("<I"))
        if value is not None:
            metadata[key] = value
    end = max((reader.tensor_end() for _ in range(tensors)), default=0)
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0:
        raise reader.damaged(f"its alignment is {alignment}")
    needed = -(-reader.position // alignment) * alignment + end
    if needed > len(data):
        raise _truncated(name, needed, len(data))
    return GGUFHeader(version=version, tensors=tensors, needed_bytes=needed, metadata=metadata)


class _Reader:
    """A position in the header; every read checks that the bytes are there."""

    def __init__(self, data: bytes | mmap.mmap, name: str) -> None:
        self._data = data
        self._name = name
        self.position = 0

    def skip(self, count: int) -> None:
        if count > len(self._data) - self.position:
            raise _truncated(self._name, self.position + count, len(self._data))
        self.position += count

    def take(self, count: int) -> bytes:
        start = self.position
        self.skip(count)
        return self._data[start : self.position]

    def integer(self, layout: str) -> int:
        return int(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def text(self) -> str:
        return self.take(self.integer("<Q")).decode("utf-8", errors="replace")

    def value(self, kind: int, depth: int = 0) -> Value | None:
        """Read one metadata value; arrays are skipped and give ``None``."""
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            self._skip_array(depth)
            return None
        layout = _SCALARS.get(kind)
        if layout is None:
            raise self.damaged(f"a metadata value has the unknown type {kind}")
        found: Value = struct.unpack(layout, self.take(struct.calcsize(layout)))[0]
        return found

    def _skip_array(self, depth: int) -> None:
        kind = self.integer("<I")
        count = self.integer("<Q")
        if kind in _SCALARS:
            self.skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            for _ in range(count):
                self.skip(self.integer("<Q"))
        elif kind == _ARRAY and depth < _DEEPEST_ARRAY:
            for _ in range(count):
                self._skip_array(depth + 1)
        else:
            raise self.damaged(f"an array has the unknown type {kind}")

    def tensor_end(self) -> int:
        """Read one row of the tensor table; returns where the tensor ends in the data section."""
        self.skip(self.integer("<Q"))
        dimensions = self.integer("<I")
        if dimensions > _MOST_DIMENSIONS:
            raise self.damaged(f"a tensor has {dimensions} dimensions")
        values = 1
        for _ in range(dimensions):
            values *= self.integer("<Q")
        kind = self.integer("<I")
        offset = self.integer("<Q")
        block = _BLOCKS.get(kind)
        if block is None:
            return offset + 1
        in_block, block_bytes = block
        return offset + -(-values // in_block) * block_bytes

    def damaged(self, why: str) -> ModelError:
        return ModelError(
            f"The GGUF file {self._name} is damaged: {why}.", hint="Download it again."
        )


def _truncated(name: str, needed: int, actual: int) -> TruncatedGGUFError:
    return TruncatedGGUFError(
        f"The GGUF file {name} is truncated: it needs {needed} bytes and has {actual}.",
        hint="Download it again.",
        details={"needed": needed, "actual": actual},
    )
