"""What becomes of the schema of a tool that somebody else has written.

A schema that can't be used costs its own tool the narrow grammar and the check of its arguments,
and no other tool anything: it then takes any object, which its owner has to check.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actors.gatekeeper.schemas import parse_schema, unusable_patterns
from eris.errors import InvalidError
from eris.grammar import Enforcement, SchemaNotUsable, ToolSchema, arguments_grammar

ANY_OBJECT: Mapping[str, Any] = {"type": "object"}

MOST_NOTES = 10
"""For one tool."""

LONGEST_NOTE = 300
"""Characters."""


@dataclass(frozen=True)
class Vetted:
    """What is used of a tool's schema."""

    schema: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    open_grammar: bool = False
    own: bool = True
    """Whether the schema is the tool's own."""


def vetted(tool: str, text: bytes) -> Vetted:
    """Try a schema once, when its tool is registered, so that no turn is the first to find out."""
    try:
        schema = parse_schema(tool, text)
    except InvalidError as error:
        note = f"{error.message} Any object is taken instead, unchecked."
        return Vetted(ANY_OBJECT, (note[:LONGEST_NOTE],), own=False)
    unchecked = [f"{tool}: the pattern {one!r} isn't checked" for one in unusable_patterns(schema)]
    try:
        report = arguments_grammar(ToolSchema(tool, schema)).report
    except SchemaNotUsable as error:
        notes = [f"{tool} {error.path}: the grammar takes any object: {error.reason}"]
        return Vetted(schema, _short([*notes, *unchecked]), open_grammar=True)
    except Exception as error:  # noqa: BLE001 - a defect here must not cost the other tools
        notes = [f"{tool} #: the grammar takes any object: {type(error).__name__}: {error}"]
        return Vetted(schema, _short([*notes, *unchecked]), open_grammar=True)
    later = [str(finding) for finding in report.of(Enforcement.CHECKED_AFTERWARDS)]
    return Vetted(schema, _short([*later, *unchecked]))


def _short(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - MOST_NOTES
    kept = [note[:LONGEST_NOTE] for note in notes[:MOST_NOTES]]
    return (*kept, f"and {more} more") if more > 0 else tuple(kept)
