"""What a statement is about and what it says of it, by words; pure.

Nothing here understands language. A statement is cut into a subject (what stands in front of its
verb), values (numbers, dates, times, weekdays), whether it's negated, and its other words, which
is enough to tell "the same again" from "something else about the same".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from actors.memory.remembering.language import (
    FUNCTION_WORDS,
    LINKING,
    MONTHS,
    NEGATIONS,
    NUMBERS,
    SUBJECT_ENDS,
    WEEKDAYS,
)
from eris.vault.words import fold, tokens

SELF = "\x00self"
"""The subject of what users say of themselves."""

_SELF_WORDS = frozenset({"i", "we", "ich", "wir", "user", "benutzer", "nutzer"})
_OTHERS_WORDS = frozenset({"my", "our", "mein", "meine", "meiner", "unser", "unsere"})
_CONTRACTIONS = (
    (re.compile(r"\bcan[\u2019']?t\b"), "can not"),
    (re.compile(r"n[\u2019']t\b"), " not"),
    (re.compile(r"[\u2019']m\b"), " am"),
    (re.compile(r"[\u2019']re\b"), " are"),
    (re.compile(r"[\u2019'](?:ve|d|ll|s)\b"), " "),
)
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{4}[.!?])\s+|(?<=\d[!?])\s+|\n+")
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DAY_MONTH = re.compile(rf"\b{_ORDINAL} ?(?:of )?({_MONTH})\b\.?,?(?: (\d{{4}})\b)?")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\b\.? {_ORDINAL}\b(?:,? (\d{{4}})\b)?")
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})?")
_BARE_MONTH = re.compile(rf"\b({'|'.join(name for name in MONTHS if len(name) > 3)})\b")  # noqa: PLR2004 - "may" and "mar" are words
_TIME = re.compile(r"\b(\d{1,2})(?:[:.](\d{2})(?: ?(uhr|am|pm))?| ?(uhr|am|pm))\b")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?: \d+)*(?!\w)")
_ENDINGS = ("ern", "es", "en", "er", "em", "e", "s", "n")
_LEAST_ROOT = 4
_LEAST_PREFIX = 6
_MOST_ENDING = 3
_HOURS_OF_HALF_A_DAY = 12


@dataclass(frozen=True)
class Statement:
    """One sentence, taken apart."""

    words: frozenset[str]
    """Roots of what it's about and says, without values and function words."""
    subject: frozenset[str] | None
    """Roots in front of its verb; `SELF` for the user; None if it can't be told."""
    verb: str
    """The first verb that is known; empty if none is."""
    negated: bool
    values: frozenset[tuple[str, str]]
    """What can be counted or dated: kind (for numbers with the thing counted) and value."""
    folded: frozenset[str]
    """All words, folded but whole."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its values."""
        return frozenset(kind for kind, _ in self.values)

    def of_kind(self, kind: str) -> frozenset[str]:
        """The values of one kind."""
        return frozenset(value for known, value in self.values if known == kind)


def key(text: str) -> str:
    """Return what two texts have in common that say the same in the same words."""
    return " ".join(tokens(text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; titles and ordinals (Dr., 3.) end none."""
    return [part.strip() for part in _SENTENCE_END.split(text) if tokens(part)] or [text]


def taken_apart(sentence: str) -> Statement:
    """Take a sentence apart."""
    text = fold(sentence)
    for pattern, meaning in _CONTRACTIONS:
        text = pattern.sub(meaning, text)
    words = frozenset(tokens(text))
    rest, values = _dates(text)
    numbers, rest = _numbers(rest)
    ordered = tokens(rest)
    plain = [word for word in ordered if word not in WEEKDAYS]
    values |= {("weekday", str(WEEKDAYS[word])) for word in ordered if word in WEEKDAYS}
    subject, verb = _subject(plain)
    return Statement(
        words=_content(plain),
        subject=subject,
        verb=verb,
        negated=bool(NEGATIONS & words),
        values=frozenset(values | numbers),
        folded=words,
    )


def root(word: str) -> str:
    """Return a folded word without its ending and without the two ways to write an umlaut."""
    plain = re.sub(r"([aou])e", r"\1", word)
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= _LEAST_ROOT - (ending == "s"):
            return plain[: -len(ending)]
    return plain


def alike(one: str, other: str) -> bool:
    """Whether two roots are of one word: the same, or `allergic` and `allergy`."""
    if one == other:
        return True
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    longest = max(len(one), len(other))
    return common >= _LEAST_PREFIX and longest - common <= _MOST_ENDING


def missing(some: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """Return those roots that have none alike among the others."""
    known = tuple(others)
    return frozenset(one for one in some if not any(alike(one, other) for other in known))


def _content(words: Iterable[str]) -> frozenset[str]:
    ignored = FUNCTION_WORDS | LINKING | NEGATIONS
    return frozenset(root(word) for word in words if word not in ignored)


def _subject(words: list[str]) -> tuple[frozenset[str] | None, str]:
    for position, word in enumerate(words):
        if word not in SUBJECT_ENDS:
            continue
        before = words[:position]
        content = _content(before)
        if content:
            return content, word
        of_self = _SELF_WORDS & set(before) and not _OTHERS_WORDS & set(before)
        return (frozenset({SELF}) if of_self else None), word
    return None, ""


def _dates(text: str) -> tuple[str, set[tuple[str, str]]]:
    """Take dates and times out of a text."""
    values: set[tuple[str, str]] = set()

    def day(month: int, number: str, year: str | None) -> str:
        values.add(("date", f"{month:02d}-{int(number):02d}"))
        if year:
            values.add(("year", year))
        return " "

    def hour(match: re.Match[str]) -> str:
        half = match[3] or match[4] or ""
        number = int(match[1]) % _HOURS_OF_HALF_A_DAY if half in {"am", "pm"} else int(match[1])
        if half == "pm":
            number += _HOURS_OF_HALF_A_DAY
        values.add(("time", f"{number:02d}:{match[2] or '00'}"))
        return " "

    def month(match: re.Match[str]) -> str:
        values.add(("month", str(MONTHS[match[1]])))
        return " "

    text = _ISO.sub(lambda found: day(int(found[2]), found[3], found[1]), text)
    text = _DAY_MONTH.sub(lambda found: day(MONTHS[found[2]], found[1], found[3]), text)
    text = _MONTH_DAY.sub(lambda found: day(MONTHS[found[1]], found[2], found[3]), text)
    text = _DOTTED.sub(lambda found: day(int(found[2]), found[1], found[3]), text)
    text = _TIME.sub(hour, text)
    return _BARE_MONTH.sub(month, text), values


def _numbers(text: str) -> tuple[set[tuple[str, str]], str]:
    """Take numbers out of a text, each with the thing that it counts."""
    spelled = re.sub(r"[^\W\d_]+", lambda match: str(NUMBERS.get(match[0], match[0])), text)
    values: set[tuple[str, str]] = set()
    rest, position = [], 0
    for match in _NUMBER.finditer(spelled):
        if match.start() < position:
            continue
        rest.append(spelled[position : match.start()])
        position = match.end()
        unit = ""
        following = re.match(r"\s+([^\W\d_]+)", spelled[position:])
        if following and following[1] not in FUNCTION_WORDS | SUBJECT_ENDS | WEEKDAYS.keys():
            unit = root(following[1])
            position += following.end()
        values.add((f"number {unit}".strip(), match[0].replace(" ", "")))
    return values, " ".join([*rest, spelled[position:]])
