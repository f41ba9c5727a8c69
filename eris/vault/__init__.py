"""What Obsidian's rules say about notes: pure functions over text, without a disk."""
