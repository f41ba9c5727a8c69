"""Tools that read and list notes."""

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.vault.reading import Listing, Page, Reader
from actors.vault.service import VaultService
from actors.vault.tools.shared import PATH_ALIASES, NoteName, note_meant
from eris.errors import InvalidError, NotFoundError
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect

_FOLDER_NAMES = ("dir", "directory", "path", "folder_path", "relative_path")
FOLDER_ALIASES = dict.fromkeys(_FOLDER_NAMES, "folder")
_MOST_HEADINGS = 30


class ReadNote(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:read``."""

    path: NoteName
    part: Annotated[str, Meta(description="Only this heading or ^block; empty for all")] = ""
    line: Annotated[int, Meta(description="Line to begin at", ge=0)] = 0
    offset: Annotated[int, Meta(description="Character to read on from", ge=0)] = 0


class ListNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:list``."""

    folder: Annotated[str, Meta(description="The folder; empty for the whole vault")] = ""


def reading_tools(service: VaultService, reader: Reader) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def read(arguments: ReadNote, call: Call) -> Outcome:
        # Small models like to name a part or a line that nobody spoke of, and that isn't there.
        path = note_meant(service, call, arguments.path)
        wanted = arguments
        while True:
            try:
                page = reader.read(path, wanted.offset, part=wanted.part, line=wanted.line)
                break
            except NotFoundError:
                if not wanted.part:
                    raise
                wanted = msgspec.structs.replace(wanted, part="", offset=0)
            except InvalidError:
                if not wanted.line or _perhaps_said(str(wanted.line), call):
                    raise
                wanted = msgspec.structs.replace(wanted, line=0)
        if wanted.part != arguments.part and _perhaps_said(arguments.part, call):
            # No sentence of its own: a small model would take it for the answer.
            page = replace(page, asked=f"{arguments.part}, which isn't in it")
        service.writer.saw(call.session, page.path, page.file.data)
        return page_told(page)

    def list_notes(arguments: ListNotes, _call: Call) -> Outcome:
        return listing_told(reader.list(arguments.folder))

    return (
        Tool(
            name="vault:read",
            description="Read a note: show what the text of one of the user's Markdown files says.",
            hints=(
                "What does my note notes/today.md say?",
                "read ideas.md",
                "Show me notes/plan.md.",
                "What is in my shopping list?",
                "Open the note about the garden.",
                "Tell me what I wrote in journal.md.",
                "What's in my todo note?",
            ),
            arguments=ReadNote,
            handler=read,
            effect=Effect.READ,
            aliases=PATH_ALIASES
            | dict.fromkeys(("heading", "section", "block"), "part")
            | {"start": "offset", "first_line": "line", "start_line": "line"},
        ),
        Tool(
            name="vault:list",
            description="List the names of the user's notes, files and folders.",
            hints=(
                "list my notes",
                "What notes do I have?",
                "Show me the files in the folder projects.",
                "Which folders are in my vault?",
                "show all my files",
                "Give me an overview of my notes.",
            ),
            arguments=ListNotes,
            handler=list_notes,
            effect=Effect.READ,
            aliases=FOLDER_ALIASES,
        ),
    )


def _perhaps_said(words: str, call: Call) -> bool:
    return not call.said or words.casefold() in call.said.casefold()


def page_told(page: Page) -> Outcome:
    """Say what a note says; of a long one, which parts it has."""
    place = f"{page.path}#{page.part}" if page.part else page.path
    lines = [f"{place} (you asked for {page.asked}):" if page.asked else f"{place}:"]
    if not page.total:
        lines.append("(The note is empty.)")
    if page.start:
        lines.append(f"(from character {page.start}, line {page.first_line})")
    lines.append(page.text)
    if page.end < page.total:
        if not page.start and not page.part:
            lines += _outline_told(page)
        lines.append(
            f"(This is characters {page.start} to {page.end} of {page.total}. "
            f"To read on, call vault:read with offset {page.end}.)"
        )
    return Outcome(
        content="\n".join(lines).rstrip("\n"),
        data={"path": page.path, "characters": page.total, "next_offset": page.end},
    )


def _outline_told(page: Page) -> list[str]:
    outline = page.outline
    if not outline:
        return []
    told = [f"  line {line}: {'#' * each.level} {each.title}" for line, each in outline]
    more = len(told) - _MOST_HEADINGS
    rest = [f"  and {more} more"] if more > 0 else []
    return ["(Its headings, any of which can be read as part:", *told[:_MOST_HEADINGS], *rest, ")"]


def listing_told(listing: Listing) -> Outcome:
    """Say what is in a folder."""
    if not listing.lines:
        lines = [f"There are no notes in {listing.folder}."]
    else:
        lines = [f"In {listing.folder}:", *listing.lines]
    if listing.more:
        lines.append(f"({listing.more} more aren't shown; list a folder, or use vault:search.)")
    if listing.links:
        links = "1 link isn't" if listing.links == 1 else f"{listing.links} links aren't"
        lines.append(f"({links} shown.)")
    return Outcome(
        content="\n".join(lines), data={"shown": len(listing.lines), "more": listing.more}
    )
