"""The vault as an open folder: everything in it is reached by descriptor, name by name.

Why: a path that was checked can be swapped for a link before it's used. So no path is ever given
to the system here. The vault is opened once; from there each name is opened inside the folder
before it and refused if it's a link, so that what was checked and what is used are the same open
folder. A link is followed for reading only, by looking up the names it consists of in the same
way, starting from folders that are already open; so it can't lead out of the vault either. Nothing
is ever written through a link.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actors.vault.failures import failure
from actors.vault.folder import Entry, Folder, Kind
from actors.vault.names import check_new_name, refuse_hidden, shown
from eris.errors import (
    ConfigurationError,
    DeniedError,
    InvalidError,
    NotFoundError,
    StorageError,
)
from eris.paths import SETTINGS_FOLDER

_MOST_LINKS = 16


@dataclass(frozen=True)
class Place:
    """Where a path leads: a folder that is open, and a name in it that may not be there."""

    folder: Folder
    name: str
    """The name asked for; empty if the path means the folder itself."""
    entry: Entry | None
    """What stands there, never a link if links were to be followed."""
    exact: bool
    """False if a name on the way was found only without regard to case."""
    linked: bool
    """Whether a link was followed on the way."""

    @property
    def path(self) -> str:
        """The path, relative to the vault, with the names that are on the disk, for people."""
        return self.folder.path(self.entry.name if self.entry else self.name)

    @property
    def real_path(self) -> str:
        """The same for programs: nothing in it is escaped."""
        name = self.entry.name if self.entry else self.name
        return "/".join((*self.folder.parts, name))


class VaultFolder:
    """The vault, held open."""

    def __init__(self, path: Path) -> None:
        """Open the vault.

        Raises:
            ConfigurationError: It isn't a folder that can be read.
        """
        self._path = path
        self._lock = threading.Lock()
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with os.scandir(self._descriptor):
                pass
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"The vault {path} can't be opened: {getattr(error, 'strerror', error)}.",
                hint="Check that the folder is there and can be read, or name another vault.",
            ) from error
        self._marked = self._has_settings(self._descriptor)

    def close(self) -> None:
        """Close it; operations under way keep their own descriptors."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    @staticmethod
    def _has_settings(descriptor: int) -> bool:
        try:
            os.stat(SETTINGS_FOLDER, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def root(self) -> Folder:
        """Return the vault itself, opened anew.

        A vault that was taken away and came back, such as one on a removable disk, is found again;
        an empty folder in its place isn't taken for it.

        Raises:
            StorageError: The folder isn't there any more.
        """
        with self._lock:
            try:
                here = self._path.stat()
                if not os.path.samestat(here, os.fstat(self._descriptor)):
                    self._reopen()
                return Folder(os.dup(self._descriptor), ())
            except OSError as error:
                raise StorageError(
                    f"The vault {self._path} isn't there any more: {error.strerror}.",
                    hint="Put the folder back, or connect its disk.",
                ) from error

    def _reopen(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if self._marked and not self._has_settings(descriptor):
            os.close(descriptor)
            raise StorageError(
                f"The folder {self._path} was replaced by another that isn't a vault.",
                hint="Put the vault back, or connect its disk.",
            )
        os.dup2(descriptor, self._descriptor, inheritable=False)
        os.close(descriptor)

    @contextlib.contextmanager
    def locate(
        self,
        parts: tuple[str, ...],
        *,
        follow: bool = False,
        make: bool = False,
        recorded: bool = False,
    ) -> Iterator[Place]:
        """Find where a path leads; the folder is open until the ``with`` statement ends.

        Args:
            parts: Names, as `names.parse_path` returns them.
            follow: Follow links that stay in the vault; otherwise a link on the way is refused,
                and one at the end is returned as such.
            make: Make the folders on the way that aren't there.
            recorded: The path comes from the vault's own journal, where it was checked before: it
                may lead into the trash, and have names that wouldn't be given to a new note.

        Raises:
            NotFoundError: A folder on the way isn't there.
            InvalidError: Something on the way isn't a folder, or a new name isn't sound.
            DeniedError: A link is in the way, or leads out of the vault or to something hidden.
            ConflictError: A name is ambiguous.
            StorageError: The system refused.
        """
        walk = _Walk(self.root(), self._path, parts, recorded=recorded)
        try:
            yield walk.run(follow=follow, make=make)
        finally:
            walk.close()

    @contextlib.contextmanager
    def open(self, parts: tuple[str, ...]) -> Iterator[Folder]:
        """Open a folder of the vault for listing, following links that stay in it.

        Raises:
            ErisError: As `locate`.
        """
        with self.locate(parts, follow=True) as place:
            if not place.name:
                yield place.folder
                return
            if place.entry is None:
                raise NotFoundError(f"There is no folder {place.path} in the vault.")
            if place.entry.kind is not Kind.FOLDER:
                raise InvalidError(
                    f"{place.path} is a note, not a folder.", hint="Read it with vault:read."
                )
            with place.folder.enter(place.entry) as folder:
                yield folder


class _Walk:
    """One path being followed, name by name, with every folder on the way kept open."""

    def __init__(
        self, root: Folder, vault: Path, parts: tuple[str, ...], *, recorded: bool
    ) -> None:
        self._vault = vault
        self._recorded = recorded
        self._asked = "/".join(parts)
        self._stack = [root]
        self._left = list(reversed(parts))
        self._links = 0
        self._exact = True

    def close(self) -> None:
        for folder in self._stack:
            folder.close()

    def run(self, *, follow: bool, make: bool) -> Place:
        while self._left:
            name = self._left.pop()
            here = self._stack[-1]
            if name == "..":  # Only ever from a link: the folder it came through, still open.
                self._climb()
                continue
            if not self._recorded:
                refuse_hidden(name, self._asked)
            entry = here.find(name)
            if entry:
                self._exact = self._exact and entry.exact
            if entry and entry.kind is Kind.LINK and follow:
                self._expand(here, entry)
            elif not self._left:
                return self._place(name, entry)
            elif entry is None:
                self._stack.append(self._missing(here, name, make=make))
            else:
                self._stack.append(self._enter(here, entry))
        return self._place("", None)

    def _place(self, name: str, entry: Entry | None) -> Place:
        return Place(self._stack[-1], name, entry, self._exact, bool(self._links))

    def _enter(self, here: Folder, entry: Entry) -> Folder:
        path = here.path(entry.name)
        match entry.kind:
            case Kind.FOLDER:
                return here.enter(entry)
            case Kind.LINK:
                raise DeniedError(
                    f"{path} is a link; notes aren't written through links.",
                    hint="Use the path of the real folder.",
                )
            case Kind.FILE | Kind.OTHER:
                raise InvalidError(f"{path} is not a folder, so nothing can be in it.")

    def _missing(self, here: Folder, name: str, *, make: bool) -> Folder:
        if not make:
            raise NotFoundError(f"There is no folder {here.path(shown(name))} in the vault.")
        for coming in (name, *reversed(self._left)):  # All of them, before the first is made.
            if not self._recorded:
                check_new_name(coming, self._asked)
        return here.make(name)

    def _climb(self) -> None:
        if len(self._stack) == 1:
            raise self._outside()
        self._stack.pop().close()

    def _outside(self) -> DeniedError:
        return DeniedError(
            f"{self._asked} is a link that leads out of the vault.",
            hint="Use a note inside the vault.",
        )

    def _expand(self, here: Folder, entry: Entry) -> None:
        """Put the names of a link's target in place of the link."""
        self._links += 1
        if self._links > _MOST_LINKS:
            raise DeniedError(f"{self._asked} is a chain of too many links.")
        try:
            target = os.readlink(entry.raw, dir_fd=here.descriptor)
        except OSError as error:
            raise failure(error, here.path(entry.name), "can't be opened") from error
        if target.startswith("/"):
            try:
                target = str(Path(target).relative_to(self._vault))
            except ValueError:
                raise self._outside() from None
            while len(self._stack) > 1:
                self._stack.pop().close()
        names = [name for name in target.split("/") if name not in {"", "."}]
        self._left.extend(reversed(names))
