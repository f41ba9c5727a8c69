"""What the file of a note is called that has a certain title, and how the title is kept."""

import re
import unicodedata
from collections.abc import Sequence

from eris.vault.file_names import sound_name
from eris.vault.frontmatter import with_property
from eris.vault.markdown import parse
from eris.vault.note import PropertyValue

UNTITLED = "Untitled"
"""The name of a note whose title has nothing that a name could keep, as in Obsidian."""

# A wiki link couldn't name a file with these; quotes have a form that every system allows.
_KEPT_OTHERWISE = str.maketrans({"[": "(", "]": ")", "#": "", "^": "", '"': "'", "`": "'"})


def name_for_title(title: str) -> tuple[str, str | None]:
    """Return the file name for a note of this title, and the alias that keeps the title.

    The name is one name, never a path, and is sound on every system and in every link: `/` and `:`
    become dashes.

    Args:
        title: Any text, without `.md`.

    Returns:
        The name with `.md`, and the title (its spaces made single) if the name isn't just that.
    """
    plain = " ".join(unicodedata.normalize("NFC", title).split())
    name = " ".join(re.sub("%+", "%", plain).translate(_KEPT_OTHERWISE).split())
    file_name = sound_name(f"{name}.md") or f"{UNTITLED}.md"
    alias = None if file_name == f"{plain}.md" or not plain else plain
    return file_name, alias


def with_alias(text: str, alias: str) -> str:
    """Return the note's text with one more alias, by which links and people find it.

    Raises:
        InvalidError: Its properties can't be read.
    """
    there = next(
        (value for name, value in parse(text).properties.items() if name.casefold() == "aliases"),
        None,
    )
    aliases: list[PropertyValue] = []
    if isinstance(there, str):
        aliases = [there]
    elif isinstance(there, Sequence):
        aliases = list(there)
    return text if alias in aliases else with_property(text, "aliases", [*aliases, alias])
