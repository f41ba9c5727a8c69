"""A vault with its journal and writer, opened as after a start of the process."""

import os
import secrets

from actors.vault.journal import Journal
from actors.vault.lookup import Lookup
from actors.vault.steps import Cause
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import NoteWriter


class CutOffError(BaseException):
    """The process ends here, as far as the code under test can tell."""


class OpenedVault:
    """Everything that the vault actor opens; close it, or let it go as a crash would."""

    def __init__(self, place, journal_file, *, now=lambda: 1000.0, bounds=None, **options):
        self.place = place
        self.folder = VaultFolder(place)
        self.journal = Journal(journal_file, now, bounds=bounds)
        self.between = lambda _where: None
        self.writer = NoteWriter(
            self.folder,
            self.journal,
            lookup=Lookup(self.folder, clock=lambda: 0.0),
            random_hex=secrets.token_hex,
            between=lambda where: self.between(where),  # noqa: PLW0108 - it's exchanged later
            **options,
        )

    def close(self):
        self.journal.close()
        self.folder.close()

    def cut_off_at(self, moment):
        """End at the given number of things done to the disk from now on."""
        left = [moment]

        def between(_where):
            left[0] -= 1
            if left[0] < 0:
                raise CutOffError

        self.between = between


def cause(turn="", session="", call_id=""):
    return Cause(call_id or os.urandom(8).hex(), turn, session)


def contents(place):
    """Every file of a vault by path, hidden ones too."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }
