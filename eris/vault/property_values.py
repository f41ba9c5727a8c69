"""Whether a note's properties fulfil a condition, and in which order values come."""

import datetime as dt
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from eris.vault.links import without_ending
from eris.vault.names import folded
from eris.vault.note import PropertyValue
from eris.vault.properties_query import (
    All,
    AnyOf,
    Comparison,
    Condition,
    Exists,
    Negation,
    Operator,
    Value,
    read_date,
)
from eris.vault.words import fold

TAG_KEYS = frozenset({"tags", "tag"})
"""Properties whose values are tags: a tag means those below it, too."""

Properties = Mapping[str, PropertyValue]
"""A note's properties by their names, folded."""

MISSING = (3, 0.0, "")
"""Sort key of a property that a note hasn't."""


def fulfils(note: Properties, condition: Condition) -> bool:
    """Whether a note fulfils a condition."""
    match condition:
        case All(parts):
            return all(fulfils(note, part) for part in parts)
        case AnyOf(parts):
            return any(fulfils(note, part) for part in parts)
        case Negation(part):
            return not fulfils(note, part)
        case Exists(name):
            return folded(name) in note
        case Comparison(name, sign, wanted):
            key = folded(name)
            if key not in note:
                return False
            equal = sign is Operator.UNEQUAL
            sign = Operator.EQUAL if equal else sign
            return equal != any(_compared(key, item, sign, wanted) for item in _items(note[key]))
        case _:
            assert_never(condition)


def mentioned(condition: Condition) -> Iterator[str]:
    """Yield the names of the properties that a condition is about."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from mentioned(part)
        case Negation(part):
            yield from mentioned(part)
        case Exists(name) | Comparison(name):
            yield name


def sort_key(value: PropertyValue) -> tuple[int, float, str]:
    """Return what to sort by: numbers come before dates, dates before texts."""
    match _dated(_items(value)[0]):
        case None:
            return MISSING
        case bool() | int() | float() as number:
            return 0, float(number), ""
        case dt.date() as date:
            return 1, 0.0, date.isoformat()
        case other:
            return 2, 0.0, _comparable(str(other))


def shown(value: PropertyValue) -> PropertyValue:
    """Return a value as it's meant: a text that is a date is a date."""
    return [_dated(item) for item in value] if isinstance(value, list) else _dated(value)


def _items(value: PropertyValue) -> Sequence[PropertyValue]:
    """The values of a list, of which an empty one has none but nothing; or the only value."""
    return (value or [None]) if isinstance(value, list) else [value]


def _dated(value: PropertyValue) -> PropertyValue:
    return (read_date(value.strip()) or value) if isinstance(value, str) else value


_ORDER: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.CONTAINS: operator.eq,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


def _compared(  # noqa: PLR0911 - one for each type
    key: str, item: PropertyValue, sign: Operator, wanted: Value
) -> bool:
    """Whether one value fulfils a comparison; only values of one type can be compared."""
    item = _dated(item)
    in_order = _ORDER[sign]
    match wanted:
        case None:
            return item is None
        case bool():
            return isinstance(item, bool) and in_order(item, wanted)
        case float():
            if isinstance(item, str):  # What looks like a number may be a part of a text.
                return sign is Operator.CONTAINS and f"{wanted:g}" in item
            return (
                isinstance(item, int | float)
                and not isinstance(item, bool)
                and in_order(item, wanted)
            )
        case dt.datetime():
            return isinstance(item, dt.date) and in_order(_moment(item), wanted)
        case dt.date():  # A time is compared by its day.
            return isinstance(item, dt.date) and in_order(_moment(item).date(), wanted)
        case str():
            return _text_compared(key, item, sign, wanted)
        case _:
            assert_never(wanted)


def _text_compared(key: str, item: PropertyValue, sign: Operator, wanted: str) -> bool:
    if key in TAG_KEYS and sign in {Operator.EQUAL, Operator.CONTAINS}:
        tag = folded(wanted.strip("#/ "))
        return f"{folded(str(item))}/".startswith(f"{tag}/")
    text = _comparable(wanted if key != "file.name" else without_ending(wanted))
    if sign is Operator.CONTAINS:
        return item is not None and text in _comparable(str(item))
    return isinstance(item, str) and _ORDER[sign](_comparable(item), text)


def _moment(date: dt.date) -> dt.datetime:
    return date if isinstance(date, dt.datetime) else dt.datetime.combine(date, dt.time())


def _comparable(text: str) -> str:
    """The form in which texts are compared: a link is what it leads to."""
    inner = text.strip()
    if inner.startswith("[[") and inner.endswith("]]"):
        inner = inner[2:-2].partition("|")[0]
    return fold(inner.strip())
