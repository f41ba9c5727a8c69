"""Carrying a step out on the disk, and finishing it or taking it back after an interruption.

The order that makes a step whole or nothing:

1. The journal has committed all contents before and after, and every hidden name.
2. Folders are made, and all new contents are written to hidden files beside their places. For a
   few files each is synced; for many, the whole file system is once. Now nothing can fail any more
   for want of room.
3. One file after the other gets its content: an exchange, a rename to a free name, or an unlink.
4. Then files and folders that move are renamed, one after the other, once 3 is on the disk.
5. The folders are synced, and the journal says that it's done.

If that fails or ends anywhere, the disk tells how far it came, since everything happens in one
order: a file that moved means that all are written; a file that's written means that all before it
are. If nothing was done, the step hasn't happened. Otherwise it's finished, unless somebody has
meanwhile changed a file that was still to be written, or taken a name: then what was done to the
others is taken back, that file is left as it is, and it's reported. What somebody did to a file
after its turn is a later edit, and stays.

What is guaranteed: a step that was reported as done is on the disk, also after a loss of power; one
that wasn't is done or not as a whole once `settle` was called. While a step with many files is
being carried out, somebody who looks sees some of them changed already and others not yet.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from actors.vault.failures import failure
from actors.vault.folder import Kind
from actors.vault.names import TEMPORARY_NAME
from actors.vault.open_folders import SYNCS_EVERYTHING, OpenFolders, name_at, parts_of
from actors.vault.renaming import rename_new
from actors.vault.replacing import (
    ChangedMeanwhileError,
    digest_at,
    place_new,
    place_over,
    put_back,
    read_file,
    take_away,
    write_temporary,
)
from actors.vault.steps import Change, Rename, Write
from actors.vault.vault_folder import Place, VaultFolder
from eris.errors import ConflictError, ErisError, InvalidError, NotFoundError

_FEW = 8
"""Up to so many files, each is synced by itself; above, the file system as a whole."""


class Standing(Enum):
    """How far a change came."""

    BEFORE = "before"
    AFTER = "after"
    FOREIGN = "foreign"
    """Neither: somebody else changed the file."""


@dataclass
class Settled:
    """What became of an interrupted step."""

    done: bool = False
    foreign: list[str] = field(default_factory=list)
    """Files that somebody else had changed; they were left as they are."""
    stuck: list[str] = field(default_factory=list)
    """Files that couldn't be taken back, since their old place is taken."""
    recovered: list[str] = field(default_factory=list)
    """Files that hold what somebody else saved at the very moment of the interruption."""


def _go_on(_where: str) -> None:
    pass


