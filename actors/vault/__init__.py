"""The vault actor: every read and write of the user's notes."""
