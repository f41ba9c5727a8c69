"""Queries over properties, as a person or a small model writes them.

    status = done and due < 2027-01-01 sort by due desc limit 20
    (author contains smith or rating >= 4) and not tags = archive show author, rating
    deadline exists and file.folder = projects and file.mtime > today-7

A value's type is told by how it's written: `3`, `2027-01-01`, `true`, text. Values are compared
with values of the same type; a list fulfils what one of its items fulfils. `!=` asks for notes
that have the property, with none of its values equal; `not status = done` for all the others too.
Besides the frontmatter's there are `file.name`, `file.path`, `file.folder`, `file.size`,
`file.mtime` and `tags`, which includes those in the text.
"""

import datetime as dt
import re
from dataclasses import dataclass
from enum import StrEnum

from eris.errors import InvalidError

MOST_ROWS = 1000
"""The highest limit."""

Value = str | float | bool | dt.date | dt.datetime | None
"""What a property is compared with; a `datetime` is a `date` too."""


class Operator(StrEnum):
    """How a property is compared."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A property compared with a value."""

    name: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Exists:
    """The note has the property, be it empty."""

    name: str


@dataclass(frozen=True, slots=True)
class All:
    """All of them."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of them."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Everything but this."""

    part: "Condition"


Condition = Comparison | Exists | All | AnyOf | Negation


@dataclass(frozen=True, slots=True)
class SortKey:
    """A property to sort by."""

    name: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class PropertiesQuery:
    """Which notes, in which order, how many, and what to show of them."""

    condition: Condition | None = None
    """None: all notes."""
    sort: tuple[SortKey, ...] = ()
    limit: int | None = None
    columns: tuple[str, ...] = ()
    """Properties to show; empty if the query doesn't say."""


def parse(text: str, today: dt.date | None = None) -> PropertiesQuery:
    """Return the query that a text means.

    Args:
        text: The query; empty for all notes.
        today: What `today`, `tomorrow`, `yesterday` and `today-7` are counted from; without it
            they are plain text.

    Raises:
        InvalidError: It can't be read; the sentence says where.
    """
    return _Parser(text, _tokens(text), today).query()


def bracketed(content: str, at: int, text: str, today: dt.date | None = None) -> Condition:
    """Return the condition within the brackets of a search such as `[status:done OR todo]`.

    Args:
        content: What's between the brackets.
        at: Where that begins in the whole query, for sentences.
        text: The whole query.
        today: As for `parse`.

    Raises:
        InvalidError: There is no name, or nothing to compare with.
    """
    if content.startswith('"'):
        end = content.index('"', 1) + 1
        name, rest = content[1 : end - 1], content[end:]
        colon, rest = rest[:1], rest[1:]
    else:
        name, colon, rest = content.partition(":")
    name = name.strip()
    if not name:
        raise slip("a property needs a name", at, text)
    if not colon:
        return Exists(name)
    sides = []
    for side in re.split(r"\sOR\s", rest.strip().removeprefix("(").removesuffix(")")):
        found = re.match(r"\s*(<=|>=|!=|<|>|=)?\s*(.*?)\s*$", side, re.DOTALL)
        if not found or not found[2]:
            raise slip(f"[{name}: needs a value", at, text)
        written = found[2]
        quoted = len(written) > 1 and written[0] == written[-1] == '"'
        value = written[1:-1] if quoted else _value(written, today)
        operator = Operator(found[1]) if found[1] else Operator.CONTAINS
        sides.append(Comparison(name, Operator.EQUAL if value is None else operator, value))
    return sides[0] if len(sides) == 1 else AnyOf(tuple(sides))


def slip(problem: str, at: int, text: str) -> InvalidError:
    """Return the error for a query that can't be read.

    Args:
        problem: What's wrong, as half a sentence.
        at: The character at which it's noticed, from 0.
        text: The whole query.
    """
    around = text[max(0, at - 10) : at + 20].strip()
    where = f"at character {at + 1}" + (f", near '{around}'" if around else "")
    return InvalidError(
        f"The query can't be read: {problem} ({where}).",
        hint="Put text with such characters in double quotes, or leave them out.",
        details={"position": at + 1},
    )


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    at: int
    quoted: bool = False

    def is_word(self, *words: str) -> bool:
        return not self.quoted and self.text.lower() in words


_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<sign><=|>=|!=|<>|==|[=<>(),:])"""
    r"""|(?P<link>\[\[[^\[\]]*\]\])|(?P<word>[^\s=<>(),!:"]+(?:(?<=\d):(?=\d)[^\s=<>(),!:"]+)*|[!:"]))"""
)
_SIGNS = {
    "=": Operator.EQUAL,
    "==": Operator.EQUAL,
    ":": Operator.EQUAL,
    "is": Operator.EQUAL,
    "!=": Operator.UNEQUAL,
    "<>": Operator.UNEQUAL,
    "<": Operator.LESS,
    "<=": Operator.AT_MOST,
    ">": Operator.MORE,
    ">=": Operator.AT_LEAST,
    "contains": Operator.CONTAINS,
    "includes": Operator.CONTAINS,
}
_END_OF_VALUE = ("and", "or", "not", "sort", "order", "limit", "show", "(", ")", ",")
_CLAUSES = ("sort", "order", "limit", "show")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:  # Every character that isn't space begins some token.
            raise slip("this character can't be here", at, text)
        kind = match.lastgroup or ""
        written = match[kind]
        if written == '"':
            raise slip('the quote " is never closed', match.start(kind), text)
        quoted = kind == "quoted"
        content = re.sub(r"\\(.)", r"\1", written[1:-1]) if quoted else written
        found.append(_Token(content, match.start(kind), quoted))
        at = match.end()
    return found


