"""Obsidian's settings of this vault, read from its files."""

from actors.vault.folder import Kind
from actors.vault.replacing import read_file
from actors.vault.vault_folder import VaultFolder
from eris.errors import ErisError
from eris.vault.settings import Settings, ignored, read_settings

_FOLDER = ".obsidian"
_FILES = ("app", "daily-notes", "templates", "types", "core-plugins")
"""In the order that `read_settings` takes them."""


class ObsidianSettings:
    """The settings; thread-safe."""

    def __init__(self, vault: VaultFolder) -> None:
        """Read what search passes by. A file that can't be read counts as one that isn't there."""
        self._vault = vault
        self._kept = self.read()

    def read(self) -> Settings:
        """Return the settings as they are now."""
        return read_settings(*(self._text(name) for name in _FILES))

    def ignored(self, path: str) -> bool:
        """Whether search passes by a path, by the settings at the last `refresh`."""
        return ignored(path, self._kept)

    def refresh(self) -> None:
        """Read again what search passes by: somebody has changed it."""
        self._kept = self.read()

    def _text(self, name: str) -> str | None:
        try:
            with self._vault.locate((_FOLDER, f"{name}.json"), recorded=True) as place:
                if place.entry is None or place.entry.kind is not Kind.FILE:
                    return None
                return read_file(place.folder, place.entry).data.decode("utf-8", "replace")
        except ErisError:
            return None
