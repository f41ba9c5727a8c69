"""Where a day's note is, by the settings of Obsidian's daily notes, and which day a note is of."""

import datetime as dt

from eris.errors import InvalidError
from eris.vault.moment import AMERICAN_WEEKS, Weeks, formatted, parsed
from eris.vault.settings import Settings

_ENDING = ".md"


def daily_path(day: dt.date, settings: Settings, weeks: Weeks = AMERICAN_WEEKS) -> str:
    """Return the path of a day's note.

    Args:
        day: In the user's time zone. If it's a `datetime`, formats with a time in them use it,
            otherwise they say midnight.
        settings: The vault's.
        weeks: How the weeks in the format are counted.

    Raises:
        InvalidError: The format makes no name, or one outside of the folder.
    """
    moment = day if isinstance(day, dt.datetime) else dt.datetime.combine(day, dt.time())
    text = formatted(moment, settings.daily_format, weeks)
    names = [name for name in text.split("/") if name.strip()]
    if not names or any(name.startswith(".") for name in names):
        raise InvalidError(
            f"The format {settings.daily_format!r} of daily notes gives {text!r} for "
            f"{day:%Y-%m-%d}, which is no path for a note.",
            hint="Change the date format of daily notes in Obsidian, for example to YYYY-MM-DD.",
        )
    if settings.daily_folder:
        names.insert(0, settings.daily_folder)
    path = "/".join(names)
    return path if path.lower().endswith(_ENDING) else path + _ENDING


def date_of(path: str, settings: Settings, weeks: Weeks = AMERICAN_WEEKS) -> dt.date | None:
    """Return the day that a note is of, or None if it isn't a daily note.

    Args:
        path: The note's path in the vault.
        settings: The vault's. A format that doesn't say which day it is, such as `dddd`, has no
            daily notes that could be told apart.
        weeks: How the weeks in the format are counted.
    """
    front = f"{settings.daily_folder}/" if settings.daily_folder else ""
    if not path.lower().endswith(_ENDING) or not path.startswith(front):
        return None
    pattern = "/".join(name for name in settings.daily_format.split("/") if name.strip())
    text = path[len(front) :]
    return parsed(text[: -len(_ENDING)], pattern, weeks) or parsed(text, pattern, weeks)
