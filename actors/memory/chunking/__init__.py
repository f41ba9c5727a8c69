"""Pieces of text small enough to be embedded: of notes, pages of documents, turns of talks.

Pure functions: text in, chunks out. How long a text is, the embedder's own tokenizer says.
"""

from actors.memory.chunking.chunk import VERSION, Chunk, NoteChunks, TokenCount
from actors.memory.chunking.notes import chunk_note
from actors.memory.chunking.pages import chunk_page, chunk_turn

__all__ = ["VERSION", "Chunk", "NoteChunks", "TokenCount", "chunk_note", "chunk_page", "chunk_turn"]
