"""What moving files, or a heading's new title, does to the links of all notes: as their edits."""

from collections.abc import Callable, Iterable
from functools import partial

from actors.vault.index import VaultIndex, link_key
from eris.vault.anchors import BLOCK_ID, find_heading, heading_anchor
from eris.vault.bases import rewritten_base
from eris.vault.canvas import canvas_with_heading, rewritten_canvas
from eris.vault.editing import with_title
from eris.vault.links import Names
from eris.vault.markdown import parse
from eris.vault.moving import heading_renamed, renamed_anchor, rewritten, touched_names
from eris.vault.note import Note
from eris.vault.sections import heading_named
from eris.vault.settings import Settings

Edit = Callable[[str], str]

_NOTE, _CANVAS, _BASE = ".md", ".canvas", ".base"


def moves_of(path: str, new_path: str, names: Iterable[str]) -> dict[str, str]:
    """Return old and new path of every file that moves with a file or folder."""
    names = tuple(names)
    if path in names:
        return {path: new_path}
    below = f"{path}/"
    return {each: new_path + each[len(path) :] for each in names if each.startswith(below)}


def rewrites(
    moves: dict[str, str], before: Names, index: VaultIndex, settings: Settings
) -> dict[str, Edit]:
    """Return the edits of files with links that the moves concern, by their paths before.

    Besides those with a link to a moved file these are the moved ones themselves, since their
    relative links lead elsewhere, and those with a link that could mean a moved file from now on.
    """
    after = before.moved(moves)
    keys = {link_key(path) for path in (*moves, *moves.values())}
    sources = {*moves, *index.linking(keys)}
    sources |= {path for path in before if path.endswith(_BASE)}
    touched = touched_names(moves)

    def in_note(path: str, note: Note) -> str | None:
        return rewritten(note, path, moves, before, after, settings, touched)

    def edit(path: str, text: str) -> str | None:
        ending = path.lower()
        if ending.endswith(_CANVAS):
            return rewritten_canvas(text, moves, lambda card: in_note(path, _parsed(card)))
        if ending.endswith(_BASE):
            return rewritten_base(text, moves)
        return in_note(path, _note(index, path, text))

    return _edits(sources, edit)


def heading_rewrites(
    path: str, heading: str, title: str, index: VaultIndex, now: str
) -> dict[str, Edit]:
    """Return the edits of the files that a heading's new title concerns, that of the note first.

    Args:
        path: The note that has the heading.
        heading: Which one, as people name it.
        title: Its new title.
        index: Knows which files link to the note.
        now: The note's text.

    Raises:
        InvalidError: Several headings are meant, or the title is none.
        NotFoundError: There's no such heading.
    """
    note = parse(now)
    meant = heading_named(note, heading)
    old = BLOCK_ID.sub("", meant.title)
    with_title(now, heading, title)
    edits = {path: lambda text: with_title(text, heading, title)}
    if find_heading(note, heading_anchor(old)) != meant:
        return edits  # Of several that are called so, links mean another.
    names = index.names()

    def in_note(source: str, one: Note) -> str | None:
        return heading_renamed(one, source, path, old, title, names)

    def edit(source: str, text: str) -> str | None:
        if source.lower().endswith(_CANVAS):
            anchor = partial(renamed_anchor, old=old, new=title)
            return canvas_with_heading(
                text, path, anchor, lambda card: in_note(source, _parsed(card))
            )
        return in_note(source, _note(index, source, text))

    def own(text: str) -> str:
        relinked = edit(path, text)
        return with_title(text if relinked is None else relinked, heading, title)

    sources = {link.source for link in index.backlinks(path) if link.anchor}
    return {path: own, **_edits(sources - {path}, edit)}


def _edits(paths: Iterable[str], edit: Callable[[str, str], str | None]) -> dict[str, Edit]:
    """Return what becomes of each of the files that have links, from what it says."""

    def of(path: str, text: str) -> str:
        new = edit(path, text)
        return text if new is None else new

    return {
        path: partial(of, path)
        for path in sorted(paths)
        if path.lower().endswith((_NOTE, _CANVAS, _BASE))
    }


def _note(index: VaultIndex, path: str, text: str) -> Note:
    """Return a note with its links, and nothing else: from the index if that has this text."""
    links = index.links_in(path, text)
    return _parsed(text) if links is None else Note(text, links=links)


def _parsed(text: str) -> Note:
    return parse(text, properties=False)
