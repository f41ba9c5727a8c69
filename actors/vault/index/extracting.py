"""A note's bytes as rows of the index. Pure, so that other processes can do it."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actors.vault.names import stem
from actors.vault.text import decode
from eris.errors import InvalidError
from eris.vault.canvas import FileCard, cards_of
from eris.vault.links import folded
from eris.vault.markdown import parse
from eris.vault.note import Link, Note, PropertyValue
from eris.vault.words import fold, spaced

CANVAS = ".canvas"
TEXT_EXTENSIONS = (".md", ".markdown", ".txt", CANVAS)
"""Endings of the files whose content is indexed; of all others only the name is."""

Rows = tuple[tuple[Any, ...], ...]
"""Rows of one table, without the file's id, which isn't known yet."""


@dataclass(frozen=True, slots=True)
class Extract:
    """All that the index keeps of a note's content."""

    text: str
    title: str
    body: str
    """The text as the full-text table gets it."""
    aliases: Rows = ()
    headings: Rows = ()
    links: Rows = ()
    """Without the last column, `resolved`."""
    tags: Rows = ()
    properties: Rows = ()
    tasks: Rows = ()


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a file's content isn't indexed."""

    reason: str


def extract(path: str, data: bytes) -> Extract | Unfit:
    """Return what a file's content is to the index.

    Args:
        path: Its path in the vault.
        data: All of it.
    """
    try:
        text = decode(data, path.rpartition("/")[2])
    except InvalidError as error:
        return Unfit(error.message)
    if path.lower().endswith(CANVAS):
        return _canvas(text)
    if not path.lower().endswith((".md", ".markdown")):
        return Extract(text, "", body(text))
    try:
        return _note(parse(text))
    except Exception:  # noqa: BLE001 - one odd note mustn't keep ten thousand from being found
        return _note(Note(text=text))


def body(text: str) -> str:
    """Return a text as the full-text table gets it."""
    return spaced(fold(text))


def link_key(target: str) -> str:
    """Return what a link and the files it can mean have in common: the last name, folded.

    The ending of a note may be left out in a link, so it's left out here.
    """
    key = folded(target.rpartition("/")[2]).strip()
    while key.endswith(".md"):
        key = key.removesuffix(".md").rstrip()
    return key


def tag_key(name: str) -> str:
    """Return a key that is equal for tags that differ in case only."""
    return folded(name)


def _note(note: Note) -> Extract:
    properties = {folded(str(name)): value for name, value in note.properties.items()}
    return Extract(
        text=note.text,
        title=_title(note, properties),
        body=body(note.text),
        aliases=tuple(
            (position, alias, fold(alias))
            for position, alias in enumerate(_texts(properties.get("aliases")))
        ),
        headings=tuple(
            (position, each.level, each.title, fold(each.title), note.line(each.span.start))
            for position, each in enumerate(note.headings)
        ),
        links=tuple(
            _link(position, link, note.line(link.span.start))
            for position, link in enumerate(note.links)
        ),
        tags=tuple(
            (position, each.name, tag_key(each.name), note.line(each.span.start))
            for position, each in enumerate(note.tags)
        ),
        properties=tuple((key, _json(value)) for key, value in properties.items()),
        tasks=tuple(
            (position, each.mark.of(note.text), each.text, note.line(each.span.start))
            for position, each in enumerate(note.tasks)
        ),
    )


def _link(position: int, link: Link, line: int) -> tuple[Any, ...]:
    key = link_key(link.target)
    meant = (position, link.target, link.anchor, key, link.kind, link.shown, link.embed, line)
    return (*meant, *_places(link))


def _places(link: Link) -> tuple[int, int, int, int]:
    span, target = link.span, link.target_span
    return span.start, span.end, target.start, target.end


def _title(note: Note, properties: Mapping[str, PropertyValue]) -> str:
    given = properties.get("title")
    if isinstance(given, str) and given.strip():
        return given.strip()
    return next((each.title for each in note.headings if each.level == 1), "")


def _texts(value: PropertyValue) -> list[str]:
    """A list of texts, or one text in place of a list."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        return []
    return [str(each).strip() for each in values if isinstance(each, str | int | float)]


def _json(value: PropertyValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain, skipkeys=True)


def _plain(value: object) -> object:
    """What JSON hasn't, as it's written in a note."""
    match value:
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat()
        case dt.date():
            return value.isoformat()
        case Mapping():
            return dict(value)
        case Sequence():
            return list(value)
        case _:
            return str(value)


def _canvas(text: str) -> Extract | Unfit:
    """The cards of a canvas: their text, and the files they show."""
    cards = cards_of(text)
    if cards is None:
        return Unfit("It isn't a canvas: its JSON can't be read.")
    links: list[tuple[Any, ...]] = []
    tags: list[tuple[Any, ...]] = []
    texts: list[str] = []
    for card in cards:
        if isinstance(card, FileCard):
            where = (card.span.start, card.span.end) * 2
            meant = (card.path, card.anchor, link_key(card.path), "canvas", None, True, 0)
            links.append((len(links), *meant, *where))
            continue
        note = parse(card.markdown)
        texts.append(card.markdown)
        links += [_link(len(links) + n, link, 0) for n, link in enumerate(note.links)]
        tags += [(len(tags) + n, tag.name, tag_key(tag.name), 0) for n, tag in enumerate(note.tags)]
    whole = "\n\n".join(texts)
    return Extract(whole, "", body(whole), links=tuple(links), tags=tuple(tags))


def name_words(path: str) -> tuple[str, str]:
    """Return a file's name and folder as the full-text table gets them."""
    folder, _, name = path.rpartition("/")
    return body(stem(name)), body(folder)
