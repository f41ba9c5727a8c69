"""What the notes say: the answers to everything that changes nothing."""

import datetime as dt
import json
from collections.abc import Callable, Sequence

from actors.vault.folder import Kind
from actors.vault.index import VaultIndex
from actors.vault.index.graph import FoundLink
from actors.vault.lookup import Lookup
from actors.vault.scan import Budget, scan
from actors.vault.service.finding import Finder, NoteFile
from eris.errors import ErisError, InvalidError, NotFoundError
from eris.vault.anchors import find_anchor
from eris.vault.markdown import parse
from eris.vault.note import Note, PropertyValue, Span
from eris.vault.sections import heading_named
from eris.vault.tasks import has_date, tasks_of
from proto.vault import (
    Files,
    Found,
    Headings,
    HeadingView,
    Hit,
    LineView,
    LinkKinds,
    Links,
    LinkView,
    ListFolder,
    ListLinks,
    ListProperties,
    ListTags,
    ListTasks,
    NoteText,
    Outline,
    Properties,
    QueryProperties,
    ReadNote,
    SearchNotes,
    Table,
    Tags,
    TagView,
    Tasks,
    TaskView,
)

_MOST_CHARACTERS = 1_000_000
"""Of one message's text; what is longer is read in several."""
_LISTING_SECONDS = 60.0
_DONE = frozenset("xX-")
"""Marks of tasks that nobody has to do any more: ticked, or cancelled."""


