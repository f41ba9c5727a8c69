"""What moving or renaming files does to the links of a note; pure, one note at a time.

Only links that would mean another file afterwards, or none, or for the first time more than one,
are written anew, each in its own style: with or without `.md`, by name, from the root or from the
note's folder. Anchors and shown text stay, and so does every character outside of the targets.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from eris.vault.anchors import heading_anchor, heading_key
from eris.vault.link_syntax import (
    destination,
    fits_wiki_link,
    fully_encoded,
    markdown_shown,
    wiki_anchor,
)
from eris.vault.links import (
    MARKDOWN_ENDING,
    Names,
    Style,
    ambiguous,
    exact_path,
    is_relative,
    is_rooted,
    resolve,
    stem,
    without_ending,
    written_target,
)
from eris.vault.names import folded, folder_of, name_of
from eris.vault.note import Link, LinkKind, Note
from eris.vault.settings import LinkFormat, Settings


def rewritten(
    note: Note,
    path: str,
    moves: Mapping[str, str],
    before: Names,
    after: Names,
    settings: Settings,
    touched: frozenset[str] | None = None,
) -> str | None:
    """Return the note's text in which every link means the file that it meant before the moves.

    A relative link has to lead straight to its file, as it did before: that Obsidian, which also
    looks for the name elsewhere, would find it isn't enough. A link in a property stays as it is if
    no link there can name the file, since its new name has characters such as `#`; everywhere else
    a wiki link becomes a Markdown link then.

    Args:
        note: The note.
        path: Where it was before the moves, even if it's one of those that are moved.
        moves: Old path to new path, for each file that's moved.
        before: All files before the moves.
        after: All files after them.
        settings: The vault's.
        touched: `touched_names` of the moves, for whoever looks at many notes.

    Returns:
        None if nothing has to change.
    """
    names = touched_names(moves) if touched is None else touched

    def change(link: Link) -> _Change | None:
        if path not in moves and not _is_touched(link.target, names):
            return None
        return _change(link, note, path, moves, before, after, settings)

    return _replaced(note, change)


def heading_renamed(
    note: Note, path: str, target_path: str, old: str, new: str, names: Names
) -> str | None:
    """Return the note's text in which links to a heading have the heading's new title.

    Args:
        note: The note.
        path: Its path.
        target_path: The note that has the heading; it may be this one.
        old: The title that the heading had.
        new: The title that it has now.
        names: All files of the vault.

    Returns:
        None if no link has to change: there's none, or links can't tell the titles apart.
    """
    key, anchor = heading_key(old), heading_anchor(new)
    if renamed_anchor(old, old, new) is None:
        return None

    def change(link: Link) -> _Change | None:
        if not link.anchor or resolve(link.target, path, names) != target_path:
            return None
        written = link.target_span.of(note.text)
        target, *parts = written.split("#")
        encoded = link.kind is LinkKind.MARKDOWN
        renamed = [
            part
            if heading_key(unquote(part) if encoded else part) != key
            else _anchor_part(anchor, link, note)
            for part in parts
        ]
        span = link.target_span
        return None if renamed == parts else (span.start, span.end, "#".join([target, *renamed]))

    return _replaced(note, change)


def renamed_anchor(anchor: str, old: str, new: str) -> str | None:
    """Return an anchor with a heading's new title, as it's written in plain text.

    Args:
        anchor: Such as `Chapter#Section`.
        old: The title that the heading had.
        new: The title that it has now.

    Returns:
        None if the anchor names another heading, or if links can't tell the two titles apart.
    """
    key, name = heading_key(old), heading_anchor(new)
    if not name or heading_key(new) == key:
        return None
    parts = anchor.split("#")
    renamed = [name if heading_key(part) == key else part for part in parts]
    return None if renamed == parts else "#".join(renamed)


def _anchor_part(anchor: str, link: Link, note: Note) -> str:
    match link.kind:
        case LinkKind.MARKDOWN:
            return destination("", anchor, bracketed=_in_angles(link, note))[1:]
        case LinkKind.WIKI:
            return wiki_anchor(anchor)
        case LinkKind.PROPERTY:
            quoted = _quoted(wiki_anchor(anchor), note.text, link.span.start)
            return wiki_anchor(anchor) if quoted is None else quoted


_Change = tuple[int, int, str]
"""Start, end and new text of a part of a note."""


def _replaced(note: Note, change: Callable[[Link], _Change | None]) -> str | None:
    """Return the note's text with the changes of its links; None if there are none."""
    pieces: list[str] = []
    end = 0
    for link in sorted(note.links, key=lambda one: one.target_span.start):
        changed = change(link) if link.target_span.start >= end else None
        if changed is not None:
            pieces += [note.text[end : changed[0]], changed[2]]
            end = changed[1]
    return "".join([*pieces, note.text[end:]]) if pieces else None


def moved_path(path: str, moves: Mapping[str, str]) -> str:
    """Return where a file is after the moves."""
    return moves.get(path, path)


def touched_names(moves: Mapping[str, str]) -> frozenset[str]:
    """Return the last names, folded, of all targets whose meaning the moves can change.

    A note needs a look by `rewritten` if it's moved itself, or if the folded last name of one of
    its links' targets, as it is or without `.md`, is among them: also a link to a file that stays
    can mean another one afterwards, because that has the name now.
    """
    names: set[str] = set()
    for path in (*moves, *moves.values()):
        name = folded(name_of(path))
        names |= {name, without_ending(name)}
    return frozenset(names)


