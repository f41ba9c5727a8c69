"""`eris vault` and `eris undo`: notes from the command line, while the Obsidian app is closed.

The commands have the names, and take the words, of Obsidian's own command line. Each is a question
to the vault actor (`proto.vault`), a function that tells the answer as text, and the same answer
as a JSON document.
"""

from eris.cli.vault import finding, reading, writing
from eris.cli.vault.group import vault
from eris.cli.vault.past import undo

__all__ = ["finding", "reading", "undo", "vault", "writing"]
