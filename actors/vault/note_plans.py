"""What becomes of one note by a write, an edit or a restore: worked out, nothing carried out.

Knows what each session has seen of a note, since a write that is based on a version which somebody
has changed since is merged with that change, or not made.
"""

import contextlib
import threading
from collections.abc import Callable
from datetime import datetime, tzinfo
from enum import StrEnum

import msgspec

from actors.vault.conflicts import conflict, conflict_names, merged
from actors.vault.folder import Kind
from actors.vault.journal import Journal
from actors.vault.lookup import Found, Lookup
from actors.vault.names import check_new_file_name, parse_path
from actors.vault.planning import Edit, Plan, edited
from actors.vault.replacing import VERSION_DIGITS, Content, read_file
from actors.vault.seen import Seen, View
from actors.vault.steps import RESTORED, Receipt
from actors.vault.text import decode, encode, refuse_binary, told_size
from actors.vault.vault_folder import VaultFolder
from eris.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from eris.vault.editing import appended
from eris.vault.file_names import EXTENSION, name_problem
from eris.vault.names import name_of
from eris.vault.titles import name_for_title, with_alias


class Mode(StrEnum):
    """What becomes of a note that is there already."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    CREATE = "create"
    """Nothing: then the write is refused."""


class NotePlans:
    """Fills plans that change one note; thread-safe."""

    def __init__(
        self, vault: VaultFolder, journal: Journal, lookup: Lookup, zone: tzinfo | None
    ) -> None:
        """Create it; the arguments are those of `NoteWriter`."""
        self._vault = vault
        self._journal = journal
        self._lookup = lookup
        self._zone = zone
        self._seen = Seen()
        self._seen_lock = threading.Lock()

    def write(
        self,
        plan: Plan,
        view: View,
        path: str,
        new: bytes,
        mode: Mode,
        *,
        version: str,
        conflict_copy: bool,
    ) -> Receipt:
        """Append to a note, create it, or replace all of it; see `NoteWriter.write`."""
        asked = "/".join(parse_path(path))
        found = self._lookup.find(path)
        there = "/".join(found.parts)
        if not found.exists:
            if version:
                raise ConflictError(
                    f"{there} isn't there any more; it had the version {version}.",
                    hint="Write it without a version to make it anew.",
                )
            return _create(plan, view, found, asked, new)
        if mode is not Mode.APPEND:
            _refuse_other(mode, found, asked)
        real, before = self._read(found)
        data = _planned(before.data, new, mode, real)
        receipt = Receipt(
            path=real,
            action="appended" if mode is Mode.APPEND else "overwrote",
            size=len(new),
            asked=asked,
            message=f"appended {told_size(len(new))} to {real}"
            if mode is Mode.APPEND
            else f"overwrote {real} ({told_size(len(new))})",
        )
        seen = self._version_seen(view.session, real)
        expected = version or seen
        # Whatever else is in the note then, what this session knows of it is what it wrote.
        view.knows(real, data, if_knew=mode is Mode.OVERWRITE or _is(before, seen))
        if mode is Mode.APPEND or before.digest.startswith(expected):
            plan.rewrite(real, data, before.digest)
            return receipt
        return self._over_a_change(plan, receipt, before, new, expected, copy=conflict_copy)

    def _over_a_change(
        self, plan: Plan, receipt: Receipt, now: Content, new: bytes, expected: str, *, copy: bool
    ) -> Receipt:
        """Write over a change made since: merged, to a copy, or not at all."""
        path, base = receipt.path, self._content_of(expected)
        data = merged(base, new, now.data)
        if data is not None:
            plan.rewrite(path, data, now.digest)
            return msgspec.structs.replace(receipt, merged=True)
        if not copy:
            raise conflict(path, base, new, now.data, expected)
        at = datetime.fromtimestamp(self._journal.now(), self._zone)
        for name in conflict_names(path, at):
            with contextlib.suppress(ConflictError):
                real = plan.create(name, new)
                return msgspec.structs.replace(
                    receipt,
                    path=real,
                    action="created",
                    copy_of=path,
                    message=f"created {real} ({told_size(len(new))}), a conflict copy of {path}",
                )
        raise AssertionError("there is always another name")

    def edit(
        self,
        plan: Plan,
        view: View,
        path: str,
        edit: Edit,
        *,
        tell: Callable[[str], str],
        version: str,
        replaces: bool,
        new: Callable[[], str] | None,
        exact: bool,
    ) -> Receipt:
        """Change a note's text by a function; see `NoteWriter.edit`."""
        asked = "/".join(parse_path(path))
        found = self._lookup.find(path, exact=exact)
        if not found.exists:
            if new is None:
                raise self._lookup.missing(path)
            return _create(plan, view, found, asked, encode(new(), found.path))
        real, before = self._read(found)
        seen = self._version_seen(view.session, real)
        data, was_merged = self._edited(real, before, edit, version or (seen if replaces else ""))
        plan.rewrite(real, data, before.digest)
        view.knows(real, data, if_knew=_is(before, seen))
        return Receipt(
            path=real,
            action="edited",
            size=abs(len(data) - len(before.data)),
            asked=asked,
            version=before.digest[:VERSION_DIGITS],
            merged=was_merged,
            message=tell(real),
        )

    def _edited(self, path: str, now: Content, edit: Edit, version: str) -> tuple[bytes, bool]:
        if now.digest.startswith(version):
            return edited(now.data, path, edit), False
        decode(now.data, path)
        base = self._content_of(version)
        if base is None:
            raise conflict(path, None, now.data, now.data, version)
        ours = edited(base, path, edit)
        data = merged(base, ours, now.data)
        if data is None:
            raise conflict(path, base, ours, now.data, version)
        return data, True

    def restore(self, plan: Plan, path: str, data: bytes) -> Receipt:
        """Give a note a content that it had before."""
        try:
            _path, now = self._read(Found(parse_path(path), exists=True))
        except NotFoundError:
            plan.create(path, data)
        else:
            plan.rewrite(path, data, now.digest)
        return Receipt(path=path, action=RESTORED, size=len(data))

    # Finding and reading.

    def _read(self, found: Found) -> tuple[str, Content]:
        """The path of a note as it is on the disk, and its content."""
        with self._vault.locate(found.parts) as place:
            if place.entry is None:
                raise NotFoundError(f"{place.path} was removed at this moment.")
            if place.entry.kind is not Kind.FILE:
                raise DeniedError(
                    f"{place.path} was replaced by something else at this moment.",
                    hint="List the folder to see what is there.",
                )
            return place.real_path, read_file(place.folder, place.entry)

    # Versions.

    def saw(self, session: str, path: str, data: bytes) -> str:
        """Remember that a session has read a note, and return its version."""
        with self._seen_lock:
            return self._seen.saw(session, path, data)

    def _version_seen(self, session: str, path: str) -> str:
        with self._seen_lock:
            return self._seen.version(session, path)

    def _content_of(self, version: str) -> bytes | None:
        """The content that a version means, if anybody still knows it."""
        with self._seen_lock:
            known = self._seen.content(version[:VERSION_DIGITS])
        if known is not None:
            return known
        digest = self._journal.digest_starting(version)
        return self._journal.content(digest) if digest else None

    def remember(self, view: View) -> None:
        """Base the session's next write on what it knows after this one."""
        if view.session and view.data is not None:
            self.saw(view.session, view.path, view.data)