class Answers:
    """Answers questions; thread-safe."""

    def __init__(
        self,
        lookup: Lookup,
        index: VaultIndex,
        finder: Finder,
        *,
        clock: Callable[[], float],
        today: Callable[[], dt.date],
        unready: Callable[[], str],
        seen: Callable[[NoteFile], object],
    ) -> None:
        """Create it.

        Args:
            lookup: Opens folders.
            index: The vault's.
            finder: Finds notes by name.
            clock: A clock that only goes forward, in seconds.
            today: Returns the day, in the user's zone.
            unready: Returns what to say while not all notes are in the index; waits a moment
                for them.
            seen: Told of every note that is read, so that its version means something later.
        """
        self._lookup = lookup
        self._index = index
        self._finder = finder
        self._clock = clock
        self._today = today
        self._unready = unready
        self._seen = seen

    def read(self, request: ReadNote) -> NoteText:
        """Return the lines that are asked for.

        Raises:
            ErisError: There's no such note or part, or it has fewer lines.
        """
        file = self._finder.load(request.note)
        self._seen(file)
        note = file.lines
        span = part_of(file.note, request.part) if request.part else Span(0, len(file.text))
        first, last = lines_of(note, span)
        begin = first + max(request.first_line, 1) - 1
        if begin > last:
            raise InvalidError(
                f"{file.path} has {last - first + 1} lines there; line {request.first_line} is "
                "behind them.",
                hint="Read from an earlier line.",
            )
        starts = note.line_starts
        end = min(last, begin + request.lines - 1) if request.lines else last
        while end > begin and starts[end - 1] - starts[begin - 1] > _MOST_CHARACTERS:
            end -= 1
        stop = starts[end] if end < len(starts) else len(file.text)
        return NoteText(
            path=file.path,
            text=file.text[starts[begin - 1] : stop],
            version=file.version,
            first_line=begin,
            total_lines=len(starts) - (1 if file.text.endswith(("\n", "\r")) else 0),
            next_line=end - first + 2 if end < last else 0,
        )

    def outline(self, request: Outline) -> Headings:
        """Return a note's headings."""
        file = self._finder.load(request.note)
        return Headings(
            path=file.path,
            headings=tuple(
                HeadingView(
                    level=each.level, title=each.title, line=file.note.line(each.span.start)
                )
                for each in file.note.headings
            ),
        )

    def list(self, request: ListFolder) -> Files:
        """Return the files, or the folders, below a folder."""
        budget = Budget.starting(self._clock, _LISTING_SECONDS)
        kind = Kind.FOLDER if request.folders else Kind.FILE
        with self._lookup.folder(request.folder or "/") as opened:
            paths = sorted(
                "/".join((*folder.parts, entry.name))
                for folder, entry in scan(opened, budget)
                if entry.kind is kind
            )
            own = "/".join(opened.parts)
        shown = [path for path in paths if path > request.after][: request.limit]
        return Files(paths=tuple(shown), total=len(paths), folder=own)

    def search(self, request: SearchNotes) -> Found:
        """Return the notes that fulfil a search."""
        with self._lookup.folder(request.folder or "/") as opened:
            folder = "/".join(opened.parts)
        unready = self._unready()
        results = self._index.search(
            request.query,
            folder=folder,
            limit=request.limit,
            offset=request.offset,
            today=self._today(),
        )
        remarks = []
        if not results.complete and results.found:
            remarks.append("No note has everything that was asked for; these come closest.")
        remarks += [
            f"No note has {word!r}; {' and '.join(others)} was looked for instead."
            for word, others in results.corrected.items()
            if others
        ]
        remarks += filter(None, [unready])
        return Found(
            hits=tuple(
                Hit(
                    path=match.path,
                    lines=tuple(
                        LineView(number=line.line, text=line.text) for line in match.excerpts
                    )
                    if request.context
                    else (),
                )
                for match in results.matches
            ),
            total=results.found,
            searched=self._index.state().indexed,
            words=results.words,
            remark=" ".join(remarks),
        )

    def query(self, request: QueryProperties) -> Table:
        """Return the notes whose properties fulfil a condition."""
        unready = self._unready()
        table = self._index.query(
            request.query,
            columns=request.columns,
            offset=request.offset,
            limit=request.limit,
            today=self._today(),
        )
        rows = tuple((row.path, *map(property_text, row.values)) for row in table.rows)
        return Table(columns=table.columns, rows=rows, total=table.found, remark=unready)

    def links(self, request: ListLinks) -> Links:
        """Return links of one kind."""
        path = self._finder.path(request.note) if request.note else ""
        if not path and request.kind in {LinkKinds.BACKLINKS, LinkKinds.LINKS}:
            raise InvalidError("Whose links?", hint="Name a note.")
        unready = self._unready()
        match request.kind:
            case LinkKinds.BACKLINKS:
                found = self._index.backlinks(path)
            case LinkKinds.LINKS:
                found = [link for link in self._index.outgoing(path) if link.path != path]
            case LinkKinds.UNRESOLVED:
                found = [one for one in self._index.unresolved() if path in {"", one.source}]
            case LinkKinds.ORPHANS:
                return Links(links=_notes(self._index.orphans()), remark=unready)
            case LinkKinds.DEAD_ENDS:
                return Links(links=_notes(self._index.dead_ends()), remark=unready)
        return Links(path=path, links=self._told(found), remark=unready)

    def _told(self, links: Sequence[FoundLink]) -> tuple[LinkView, ...]:
        notes: dict[str, Note] = {}
        views = []
        for link in links:
            if link.source not in notes:
                notes[link.source] = self._lines(link.source)
            note = notes[link.source]
            text = ""
            if 0 < link.line <= len(note.line_starts):
                text = note.line_span(link.line).of(note.text).strip()
            views.append(
                LinkView(
                    source=link.source,
                    target=link.path or link.target or link.source,
                    resolved=link.path is not None,
                    line=link.line,
                    text=text,
                )
            )
        return tuple(views)

    def _lines(self, path: str) -> Note:
        try:
            return self._finder.at(path).lines
        except ErisError:
            return Note("")

    def properties(self, request: ListProperties) -> Properties:
        """Return the properties of a note, or how many notes have each."""
        if not request.note:
            return Properties(values=json.dumps(self._index.property_counts(), ensure_ascii=False))
        file = self._finder.load(request.note)
        frontmatter = file.note.frontmatter
        if frontmatter and frontmatter.error:
            raise InvalidError(
                f"The properties of {file.path} can't be read: {frontmatter.error}.",
                hint="Correct the YAML between the --- lines.",
            )
        values = json.dumps(dict(file.note.properties), ensure_ascii=False, default=str)
        return Properties(path=file.path, values=values)

    def tags(self, _request: ListTags) -> Tags:
        """Return the vault's tags."""
        unready = self._unready()
        tags = tuple(TagView(name=each.name, notes=each.notes) for each in self._index.tags())
        return Tags(tags=tags, remark=unready)

    def tasks(self, request: ListTasks) -> Tasks:
        """Return the tasks of a note or of all."""
        unready = ""
        if request.note:
            file = self._finder.load(request.note)
            found = [(file.path, each.line, each.mark, each.text) for each in tasks_of(file.note)]
        else:
            unready = self._unready()
            found = [(each.path, each.line, each.mark, each.text) for each in self._index.tasks()]
        wanted = [
            each
            for each in found
            if request.done in {None, each[2] in _DONE} and (not request.dated or has_date(each[3]))
        ]
        shown = wanted[request.offset : request.offset + request.limit]
        views = tuple(
            TaskView(path=path, line=line, text=text, done=mark in _DONE, due=_due(text))
            for path, line, mark, text in shown
        )
        return Tasks(tasks=views, total=len(wanted), remark=unready)


def part_of(note: Note, part: str) -> Span:
    """Return the section of a heading, or the block of an id.

    Raises:
        InvalidError: Several headings are meant.
        NotFoundError: There's no such heading or block.
    """
    name = part.strip()
    block = name.lstrip("#")
    if not block.startswith("^"):
        return heading_named(note, name).section
    span = find_anchor(note, block)
    if span is None:
        ids = ", ".join(f"^{each.name}" for each in note.blocks[:12])
        raise NotFoundError(
            f"The note has no block {block.casefold()}.", hint=f"It has: {ids}." if ids else ""
        )
    return span


def lines_of(note: Note, span: Span) -> tuple[int, int]:
    """Return the first and the last line of a part, from 1; the last isn't an empty one."""
    first = note.line(span.start)
    return first, max(first, note.line(max(span.start, span.end - 1)))


def property_text(value: PropertyValue) -> str:
    """Return a property's value as a cell of a table."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case dt.date():
            return value.isoformat()
        case list() | tuple():
            return ", ".join(property_text(each) for each in value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def _due(text: str) -> str:
    """The day that a task is due on, in ISO form, or nothing."""
    found = tasks_of(parse(f"- [ ] {text}"))
    due = found[0].dates.get("due") if found else None
    return due.isoformat() if due else ""


def _notes(paths: Sequence[str]) -> tuple[LinkView, ...]:
    return tuple(LinkView(source=path) for path in paths)
