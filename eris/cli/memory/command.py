"""What all commands about the memory have in common."""

from functools import partial

from eris.cli.answering import answering as answering_by
from eris.cli.asking import asking

LONG_SECONDS = 900.0
"""How long an answer may take: reading a large document does."""

answering = answering_by(partial(asking, actor="memory", within=LONG_SECONDS))
"""Makes a command of a function whose first argument asks the memory."""
