"""The group `eris agenda`, and what all its commands have in common."""

from functools import partial

import click
from click.shell_completion import CompletionItem

from eris.cli.answering import answering as answering_by
from eris.cli.asking import asking
from eris.cli.invocation import Invocation, example
from eris.cli.texts import TextGroup
from eris.cli.texts import text as text_type
from eris.errors import ErisError
from proto.agenda import Items, ListItems

_COMPLETION_SECONDS = 2.0

answering = answering_by(partial(asking, actor="agenda"))
"""Makes a command of a function whose first argument asks the agenda."""

counting = answering_by(partial(asking, actor="agenda"), total=True)
"""The same for one that lists things."""


@example(
    'eris agenda add "call Tom" --at "tomorrow at half past nine"',
    "eris agenda list",
    "eris agenda snooze a7 in 2 hours",
)
@click.group(cls=TextGroup)
def agenda() -> None:
    """Keep tasks, reminders, alarms and timers, and see why and when they fire.

    Times are said in words: "tomorrow at 9", "in 20 minutes", "every weekday at 9", "am 3. März";
    the answer tells the absolute local time. Needs the running system (`eris up`).
    """


def complete_item(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the open items whose ids begin so; none if the system doesn't answer soon."""
    invocation = context.find_object(Invocation)
    if invocation is None:
        return []
    try:
        with asking(invocation, "agenda", start=False, within=_COMPLETION_SECONDS) as ask:
            items = ask(ListItems(), Items).items
    except ErisError:
        return []
    return [
        CompletionItem(item.id, help=item.text) for item in items if item.id.startswith(incomplete)
    ]


item_argument = click.argument("item", metavar="ITEM", type=text_type, shell_complete=complete_item)
"""Lets a command take an item: by id, by the id of an occurrence, or by words that fit one only."""
