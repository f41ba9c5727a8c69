"""When people mean: dates, recurrences and durations in words, without asking a model.

Pure functions: the time comes in, nothing is read but the zone database.
"""

from eris.dates.meaning import Duration, Found, Instant, Meaning, Meant, Options, Recurrence
from eris.dates.rules import occurrences
from eris.dates.saying import say, say_rule
from eris.dates.understanding import find, understand

__all__ = [
    "Duration",
    "Found",
    "Instant",
    "Meaning",
    "Meant",
    "Options",
    "Recurrence",
    "find",
    "occurrences",
    "say",
    "say_rule",
    "understand",
]
