"""Working out a step completely before anything is touched: what each file is, and will be.

This is also the one place where it's decided what may be written at all: no hidden names, nothing
through a link, nothing in a folder that is read-only for tools, no file marked as read-only, no
name that another system can't store.
"""

import codecs
import contextlib
from collections.abc import Callable, Iterable, Iterator

import msgspec

from actors.vault.folder import Kind
from actors.vault.names import check_new_name, folded, parse_path, shown
from actors.vault.replacing import MOST_BYTES, ChangedMeanwhileError, Content, digest_of, read_file
from actors.vault.steps import TRASH, Change, Rename, Write
from actors.vault.text import decode, encode
from actors.vault.vault_folder import Place, VaultFolder
from eris.errors import ConflictError, DeniedError, ErisError, InvalidError, NotFoundError

Edit = Callable[[str], str]
"""A pure function over a note's text, which it gets without its byte order mark."""


class Locked:
    """Folders and files that nothing may be written to; the user says which."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """Create it.

        Args:
            paths: Relative to the vault.

        Raises:
            ErisError: One isn't a path in the vault.
        """
        self._paths = {folded("/".join(parse_path(path))): path for path in paths}

    def refuse(self, path: str, *, whole: bool) -> None:
        """Refuse a path that may not be written to.

        Args:
            path: As it is, or will be, on the disk.
            whole: Whether it's a folder with all that is in it.

        Raises:
            DeniedError: It may not.
        """
        key = folded(path)
        for locked, name in self._paths.items():
            inside = key == locked or key.startswith(f"{locked}/")
            if inside or (whole and locked.startswith(f"{key}/")):
                raise DeniedError(
                    f"{shown(path)} wasn't changed: {name} is read-only for tools.",
                    hint="Write to another folder; the user can allow it in the settings.",
                )


class Plan:
    """A step being worked out; nothing of it happens before it's in the journal.

    Every method reads what is there and checks that it may be done, and raises an `ErisError` whose
    sentence names the file if not. All paths are those before the step. What wouldn't change
    anything is left out.
    """

    def __init__(
        self,
        vault: VaultFolder,
        locked: Locked,
        random_hex: Callable[[int], str],
        *,
        recorded: bool = False,
    ) -> None:
        """Begin an empty plan.

        Args:
            vault: The vault.
            locked: What may not be written to.
            random_hex: Returns so many random bytes in hexadecimal.
            recorded: Whether the paths come from the journal, as for an undo; then they may lead
                to the trash, and have names that a new note wouldn't be given.
        """
        self._vault = vault
        self._locked = locked
        self._random_hex = random_hex
        self._recorded = recorded
        self._writes: dict[str, Write] = {}
        self._renames: dict[str, Rename] = {}
        self.contents: dict[str, bytes] = {}
        """Every content that the changes name, by digest."""
        self.folders: list[str] = []
        """Folders that have to be made, the outermost first."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """All writes, then all renames."""
        renames = [
            msgspec.structs.replace(rename, digest=self._writes[path].after, inode=0)
            if path in self._writes
            else rename
            for path, rename in self._renames.items()
        ]
        return (*self._writes.values(), *renames)

    def create(self, path: str, content: bytes, mode: int = 0) -> str:
        """Make a new file, whose name must be free; returns its path as it will be.

        Args:
            path: The path.
            content: All of it.
            mode: Its permissions; 0 for those that a new file in its folder gets.
        """
        real = self._free(path)
        digest = self._keep(_checked_size(content, real))
        self._add_write(Write(path=real, after=digest, mode=mode, temporary=self._temporary()))
        return real

    def rewrite(self, path: str, content: bytes | Edit, expected: str = "") -> str:
        """Give a file another content; returns its path as it is on the disk.

        Args:
            path: The path.
            content: The new content, or what makes it from the old text.
            expected: Digest that the file must have; whatever it has if empty.
        """
        real, old = self._file(path, expected)
        data = content if isinstance(content, bytes) else edited(old.data, real, content)
        if data == old.data:
            return real
        if not old.mode & 0o222:
            raise DeniedError(
                f"{real} is marked as read-only, so it wasn't changed.",
                hint="Write to another note, or make this one writable.",
            )
        before, after = self._keep(old.data), self._keep(_checked_size(data, real))
        self._add_write(
            Write(path=real, before=before, after=after, mode=old.mode, temporary=self._temporary())
        )
        return real

    def relink(self, path: str, edit: Edit) -> bool:
        """Give a file another content if it may be written to; otherwise it's left as it is.

        Args:
            path: The path.
            edit: What makes its new text from the old one.

        Returns:
            False if it was left though its text would have changed.
        """
        try:
            self.rewrite(path, edit)
        except (DeniedError, InvalidError):
            return not self._would_change(path, edit)
        except NotFoundError:  # Removed at this moment.
            pass
        return True

    def _would_change(self, path: str, edit: Edit) -> bool:
        with self._vault.locate(self._parts(path)) as place:
            if place.entry is None:
                return False
            try:
                data = read_file(place.folder, place.entry).data
            except ErisError:  # Too large, or a link by now; who knows what it says.
                return True
        try:
            return edited(data, place.real_path, edit) != data
        except InvalidError:  # It isn't text.
            return False

    def remove(self, path: str, expected: str) -> None:
        """Remove a file for good; only the journal keeps its content.

        Args:
            path: The path.
            expected: Digest that the file must have.
        """
        real, old = self._file(path, expected)
        before = self._keep(old.data)
        self._add_write(Write(path=real, before=before, mode=old.mode, temporary=self._temporary()))

    def move(self, path: str, target: str) -> str:
        """Give a file or folder another path, which must be free; returns it as it will be."""
        with self._there(path) as place:
            real, is_folder = place.real_path, _is_folder(place)
            inode = place.folder.inode(_raw(place))
        self._locked.refuse(real, whole=is_folder)
        if is_folder and folded(target).startswith(f"{folded(real)}/"):
            raise InvalidError(
                f"The folder {real} can't be moved into itself.", hint="Name another folder."
            )
        new = self._free(target, own=real)
        if new != real:
            self._add_rename(Rename(path=real, new_path=new, inode=inode))
        return new

    def trash(self, path: str) -> str:
        """Put a file or folder into the vault's trash, where it keeps its path; returns that.

        The journal keeps the content too, unless it's too large: the trash may be emptied.
        """
        with self._there(path) as place:
            real, is_folder = place.real_path, _is_folder(place)
            inode, digest = place.folder.inode(_raw(place)), ""
            if place.entry and not is_folder:
                with contextlib.suppress(InvalidError):
                    digest = self._keep(read_file(place.folder, place.entry).data)
        self._locked.refuse(real, whole=is_folder)
        new = self._in_trash(real)
        self._add_rename(Rename(path=real, new_path=new, digest=digest, inode=inode))
        return new

    # Taking in.

    def _keep(self, data: bytes) -> str:
        digest = digest_of(data)
        self.contents[digest] = data
        return digest

    def _temporary(self) -> str:
        return f".eris-{self._random_hex(8)}.tmp"

    def _add_write(self, write: Write) -> None:
        if write.path in self._writes:
            raise InvalidError(f"{write.path} is named twice in one step.", hint="Make two steps.")
        self._writes[write.path] = write

    def _add_rename(self, rename: Rename) -> None:
        """Take a rename in; of renames that depend on each other, nobody could tell the order."""
        for path in (rename.path, rename.new_path):
            for known in self._renames.values():
                for other in (known.path, known.new_path):
                    if path == other or f"{path}/".startswith(f"{other}/"):
                        raise _entangled(path, other)
                    if f"{other}/".startswith(f"{path}/"):
                        raise _entangled(other, path)
        self._renames[rename.path] = rename

    # Finding files, and names for new ones.

    @contextlib.contextmanager
    def _there(self, path: str) -> Iterator[Place]:
        """Something that must be there, under exactly this path, and a file or folder."""
        parts = self._parts(path)
        if not parts:
            raise InvalidError("The vault itself can't be changed.", hint="Name a note in it.")
        with self._vault.locate(parts, recorded=self._recorded) as place:
            if place.entry is None or not place.exact:
                like = f" Did you mean {place.path}?" if place.entry else ""
                raise NotFoundError(
                    f"There is no {shown(path)} in the vault.",
                    hint=f"Use the path that vault:list shows.{like}",
                )
            if place.entry.kind is Kind.LINK:
                raise DeniedError(
                    f"{place.path} is a link; notes aren't written through links.",
                    hint="Use the path of the real note.",
                )
            if place.entry.kind is Kind.OTHER:
                raise InvalidError(f"{place.path} is a pipe, socket or device, not a note.")
            yield place

    def _file(self, path: str, expected: str) -> tuple[str, Content]:
        with self._there(path) as place:
            real = place.real_path
            self._locked.refuse(real, whole=False)
            if place.entry is None:
                raise NotFoundError(f"There is no {real} in the vault.")
            content = read_file(place.folder, place.entry)
        if expected and content.digest != expected:
            raise ChangedMeanwhileError(
                f"{real} was changed by somebody else since, so it wasn't written.",
                hint="Read it again, then write.",
            )
        return real, content

    def _free(self, path: str, *, own: str = "") -> str:
        """Return the path for something new, as it will be, and note the folders it needs."""
        parts = self._parts(path)
        if not parts:
            raise InvalidError("The path is empty.", hint="Name a note, such as notes/today.md.")
        there = self._existing(parts, own)
        made = parts[len(there) :]
        real = "/".join((*there, *made))
        self._locked.refuse(real, whole=False)
        for name in () if self._recorded else made:
            check_new_name(name, real)
        for end in range(len(there) + 1, len(parts)):
            folder = "/".join((*there, *made)[:end])
            if folder not in self.folders:
                self.folders.append(folder)
        return real

    def _existing(self, parts: tuple[str, ...], own: str) -> tuple[str, ...]:
        """The folders on a path that are there, with their names as on the disk.

        Raises:
            ConflictError: The whole path is there, and isn't the file that is being renamed.
            InvalidError: Something on the way isn't a folder.
        """
        for length in range(len(parts), 0, -1):
            try:
                with self._vault.locate(parts[:length], recorded=self._recorded) as place:
                    if length == len(parts):
                        _refuse_taken(place, parts[-1], own)
                        return place.folder.parts
                    if place.entry is None:
                        return place.folder.parts
                    if place.entry.kind is not Kind.FOLDER:
                        raise InvalidError(
                            f"{place.path} is not a folder, so nothing can be in it."
                        )
                    return (*place.folder.parts, place.entry.name)
            except NotFoundError:
                continue
        return ()

    def _in_trash(self, path: str) -> str:
        """A free path in the trash: numbered if others of this name are there."""
        folder, slash, name = path.rpartition("/")
        stem, dot, extension = name.rpartition(".")
        if not stem:
            stem, dot, extension = name, "", ""
        trash = Plan(self._vault, self._locked, self._random_hex, recorded=True)
        number = 1
        while True:
            numbered = stem if number == 1 else f"{stem} {number}"
            try:
                new = trash._free(f"{TRASH}/{folder}{slash}{numbered}{dot}{extension}")
            except ConflictError:
                number += 1
            except InvalidError:  # A file in the trash has the folder's name.
                if not folder:
                    raise
                folder, slash = "", ""
            else:
                self.folders += [each for each in trash.folders if each not in self.folders]
                return new

    def _parts(self, path: str) -> tuple[str, ...]:
        return tuple(path.split("/")) if self._recorded else parse_path(path)


def _entangled(path: str, other: str) -> InvalidError:
    return InvalidError(
        f"{path} is in the way of {other}, which moves in the same step.", hint="Make two steps."
    )


def _is_folder(place: Place) -> bool:
    return place.entry is not None and place.entry.kind is Kind.FOLDER


def _raw(place: Place) -> str:
    return place.entry.raw if place.entry else place.name


def _refuse_taken(place: Place, name: str, own: str) -> None:
    if place.entry is None or place.real_path == own:
        return  # Free, or the file itself, of which only the capitals change.
    alike = "" if place.exact else f", which differs from {name} only in capitals"
    raise ConflictError(
        f"There is a {place.path} already{alike}; nothing was replaced.",
        hint="Choose another name, or change the one that is there.",
    )


def _checked_size(data: bytes, path: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise InvalidError(
            f"{path} would have {len(data):,} bytes; the limit for notes is {MOST_BYTES:,}.",
            hint="Write less, or to another note.",
        )
    return data


def edited(data: bytes, path: str, edit: Edit) -> bytes:
    """Return what a note becomes by an edit; its encoding and byte order mark stay.

    Raises:
        InvalidError: It isn't UTF-8 text, or the edit makes it something that can't be stored.
    """
    text = decode(data, path)
    new = edit(text)
    if new == text:
        return data
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark + encode(new, path)
