"""Commands that find notes: by words, properties, links, tags and tasks."""

import sys
import time
from collections.abc import Callable

import click
import msgspec

from eris.cli.answers import Answer, answer
from eris.cli.looks import Look
from eris.cli.texts import text
from eris.cli.vault import telling
from eris.cli.vault.asking import Notes, collect
from eris.cli.vault.group import FINDING, OF_NOTE, command, note_argument
from proto.vault import (
    Found,
    Hit,
    IndexState,
    IndexStatus,
    LinkKinds,
    Links,
    ListLinks,
    ListTags,
    ListTasks,
    QueryProperties,
    SearchNotes,
    Table,
    Tags,
    Tasks,
    TaskView,
)

_LOOK_SECONDS = 0.2

_limit = click.option(
    "--limit", type=click.IntRange(min=1), default=None, help="How many at most (default: all)."
)


def _search(notes: Notes, query: str, folder: str, limit: int | None, *, context: bool) -> Answer:
    replies: list[Found] = []

    def page(offset: int, most: int) -> tuple[tuple[Hit, ...], int]:
        body = SearchNotes(query=query, folder=folder, limit=most, offset=offset, context=context)
        reply = notes.ask(body, Found)
        replies.append(reply)
        return reply.hits, reply.total

    hits, total = collect(page, limit)
    reply = msgspec.structs.replace(replies[0], hits=hits, total=total)
    return answer(
        reply, lambda said, look: telling.found(said.hits, look), count=total, remark=reply.remark
    )


def _search_parameters(function: Callable[..., Answer]) -> Callable[..., Answer]:
    function = _limit(function)
    function = click.option("--path", type=text, default="", help="Only in this folder.")(function)
    return click.argument("query", type=text, nargs=-1, required=True)(function)


@command(
    "search",
    "search garden tools",
    "search 'tag:#work [status:open] -draft'",
    "search query=garden limit=10",
    section=FINDING,
    total=True,
)
@_search_parameters
def search(notes: Notes, *, query: tuple[str, ...], path: str, limit: int | None) -> Answer:
    """Find notes by Obsidian's search syntax, the best first.

    Words, "phrases", prefi*, /regular expressions/, OR, -not, and path: file: tag: line: section:
    task: [property:value].
    """
    return _search(notes, " ".join(query), path, limit, context=False)


@command("search:context", "search:context garden tools", section=FINDING, total=True)
@_search_parameters
def search_context(notes: Notes, *, query: tuple[str, ...], path: str, limit: int | None) -> Answer:
    """Find notes, and print the lines that match.

    The query is that of `search`.
    """
    return _search(notes, " ".join(query), path, limit, context=True)


@command(
    "query",
    "query 'status = open and due < 2027-01-01 sort by due'",
    "query 'rating >= 4' --columns author,rating",
    section=FINDING,
    total=True,
)
@click.argument("query", type=text, nargs=-1)
@click.option("--columns", type=text, default="", help="Properties to show, commas between them.")
@_limit
def query(notes: Notes, *, query: tuple[str, ...], columns: str, limit: int | None) -> Answer:
    """Find notes by their properties, and print a table.

    Columns are in line on a terminal and have tabs between them otherwise.
    """
    asked = tuple(filter(None, (name.strip() for name in columns.split(","))))
    shown: list[Table] = []

    def page(offset: int, most: int) -> tuple[tuple[tuple[str, ...], ...], int]:
        body = QueryProperties(query=" ".join(query), columns=asked, limit=most, offset=offset)
        reply = notes.ask(body, Table)
        shown.append(reply)
        return reply.rows, reply.total

    rows, total = collect(page, limit)
    reply = msgspec.structs.replace(shown[0], rows=rows, total=total)
    return answer(reply, telling.table, count=total, remark=reply.remark)


# Links.


def _links(notes: Notes, kind: LinkKinds, note: str, *, counts: bool, verbose: bool) -> Answer:
    reply = notes.ask(ListLinks(kind=kind, note=note), Links)
    sources = kind not in {LinkKinds.LINKS, LinkKinds.UNRESOLVED}

    def told(said: Links, look: Look) -> str:
        if verbose:
            return telling.link_lines(said, look)
        return telling.link_names(said, look, sources=sources, counts=counts)

    return answer(reply, told, count=len(reply.links), remark=reply.remark)


def _link_parameters(function: Callable[..., Answer]) -> Callable[..., Answer]:
    function = click.option("--verbose", is_flag=True, help="Print each link with its line.")(
        function
    )
    return click.option("--counts", is_flag=True, help="Print how many links each has.")(function)


