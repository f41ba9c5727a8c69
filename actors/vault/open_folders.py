"""The folders that a step works in, kept open while it does.

That a folder is opened once and then used is what keeps a step inside of the vault, whoever moves
folders meanwhile: hidden files are removed from where they were written. And it makes a step over
thousands of files fast.
"""

import contextlib
import ctypes
import errno
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator

from actors.vault.failures import failure
from actors.vault.folder import Folder
from actors.vault.vault_folder import Place, VaultFolder
from eris.errors import NotFoundError, StorageError

_MOST_OPEN = 64


def parts_of(path: str) -> tuple[str, ...]:
    """Return the names of a path of the journal."""
    return tuple(path.split("/"))


def name_at(place: Place) -> str:
    """Return the name as it's on the disk, or as it would be."""
    return place.entry.raw if place.entry and place.exact else place.name


class OpenFolders:
    """Opens folders by the paths of the journal; keeps them while its ``with`` statement lasts."""

    def __init__(self, vault: VaultFolder) -> None:
        self._vault = vault
        self._open: OrderedDict[str, Folder] = OrderedDict()
        self._depth = 0

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keep folders open until the statement ends; it may be nested."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.forget()

    def forget(self) -> None:
        """Open folders anew from here on: one was renamed, and with it those in it."""
        while self._open:
            self._open.popitem()[1].close()

    def at(self, path: str, *, make: bool = False) -> Place:
        """Return the folder that a path is in, open, and what stands there.

        Args:
            path: A path of the journal.
            make: Make the folders that aren't there.

        Raises:
            NotFoundError: The folder isn't there.
            ErisError: It can't be opened, or made.
        """
        parent, _slash, name = path.rpartition("/")
        folder = self._folder(parent, path, make=make)
        entry = folder.find(name)
        return Place(folder, name, entry, entry.exact if entry else True, linked=False)

    def _folder(self, parent: str, path: str, *, make: bool) -> Folder:
        known = self._open.get(parent)
        if known is not None:
            self._open.move_to_end(parent)
            return known
        with self._vault.locate(parts_of(path), make=make, recorded=True) as place:
            if "/".join(place.folder.parts) != parent and not make:
                raise NotFoundError(f"There is no folder {parent} in the vault.")
            folder = Folder(os.dup(place.folder.descriptor), place.folder.parts)
        self._open[parent] = folder
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return folder

    def sync(self, path: str) -> None:
        """Wait until the names in a path's folder are on the disk.

        Raises:
            StorageError: The disk doesn't say so.
        """
        try:
            os.fsync(self.at(path).folder.descriptor)
        except NotFoundError:
            return
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # Some disks can't do folders.
                raise StorageError(
                    f"{path} was written, but the disk didn't confirm it: {error.strerror}.",
                    hint="Read it to see, and check the disk.",
                ) from error

    def sync_everything(self) -> None:
        """Wait until the whole file system of the vault is on the disk.

        Raises:
            StorageError: The disk doesn't say so.
        """
        with self._vault.root() as root:
            try:
                _sync_file_system(root.descriptor)
            except OSError as error:
                raise failure(error, root.path(), "can't be synced") from error


SYNCS_EVERYTHING = sys.platform == "linux"
"""Whether syncing a whole file system is certain to wait; elsewhere each file is synced."""


def _sync_file_system(descriptor: int) -> None:
    try:
        call = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        os.sync()
        return
    if call(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
