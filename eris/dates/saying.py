"""Instants and rules said back, absolutely, so that a user sees what was understood."""

import datetime as dt

from eris.dates import rules, zones
from eris.dates.calendar_days import CODES
from eris.dates.meaning import Instant, Language

WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "de": ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
}
MONTHS = {
    "en": ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December"),
    "de": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
           "Oktober", "November", "Dezember"),
}  # fmt: skip
_UNITS = {
    "en": {"YEARLY": "year", "MONTHLY": "month", "WEEKLY": "week", "DAILY": "day",
           "HOURLY": "hour", "MINUTELY": "minute"},
    "de": {"YEARLY": "Jahr", "MONTHLY": "Monat", "WEEKLY": "Woche", "DAILY": "Tag",
           "HOURLY": "Stunde", "MINUTELY": "Minute"},
}  # fmt: skip
_PLURALS = {"Jahr": "Jahre", "Monat": "Monate", "Woche": "Wochen", "Tag": "Tage",
            "Stunde": "Stunden", "Minute": "Minuten"}  # fmt: skip
_EVERY = {"Jahr": "jedes", "Monat": "jeden", "Tag": "jeden"}
_NTH = {
    "en": {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"},
    "de": {1: "ersten", 2: "zweiten", 3: "dritten", 4: "vierten", 5: "fünften", -1: "letzten"},
}
_WORKDAYS = "MO,TU,WE,TH,FR"


def say(
    instant: Instant | dt.datetime, language: Language = "en", now: dt.datetime | None = None
) -> str:
    """Return an instant in words: `Friday 4 December 2026, 09:30 (Europe/Berlin)`.

    Args:
        instant: An `Instant`, or an aware time in a zone by name.
        language: Of the words.
        now: Aware; where it's given, an instant today or tomorrow says so as well.

    Raises:
        InvalidError: The time has no zone by name.
    """
    local = instant.local if isinstance(instant, Instant) else instant
    zone = zones.name_of(local)
    weekday = WEEKDAYS[language][local.weekday()]
    month = MONTHS[language][local.month - 1]
    day = f"{local.day}." if language == "de" else f"{local.day}"
    date = f"{weekday} {day} {month} {local.year:04}"
    time = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    if zones.comes_twice(local):
        offset = f"{local:%z}"
        zone = f"{zone}, UTC{offset[:3]}:{offset[3:5]}"
    near = ""
    if now is not None:
        words = ("today", "tomorrow") if language == "en" else ("heute", "morgen")
        ahead = (local.date() - now.astimezone(local.tzinfo).date()).days
        near = f"{words[ahead]}, " if ahead in {0, 1} else ""
    return f"{near}{date}, {time} ({zone})"


def say_rule(rule: str, language: Language = "en") -> str:
    """Return a rule of recurrence in words: `every 2 weeks on Tuesday`.

    Args:
        rule: The value of an RRULE, as RFC 5545 writes it.
        language: Of the words.

    Raises:
        InvalidError: It isn't such a rule.
    """
    parts = rules.parts_of(rule)
    said = [_frequency(parts, language)]
    if "BYDAY" in parts and parts["BYDAY"] != _WORKDAYS:
        said.append(_weekdays(parts["BYDAY"], language))
    if "BYMONTHDAY" in parts:
        said.append(_month_days(parts["BYMONTHDAY"], language))
    if "BYMONTH" in parts:
        names = [_month(int(number), language) for number in parts["BYMONTH"].split(",")]
        said.append(f"{'in' if language == 'en' else 'im'} {_list(names, language)}")
    known = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "COUNT", "UNTIL", "WKST"}
    said += [f"{name}={value}" for name, value in parts.items() if name not in known]
    if "COUNT" in parts:
        said.append(f"{parts['COUNT']} {'times' if language == 'en' else 'mal'}")
    if "UNTIL" in parts:
        text = parts["UNTIL"]
        until = f"{text[:4]}-{text[4:6]}-{text[6:8]}"
        said.append(f"{'until' if language == 'en' else 'bis'} {until}")
    return " ".join(said)


def _frequency(parts: dict[str, str], language: Language) -> str:
    unit = _UNITS[language][parts["FREQ"]]
    number = int(parts.get("INTERVAL", "1"))
    if parts.get("BYDAY") == _WORKDAYS and number == 1 and parts["FREQ"] in {"WEEKLY", "DAILY"}:
        return "every weekday" if language == "en" else "jeden Werktag"
    if language == "en":
        return f"every {unit}" if number == 1 else f"every {number} {unit}s"
    return (
        f"{_EVERY.get(unit, 'jede')} {unit}" if number == 1 else f"alle {number} {_PLURALS[unit]}"
    )


def _weekdays(text: str, language: Language) -> str:
    names = []
    for piece in text.split(","):
        name = WEEKDAYS[language][CODES.index(piece[-2:])]
        number = int(piece[:-2]) if piece[:-2] else 0
        nth = _NTH[language].get(number, f"{number}.") if number else ""
        the = "the " if nth and language == "en" else ""
        names.append(f"{the}{nth} {name}".strip())
    return f"{'on' if language == 'en' else 'am'} {_list(names, language)}"


def _month_days(text: str, language: Language) -> str:
    last = "the last day" if language == "en" else "letzten Tag"
    names = []
    for piece in text.split(","):
        number = int(piece)
        ending = _ending(number) if language == "en" else "."
        names.append(last if number == -1 else f"{'the ' * (language == 'en')}{number}{ending}")
    return f"{'on' if language == 'en' else 'am'} {_list(names, language)}"


def _ending(number: int) -> str:
    if number in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(abs(number) % 10, "th")


def _month(number: int, language: Language) -> str:
    return MONTHS[language][number - 1] if 1 <= number <= len(CODES) + 5 else str(number)


def _list(names: list[str], language: Language) -> str:
    word = "and" if language == "en" else "und"
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
