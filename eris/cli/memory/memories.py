"""`eris memory`: search, keep, commit and forget, without a model."""

from collections.abc import Callable

import click
import msgspec

from eris.cli.answers import Answer, answer
from eris.cli.asking import Ask, fresh_key
from eris.cli.invocation import example
from eris.cli.memory import telling
from eris.cli.memory.command import answering
from eris.cli.texts import TextGroup, day
from eris.cli.texts import text as text_type
from proto.memory import (
    Core,
    DescribeMemory,
    Hits,
    KeepMemory,
    Kind,
    ListMemories,
    Memories,
    MemoryChanged,
    MemoryReport,
    MemoryState,
    ReadCore,
    RebuildIndex,
    ResolveKind,
    ResolveMemory,
    SearchMemory,
)

_FOUND = (Kind.NOTE, Kind.MEMORY, Kind.DOCUMENT)


@example(
    'eris memory search "who has the spare key"',
    'eris memory add "The spare key is with Tom."',
    "eris memory list",
)
@click.group(cls=TextGroup)
def memory() -> None:
    """Search what is known, and keep facts, without a model.

    Notes, memories and documents are found by meaning and by words, by the same search that the
    model uses. Needs the running system (`eris up`).
    """


_SEARCH_OPTIONS = (
    click.option("--until", metavar="DAY", type=day, default="", help="Of this day or earlier."),
    click.option("--since", metavar="DAY", type=day, default="", help="Of this day or later."),
    click.option("--folder", type=text_type, default="", help="Only what is in this folder."),
    click.option("--tag", "tags", type=text_type, multiple=True, help="Only what has this tag."),
    click.option(
        "--kind",
        "kinds",
        multiple=True,
        type=click.Choice([str(kind) for kind in Kind]),
        help="Where to look (default: notes, memories and documents).",
    ),
    click.option("--limit", type=click.IntRange(1, 50), default=5, help="How many (default: 5)."),
    click.argument("text", type=text_type, nargs=-1, required=True),
)


def _searching(function: Callable[..., None]) -> Callable[..., None]:
    """Let a command take a question, and where to look for its answer."""
    for option in _SEARCH_OPTIONS:
        function = option(function)
    return function


def _found(ask: Ask, text: tuple[str, ...], kinds: tuple[str, ...], **wanted: object) -> Answer:
    request = SearchMemory(text=" ".join(text), kinds=tuple(map(Kind, kinds)) or _FOUND)
    reply = ask(msgspec.structs.replace(request, **wanted), Hits)
    remark = reply.note or ("" if reply.hits else "Nothing was found.")
    return answer(reply, telling.hits, count=len(reply.hits), remark=remark)


@example(
    'eris memory search "what did the vet say"',
    "eris memory search boiler --kind note --since 2026-01-01",
)
@memory.command()
@_searching
@answering
def search(ask: Ask, *, text: tuple[str, ...], kinds: tuple[str, ...], **wanted: object) -> Answer:
    """Find what fits a question best, with path, line or page, and date."""
    return _found(ask, text, kinds, **wanted)


@example('eris memory why "what did the vet say"')
@memory.command()
@_searching
@answering
def why(ask: Ask, *, text: tuple[str, ...], kinds: tuple[str, ...], **wanted: object) -> Answer:
    """Show how each hit of a search was scored."""
    return _found(ask, text, kinds, explain=True, **wanted)


@example("eris memory list", "eris memory list --state waiting --tag home")
@memory.command("list")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([str(state) for state in MemoryState]),
    help="Only those (default: staged, waiting and committed ones).",
)
@click.option("--tag", type=text_type, default="", help="Only those with this tag.")
@click.option("--limit", type=click.IntRange(1), default=100, help="How many (default: 100).")
@answering
def list_(ask: Ask, *, states: tuple[str, ...], tag: str, limit: int) -> Answer:
    """List memories, the newest first."""
    request = ListMemories(states=tuple(map(MemoryState, states)), tag=tag, limit=limit)
    reply = ask(request, Memories)
    remark = "" if reply.memories else "Nothing is remembered."
    return answer(reply, telling.memories, count=reply.total, remark=remark)


