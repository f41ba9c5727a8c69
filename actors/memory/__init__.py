"""The memory: for now, the embedder as a service."""
