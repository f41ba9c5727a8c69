"""The router: which tools fit what the user said."""
