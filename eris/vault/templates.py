"""Templates filled in as Obsidian's own Templates and Daily notes plugins do it."""

import datetime as dt
import re

from eris.vault.moment import AMERICAN_WEEKS, Weeks, formatted
from eris.vault.settings import Settings

_BLANK = re.compile(r"\{\{[ \t]*(?:(title)|(date|time)[ \t]*(?::(.*?))?)[ \t]*\}\}", re.IGNORECASE)


def filled_in(
    text: str,
    title: str,
    moment: dt.datetime,
    settings: Settings,
    weeks: Weeks = AMERICAN_WEEKS,
) -> str:
    """Return a template's text with `{{title}}`, `{{date}}` and `{{time}}` filled in.

    `{{date:FORMAT}}` and `{{time:FORMAT}}` take any format of moment.js. Whatever else stands in
    braces, such as another plugin's commands, stays as it is.

    Args:
        text: The template's.
        title: The new note's name, without folder and `.md`.
        moment: Now, in the user's time zone; for a daily note the day that it's of.
        settings: The vault's, for the formats of the plain `{{date}}` and `{{time}}`.
        weeks: How weeks in formats are counted.
    """

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            return title
        usual = settings.date_format if match[2].lower() == "date" else settings.time_format
        return formatted(moment, (match[3] or "").strip() or usual, weeks)

    return _BLANK.sub(fill, text)
