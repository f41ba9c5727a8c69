"""Run the vault actor as a process."""

from actors.vault.actor import Vault
from eris.actor import run

if __name__ == "__main__":
    run(Vault, "vault")
