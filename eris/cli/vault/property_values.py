"""What a property's value means that is typed on the command line."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import click
import msgspec

T = TypeVar("T")

KINDS = ("text", "list", "number", "checkbox", "date", "datetime")
"""Obsidian's names for types of properties."""

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?")
"""Not with leading zeros, nor longer than a number can be exact: such are codes and names."""

_CHECKED = {"true": True, "yes": True, "x": True, "false": False, "no": False, "": False}


def value_as_json(words: Sequence[str], kind: str | None = None) -> str:
    """Return the value that words on the command line mean, as JSON.

    Args:
        words: The words; several of them are a list, unless the value is to be text.
        kind: One of `KINDS`; None to tell it by how it's written.

    Raises:
        click.UsageError: They can't be a value of that kind.
    """
    value = " ".join(words)
    meant: object
    match kind:
        case None:
            meant = _told(value) if len(words) == 1 else [_told(word) for word in words]
        case "list":
            parts = words if len(words) > 1 else value.split(",")
            meant = [part.strip() for part in parts if part.strip()]
        case "number" if re.fullmatch(r"[-+]?\d+", value):
            meant = int(value)
        case "number":
            meant = _converted(float, value, "a number")
        case "checkbox":
            meant = _converted(lambda each: _CHECKED[each.casefold()], value, "true or false")
        case "date":
            meant = _converted(dt.date.fromisoformat, value, "a date such as 2027-01-31")
        case "datetime":
            moment = _converted(dt.datetime.fromisoformat, value, "a time: 2027-01-31T09:30:00")
            meant = moment.isoformat(timespec="seconds")
        case _:
            meant = value
    return msgspec.json.encode(meant).decode()


def _told(word: str) -> object:
    if word in {"true", "false"}:
        return word == "true"
    number = _NUMBER.fullmatch(word)
    if number:
        return float(word) if number[2] else int(word)
    if word.startswith("["):
        try:
            return msgspec.json.decode(word, type=list[str | int | float | bool])
        except msgspec.DecodeError:
            return word  # Such as a link: [[Note]].
    return word


def _converted(convert: Callable[[str], T], value: str, what: str) -> T:
    try:
        return convert(value)
    except (ValueError, KeyError) as error:
        raise click.UsageError(f"{value!r} isn't {what}.") from error
