"""Which note is meant: a path, with or without ``.md``; a name; a title or an alias."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import fuzz, process

from actors.vault.folder import Folder, Kind
from actors.vault.index.graph import FoundHeading
from actors.vault.names import folded, is_note, parse_path, shown, stem, with_extension
from actors.vault.scan import Budget, files_below
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from eris.vault.names import name_of

_MOST_CHOICES = 8
_MOST_LIKE = 3
_LEAST_LIKENESS = 70.0
_SHORTEST_PART = 3
"""Characters of a name that other names are offered for because they have it in them."""
_THE_VAULT_ITSELF = frozenset({"/", "\\", "*", "/*", "root"})


@dataclass(frozen=True)
class Found:
    """A note, or the place for a new one."""

    parts: tuple[str, ...]
    exists: bool
    exact: bool = True
    """False if it's in another folder than asked for, differs in upper and lower case, or has what
    was asked for as its title or alias only."""

    @property
    def path(self) -> str:
        """Its path, relative to the vault."""
        return "/".join(self.parts)


class KnownNames(Protocol):
    """What the index knows of the names in the vault."""

    def named(self, text: str) -> list[str]:
        """Return the files of this name, then those of this title or alias."""

    def paths(self) -> list[str]:
        """Return the paths of all files."""

    def headings_named(self, title: str) -> list[FoundHeading]:
        """Return all headings of this title."""


class Lookup:
    """Finds what people and models mean by the name of a note or folder."""

    def __init__(
        self,
        vault: VaultFolder,
        *,
        clock: Callable[[], float],
        known: Callable[[], KnownNames | None] = lambda: None,
        new_folder: Callable[[], str] = lambda: "",
    ) -> None:
        """Create it.

        Args:
            vault: The vault.
            clock: A clock that only goes forward, in seconds.
            known: Returns what knows all names; while it's nothing, the vault itself is gone
                through, which takes longer and finds no titles.
            new_folder: Returns the folder for a new note that is named without one.
        """
        self._vault = vault
        self._clock = clock
        self._known = known
        self._new_folder = new_folder

    def find(self, asked: str, *, follow: bool = False, exact: bool = False) -> Found:
        """Find the note that is meant, or where it would be.

        Args:
            asked: As somebody wrote it.
            follow: Whether links that stay in the vault are followed, as for reading.
            exact: Only look at the path that it is.

        Raises:
            ConflictError: Several notes have that name, title or alias.
            DeniedError: It's a link that isn't followed, hidden, or outside of the vault.
            InvalidError: It's a folder, or nothing that can be a note.
        """
        parts = parse_path(asked)
        if not parts:
            raise InvalidError("The path is empty.", hint="Name a note, such as notes/today.md.")
        extended = (*parts[:-1], with_extension(parts[-1]))
        is_folder = False
        for candidate in dict.fromkeys((parts, extended)):
            found = self._at(candidate, follow=follow)
            if isinstance(found, Found):
                return found
            is_folder = is_folder or found
        if not exact:
            elsewhere = self._elsewhere(parts)
            if elsewhere:
                return Found(elsewhere, exists=True, exact=False)
        if is_folder:
            raise InvalidError(
                f"{'/'.join(parts)} is a folder, not a note.",
                hint=f"Name a note in it, such as {'/'.join(parts)}/today.md.",
            )
        if len(parts) == 1 and not exact:
            extended = (*filter(None, self._new_folder().split("/")), *extended)
        return Found(extended, exists=False)

    def existing(self, asked: str, *, follow: bool = False) -> Found:
        """Find the note that is meant, which must be there.

        Raises:
            NotFoundError: It isn't; the hint names those that are like it.
            ErisError: As `find`.
        """
        found = self.find(asked, follow=follow)
        if not found.exists:
            raise self.missing(asked)
        return found

    def anything(self, asked: str) -> tuple[str, bool]:
        """Return the path of a file or folder that must be there, and whether it's a folder.

        Raises:
            NotFoundError: It isn't.
            ErisError: As `find`.
        """
        parts = parse_path(asked)
        with contextlib.suppress(NotFoundError), self._vault.locate(parts) as place:
            if place.entry and place.exact and place.entry.kind is Kind.FOLDER:
                return place.real_path, True
        return self.existing(asked).path, False

    def missing(self, asked: str) -> NotFoundError:
        """Return the error for a note that isn't there, with the names that are close to it."""
        parts = parse_path(asked)
        like = _like(parts[-1], self._files())
        return NotFoundError(
            f"There is no note {shown('/'.join(parts))} in the vault.",
            hint=f"Did you mean {' or '.join(like)}?"
            if like
            else "List the vault with vault:list to see what there is.",
        )

    def twins(self, path: str) -> list[str]:
        """Return the other notes that have a note's name, or have it as title or alias."""
        known = self._known()
        if known is None:
            return []
        return [other for other in known.named(stem(name_of(path))) if other != path]

    def with_heading(self, title: str) -> str:
        """Return the path of the only note with a heading of this title, or nothing."""
        known = self._known()
        found = {each.path for each in known.headings_named(title)} if known else set()
        return found.pop() if len(found) == 1 else ""

    @contextlib.contextmanager
    def folder(self, asked: str) -> Iterator[Folder]:
        """Open the folder that is meant; what models write for the whole vault is that.

        Raises:
            ErisError: There's no such folder (the hint names those there are), or it can't be
                opened.
        """
        parts = () if asked.strip() in _THE_VAULT_ITSELF else parse_path(asked)
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(self._vault.open(parts))
            except NotFoundError as error:
                if len(parts) > 1 or folded(parts[0]) != "vault":
                    raise NotFoundError(error.message, hint=self._folders()) from error
                folder = stack.enter_context(self._vault.root())
            yield folder

    def _folders(self) -> str:
        with self._vault.root() as root:
            names = [entry.name for entry in root.entries() if entry.kind is Kind.FOLDER]
        if not names:
            return "There are no folders in the vault; leave the folder out."
        more = " and others" if len(names) > _MOST_CHOICES else ""
        return f"The folders in the vault are {', '.join(names[:_MOST_CHOICES])}{more}."

    def _at(self, parts: tuple[str, ...], *, follow: bool) -> Found | bool:
        """The note exactly there; otherwise whether a folder is there."""
        try:
            with self._vault.locate(parts, follow=follow) as place:
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

    def _elsewhere(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """The only note of a name, or else of a title or alias, wherever it is."""
        text = "/".join(parts)
        by_name, by_title = self._named(text, parts)
        for paths in (by_name, by_title):
            found = [path for path in paths if self._is_there(path)]
            if len(found) > 1:
                raise ConflictError(
                    f"{len(found)} notes are called {shown(text)}: {_choices(found)}.",
                    hint="Give the whole path of one of them.",
                )
            if found:
                return tuple(found[0].split("/"))
        return None

    def _named(self, text: str, parts: tuple[str, ...]) -> tuple[list[str], list[str]]:
        known = self._known()
        wanted = folded(parts[-1])
        if known is None:
            paths = self._files() if len(parts) == 1 else []
            return [path for path in paths if _is_called(path, wanted)], []
        paths = known.named(text)
        by_name = [path for path in paths if len(parts) == 1 and _is_called(path, wanted)]
        return by_name, [path for path in paths if path not in by_name]

    def _is_there(self, path: str) -> bool:
        """Whether a path that is known isn't only a memory."""
        return isinstance(self._at(tuple(path.split("/")), follow=False), Found)

    def _files(self) -> Sequence[str]:
        known = self._known()
        if known is not None:
            return known.paths()
        with self._vault.root() as root:
            return files_below(root, Budget.starting(self._clock))


def _is_called(path: str, wanted: str) -> bool:
    name = name_of(path)
    return folded(name) == wanted or (is_note(name) and folded(stem(name)) == wanted)


def _choices(paths: Sequence[str]) -> str:
    more = len(paths) - _MOST_CHOICES
    return ", ".join(paths[:_MOST_CHOICES]) + (f" and {more} more" if more > 0 else "")


def _like(name: str, paths: Sequence[str]) -> list[str]:
    """Paths of notes whose names are close to a name, the closest first."""
    wanted = folded(stem(name))
    by_stem: dict[str, list[str]] = {}
    for path in filter(is_note, paths):
        by_stem.setdefault(folded(stem(name_of(path))), []).append(path)
    close = process.extract(
        wanted, by_stem.keys(), scorer=fuzz.ratio, limit=_MOST_LIKE, score_cutoff=_LEAST_LIKENESS
    )
    stems = [each for each, *_ in close]
    if len(wanted) >= _SHORTEST_PART:
        stems += [each for each in by_stem if wanted in each and each not in stems]
    return [path for each in stems for path in by_stem[each]][:_MOST_LIKE]
