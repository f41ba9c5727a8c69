"""A text cut into words, numbers and written dates, each with all that it could mean.

One regular expression without nested repetition reads the text once, from left to right.
"""

import dataclasses
import functools
import re

from eris.dates import words_english, words_german
from eris.dates.meaning import Language

Value = str | int | float | tuple[int | str, ...]

_TOKEN = re.compile(
    r"(?P<iso>\d{4}-\d{1,2}-\d{1,2}"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[ ]?Z\b|[+-]\d{2}:?\d{2})?)?)(?![\d-])"
    r"|(?P<dotted>\d{1,2}\.[ ]?\d{1,2}\.(?:[ ]?\d{4}|\d{2})?)(?!\d)"
    r"|(?P<slash>\d{1,2}/\d{1,2}(?:/\d{4}|/\d{2})?)(?![\d/])"
    r"|(?P<clock>\d{1,2}[:.]\d{2}(?::\d{2})?)(?![\d:])"
    r"|(?P<ordinal>\d{1,2}(?:st|nd|rd|th)\b|\d{1,2}\.(?=\s|$))"
    r"|(?P<decimal>\d{1,4}[.,]\d{1,2})(?![\d.,])"
    r"|(?P<number>\d{1,12})"
    r"|(?P<meridian>[ap]\.m\.?|[ap]m\b)"
    r"|(?P<offset>(?:UTC|GMT)[+-]\d{2}:\d{2}\b)"
    r"|(?P<zone>[A-Z][A-Za-z]{1,30}(?:/[A-Z][A-Za-z_+\-0-9]{1,40}){1,2}|UTC\b|GMT\b)"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+){0,3})"  # noqa: RUF001 - typed by telephones
    r"|(?P<other>[^\s])",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\b(?:good|guten?|schönen?|wish(?:ed)?)\s+(?:morning|afternoon|evening|night|morgen|tag|abend|nacht)\b",
    re.IGNORECASE,
)
_BEFORE_TIME = re.compile(r"[.,]?\s+\d{1,2}(?:[:.]\d{2}|\s?uhr\b|\s?[ap]\.?m\b)", re.IGNORECASE)
_WORDS = {"en": words_english, "de": words_german}
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign."""

    text: str
    """Folded, with umlauts written out."""
    start: int
    end: int
    """Where it is in the text, in characters."""
    meanings: dict[str, Value]
    """What it could be, by category."""


def folded(word: str) -> str:
    """Return a word as tables know it: small, and with umlauts written out."""
    return word.lower().replace("’", "'").translate(_UMLAUTS)  # noqa: RUF001 - typed by telephones


def tokens_of(text: str, languages: tuple[Language, ...], *, whole: bool) -> list[Token]:
    """Cut a text.

    Args:
        text: The text.
        languages: Whose words count.
        whole: Whether it's nothing but a time. Otherwise greetings mean nothing, and days of the
            week that are other words as well count before a time only, such as `Do 15 Uhr`.
    """
    lexicon = _lexicon(languages)
    shorts = {
        word: number
        for language in languages
        for word, number in _WORDS[language].SHORT_WEEKDAYS.items()
    }
    greetings = [match.span() for match in _GREETING.finditer(text)]
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup or "other", folded(match[0])
        meanings = dict(lexicon.get(word, {})) if kind in {"word", "meridian"} else {}
        meanings |= _written(kind, match[0])
        if word in shorts and _means_weekday(match, whole=whole):
            meanings["weekday"] = shorts[word]
        meanings |= _weekday_span(word, lexicon, shorts)
        if not whole and any(start <= match.start() < end for start, end in greetings):
            meanings, word = {}, ""
        tokens.append(Token(word, match.start(), match.end(), meanings))
    return tokens


def _weekday_span(
    word: str, lexicon: dict[str, dict[str, Value]], shorts: dict[str, int]
) -> dict[str, Value]:
    """Return what two days of the week with a hyphen mean, such as `Mo-Fr`."""
    ends = [shorts.get(name, lexicon.get(name, {}).get("weekday")) for name in word.split("-")]
    match ends:
        case [int(first), int(last)]:
            return {"weekday_span": (first, last)}
    return {}


def _means_weekday(match: re.Match[str], *, whole: bool) -> bool:
    """Whether a short name is one: `so` and `So` differ in what is nothing but a time, too."""
    if whole and (match[0][0].isupper() or match[0].lower() != "so"):
        return True
    return bool(_BEFORE_TIME.match(match.string, match.end())) and match[0] != "so"


def _written(kind: str, text: str) -> dict[str, Value]:  # noqa: PLR0911 - one for each kind
    match kind:
        case "number":
            number = int(text)
            found: dict[str, Value] = {"amount": number, "integer": number}
            if len(text) == len("0930"):
                found |= {"year": number, "four": (number // 100, number % 100)}
            return found
        case "ordinal":
            number = int(re.sub(r"\D", "", text))
            point: dict[str, Value] = {"ordinal": number}
            return point | ({"amount": number, "integer": number} if text[-1] == "." else {})
        case "decimal":
            return {"amount": float(text.replace(",", "."))}
        case "clock":
            hour, minute, *second = (int(part) for part in re.split("[:.]", text))
            name = "clock" if ":" in text else "pointed"
            found = {name: (hour, minute, *(second or [0]))}
            return found | ({"amount": float(text)} if name == "pointed" else {})
        case "dotted" | "slash":
            return {kind: tuple(int(part) for part in re.split(r"[./]\s?", text) if part)}
        case "meridian":
            return {"meridian": text[0].lower()}
        case "iso" | "zone" | "offset":
            return {kind: text}
        case _:
            return {}


@functools.cache
def _lexicon(languages: tuple[Language, ...]) -> dict[str, dict[str, Value]]:
    lexicon: dict[str, dict[str, Value]] = {}
    for language in languages:
        words = _WORDS[language]
        tables = {
            "amount": words.NUMBERS | words.ARTICLES,
            "integer": words.NUMBERS,
            "ordinal": words.ORDINALS,
            "weekday": words.WEEKDAYS,
            "weekdays": words.ON_WEEKDAYS,
            "month": words.MONTHS,
            "unit": words.UNITS,
            "day_part": words.DAY_PARTS,
            "by_day_part": words.BY_DAY_PART,
            "frequency": words.FREQUENCIES,
        }
        if language == "de":
            tables["weekday_part"] = {
                day + part: (number, name)
                for day, number in words_german.WEEKDAYS.items()
                for part, name in words_german.DAY_PARTS.items()
            }
        for category, table in tables.items():
            for word, value in table.items():
                lexicon.setdefault(folded(word), {}).setdefault(category, value)
    return lexicon