class _Parser:
    """Recursive descent over the tokens."""

    _DEEPEST = 20

    def __init__(self, text: str, tokens: list[_Token], today: dt.date | None) -> None:
        self._text = text
        self._left = list(reversed([*tokens, _Token("", len(text.rstrip()))]))
        self._today = today
        self._depth = 0

    @property
    def _next(self) -> _Token:
        return self._left[-1]

    @property
    def _ended(self) -> bool:
        return len(self._left) == 1

    def _take(self) -> _Token:
        return self._left.pop() if len(self._left) > 1 else self._left[0]

    def _took(self, *words: str) -> bool:
        if self._ended or not self._next.is_word(*words):
            return False
        self._take()
        return True

    def query(self) -> PropertiesQuery:
        self._took("where")
        condition = None if self._ended or self._next.is_word(*_CLAUSES) else self._alternatives()
        sort: tuple[SortKey, ...] = ()
        limit: int | None = None
        columns: tuple[str, ...] = ()
        while not self._ended:
            if self._took("sort", "order"):
                self._took("by")
                sort = self._sort_keys()
            elif self._took("limit"):
                limit = self._limit()
            elif self._took("show"):
                columns = tuple(self._listed())
            else:
                raise slip("this doesn't belong here", self._next.at, self._text)
        return PropertiesQuery(condition, sort, limit, columns)

    def _alternatives(self) -> Condition:
        sides = [self._sequence()]
        while self._took("or"):
            sides.append(self._sequence())
        return sides[0] if len(sides) == 1 else AnyOf(tuple(sides))

    def _sequence(self) -> Condition:
        parts = [self._negated()]
        while self._took("and"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _negated(self) -> Condition:
        if self._took("not"):
            return Negation(self._negated())
        opened = self._next.at
        if not self._took("("):
            return self._comparison()
        self._depth += 1
        if self._depth > self._DEEPEST:
            raise slip(f"groups are more than {self._DEEPEST} deep", opened, self._text)
        condition = self._alternatives()
        if not self._took(")"):
            raise slip("the bracket ( is never closed", opened, self._text)
        self._depth -= 1
        return condition

    def _comparison(self) -> Condition:
        name = self._name()
        if self._took("exists"):
            return Exists(name)
        if self._took("missing"):
            return Negation(Exists(name))
        token = self._next
        operator = None if token.quoted else _SIGNS.get(token.text.lower())
        if operator is None:
            ended = self._ended or token.is_word(*_END_OF_VALUE)
            if ended and not token.is_word("(", ","):
                return Exists(name)
            raise slip(f"{name} needs one of = != < <= > >= contains", token.at, self._text)
        self._take()
        if operator is Operator.EQUAL and self._took("not"):  # status is not done
            operator = Operator.UNEQUAL
        return Comparison(name, operator, self._operand(name))

    def _operand(self, name: str) -> Value:
        first = self._next
        if self._ended or first.is_word(*_END_OF_VALUE):
            raise slip(f"there is nothing to compare {name} with", first.at, self._text)
        if first.quoted:
            return self._take().text
        # Words without quotes belong together: status = in progress and ...
        last = first
        while not self._ended and not self._next.quoted and not self._next.is_word(*_END_OF_VALUE):
            last = self._take()
        return _value(self._text[first.at : last.at + len(last.text)], self._today)

    def _name(self) -> str:
        token = self._next
        if self._ended or (not token.quoted and re.fullmatch(r"[=<>(),:!]+", token.text)):
            raise slip("the name of a property is expected", token.at, self._text)
        return self._take().text

    def _listed(self) -> list[str]:
        names = [self._name()]
        while self._took(","):
            names.append(self._name())
        return names

    def _sort_keys(self) -> tuple[SortKey, ...]:
        keys = []
        while True:
            name = self._name()
            descending = self._took("desc", "descending")
            if not descending:
                self._took("asc", "ascending")
            keys.append(SortKey(name, descending))
            if not self._took(","):
                return tuple(keys)

    def _limit(self) -> int:
        token = self._take()
        if not re.fullmatch(r"[0-9]{1,6}", token.text) or not int(token.text):
            raise slip("limit needs a number above 0", token.at, self._text)
        return min(int(token.text), MOST_ROWS)


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_AND_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_RELATIVE = re.compile(r"(today|tomorrow|yesterday)(?:\s*([+-])\s*(\d{1,5})d?)?", re.IGNORECASE)
_DAYS = {"today": 0, "tomorrow": 1, "yesterday": -1}
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "none": None}


def read_date(text: str) -> dt.date | dt.datetime | None:
    """Return the date or time that a text is, written as Obsidian writes them; None if it isn't."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
        if _DATE_AND_TIME.fullmatch(text):
            return dt.datetime.fromisoformat(text)
    except ValueError:  # The 31st of February.
        pass
    return None


def _value(text: str, today: dt.date | None) -> Value:
    """The value that a text without quotes means."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text)
    relative = _RELATIVE.fullmatch(text)
    if relative and today:
        days = int(relative[3] or 0) * (-1 if relative[2] == "-" else 1)
        return today + dt.timedelta(days=_DAYS[relative[1].lower()] + days)
    return read_date(text) or text
