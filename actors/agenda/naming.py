"""Which item or occurrence somebody means: by id, or by words that fit one only."""

import re

from actors.agenda.record import Item, Occurrence
from actors.agenda.store import Store
from eris.errors import ConflictError, InvalidError, NotFoundError
from proto.agenda import ItemKind, ItemState

MOST_CANDIDATES = 5

_ID = re.compile(r"\W{0,3}a(\d{1,18})(?:\.(\d{1,18}))?\W{0,3}", re.IGNORECASE)
_INSIDE = re.compile(r"\ba\d{1,18}(?:\.\d{1,18})?\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_KINDS = {
    ItemKind.TIMER: {"timer", "timers", "countdown"},
    ItemKind.ALARM: {"alarm", "alarms", "wecker"},
    ItemKind.REMINDER: {"reminder", "reminders", "erinnerung", "erinnerungen"},
    ItemKind.TASK: {"task", "tasks", "todo", "aufgabe", "aufgaben"},
}
"""Words that name a kind of item."""

_EMPTY_WORDS = frozenset(
    {"the", "a", "an", "my", "to", "for", "of", "about", "item", "that", "this", "as", "please"}
    | {"cancel", "delete", "remove", "stop", "complete", "completed", "done", "finish", "finished"}
    | {"mark", "tick", "off", "snooze", "postpone", "turn", "it", "is", "i", "have", "ve"}
    | {"der", "die", "das", "den", "meine", "mein", "meinen", "zu", "für", "an", "ist", "bitte"}
    | {"lösch", "lösche", "löschen", "entferne", "erledigt", "fertig", "hake", "ab", "stopp"}
)
"""Words that say what is to be done, or nothing."""


class Named:
    """Finds what is named."""

    def __init__(self, store: Store) -> None:
        """Make it."""
        self._store = store

    def item(self, name: str) -> tuple[Item, Occurrence | None]:
        """Return an item by its id or the id of one of its occurrences, and that occurrence.

        Raises:
            NotFoundError: There is none.
        """
        match = _ID.fullmatch(name.strip())
        if match is None:
            raise NotFoundError(
                f"{name[:60]!r} isn't the id of an item.", hint="Ids look like a7 or a7.2."
            )
        item = self._store.item(int(match[1]))
        if item is None:
            raise NotFoundError(f"There is no item a{match[1]}.", hint=self._there_are())
        if not match[2]:
            return item, None
        occurrence = self._store.occurrence(item.number, int(match[2]))
        if occurrence is None:
            raise NotFoundError(f"{item.id} has no occurrence {match[2]}.")
        return item, occurrence

    def open_item(self, name: str) -> Item:
        """Return an open item by its id.

        Raises:
            NotFoundError: There is none.
            ConflictError: It isn't open.
        """
        item, _ = self.item(name)
        if item.state is not ItemState.OPEN:
            raise ConflictError(
                f"{item.id} ({item.text}) is {item.state} already.",
                hint="Its history says when and why.",
            )
        return item

    def any(self, name: str) -> tuple[Item, Occurrence | None]:
        """Return what is named by an id, or by words that fit one open item only.

        Raises:
            NotFoundError: Nothing fits.
            InvalidError: Several do; the hint names them.
        """
        if _ID.fullmatch(name.strip()):
            return self.item(name)
        items = self._by_words(name)
        if not items:
            ids = {match.group().casefold() for match in _INSIDE.finditer(name)}
            if len(ids) == 1:
                return self.item(ids.pop())
        if len(items) == 1:
            return items[0], None
        if not items:
            raise NotFoundError(f"No open item is called {name[:60]!r}.", hint=self._there_are())
        raise InvalidError(
            f"{name[:60]!r} fits {len(items)} items.", hint=f"Say which: {_named(items)}."
        )

    def _by_words(self, name: str) -> list[Item]:
        """Return the open items that have all words of a name, of the kinds that it names."""
        every = _WORD.findall(name.casefold())
        kinds = [kind for kind, names in _KINDS.items() if names & set(every)]
        named = set().union(*(_KINDS[kind] for kind in kinds))
        words = [word for word in every if word not in _EMPTY_WORDS | named]
        if not words and not kinds:
            words = every
        if not words and not kinds:
            return []
        items, _ = self._store.find((ItemState.OPEN,), words=words, limit=100)
        exact = [item for item in items if item.text.casefold() == name.strip().casefold()]
        return exact or [item for item in items if item.kind in kinds] or (items if words else [])

    def _there_are(self) -> str:
        items, total = self._store.find((ItemState.OPEN,), limit=MOST_CANDIDATES)
        if not total:
            return "Nothing is open."
        more = f" and {total - len(items)} more" if total > len(items) else ""
        return f"There are: {_named(items)}{more}."


def _named(items: list[Item]) -> str:
    return ", ".join(f"{item.id} ({item.text})" for item in items[:MOST_CANDIDATES])
