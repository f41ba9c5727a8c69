"""English words about time, as tables: folded word to category and value."""

NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90,
    "twenty-five": 25, "thirty-five": 35, "fifty-five": 55,
}  # fmt: skip
ARTICLES = {"a": 1.0, "an": 1.0}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "twentieth": 20, "thirtieth": 30, "last": -1,
}  # fmt: skip
WEEKDAYS = {
    "monday": 0, "mon": 0, "tuesday": 1, "tue": 1, "tues": 1, "wednesday": 2, "thursday": 3,
    "thu": 3, "thur": 3, "thurs": 3, "friday": 4, "fri": 4, "saturday": 5, "sunday": 6,
}  # fmt: skip
SHORT_WEEKDAYS = {"wed": 2, "sat": 5, "sun": 6}
"""Which are other words as well."""
ON_WEEKDAYS = {
    "mondays": 0, "tuesdays": 1, "wednesdays": 2, "thursdays": 3, "fridays": 4, "saturdays": 5,
    "sundays": 6,
}  # fmt: skip
MONTHS = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4,
    "may": 5, "june": 6, "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9,
    "sep": 9, "sept": 9, "october": 10, "oct": 10, "november": 11, "nov": 11, "december": 12,
    "dec": 12,
}  # fmt: skip
UNITS = {
    "second": "second", "seconds": "second", "sec": "second", "secs": "second",
    "minute": "minute", "minutes": "minute", "min": "minute", "mins": "minute",
    "hour": "hour", "hours": "hour", "h": "hour", "hr": "hour", "hrs": "hour",
    "day": "day", "days": "day", "week": "week", "weeks": "week",
    "month": "month", "months": "month", "year": "year", "years": "year",
}  # fmt: skip
DAY_PARTS = {
    "morning": "morning", "afternoon": "afternoon", "evening": "evening", "night": "night",
}  # fmt: skip
BY_DAY_PART = {"noon": "noon", "midday": "noon"}
FREQUENCIES = {
    "daily": "DAILY", "weekly": "WEEKLY", "monthly": "MONTHLY", "yearly": "YEARLY",
    "annually": "YEARLY", "hourly": "HOURLY",
}  # fmt: skip
OPENINGS = (
    "please", "can you", "could you", "remind me", "set a reminder", "set an alarm",
    "set a timer", "add a reminder", "to", "that", "about", "for", "and", "me", "of", ",", ":",
)  # fmt: skip
