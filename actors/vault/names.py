"""Names and paths as text: what a model may write, and which names are sound enough to create.

Nothing here touches the disk, and nothing here is the boundary of the vault: that is the
component-wise opening in `folder`. These rules make what reaches it plain, and keep names that
would not survive a move to another machine out of the vault.
"""

import re
import unicodedata

from eris.errors import DeniedError, InvalidError
from eris.vault.file_names import (
    EXTENSION,
    INVISIBLE,
    LONGEST_NAME,
    name_problem,
    printable,
    shown,
    sound_name,
)

__all__ = [
    "DEEPEST_PATH",
    "LONGEST_NAME",
    "LONGEST_PATH",
    "NOTE_EXTENSIONS",
    "TEMPORARY_NAME",
    "check_new_file_name",
    "check_new_name",
    "composed",
    "folded",
    "is_hidden",
    "is_note",
    "is_unicode",
    "parse_path",
    "printable",
    "refuse_hidden",
    "shown",
    "sound_name",
    "stem",
    "target_of",
    "with_extension",
]

TEMPORARY_NAME = re.compile(r"\.eris-[0-9a-f]{16}\.tmp")
"""Names of files being written, before they get their real name."""

LONGEST_PATH = 1024
"""Characters of a whole path."""

DEEPEST_PATH = 32
"""Folders in folders."""

_RELATIVE = "Give a path relative to the vault, such as notes/today.md."
# Pictures, sound, film; archives; documents that only their own programs can write.
_NOT_TEXT = """avif bmp gif heic ico jpeg jpg png tif tiff webp flac m4a mp3 ogg wav avi mkv
mov mp4 webm 7z gz rar tar zip bin db exe sqlite doc docx odp ods odt pdf ppt pptx xls xlsx"""
NOTE_EXTENSIONS = (".md", ".markdown", ".txt")
"""Endings of files that count as notes when a name is looked up or text is searched."""


def parse_path(text: str) -> tuple[str, ...]:
    """Split a path that a model wrote into plain names in Unicode's composed form (NFC).

    Backslashes count as separators, ``./``, doubled slashes and a leading ``vault:`` are dropped,
    and so are the brackets of a ``[[wiki link]]``. No name of the result is empty, ``.``, ``..``
    or hidden. The vault itself is the empty tuple.

    Raises:
        InvalidError: It's too long or has characters that can't be part of a path.
        DeniedError: It's absolute, climbs with ``..`` or names something hidden.
    """
    path = _unwrapped(text)
    if len(path) > LONGEST_PATH:
        raise InvalidError(
            f"A path of {len(path)} characters is over the limit of {LONGEST_PATH}: {shown(path)}.",
            hint=_RELATIVE,
        )
    for character in path:
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
            raise InvalidError(
                f"The path {shown(path)} has the character U+{ord(character):04X}, "
                "which can't be part of a name.",
                hint=_RELATIVE,
            )
    path = path.replace("\\", "/")
    if path.startswith("/") or path.split("/")[0] == "~" or re.match(r"[A-Za-z]:(/|$)", path):
        raise DeniedError(f"The path {shown(text)} is absolute.", hint=_RELATIVE)
    names = tuple(name for name in path.split("/") if name not in {"", "."})
    if len(names) > DEEPEST_PATH:
        raise InvalidError(
            f"The path {shown(path)} is {len(names)} folders deep; the limit is {DEEPEST_PATH}.",
            hint=_RELATIVE,
        )
    for name in names:
        if name == "..":
            raise DeniedError(f"The path {shown(text)} climbs with '..'.", hint=_RELATIVE)
        refuse_hidden(name, path)
    return names


def _unwrapped(text: str) -> str:
    path = unicodedata.normalize("NFC", text).strip()
    if path.startswith("[[") and path.endswith("]]"):
        path = path[2:-2].partition("|")[0].strip()
    return path.removeprefix("vault:")


def refuse_hidden(name: str, path: str) -> None:
    """Refuse a name that starts with a dot: settings of Eris and of other programs, not notes.

    Raises:
        DeniedError: It does.
    """
    if is_hidden(name):
        raise DeniedError(
            f"{shown(path)} is hidden ({shown(name)} starts with a dot); tools don't touch it.",
            hint="Use a note or folder whose name doesn't start with a dot.",
        )


def is_hidden(name: str) -> bool:
    """Whether tools neither list nor open a file or folder of this name."""
    if name.isascii():
        return name.startswith(".")
    # Some file systems skip invisible characters when they compare names.
    visible = (character for character in name if unicodedata.category(character) not in INVISIBLE)
    return next(visible, ".") == "."


def is_unicode(raw: str) -> bool:
    """Whether a name on the disk is text; other names can't be told to anybody."""
    return raw.isascii() or not any("\ud800" <= character <= "\udfff" for character in raw)


def composed(name: str) -> str:
    """Return a name in the form in which names are compared: one spelling for one look."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return a key that is equal for names that differ only in upper and lower case."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", composed(name).casefold())


def with_extension(name: str) -> str:
    """Return the name with ``.md`` added if it has no extension.

    A number after a dot (``v1.2``) or a word with a capital (``Mr.Smith``) isn't one.
    """
    return name if EXTENSION.search(name) else f"{name}.md"


def is_note(name: str) -> bool:
    """Whether a file of this name is a note, by its extension."""
    return name.lower().endswith(NOTE_EXTENSIONS)


def stem(name: str) -> str:
    """Return the name without the extension of a note."""
    for extension in NOTE_EXTENSIONS:
        if name.lower().endswith(extension):
            return name[: -len(extension)]
    return name


def check_new_name(name: str, path: str) -> None:
    """Refuse to create a name that another machine, or a reader, would stumble over.

    Args:
        name: The file's or folder's name, in composed form.
        path: The whole path it's part of, for the sentence.

    Raises:
        InvalidError: The name isn't sound; the hint has one that is.
    """
    problem = name_problem(name)
    if problem:
        better = sound_name(name)
        hint = f"Use {path.replace(name, better)} instead." if better else _RELATIVE
        raise InvalidError(f"{shown(path)} can't be created: {problem}.", hint=hint)


def check_new_file_name(name: str, path: str) -> None:
    """Refuse to create a text file under this name: unsound, or the name of another kind of file.

    Raises:
        InvalidError: The name isn't sound, or it's that of a picture, archive or the like.
    """
    check_new_name(name, path)
    extension = name.rpartition(".")[2].lower()
    if extension in _NOT_TEXT.split():
        raise InvalidError(
            f"{shown(path)} can't be written: a .{extension} file isn't text.",
            hint=f"Use {path.rpartition('.')[0]}.md instead.",
        )


def target_of(path: str, target: str, *, is_folder: bool) -> str:
    """Return the path that a file or folder gets which is moved.

    Args:
        path: Its path.
        target: The new path; with ``/`` at the end, the folder that it goes into; a name alone
            renames it where it is. A file keeps its extension if none is given.
        is_folder: Whether it's a folder.
    """
    folder, slash, name = path.rpartition("/")
    if target.endswith("/"):
        return f"{'' if target == '/' else target}{name}"
    if "/" not in target and "\\" not in target:
        target = f"{folder}{slash}{target}"
    stem, dot, extension = name.rpartition(".")
    keeps = dot and stem and not is_folder and not EXTENSION.search(target)
    return f"{target}{dot}{extension}" if keeps else target
