"""The gatekeeper: which tools there are, who may use them, and each call carried out once."""
