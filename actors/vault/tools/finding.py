"""Tools that find notes: by words, properties, links and tags."""

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from actors.vault.service import VaultService
from actors.vault.tools.reading import FOLDER_ALIASES
from actors.vault.tools.shared import (
    MOST_SHOWN,
    PATH_ALIASES,
    Offset,
    line_told,
    list_told,
)
from eris.errors import NotFoundError
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect
from proto.vault import (
    Found,
    LinkKinds,
    Links,
    LinkView,
    ListLinks,
    ListTags,
    QueryProperties,
    SearchNotes,
    Table,
)

_MOST_NOTES = 10
_QUERY_NAMES = ("q", "text", "term", "terms", "words", "keyword", "keywords", "search")
_QUERY_ALIASES = dict.fromkeys(_QUERY_NAMES, "query")
_TAG = re.compile(r"[\w/-]+")


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:search``."""

    query: Annotated[str, Meta(description="Words that the notes must have", min_length=1)]
    folder: Annotated[str, Meta(description="Where to look; empty for the whole vault")] = ""
    offset: Offset = 0


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:query``."""

    query: Annotated[
        str,
        Meta(
            description="Conditions on properties, such as: status = open and due < 2027-01-01 "
            "sort by due"
        ),
    ]
    offset: Offset = 0


