"""Going through the vault within limits: for looking up names, listing and searching."""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from actors.vault.folder import Entry, Folder, Kind
from actors.vault.names import DEEPEST_PATH, folded, is_note, stem
from eris.errors import ErisError

MOST_ENTRIES = 200_000
"""Files and folders looked at in one go."""

LONGEST_SECONDS = 5.0
"""Time for one go through the vault."""


@dataclass
class Budget:
    """What one go through the vault may cost."""

    now: Callable[[], float]
    """A clock that only goes forward, in seconds."""
    deadline: float
    entries: int = MOST_ENTRIES
    spent: bool = False
    """Whether a limit was reached, so that something may have been missed."""
    unreadable: int = 0
    """Folders that couldn't be read."""

    @classmethod
    def starting(cls, now: Callable[[], float], seconds: float = LONGEST_SECONDS) -> "Budget":
        """Return a budget that starts to be used now."""
        return cls(now=now, deadline=now() + seconds)

    def take(self) -> bool:
        """Account for one file or folder; false when the budget is used up."""
        self.entries -= 1
        self.spent = self.spent or self.entries < 0 or self.now() > self.deadline
        return not self.spent


def scan(folder: Folder, budget: Budget) -> Iterator[tuple[Folder, Entry]]:
    """Yield every file and folder below ``folder``, each with the open folder that it's in.

    Sorted by name, files of a folder before its subfolders' content. Links aren't followed: what
    they lead to in the vault is met where it really is. Hidden things are left out.
    """
    try:
        entries = folder.entries()
    except ErisError:
        budget.unreadable += 1
        return
    for entry in entries:
        if not budget.take():
            return
        if entry.kind in {Kind.FILE, Kind.FOLDER}:
            yield folder, entry
    if len(folder.parts) >= DEEPEST_PATH:
        return
    for entry in entries:
        if entry.kind is Kind.FOLDER and not budget.spent:
            try:
                child = folder.enter(entry)
            except ErisError:
                budget.unreadable += 1
                continue
            with child:
                yield from scan(child, budget)


def notes_named(root: Folder, name: str, budget: Budget) -> list[tuple[str, ...]]:
    """Return the notes whose name is ``name``, with or without extension, whatever the case."""
    wanted = folded(name)
    return [
        (*folder.parts, entry.name)
        for folder, entry in scan(root, budget)
        if entry.kind is Kind.FILE
        and (
            folded(entry.raw) == wanted
            or (is_note(entry.name) and folded(stem(entry.name)) == wanted)
        )
    ]


def notes_like(root: Folder, name: str, budget: Budget, most: int = 3) -> list[str]:
    """Return paths of notes whose names are close to ``name``, the closest first."""
    wanted = folded(stem(name))
    by_stem: dict[str, list[str]] = {}
    for folder, entry in scan(root, budget):
        if entry.kind is Kind.FILE and is_note(entry.name):
            by_stem.setdefault(folded(stem(entry.name)), []).append(folder.path(entry.name))
    close = difflib.get_close_matches(wanted, by_stem, n=most, cutoff=0.7)
    close += [
        each
        for each in by_stem
        if wanted in each and each not in close and len(wanted) > 2  # noqa: PLR2004 - too short says nothing
    ]
    return [path for each in close for path in by_stem[each]][:most]