@command("backlinks", "backlinks recipe.md --verbose", section=FINDING, renamed=OF_NOTE, total=True)
@note_argument()
@_link_parameters
def backlinks(notes: Notes, *, note: str, counts: bool, verbose: bool) -> Answer:
    """List the notes with links to a note."""
    return _links(notes, LinkKinds.BACKLINKS, note, counts=counts, verbose=verbose)


@command("links", "links recipe.md", section=FINDING, renamed=OF_NOTE, total=True)
@note_argument()
@_link_parameters
def links(notes: Notes, *, note: str, counts: bool, verbose: bool) -> Answer:
    """List what a note has links to."""
    return _links(notes, LinkKinds.LINKS, note, counts=counts, verbose=verbose)


@command(
    "unresolved",
    "unresolved --verbose",
    "unresolved recipe.md",
    section=FINDING,
    renamed=OF_NOTE,
    total=True,
)
@note_argument(required=False)
@_link_parameters
def unresolved(notes: Notes, *, note: str, counts: bool, verbose: bool) -> Answer:
    """List links that lead nowhere, of a note or of all."""
    return _links(notes, LinkKinds.UNRESOLVED, note, counts=counts, verbose=verbose)


@command("orphans", "orphans", section=FINDING, total=True)
def orphans(notes: Notes) -> Answer:
    """List notes that no link leads to."""
    return _links(notes, LinkKinds.ORPHANS, "", counts=False, verbose=False)


@command("deadends", "deadends", section=FINDING, total=True)
def deadends(notes: Notes) -> Answer:
    """List notes without a link."""
    return _links(notes, LinkKinds.DEAD_ENDS, "", counts=False, verbose=False)


# Tags and tasks.


@command("tags", "tags --counts", "tags counts sort=count", section=FINDING, total=True)
@click.option("--counts", is_flag=True, help="Print how many notes have each.")
@click.option(
    "--sort",
    type=click.Choice(["name", "count"]),
    default="name",
    help="By name (default), or the most frequent first.",
)
def tags(notes: Notes, *, counts: bool, sort: str) -> Answer:
    """List the tags of the vault."""
    reply = notes.ask(ListTags(), Tags)
    if sort == "name":
        by_name = tuple(sorted(reply.tags, key=lambda tag: tag.name.casefold()))
        reply = msgspec.structs.replace(reply, tags=by_name)
    return answer(
        reply,
        lambda said, look: telling.tags(said, look, counts=counts),
        count=len(reply.tags),
        remark=reply.remark,
    )


@command(
    "tasks",
    "tasks --todo",
    "tasks projects/garden.md",
    "tasks daily todo",
    section=FINDING,
    renamed=OF_NOTE,
    total=True,
)
@note_argument(required=False)
@click.option("--todo/--done", "todo", default=None, help="Only those that aren't done, or are.")
@click.option("--daily", is_flag=True, help="Only those of today's note.")
@_limit
def tasks(notes: Notes, *, note: str, todo: bool | None, daily: bool, limit: int | None) -> Answer:
    """List tasks with their places, of a note or of all.

    `tasks todo` lists what isn't done, as in Obsidian; for a note of that name say `tasks todo.md`.
    """
    if note and daily:
        raise click.UsageError("Name a note or say --daily, not both.")
    place, done = notes.daily() if daily else note, None if todo is None else not todo
    replies: list[Tasks] = []

    def page(offset: int, most: int) -> tuple[tuple[TaskView, ...], int]:
        reply = notes.ask(ListTasks(note=place, done=done, limit=most, offset=offset), Tasks)
        replies.append(reply)
        return reply.tasks, reply.total

    found, total = collect(page, limit)
    reply = msgspec.structs.replace(replies[0], tasks=found, total=total)
    return answer(reply, telling.tasks, count=total, remark=reply.remark)


@command("index", "index", "index --rebuild --wait", section=FINDING)
@click.option("--rebuild", is_flag=True, help="Throw it away and begin anew; notes aren't touched.")
@click.option("--wait", is_flag=True, help="Wait until it's up to date.")
def index(notes: Notes, *, rebuild: bool, wait: bool) -> Answer:
    """Print how the index is, or make it anew.

    That is how many notes are in it, and which can't be read.
    """
    state = notes.ask(IndexStatus(rebuild=rebuild), IndexState)
    shown = sys.stderr.isatty()
    while wait and state.building:
        if shown:
            click.echo(f"\r\x1b[KIndexing: {state.done:,} of {state.notes:,}", err=True, nl=False)
        time.sleep(_LOOK_SECONDS)
        state = notes.ask(IndexStatus(), IndexState)
    if wait and shown:
        click.echo("\r\x1b[K", err=True, nl=False)
    return answer(state, telling.index)
