"""A query's tree as a set of notes."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import assert_never

from actors.vault.index.excerpts import lines_of
from actors.vault.index.extracting import tag_key
from actors.vault.index.properties import Properties
from actors.vault.index.regexes import LONGEST_SECONDS, TooSlowError, lines_matching
from eris.errors import InvalidError
from eris.vault.names import name_of
from eris.vault.query import (
    And,
    Name,
    Not,
    Or,
    Place,
    Property,
    Query,
    Regex,
    Tag,
    Text,
    Within,
)
from eris.vault.words import Match, Term, fold

_TASKS = {
    Place.TASK: "",
    Place.TASK_TODO: "WHERE mark NOT IN ('x', 'X')",
    Place.TASK_DONE: "WHERE mark IN ('x', 'X')",
}

Ids = set[int]
Leaf = Callable[[Query], Ids]


def expression(term: Term, column: str = "") -> str:
    """Return a term as a full-text query."""
    quoted = '"' + " ".join(term.words) + '"'
    if not term.longer:
        found = quoted
    elif term.match is Match.PREFIX:
        found = f"{quoted} *"
    else:  # The word itself counts twice.
        found = f"({quoted} OR {quoted} *)"
    return f"({{{column}}} : {found})" if column else found


class Evaluation:
    """Evaluates one query; made anew for each."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._regexes: dict[tuple[str, bool], Mapping[int, tuple[int, ...]]] = {}
        self.lines: dict[int, set[int]] = {}
        """Lines, by note, in which something matched that isn't a matter of words."""

    def ids(self, query: Query) -> Ids:
        """Return the ids of the notes that fulfil a query.

        Raises:
            InvalidError: A regular expression takes too long.
        """
        return self._joined(query, self._leaf, self._notes)

    def _leaf(self, query: Query) -> Ids:  # noqa: PLR0911 - one for each kind
        match query:
            case Text(term):
                return self._having(expression(term))
            case Regex(source):
                found = self._matching(source)
                for id_, lines in found.items():
                    self.lines.setdefault(id_, set()).update(lines)
                return self._notes().intersection(found)
            case Tag(name):
                return self._set(f"SELECT file FROM tags WHERE {_TAGGED}", *_below(name))  # noqa: S608
            case Property(condition):
                return Properties(self._connection).ids(condition)
            case Within():
                return self._within(query)
            case Name(text):
                return self._named(text, Place.PATH)
            case And() | Or() | Not():
                return self.ids(query)
            case _:
                assert_never(query)

    def tag_lines(self, file: int, name: str) -> set[int]:
        """Return the lines of a note that have a tag, or one below it."""
        select = f"SELECT line FROM tags WHERE {_TAGGED} AND file = ?"  # noqa: S608
        return {line for (line,) in self._connection.execute(select, (*_below(name), file))}

    def _joined(self, query: Query, leaf: Leaf, everything: Callable[[], Ids]) -> Ids:
        match query:
            case And(parts):
                # What must not be is taken away from the rest, rather than from everything.
                wanted = [part for part in parts if not isinstance(part, Not)]
                sets = [self._joined(part, leaf, everything) for part in wanted]
                ids = set.intersection(*sets) if sets else everything()
                for part in parts:
                    if isinstance(part, Not) and ids:
                        ids = ids - self._joined(part.part, leaf, everything)
                return ids
            case Or(parts):
                return set.union(*(self._joined(part, leaf, everything) for part in parts))
            case Not(part):
                return everything() - self._joined(part, leaf, everything)
            case _:
                return leaf(query)

    def _within(self, query: Within) -> Ids:
        place, part = query.place, query.part
        if place in {Place.FILE, Place.PATH}:
            return self._by_name(place, part)
        if place is Place.CONTENT:
            return self._notes() if part is None else self._joined(part, self._content, self._notes)
        if place in _TASKS:
            return self._by_tasks(place, part)
        return self._by_pieces(place, part)

    def _content(self, query: Query) -> Ids:
        return (
            self._having(expression(query.term, "body"))
            if isinstance(query, Text)
            else self._leaf(query)
        )

    def _by_name(self, place: Place, part: Query | None) -> Ids:
        if part is None:
            return self._files()

        def leaf(query: Query) -> Ids:
            match query:
                case Name(text):
                    return self._named(text, place)
                case Regex(source):
                    return self._files().intersection(self._matching(source, paths=True))
                case _:
                    return self._leaf(query)

        return self._joined(part, leaf, self._files)

    def _named(self, text: str, place: Place) -> Ids:
        rows = self._connection.execute(
            "SELECT id, folded FROM files WHERE state != 'ignored' AND instr(folded, ?)", (text,)
        )
        return {id_ for id_, path in rows if place is Place.PATH or text in name_of(path)}

    def _by_tasks(self, place: Place, part: Query | None) -> Ids:
        found: Ids = set()
        possible = self._joined(_possible(part), self._content, self._notes) if part else None
        for file, line, text in self._connection.execute(
            f"SELECT file, line, text FROM tasks {_TASKS[place]}"  # noqa: S608 - parts of ours
        ):
            if part is None or (
                possible and file in possible and self._holds(part, fold(text), file, (line, line))
            ):
                found.add(file)
                self.lines.setdefault(file, set()).add(line)
        return found

    def _by_pieces(self, place: Place, part: Query | None) -> Ids:
        if part is None:
            return self._notes()
        found: Ids = set()
        for file in self._joined(_possible(part), self._content, self._notes):
            row = self._connection.execute(
                "SELECT text FROM texts WHERE file = ?", (file,)
            ).fetchone()
            if not row:
                continue
            lines = lines_of(fold(row[0]))
            for first, last in self._pieces(place, file, lines):
                if self._holds(part, "\n".join(lines[first - 1 : last]), file, (first, last)):
                    found.add(file)
                    if place is not Place.LINE:
                        break
                    self.lines.setdefault(file, set()).add(first)
        return found

    def _pieces(self, place: Place, file: int, lines: list[str]) -> Iterator[tuple[int, int]]:
        """First and last line, from 1, of the pieces of a text."""
        if place is Place.LINE:
            yield from ((number, number) for number in range(1, len(lines) + 1))
        elif place is Place.SECTION:
            starts = self._connection.execute(
                "SELECT line FROM headings WHERE file = ? AND line > 1 ORDER BY line", (file,)
            )
            yield from _between([1, *(line for (line,) in starts), len(lines) + 1])
        else:
            blank = [number for number, line in enumerate(lines, 1) if not line.strip()]
            yield from _between([0, *blank, len(lines) + 1], apart=1)

    def _holds(self, query: Query, folded: str, file: int, lines: tuple[int, int]) -> bool:
        """Whether a piece of a text fulfils what is within an operator."""
        match query:
            case Text(term):
                return next(term.places(folded), None) is not None
            case Regex(source):
                found = self._matching(source).get(file, ())
                return any(lines[0] <= line <= lines[1] for line in found)
            case And(parts):
                return all(self._holds(part, folded, file, lines) for part in parts)
            case Or(parts):
                return any(self._holds(part, folded, file, lines) for part in parts)
            case Not(part):
                return not self._holds(part, folded, file, lines)
            case _:
                return False

    def _matching(self, source: str, *, paths: bool = False) -> Mapping[int, tuple[int, ...]]:
        if (source, paths) not in self._regexes:
            try:
                found = lines_matching(self._file, source, paths=paths)
            except TooSlowError as error:
                raise InvalidError(
                    f"The expression /{source}/ takes longer than {LONGEST_SECONDS:g} seconds.",
                    hint="Use a simpler expression, without repetitions in repetitions.",
                ) from error
            self._regexes[source, paths] = found
        return self._regexes[source, paths]

    def _having(self, match: str) -> Ids:
        return self._set("SELECT rowid FROM words WHERE words MATCH ?", match)

    def _notes(self) -> Ids:
        return self._set("SELECT id FROM files WHERE state IN ('indexed', 'skipped')")

    def _files(self) -> Ids:
        return self._set("SELECT id FROM files WHERE state != 'ignored'")

    def _set(self, select: str, *values: str) -> Ids:
        return {id_ for (id_,) in self._connection.execute(select, values)}


_TAGGED = "(key = ? OR (key >= ? AND key < ?))"


def _below(name: str) -> tuple[str, str, str]:
    key = tag_key(name.strip("#/ "))
    return key, f"{key}/", f"{key}0"


def _possible(query: Query) -> Query:
    """What a note must fulfil as a whole for one of its pieces to fulfil the query."""
    match query:
        case And(parts):
            wanted = tuple(_possible(part) for part in parts if not isinstance(part, Not))
            return And(wanted)
        case Or(parts):
            return Or(tuple(map(_possible, parts)))
        case Not():
            return And(())
        case _:
            return query


def _between(borders: Iterable[int], apart: int = 0) -> Iterator[tuple[int, int]]:
    found = list(borders)
    for start, end in pairwise(found):
        if end > start + apart:
            yield start + apart, end - 1
