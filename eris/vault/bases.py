"""Paths of files that are named in Obsidian's `.base` files: filters and formulas over notes."""

import re
from collections.abc import Mapping

from eris.vault.links import without_ending


def rewritten_base(text: str, moves: Mapping[str, str]) -> str | None:
    """Return the base's text with the new paths of files that are moved.

    Only a text in quotes that is a file's whole path, with or without `.md`, is changed, such as in
    `file.hasLink("inbox/idea.md")`; a bare name could mean anything. Folders aren't changed: the
    notes of a filter by folder needn't be those that were moved.

    Args:
        text: The text of a `.base` file.
        moves: Old path to new path.

    Returns:
        None if nothing has to change.
    """
    places = dict(moves)
    for old, new in moves.items():
        if "/" in old and without_ending(old) != old:
            places.setdefault(without_ending(old), without_ending(new))

    # A quote or backslash would need to know how many languages the text is in.
    places = {old: new for old, new in places.items() if not set(old + new) & {"'", '"', "\\"}}
    if not places:
        return None
    quoted = re.compile(rf"([\"'])({'|'.join(map(re.escape, places))})\1")
    new_text = quoted.sub(lambda match: f"{match[1]}{places[match[2]]}{match[1]}", text)
    return None if new_text == text else new_text
