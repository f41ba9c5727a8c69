r"""Obsidian's search syntax: what a person or a model writes, as a tree.

    garden water            both words, anywhere in the note or its path
    "star wars" gard*       a phrase; words that begin so
    /\d{4}-\d\d/               a regular expression, on a line
    milk OR bread -sugar    either; without
    (a OR b) c              groups
    path:work file:plan tag:inbox content:x
    line:(a b) block:(a b) section:(a b)
    task:x task-todo:x task-done:""
    [status] [status:done] [due:<2027-01-01]

What is no syntax is taken for words, so that a plain question does no harm: an unknown `name:`, a
lonely `-`, punctuation. What can only be a slip (a quote or bracket that is never closed, an `OR`
without a side) is an error that says where.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from eris.errors import InvalidError
from eris.vault import properties_query as properties
from eris.vault.words import Match, Term, fold, term

LONGEST_QUERY = 2000
"""Characters."""

MOST_PARTS = 40
"""Words, phrases, expressions and operators in one query."""

_DEEPEST = 20


class Place(StrEnum):
    """Where the words of an operator have to be."""

    FILE = "file"
    PATH = "path"
    CONTENT = "content"
    LINE = "line"
    BLOCK = "block"
    SECTION = "section"
    TASK = "task"
    TASK_TODO = "task-todo"
    TASK_DONE = "task-done"


@dataclass(frozen=True, slots=True)
class Text:
    """Words next to each other; a single one in most cases."""

    term: Term


@dataclass(frozen=True, slots=True)
class Name:
    """A part of a file's name or path, folded."""

    text: str


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression, matched line by line, without regard to case."""

    source: str


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, or one below it: `inbox` means `#inbox/to-read` too."""

    name: str


@dataclass(frozen=True, slots=True)
class Property:
    """A condition on the note's properties."""

    condition: properties.Condition


@dataclass(frozen=True, slots=True)
class Within:
    """Something that must be at one place; inside are only texts, regexes and what joins them.

    None as part means any: `task:""` is every note with a task.
    """

    place: Place
    part: "Query | None"


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    parts: tuple["Query", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Everything but this."""

    part: "Query"


Query = Text | Name | Regex | Tag | Property | Within | And | Or | Not


def parse(text: str, today: dt.date | None = None) -> Query:
    """Return the tree of a query.

    Args:
        text: The query.
        today: What `today` means in a property's condition.

    Raises:
        InvalidError: It has no word to look for, or something is missing; the sentence says what
            and where.
    """
    if len(text) > LONGEST_QUERY:
        raise InvalidError(
            f"A query of {len(text)} characters is over the limit of {LONGEST_QUERY}.",
            hint="Give a few words to look for.",
        )
    parser = _Parser(text, today)
    query = parser.alternatives(0, "")
    if query is None:
        raise InvalidError("The query has no words.", hint="Give a word to look for, such as milk.")
    return query


def terms(query: Query) -> Iterator[Term]:
    """Yield the terms that a match has, or may have; none of those that it must not have."""
    match query:
        case Text(found):
            yield found
        case And(parts) | Or(parts):
            for part in parts:
                yield from terms(part)
        case Within(place, part) if part and place not in {Place.FILE, Place.PATH}:
            yield from terms(part)
        case _:
            return


def tags(query: Query) -> Iterator[str]:
    """Yield the tags that a match has, or may have."""
    match query:
        case Tag(name):
            yield name
        case And(parts) | Or(parts):
            for part in parts:
                yield from tags(part)
        case _:
            return


def joined(parts: list[Query], kind: type[And] | type[Or] = And) -> Query | None:
    """Return one query for several; None for none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return kind(tuple(parts))


_SPACE = re.compile(r"\s*")
_OPERATOR = re.compile(r"(tag|%s):" % "|".join(sorted(Place, key=len, reverse=True)), re.IGNORECASE)  # noqa: UP031 - braces of the pattern
_KEYWORD = re.compile(r"(OR|AND|NOT)(?=[\s(]|$)")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\.)+)/(?=[\s)]|$)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WIKI_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_BOX = re.compile(r"\[ ?\]")
_PROPERTY = re.compile(r'\[((?:[^\[\]"]|"(?:[^"\\]|\\.)*")+)\]')


