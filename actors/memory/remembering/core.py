"""The core memory: a short note about the user that is part of every prompt.

The user opens it like any other note; a tool adds a line or removes one.
"""

import re
import threading

import msgspec

from actors.memory.remembering.desk import told
from actors.memory.remembering.likeness import Relation, judged
from actors.memory.remembering.ports import Notes
from actors.memory.remembering.store import NoteWrite, Store, Work
from actors.memory.remembering.works import NoteWorks
from eris.errors import ConflictError, ErisError, InvalidError, NotFoundError
from eris.vault.editing import appended
from eris.vault.markdown import parse
from eris.vault.note import LINE_END
from eris.vault.words import tokens
from proto.errors import ErrorCode
from proto.memory import Core

CORE_CHARACTERS = 1200
"""What is told of it at most."""

_MARKS = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#{1,6}|>)\s+|^\s+")
_NEW = "# About me\n\n"


class CoreChanged(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to the core memory."""

    path: str
    receipt: str
    """In the past tense; empty if it was so already."""
    note: str = ""


class CoreMemory:
    """The note about the user. Its methods may be called from any thread."""

    def __init__(self, path: str, notes: Notes, store: Store) -> None:
        """Create it.

        Args:
            path: Of the note.
            notes: The vault.
            store: Keeps what is being done; the one of `Memories`.
        """
        self._path = path
        self._notes = notes
        self._store = store
        self._works = NoteWorks(store, notes)
        self._lock = threading.Lock()

    def read(self) -> Core:
        """Return what is told of it; empty if there's no such note.

        Raises:
            ErisError: The vault doesn't answer.
        """
        text, _ = self._text()
        body = text[parse(text).body_start :].strip()
        if len(body) <= CORE_CHARACTERS:
            return Core(path=self._path, text=body)
        part = body[: CORE_CHARACTERS + 1]
        cut = part.rpartition("\n")[0].rstrip() or body[:CORE_CHARACTERS]
        return Core(path=self._path, text=cut, cut=True)

    def change(self, key: str, add: str = "", remove: str = "") -> CoreChanged:
        """Add a line, remove one, or put one in place of another.

        Args:
            key: Idempotency key.
            add: The line, without a mark of a list.
            remove: A line, or part of the only line that has it.

        Raises:
            InvalidError: Nothing is to be done, several lines are meant, or there's no room.
            NotFoundError: There's no such line.
            ConflictError: Another line says something else about the same.
            UnavailableError: The vault doesn't answer; it's done when it does.
        """
        add, remove = " ".join(_MARKS.sub("", add).split()), remove.strip()
        if not tokens(add) and not tokens(remove):
            raise InvalidError("Nothing is to be added or removed.", hint="Give a line as add.")
        with self._lock:
            result = self._store.result(key)
            if result is None:
                result = self._works.run(lambda attempt: self._plan(key, add, remove, attempt))
            return msgspec.json.decode(result, type=CoreChanged)

    def _plan(self, key: str, add: str, remove: str, attempt: int) -> Work:
        before, version = self._text()
        text, done = before, []
        if remove:
            text, line = _without(text, remove)
            done.append(f"removed '{told(line)}'")
        known = self._known(text, add) if add else ""
        if add and not known:
            text = appended(text or _NEW, f"- {add}\n")
            done.append(f"added '{told(add)}'")
        if add and not known and len(text[parse(text).body_start :].strip()) > CORE_CHARACTERS:
            raise InvalidError(
                f"{self._path} would have more than the {CORE_CHARACTERS} characters that are told "
                "of it in every turn.",
                hint="Remove a line first, or keep it with memory:stage instead.",
            )
        receipt = f"{' and '.join(done)} in {self._path}" if done else ""
        note = f"It says that already: {told(known)}" if known else ""
        changed = CoreChanged(path=self._path, receipt=receipt, note=note)
        write = NoteWrite(path=self._path, text=text, version=version, key=f"{key}/note.{attempt}")
        return Work(
            key=key,
            writes=(write,) if text != before else (),
            result=msgspec.json.encode(changed),
        )

    def _known(self, text: str, add: str) -> str:
        """Return the line that says it already, if one does.

        Raises:
            ConflictError: One says something else.
        """
        lines = [line for line in _lines(text) if tokens(line)]
        for line in lines:
            if judged(add, line).relation is Relation.SAME:
                return line
        for line in lines:
            if judged(add, line).relation is Relation.CONTRADICTION:
                raise ConflictError(
                    f"{self._path} says something else: '{told(line)}'.",
                    hint="Ask the user which holds. To replace it, call this again with that "
                    "line as remove.",
                )
        return ""

    def _text(self) -> tuple[str, str]:
        try:
            return self._notes.read(self._path)
        except ErisError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            return "", ""


def _lines(text: str) -> list[str]:
    body = text[parse(text).body_start :]
    return [
        _MARKS.sub("", line) for line in LINE_END.split(body) if not line.lstrip().startswith("#")
    ]


def _without(text: str, remove: str) -> tuple[str, str]:
    """Return the note without a line, and that line."""
    note = parse(text)
    wanted = _MARKS.sub("", remove).casefold()
    found: list[tuple[int, int, str]] = []
    position = note.body_start
    for line in text[position:].splitlines(keepends=True):
        plain = _MARKS.sub("", line).strip()
        if plain and wanted in plain.casefold():
            found.append((position, position + len(line), plain))
        position += len(line)
    exact = [each for each in found if each[2].casefold() == wanted]
    found = exact[:1] or found
    if not found:
        lines = [line.strip() for line in _lines(text) if line.strip()]
        raise NotFoundError(
            f"There is no line '{remove}' in the note.",
            hint=f"It says: {'; '.join(lines)[:600]}" if lines else "It says nothing yet.",
        )
    if len(found) > 1:
        raise InvalidError(
            f"{len(found)} lines have '{remove}': {'; '.join(each[2] for each in found)[:600]}",
            hint="Give the whole line.",
        )
    start, end, line = found[0]
    return text[:start] + text[end:], line
