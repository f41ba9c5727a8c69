"""Files and text that a canvas shows, in the JSON Canvas format; only what has to is changed.

A canvas is edited as text, not read and written again, so that its order, its spaces and what
other programs put into it stay.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from eris.vault.note import Span

_MARK = re.compile(r'[{}\[\],:"]|[^\s{}\[\],:"]+')
_DECODER = json.JSONDecoder()
_FILE, _BACKGROUND, _TEXT, _SUBPATH = "file", "background", "text", "subpath"
_NODE_TYPES = {_FILE: "file", _BACKGROUND: "group", _TEXT: "text", _SUBPATH: "file"}
"""Keys of a node that say what is shown, and the type of the nodes that have them."""


class FileCard(msgspec.Struct, frozen=True):
    """A file on a canvas: on a card, or as the background of a group."""

    path: str
    span: Span
    """Where the path is written, its quotes included."""
    anchor: str = ""
    """The heading or block that is shown of it, without the first `#`; empty for all of it."""
    anchor_span: Span | None = None
    """Where that is written, its quotes included."""


class TextCard(msgspec.Struct, frozen=True):
    """A card with Markdown on a canvas."""

    markdown: str
    span: Span
    """Where it's written, its quotes included."""


Card = FileCard | TextCard


def cards_of(text: str) -> tuple[Card, ...] | None:
    """Return what a canvas shows, in its order.

    Args:
        text: The text of a `.canvas` file; an empty one is an empty canvas.

    Returns:
        None if it can't be read.
    """
    start = 1 if text.startswith("\ufeff") else 0
    if not text[start:].strip():
        return ()
    try:
        canvas = json.loads(text[start:])
    except (ValueError, RecursionError):
        return None
    nodes = canvas.get("nodes", []) if isinstance(canvas, dict) else None
    return tuple(_cards(text, start, nodes)) if isinstance(nodes, list) else None


def rewritten_canvas(
    text: str,
    moves: Mapping[str, str],
    rewritten_card: Callable[[str], str | None] = lambda _: None,
) -> str | None:
    """Return the canvas's text with the new paths of files that are moved.

    Args:
        text: The text of a `.canvas` file.
        moves: Old path to new path.
        rewritten_card: Returns the new Markdown of a text card, or None if it stays; see
            `eris.vault.moving.rewritten`, for which the canvas's path is the note's.

    Returns:
        None if nothing has to change, or if the text isn't a canvas.
    """

    def path(card: FileCard) -> Iterator[_Change]:
        new = moves.get(card.path) or moves.get(unicodedata.normalize("NFC", card.path))
        if new is not None:
            yield card.span, new

    return _rewritten(text, path, rewritten_card)


def canvas_with_heading(
    text: str,
    path: str,
    renamed: Callable[[str], str | None],
    rewritten_card: Callable[[str], str | None],
) -> str | None:
    """Return the canvas's text in which a heading of a note has its new title.

    Args:
        text: The text of a `.canvas` file.
        path: The note.
        renamed: Returns an anchor with the heading's new title, or None if it names another one.
        rewritten_card: Returns the new Markdown of a text card, or None if it stays.

    Returns:
        None if nothing has to change, or if the text isn't a canvas.
    """

    def anchor(card: FileCard) -> Iterator[_Change]:
        if card.anchor_span and unicodedata.normalize("NFC", card.path) == path:
            new = renamed(card.anchor)
            if new is not None:
                yield card.anchor_span, f"#{new}"

    return _rewritten(text, anchor, rewritten_card)


_Change = tuple[Span, str]
"""Where a string is written, and what it says from now on."""


def _rewritten(
    text: str,
    file: Callable[[FileCard], Iterator[_Change]],
    markdown: Callable[[str], str | None],
) -> str | None:
    changes: list[_Change] = []
    for card in cards_of(text) or ():
        if isinstance(card, FileCard):
            changes += file(card)
        elif (new := markdown(card.markdown)) is not None:
            changes.append((card.span, new))
    pieces: list[str] = []
    end = 0
    for span, new in sorted(changes):
        written = span.of(text)
        if new == json.loads(written):
            continue
        # Letters stay readable unless this very string was written in ASCII only.
        pieces += [text[end : span.start], json.dumps(new, ensure_ascii="\\u" in written)]
        end = span.end
    return "".join([*pieces, text[end:]]) if pieces else None


def _cards(text: str, start: int, nodes: Sequence[object]) -> Iterator[Card]:
    """Yield what the nodes show; of a key that a node has twice, the last counts, as in JSON."""
    found: dict[int, dict[str, tuple[Span, str]]] = {}
    for place, span, value in _strings(text, start):
        match place:
            case ("nodes", int(number), str(key)) if key in _NODE_TYPES:
                node = nodes[number] if number < len(nodes) else None
                if isinstance(node, dict) and node.get("type") == _NODE_TYPES[key]:
                    found.setdefault(number, {})[key] = (span, value)
    for _, strings in sorted(found.items()):
        anchor_span, anchor = strings.get(_SUBPATH, (None, ""))
        for key, (span, value) in strings.items():
            if key == _TEXT:
                yield TextCard(value, span)
            elif key == _FILE:
                yield FileCard(value, span, anchor.removeprefix("#"), anchor_span)
            elif key == _BACKGROUND:
                yield FileCard(value, span)


_Place = tuple[str | int, ...]


def _strings(text: str, position: int) -> Iterator[tuple[_Place, Span, str]]:
    """Yield every string that's a value, with the keys and indexes that lead to it."""
    place: list[str | int] = []
    in_object: list[bool] = []
    key_next = False
    while match := _MARK.search(text, position):
        mark, start, position = match.group(), match.start(), match.end()
        match mark:
            case "{" | "[":
                in_object.append(mark == "{")
                place.append("" if mark == "{" else 0)
                key_next = mark == "{"
            case "}" | "]":
                in_object.pop()
                place.pop()
            case ",":
                key_next = in_object[-1]
                last = place[-1]
                if isinstance(last, int):
                    place[-1] = last + 1
            case '"':
                value, position = _DECODER.raw_decode(text, start)
                if key_next:
                    place[-1] = value
                    key_next = False
                else:
                    yield tuple(place), Span(start, position), value