class TagList(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:taglist``."""

    tag: Annotated[str, Meta(description="List the notes with this tag; empty for all tags")] = ""
    offset: Offset = 0


class LinkList(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``vault:links``."""

    path: Annotated[str, Meta(description="The note; empty for unresolved, orphans, deadends")] = ""
    kind: Annotated[
        Literal["backlinks", "links", "unresolved", "orphans", "deadends"],
        Meta(
            description="backlinks: notes that link to it; links: what it links to; unresolved: "
            "links that lead nowhere; orphans: notes nobody links to; deadends: notes without links"
        ),
    ] = "backlinks"
    offset: Offset = 0


def finding_tools(service: VaultService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def search(arguments: Search, _call: Call) -> Outcome:
        request = SearchNotes(
            query=arguments.query,
            folder=arguments.folder,
            limit=_MOST_NOTES,
            offset=arguments.offset,
        )
        try:
            return found_told(service.answers.search(request), arguments.offset)
        except NotFoundError as error:
            # Small models like to name folders that nobody spoke of: better too much than nothing.
            if not request.folder:
                raise
            everywhere = msgspec.structs.replace(request, folder="")
            told = found_told(service.answers.search(everywhere), arguments.offset)
            content = f"({error.message} All notes were searched.)\n{told.content}"
            return replace(told, content=content)

    def query(arguments: Query, _call: Call) -> Outcome:
        request = QueryProperties(query=arguments.query, limit=MOST_SHOWN, offset=arguments.offset)
        return table_told(service.answers.query(request), arguments)

    def taglist(arguments: TagList, _call: Call) -> Outcome:
        tag = arguments.tag.strip().lstrip("#")
        if _TAG.fullmatch(tag):
            request = SearchNotes(query=f"tag:{tag}", limit=_MOST_NOTES, offset=arguments.offset)
            return found_told(
                service.answers.search(request), arguments.offset, tool="vault:taglist"
            )
        reply = service.answers.tags(ListTags())
        shown = reply.tags[arguments.offset : arguments.offset + MOST_SHOWN]
        return list_told(
            f"{len(reply.tags)} tags, with the number of notes:"
            if reply.tags
            else "No note has a tag.",
            [f"#{each.name} {each.notes}" for each in shown],
            len(reply.tags),
            arguments.offset,
            "vault:taglist",
            reply.remark,
        )

    def links(arguments: LinkList, _call: Call) -> Outcome:
        kind = LinkKinds(arguments.kind)
        return links_told(
            service.answers.links(ListLinks(kind=kind, note=arguments.path)), arguments
        )

    return (
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
            arguments=Search,
            handler=search,
            effect=Effect.READ,
            aliases=_QUERY_ALIASES | FOLDER_ALIASES,
        ),
        Tool(
            name="vault:query",
            description="Query the properties (frontmatter fields) of notes, such as status, due "
            "or rating; returns a table.",
            hints=(
                "Which notes have the status open?",
                "Show a table of my books with rating above 3.",
                "Which notes have the property author?",
                "List all projects whose due property is before March.",
                "Notes where status = done, sorted by due.",
                "Query the frontmatter for priority high.",
            ),
            arguments=Query,
            handler=query,
            effect=Effect.READ,
            aliases=_QUERY_ALIASES
            | dict.fromkeys(("filter", "where", "condition", "conditions"), "query"),
        ),
        Tool(
            name="vault:taglist",
            description="List the hashtags of the vault and how often each is used, or the notes "
            "with one tag.",
            hints=(
                "Which tags do I use?",
                "list all hashtags",
                "What are my most used tags?",
                "How many notes are tagged #work?",
                "Show me everything tagged #recipe.",
                "Give me the tags in my vault.",
            ),
            arguments=TagList,
            handler=taglist,
            effect=Effect.READ,
            aliases=dict.fromkeys(("name", "hashtag", "tags", "query"), "tag"),
        ),
        Tool(
            name="vault:links",
            description="Show how notes are linked: backlinks to a note, links from it, broken "
            "links, orphans.",
            hints=(
                "Which notes link to Recipe?",
                "Show the backlinks of this note.",
                "What does my note Garden link to?",
                "Are there broken links in my vault?",
                "Which notes are orphans?",
                "Find unresolved links.",
                "Which notes have no links at all?",
            ),
            arguments=LinkList,
            handler=links,
            effect=Effect.READ,
            aliases=PATH_ALIASES | dict.fromkeys(("type", "direction", "mode"), "kind"),
        ),
    )


def found_told(found: Found, offset: int, *, tool: str = "vault:search") -> Outcome:
    """Say which notes were found, with their matching lines."""
    words = ", ".join(found.words)
    words = f" for: {words}" if words else ""
    if not found.hits:
        lines = [f"None of {found.searched} notes has the words: {', '.join(found.words)}."]
        if not words:
            lines = [f"Nothing was found in {found.searched} notes."]
    else:
        lines = [f"{found.total} note{'' if found.total == 1 else 's'} found{words}."]
    for hit in found.hits:
        lines.append(hit.path)
        lines.extend(f"  line {line.number}: {line_told(line.text)}" for line in hit.lines)
    shown = offset + len(found.hits)
    if found.hits and shown < found.total:
        lines.append(
            f"({offset + 1} to {shown} of {found.total}. For more, call {tool} with "
            f"offset {shown}, or use more words.)"
        )
    if found.remark:
        lines.append(f"({found.remark})")
    return Outcome(
        content="\n".join(lines), data={"found": found.total, "searched": found.searched}
    )


def table_told(table: Table, arguments: Query) -> Outcome:
    """Say which notes fulfil a condition, each with its values."""
    lines = []
    for path, *values in table.rows:
        pairs = zip(table.columns, values, strict=True)
        told = ", ".join(f"{name}: {line_told(value)}" for name, value in pairs if value)
        lines.append(f"{path} ({told})" if told else path)
    heading = f"{table.total} note{'' if table.total == 1 else 's'}:"
    if not table.total:
        heading = f"No note fulfils: {arguments.query}"
    return list_told(heading, lines, table.total, arguments.offset, "vault:query", table.remark)


def links_told(links: Links, arguments: LinkList) -> Outcome:
    """Say which links there are."""
    total = len(links.links)
    path = links.path
    one = total == 1
    headings = {
        "backlinks": f"{total} link{'' if one else 's'} to {path}:",
        "links": f"{total} link{'' if one else 's'} in {path}:",
        "unresolved": f"{total} link{'' if one else 's'} that lead{'s' if one else ''} nowhere:",
        "orphans": f"{total} note{'' if one else 's'} that no link leads to:",
        "deadends": f"{total} note{'' if one else 's'} without a link:",
    }
    heading = headings[arguments.kind]
    shown = links.links[arguments.offset : arguments.offset + MOST_SHOWN]
    return list_told(
        heading if total else f"{heading.removesuffix(':')}.".replace("0 ", "No ", 1),
        [_link_told(each, arguments.kind) for each in shown],
        total,
        arguments.offset,
        "vault:links",
        links.remark,
    )


def _link_told(link: LinkView, kind: str) -> str:
    if not link.line and not link.target:
        return link.source
    place = f"{link.source} line {link.line}" if link.line else link.source
    if kind == "backlinks":
        return f"{place}: {line_told(link.text)}" if link.text else place
    lost = "" if link.resolved else " (leads nowhere)" if kind == "links" else ""
    return f"{link.target}{lost}, {place}"
