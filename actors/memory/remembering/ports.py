"""What remembering needs from the rest of the actor, and gets as arguments."""

from collections.abc import Callable, Sequence
from typing import Protocol

from actors.memory.catalogue import Source
from actors.memory.chunking import Chunk
from proto.memory import Kind


class Notes(Protocol):
    """The vault, asked by messages. A failure is an `ErisError` with the vault's code."""

    def create(self, path: str, text: str, key: str) -> str:
        """Make a note and return its path; repeated with its key, the same one.

        Raises:
            ErisError: ``conflict``: there's one already. Anything else that speaks against it.
        """

    def read(self, path: str) -> tuple[str, str]:
        """Return a note's text, and the version that names this state of it.

        Raises:
            ErisError: ``not-found``: there's none.
        """

    def replace(self, path: str, text: str, version: str, key: str) -> None:
        """Write a note anew; repeated with its key, nothing is done.

        Raises:
            ErisError: ``conflict``: it isn't in the state that the version names.
        """

    def move(self, path: str, target: str, key: str) -> str:
        """Give a note another path, with every link to it, and return it; repeated, the same one.

        Raises:
            ErisError: ``conflict``: there's one already. ``not-found``: there's none to be moved.
        """

    def trash(self, path: str, key: str) -> None:
        """Move a note to the trash; repeated with its key, nothing is done.

        Raises:
            ErisError: ``not-found``: there's none.
        """


Similar = Callable[[str, Sequence[Kind], int], Sequence[tuple[str, float, str]]]
"""Source key, cosine and text of what says something like a text."""

Offer = Callable[[Source, Sequence[Chunk]], object]
"""Has a source found from now on, in place of what it said before."""

Withdraw = Callable[[str], object]
"""Has a source, by key, found no longer."""

KnownNote = Callable[[str], str | None]
"""The path of the note of a name, if the vault has one."""
