"""What the journal knows of one note: its versions, their differences, and who wrote which line."""

from collections.abc import Mapping
from dataclasses import dataclass

from actors.vault.journal import Journal
from actors.vault.open_folders import parts_of
from actors.vault.replacing import VERSION_DIGITS, read_file
from actors.vault.steps import RESTORED, Change, Recorded, Rename, Write
from actors.vault.text import decode
from actors.vault.vault_folder import VaultFolder
from eris.errors import InvalidError, NotFoundError
from eris.vault.blame import BlamedLine, Written, blame
from eris.vault.line_changes import unified

_MOST_VERSIONS = 1000


@dataclass(frozen=True)
class Version:
    """What a step did to a note."""

    step: Recorded
    change: Change
    path: str
    """What the note was called after it; what it was called before if it removed the note."""

    @property
    def version(self) -> str:
        """Name of the content after it; empty if there's none, or it isn't kept."""
        change = self.change
        digest = change.digest if isinstance(change, Rename) else change.after
        return digest[:VERSION_DIGITS]


@dataclass(frozen=True)
class Blamed:
    """The lines of a note, and the steps that wrote them."""

    lines: list[BlamedLine[int]]
    """Each with its step's number; none for the user or another program."""
    steps: Mapping[int, Recorded]


class History:
    """Looks notes up in the journal."""

    def __init__(self, vault: VaultFolder, journal: Journal) -> None:
        """Create it.

        Args:
            vault: The vault.
            journal: The journal of its steps.
        """
        self._vault = vault
        self._journal = journal

    def latest(self, count: int, *, session: str = "") -> list[Recorded]:
        """Return the last steps, the newest first.

        Args:
            count: How many at most.
            session: Only those of this session; all if empty.
        """
        return self._journal.latest(count, session=session)

    def versions(self, path: str, count: int = _MOST_VERSIONS) -> list[Version]:
        """Return a note's versions, the newest first, also from before it was renamed.

        One that was removed and restored goes on from what it was before.

        Args:
            path: The note's path as it is, or as it was last; relative to the vault.
            count: How many at most.
        """
        versions: list[Version] = []
        steps: dict[int, Recorded] = {}
        for number, change in reversed(self._journal.changes()):
            if len(versions) == count:
                break
            before = change.inverse().moved(path) if isinstance(change, Rename) else path
            if path != change.path and before == path:
                continue
            if number not in steps:
                steps[number] = self._journal.step(number)
            versions.append(Version(steps[number], change, path))
            path = before
            made = isinstance(change, Write) and not change.before
            if made and steps[number].receipt.action != RESTORED:
                break
        return versions

    def diff_step(self, number: int, path: str = "") -> str:
        """Return what a step changed, as a unified diff.

        Args:
            number: The step.
            path: Only this note; all of the step's if empty.

        Raises:
            NotFoundError: There is no such step, it didn't touch the note, or its contents aren't
                kept any more.
        """
        step = self._journal.step(number)
        changes = [
            change
            for change in step.changes
            if path in {"", change.path}
            or (isinstance(change, Rename) and change.moved(change.path) == path)
        ]
        if not changes:
            raise NotFoundError(
                f"Step {number} ({step.line}) has no changes of {path or 'notes'} on record.",
                hint="Look at the history of the note for the right step.",
            )
        return "".join(map(self._difference, changes))

    def _difference(self, change: Change) -> str:
        if isinstance(change, Rename):
            return f"rename from {change.path}\nrename to {change.new_path}\n"
        old_name = change.path if change.before else "/dev/null"
        new_name = change.path if change.after else "/dev/null"
        old, new = (self._journal.content(digest) for digest in (change.before, change.after))
        try:
            return unified(decode(old, change.path), decode(new, change.path), old_name, new_name)
        except InvalidError:
            return f"Binary files {old_name} and {new_name} differ\n"

    def diff_version(self, path: str, version: str) -> str:
        """Return what was changed in a note since a version, as a unified diff.

        Raises:
            NotFoundError: The note has no such version, or isn't there.
            InvalidError: It isn't text.
        """
        old, now = self.content(path, version), self._current(path)
        return unified(decode(old, path), decode(now, path), f"{path} ({version})", path)

    def blame(self, path: str) -> Blamed:
        """Return the lines of a note, each with the step that wrote it.

        Raises:
            NotFoundError: There is no such note.
            InvalidError: It isn't UTF-8 text.
        """
        now = decode(self._current(path), path)
        writes: list[Written[int]] = []
        steps: dict[int, Recorded] = {}
        for each in reversed(self.versions(path)):
            if isinstance(each.change, Rename):
                continue
            try:
                before, after = (
                    decode(self._journal.content(digest), path)
                    for digest in (each.change.before, each.change.after)
                )
            except InvalidError:  # It wasn't text then; what followed is all that counts.
                continue
            writes.append(Written(each.step.number, before, after))
            steps[each.step.number] = each.step
        return Blamed(blame(writes, now), steps)

    def content(self, path: str, version: str) -> bytes:
        """Return a version of a note: what it was before or after one of its steps.

        Raises:
            NotFoundError: The note has no such version.
        """
        for each in self.versions(path):
            change = each.change
            digests = (
                (change.digest,) if isinstance(change, Rename) else (change.after, change.before)
            )
            for digest in digests:
                if version and digest.startswith(version):
                    return self._journal.content(digest)
        raise NotFoundError(
            f"{path} has no version {version}.",
            hint="Look at its history for the versions that are kept.",
        )

    def _current(self, path: str) -> bytes:
        with self._vault.locate(parts_of(path)) as place:
            if place.entry is None or not place.exact:
                raise NotFoundError(f"There is no note {path} in the vault.")
            return read_file(place.folder, place.entry).data
