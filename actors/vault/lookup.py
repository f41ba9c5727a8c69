"""Which note a path means: as it is, with ``.md`` added, or the one note of that name."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from actors.vault.folder import Folder, Kind
from actors.vault.names import folded, parse_path, shown, with_extension
from actors.vault.scan import Budget, notes_like, notes_named
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, DeniedError, InvalidError, NotFoundError

_MOST_CHOICES = 8
_THE_VAULT_ITSELF = frozenset({"/", "\\", "*", "/*", "root"})


@dataclass(frozen=True)
class Found:
    """A note, or the place for a new one."""

    parts: tuple[str, ...]
    exists: bool
    exact: bool = True
    """False if it's in another folder than asked for, or differs in upper and lower case."""


def find_note(vault: VaultFolder, parts: tuple[str, ...], budget: Budget, *, follow: bool) -> Found:
    """Find the note that a path means.

    Args:
        vault: The vault.
        parts: Names, as `names.parse_path` returns them.
        budget: What looking for a bare name in the whole vault may cost.
        follow: Whether links that stay in the vault are followed.

    Raises:
        ConflictError: Several notes have that name.
        DeniedError: It's a link that isn't followed.
        InvalidError: It's a folder, or nothing that can be a note.
    """
    if not parts:
        raise InvalidError("The path is empty.", hint="Name a note, such as notes/today.md.")
    extended = (*parts[:-1], with_extension(parts[-1]))
    is_folder = False
    for candidate in dict.fromkeys((parts, extended)):
        found = _at(vault, candidate, follow=follow)
        if isinstance(found, Found):
            return found
        is_folder = is_folder or found
    if len(parts) == 1:
        with vault.root() as root:
            named = notes_named(root, parts[0], budget)
        if len(named) > 1:
            raise ConflictError(
                f"{len(named)} notes are called {parts[0]}: {_choices(named)}.",
                hint="Give the whole path of one of them.",
            )
        if named:
            return Found(named[0], exists=True, exact=False)
    if is_folder:
        raise InvalidError(
            f"{'/'.join(parts)} is a folder, not a note.",
            hint=f"Name a note in it, such as {'/'.join(parts)}/today.md.",
        )
    return Found(extended, exists=False)


def _at(vault: VaultFolder, parts: tuple[str, ...], *, follow: bool) -> Found | bool:
    """The note exactly there; otherwise whether a folder is there."""
    try:
        with vault.locate(parts, follow=follow) as place:
            match place.entry.kind if place.entry else None:
                case Kind.FILE:
                    name = place.entry.name if place.entry else ""
                    return Found((*place.folder.parts, name), exists=True, exact=place.exact)
                case Kind.LINK:
                    raise DeniedError(
                        f"{place.path} is a link; notes aren't written through links.",
                        hint="Use the path of the real note.",
                    )
                case Kind.OTHER:
                    raise InvalidError(f"{place.path} is a pipe, socket or device, not a note.")
                case Kind.FOLDER:
                    return True
                case None:
                    return not place.name
    except NotFoundError:
        return False


def _choices(notes: list[tuple[str, ...]]) -> str:
    paths = ["/".join(parts) for parts in notes[:_MOST_CHOICES]]
    more = len(notes) - len(paths)
    return ", ".join(paths) + (f" and {more} more" if more else "")


def missing(vault: VaultFolder, parts: tuple[str, ...], budget: Budget) -> NotFoundError:
    """Return the error for a note that isn't there, with the names that are close to it."""
    with vault.root() as root:
        like = notes_like(root, parts[-1], budget)
    return NotFoundError(
        f"There is no note {shown('/'.join(parts))} in the vault.",
        hint=f"Did you mean {' or '.join(like)}?"
        if like
        else "List the vault with vault:list to see what there is.",
    )


@contextlib.contextmanager
def open_folder(vault: VaultFolder, path: str) -> Iterator[Folder]:
    """Open the folder that a model means; what models write for the whole vault is that.

    Raises:
        ErisError: There's no such folder (the hint names those there are), or it can't be opened.
    """
    parts = () if path.strip() in _THE_VAULT_ITSELF else parse_path(path)
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(vault.open(parts))
        except NotFoundError as error:
            if len(parts) > 1 or folded(parts[0]) != "vault":
                raise NotFoundError(error.message, hint=_folders(vault)) from error
            folder = stack.enter_context(vault.root())
        yield folder


def _folders(vault: VaultFolder) -> str:
    with vault.root() as root:
        names = [entry.name for entry in root.entries() if entry.kind is Kind.FOLDER]
    if not names:
        return "There are no folders in the vault; leave the folder out."
    more = " and others" if len(names) > _MOST_CHOICES else ""
    return f"The folders in the vault are {', '.join(names[:_MOST_CHOICES])}{more}."
