"""Files and text that a canvas shows, in the JSON Canvas format; only what has to is changed.

A canvas is edited as text, not read and written again, so that its order, its spaces and what
other programs put into it stay.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from eris.vault.note import Span

_MARK = re.compile(r'[{}\[\],:"]|[^\s{}\[\],:"]+')
_DECODER = json.JSONDecoder()
_NODE_TYPES = {"file": "file", "background": "group", "text": "text"}
"""Keys of a node whose value is a path, or Markdown, and the type of the nodes that have them."""


def canvas_files(text: str) -> tuple[tuple[Span, str], ...]:
    """Return where a canvas names files, quotes included, and their paths; none if it's broken."""
    return tuple((span, value) for span, value, is_path in _values(text) if is_path)


def canvas_cards(text: str) -> tuple[tuple[Span, str], ...]:
    """Return where a canvas has text cards, quotes included, and their Markdown."""
    return tuple((span, value) for span, value, is_path in _values(text) if not is_path)


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
    pieces: list[str] = []
    end = 0
    for span, value, is_path in _values(text):
        if is_path:
            new = moves.get(value) or moves.get(unicodedata.normalize("NFC", value))
        else:
            new = rewritten_card(value)
        if new is None or new == value:
            continue
        # Letters stay readable unless this very string was written in ASCII only.
        ascii_only = "\\u" in span.of(text)
        pieces += [text[end : span.start], json.dumps(new, ensure_ascii=ascii_only)]
        end = span.end
    if not pieces:
        return None
    return "".join([*pieces, text[end:]])


def _values(text: str) -> Iterator[tuple[Span, str, bool]]:
    """Yield where paths and cards are, what they say, and whether it's a path."""
    start = 1 if text.startswith("\ufeff") else 0
    try:
        canvas = json.loads(text[start:])
    except (ValueError, RecursionError):
        return
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    if not isinstance(nodes, list):
        return
    for place, span, value in _strings(text, start):
        match place:
            case ("nodes", int(number), str(key)) if key in _NODE_TYPES:
                node = nodes[number]
                if isinstance(node, dict) and node.get("type") == _NODE_TYPES[key]:
                    yield span, value, key != "text"


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
