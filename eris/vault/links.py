"""Which file a link means, and how a link to a file is written, by Obsidian's rules.

A target is looked up in this order; the first that finds something wins, first as written, then
with `.md` behind:

1. relative to the source's folder, if it has `.` or `..` between its slashes;
2. from the root of the vault;
3. by its name, or the end of its path, anywhere (not if it starts with `/`). Of several: those
   below the source's own folder first, then the shortest path, then the alphabet.

Upper and lower case and Unicode's normal forms don't matter, except to choose between files that
differ in nothing else. Obsidian doesn't document the choice; people have watched it:
https://github.com/pvliesdonk/markdown-vault-mcp/issues/1350. We differ in one thing: names are
compared whole, so `[[b/Note]]` isn't `ab/Note.md`.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from enum import Enum, auto

from eris.vault.anchors import find_anchor, heading_anchor
from eris.vault.link_syntax import (
    destination,
    fits_wiki_link,
    markdown_shown,
    wiki_anchor,
    wiki_shown,
)
from eris.vault.names import Names, folded, folder_of, name_of
from eris.vault.settings import LinkFormat, Settings

__all__ = [
    "MARKDOWN_ENDING",
    "Names",
    "Style",
    "ambiguous",
    "candidates",
    "exact_path",
    "find_anchor",
    "folded",
    "heading_anchor",
    "is_relative",
    "is_rooted",
    "link_text",
    "resolve",
    "stem",
    "without_ending",
    "written_target",
]

MARKDOWN_ENDING = ".md"


def resolve(target: str, source: str, names: Names) -> str | None:
    """Return the path of the file that a link means; None if there's none.

    Args:
        target: The link's target, percent-encoding undone, without anchor. Empty for the source.
        source: The path of the note that has the link.
        names: All files of the vault.
    """
    if not target.strip():
        return source
    for written in _readings(target, names):
        exact = exact_path(written, source, names)
        if exact is not None:
            return exact
        found = _elsewhere(written, source, names)
        if found:
            return min(found, key=_rank(written, source, names))
    return None


def candidates(target: str, source: str, names: Names) -> list[str]:
    """Return all files that a link can mean, the one that `resolve` takes first.

    More than one means that the link is ambiguous: a reader may follow it, a writer should ask.
    """
    if not target.strip():
        return [source]
    for written in _readings(target, names):
        exact = exact_path(written, source, names)
        found = [] if exact is None else [exact]
        if exact is None or not is_relative(written):
            others = set(_elsewhere(written, source, names)).difference(found)
            found += sorted(others, key=_rank(written, source, names))
        if found:
            return found
    return []


def ambiguous(target: str, source: str, names: Names) -> bool:
    """Whether a link can mean more than one file."""
    return len(candidates(target, source, names)) > 1


def is_rooted(target: str) -> bool:
    """Whether a target starts at the root of the vault: `/Folder/Note`."""
    return target.startswith("/")


def is_relative(target: str) -> bool:
    """Whether a target says by `.` or `..` that it starts at the source's folder."""
    return not is_rooted(target) and not {".", ".."}.isdisjoint(target.split("/"))


def exact_path(target: str, source: str, names: Names) -> str | None:
    """Return the file whose whole path a target is, from the root or, if it says so, from `source`.

    Unlike `resolve`, it looks nowhere else and adds no `.md`.
    """
    return names.at(_path(target, source))


def _path(target: str, source: str) -> str:
    if is_relative(target):
        # Above the root is the root: normpath drops `..` there.
        return posixpath.normpath(f"/{folder_of(source)}/{target}").lstrip("/")
    return target.removeprefix("/")


def _readings(target: str, names: Names) -> Iterator[str]:
    """Yield what a target can be, best first: as it's written, then with `.md`."""
    for written in dict.fromkeys((target, target.strip())):
        for path in (written, written + MARKDOWN_ENDING):
            if names.named(name_of(path)):
                yield path


def _elsewhere(target: str, source: str, names: Names) -> list[str]:
    """Return the files whose paths end in a target, at the start of a name."""
    if is_rooted(target):
        return []
    path = _path(target, source)
    found = names.named(name_of(path))
    if "/" not in path:
        return list(found)
    ending = "/" + folded(path)
    return [other for other in found if ("/" + names.key(other)).endswith(ending)]


def _rank(target: str, source: str, names: Names) -> Callable[[str], tuple[bool, int, bool, str]]:
    """Return a key that sorts files that a target can mean, best first."""
    folder = folder_of(source)
    below = f"{folded(folder)}/" if folder else ""

    def rank(other: str) -> tuple[bool, int, bool, str]:
        return not names.key(other).startswith(below), len(other), not other.endswith(target), other

    return rank