class _Parser:
    """Recursive descent over the characters; positions in sentences count from 1."""

    def __init__(self, text: str, today: dt.date | None) -> None:
        self._text = text
        self._at = 0
        self._today = today
        self._parts = 0

    def alternatives(self, depth: int, inside: str) -> Query | None:
        """Parse up to the end, or to the bracket that closes this group."""
        sides: list[Query] = []
        either = -1
        while True:
            side = self._sequence(depth, inside)
            if side is not None:
                sides.append(side)
            elif either >= 0:
                raise self._slip("there is nothing after OR", either)
            keyword = self._keyword()
            if keyword != "OR":
                return joined(sides, Or)
            if side is None:
                raise self._slip("there is nothing before OR", self._at)
            either = self._at
            self._at += len(keyword)

    def _sequence(self, depth: int, inside: str) -> Query | None:
        parts: list[Query] = []
        while not self._ended(depth) and self._keyword() != "OR":
            if self._keyword() == "AND":
                self._at += 3
                continue
            part = self._negated(depth, inside)
            if part is not None:
                parts.append(part)
                self._count()
        return joined(parts)

    def _negated(self, depth: int, inside: str) -> Query | None:
        start = self._at
        if self._keyword() == "NOT":
            self._at += 3
            self._skip()
        elif self._text[start] == "-":
            self._at += 1
            if self._text[self._at : self._at + 1].strip() == "":
                return None  # A lonely dash.
        else:
            return self._single(depth, inside)
        if self._ended(depth):
            return None
        part = self._single(depth, inside)
        return None if part is None else Not(part)

    def _single(self, depth: int, inside: str) -> Query | None:
        character = self._text[self._at]
        if character == "(":
            return self._group(depth, inside)
        if character == '"':
            return self._leaf(self._quoted(), Match.EXACT, inside)
        regex = _REGEX.match(self._text, self._at)
        if regex:
            return self._regex(regex)
        if character == "[":
            return self._bracketed(inside)
        operator = _OPERATOR.match(self._text, self._at)
        if operator:
            return self._operator(operator, depth, inside)
        return self._word(depth, inside)

    def _group(self, depth: int, inside: str) -> Query | None:
        opened = self._at
        if depth >= _DEEPEST:
            raise self._slip(f"groups are more than {_DEEPEST} deep", opened)
        self._at += 1
        query = self.alternatives(depth + 1, inside)
        if self._at >= len(self._text):
            raise self._slip("the bracket ( is never closed", opened)
        self._at += 1
        return query

    def _operator(self, found: re.Match[str], depth: int, inside: str) -> Query | None:
        name = found[1].lower()
        if inside:
            raise self._slip(f"{name}: can't be inside of another operator", found.start())
        self._at = found.end()
        if self._ended(depth):
            raise self._slip(f"{name}: needs something after it", found.start())
        part = self._single(depth, name)
        if name != "tag":
            return Within(Place(name), part)
        if part is None:
            raise self._slip("tag: needs the name of a tag", found.start())
        return part

    def _bracketed(self, inside: str) -> Query | None:
        link = _WIKI_LINK.match(self._text, self._at)
        if link:
            self._at = link.end()
            return self._leaf(link[1], Match.EXACT, inside)
        box = _BOX.match(self._text, self._at)
        if box:
            self._at = box.end()
            return None
        found = _PROPERTY.match(self._text, self._at)
        if not found:
            raise self._slip("the bracket [ is never closed", self._at)
        if inside:
            raise self._slip("a property can't be inside of another operator", self._at)
        self._at = found.end()
        return Property(properties.bracketed(found[1], found.start(1), self._text, self._today))

    def _regex(self, found: re.Match[str]) -> Query:
        source = found[1].replace("\\/", "/")
        try:
            re.compile(source)
        except (re.error, RecursionError, OverflowError) as error:
            raise self._slip(f"/{source}/ isn't a regular expression: {error}", self._at) from error
        self._at = found.end()
        return Regex(source)

    def _quoted(self) -> str:
        found = _QUOTED.match(self._text, self._at)
        if not found:
            raise self._slip('the quote " is never closed', self._at)
        self._at = found.end()
        return re.sub(r"\\(.)", r"\1", found[1])

    def _raw(self, depth: int) -> str:
        start = self._at
        while self._at < len(self._text):
            character = self._text[self._at]
            if character.isspace() or (character == ")" and depth):
                break
            self._at += 1
        return self._text[start : self._at]

    def _word(self, depth: int, inside: str) -> Query | None:
        raw = self._raw(depth)
        prefix = raw.endswith("*") and raw.strip("*")
        return self._leaf(raw, Match.PREFIX if prefix else Match.LOOSE, inside)

    def _leaf(self, text: str, match: Match, inside: str) -> Query | None:
        if inside == "tag":
            name = text.strip("#/*,; ")
            return Tag(name) if name else None
        if inside in {Place.FILE, Place.PATH}:
            return Name(fold(text.strip("*"))) if text.strip("*") else None
        found = term(text, match)
        return Text(found) if found else None

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _ended(self, depth: int) -> bool:
        """Whether this group is at its end; skips space."""
        self._skip()
        return self._at >= len(self._text) or (depth > 0 and self._text[self._at] == ")")

    def _keyword(self) -> str:
        found = _KEYWORD.match(self._text, self._at)
        return found[1] if found else ""

    def _count(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise self._slip(f"the query has more than {MOST_PARTS} parts", self._at)

    def _slip(self, problem: str, at: int) -> InvalidError:
        return properties.slip(problem, at, self._text)
