"""Models behind a server: the same messages, the same checks, HTTP in between."""
