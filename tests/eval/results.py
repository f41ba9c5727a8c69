"""Where results go: ``eval.json``, and tables between marks in ``docs/evaluation.md``."""

import json
from pathlib import Path
from typing import Any

FILE = Path("eval.json")
PAGE = Path("docs") / "evaluation.md"


def record(results: dict[str, Any]) -> None:
    """Add results under ``eval``; what isn't measured now stays as it was."""
    known = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}
    merged = {"eval": {**known.get("eval", {}), **results}}
    FILE.write_text(json.dumps(merged, indent=2) + "\n", "utf-8")


def put(name: str, text: str, page: Path = PAGE) -> None:
    """Put a text between its marks.

    Raises:
        ValueError: The page has no such marks.
    """
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->\n"
    before, mark, rest = page.read_text("utf-8").partition(begin)
    _, closing, after = rest.partition(end)
    if not mark or not closing:
        message = f"{page} has no place for {name!r}"
        raise ValueError(message)
    page.write_text(before + begin + text + end + after, "utf-8")
