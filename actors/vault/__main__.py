"""Run the vault actor as a process."""

from functools import partial
from typing import Any

from actors.vault.actor import Vault
from actors.vault.tools import vault_tools
from eris.actor import run
from eris.tool_declarations import run_or_declare

if __name__ == "__main__":
    none: Any = None  # only declared: no vault is opened
    run_or_declare(partial(run, Vault, "vault"), lambda: vault_tools(none, none))
