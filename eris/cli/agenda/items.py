"""The commands about single items: list, add, change, done, snooze, dismiss, rm."""

import click

from eris.cli.agenda import telling
from eris.cli.agenda.group import agenda, answering, counting, item_argument
from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask, fresh_key
from eris.cli.invocation import example
from eris.cli.texts import text as text_type
from proto.agenda import (
    AddItem,
    AgendaChanged,
    ChangeItem,
    CheckItem,
    ItemKind,
    Items,
    ItemState,
    ListItems,
    Missed,
    ResolveItem,
    ResolveKind,
)

_KINDS = click.Choice([str(kind) for kind in ItemKind])
_MISSED = click.option(
    "--missed",
    type=click.Choice([str(missed) for missed in Missed]),
    help="What happens to times that went by: skip them, tell of the latest once, or of each.",
)
_GRACE = click.option(
    "--grace",
    metavar="MINUTES",
    type=click.FloatRange(0, 7 * 24 * 60),
    help="A delay that doesn't count as missed.",
)


@example("eris agenda list", "eris agenda list --kind task milk", "eris agenda list --all --json")
@agenda.command("list")
@click.argument("words", type=text_type, nargs=-1)
@click.option("--kind", "kinds", multiple=True, type=_KINDS, help="Only those.")
@click.option("--all", "every", is_flag=True, help="Done and removed ones, too.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, help="How many (default: 100).")
@counting
def list_(
    ask: Ask, *, words: tuple[str, ...], kinds: tuple[str, ...], every: bool, limit: int
) -> Answer:
    """List what is open, what is due next first; only what has all WORDS, if any are given."""
    states = tuple(ItemState) if every else (ItemState.OPEN,)
    request = ListItems(
        states=states, kinds=tuple(map(ItemKind, kinds)), query=" ".join(words), limit=limit
    )
    reply = ask(request, Items)
    more = reply.total - len(reply.items)
    remark = f"And {more} more: --limit." if more else ""
    return answer(
        reply,
        telling.items,
        count=reply.total,
        remark=remark if reply.items else "Nothing is open.",
    )


@example(
    'eris agenda add "call Tom" --at "tomorrow at half past nine"',
    'eris agenda add "stand-up" --at "every weekday at 9"',
    'eris agenda add "renew the passport" --kind task',
    'eris agenda add "water the plants" --at "every Sunday at 18:00" --missed skip --grace 180',
)
@agenda.command()
@click.argument("text", type=text_type, nargs=-1, required=True)
@click.option("--at", "when", metavar="WHEN", type=text_type, default="", help="When, in words.")
@click.option(
    "--kind", type=_KINDS, help="What it is (default: a reminder; without a time a task)."
)
@_MISSED
@_GRACE
@click.option("--plan", type=text_type, default="", help="What Eris is to do, for --kind self.")
@click.option("--step", "steps", type=text_type, multiple=True, help="A step of its checklist.")
@answering
def add(
    ask: Ask,
    *,
    text: tuple[str, ...],
    when: str,
    kind: str | None,
    missed: str | None,
    grace: float | None,
    plan: str,
    steps: tuple[str, ...],
) -> Answer:
    """Add a reminder, or a task, an alarm, a timer, or something that Eris is to do.

    Without --at words about time are looked for in TEXT.
    """
    chosen = ItemKind(kind) if kind else ItemKind.SELF if plan else ItemKind.REMINDER
    request = AddItem(
        key=fresh_key(),
        kind=chosen,
        text=" ".join(text),
        when=when,
        missed=Missed(missed) if missed else None,
        grace_s=_seconds(grace),
        plan=plan,
        checklist=tuple(CheckItem(text=step) for step in steps),
    )
    return _told(ask(request, AgendaChanged))


@example(
    'eris agenda change a7 --at "Friday at 10"', 'eris agenda change a7 --text "call Tom back"'
)
@agenda.command()
@item_argument
@click.option("--text", type=text_type, help="What it's about now.")
@click.option("--at", "when", metavar="WHEN", type=text_type, help="When it is now, in words.")
@_MISSED
@_GRACE
@answering
def change(
    ask: Ask,
    *,
    item: str,
    text: str | None,
    when: str | None,
    missed: str | None,
    grace: float | None,
) -> Answer:
    """Change an open item."""
    if text is None and when is None and missed is None and grace is None:
        raise click.UsageError("Say what is to be changed: --text, --at, --missed or --grace.")
    request = ChangeItem(
        key=fresh_key(),
        item=item,
        text=text,
        when=when,
        missed=Missed(missed) if missed else None,
        grace_s=_seconds(grace),
    )
    return _told(ask(request, AgendaChanged))


@example(
    "eris agenda done a7", 'eris agenda done "call Tom"', "eris agenda done a7.2 --result sent"
)
@agenda.command()
@item_argument
@click.option("--result", type=text_type, default="", help="What came of it.")
@answering
def done(ask: Ask, *, item: str, result: str) -> Answer:
    """Say that something is done; of what recurs, only the time that waits or comes next."""
    return _resolved(ask, item, ResolveKind.DONE, result=result)


@example("eris agenda snooze a7", "eris agenda snooze a7.2 tomorrow at 9")
@agenda.command()
@item_argument
@click.argument("when", type=text_type, nargs=-1)
@answering
def snooze(ask: Ask, *, item: str, when: tuple[str, ...]) -> Answer:
    """Put a reminder off, by default for `agenda.snooze_minutes`."""
    return _resolved(ask, item, ResolveKind.SNOOZE, when=" ".join(when))


@example("eris agenda dismiss a7.2")
@agenda.command()
@item_argument
@answering
def dismiss(ask: Ask, *, item: str) -> Answer:
    """Say that a reminder was seen; a task stays open."""
    return _resolved(ask, item, ResolveKind.DISMISS)


@example("eris agenda rm a7")
@agenda.command()
@item_argument
@answering
def rm(ask: Ask, *, item: str) -> Answer:
    """Take an item away; `eris agenda why` goes on telling its history."""
    return _resolved(ask, item, ResolveKind.REMOVE)


def _resolved(
    ask: Ask, item: str, action: ResolveKind, *, when: str = "", result: str = ""
) -> Answer:
    request = ResolveItem(key=fresh_key(), item=item, action=action, when=when, result=result)
    return _told(ask(request, AgendaChanged))


def _told(changed: AgendaChanged) -> Answer:
    return answer(changed, telling.changed, remark="\n".join(changed.assumed))


def _seconds(minutes: float | None) -> int | None:
    return None if minutes is None else round(minutes * 60)
