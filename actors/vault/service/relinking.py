"""What moving files does to the links of all notes: which notes need a look, and their edits."""

from collections.abc import Callable, Iterable
from functools import partial

from actors.vault.index import VaultIndex, link_key
from eris.vault.bases import rewritten_base
from eris.vault.canvas import rewritten_canvas
from eris.vault.markdown import parse
from eris.vault.moving import rewritten, touched_names
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


def rewrites(moves: dict[str, str], index: VaultIndex, settings: Settings) -> dict[str, Edit]:
    """Return the edits of files with links that the moves concern, by their paths before.

    Besides those with a link to a moved file these are the moved ones themselves, since their
    relative links lead elsewhere, and those with a link that could mean a moved file from now on.
    """
    before = index.names()
    after = before.moved(moves)
    keys = {link_key(path) for path in (*moves, *moves.values())}
    sources = {*moves, *index.linking(keys)}
    sources |= {path for path in before if path.endswith(_BASE)}
    touched = touched_names(moves)

    def markdown(path: str, text: str) -> str | None:
        note = parse(text, properties=False)
        return rewritten(note, path, moves, before, after, settings, touched)

    return {
        path: _edit(path, moves, partial(markdown, path))
        for path in sorted(sources)
        if path.lower().endswith((_NOTE, _CANVAS, _BASE))
    }


def _edit(path: str, moves: dict[str, str], markdown: Callable[[str], str | None]) -> Edit:
    def edit(text: str) -> str:
        if path.lower().endswith(_CANVAS):
            new = rewritten_canvas(text, moves, markdown)
        elif path.lower().endswith(_BASE):
            new = rewritten_base(text, moves)
        else:
            new = markdown(text)
        return text if new is None else new

    return edit
