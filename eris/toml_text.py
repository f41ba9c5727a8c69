"""Finding and changing single keys in the text of a TOML file without touching the rest.

Knows tables and ``key = value`` lines; that is all that Eris's settings files need. The parser of
the standard library decides what a file means, this only where it says so.
"""

import re

_TABLE = re.compile(r"^\s*\[([^\[\]]+)\]\s*(#.*)?$")
_KEY = re.compile(r"""^\s*([\w.\-"' ]+?)\s*=""")


def _bare(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def line_of(text: str, key: str) -> int:
    """Return the line, from 1, where a dotted key stands, or the nearest table around it."""
    table, nearest = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _TABLE.match(line):
            table = _bare(found[1])
            if key == table:
                return number
            if key.startswith(table + "."):
                nearest = number
        elif found := _KEY.match(line):
            name = _bare(found[1])
            full = f"{table}.{name}" if table else name
            if key == full:
                return number
            if key.startswith(full + "."):  # an inline table
                nearest = number
    return nearest


def set_key(text: str, key: str, value: str) -> str:
    """Return ``text`` with ``key`` (``table.name`` or ``name``) set to a TOML value.

    A line that sets the key already is replaced, its comment kept; otherwise a line is added to
    the table, which is made at the end if it isn't there.
    """
    table, _, name = key.rpartition(".")
    lines = text.splitlines()
    current, end_of_table = "", None if table else 0
    for index, line in enumerate(lines):
        if found := _TABLE.match(line):
            current = _bare(found[1])
        elif (found := _KEY.match(line)) and (
            f"{current}.{_bare(found[1])}" if current else _bare(found[1])
        ) == key:
            lines[index] = f"{line[: found.end()]} {value}{_comment(line[found.end() :])}"
            return "\n".join(lines) + "\n"
        if current == table and line.strip():
            end_of_table = index + 1
    new = f"{name} = {value}"
    if end_of_table is not None:
        lines.insert(end_of_table, new)
    else:
        lines += [*([""] if lines and lines[-1].strip() else []), f"[{table}]", new]
    return "\n".join(lines) + "\n"


def _comment(rest: str) -> str:
    """The comment behind a value, with the space before it."""
    quote = ""
    for index, character in enumerate(rest):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#":
            return "  " + rest[index:].rstrip()
    return ""
