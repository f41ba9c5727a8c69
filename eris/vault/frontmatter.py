"""The properties at the start of a note: found, read, and changed without touching the rest.

An edit works on the text: ruamel.yaml says where a value is, the new one is put there, and nothing
is written anew. Afterwards the result is read again; an edit that would change anything but the
one property isn't made.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from eris.errors import InvalidError, NotFoundError
from eris.vault.inline import TAG_NAME, WIKI, wiki_link
from eris.vault.note import (
    LINE_END,
    Frontmatter,
    Link,
    LinkKind,
    PropertyValue,
    Span,
    Tag,
    line_end,
)
from eris.vault.yaml_text import Entry, YamlProblem, entries, load, written

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\r|\n|\Z)")
_NEXT_PROPERTY = re.compile(r"(?:(?<=\n)|(?<=\r))[^\s#\-\]}]")
_IS_TAG = re.compile(TAG_NAME)
_QUOTES: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: text.replace("''", "'"),
    lambda text: re.sub(r'\\(["\\])', r"\1", text),
)
"""What a text in quotes stands for: none, single, double ones."""


def read(text: str, *, values: bool = True) -> Frontmatter | None:
    """Return the frontmatter, which starts at the first character or there's none.

    Args:
        text: The note.
        values: Whether the properties are wanted; if not, they're read only if there may be links
            in them.
    """
    opening = _OPENING.match(text)
    if not opening:
        return None
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        return None
    start = 1 if text.startswith("\ufeff") else 0
    span = Span(start, closing.end())
    content = Span(opening.end(), closing.start())
    if not values and "[[" not in content.of(text):
        return Frontmatter(span, content)
    try:
        return Frontmatter(span, content, load(content.of(text)))
    except YamlProblem as problem:
        line = problem.line + 2
        error = f"{problem.reason} at line {line}, column {problem.column + 1}"
        return Frontmatter(span, content, {}, error, line, problem.column + 1)


def property_links(text: str, frontmatter: Frontmatter) -> Iterator[Link]:
    """Give the wiki links in the values of properties, in the order of the text."""
    content = frontmatter.content.of(text)
    if "[[" not in content:
        return
    values = "\n".join(_strings(frontmatter.properties))
    for match in WIKI.finditer(content):
        # An unquoted `[[Note]]` is a list in a list; one in a comment is no value.
        unescaped = next((each for each in _QUOTES if each(match[0]) in values), None)
        if unescaped is None or _commented(content, match.start()):
            continue
        link = wiki_link(match, frontmatter.content.start, LinkKind.PROPERTY)
        if link:
            yield replace(
                link,
                target=unescaped(link.target),
                anchor=unescaped(link.anchor),
                shown=None if link.shown is None else unescaped(link.shown),
            )


def property_tags(text: str, frontmatter: Frontmatter) -> Iterator[Tag]:
    """Give the tags in the properties `tags` and `tag`, a list or a string each."""
    for name, value in frontmatter.properties.items():
        if name.casefold() not in {"tag", "tags"} or not value:
            continue
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(parts, Sequence):
            continue
        content = frontmatter.content.of(text)
        position, end = _place_of(content, name)
        for part in parts:
            tag = str(part).strip().removeprefix("#").rstrip("/")
            if not isinstance(part, str) or not tag.strip("0123456789/"):
                continue
            if not _IS_TAG.fullmatch(tag):
                continue
            found = _find_name(content, tag, position, end)
            if found < 0:
                continue
            position = found + len(tag)
            marked = content[found - 1 : found] == "#"
            start = frontmatter.content.start + found
            yield Tag(Span(start - marked, start + len(tag)), tag)


def with_property(text: str, name: str, value: PropertyValue) -> str:
    """Return the note with a property set; every other character stays.

    Args:
        text: The note.
        name: The property, as written in the note or in other case; created if there's none.
        value: What it's set to; quoted where YAML needs that.

    Raises:
        InvalidError: The YAML can't be read, or this can't be done without changing more.
    """
    if not name.strip() or LINE_END.search(name):
        raise InvalidError(
            f"{name!r} can't be the name of a property.", hint="Give it a name on one line."
        )
    ending = line_end(text)
    frontmatter = _readable(text)
    if frontmatter is None:
        start = 1 if text.startswith("\ufeff") else 0
        block = f"---{ending}{written(name, value, ending)}---{ending}"
        return _checked(text, text[:start] + block + text[start:], name, value)
    content = frontmatter.content.of(text)
    found = _entry(content, name)
    if found is None:
        changed = content + written(name, value, ending)
    else:
        name = found.name
        position = found.value_start
        changed = content[:position] + _replacement(content, found, value, ending)
        changed += content[found.value_end :]
    return _checked(text, _with_content(text, frontmatter, changed), name, value)


def without_property(text: str, name: str) -> str:
    """Return the note with a property removed; every other character stays.

    Raises:
        InvalidError: The YAML can't be read, or this can't be done without changing more.
        NotFoundError: There's no such property.
    """
    frontmatter = _readable(text)
    content = frontmatter.content.of(text) if frontmatter else ""
    found = _entry(content, name) if frontmatter else None
    if frontmatter is None or found is None:
        has = ", ".join(frontmatter.properties) if frontmatter else ""
        raise NotFoundError(
            f"The note has no property {name!r}.",
            hint=f"It has: {has}." if has else "It has no properties.",
        )
    line = LINE_END.search(content, found.value_end)
    end = line.end() if line else len(content)
    changed = content[: found.start] + content[end:]
    return _checked(text, _with_content(text, frontmatter, changed), found.name, _ABSENT)


class _Absent(msgspec.Struct, frozen=True):
    """Stands for no value where None is one."""


_ABSENT = _Absent()


def _readable(text: str) -> Frontmatter | None:
    frontmatter = read(text)
    if frontmatter and frontmatter.error:
        raise InvalidError(
            f"The note's properties can't be read: {frontmatter.error}.",
            hint="Correct the YAML between the --- lines first; nothing was changed.",
            details={"line": frontmatter.line, "column": frontmatter.column},
        )
    return frontmatter


def _entry(content: str, name: str) -> Entry | None:
    """Return where a property is: the one of this very name, or the only one but for case."""
    try:
        found = entries(content)
    except YamlProblem as problem:
        raise InvalidError(
            f"The property {name!r} can't be changed: {problem.reason}, "
            f"at line {problem.line + 2}, column {problem.column + 1}.",
            hint="Write each property on a line of its own, as `name: value`.",
        ) from problem
    exact = [entry for entry in found if entry.name == name]
    similar = [entry for entry in found if entry.name.casefold() == name.casefold()]
    if exact:
        return exact[0]
    return similar[0] if len(similar) == 1 else None


def _replacement(content: str, entry: Entry, value: PropertyValue, ending: str) -> str:
    """Return what is put in a value's place, from the colon on."""
    rest = LINE_END.split(content[entry.value_end :], maxsplit=1)[0]
    flow = entry.flow or bool(rest.strip())
    text = written("", value, ending, flow=flow)
    return text[1 : -len(ending)]  # without the colon and the line's end


