"""Finds answers that say something was saved, and such that only say something was looked up; pure.

A reply may claim a change only if a tool call of its turn made one. Whether one did is known from
the ledger; whether the reply claims one is judged here, sentence by sentence, by two small tables
of claim words. A sentence that negates, asks or offers claims nothing.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum


class Language(StrEnum):
    """Languages in which claims are recognised."""

    ENGLISH = "en"
    GERMAN = "de"


_ENGLISH_DONE = (
    "saved|stored|added|appended|updated|recorded|noted|deleted|removed|scheduled|changed|renamed"
)
_GERMAN_DONE = (
    "gespeichert|abgespeichert|notiert|hinzugefügt|eingetragen|aufgeschrieben|angelegt"
    "|aktualisiert|gelöscht|entfernt|vermerkt|ergänzt"
)

CLAIMS: Mapping[Language, tuple[str, ...]] = {
    Language.ENGLISH: (
        # I've saved it. I just wrote that down.
        (
            rf"\b(?:i|we)(?:'ve| have)? (?:(?:just|now|already|also|successfully) )*"
            rf"(?:{_ENGLISH_DONE}|written|wrote|created|moved|remembered|set (?:a|the|your) \w+)\b"
        ),
        # The note has been saved. It was added to your list.
        (
            rf"\b(?:has|have) (?:(?:just|now|already|also|successfully) )*been "
            rf"(?:(?:just|now|successfully) )*(?:{_ENGLISH_DONE}|written|created|moved|set)\b"
        ),
        (
            rf"\b(?:note|file|it|this|that|item|reminder|list|entry|task)s? (?:.{{0,40}} )?"
            rf"(?:is|was|were|are) (?:(?:now|just|successfully) )*(?:{_ENGLISH_DONE})\b"
        ),
        # Saved! Noted. Done.
        r"^(?:ok(?:ay)?|sure|great|alright)?[\s,.!:-]*(?:saved|noted|added|updated|deleted)\b",
        r"^(?:all )?done[.!]*$",
        # I'll remember that: nobody will after the turn has ended.
        (
            r"\bi(?:'ll| will) (?:(?:now|also|be sure to|make sure to) )*"
            r"(?:save|store|add|append|write|note|record|remember|remind|update|delete|create|schedule"
            r"|set (?:a|the|your))\b"
        ),
    ),
    Language.GERMAN: (
        rf"\bhabe?\b.{{0,80}}\b(?:{_GERMAN_DONE}|geschrieben|erstellt|gemerkt)\b",
        rf"\b(?:wurden?|ist|sind)\b.{{0,80}}\b(?:{_GERMAN_DONE})\b",
        rf"^(?:ok(?:ay)?|gut|klar|alles)?[\s,.!:-]*(?:{_GERMAN_DONE}|erledigt)\b",
        r"\bich (?:merke mir|speichere|notiere|erinnere dich)\b",
        (
            r"\bich werde\b.{0,80}"
            r"\b(?:speichern|notieren|eintragen|hinzufügen|merken|erinnern|aufschreiben|löschen)\b"
        ),
    ),
}
"""Patterns of sentences, in lower case, that say something was or will be changed."""

NOTHING_CHANGED: Mapping[Language, str] = {
    Language.ENGLISH: "Nothing has been saved or changed.",
    Language.GERMAN: "Es wurde nichts gespeichert oder geändert.",
}
"""What takes the place of a false claim."""

_WORD = re.compile(r"\w+")
_LOOKED = frozenset(
    _WORD.findall("""read looked showed shown opened checked searched listed found displayed
    retrieved gelesen nachgesehen nachgeschlagen geöffnet gezeigt gesucht gefunden geprüft""")
)
_BESIDE_LOOKED = frozenset(
    _WORD.findall("""i ve have has you your the a an this that it is was here up at in into of
    from for to on note notes file files folder line result results contents content md user
    ich habe dir die der das den dem diese ist hier im aus von zu
    notiz notizen datei inhalt""")
)
"""Words with which it's said that something was looked up, besides what the user said."""

_COMPILED = [
    (language, re.compile(pattern)) for language, patterns in CLAIMS.items() for pattern in patterns
]
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?=\w)[^.!?\n]*)*[.!?]*[ \t]*\n*")
_NO_CLAIM = re.compile(
    r"\b(?:not|never|nothing|cannot|unable|failed|without|if|whether|would|could|should|shall"
    r"|nicht|nichts|keine?[nrms]?|konnte|wenn|falls|ob|soll|sollte|möchtest|würde|könnte)\b|n't\b"
)
_ABOUT_THE_PAST = re.compile(
    r"^\W*(?:did|have|has|had|was|were|is|are|what|which|where|when"
    r"|hast|habe|hat|haben|wurde|wurden|war|ist|was|wo|wann|welche\w*)\b"
)


def claimed(message: str, quoted: Sequence[str] = ()) -> Language | None:
    """Return the language in which a message claims a change; None if it claims none.

    Args:
        message: What the user is to be told.
        quoted: What tools have said: words from there are repeated, not claimed.
    """
    for sentence in _SENTENCE.findall(message):
        language = _claim_in(sentence, quoted)
        if language is not None:
            return language
    return None


def without_claims(message: str, language: Language, quoted: Sequence[str] = ()) -> str:
    """Return the message with each claiming sentence left out and the truth said once."""
    sentences = _SENTENCE.findall(message)
    kept = "".join(one for one in sentences if _claim_in(one, quoted) is None).strip()
    return f"{kept}\n\n{NOTHING_CHANGED[language]}" if kept else NOTHING_CHANGED[language]


def only_looked(message: str, asked: str) -> bool:
    """Whether a message says that something was looked up, and nothing of what was found.

    Args:
        message: What the user is to be told, such as `I read the note Garden/Bees.md.`
        asked: What the user said, what the tool was called with, and where it found something.
    """
    words = set(_WORD.findall(message.casefold()))
    known = _BESIDE_LOOKED | _LOOKED | set(_WORD.findall(asked.casefold()))
    return bool(words & _LOOKED) and words <= known


def asks_about_the_past(text: str) -> bool:
    """Whether the user asks what is or was, so that an answer may speak of earlier changes."""
    lowered = text.strip().casefold()
    return lowered.endswith("?") and _ABOUT_THE_PAST.match(lowered) is not None


def _claim_in(sentence: str, quoted: Sequence[str]) -> Language | None:
    lowered = sentence.strip().casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if lowered.endswith("?"):
        return None
    for language, pattern in _COMPILED:
        found = pattern.search(lowered)
        if found is None or _NO_CLAIM.search(lowered, 0, found.end()) is not None:
            continue
        if not any(found.group() in text.casefold() for text in quoted):
            return language
    return None
