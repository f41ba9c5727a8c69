"""Going through the vault within limits: for looking up names, listing and searching."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from actors.vault.folder import Entry, Folder, Kind
from actors.vault.names import DEEPEST_PATH
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


def files_below(folder: Folder, budget: Budget) -> list[str]:
    """Return the paths of all files below a folder, sorted."""
    return sorted(
        "/".join((*here.parts, entry.name))
        for here, entry in scan(folder, budget)
        if entry.kind is Kind.FILE
    )
