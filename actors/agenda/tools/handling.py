"""Tools for what is on the agenda already."""

import datetime as dt
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.agenda.tools.port import AgendaService, refuse_untrusted
from actors.agenda.tools.telling import changed_told
from actors.agenda.tools.wording import Wording
from eris.dates import say
from eris.tools import Call, Outcome, Tool
from proto.agenda import ItemState, ItemView, ListItems, ResolveItem, ResolveKind
from proto.tools import Effect

MOST_SHOWN = 12
LONGEST_LINE = 160

ItemName = Annotated[str, Meta(description="The item, such as a3, or its words", min_length=1)]
_NAMES = ("id", "task_id", "item_id", "item", "reminder", "text", "name", "title", "description")
_NAMED = dict.fromkeys((*_NAMES, "what", "description_match", "alarm", "timer"), "task")


class ShowAgenda(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:list``."""

    words: Annotated[str, Meta(description="Words to look for; empty for everything")] = ""
    done: Annotated[bool, Meta(description="true for what is done already")] = False


class Complete(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:complete``."""

    task: ItemName
    result: Annotated[str, Meta(description="What came of it, if the user says so")] = ""


class Remove(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:remove``."""

    task: ItemName


class Snooze(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:snooze``."""

    task: ItemName
    when: Annotated[
        str, Meta(description="The user's words about the new time; empty for a few minutes")
    ] = ""


def handling_tools(service: AgendaService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def show(arguments: ShowAgenda, _call: Call) -> Outcome:
        states = (ItemState.DONE,) if arguments.done else (ItemState.OPEN,)
        request = ListItems(states=states, query=arguments.words, limit=MOST_SHOWN)
        found = service.items(request)
        if not found.total and arguments.words:
            # Small models put what they are asked into every argument they have.
            found = service.items(ListItems(states=states, limit=MOST_SHOWN))
        return _listed(found.items, found.total, service.moment(), done=arguments.done)

    def resolve(call: Call, task: str, action: ResolveKind, **more: str) -> Outcome:
        request = ResolveItem(key=call.call_id, item=task, action=action, **more)
        return changed_told(service.resolve(request))

    def complete(arguments: Complete, call: Call) -> Outcome:
        refuse_untrusted(call, "complete tasks")
        return resolve(call, arguments.task, ResolveKind.DONE, result=arguments.result)

    def remove(arguments: Remove, call: Call) -> Outcome:
        refuse_untrusted(call, "remove anything")
        return resolve(call, arguments.task, ResolveKind.REMOVE)

    def snooze(arguments: Snooze, call: Call) -> Outcome:
        refuse_untrusted(call, "put reminders off")
        when = ""
        if arguments.when.strip():
            wording = Wording(call.said, service.moment(), service.options())
            when = wording.time(arguments.when).words
        return resolve(call, arguments.task, ResolveKind.SNOOZE, when=when)

    return (
        Tool(
            name="agenda:list",
            description="List the user's tasks, reminders, alarms and timers, with their ids and "
            "times.",
            hints=(
                "What's on my agenda?",
                "Show my tasks.",
                "Which reminders do I have?",
                "What do I have to do this week?",
                "List my alarms and timers.",
                "Which tasks are due?",
                "Was steht auf meiner Agenda?",
                "Zeig mir meine Aufgaben.",
            ),
            arguments=ShowAgenda,
            handler=show,
            effect=Effect.READ,
            aliases=dict.fromkeys(("query", "search", "text", "filter", "when", "date"), "words")
            | dict.fromkeys(("completed", "finished"), "done"),
        ),
        Tool(
            name="agenda:complete",
            description="Mark a task or reminder as done.",
            hints=(
                "I've done a3.",
                "Mark the report as done.",
                "I paid the rent, tick it off.",
                "Task a2 is finished.",
                "Hake Milch kaufen ab.",
                "Die Steuer ist erledigt.",
            ),
            arguments=Complete,
            handler=complete,
            effect=Effect.WRITE,
            aliases=_NAMED | dict.fromkeys(("result_summary", "summary", "outcome"), "result"),
            receipt="completed {id}: {text}",
        ),
        Tool(
            name="agenda:remove",
            description="Cancel a reminder, alarm or timer, or remove a task that isn't needed any "
            "more.",
            hints=(
                "Cancel the timer.",
                "Delete the reminder about the dentist.",
                "Remove a4 from my tasks.",
                "Stop reminding me of the stand-up.",
                "Turn off tomorrow's alarm.",
                "Lösch die Erinnerung an den Zahnarzt.",
            ),
            arguments=Remove,
            handler=remove,
            effect=Effect.WRITE,
            aliases=_NAMED,
            receipt="removed {kind} {id}: {text}",
        ),
        Tool(
            name="agenda:snooze",
            description="Put off, snooze a reminder that was just shown.",
            hints=(
                "Snooze.",
                "Snooze the reminder for 10 minutes.",
                "Snooze a2.1 for an hour.",
                "Put that reminder off by half an hour.",
                "Postpone this reminder.",
                "Erinnere mich später nochmal daran.",
            ),
            arguments=Snooze,
            handler=snooze,
            effect=Effect.WRITE,
            aliases=_NAMED | dict.fromkeys(("time", "until", "minutes", "in", "at"), "when"),
            receipt="snoozed {id} until {time}: {text}",
        ),
    )


def _listed(items: tuple[ItemView, ...], total: int, now: dt.datetime, *, done: bool) -> Outcome:
    state = "done" if done else "open"
    if not total:
        return Outcome(content=f"Nothing is {state}.", data={"found": 0})
    number = "1 item is" if total == 1 else f"{total} items are"
    lines = [f"It is {say(now.replace(second=0, microsecond=0))}. {number} {state}:"]
    lines += [_line(item, now) for item in items]
    if total > len(items):
        lines.append(f"({total - len(items)} more aren't shown.)")
    return Outcome(content="\n".join(lines), data={"found": total})


def _line(item: ItemView, now: dt.datetime) -> str:
    text = item.text if len(item.text) <= LONGEST_LINE else f"{item.text[: LONGEST_LINE - 1]}…"
    details = []
    if item.schedule is not None and item.schedule.rule:
        details.append(item.when)
    if item.next_due:
        due = dt.datetime.fromtimestamp(item.next_due, now.tzinfo)
        details.append(f"{'next ' if details else ''}{say(due, now=now)}")
    if item.waiting:
        details.append(f"told of, waits for an answer as {', '.join(item.waiting)}")
    told = f" ({'; '.join(details)})" if details else ""
    return f"{item.id} {item.kind.value}: {text}{told}"
