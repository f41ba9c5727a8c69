"""The agenda actor: for now, the clock."""
