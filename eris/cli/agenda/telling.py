"""How replies of the agenda read: one function for each, from message to text."""

from eris.cli.looks import Look, lines
from proto.agenda import (
    AgendaChanged,
    AgendaReport,
    HistoryEntry,
    ItemHistory,
    ItemKind,
    Items,
    ItemState,
    ItemView,
    Simulated,
)

_TIME_WIDTH = len("2027-01-04 09:00")
_BOXES = {ItemState.OPEN: "[ ]", ItemState.DONE: "[x]", ItemState.REMOVED: "[-]"}


def items(reply: Items, look: Look) -> str:
    """Items, one a line: id, when it's next due, what it's about, and what else is to be known."""
    width = max((len(item.id) for item in reply.items), default=0)
    return lines([line for item in reply.items for line in _item(item, look, width)])


def _item(item: ItemView, look: Look, width: int = 0) -> list[str]:
    due = _minute(item.next_local) if item.next_local else ""
    box = f"{_BOXES[item.state]} " if item.kind is ItemKind.TASK else ""
    kind = "" if item.kind in {ItemKind.TASK, ItemKind.REMINDER} else f"{item.kind}: "
    asides = [
        *([item.when] if item.schedule is not None and item.schedule.rule else []),
        *([f"waits: {', '.join(item.waiting)}"] if item.waiting else []),
        *([str(item.state)] if item.state is not ItemState.OPEN else []),
        *([f"from {_origin(item.source)}"] if item.source else []),
    ]
    named = look.styled(item.id.ljust(width), fg="green")
    told = f"{named}  {due:<{_TIME_WIDTH}}  {box}{kind}{look.line(item.text)}"
    return [told + (look.aside(f"  ({'; '.join(asides)})") if asides else "")]


def _origin(source: str) -> str:
    """Return where an item is mirrored from, for people."""
    kind, _, rest = source.partition(":")
    return rest.rpartition("#")[0] if kind == "note" else "a calendar"


def changed(reply: AgendaChanged, look: Look) -> str:
    """What was done."""
    return f"{look.line(reply.receipt[:1].upper() + reply.receipt[1:])}.\n"


def history(reply: ItemHistory, look: Look) -> str:
    """An item, what is set for it, and everything that happened to it."""
    item = reply.item
    told = _item(item, look)
    facts = {
        "said": item.said,
        "when": item.when,
        "missed": f"{item.missed}, after {item.grace_s} s" if item.schedule else "",
        "plan": item.plan,
        "result": item.result,
    }
    told += [f"  {name:<6}  {look.line(value)}" for name, value in facts.items() if value]
    told += [
        f"  {'step':<6}  {'[x]' if step.done else '[ ]'} {look.line(step.text)}"
        for step in item.checklist
    ]
    told += [_entry(entry, look) for entry in reply.entries]
    return lines(told)


def _entry(entry: HistoryEntry, look: Look) -> str:
    due = f", due {_minute(entry.due_local)}" if entry.due_local else ""
    named = f"  {entry.occurrence}{due}" if entry.occurrence else ""
    reason = f"  {look.line(entry.reason)}" if entry.reason else ""
    return f"{_second(entry.local)}  {entry.event:<9}{named}{reason}"


def simulated(reply: Simulated, look: Look) -> str:
    """What would fire, one a line."""
    width = max((len(firing.item) for firing in reply.firings), default=0)
    return lines(
        [
            f"{look.styled(firing.item.ljust(width), fg='green')}  {look.line(firing.told)}  "
            f"{look.line(firing.text)}" + (look.aside(f"  ({firing.note})") if firing.note else "")
            for firing in reply.firings
        ]
    )


def report(reply: AgendaReport, look: Look) -> str:
    """How things stand."""
    paused = "no"
    if reply.paused:
        paused = (
            f"until {reply.paused_until}" if reply.paused_until else "until `eris agenda resume`"
        )
    due = f"{reply.next_item}, {reply.next_told}" if reply.next_item else "nothing"
    facts = {
        "now": reply.local,
        "open": str(reply.open),
        "waiting": str(reply.waiting),
        "next": due,
        "own turns today": f"{reply.own_turns_today} of {reply.own_turns_limit}",
        "quiet hours": "yes" if reply.quiet else "no",
        "paused": paused,
        **({"note": reply.note} if reply.note else {}),
    }
    width = max(map(len, facts))
    return lines([f"{name:<{width}}  {look.line(value)}" for name, value in facts.items()])


def _minute(local: str) -> str:
    """Return an ISO time to the minute, as the other commands show times."""
    return local[:_TIME_WIDTH].replace("T", " ")


def _second(local: str) -> str:
    return local[: _TIME_WIDTH + len(":00")].replace("T", " ")
