"""Where the note of a memory goes; pure but for the question whether a path is free."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from eris.vault.titles import name_for_title
from eris.vault.words import tokens

OWN_FOLDER = "Memory"
"""Folder of memories in that of the agent."""

SYNTHESIS = "30_Synthesis"
"""Folder of revisions in the numbered layout."""

_REVISION = re.compile(r"(.*)/r(\d{4,})\.md")
_LONGEST_SLUG = 60
_MOST_OF_ONE_NAME = 50


class NoteLayout(StrEnum):
    """How memories become notes."""

    NOTE = "note"
    """One note for each, changed when the fact changes."""
    REVISIONS = "revisions"
    """A folder for each, with a new note for each change."""


@dataclass(frozen=True)
class Place:
    """The folder of memories and how notes lie in it."""

    folder: str
    layout: NoteLayout = NoteLayout.NOTE

    @classmethod
    def by(cls, layout: str, agent_folder: str) -> "Place":
        """Return the place that settings mean.

        Args:
            layout: `memory.layout`.
            agent_folder: `vault.agent_folder`.
        """
        chosen = NoteLayout(layout)
        own = f"{agent_folder}/{OWN_FOLDER}"
        return cls(SYNTHESIS if chosen is NoteLayout.REVISIONS else own, chosen)

    def first(self, title: str, taken: Callable[[str], bool]) -> str:
        """Return a free path for a new memory.

        Args:
            title: Of the memory.
            taken: Whether there's a note at a path.
        """
        if self.layout is NoteLayout.NOTE:
            name = name_for_title(title)[0].removesuffix(".md")
            paths = (f"{self.folder}/{each}.md" for each in _numbered(name, " "))
        else:
            paths = (f"{self.folder}/{each}/r0001.md" for each in _numbered(slug(title), "-"))
        path = ""
        for path in paths:
            if not taken(path):
                break
        return path

    def following(self, path: str) -> str:
        """Return the path of the next revision; the same one where notes are changed."""
        found = _REVISION.fullmatch(path) if self.layout is NoteLayout.REVISIONS else None
        return f"{found[1]}/r{int(found[2]) + 1:04d}.md" if found else path


def earlier(path: str) -> list[str]:
    """Return the paths of the revisions before this one, the newest first; none of a note."""
    found = _REVISION.fullmatch(path)
    if not found:
        return []
    return [f"{found[1]}/r{number:04d}.md" for number in range(int(found[2]) - 1, 0, -1)]


def stem(path: str) -> str:
    """Return the name of a note, without its folder and `.md`."""
    return path.rpartition("/")[2].removesuffix(".md")


def slug(title: str) -> str:
    """Return the name of a folder for a title: lower case, hyphens between words."""
    name = "-".join(tokens(title))[:_LONGEST_SLUG].strip("-")
    return name_for_title(name)[0].removesuffix(".md").casefold()


def _numbered(name: str, between: str) -> list[str]:
    return [name, *(f"{name}{between}{number}" for number in range(2, _MOST_OF_ONE_NAME))]