def _is_touched(target: str, names: frozenset[str]) -> bool:
    name = folded(name_of(target))
    return name in names or without_ending(name) in names


def style_of(target: str, source: str, path: str, settings: Settings) -> Style:
    """Return how a target is written that means the file at `path` from the note `source`.

    Where it can be told apart in no other way, such as between two notes of one folder, the
    settings decide.
    """
    if is_rooted(target):
        return Style.ROOTED
    if is_relative(target):
        return Style.DOTTED if target.startswith("./") else Style.RELATIVE
    relative = settings.link_format is LinkFormat.RELATIVE
    folder = folder_of(source)
    own = f"{folder}/{target}" if folder else target
    from_own = folded(path) in {folded(own), folded(own + MARKDOWN_ENDING)}
    if "/" not in target:
        return Style.RELATIVE if relative and from_own else Style.NAME
    from_root = folded(path) in {folded(target), folded(target + MARKDOWN_ENDING)}
    if from_own and (relative or not from_root):
        return Style.RELATIVE
    return Style.ABSOLUTE


def _change(
    link: Link,
    note: Note,
    path: str,
    moves: Mapping[str, str],
    before: Names,
    after: Names,
    settings: Settings,
) -> _Change | None:
    """Return what has to change for this link."""
    meant = resolve(link.target, path, before) if link.target.strip() else None
    if meant is None:
        return None
    new_path, new_meant = moved_path(path, moves), moved_path(meant, moves)
    style = style_of(link.target, path, meant, settings)
    relative = is_relative(link.target) or (
        style is Style.RELATIVE and settings.link_format is LinkFormat.RELATIVE
    )
    old_place, new_place = _Place(path, meant, before), _Place(new_path, new_meant, after)
    if new_meant not in after or _still_right(link.target, old_place, new_place, relative):
        return None

    def target(*, ending: bool) -> str:
        return written_target(new_meant, new_path, after, style, ending=ending)

    short = target(ending=folded(link.target).endswith(MARKDOWN_ENDING))
    if link.kind is LinkKind.WIKI and not fits_wiki_link(short):
        span, new = link.span, _as_markdown(link, note, target(ending=True))
        return span.start, span.end, new
    new_target = _spelt(short, link, note)
    if new_target is None:
        return None
    span = link.target_span
    written = span.of(note.text)
    anchor = written[written.index("#") :] if "#" in written else ""
    return span.start, span.end, new_target + anchor


class _Place(NamedTuple):
    """From where a link leads to which file, in which vault."""

    source: str
    path: str
    names: Names

    def is_meant_by(self, target: str) -> bool:
        return resolve(target, self.source, self.names) == self.path

    def is_led_to(self, target: str) -> bool:
        """Whether the target is the file's whole path, with or without `.md`."""
        return any(
            exact_path(target + ending, self.source, self.names) == self.path
            for ending in ("", MARKDOWN_ENDING)
        )

    def is_unmistakable(self, target: str) -> bool:
        return self.is_led_to(target) or not ambiguous(target, self.source, self.names)


def _still_right(target: str, before: _Place, after: _Place, relative: bool) -> bool:
    if not after.is_meant_by(target):
        return False
    if relative:
        dotted = target if is_relative(target) else f"./{target}"
        return after.is_led_to(dotted) or not before.is_led_to(dotted)
    return after.is_unmistakable(target) or not before.is_unmistakable(target)


def _spelt(target: str, link: Link, note: Note) -> str | None:
    """Return the target as it stands in this link's text; None if it can't."""
    match link.kind:
        case LinkKind.MARKDOWN:
            return _address(target, link.target_span.of(note.text), _in_angles(link, note))
        case LinkKind.WIKI:
            return target
        case LinkKind.PROPERTY:
            fits = fits_wiki_link(target)
            return _quoted(target, note.text, link.span.start) if fits else None


def _in_angles(link: Link, note: Note) -> bool:
    start, end = link.target_span.start, link.target_span.end
    return note.text[start - 1 : start] == "<" and note.text[end : end + 1] == ">"


def _address(target: str, written: str, in_angles: bool) -> str:
    """Return a target as an address, encoded like the one that was there."""
    if unquote(written).isascii() or not written.isascii():
        return destination(target, bracketed=in_angles)
    return fully_encoded(target)


def _as_markdown(link: Link, note: Note, target: str) -> str:
    """Return a Markdown link that shows and means what a wiki link did."""
    shown = link.shown
    if shown is None:
        shown = "" if link.embed else stem(target)
    line = note.text[note.text.rfind("\n", 0, link.span.start) + 1 : link.span.start]
    label = markdown_shown(shown, in_table=line.lstrip().startswith("|"))
    bang = "!" if link.embed else ""
    return f"{bang}[{label}]({destination(target, link.anchor)})"


_PLAIN_YAML_ENDS = re.compile(r":(?:\s|$)|\s#")


def _quoted(target: str, text: str, position: int) -> str | None:
    """Return a target as it can stand in the YAML value at this place; None if it can't."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    quote = ""
    previous = ""
    skip = False
    for character in line:
        if skip:
            skip = False
        elif quote:
            skip = quote == '"' and character == "\\"
            if character == quote:
                quote = ""
        elif character in "'\"" and previous in {"", " ", "\t", "[", ",", ":", "-", "{"}:
            quote = character
        previous = character
    match quote:
        case '"':
            return target.replace("\\", "\\\\").replace('"', '\\"')
        case "'":
            return target.replace("'", "''")
        case _:
            return None if _PLAIN_YAML_ENDS.search(target) else target