def link_text(
    target_path: str,
    source_path: str,
    names: Names,
    settings: Settings,
    anchor: str = "",
    shown: str | None = None,
    embed: bool = False,
    *,
    in_table: bool = False,
) -> str:
    """Return a link as the vault's settings want it.

    It's a Markdown link also if the settings want wiki links but a name has characters that a wiki
    link can't have, such as `#`.

    Args:
        target_path: The file that the link is to lead to; it may be one that isn't there yet.
        source_path: The note that the link is for.
        names: All files of the vault.
        settings: The vault's.
        anchor: A heading's (see `heading_anchor`) or `^block`; without `#` in front.
        shown: The text to show, such as one of the note's aliases; None for what Obsidian shows.
        embed: Whether to show the target itself.
        in_table: Whether it's for a cell of a table, where a `|` has to be escaped.
    """
    here = target_path == source_path and bool(anchor)
    style = _STYLES[settings.link_format]
    bang = "!" if embed else ""
    if not settings.markdown_links:
        target = "" if here else written_target(target_path, source_path, names, style)
        if fits_wiki_link(target) and not _breaks_wiki(shown):
            inside = f"{target}#{wiki_anchor(anchor)}" if anchor else target
            if shown is None and "/" in target and not anchor and not embed:
                shown = stem(target_path)  # as Obsidian does: a path is nothing to read
            if shown in {None, inside}:
                return f"{bang}[[{inside}]]"
            bar = "\\|" if in_table else "|"
            return f"{bang}[[{inside}{bar}{wiki_shown(shown or '', in_table=in_table)}]]"
    path = "" if here else written_target(target_path, source_path, names, style, ending=True)
    if shown is None:
        shown = "" if embed else (anchor.lstrip("^") if here else stem(target_path))
    text = markdown_shown(shown, in_table=in_table)
    return f"{bang}[{text}]({destination(path, anchor)})"


class Style(Enum):
    """How a target is written."""

    NAME = auto()
    """The bare name, if only one file has it; otherwise from the root."""
    RELATIVE = auto()
    """From the source's folder: `Note`, `sub/Note`, `../Note`."""
    DOTTED = auto()
    """The same, always with a dot in front: `./Note`."""
    ABSOLUTE = auto()
    """From the root."""
    ROOTED = auto()
    """From the root, with a slash in front."""


_STYLES = {
    LinkFormat.SHORTEST: Style.NAME,
    LinkFormat.RELATIVE: Style.RELATIVE,
    LinkFormat.ABSOLUTE: Style.ABSOLUTE,
}


def written_target(
    path: str, source: str, names: Names, style: Style, *, ending: bool = False
) -> str:
    """Return a target in this style that means this file from this note, not encoded.

    Where the style's own form means another file, a longer one is taken.

    Args:
        path: The file that's meant.
        source: The note that has the link.
        names: All files of the vault. This one may be missing if it's yet to be made.
        style: How the target is to be written.
        ending: Whether a note's `.md` is written. What isn't a note always has its ending.
    """
    for form in _forms(path, source, style):
        short = form if ending else without_ending(form)
        for target in dict.fromkeys((short, form)):
            found = resolve(target, source, names)
            if found != path and (found is not None or path in names):
                continue
            # Obsidian writes more than the name as soon as two files have it; but for a file at
            # the root the name is the whole path.
            bare = style is Style.NAME and "/" not in target and "/" in path
            if bare and ambiguous(target, source, names):
                continue
            return target
    return "/" + path


def without_ending(path: str) -> str:
    """Return a path without `.md`; any other ending stays."""
    return path[: -len(MARKDOWN_ENDING)] if path.lower().endswith(MARKDOWN_ENDING) else path


def stem(path: str) -> str:
    """Return what a file is called: its name, without `.md` if it's a note."""
    return without_ending(name_of(path))


def _forms(path: str, source: str, style: Style) -> Iterator[str]:
    """Yield targets for a file, the style's own first, the one that can't be mistaken last."""
    folder = folder_of(source)
    relative = posixpath.relpath("/" + path, "/" + folder)
    dotted = relative if relative.startswith("../") else f"./{relative}"
    match style:
        case Style.NAME:
            yield name_of(path)
        case Style.RELATIVE:
            yield relative
            yield dotted
        case Style.DOTTED:
            yield dotted
        case Style.ABSOLUTE | Style.ROOTED:
            pass
    if style is not Style.ROOTED:
        yield path
    yield "/" + path


def _breaks_wiki(shown: str | None) -> bool:
    return shown is not None and (
        not shown.strip() or bool(re.search(r"[\r\n]|\[\[|\]\]|\]$", shown))
    )
