"""Tools that put something on the agenda."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.agenda.tools.port import AgendaService, refuse_untrusted
from actors.agenda.tools.telling import changed_told
from actors.agenda.tools.wording import Wording
from eris.tools import Call, Outcome, Tool
from proto.agenda import AddItem, CheckItem, ItemKind
from proto.tools import Effect

_LABEL_NAMES = ("text", "description", "title", "what", "message", "name", "about", "note")
_TEXT_NAMES = (*_LABEL_NAMES[1:], "task", "content", "label", "reminder", "todo", "item", "subject")
_WHEN_NAMES = (
    "time",
    "date",
    "due",
    "at",
    "datetime",
    "due_date",
    "schedule",
    "in",
    "day",
    "every",
)

When = Annotated[
    str,
    Meta(
        description="The user's words about the time, such as: in 20 minutes, tomorrow at 9:30, "
        "every weekday at 9"
    ),
]


class Push(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:push``."""

    text: Annotated[str, Meta(description="What is to be done, in a few words", min_length=1)]
    when: Annotated[str, Meta(description="The user's words about when it's due; else empty")] = ""


class RemindAt(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:remind_at``."""

    text: Annotated[str, Meta(description="What to remind the user of, in a few words")]
    when: When = ""


class RemindSelf(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``agenda:remind_self``."""

    text: Annotated[str, Meta(description="What you are to do then, in a few words")]
    when: When = ""
    plan: Annotated[str, Meta(description="How to do it, if that isn't plain")] = ""
    steps: Annotated[tuple[str, ...], Meta(description="Steps to tick off, if there are any")] = ()


class SetTimer(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``clock:timer``."""

    duration: Annotated[str, Meta(description="How long, such as: 10 minutes, half an hour")]
    label: Annotated[str, Meta(description="What it's for, such as: eggs; else empty")] = ""


class SetAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``clock:alarm``."""

    when: Annotated[str, Meta(description="When, such as: 6:30, tomorrow at 7, every weekday at 6")]
    label: Annotated[str, Meta(description="What it's for; else empty")] = ""


def adding_tools(service: AgendaService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def add(call: Call, kind: ItemKind, text: str, when: str, **more: Any) -> Outcome:
        wording = Wording(call.said, service.moment(), service.options())
        wanted = wording.wanted(text, when, needed=kind is not ItemKind.TASK)
        request = AddItem(key=call.call_id, kind=kind, text=wanted.text, **more)
        return changed_told(service.add(request, wanted.meant))

    def push(arguments: Push, call: Call) -> Outcome:
        return add(call, ItemKind.TASK, arguments.text, arguments.when)

    def remind_at(arguments: RemindAt, call: Call) -> Outcome:
        return add(call, ItemKind.REMINDER, arguments.text, arguments.when)

    def remind_self(arguments: RemindSelf, call: Call) -> Outcome:
        refuse_untrusted(call, "make Eris do something later")
        steps = [line.strip() for step in arguments.steps for line in step.splitlines()]
        checklist = tuple(CheckItem(text=line) for line in steps if line)
        plan = arguments.plan
        return add(
            call, ItemKind.SELF, arguments.text, arguments.when, plan=plan, checklist=checklist
        )

    def timer(arguments: SetTimer, call: Call) -> Outcome:
        return add(call, ItemKind.TIMER, arguments.label, arguments.duration)

    def alarm(arguments: SetAlarm, call: Call) -> Outcome:
        return add(call, ItemKind.ALARM, arguments.label, arguments.when)

    texts, times = dict.fromkeys(_TEXT_NAMES, "text"), dict.fromkeys(_WHEN_NAMES, "when")
    return (
        Tool(
            name="agenda:push",
            description="Add a task to the user's list of things to do, with or without a date.",
            hints=(
                "Add buy milk to my tasks.",
                "Put call the plumber on my to-do list.",
                "I have to pay the rent by Friday.",
                "New task: write the report.",
                "add a todo",
                "Setz Milch kaufen auf meine Aufgabenliste.",
                "Ich muss bis Montag die Steuer machen.",
            ),
            arguments=Push,
            handler=push,
            effect=Effect.WRITE,
            aliases=texts | times,
            receipt="added task {id}: {text}",
        ),
        Tool(
            name="agenda:remind_at",
            description="Remind the user of something at a time, once or again and again.",
            hints=(
                "Remind me in 20 minutes to take the bread out.",
                "Remind me tomorrow at half past nine to call Ann.",
                "every Monday at 8:15 team meeting",
                "every weekday at 9 stand-up",
                "Don't let me forget the dentist on Friday at 10.",
                "Set a reminder for 5 pm.",
                "Remind me every first of the month to pay the rent.",
                "Erinnere mich morgen um 8 an den Zahnarzt.",
                "Erinnere mich in einer Stunde an die Wäsche.",
            ),
            arguments=RemindAt,
            handler=remind_at,
            effect=Effect.WRITE,
            aliases=texts | times,
            receipt="set reminder {id} for {time}: {text}",
        ),
        Tool(
            name="agenda:remind_self",
            description="Have yourself, the assistant, do something later by yourself, such as "
            "look something up every morning and tell the user.",
            hints=(
                "Every evening at 8 look through my notes of the day and summarise them.",
                "Tomorrow at 9 check my inbox note and tell me what is open.",
                "Do this yourself every Friday at 5.",
                "In an hour, look again whether the list has changed.",
                "Remind yourself to review the project notes on Monday.",
                "Schau jeden Abend meine Notizen durch und fass sie zusammen.",
            ),
            arguments=RemindSelf,
            handler=remind_self,
            effect=Effect.WRITE,
            aliases=texts
            | times
            | dict.fromkeys(("how", "instructions", "prompt"), "plan")
            | dict.fromkeys(("checklist", "list", "tasks"), "steps"),
            receipt="set reminder to myself {id} for {time}: {text}",
        ),
        Tool(
            name="clock:timer",
            description="Start a timer that rings after an amount of time.",
            hints=(
                "Set a timer for 10 minutes.",
                "Start a 5 minute timer for the eggs.",
                "timer 30 seconds",
                "Count down a quarter of an hour.",
                "Stell einen Timer auf 8 Minuten für die Nudeln.",
            ),
            arguments=SetTimer,
            handler=timer,
            effect=Effect.WRITE,
            aliases=dict.fromkeys(
                (*_WHEN_NAMES, "when", "minutes", "seconds", "length"), "duration"
            )
            | dict.fromkeys(_LABEL_NAMES, "label"),
            receipt="set timer {id} for {time}: {text}",
        ),
        Tool(
            name="clock:alarm",
            description="Set an alarm for a time of the day, such as to wake the user up.",
            hints=(
                "Wake me at 6:30.",
                "Set an alarm for 5:45.",
                "alarm clock for half past six",
                "Wake me up every weekday at 6:15.",
                "Stell den Wecker auf 6:30 Uhr.",
                "Weck mich um halb sieben.",
            ),
            arguments=SetAlarm,
            handler=alarm,
            effect=Effect.WRITE,
            aliases=times | dict.fromkeys(_LABEL_NAMES, "label"),
            receipt="set alarm {id} for {time}: {text}",
        ),
    )
