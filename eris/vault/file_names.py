"""Which names of files and folders are sound enough to create, on this machine and any other."""

import re
import unicodedata

LONGEST_NAME = 255
"""Bytes of UTF-8 that common file systems allow in one name."""

EXTENSION = re.compile(r"\.([a-z][a-z0-9]{0,7}|[A-Z][A-Z0-9]{0,7})$")
"""What counts as a file's extension: `v1.2` and `Mr.Smith` have none."""

INVISIBLE = frozenset({"Cf", "Cc", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories of characters that can't be seen."""

_UNSOUND_CHARACTERS = ':?*"<>|'
_UNSOUND_RUN = re.compile(r"\s*[:?*\"<>|/\\](?:[\s-]*[:?*\"<>|/\\])*\s*")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789¹²³"}
)
_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """Return text in which what can't be seen, or would move the cursor, is escaped."""
    if text.isprintable():
        return text
    return "".join(
        f"\\u{ord(character):04x}"
        if unicodedata.category(character) in INVISIBLE and character not in _JOINERS
        else character
        for character in text
    )


def shown(text: str) -> str:
    """Return text for a sentence: printable, and short enough to read."""
    short = printable(text)
    return short if len(short) <= 120 else f"{short[:80]}…{short[-30:]}"  # noqa: PLR2004 - a line


def sound_name(name: str) -> str:
    """Return the nearest name that `name_problem` has nothing against, or nothing at all."""
    kept = "".join(
        character for position, character in enumerate(name) if not _invisible(name, position)
    )
    front, dot, extension = kept.rpartition(".")
    if not dot or not EXTENSION.search(kept):
        front, dot, extension = kept, "", ""
    front = _UNSOUND_RUN.sub(lambda run: " - " if re.search(r"\s", run[0]) else "-", front)
    front = front.strip(" .-")
    if front.partition(".")[0].rstrip().lower() in _RESERVED:
        front = f"{front} note"
    while len(f"{front}{dot}{extension}".encode(errors="replace")) > LONGEST_NAME:
        front = front[:-1].rstrip(" .")
    better = f"{front}{dot}{extension}"
    return better if front and not name_problem(better) else ""


def name_problem(name: str) -> str:
    """Return what speaks against creating a file or folder of this name; empty if nothing does."""
    bad = next((character for character in name if character in _UNSOUND_CHARACTERS), "")
    length = len(name.encode(errors="replace"))
    problems = (
        (
            any(_invisible(name, position) for position in range(len(name))),
            f"{shown(name)} has an invisible or direction-changing character",
        ),
        (bad, f"{shown(name)} has the character {bad}, which not every system allows in a name"),
        (name != name.strip(), f"'{shown(name)}' starts or ends with a space"),
        (name.endswith("."), f"{shown(name)} ends with a dot"),
        (
            name.partition(".")[0].rstrip().lower() in _RESERVED,
            f"{shown(name)} is a reserved name on Windows",
        ),
        (
            not unicodedata.normalize("NFKC", name).strip(". "),
            f"{shown(name)} is nothing but dots",
        ),
        (length > LONGEST_NAME, f"a name of {length} bytes is over the limit of {LONGEST_NAME}"),
    )
    return next((sentence for applies, sentence in problems if applies), "")


def _invisible(name: str, position: int) -> bool:
    """Whether a character can't be seen; joiners inside emoji and scripts that need them can."""
    character = name[position]
    if unicodedata.category(character) not in INVISIBLE:
        return False
    neighbours = name[max(0, position - 1) : position] + name[position + 1 : position + 2]
    joins = character in _JOINERS and len(neighbours) == 2 and not neighbours.isascii()  # noqa: PLR2004 - one each side
    return not joins or any(ord(neighbour) < 128 for neighbour in neighbours)  # noqa: PLR2004 - ASCII
