"""The vault actor: opens the vault and its record of writes, and offers the tools."""

import secrets
import time

from actors.vault.ledger import WriteLedger
from actors.vault.reading import Reader
from actors.vault.tools import vault_tools
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import Writer
from eris.tools import ToolBox, ToolOwner


class Vault(ToolOwner):
    """Owns the folder of notes: nobody else in Eris opens it."""

    def started(self) -> None:
        """Open the vault and settle what a crash interrupted.

        Raises:
            ConfigurationError: The vault or the record of writes can't be opened.
        """
        self._folder = VaultFolder(self.port.paths.vault)
        self._ledger = WriteLedger(self.port.paths.state / "vault.sqlite", time.time)
        self._writer = Writer(
            self._folder, self._ledger, clock=time.monotonic, random_hex=secrets.token_hex
        )
        for intent, state in self._writer.recover():
            self.port.log.warning(
                "interrupted-write",
                path=intent.receipt.path,
                call=intent.call_id,
                state=state.value if state else "not-written",
            )
        self.toolbox = ToolBox(
            vault_tools(
                self._folder,
                Reader(self._folder, clock=time.monotonic),
                self._writer,
                clock=time.monotonic,
            )
        )
        super().started()

    def drain(self) -> None:
        """Finish the write under way."""
        self._writer.stop()
        self._ledger.close()
