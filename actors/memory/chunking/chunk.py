"""What chunking gives: the pieces, each with where it's from."""

from collections.abc import Callable, Sequence

import msgspec

TokenCount = Callable[[Sequence[str]], list[int]]
"""Tells how many tokens the embedder makes of each text; its special ones may be counted in."""

VERSION = "1"
"""To be raised with every change of what is made of the same text: then all is chunked anew."""

DEFAULT_LIMIT = 200
"""Tokens of a chunk, its header counted in."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of text."""

    text: str
    """As it's written in the source: what hits show."""
    header: str
    """Title, headings, tags, date: embedded in front of the text, not shown."""
    heading: str = ""
    """Headings above it, outermost first, with `` > `` between."""
    first_line: int = 0
    """Lines of the note that it's on, from 1; 0 where there are none."""
    last_line: int = 0
    page: int = 0
    """Of a document, from 1; 0 where there are none."""
    tags: tuple[str, ...] = ()
    """Of the whole note, as written, without ``#``."""

    @property
    def embedded(self) -> str:
        """What is embedded, and what its words are taken from."""
        return f"{self.header}\n{self.text}" if self.header else self.text


class NoteChunks(msgspec.Struct, frozen=True, kw_only=True):
    """A note in pieces."""

    title: str
    """The property ``title``, or the name of the file."""
    date: str
    """Day it's of, ISO 8601: the property ``date`` or ``created``, or the day in the name of a
    daily note; empty if nothing says so."""
    tags: tuple[str, ...]
    """All tags of the note, each once, as written, without ``#``."""
    memory_id: str
    """The property ``eris_memory``, such as ``m7``; empty for an ordinary note."""
    chunks: tuple[Chunk, ...]
    """In the order of the text; none for a note that says nothing."""