class Disk:
    """Carries out changes in the vault."""

    def __init__(
        self,
        vault: VaultFolder,
        content: Callable[[str], bytes],
        between: Callable[[str], None] = _go_on,
    ) -> None:
        """Create it.

        Args:
            vault: The vault.
            content: Returns the content that a digest names.
            between: Called between any two things that are done to the disk, with the name of the
                next: where a test cuts a step off, or edits a file.
        """
        self._vault = vault
        self._folders = OpenFolders(vault)
        self._content = content
        self._between = between

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Keep the folders of a step open until it's carried out, or taken back."""
        with self._folders.kept():
            yield

    def carry_out(self, changes: Sequence[Change]) -> None:
        """Make all changes. If it raises, call `take_back`.

        Raises:
            ChangedMeanwhileError: A file isn't as it was.
            ErisError: The system refused.
        """
        with self._folders.kept():
            many = len(changes) > _FEW and SYNCS_EVERYTHING
            for change in changes:
                self._prepare(change, sync=not many)
            if many:
                self._folders.sync_everything()
            self._apply_all(changes)

    def confirm(self, changes: Sequence[Change]) -> None:
        """Wait until the names of all files of a step are on the disk.

        Raises:
            StorageError: The disk doesn't say that they are; they were changed all the same.
        """
        paths = {path.rpartition("/")[0]: path for change in changes for path in _paths(change)}
        with self._folders.kept():
            if len(paths) > _FEW and SYNCS_EVERYTHING:
                self._folders.sync_everything()
                return
            for path in paths.values():
                self._folders.sync(path)

    def settle(self, changes: Sequence[Change], folders: Sequence[str]) -> Settled:
        """Finish an interrupted step, or take it back.

        Args:
            changes: Its changes.
            folders: Folders that were made for it, the outermost first.

        Raises:
            ErisError: It couldn't be looked at or settled now; try again later.
        """
        with self._folders.kept():
            recovered = self._clear_temporaries(changes)
            states = [self._standing(change) for change in changes]
            reached = [at for at, state in enumerate(states) if state is Standing.AFTER]
            if reached and isinstance(changes[reached[-1]], Rename):
                # All writes are done; only renames can be left, which their paths don't hide.
                states = [
                    state if isinstance(change, Rename) else Standing.AFTER
                    for change, state in zip(changes, states, strict=True)
                ]
            ahead = range(reached[-1] + 1 if reached else 0, len(changes))
            foreign = [_name(changes[at]) for at in ahead if states[at] is Standing.FOREIGN]
            if not reached:
                self.remove_folders(folders)
                return Settled(foreign=foreign, recovered=recovered)
            left = [
                change
                for change, state in zip(changes, states, strict=True)
                if state is Standing.BEFORE
            ]
            with contextlib.suppress(ConflictError):  # A name that it needs was taken meanwhile.
                if not foreign:
                    for change in left:
                        self._prepare(change, sync=True)
                    self._apply_all(left)
                    self.confirm(changes)
                    return Settled(done=True, recovered=recovered)
            settled = self.take_back(changes, folders)
            settled.recovered += recovered
            return settled

    def take_back(self, changes: Sequence[Change], folders: Sequence[str]) -> Settled:
        """Take back what was done of a step; files that somebody else changed are left.

        Args:
            changes: Its changes.
            folders: Folders that were made for it, the outermost first; empty ones are removed.

        Raises:
            ErisError: It couldn't be taken back; the journal still says what to do.
        """
        with self._folders.kept():
            settled = Settled(recovered=self._clear_temporaries(changes))
            for change in reversed(changes):
                match self._standing(change):
                    case Standing.AFTER:
                        try:
                            self._prepare(change.inverse(), sync=True)
                            self._apply(change.inverse())
                        except ConflictError:
                            settled.recovered += self._clear_temporaries([change])
                            settled.stuck.append(_name(change))
                    case Standing.FOREIGN:
                        settled.foreign.append(_name(change))
                    case Standing.BEFORE:
                        pass
            self.confirm(changes)
            self.remove_folders(folders)
            return settled

    def remove_folders(self, folders: Sequence[str]) -> None:
        """Remove folders that were made for a step, where they are empty."""
        with self._folders.kept():
            for path in reversed(folders):
                with contextlib.suppress(ErisError):
                    place = self._folders.at(path)
                    place.folder.remove(name_at(place))

    # One change.

    def _prepare(self, change: Change, *, sync: bool) -> None:
        """Make the folders that a change needs, and write its new content to its hidden file."""
        if isinstance(change, Rename):
            self._folders.at(change.new_path, make=True)
            return
        if not change.after:
            return
        folder = self._folders.at(change.path, make=True).folder
        content = self._content(change.after)
        self._between(f"prepare {change.path}")
        try:
            write_temporary(folder, change.temporary, content, mode=change.mode, sync=sync)
        except OSError as error:
            raise _not_written(error, change) from error

    def _apply_all(self, changes: Sequence[Change]) -> None:
        writes = [change for change in changes if isinstance(change, Write)]
        for write in writes:
            self._apply(write)
        renames = [change for change in changes if isinstance(change, Rename)]
        if writes and renames:  # A rename that's on the disk must mean that the writes are.
            self.confirm(writes)
        for rename in renames:
            self._apply(rename)

    def _apply(self, change: Change) -> None:
        self._between(f"apply {_name(change)}")
        try:
            if isinstance(change, Rename):
                self._rename(change)
                return
            place = self._folders.at(change.path)
            folder, name, between = place.folder, name_at(place), self._between
            if not change.after:
                take_away(folder, name, change.temporary, before=change.before, between=between)
            elif not change.before:
                place_new(folder, change.temporary, name)
            else:
                place_over(folder, name, change, between)
        except OSError as error:
            raise _not_written(error, change) from error

    def _rename(self, change: Rename) -> None:
        source, target = self._folders.at(change.path), self._folders.at(change.new_path)
        if source.entry is None or not source.exact:
            raise ChangedMeanwhileError(
                f"{change.path} isn't there any more, so it wasn't moved.",
                hint="List the folder to see what there is.",
            )
        here, there = source.folder.descriptor, target.folder.descriptor
        name, new_name = source.entry.raw, parts_of(change.new_path)[-1]
        try:
            rename_new(here, name, there, new_name)
        except FileExistsError as error:
            in_the_way = self._folders.at(change.new_path)
            if not in_the_way.exact and in_the_way.real_path == change.path:
                # The file itself: only its capitals change, and the disk ignores them.
                os.rename(name, new_name, src_dir_fd=here, dst_dir_fd=there)
            elif source.folder.inode(name) == target.folder.inode(new_name):
                os.unlink(name, dir_fd=here)  # A rename by a hard link, cut off in the middle.
            else:
                raise ConflictError(
                    f"There is a {change.new_path} already, so {change.path} wasn't moved.",
                    hint="Choose another name.",
                ) from error
        if source.entry.kind is Kind.FOLDER:
            self._folders.forget()

    # How far a change came.

    def _standing(self, change: Change) -> Standing:
        if isinstance(change, Rename):
            return self._renamed(change)
        now = self._digest(change.path)
        if now == change.after:
            return Standing.AFTER
        return Standing.BEFORE if now == change.before else Standing.FOREIGN

    def _renamed(self, change: Rename) -> Standing:
        old, new = self._inode(change.path), self._inode(change.new_path)
        if old and old == new:  # A rename by a hard link, cut off in the middle.
            return Standing.BEFORE
        if old and new:  # One of the two files isn't ours.
            if change.inode in {old, new}:
                return Standing.AFTER if change.inode == new else Standing.BEFORE
            written = change.digest and self._digest(change.new_path) == change.digest
            return Standing.AFTER if written else Standing.BEFORE
        if old:
            return Standing.BEFORE
        return Standing.AFTER if new else Standing.FOREIGN

    def _digest(self, path: str) -> str:
        place = self._place(path)
        return digest_at(place.folder, name_at(place)) if place else ""

    def _inode(self, path: str) -> int:
        """The number of what has exactly this name; 0 if nothing has."""
        place = self._place(path)
        return place.folder.inode(place.entry.raw) if place and place.entry and place.exact else 0

    def _place(self, path: str) -> Place | None:
        try:
            return self._folders.at(path)
        except (NotFoundError, InvalidError):  # A folder on the way is gone, or is none any more.
            return None

    # Hidden files that were left over.

    def _clear_temporaries(self, changes: Sequence[Change]) -> list[str]:
        """Remove hidden files that were left; what isn't ours is somebody's and is made visible.

        Returns:
            Paths of files that hold what somebody saved at the very moment of an interruption.
        """
        visible = []
        for change in changes:
            if not isinstance(change, Write) or not TEMPORARY_NAME.fullmatch(change.temporary):
                continue
            place = self._place(change.path)
            entry = place.folder.find(change.temporary) if place else None
            if place is None or entry is None or entry.kind is not Kind.FILE:
                continue
            try:
                data = read_file(place.folder, entry).data
            except InvalidError:  # Too large to be ours.
                data = None
            if data is not None and self._is_ours(data, change):
                os.unlink(change.temporary, dir_fd=place.folder.descriptor)
            else:
                name = put_back(place.folder, change.temporary, name_at(place))
                visible.append(place.folder.path(name))
        return visible

    def _is_ours(self, data: bytes, change: Write) -> bool:
        """Whether a hidden file is what we have written, perhaps only in part, or took out."""
        written = data.rstrip(b"\0")  # A machine that lost its power may leave zeros behind.
        return any(
            self._content(digest).startswith(written)
            for digest in (change.after, change.before)
            if digest
        )


def _paths(change: Change) -> tuple[str, ...]:
    return (change.path, change.new_path) if isinstance(change, Rename) else (change.path,)


def _name(change: Change) -> str:
    return _paths(change)[-1]


def _not_written(error: OSError, change: Change) -> ErisError:
    return failure(error, _name(change), "wasn't written, and nothing was changed")