def _with_content(text: str, frontmatter: Frontmatter, content: str) -> str:
    return text[: frontmatter.content.start] + content + text[frontmatter.content.end :]


def _checked(before: str, after: str, name: str, value: PropertyValue | _Absent) -> str:
    """Return the changed note if the property is what it should be and nothing else changed."""
    old, new = read(before), read(after)
    expected: dict[str, object] = dict(old.properties) if old else {}
    if isinstance(value, _Absent):
        expected.pop(name, None)
    else:
        expected[name] = _plain(value)
    if new is None or new.error or not _same(dict(new.properties), expected):
        raise InvalidError(
            f"The property {name!r} can't be changed without changing others.",
            hint="Change it in an editor; nothing was changed.",
        )
    return after


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _same(one: object, other: object) -> bool:
    """Whether two values are equal and of one type: True isn't 1, and NaN is NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


def _strings(value: PropertyValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _strings(each)


def _commented(content: str, position: int) -> bool:
    start = max(content.rfind("\n", 0, position), content.rfind("\r", 0, position)) + 1
    return content[start:position].lstrip().startswith("#")


def _place_of(content: str, name: str) -> tuple[int, int]:
    """Return where a property's value is looked for: up to the next name at a line's start."""
    for match in re.finditer(rf"(?:\A|[\r\n])[\"']?{re.escape(name)}[\"']?[ \t]*:", content):
        following = _NEXT_PROPERTY.search(content, match.end())
        return match.end(), following.start() if following else len(content)
    return 0, 0


def _find_name(content: str, name: str, start: int, end: int) -> int:
    """Return where a whole word is, between two positions, or -1."""
    position = content.find(name, start, end)
    while position >= 0:
        after = position + len(name)
        before = content[position - 1 : position]
        whole = after >= end or content[after] in " \t\r\n,]\"'/"
        if whole and before in {" ", "\t", "\n", "\r", ",", "[", '"', "'", "#"}:
            return position
        position = content.find(name, position + 1, end)
    return -1
