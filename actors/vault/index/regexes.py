"""Regular expressions over the whole vault, in a process of its own.

Why a process: some expressions take longer than the universe on some lines, and Python's `re` can't
be interrupted. This module is also the program that runs there; it needs nothing but the standard
library, so that it starts in some hundredths of a second.

    python -I -S regexes.py INDEX < expression    prints: file line,line,... for each match
"""

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST_SECONDS = 3.0
MOST_LINES = 50
"""Lines of one file that are told."""

LINE_END = re.compile(r"\r\n|\r|\n")

_LINES = """SELECT file, text FROM texts"""
_PATHS = """SELECT id, path FROM files WHERE state != 'ignored'"""


class TooSlowError(Exception):
    """The expression took too long."""


def lines_matching(index: Path, source: str, *, paths: bool = False) -> dict[int, tuple[int, ...]]:
    """Return the numbers, from 1, of the lines that an expression finds, by file.

    Args:
        index: The database.
        source: The expression; case doesn't matter.
        paths: Match paths instead; the lines are meaningless then.

    Raises:
        TooSlowError: It took longer than `LONGEST_SECONDS`.
    """
    command = [sys.executable, "-I", "-S", __file__, str(index), "paths" if paths else "lines"]
    try:
        done = subprocess.run(
            command,
            input=source.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TooSlowError from error
    if done.returncode:  # Such as for lack of memory: the expression is to blame.
        raise TooSlowError
    found = {}
    for row in done.stdout.decode().splitlines():
        file, _, lines = row.partition(" ")
        found[int(file)] = tuple(map(int, lines.split(",")))
    return found


def _found(connection: sqlite3.Connection, source: str, what: str) -> Iterator[tuple[int, str]]:
    pattern = re.compile(source, re.IGNORECASE)
    # A look at the whole text first spares cutting most files into lines; `^` and `$` are those of
    # lines then, and what matches in a line matches in the text, but for these two.
    whole = re.compile(source, re.IGNORECASE | re.MULTILINE)
    anchored = re.search(r"[$^]|\\[AZzbB]|\(\?", source) is not None
    for file, text in connection.execute(_PATHS if what == "paths" else _LINES):
        if not anchored and not whole.search(text):
            continue
        lines = [text] if what == "paths" else LINE_END.split(text)
        numbers = [str(number) for number, line in enumerate(lines, 1) if pattern.search(line)]
        if numbers:
            yield file, ",".join(numbers[:MOST_LINES])


def main() -> None:
    """Run as the program."""
    index, what = sys.argv[1:]
    connection = sqlite3.connect(f"{Path(index).as_uri()}?mode=ro", uri=True)
    source = sys.stdin.buffer.read().decode()
    for file, lines in _found(connection, source, what):
        sys.stdout.write(f"{file} {lines}\n")


if __name__ == "__main__":
    main()
