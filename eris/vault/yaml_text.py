"""YAML as it stands in notes: read tolerantly, located by character, written with few quotes.

Reading is ruamel.yaml's, in YAML 1.2 (`yes` is a word). Most notes have lines of `name: value` and
lists of words only; those are read here, thirty times as fast, to the same result.
"""

import datetime as dt
import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError

from eris.vault.note import PropertyValue

_MOST_VALUES = 20_000
"""More can't be meant: YAML's aliases can make a few lines stand for billions of values."""
_DEEPEST = 50

_SIMPLE_LINE = re.compile(r"([A-Za-z][A-Za-z0-9 _-]*):(?:[ ]+([^\s].*?))?[ ]*\Z", re.ASCII)
_SIMPLE_ITEM = re.compile(r"[ ]*-[ ]+(.+?)[ ]*\Z")
_CONTROL = r"\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_WORDS = re.compile(rf"[A-Za-z\u00c0-\u024f](?:[^{_CONTROL}:#,\[\]{{}}\"']|:(?=[^\s,\[\]{{}}]))*")
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_QUOTED = re.compile(rf"\"([^\"\\{_CONTROL}]*)\"")
_COLON_LINE = re.compile(
    r"([^\s#\"'\[{&*!|>%@`-][^:\r\n]*:[ \t]+)([^\s\"'\[{&*!|>%@`#-][^\r\n]*?)([ \t]*)"
)
_PLAIN = re.compile(rf"[A-Za-z\u00c0-\u1fff\u2c00-\ud7ff](?:[^{_CONTROL}:#]|:(?! |\Z)|(?<! )#)*")

_UNENDED = ("while scanning", "while parsing a flow")
"""How ruamel begins to say in what it was when the text went wrong: a quote, a bracket, a key."""


class YamlProblem(Exception):  # noqa: N818 - a problem of the note's, told to its user elsewhere
    """Why YAML can't be read; line and column count from 0."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


class Entry(msgspec.Struct, frozen=True):
    """Where a property stands in the YAML, in characters."""

    name: str
    start: int
    """Of its line."""
    value_start: int
    """Just after the colon."""
    value_end: int
    """After the value's last character."""
    flow: bool
    """Whether its value is a list or mapping in brackets."""


def load(content: str) -> dict[str, PropertyValue]:
    """Return the properties.

    Raises:
        YamlProblem: It can't be read.
    """
    simple = _simple(content)
    if simple is not None:
        return simple
    try:
        return _loaded(content)
    except YamlProblem as problem:
        repaired, lines = _with_colons_quoted(content)
        if not lines:
            raise
        try:
            return _loaded(repaired)
        except YamlProblem:
            raise problem from None


def entries(content: str) -> list[Entry]:
    """Return where each property is, in the order of the text.

    Raises:
        YamlProblem: It can't be read, or isn't lines of `name: value`.
    """
    quoted: set[int] = set()
    try:
        root = _composed(content)
        source = content
    except YamlProblem as problem:
        source, quoted = _with_colons_quoted(content)
        if not quoted:
            raise
        try:
            root = _composed(source)
        except YamlProblem:
            raise problem from None
    if root is None:
        return []
    if not isinstance(root, MappingNode) or root.flow_style:
        raise YamlProblem("the properties aren't on lines of their own", 0, 0)
    original, changed = _line_starts(content), _line_starts(source)
    found: list[Entry] = []
    for key, value in root.value:
        line = key.start_mark.line
        if line in quoted:
            start = original[line]
            text = re.split(r"[\r\n]", content[start:], maxsplit=1)[0]
            colon = text.index(":") + 1
            entry = Entry(
                str(key.value), start, start + colon, start + len(text.rstrip()), flow=False
            )
            found.append(entry)
            continue
        if key.start_mark.column:
            raise YamlProblem("the properties are indented", line, key.start_mark.column)
        colon = source.index(":", key.end_mark.index) + 1
        end = _end(value, source, colon)
        shift = original[line] - changed[line]
        last = bisect_right(changed, end) - 1
        end += original[last] - changed[last]
        found.append(
            Entry(
                str(key.value),
                original[line],
                colon + shift,
                end,
                not isinstance(value, ScalarNode) and bool(value.flow_style),
            )
        )
    return found


def written(name: str, value: PropertyValue, line_end: str, *, flow: bool = False) -> str:
    """Return the lines that give a property its value, the last one ended.

    Args:
        name: Its name; empty to begin with the colon.
        value: Its value.
        line_end: What lines end in.
        flow: Whether lists are written in brackets.
    """
    start = f"{_scalar(name)}:" if name else ":"
    if value is None:
        return start + line_end
    if isinstance(value, Sequence) and not isinstance(value, str) and value and not flow:
        items = "".join(f"{line_end}  - {_flow(each)}" for each in value)
        return start + items + line_end
    return f"{start} {_flow(value)}{line_end}"


def _flow(value: PropertyValue) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_quoted(str(key))}: {_flow(each)}" for key, each in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = (_flow(each) for each in value)
        return f"[{', '.join(parts)}]"
    return _scalar(value)


def _scalar(value: PropertyValue) -> str:  # noqa: PLR0911 - one for each type
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            if math.isnan(value):
                return ".nan"
            if math.isinf(value):
                return ".inf" if value > 0 else "-.inf"
            text = repr(value)
            return text if "." in text or "e" not in text else text.replace("e", ".0e")
        case dt.datetime() | dt.date():
            return value.isoformat()
        case str():
            return value if _is_plain(value) else _quoted(value)
        case _:
            return str(value)


def _is_plain(text: str) -> bool:
    return (
        _PLAIN.fullmatch(text) is not None
        and text.casefold() not in _RESERVED
        and not text.endswith((" ", ":"))
        and not any(character in text for character in ",[]{}")
    )


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub(
        f"[{_CONTROL}]",
        lambda match: f"\\u{ord(match[0]):04x}",
        quoted,
    )


def _simple(content: str) -> dict[str, PropertyValue] | None:
    """Read lines of plain values and lists of words; None for anything else."""
    properties: dict[str, PropertyValue] = {}
    items: list[PropertyValue] = []
    name = ""
    indent = 0
    for line in content.replace("\r\n", "\n").split("\n"):
        if not line:
            continue
        if "\r" in line:
            return None
        if found := _SIMPLE_LINE.match(line):
            name = found[1]
            if name in properties or name.lower() in _RESERVED or name.endswith(" "):
                return None
            if found[2] is None:
                items = []
                properties[name] = None
                continue
            value = _simple_value(found[2])
            if value is None:
                return None
            properties[name] = value
            name = ""
        elif name and (found := _SIMPLE_ITEM.match(line)):
            value = _simple_scalar(found[1])
            if value is None or (items and line.index("-") != indent):
                return None
            indent = line.index("-")
            items.append(value)
            properties[name] = items
        else:
            return None
    return properties


def _simple_value(text: str) -> PropertyValue:
    if text.startswith("[") and text.endswith("]"):
        if not text[1:-1].strip():
            return []
        parts = [_simple_scalar(part.strip()) for part in text[1:-1].split(",")]
        return None if None in parts else parts
    return _simple_scalar(text)


def _simple_scalar(text: str) -> PropertyValue:
    if _WORDS.fullmatch(text):
        if text.lower() in _RESERVED:
            return {"true": True, "false": False}.get(text)
        return text
    if _NUMBER.fullmatch(text):
        return int(text)
    if _DATE.fullmatch(text):
        with suppress(ValueError):
            return dt.date.fromisoformat(text)
    quoted = _QUOTED.fullmatch(text)
    return quoted[1] if quoted else None


def _loaded(content: str) -> dict[str, PropertyValue]:
    with _told_as_problem():
        value = YAML(typ="safe", pure=True).load(content)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise YamlProblem("the properties aren't lines of `name: value`")
    budget = [_MOST_VALUES]
    return {str(key): _plain(each, budget, 0) for key, each in value.items()}


def _composed(content: str) -> Node | None:
    with _told_as_problem():
        node: Node | None = YAML(typ="safe", pure=True).compose(content)
    return node


@contextmanager
def _told_as_problem() -> Iterator[None]:
    try:
        yield
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context_mark and str(error.context).startswith(_UNENDED):
            mark = error.context_mark  # where it begins, not where its end was missed
        raise YamlProblem(
            str(error.problem or error.context or "no YAML").split("\n", 1)[0],
            mark.line if mark else 0,
            mark.column if mark else 0,
        ) from error
    except Exception as error:  # the library raises nearly anything for odd dates and tags
        reason = "a character that YAML doesn't allow" if isinstance(error, ReaderError) else ""
        raise YamlProblem(reason or f"no YAML ({type(error).__name__})") from error


def _plain(value: object, budget: list[int], depth: int) -> PropertyValue:
    """Return a value of plain types, each list and mapping its own."""
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        raise YamlProblem("it stands for too many values")
    if isinstance(value, str | int | float | bool | dt.date | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each, budget, depth + 1) for key, each in value.items()}
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes):
        return [_plain(each, budget, depth + 1) for each in value]
    return str(value)


