"""Tools that change notes: write, append, edit, move, delete, and taking that back."""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from actors.vault.service import VaultService
from actors.vault.tools.own_folder import OwnFolder
from actors.vault.tools.shared import (
    CONTENT_ALIASES,
    PATH_ALIASES,
    NoteName,
    cause_of,
    heading_meant,
    note_meant,
    sentence,
    written_told,
)
from actors.vault.writing import Mode
from eris.errors import InvalidError, NotFoundError
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect
from proto.vault import EditKind, EditNote, MoveNote, TrashNote, Undo, Written


class WriteNote(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:write``."""

    path: NoteName
    content: Annotated[str, Meta(description="The text to write")]
    mode: Annotated[
        Literal["append", "overwrite", "create"],
        Meta(
            description="append adds to the note or creates it; create refuses if it's there; "
            "overwrite replaces all of it, only if the user asks for that"
        ),
    ] = "append"


class AppendNote(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:append``."""

    path: NoteName
    content: Annotated[str, Meta(description="The text to add", min_length=1)]
    heading: Annotated[str, Meta(description="Add it under this heading; empty for the end")] = ""


class EditText(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:edit``."""

    path: NoteName
    action: Annotated[
        Literal["replace", "insert", "section", "set", "remove"],
        Meta(
            description="replace a text by content; insert content under the heading target; "
            "section: replace what is under the heading target; set the property target to "
            "content; remove the property target"
        ),
    ]
    target: Annotated[
        str, Meta(description="The old text, the heading, or the property", min_length=1)
    ]
    content: Annotated[str, Meta(description="The new text or value")] = ""
    count: Annotated[
        int, Meta(description="How often the old text is there; 0 for any number", ge=0)
    ] = 1


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:move``."""

    path: NoteName
    target: Annotated[
        str, Meta(description="New name or path, or a folder with / at its end", min_length=1)
    ]


class Delete(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:delete``."""

    path: NoteName


class TakeBack(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:undo``."""

    step: Annotated[int, Meta(description="Number of the step; 0 for the last change", ge=0)] = 0


_KINDS = {
    "replace": EditKind.REPLACE,
    "insert": EditKind.APPEND,
    "section": EditKind.OVERWRITE,
    "set": EditKind.SET_PROPERTY,
    "remove": EditKind.REMOVE_PROPERTY,
}


def changing_tools(service: VaultService, own: OwnFolder) -> tuple[Tool[Any], ...]:
    """Declare them.

    Args:
        service: Does what they ask for.
        own: Where turns may write that the user didn't start.
    """

    def write(arguments: WriteNote, call: Call) -> Outcome:
        own.check(service, call, arguments.path)
        cause = cause_of(call, "vault:write")
        receipt = service.writer.write(
            cause, arguments.path, arguments.content, Mode(arguments.mode)
        )
        return written_told(service.changes.written(receipt))

    def append(arguments: AppendNote, call: Call) -> Outcome:
        own.check(service, call, arguments.path)
        request = EditNote(
            idem=call.call_id,
            kind=EditKind.APPEND,
            note=arguments.path,
            content=arguments.content,
            part=heading_meant(service, arguments.path, arguments.heading),
        )
        return written_told(service.changes.edit(request, cause_of(call, "vault:append")))

    def edit(arguments: EditText, call: Call) -> Outcome:
        return written_told(
            service.changes.edit(
                _edit(arguments, call, note_meant(service, call, arguments.path)),
                cause_of(call, "vault:edit"),
            )
        )

    def move(arguments: Move, call: Call) -> Outcome:
        note = note_meant(service, call, arguments.path)
        request = MoveNote(idem=call.call_id, note=note, target=arguments.target)
        return written_told(service.changes.move(request, cause_of(call, "vault:move")))

    def delete(arguments: Delete, call: Call) -> Outcome:
        request = TrashNote(idem=call.call_id, note=arguments.path)
        return written_told(service.changes.trash(request, cause_of(call, "vault:delete")))

    def undo(arguments: TakeBack, call: Call) -> Outcome:
        cause = cause_of(call, "vault:undo")
        if arguments.step:
            return undone_told(
                service.changes.undo(Undo(idem=call.call_id, step=arguments.step), cause)
            )
        try:
            return undone_told(service.changes.undo_last(cause, call.session))
        except NotFoundError:  # Nothing in this session: then what was done last at all.
            return undone_told(service.changes.undo_last(cause))

    return (
        Tool(
            name="vault:write",
            description="Write to a note: save text in a Markdown file of the user, new or old.",
            hints=(
                "Save a note in notes/today.md saying that I should buy milk.",
                "Write this to ideas.md.",
                "Make a note that the meeting is on Friday.",
                "Add eggs to my shopping list.",
                "Jot down: call the plumber.",
                "Create a new note called plan.md.",
                "Append a line to notes/log.md.",
                "Replace the text of draft.md.",
            ),
            arguments=WriteNote,
            handler=write,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES | CONTENT_ALIASES,
            receipt="created {path} ({bytes} bytes)",
        ),
        Tool(
            name="vault:append",
            description="Append text to an existing note: at its end, or under one of its "
            "headings.",
            hints=(
                "Append this under the heading Ideas.",
                "Put a line at the bottom of my log.",
                "Add a sentence under Next steps in the project note.",
                "Under the section Books, add Dune.",
                "Append it to the end of that note.",
                "Add to the heading Shopping: soap.",
            ),
            arguments=AppendNote,
            handler=append,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES
            | CONTENT_ALIASES
            | dict.fromkeys(("section", "under", "part"), "heading"),
            receipt="appended {bytes} bytes to {path}",
        ),
        Tool(
            name="vault:edit",
            description="Edit part of a note: replace words, change a section, set or remove a "
            "property.",
            hints=(
                "Change milk to oat milk in my shopping list.",
                "Replace the word draft by final in the report.",
                "Correct the typo teh in my letter.",
                "Set the status of the project note to done.",
                "Rewrite the section Summary.",
                "Remove the property due.",
                "Replace Monday with Tuesday in the plan.",
                "Set the property rating to 5.",
            ),
            arguments=EditText,
            handler=edit,
            effect=Effect.WRITE,
            aliases={**PATH_ALIASES, **CONTENT_ALIASES}
            | dict.fromkeys(
                ("find", "old", "old_text", "search", "heading", "section", "property", "name"),
                "target",
            )
            | dict.fromkeys(("new", "new_text", "value", "replacement", "replace"), "content")
            | dict.fromkeys(("mode", "kind", "operation"), "action"),
            receipt="replaced 'old' by 'new' in {path}",
        ),
        Tool(
            name="vault:move",
            description="Move or rename a note or folder; every link to it is rewritten.",
            hints=(
                "Rename the note idea to boat.",
                "Move this note into the folder archive.",
                "Rename my note Draft to Report.",
                "Move all of inbox to another folder.",
                "Give the note Untitled the name Budget.",
                "Change the name of that note.",
            ),
            arguments=Move,
            handler=move,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES
            | dict.fromkeys(("source", "from", "old_path", "old_name"), "path")
            | dict.fromkeys(
                ("to", "destination", "new_path", "new_name", "folder", "name"), "target"
            ),
            receipt="moved {path} to {target}",
        ),
        Tool(
            name="vault:delete",
            description="Delete a note or folder: it goes to the vault's trash.",
            hints=(
                "Delete the draft.",
                "Delete my note about the party.",
                "Throw that page away.",
                "Put it in the trash.",
                "Trash that note.",
                "Get rid of that file.",
            ),
            arguments=Delete,
            handler=delete,
            effect=Effect.WRITE,
            aliases=PATH_ALIASES | dict.fromkeys(("folder",), "path"),
            receipt="moved {path} to the trash",
        ),
        Tool(
            name="vault:undo",
            description="Undo the last change that was made to the user's notes.",
            hints=(
                "Undo that.",
                "undo the last change",
                "Take that back.",
                "Revert what you just did to my notes.",
                "Bring the note back to how it was.",
                "That was wrong, restore it.",
            ),
            arguments=TakeBack,
            handler=undo,
            effect=Effect.WRITE,
            aliases={"number": "step", "id": "step"},
            receipt="undid step {step}: {what}",
        ),
    )


def undone_told(written: Written) -> Outcome:
    """Say what was taken back."""
    several = ", ".join(written.files[:5])
    more = f" and {len(written.files) - 5} more" if len(written.files) > 5 else ""  # noqa: PLR2004
    remark = f" {written.remark}" if written.remark else ""
    return Outcome(
        content=f"{sentence(written.message)} Changed: {several}{more}.{remark}",
        receipt=written.message,
        data={"path": written.path, "step": written.step},
    )


def _edit(arguments: EditText, call: Call, note: str) -> EditNote:
    kind = _KINDS[arguments.action]
    content, target = arguments.content, arguments.target
    if kind is EditKind.APPEND and not content.strip():
        raise InvalidError("There is nothing to insert.", hint="Give the text as content.")
    if kind is EditKind.SET_PROPERTY:
        content = _value_as_json(content)
    return EditNote(
        idem=call.call_id,
        kind=kind,
        note=note,
        content=content,
        part="" if kind is EditKind.REPLACE else target,
        find=target if kind is EditKind.REPLACE else "",
        count=arguments.count,
    )


def _value_as_json(text: str) -> str:
    """Return a property's value as JSON: what looks like a list, number or yes is one."""
    plain = text.strip()
    if plain in {"true", "false"} or plain.startswith("["):
        try:
            json.loads(plain)
        except ValueError:
            pass
        else:
            return plain
        if plain.endswith("]"):
            items = [item.strip().strip("\"'") for item in plain[1:-1].split(",")]
            return json.dumps([item for item in items if item], ensure_ascii=False)
    try:
        number = float(plain)
    except ValueError:
        return json.dumps(plain, ensure_ascii=False)
    written_so = json.dumps(int(number) if number.is_integer() and "." not in plain else number)
    return written_so if written_so == plain else json.dumps(plain)
