"""The names of all files of a vault, to look up what a link means.

Holds text only: whoever watches the disk adds and removes paths.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

# The last sigma of a word is a letter of its own only as long as nothing follows, such as ".md".
_SAME = str.maketrans({"\u03c2": "\u03c3", "\u00a0": " ", "\u202f": " "})


def folded(text: str) -> str:
    """Return a key that is equal for names and paths that Obsidian takes for the same.

    Upper and lower case don't differ, nor do the composed and decomposed forms of Unicode, nor the
    kinds of space. Unlike `str.casefold`, "Straße" and "Strasse" stay two names.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", text.lower().translate(_SAME))


def name_of(path: str) -> str:
    """Return the last name of a path."""
    return path.rpartition("/")[2]


def folder_of(path: str) -> str:
    """Return the folder of a path; empty for the vault itself."""
    return path.rpartition("/")[0]


class _Groups:
    """Paths by a key that few of them share."""

    __slots__ = ("_paths",)

    def __init__(self) -> None:
        # Nearly all keys have one path: a string is a fifth of a dictionary's size. A dictionary
        # keeps the order in which paths came and removes one of thousands at once.
        self._paths: dict[str, str | dict[str, None]] = {}

    def add(self, key: str, path: str) -> None:
        there = self._paths.setdefault(key, path)
        if isinstance(there, dict):
            there[path] = None
        elif there != path:
            self._paths[key] = {there: None, path: None}

    def remove(self, key: str, path: str) -> None:
        there = self._paths.get(key)
        if there == path:
            del self._paths[key]
        elif isinstance(there, dict):
            there.pop(path, None)
            if len(there) == 1:
                self._paths[key] = next(iter(there))

    def get(self, key: str) -> tuple[str, ...]:
        there = self._paths.get(key, ())
        return (there,) if isinstance(there, str) else tuple(there)


class Names:
    """All files of a vault, found by name or by path without regard to case."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """Create it with these paths; each has `/` between names, an extension, and no `/` first.

        Adding and removing a path takes the same time however many there are.
        """
        self._keys: dict[str, str] = {}
        self._by_name = _Groups()
        self._by_path = _Groups()
        for path in paths:
            self.add(path)

    def __contains__(self, path: str) -> bool:
        return path in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, path: str) -> None:
        """Add a file; nothing happens if it's there."""
        if path in self._keys:
            return
        key = folded(path)
        key = path if key == path else key
        self._keys[path] = key
        self._by_path.add(key, path)
        self._by_name.add(name_of(key), path)

    def remove(self, path: str) -> None:
        """Remove a file; nothing happens if it isn't there."""
        if path not in self._keys:
            return
        key = self._keys.pop(path)
        self._by_path.remove(key, path)
        self._by_name.remove(name_of(key), path)

    def named(self, name: str) -> tuple[str, ...]:
        """Return the paths of all files of this name, its extension included, in any folder."""
        return self._by_name.get(folded(name))

    def at(self, path: str) -> str | None:
        """Return the path as it's spelt in the vault; the very same spelling if it's there."""
        if path in self._keys:
            return path
        there = self._by_path.get(folded(path))
        return min(there) if there else None

    def key(self, path: str) -> str:
        """Return the folded form of a path that's among them.

        Raises:
            KeyError: It isn't.
        """
        return self._keys[path]

    def moved(self, moves: Mapping[str, str]) -> "Names":
        """Return the names after these moves (old path to new path); this one stays as it is."""
        return Names(moves.get(path, path) for path in self._keys)
