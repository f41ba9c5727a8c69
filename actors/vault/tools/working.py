"""Tools for daily work: the day's note, and tasks."""

import datetime as dt
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from actors.vault.reading import Reader
from actors.vault.service import VaultService
from actors.vault.steps import Cause
from actors.vault.tools.reading import page_told
from actors.vault.tools.shared import (
    CONTENT_ALIASES,
    MOST_SHOWN,
    PATH_ALIASES,
    Offset,
    cause_of,
    heading_meant,
    line_told,
    list_told,
    note_meant,
    written_told,
)
from eris.errors import InvalidError
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect
from proto.vault import EditKind, EditNote, ListTasks, OpenDaily, TaskView

_TASK_NAMES = dict.fromkeys(("task", "content", "description", "name", "title", "todo"), "text")
_DAYS = {"": 0, "today": 0, "tomorrow": 1, "yesterday": -1}


class Daily(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:daily``."""

    content: Annotated[str, Meta(description="Text to add to it; empty to only read it")] = ""
    day: Annotated[
        str, Meta(description="today, yesterday, tomorrow, or a date such as 2027-01-31")
    ] = "today"


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:tasks``."""

    path: Annotated[str, Meta(description="The note; empty for all notes")] = ""
    offset: Offset = 0


class AddTask(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:add_task``."""

    text: Annotated[str, Meta(description="What the task says", min_length=1)]
    path: Annotated[str, Meta(description="The note; empty for today's daily note")] = ""
    heading: Annotated[str, Meta(description="Add it under this heading")] = ""


class TickTask(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:tick_task``."""

    text: Annotated[str, Meta(description="What the task says, or a part of it", min_length=1)]
    path: Annotated[str, Meta(description="The note; empty to look in all")] = ""


def working_tools(service: VaultService, reader: Reader) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def daily(arguments: Daily, call: Call) -> Outcome:
        request = OpenDaily(
            idem=call.call_id,
            day=_day(arguments.day, service.now().date()),
            content=arguments.content,
        )
        written = service.changes.daily(request, cause_of(call, "vault:daily"))
        told = written_told(written)
        if arguments.content:
            return told
        page = reader.read(written.path)
        service.writer.saw(call.session, page.path, page.file.data)
        content = page_told(page).content
        if not written.step:
            return Outcome(content=content, data=told.data)
        return Outcome(content=f"{told.content}\n{content}", receipt=told.receipt, data=told.data)

    def tasks(arguments: TaskList, _call: Call) -> Outcome:
        return _tasks_told(service, arguments)

    def add_task(arguments: AddTask, call: Call) -> Outcome:
        cause = cause_of(call, "vault:add_task")
        named = replace(arguments, path=note_meant(service, call, arguments.path))
        return _edited(service, cause, lambda: _add(service, named, cause))

    def tick_task(arguments: TickTask, call: Call) -> Outcome:
        cause = cause_of(call, "vault:tick_task")
        named = replace(arguments, path=note_meant(service, call, arguments.path))
        return _edited(service, cause, lambda: _tick(service, named, cause))

    return (
        Tool(
            name="vault:daily",
            description="Open the daily note (journal page) of today or another day, or add text "
            "to it.",
            hints=(
                "Open today's daily note.",
                "What's in my daily note?",
                "Add a line to my daily note.",
                "Show yesterday's daily note.",
                "Write it on today's journal page.",
                "Start the daily note for tomorrow.",
            ),
            arguments=Daily,
            handler=daily,
            effect=Effect.WRITE,
            aliases=CONTENT_ALIASES | {"date": "day"},
            receipt="appended {bytes} bytes to {path}",
        ),
        Tool(
            name="vault:tasks",
            description="List the open tasks (to-dos) in the notes.",
            hints=(
                "What are my open tasks?",
                "What are my todos?",
                "Which tasks are left?",
                "What is still open on my to-do lists?",
                "Which tasks are in the note garden?",
            ),
            arguments=TaskList,
            handler=tasks,
            effect=Effect.READ,
            aliases=PATH_ALIASES,
        ),
        Tool(
            name="vault:add_task",
            description="Add a task (to-do) to a note.",
            hints=(
                "Add a task: call the plumber.",
                "Add the task buy paint to the note house.",
                "New to-do: renew the passport.",
                "Put a task under the heading Garden.",
                "add a todo to my list",
            ),
            arguments=AddTask,
            handler=add_task,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES | _TASK_NAMES | dict.fromkeys(("section", "under"), "heading"),
            receipt="added a task to {path}",
        ),
        Tool(
            name="vault:tick_task",
            description="Tick off a task (to-do) in the notes that is done.",
            hints=(
                "Tick off buy milk.",
                "Mark the task water the plants as done.",
                "I finished the task send invoice.",
                "Check off call the plumber.",
                "the task pay rent is done",
            ),
            arguments=TickTask,
            handler=tick_task,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES | _TASK_NAMES,
            receipt="ticked a task in {path}",
        ),
    )


def _edited(service: VaultService, cause: Cause, order: Callable[[], EditNote]) -> Outcome:
    """Carry out an edit that has to be worked out, once."""
    done = service.changes.repeated(cause)
    return written_told(done or service.changes.edit(order(), cause))


def _tasks_told(service: VaultService, arguments: TaskList) -> Outcome:
    reply = service.answers.tasks(
        ListTasks(note=arguments.path, done=False, limit=MOST_SHOWN, offset=arguments.offset)
    )
    where = f" in {arguments.path}" if arguments.path else ""
    number = reply.total
    return list_told(
        f"{number} open task{'' if number == 1 else 's'}{where}:"
        if number
        else f"There are no open tasks{where}.",
        [f"{each.path} line {each.line}: {line_told(each.text)}" for each in reply.tasks],
        number,
        arguments.offset,
        "vault:tasks",
        reply.remark,
    )


def _add(service: VaultService, arguments: AddTask, cause: Cause) -> EditNote:
    path = arguments.path
    if not path:
        opening = msgspec.structs.replace(cause, call_id=f"{cause.call_id}/daily")
        path = service.changes.daily(OpenDaily(idem=opening.call_id), opening).path
    return EditNote(
        idem=cause.call_id,
        kind=EditKind.ADD_TASK,
        note=path,
        content=arguments.text,
        part=heading_meant(service, path, arguments.heading),
    )


def _tick(service: VaultService, arguments: TickTask, cause: Cause) -> EditNote:
    path, line = arguments.path, 0
    if not path:
        path, line = _only_task(service, arguments.text)
    return EditNote(
        idem=cause.call_id,
        kind=EditKind.TICK_TASK,
        note=path,
        content=arguments.text,
        line=line,
    )


def _day(text: str, today: dt.date) -> str:
    """Return the day that is meant, in ISO form."""
    plain = text.strip().casefold()
    if plain in _DAYS:
        return (today + dt.timedelta(days=_DAYS[plain])).isoformat()
    return text.strip()


def _only_task(service: VaultService, text: str) -> tuple[str, int]:
    """The place of the only open task in all notes that has a text.

    Raises:
        InvalidError: None has it, or several.
    """
    wanted = " ".join(text.casefold().split())
    every = service.answers.tasks(ListTasks(done=False, limit=100_000))
    found = [each for each in every.tasks if wanted in " ".join(each.text.casefold().split())]
    exact = [each for each in found if " ".join(each.text.casefold().split()) == wanted]
    found = exact or found
    if len(found) == 1:
        return found[0].path, found[0].line
    if found:
        raise InvalidError(
            f"{len(found)} tasks fit '{text}': {_places(found)}.",
            hint="Give the note as path, or more of its text.",
        )
    raise InvalidError(
        f"There is no open task '{text}'.",
        hint=f"The open ones are: {_places(every.tasks)}." if every.tasks else "There are none.",
    )


def _places(tasks: "tuple[TaskView, ...] | list[TaskView]") -> str:
    shown = [f"{each.path} line {each.line} '{line_told(each.text)}'" for each in tasks[:8]]
    more = len(tasks) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
