"""German words about time, as tables: folded word to category and value.

Spellings without umlauts (`uebermorgen`) and compounds (`fünfundzwanzig`, `freitagabend`) are
made from these.
"""

NUMBERS = {
    "null": 0, "eins": 1, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "dreizehn": 13,
    "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18,
    "neunzehn": 19, "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60,
    "neunzig": 90, "fünfundzwanzig": 25, "fünfunddreißig": 35, "fünfundvierzig": 45,
    "fünfundfünfzig": 55, "einundzwanzig": 21, "zweiundzwanzig": 22, "dreiundzwanzig": 23,
    "vierundzwanzig": 24,
}  # fmt: skip
ARTICLES = {
    "ein": 1.0, "eine": 1.0, "einen": 1.0, "einem": 1.0, "einer": 1.0,
    "anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5, "dreieinhalb": 3.5,
    "viereinhalb": 4.5,
}  # fmt: skip
_ORDINALS = {
    "erst": 1, "zweit": 2, "dritt": 3, "viert": 4, "fünft": 5, "sechst": 6, "siebt": 7,
    "acht": 8, "neunt": 9, "zehnt": 10, "elft": 11, "zwölft": 12, "dreizehnt": 13,
    "fünfzehnt": 15, "zwanzigst": 20, "dreißigst": 30, "letzt": -1,
}  # fmt: skip
ORDINALS = {
    stem + ending: value
    for stem, value in _ORDINALS.items()
    for ending in ("e", "en", "er", "es", "em")
}
WEEKDAYS = {
    "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5,
    "sonnabend": 5, "sonntag": 6,
}  # fmt: skip
SHORT_WEEKDAYS = {"mo": 0, "di": 1, "mi": 2, "do": 3, "fr": 4, "sa": 5, "so": 6}
"""Which are other words as well."""
ON_WEEKDAYS = {f"{name}s": value for name, value in WEEKDAYS.items()}
MONTHS = {
    "januar": 1, "jänner": 1, "februar": 2, "märz": 3, "april": 4, "mai": 5, "juni": 6, "juli": 7,
    "august": 8, "september": 9, "oktober": 10, "okt": 10, "november": 11, "dezember": 12,
    "dez": 12,
}  # fmt: skip
UNITS = {
    "sekunde": "second", "sekunden": "second", "sek": "second",
    "minute": "minute", "minuten": "minute", "min": "minute",
    "stunde": "hour", "stunden": "hour", "std": "hour",
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week",
    "monat": "month", "monate": "month", "monaten": "month", "monats": "month",
    "jahr": "year", "jahre": "year", "jahren": "year", "jahres": "year",
}  # fmt: skip
DAY_PARTS = {
    "morgen": "morning", "vormittag": "forenoon", "mittag": "noon", "nachmittag": "afternoon",
    "abend": "evening", "nacht": "night",
}  # fmt: skip
BY_DAY_PART = {
    "morgens": "morning", "vormittags": "forenoon", "mittags": "noon", "nachmittags": "afternoon",
    "abends": "evening", "nachts": "night",
}  # fmt: skip
FREQUENCIES = {
    "täglich": "DAILY", "wöchentlich": "WEEKLY", "monatlich": "MONTHLY", "jährlich": "YEARLY",
    "stündlich": "HOURLY",
}  # fmt: skip
OPENINGS = (
    "bitte", "kannst du", "erinnere mich", "erinner mich", "stell einen wecker",
    "stelle einen wecker", "stell einen timer", "stelle einen timer", "mich", "daran", "an", "dass",
    "und", "zu", ",", ":",
)  # fmt: skip
