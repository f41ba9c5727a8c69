"""The vault's tools: what the model may ask for, and how it's told what came of it."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from actors.vault.ledger import Receipt
from actors.vault.reading import Listing, Page, Reader
from actors.vault.search import Results, search
from actors.vault.vault_folder import VaultFolder
from actors.vault.writing import Mode, Order, Writer
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect

_PATH_NAMES = ("relative_path", "file", "filename", "file_name", "file_path", "note", "title")
_CONTENT_NAMES = ("text", "body", "data", "note_content", "message")
_QUERY_NAMES = ("q", "text", "term", "terms", "words", "keyword", "keywords", "search")
_FOLDER_NAMES = ("dir", "directory", "path", "folder_path", "relative_path")


class ReadNote(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:read``."""

    path: Annotated[str, Meta(description="The note, such as notes/today.md", min_length=1)]
    offset: Annotated[int, Meta(description="Character to read on from", ge=0)] = 0


class WriteNote(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:write``."""

    path: Annotated[str, Meta(description="The note, such as notes/today.md", min_length=1)]
    content: Annotated[str, Meta(description="The text to write")]
    mode: Annotated[
        Literal["append", "overwrite"],
        Meta(
            description="append adds to the note or creates it; overwrite replaces all of it, "
            "only if the user asks for that"
        ),
    ] = "append"


class ListNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:list``."""

    folder: Annotated[str, Meta(description="The folder; empty for the whole vault")] = ""


class SearchNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:search``."""

    query: Annotated[str, Meta(description="Words that the notes must have", min_length=1)]
    folder: Annotated[str, Meta(description="Where to look; empty for the whole vault")] = ""


def vault_tools(
    vault: VaultFolder, reader: Reader, writer: Writer, *, clock: Callable[[], float]
) -> tuple[Tool[Any], ...]:
    """Declare the tools over an open vault.

    Args:
        vault: The vault.
        reader: Reads and lists it.
        writer: Writes to it.
        clock: A clock that only goes forward, in seconds.
    """

    def read(arguments: ReadNote, _call: Call) -> Outcome:
        return page_told(reader.read(arguments.path, arguments.offset))

    def write(arguments: WriteNote, call: Call) -> Outcome:
        order = Order(call.call_id, arguments.path, arguments.content, Mode(arguments.mode))
        return write_told(writer.write(order))

    def list_notes(arguments: ListNotes, _call: Call) -> Outcome:
        return listing_told(reader.list(arguments.folder))

    def search_notes(arguments: SearchNotes, _call: Call) -> Outcome:
        return results_told(search(vault, arguments.query, arguments.folder, clock=clock))

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
            aliases=dict.fromkeys(_PATH_NAMES, "path") | {"start": "offset"},
        ),
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
            aliases=dict.fromkeys(_PATH_NAMES, "path") | dict.fromkeys(_CONTENT_NAMES, "content"),
            receipt="created {path} ({bytes} bytes)",
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
            aliases=dict.fromkeys(_FOLDER_NAMES, "folder"),
        ),
        Tool(
            name="vault:search",
            description="Search all of the user's notes for words; returns the matching lines.",
            hints=(
                "find notes about milk",
                "Search my notes for the word budget.",
                "Where did I mention the holiday?",
                "Which notes mention Anna?",
                "Look for passport in my vault.",
                "Do I have a note on tax?",
                "What did I write about the garden?",
            ),
            arguments=SearchNotes,
            handler=search_notes,
            effect=Effect.READ,
            aliases=dict.fromkeys(_QUERY_NAMES, "query") | dict.fromkeys(_FOLDER_NAMES, "folder"),
        ),
    )


def page_told(page: Page) -> Outcome:
    """Say what a note says."""
    lines = [f"{page.path}:"]
    if page.asked:
        lines = [f"{page.path} (you asked for {page.asked}):"]
    if not page.total:
        lines.append("(The note is empty.)")
    if page.start:
        lines.append(f"(from character {page.start})")
    lines.append(page.text)
    if page.end < page.total:
        lines.append(
            f"(This is characters {page.start} to {page.end} of {page.total}. "
            f"To read on, call vault:read with offset {page.end}.)"
        )
    return Outcome(
        content="\n".join(lines).rstrip("\n"),
        data={"path": page.path, "characters": page.total, "next_offset": page.end},
    )


def write_told(receipt: Receipt) -> Outcome:
    """Say what was written."""
    size = f"{receipt.size} byte{'' if receipt.size == 1 else 's'}"
    did = {
        "created": f"created {receipt.path} ({size})",
        "appended": f"appended {size} to {receipt.path}",
        "overwrote": f"overwrote {receipt.path} ({size})",
    }[receipt.action]
    remarks = []
    if receipt.asked and receipt.path == f"{receipt.asked}.md":
        remarks.append(f" {receipt.asked} had no extension, so .md was added.")
    elif receipt.asked:
        remarks.append(f" You asked for {receipt.asked}; this is the note of that name.")
    if receipt.folder:
        remarks.append(f" The folder {receipt.folder} is new.")
    return Outcome(
        content=f"{did[0].upper()}{did[1:]}.{''.join(remarks)}",
        receipt=did,
        data={"path": receipt.path, "bytes": receipt.size, "action": receipt.action},
    )


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


def results_told(results: Results) -> Outcome:
    """Say what was found."""
    words = ", ".join(results.words)
    plural = "" if results.found == 1 else "s"
    if not results.matches:
        lines = [f"None of {results.searched} notes has the words: {words}."]
    elif results.complete:
        lines = [f"{results.found} note{plural} found for: {words}."]
    else:
        lines = [f"No note has all of the words {words}. The closest {results.found}:"]
    for match in results.matches:
        lines.append(match.path)
        lines.extend(f"  line {excerpt.line}: {excerpt.text}" for excerpt in match.excerpts)
    hidden = results.found - len(results.matches)
    if hidden:
        lines.append(f"({hidden} more aren't shown; use more words.)")
    if results.cut_short:
        lines.append(f"(The search stopped after {results.searched} notes; name a folder.)")
    if results.skipped:
        lines.append(f"({results.skipped} couldn't be read and were skipped.)")
    return Outcome(
        content="\n".join(lines), data={"found": results.found, "searched": results.searched}
    )
