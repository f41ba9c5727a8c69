"""What a model was asked for, from its arguments and from what the user said.

A small model copies words well and counts badly, so times come from words, and the user's own go
before the model's: an argument that the user didn't say is believed only where they said no time.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from eris.dates import Found, Meant, Options, find, understand
from eris.errors import InvalidError

T = TypeVar("T")

_WORD = re.compile(r"\w+")
_POINTING = frozenset(
    {"that", "this", "it", "them", "about", "of", "to", "me", "the", "a", "an", "please"}
    | {"das", "es", "dies", "daran", "an", "mich", "bitte", "davon", "dran"}
)
"""Words that only point at something that was said before."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What it's about, and when."""

    text: str
    meant: Meant | None
    """None if no time was said."""


class Wording:
    """Reads arguments beside what the user said."""

    def __init__(self, said: str, now: dt.datetime, options: Options) -> None:
        """Make it for one call.

        Args:
            said: What the user said in this turn; may be empty.
            now: In the user's zone.
            options: How they say dates.
        """
        self._said = said
        self._now = now
        self._options = options
        self._problem: InvalidError | None = None
        self._from_said = self._found(said)

    def wanted(self, text: str, when: str, *, needed: bool) -> Wanted:
        """Return what it's about and when.

        Args:
            text: What the model says that it's about.
            when: What the model says about the time; may be empty.
            needed: Whether there must be a time.

        Raises:
            InvalidError: There is none, or none that can be kept.
        """
        in_text = self._found(text)
        in_when = self._found(when)
        about = in_text.rest if in_text is not None and in_text.rest else text
        if not _words(about) and in_when is not None:
            about = in_when.rest
        meant = next(self._times(when, in_when, in_text), None)
        if meant is None and needed:
            raise self._problem or InvalidError(
                "No time was said.", hint="Give the user's words about the time."
            )
        return Wanted(text=self._about(about), meant=meant)

    def time(self, when: str) -> Meant:
        """Return a time alone.

        Raises:
            InvalidError: There is none.
        """
        meant = self.wanted("", when, needed=True).meant
        if meant is None:
            raise InvalidError("No time was said.")
        return meant

    def _times(self, when: str, in_when: Found | None, in_text: Found | None) -> Iterator[Meant]:
        users = self._from_said.meant if self._from_said is not None else None
        alone = self._kept(lambda: understand(when, self._now, self._options)) if when else None
        argument = alone or (in_when.meant if in_when is not None else None)
        if users is not None and (argument is None or self._says_more(users, argument)):
            yield users
        if argument is not None:
            yield argument
        if in_text is not None:
            yield in_text.meant
        if users is not None:
            yield users

    def _says_more(self, users: Meant, argument: Meant) -> bool:
        """Whether the user's words count: the model's aren't theirs, or only a part of theirs."""
        said, models = _words(self._said), _words(argument.words)
        if not set(models) <= set(said):
            return True
        return set(models) <= set(_words(users.words))

    def _about(self, text: str) -> str:
        """Return the model's words, or the user's if the model made them up."""
        rest = self._from_said.rest if self._from_said is not None else ""
        meaning = [word for word in _words(rest) if word not in _POINTING]
        if meaning and not set(_words(text)) & set(meaning):
            return rest
        return text

    def _found(self, text: str) -> Found | None:
        if not text.strip():
            return None
        return self._kept(lambda: find(text, self._now, self._options))

    def _kept(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except InvalidError as error:
            self._problem = self._problem or error
            return None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
