"""Which note people mean by a path, a name, a title or an alias, and what it says."""

from dataclasses import dataclass
from functools import cached_property

from actors.vault.lookup import Lookup
from actors.vault.names import parse_path
from actors.vault.replacing import read_file, version_of
from actors.vault.text import decode
from actors.vault.vault_folder import VaultFolder
from eris.errors import NotFoundError
from eris.vault.markdown import parse
from eris.vault.note import Note


@dataclass(frozen=True)
class NoteFile:
    """A note as it is on the disk."""

    path: str
    data: bytes
    text: str
    """With its byte order mark, so that its lines put together are the file."""

    @property
    def version(self) -> str:
        """Names this state of the note."""
        return version_of(self.data)

    @cached_property
    def lines(self) -> Note:
        """Its lines, and nothing else: parsing it takes much longer."""
        return Note(self.text)

    @cached_property
    def note(self) -> Note:
        """What it consists of."""
        return parse(self.text)


class Finder:
    """Finds notes and reads them; thread-safe."""

    def __init__(self, vault: VaultFolder, lookup: Lookup) -> None:
        """Create it.

        Args:
            vault: The vault.
            lookup: Knows what people mean by a name.
        """
        self._vault = vault
        self._lookup = lookup

    def path(self, name: str) -> str:
        """Return the path of the note that is meant.

        Raises:
            ConflictError: Several are meant; the sentence names them.
            NotFoundError: None is; the hint has those that are close.
        """
        return self._lookup.existing(name, follow=True).path

    def place(self, name: str) -> tuple[str, bool]:
        """Return the path of the note that is meant or where it would be, and whether it's there.

        Raises:
            ConflictError: Several are meant.
        """
        found = self._lookup.find(name)
        return found.path, found.exists

    def load(self, name: str) -> NoteFile:
        """Return the note that is meant.

        Raises:
            ErisError: There's none, several are meant, or it can't be read.
        """
        return self.at(self.path(name))

    def at(self, path: str) -> NoteFile:
        """Return the note at a path.

        Raises:
            NotFoundError: It isn't there.
            ErisError: It can't be read.
        """
        with self._vault.locate(parse_path(path), follow=True) as place:
            if place.entry is None:
                raise NotFoundError(f"There is no note {place.path}.")
            data = read_file(place.folder, place.entry).data
            decode(data, place.path)
            return NoteFile(place.real_path, data, data.decode())
