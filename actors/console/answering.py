"""Answers to reminders: each bound to one reminder, by its id.

Without an id only the one reminder can be meant that waits here. What came or was answered
elsewhere since the user last did something counts too: an answer that was meant for something else
is refused rather than given to the wrong one.
"""

import re
import uuid
from collections.abc import Sequence

from actors.console.link import Link
from actors.console.view import Shown
from eris.errors import InvalidError
from eris.reminding import AGENDA, headline
from proto.agenda import AgendaChanged, Items, ListItems, ResolveItem, ResolveKind

_ID = re.compile(r"a\d{1,18}(?:\.\d{1,18})?", re.IGNORECASE)
_WITHIN_SECONDS = 10.0
_LISTED = 20


def done(link: Link, argument: str) -> str:
    """Say that what a reminder is about is done."""
    name, rest = _named(link, argument)
    return _resolved(link, name, ResolveKind.DONE, result=rest)


def snooze(link: Link, argument: str) -> str:
    """Put a reminder off."""
    name, rest = _named(link, argument)
    return _resolved(link, name, ResolveKind.SNOOZE, when=rest)


def dismiss(link: Link, argument: str) -> str:
    """Say that a reminder was seen."""
    name, rest = _named(link, argument)
    if rest:
        raise InvalidError(f"{rest!r} isn't the id of a reminder.", hint="Say: /dismiss a7.2")
    return _resolved(link, name, ResolveKind.DISMISS)


def reminders(link: Link, _argument: str) -> str:
    """List what waits for an answer, and what is due next."""
    items = link.port.ask(
        AGENDA, ListItems(limit=_LISTED), Items, within=_WITHIN_SECONDS, retry=True
    )
    if not items.items:
        return "Nothing is open."
    rows = [
        f"{', '.join(item.waiting) or item.id}  "
        + (f"waits  {item.text}" if item.waiting else f"{_when(item.next_local)}  {item.text}")
        for item in sorted(items.items, key=lambda item: not item.waiting)
    ]
    more = items.total - len(items.items)
    return "\n".join([*rows, *([f"and {more} more: eris agenda list"] if more else [])])


def waiting_names(link: Link) -> Sequence[str]:
    """Return the ids of the reminders that wait here, the latest first."""
    return [one.reminder.occurrence for one in reversed(link.view.reminders) if one.waits]


def _when(local: str) -> str:
    return local[: len("2027-01-04T09:00")].replace("T", " ") or "no time"


def _named(link: Link, argument: str) -> tuple[str, str]:
    """Return the id that is meant, and what else was said."""
    first, _, rest = argument.partition(" ")
    if _ID.fullmatch(first):
        return first.lower(), rest.strip()
    offered = _offered(link)
    if len(offered) == 1:
        return offered[0].reminder.occurrence, argument
    if not offered:
        raise InvalidError(
            "No reminder waits for an answer here.", hint="Name one by its id, such as a7.2."
        )
    names = ", ".join(f"{one.reminder.occurrence} ({headline(one.reminder)})" for one in offered)
    raise InvalidError(
        f"It isn't clear which reminder is meant: {names}.",
        hint=f"Say its id first, such as {offered[-1].reminder.occurrence}.",
    )


def _offered(link: Link) -> list[Shown]:
    view = link.view
    return [one for one in view.reminders if one.reminder.occurrence in view.offered]


def _resolved(
    link: Link, name: str, action: ResolveKind, *, when: str = "", result: str = ""
) -> str:
    request = ResolveItem(key=uuid.uuid4().hex, item=name, action=action, when=when, result=result)
    changed = link.port.ask(AGENDA, request, AgendaChanged, within=_WITHIN_SECONDS, retry=True)
    return f"{changed.receipt[:1].upper()}{changed.receipt[1:]}."
