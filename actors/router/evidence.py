"""Literal evidence: what the words themselves say, without a model.

A sentence embedding sees little in "read ideas.md" and nothing in a language it wasn't trained on.
A file name, a `[[link]]`, a tool's own name or a plain command are facts, and they always count.
Everything here is a pure function over text and the tables of `phrases`.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from actors.router.phrases import (
    NEED_THE_TEXT,
    NOTE_COMMANDS,
    ONLY_IF_SAID,
    PHRASES,
    POINTS_BACK,
)

LITERAL_NAME = 1.0
"""Score of a tool whose name, or one of whose hints, is the text."""

COMMAND_ON_NOTE = 0.9
"""Score of a command together with the note it is about."""

PHRASE = 0.8
"""Score of a phrase that says what to do without naming a note."""

NOTE_ALONE = 0.7
"""Score of reading a note that is named without any command."""

READ_BEFORE_WRITE = 0.62
"""Score of reading a note that is to be changed: the old text may be needed."""

_SUFFIXES = "md|markdown|txt|canvas|base|org|csv|json|pdf"
_FILE = re.compile(
    rf"(?<![\w/@.])(?!https?:)(?:[\w.\-]+/)*[\w.\-()]+\.(?:{_SUFFIXES})(?![\w/])", re.IGNORECASE
)
_LINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_FOLDER = re.compile(r"(?<![\w/:.])(?:[\w.\-]+/)+(?![\w/])")
_TOOL_NAME = re.compile(r"(?<![\w:])[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*(?![\w:])", re.IGNORECASE)
_QUOTES = (
    ("'", "'"),
    ('"', '"'),
    ("`", "`"),
    ("\u2018", "\u2019"),
    ("\u201c", "\u201d"),
    ("\u201e", "\u201c"),
    ("«", "»"),
    ("»", "«"),
)
_QUOTED = re.compile("|".join(rf"(?<!\w){first}.+?{last}(?!\w)" for first, last in _QUOTES))


def references(text: str) -> tuple[str, ...]:
    """Return the notes that a text names: file names, paths and ``[[links]]``."""
    return tuple(match.group() for regex in (_FILE, _LINK) for match in regex.finditer(text))


def folders(text: str) -> tuple[str, ...]:
    """Return the folders that a text names by a path with a slash at its end."""
    return tuple(match.group() for match in _FOLDER.finditer(text))


def plain(text: str) -> str:
    """Return a text in lower case, with single spaces and without punctuation at its ends."""
    return " ".join(text.casefold().split()).strip(" .,;:!?¿¡\"'`()")


def evidence(
    text: str,
    names: Iterable[str],
    hints: Iterable[tuple[str, str]] = (),
    context: str = "",
    notes: Collection[str] = (),
) -> dict[str, float]:
    """Return the tools for which a text speaks literally, each with a score of 0 to 1.

    Args:
        text: What the user said.
        names: Registered tools; no other is returned.
        hints: Pairs of tool and example phrase; a text that is such a phrase asks for that tool.
        context: What the user said before; only lends the name of a note to a command that points
            back ("what does it say?").
        notes: Names of notes that the text has, without being paths or links.
    """
    found: dict[str, float] = {}

    def speak_for(tool: str, score: float) -> None:
        found[tool] = max(found.get(tool, 0.0), score)

    for match in _TOOL_NAME.finditer(text):
        speak_for(match.group().casefold(), LITERAL_NAME)
    said = plain(text)
    for tool, hint in hints:
        if said and plain(hint) == said:
            speak_for(tool, LITERAL_NAME)
    # What is quoted is content, not a command.
    words = _QUOTED.sub(" … ", text)
    registered = set(names)
    for tool, phrases in PHRASES.items():
        if phrases.search(words):
            speak_for(tool, PHRASE)
    for name in notes:
        words = words.replace(name, " … ")
    for tool, score in _about_notes(words, text, context, registered, named=bool(notes)):
        speak_for(tool, score)
    return {tool: score for tool, score in found.items() if tool in registered}


def meant(text: str, similar: Mapping[str, float]) -> dict[str, float]:
    """Return the similarities without tools that the text can't mean, for it lacks their word."""
    words = _FILE.sub(" … ", text)
    return {
        tool: score
        for tool, score in similar.items()
        if tool not in ONLY_IF_SAID or ONLY_IF_SAID[tool].search(words)
    }


def _about_notes(
    words: str, text: str, context: str, registered: Collection[str], *, named: bool
) -> Iterable[tuple[str, float]]:
    command = _command(words, registered)
    if named and command and not references(text):
        # Known by its name alone, it needs a command to be what the text is about.
        if command in NEED_THE_TEXT:
            yield "vault:read", READ_BEFORE_WRITE
        yield command, COMMAND_ON_NOTE
        return
    if references(text):
        if command in NEED_THE_TEXT:
            yield "vault:read", READ_BEFORE_WRITE
        yield command or "vault:read", COMMAND_ON_NOTE if command else NOTE_ALONE
    elif folders(text):
        yield command if command not in {"", "vault:read"} else "vault:list", COMMAND_ON_NOTE
    elif command and POINTS_BACK.search(words) and references(context):
        yield command, COMMAND_ON_NOTE


def _command(words: str, registered: Collection[str]) -> str:
    """Return the tool that the words order to use on a note, or nothing."""
    # The "log" of ``log.md`` is no command.
    for name in (_LINK, _FILE, _FOLDER):
        words = name.sub(" … ", words)
    return next(
        (
            tool
            for tool, order in NOTE_COMMANDS.items()
            if tool in registered and order.search(words)
        ),
        "",
    )
