"""`eris agenda`: tasks and reminders, without a model."""

# Each of these declares its commands when it's imported.
from eris.cli.agenda import ahead, calendars, items
from eris.cli.agenda.group import agenda

__all__ = ["agenda", "ahead", "calendars", "items"]