@example(
    'eris memory add "The spare key is with Tom."',
    'eris memory add "Ann is allergic to nuts." --title Ann --tag people --commit',
)
@memory.command()
@click.argument("text", type=text_type, nargs=-1, required=True)
@click.option(
    "--title", type=text_type, default="", help="What it's about; by default its first words."
)
@click.option("--tag", "tags", type=text_type, multiple=True, help="A tag for it.")
@click.option("--commit", is_flag=True, help="Write its note at once.")
@answering
def add(
    ask: Ask, *, text: tuple[str, ...], title: str, tags: tuple[str, ...], commit: bool
) -> Answer:
    """Keep a fact.

    It's staged, and found from now on; `eris memory commit` makes a note of it.
    """
    request = KeepMemory(
        key=fresh_key(), text=" ".join(text), title=title, tags=tags, commit=commit
    )
    return answer(ask(request, MemoryChanged), telling.changed)


def _resolved(ask: Ask, name: str, action: ResolveKind, replaces: str = "") -> Answer:
    request = ResolveMemory(key=fresh_key(), memory=name, action=action, replaces=replaces)
    return answer(ask(request, MemoryChanged), telling.changed)


_named = click.argument("name", metavar="MEMORY", type=text_type)


@example("eris memory commit m3", "eris memory commit m5 --replaces m2")
@memory.command()
@_named
@click.option(
    "--replaces", metavar="MEMORY", type=text_type, default="", help="The one that holds no longer."
)
@click.option("--keep-both", is_flag=True, help="Both hold, although they seem to differ.")
@answering
def commit(ask: Ask, *, name: str, replaces: str, keep_both: bool) -> Answer:
    """Write the note of a staged memory, named by its id or exact title."""
    if replaces and keep_both:
        raise click.UsageError("--replaces and --keep-both: say which is meant, not both.")
    action = ResolveKind.KEEP_BOTH if keep_both else ResolveKind.COMMIT
    return _resolved(ask, name, action, replaces)


@example("eris memory approve m4")
@memory.command()
@_named
@answering
def approve(ask: Ask, *, name: str) -> Answer:
    """Say yes to a memory that text from outside may have caused."""
    return _resolved(ask, name, ResolveKind.APPROVE)


@example("eris memory forget m3", 'eris memory forget "Alarm code"')
@memory.command()
@_named
@answering
def forget(ask: Ask, *, name: str) -> Answer:
    """Take a memory back; its note goes to the vault's trash."""
    return _resolved(ask, name, ResolveKind.FORGET)


@example("eris memory about-me")
@memory.command("about-me")
@answering
def about_me(ask: Ask) -> Answer:
    """Print what is told to the model in every turn, and which note has it."""
    reply = ask(ReadCore(), Core)
    where = f"This is {reply.path}." if reply.text else f"{reply.path} says nothing yet."
    more = " The note says more than is told." if reply.cut else ""
    return answer(reply, telling.core, remark=where + more)


@example("eris memory status")
@memory.command()
@answering
def status(ask: Ask) -> Answer:
    """Show embedder, index and how much there is."""
    return answer(ask(DescribeMemory(), MemoryReport), telling.report)


@example("eris memory index --rebuild", "eris memory index --move-to http://nas:6333")
@memory.command()
@click.option("--rebuild", is_flag=True, help="Build it anew beside the present one.")
@click.option(
    "--move-to",
    metavar="PLACE",
    type=text_type,
    default="",
    help="Build it on a Qdrant server, or with `edge` on this machine.",
)
@answering
def index(ask: Ask, *, rebuild: bool, move_to: str) -> Answer:
    """Show how the vector index is, build it anew or move it.

    The present one is searched until the new one is complete. For it to stay where it was moved,
    set `memory.index` to the same place.
    """
    if rebuild or move_to:
        return answer(ask(RebuildIndex(move_to=move_to), MemoryReport), telling.report)
    return answer(ask(DescribeMemory(), MemoryReport), telling.report)
