"""What can be asked of the vault, by people and by tools: one place where both end."""

from actors.vault.service.service import VaultRequest, VaultService

__all__ = ["VaultRequest", "VaultService"]
