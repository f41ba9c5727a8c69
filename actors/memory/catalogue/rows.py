"""What the catalogue's rows mean, and what is made of a path, a tag or a date before it's kept."""

import datetime as dt
import hashlib

import msgspec

from actors.memory.points import Point
from eris.vault.names import folded
from proto.memory import Kind

_EPOCH = dt.date(1970, 1, 1)
_DIGEST_BYTES = 16


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Something whose text can be found: a note, a memory, a document, a turn of a conversation."""

    key: str
    """``note:PATH``, ``memory:m7``, ``document:d3``, ``session:ID/TURN``. What comes after a slash
    is no part of the id that hits show: many turns are one conversation."""
    kind: Kind
    path: str = ""
    """Note or document; empty for a memory without a note, and for a conversation."""
    title: str = ""
    date: str = ""
    """Day it was written or said, ISO 8601; empty if nobody knows."""
    digest: str
    """Of everything its chunks are made of: see `source_digest`."""
    origin: str = ""
    """For a memory that untrusted text caused: where that text came from."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One chunk, with what is known of its source."""

    id: int
    kind: Kind
    key: str
    """Of the source."""
    path: str
    title: str
    date: str
    day: int
    origin: str
    folders: tuple[str, ...]
    """Folded; see `folders_above`."""
    text: str
    header: str
    heading: str
    first_line: int
    last_line: int
    page: int
    tags: tuple[str, ...]
    """Folded; see `folded_tags`."""

    @property
    def embedded(self) -> str:
        """What is embedded, and what its words are taken from."""
        return f"{self.header}\n{self.text}" if self.header else self.text

    @property
    def source_id(self) -> str:
        """Of the memory, document or conversation; the path of a note."""
        name = self.key.partition(":")[2]
        return name if self.kind is Kind.NOTE else name.partition("/")[0]

    def point(self, vector: bytes | None) -> Point:
        """Return it as the index takes it."""
        return Point(
            id=self.id,
            text=self.embedded,
            vector=vector,
            kind=self.kind,
            source=self.key,
            folders=self.folders,
            tags=self.tags,
            day=self.day,
        )


def source_digest(content: bytes, chunking: str) -> str:
    """Return the digest of a source.

    Args:
        content: Its bytes.
        chunking: Version of what makes chunks of it: another one means other chunks.
    """
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES, key=chunking.encode()).hexdigest()


def text_digest(embedded: str) -> bytes:
    """Return the digest of what is embedded: equal texts have one vector."""
    return hashlib.blake2b(embedded.encode(), digest_size=_DIGEST_BYTES).digest()


def day_number(date: str) -> int:
    """Return the days since 1970-01-01 of a date or time in ISO 8601; 0 if it's none."""
    try:
        return max(0, (dt.date.fromisoformat(date[:10]) - _EPOCH).days)
    except ValueError:
        return 0


def folders_above(path: str) -> tuple[str, ...]:
    """Return every folder above a path, folded: ``A/b/c.md`` has ``a`` and ``a/b``."""
    names = folded(path).split("/")[:-1]
    return tuple("/".join(names[: end + 1]) for end in range(len(names)))


def folded_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags folded, with those above them: ``Work/Eris`` has ``work`` and ``work/eris``."""
    found: dict[str, None] = {}
    for tag in tags:
        names = folded(tag).strip("#/").split("/")
        for end in range(len(names)):
            found["/".join(names[: end + 1])] = None
    found.pop("", None)
    return tuple(found)
