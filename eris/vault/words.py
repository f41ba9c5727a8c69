"""Text as search sees it: folded, and cut into words. Nothing here knows of queries or of a disk.

Case, accents and the ways of writing one character don't matter for finding. Scripts that put no
spaces between words (Chinese, Japanese, Korean's endings, Thai and their like) and emoji count as
one word per character; so a phrase of such words finds any part of a run of them.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

LEAST_PREFIX = 3
"""Letters that a plain word needs to find longer words that begin with it."""

# Accents of Latin, Greek and Cyrillic; signs that only choose a picture; what can't be seen.
# Marks of other scripts stay: there they are letters.
_DROPPED = re.compile("[\u0300-\u036f\ufe00-\ufe0f\u00ad\u200b-\u200d\u2060\ufeff]")
_SINGLES = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"  # Chinese, Japanese, Korean
    "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"  # emoji
)
_SINGLE = re.compile(f"[{_SINGLES}]")
_SINGLE_RUN = re.compile(f"[{_SINGLES}]+")
_TOKEN_CATEGORIES = ("L", "N", "M", "Co", "So")


def fold(text: str) -> str:
    """Return the text without differences of case, accent and Unicode spelling.

    It has the same lines as before, but not always the same number of characters.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _DROPPED.sub("", decomposed))


def spaced(folded: str) -> str:
    """Return folded text with spaces around each character that is a word by itself."""
    if folded.isascii():
        return folded
    return _SINGLE_RUN.sub(lambda run: f" {' '.join(run[0])} ", folded)


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a short text, folded; characters that belong to no word part them."""
    found, current = [], ""
    for character in spaced(fold(text)):
        if unicodedata.category(character).startswith(_TOKEN_CATEGORIES):
            current += character
        elif current:
            found.append(current)
            current = ""
    return tuple([*found, current] if current else found)


class Match(Enum):
    """What a term finds."""

    LOOSE = "loose"
    """The word, and longer ones that begin with it: `plant` finds `plants`, though less well."""
    PREFIX = "prefix"
    """Words that begin with it: `gard*`."""
    EXACT = "exact"
    """The words and nothing else: `"star wars"`."""


@dataclass(frozen=True)
class Term:
    """Words looked for, next to each other."""

    words: tuple[str, ...]
    """Folded, at least one."""
    match: Match = Match.LOOSE

    @property
    def longer(self) -> bool:
        """Whether it also finds words that are longer than its last one."""
        if self.match is not Match.LOOSE:
            return self.match is Match.PREFIX
        return len(self.words[-1]) >= LEAST_PREFIX and not _SINGLE.match(self.words[-1])

    def places(self, folded: str) -> Iterator[int]:
        """Yield where the term begins in folded text: what a full-text index says, in a piece."""
        at = folded.find(self.words[0])
        while at >= 0:
            if self._pattern.match(folded, at):
                yield at
            at = folded.find(self.words[0], at + 1)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = [re.escape(self.words[0])]
        for before, word in zip(self.words, self.words[1:], strict=False):
            single = _SINGLE.match(before) or _SINGLE.match(word)
            parts.append((r"[\W_]*" if single else r"[\W_]+") + re.escape(word))
        start = "" if _SINGLE.match(self.words[0]) else r"(?<![^\W_])"
        end = "" if self.longer or _SINGLE.match(self.words[-1]) else r"(?![^\W_])"
        return re.compile(start + "".join(parts) + end)

    def __str__(self) -> str:
        text = " ".join(self.words)
        if self.match is Match.PREFIX:
            return f"{text}*"
        return f'"{text}"' if len(self.words) > 1 else text


def term(text: str, match: Match = Match.LOOSE) -> Term | None:
    """Return the term that a text means; None if there's no word in it."""
    words = tokens(text)
    return Term(words, match) if words else None
