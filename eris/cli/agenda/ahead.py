"""The commands about what was and what comes: why, simulate, status, pause, resume."""

import click

from eris.cli.agenda import telling
from eris.cli.agenda.group import agenda, answering, counting, item_argument
from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask
from eris.cli.invocation import example
from eris.cli.texts import text as text_type
from proto.agenda import (
    AgendaReport,
    DescribeAgenda,
    ExplainItem,
    ItemHistory,
    PauseAgenda,
    ResumeAgenda,
    SimulateAgenda,
    Simulated,
)


@example("eris agenda why a7", "eris agenda why a7.2 --json")
@agenda.command()
@item_argument
@click.option("--limit", type=click.IntRange(1, 1000), default=200, help="How many (default: 200).")
@answering
def why(ask: Ask, *, item: str, limit: int) -> Answer:
    """Tell the history of an item: what was said, when it fired, was shown, put off or skipped."""
    reply = ask(ExplainItem(item=item, limit=limit), ItemHistory)
    earlier = reply.total - len(reply.entries)
    return answer(
        reply,
        telling.history,
        count=reply.total,
        remark=f"{earlier} earlier entries aren't shown: --limit." if earlier else "",
    )


@example(
    'eris agenda simulate --until "two weeks from now"',
    "eris agenda simulate --until 2027-03-31 --item a7 --json",
)
@agenda.command()
@click.option(
    "--until",
    metavar="WHEN",
    type=text_type,
    required=True,
    help="In words; a day includes all of it.",
)
@click.option("--item", type=text_type, default="", help="Only this one, by its id.")
@click.option("--limit", type=click.IntRange(1, 2000), default=500, help="How many (default: 500).")
@counting
def simulate(ask: Ask, *, until: str, item: str, limit: int) -> Answer:
    """Show what would fire from now on, and change nothing."""
    reply = ask(SimulateAgenda(until=until, item=item, limit=limit), Simulated)
    number = len(reply.firings)
    firings = "Nothing would fire" if not number else "1 time" if number == 1 else f"{number} times"
    remark = f"{firings} until {reply.until}." + (" There are more: --limit." if reply.cut else "")
    return answer(reply, telling.simulated, count=number, remark=remark)


@example("eris agenda status")
@agenda.command()
@answering
def status(ask: Ask) -> Answer:
    """Show how things stand: what is due next, what waits, whether Eris may act by itself."""
    return answer(ask(DescribeAgenda(), AgendaReport), telling.report)


@example("eris agenda pause", 'eris agenda pause --until "Monday at 8"')
@agenda.command()
@click.option(
    "--until", metavar="WHEN", type=text_type, default="", help="In words; else until resumed."
)
@answering
def pause(ask: Ask, *, until: str) -> Answer:
    """Have Eris do nothing of its own accord; your own reminders go on."""
    return answer(ask(PauseAgenda(until=until), AgendaReport), telling.report)


@example("eris agenda resume")
@agenda.command()
@answering
def resume(ask: Ask) -> Answer:
    """End a pause."""
    return answer(ask(ResumeAgenda(), AgendaReport), telling.report)
