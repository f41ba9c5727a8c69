"""Which item or occurrence somebody means: by id, or by words that fit one only."""

import re

from actors.agenda.record import Item, Occurrence
from actors.agenda.store import Store
from eris.errors import ConflictError, InvalidError, NotFoundError
from proto.agenda import ItemState

MOST_CANDIDATES = 5

_ID = re.compile(r"\W{0,3}a(\d{1,18})(?:\.(\d{1,18}))?\W{0,3}", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_EMPTY_WORDS = frozenset(
    {"the", "a", "an", "my", "to", "for", "of", "reminder", "task", "alarm", "timer", "item"}
    | {"der", "die", "das", "den", "meine", "mein", "meinen", "zu", "für", "erinnerung", "aufgabe"}
)


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
        if len(items) == 1:
            return items[0], None
        if not items:
            raise NotFoundError(f"No open item is called {name[:60]!r}.", hint=self._there_are())
        raise InvalidError(
            f"{name[:60]!r} fits {len(items)} items.", hint=f"Say which: {_named(items)}."
        )

    def _by_words(self, name: str) -> list[Item]:
        words = [word for word in _WORD.findall(name.casefold()) if word not in _EMPTY_WORDS]
        words = words or _WORD.findall(name.casefold())
        if not words:
            return []
        items, _ = self._store.find((ItemState.OPEN,), words=words, limit=100)
        exact = [item for item in items if item.text.casefold() == name.strip().casefold()]
        return exact or items

    def _there_are(self) -> str:
        items, total = self._store.find((ItemState.OPEN,), limit=MOST_CANDIDATES)
        if not total:
            return "Nothing is open."
        more = f" and {total - len(items)} more" if total > len(items) else ""
        return f"There are: {_named(items)}{more}."


def _named(items: list[Item]) -> str:
    return ", ".join(f"{item.id} ({item.text})" for item in items[:MOST_CANDIDATES])