def _create(plan: Plan, view: View, found: Found, asked: str, content: bytes) -> Receipt:
    """Make a note; one that is named by a title which no file can have keeps that as its alias."""
    name = name_of(asked)
    *folder, file_name = found.parts
    if not EXTENSION.search(name) and name_problem(name):
        file_name, alias = name_for_title(name)
        if alias:
            content = encode(with_alias(content.decode(), alias), found.path)
    path = "/".join((*folder, file_name))
    check_new_file_name(file_name, path)
    real = plan.create(path, content)
    view.knows(real, content)
    return _created(real, content, asked)


def _created(path: str, content: bytes, asked: str) -> Receipt:
    size = len(content)
    message = f"created {path} ({told_size(size)})"
    return Receipt(path=path, action="created", size=size, asked=asked, message=message)


def _is(content: Content, version: str) -> bool:
    return bool(version) and content.digest.startswith(version)


def _refuse_other(mode: Mode, found: Found, asked: str) -> None:
    """Refuse to replace a note, or to make one that is there."""
    there = "/".join(found.parts)
    if mode is Mode.CREATE:
        raise ConflictError(
            f"There is a note {there} already; nothing was written.",
            hint="Append to it, or give another name.",
        )
    if not found.exact:
        raise ConflictError(
            f"There is a note {there}, which isn't exactly {asked}; nothing was overwritten.",
            hint=f"Give the whole path {there}, or another name.",
        )


def _planned(old: bytes, content: bytes, mode: Mode, path: str) -> bytes:
    """What a note that is there will be."""
    if not content:
        raise InvalidError(
            f"The content for {path} is empty; it still has {len(old)} bytes.",
            hint="Say what to write.",
        )
    if mode is Mode.APPEND:
        decode(old, path)
        return edited(old, path, lambda text: appended(text, content.decode()))
    refuse_binary(old, path)
    return content
