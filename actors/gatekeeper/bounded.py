"""A validator that always comes to an end, whatever the schema of a third party's tool says.

`jsonschema` by itself runs patterns through Python's `re`, which doesn't come back from `^(a+)+$`,
follows references that multiply at every step, and would fetch a schema from the network. Here
patterns run through the automata of `eris.grammar`, whose work grows with the text and not beyond;
steps are counted; and nothing outside of the schema is looked up.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from eris.grammar.dialect import without_dialects
from eris.grammar.nfa import matches
from eris.grammar.pattern import Concat, Either, Node, PatternNotSupported, Times, parse_pattern

Errors = Iterator[ValidationError]

MOST_STEPS: Final = 20_000
"""References that may be followed for one value."""

MOST_PATTERN_WORK: Final = 1_000_000
"""States of all patterns that are run for one value, and characters they're run over."""

LONGEST_PATTERN: Final = 4_000
"""Characters."""

_PATTERNS_KEPT = 512


class NotCheckable(Exception):  # noqa: N818 - it says what is the matter
    """A value can't be checked with bounded work; the message is a clause that says why."""


class _Work:
    """What is left for one value."""

    def __init__(self, root: object) -> None:
        self.root = root
        self.steps = MOST_STEPS
        self.pattern = MOST_PATTERN_WORK


_WORK: ContextVar[_Work] = ContextVar("work")


@dataclass(frozen=True)
class Pattern:
    """A pattern that can be run."""

    tree: Node
    states: int
    """About so many the automaton has."""


@lru_cache(maxsize=_PATTERNS_KEPT)
def usable_pattern(source: str) -> Pattern | None:
    """Return a pattern that can be run; None if it isn't regular or is too large."""
    if len(source) > LONGEST_PATTERN:
        return None
    try:
        tree = parse_pattern(source)
        matches(tree, "")  # would it fit?
    except (PatternNotSupported, RecursionError):
        return None
    return Pattern(tree, _states(tree))


def errors_of(validator: Validator, value: object) -> list[ValidationError]:
    """Return everything that is wrong with a value.

    Raises:
        NotCheckable: The schema is too much for it.
    """
    token = _WORK.set(_Work(validator.schema))
    try:
        return list(validator.iter_errors(cast("Any", value)))
    except RecursionError as error:
        raise NotCheckable("it refers to itself without end, or nests too deeply") from error
    except Unresolvable as error:
        raise NotCheckable(f"it refers to {error.ref!r}, which isn't in it") from error
    finally:
        _WORK.reset(token)


def validator_of(schema: Mapping[str, Any]) -> Validator:
    """Return a bounded validator for a schema, of the draft that it names."""
    kind = validator_for(schema, default=Draft202012Validator)
    return cast("Validator", _bounded(kind)(without_dialects(schema), registry=EMPTY_REGISTRY))


@lru_cache(maxsize=16)
def _bounded(kind: type[Validator]) -> Any:
    own: dict[str, Any] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "$ref": _counted(kind.VALIDATORS["$ref"]),
    }
    for keyword in ("$dynamicRef", "$recursiveRef"):
        if keyword in kind.VALIDATORS:
            own[keyword] = _counted(kind.VALIDATORS[keyword])
    if "unevaluatedProperties" in kind.VALIDATORS:
        own["unevaluatedProperties"] = _unevaluated(kind.VALIDATORS["unevaluatedProperties"])
    return extend(kind, own)  # type: ignore[no-untyped-call]  # as it comes


def _counted(original: Any) -> Any:
    def follow(validator: Any, reference: object, value: object, schema: object) -> Errors:
        work = _WORK.get()
        work.steps -= 1
        if work.steps < 0:
            raise NotCheckable(f"it takes more than {MOST_STEPS} steps")
        yield from original(validator, reference, value, schema) or ()

    return follow


def _unevaluated(original: Any) -> Any:
    def check(validator: Any, wanted: object, value: object, schema: object) -> Errors:
        # The original would run the patterns of keys by itself.
        if not _has_patterned_keys(_WORK.get().root):
            yield from original(validator, wanted, value, schema) or ()

    return check


def _matches(source: str, text: str) -> bool | None:
    """Whether a text matches; None for a pattern that can't be run."""
    pattern = usable_pattern(source)
    if pattern is None:
        return None
    work = _WORK.get()
    work.pattern -= pattern.states + len(text)
    if work.pattern < 0:
        raise NotCheckable("its patterns are applied too often")
    try:
        return matches(pattern.tree, text)
    except PatternNotSupported as error:
        raise NotCheckable(f"a text is too long for the pattern {source!r}") from error


def _pattern(_validator: object, source: str, value: object, _schema: object) -> Errors:
    if isinstance(value, str) and _matches(source, value) is False:
        yield ValidationError(f"it must match {source}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: object, _schema: object
) -> Errors:
    if not isinstance(value, Mapping):
        return
    for source, schema in patterns.items():
        for name, member in value.items():
            if _matches(source, name):
                yield from validator.descend(member, schema, path=name, schema_path=source)


def _additional_properties(
    validator: Any, wanted: object, value: object, schema: Mapping[str, Any]
) -> Errors:
    if not isinstance(value, Mapping):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    # A key that may match a pattern which can't be run isn't held against it.
    extras = [
        name
        for name in value
        if name not in known and all(_matches(source, name) is False for source in patterns)
    ]
    if isinstance(wanted, Mapping):
        for name in extras:
            yield from validator.descend(value[name], wanted, path=name)
    elif wanted is False and extras:
        yield ValidationError(f"{', '.join(extras)} can't be there")


def _has_patterned_keys(schema: object) -> bool:
    return any("patternProperties" in part for part in parts_of(schema))


def parts_of(schema: object) -> Iterator[Mapping[str, Any]]:
    """Return every object within a schema, however deeply it nests."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            yield part
            todo.extend(part.values())
        elif isinstance(part, Sequence) and not isinstance(part, str):
            todo.extend(part)


def _states(tree: Node) -> int:
    """Return about how many states the automaton of a pattern has."""
    match tree:
        case Concat(parts):
            return sum(map(_states, parts))
        case Either(options):
            return 2 + sum(map(_states, options))
        case Times(body, minimum, maximum):
            return 2 + _states(body) * max(1, minimum if maximum is None else maximum)
        case _:
            return 1