def _with_colons_quoted(content: str) -> tuple[str, set[int]]:
    """Return the text with quotes about values that have a colon and a space, and their lines.

    People write `title: Part one: the beginning`, which is no YAML but has one meaning.
    """
    parts = re.split(r"(\r\n|\r|\n)", content)
    lines: set[int] = set()
    for index in range(0, len(parts), 2):
        found = _COLON_LINE.fullmatch(parts[index])
        if found and re.search(r":(?:[ \t]|\Z)", found[2]) and " #" not in found[2]:
            value = found[2].replace("'", "''")
            parts[index] = f"{found[1]}'{value}'{found[3]}"
            lines.add(index // 2)
    return "".join(parts), lines


def _end(node: Node, source: str, least: int) -> int:
    """Return where a node's last character is; ruamel counts the space after it to some.

    Args:
        node: The node.
        source: The YAML.
        least: After the colon or dash in front of it: where it ends if it's empty.
    """
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if start == end:
        return least
    if isinstance(node, ScalarNode):
        return len(source[:end].rstrip(" \t\r\n")) if node.style in {"|", ">"} else end
    if isinstance(node, CollectionNode) and not node.flow_style and node.value:
        if isinstance(node, MappingNode):
            key, last = node.value[-1]
            return _end(last, source, source.index(":", key.end_mark.index) + 1)
        before = _end(node.value[-2], source, start) if len(node.value) > 1 else start
        return _end(node.value[-1], source, source.index("-", before) + 1)
    return end


def _line_starts(text: str) -> list[int]:
    """Return where lines start, as YAML counts them."""
    return [0, *(end.end() for end in re.finditer(r"\r\n|[\r\n\x85\u2028\u2029]", text))]
