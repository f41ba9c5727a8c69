"""Words that have a part in judging statements, English and German, folded; tables only.

In other languages these words count as any other: more is then asked, nothing is lost.
"""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    "a an the this that these those i im me my mine we us our you your he him his she her it its "
    "they them their of to in on at by for from with and or as about into than then there here "
    "also just now so too very please remember note user users who which what number "
    "s m d ll ve re since "
    "ein eine einen einem einer eines der die das den dem des dies diese dieser dieses ich mich "
    "mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unserer du "
    "dich dir dein deine er ihn ihm sein seine sie ihr ihre es von zu zum zur im am an auf bei "
    "beim fur aus mit und oder als uber nach vor um dass auch jetzt nun so sehr bitte merke dir "
    "benutzer nutzer uhr herr frau mr mrs ms dr seit"
)
"""Words that say nothing about what a statement is about."""

LINKING = _words(
    "is are was were be been am has have had do does did will would can works called "
    "goes comes coming starts begins opens leaves costs drives drive "
    "ist sind war waren bin bist sei hat haben habe hatte wird werden wurde heisst heissen nennt "
    "findet statt kommt kostet liegt beginnt"
)
"""Verbs that join a subject with what's said of it; they don't count as a matter of their own."""

SUBJECT_ENDS = LINKING | _words(
    "live lives call work like likes love loves hate hates prefer prefers eat eats drink drinks "
    "take takes want wants need needs speak speaks play plays know knows own owns study studies "
    "learn learns moved move born go married "
    "wohnt wohne lebt lebe arbeitet arbeite mag mogen liebt liebe hasst hasse isst esse trinkt "
    "trinke braucht brauche spricht spreche spielt spiele kennt kenne lernt lerne geht gehe fahrt "
    "fahre"
)
"""Verbs that a statement's subject stands in front of."""

SEVERAL_VALUED = _words(
    "like likes love loves hate hates own owns know knows speak speaks play plays read reads "
    "want wants need needs learn learns study studies visited bought met have has "
    "mag mogen liebe liebt hasse hasst kenne kennt spreche spricht spiele spielt brauche braucht "
    "lerne lernt lese liest habe hat besuchte"
)
"""Verbs of which several things can be true at once: who likes tea may like coffee."""

NEGATIONS = _words(
    "not no never without none nobody nothing cannot dont doesnt isnt wont cant "
    "nicht kein keine keinen keinem keiner keines nie niemals ohne nichts niemand"
)
"""Words that turn a statement round."""

OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (_words(one), _words(other))
    for one, other in (
        ("like likes love loves mag liebe liebt", "hate hates dislike dislikes hasse hasst"),
        ("open offen", "closed shut geschlossen zu"),
        ("married verheiratet", "divorced single geschieden ledig"),
        ("always immer", "never nie niemals"),
        ("short kurz kurze", "long detailed lang lange ausfuhrliche"),
        ("on an", "off aus"),
        ("alive lebt", "dead died tot gestorben"),
        ("left links", "right rechts"),
        ("vegetarian vegan vegetarier vegetarisch", "carnivore fleischesser"),
        ("before vorher", "after nachher"),
        ("cheap billig", "expensive teuer"),
        ("true wahr", "false falsch"),
    )
)
"""Words that can't both hold of one thing."""

MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january januar jan",
            "february februar feb",
            "march marz maerz mar",
            "april apr",
            "may mai",
            "june juni jun",
            "july juli jul",
            "august aug",
            "september sep sept",
            "october oktober oct okt",
            "november nov",
            "december dezember dec dez",
        ),
        start=1,
    )
    for name in names.split()
}

WEEKDAYS: Mapping[str, int] = {
    name + ending: number
    for number, names in enumerate(
        (
            "monday montag",
            "tuesday dienstag",
            "wednesday mittwoch",
            "thursday donnerstag",
            "friday freitag",
            "saturday samstag sonnabend",
            "sunday sonntag",
        ),
        start=1,
    )
    for name in names.split()
    for ending in ("", "s")
}

NUMBERS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "zero null",
            "one eins",
            "two zwei",
            "three drei",
            "four vier",
            "five funf fuenf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwolf zwoelf",
        )
    )
    for name in names.split()
}

RELATIVE_DAYS = _words(
    "today tomorrow yesterday tonight next last this week month year weekend day days "
    "heute morgen gestern abend nachste nachsten nachster letzte letzten diese woche monat jahr "
    "wochenende tag tagen ubermorgen"
)
"""Words that say a day without naming it: a date made out of them isn't invented."""
