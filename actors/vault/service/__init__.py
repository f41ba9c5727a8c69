"""What can be asked of the vault, by people and by tools: one place where both end."""

from actors.vault.service.service import VaultService

__all__ = ["VaultService"]
