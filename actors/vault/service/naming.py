"""Which notes a sentence names: "rename Kestrel buoy", where there's a note of that name or alias.

People don't write paths. A name is taken for one where it's written like one: several words, in
quotes, beside the word "note", or with a capital letter that doesn't begin the sentence. "Mother"
in "Mother called" may be a person.
"""

import re
import threading
from collections.abc import Iterator

from actors.vault.index import VaultIndex
from eris.vault.words import fold
from proto.vault import NamedNote, NamedNotes, NameNotes

MOST_WORDS = 8
"""Words of a name that is recognised."""

MOST_NAMED = 4
MOST_CHARACTERS = 2000
"""Of a text, that are looked at."""

_SHORTEST = 2
_WORD = re.compile(r"[^\W_](?:[\w'’.&+-]*\w)?|\d+")  # noqa: RUF001 - the apostrophe, too
_NOTE_BEFORE = re.compile(r"\b(?:notes?|files?|notiz(?:en)?|datei)\s+(?:called\s+|named\s+)?\W?$")
_NOTE_AFTER = re.compile(r"\W?\s+(?:notes?|files?|notiz(?:en)?|datei)\b")
_QUOTES = "\"'`\u201c\u201d\u201e\u2018\u2019«»[]"
_SENTENCE = re.compile(r"(?:^|[.!?:\n])\W*$")


class Naming:
    """Knows the names of all notes; thread-safe."""

    def __init__(self, index: VaultIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._passes = -1
        self._names: dict[str, str] = {}

    def named(self, request: NameNotes) -> NamedNotes:
        """Return the notes that a text names, in its order."""
        names = self._known()
        found: dict[str, NamedNote] = {}
        for start, end in _matches(request.text[:MOST_CHARACTERS], names):
            said = request.text[start:end]
            path = names[_key(said)]
            found.setdefault(path, NamedNote(said=said, path=path))
        return NamedNotes(notes=tuple(found.values())[:MOST_NAMED])

    def _known(self) -> dict[str, str]:
        """Paths by folded name; a name of several notes isn't one."""
        with self._lock:
            passes = self._index.passes
            if passes != self._passes:
                names: dict[str, str] = {}
                for name, path in self._index.note_names():
                    key = _key(name)
                    if len(key) >= _SHORTEST:
                        names[key] = path if names.get(key, path) == path else ""
                self._names = {key: path for key, path in names.items() if path}
                self._passes = passes
            return self._names


def _matches(text: str, names: dict[str, str]) -> Iterator[tuple[int, int]]:
    """The longest names, from the left."""
    words = list(_WORD.finditer(text))
    position = 0
    while position < len(words):
        for number in range(min(MOST_WORDS, len(words) - position), 0, -1):
            start, end = words[position].start(), words[position + number - 1].end()
            if _key(text[start:end]) in names and _is_meant(text, start, end, number):
                yield start, end
                position += number - 1
                break
        position += 1


def _is_meant(text: str, start: int, end: int, words: int) -> bool:
    before, after = text[:start], text[end:]
    if words > 1 or (before[-1:] in _QUOTES and after[:1] in _QUOTES and before and after):
        return True
    if _NOTE_BEFORE.search(before.casefold()) or _NOTE_AFTER.match(after.casefold()):
        return True
    return text[start].isupper() and not _SENTENCE.search(before)


def _key(name: str) -> str:
    """Names that are the same: without regard to case, accents, and what stands between words."""
    return " ".join(_WORD.findall(fold(name)))
