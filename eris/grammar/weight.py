"""Refuses a tool's schema by its size before any work is done on it.

Compiling takes time in proportion to the parts of a schema, and sometimes to their square; a
schema within these bounds is done within a second or two. Counted, not timed, so that a schema is
judged alike on every machine. Descriptions and examples don't count: nobody compiles them.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from eris.grammar.errors import SchemaTooLarge
from eris.grammar.place import escape

MOST_PARTS = 20_000
"""Members of all objects and lists in a schema."""

MOST_CHARACTERS = 200_000
"""Of its keys and texts."""

DEEPEST = 400
"""Levels of objects and lists."""

MOST_SIDE_BY_SIDE = 2_000
"""Options of one `anyOf`, or conditions of one `allOf`."""

_SAID = frozenset({"description", "title", "examples", "example", "default", "$comment"})
_SIDE_BY_SIDE = frozenset({"anyOf", "oneOf", "allOf"})


def weigh(schema: object) -> None:
    """Make sure that a schema isn't too large to be compiled quickly.

    Raises:
        SchemaTooLarge: It is; names the place where it became too much.
    """
    parts = characters = 0
    # The steps to a place are kept as a chain, and written out for an error only.
    todo: list[tuple[object, _Chain]] = [(schema, None)]
    while todo:
        value, chain = todo.pop()
        members = list(_members(value, chain))
        parts += len(members)
        if isinstance(value, str):
            characters += len(value)
        characters += sum(len(str(step[1])) for _, step in members if step is not None)
        if parts > MOST_PARTS or characters > MOST_CHARACTERS:
            most = f"more than {MOST_PARTS} parts or {MOST_CHARACTERS} characters"
            raise SchemaTooLarge(_pointer(chain), f"with this the schema has {most}")
        todo += members


def _members(value: object, chain: "_Chain") -> Iterator[tuple[object, "_Chain"]]:
    depth = 0 if chain is None else chain[2]
    if depth > DEEPEST:
        raise SchemaTooLarge(_pointer(chain), f"it nests deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        for key, member in value.items():
            if (
                key in _SIDE_BY_SIDE
                and isinstance(member, list)
                and len(member) > MOST_SIDE_BY_SIDE
            ):
                told = f"{key} has more than {MOST_SIDE_BY_SIDE} entries"
                raise SchemaTooLarge(_pointer(chain), told)
            # A property may have one of these names; then its schema is an object.
            if key not in _SAID or isinstance(member, Mapping):
                yield member, (chain, key, depth + 1)
    elif isinstance(value, list):
        for index, member in enumerate(islice(value, MOST_PARTS + 1)):
            yield member, (chain, index, depth + 1)


_Chain = tuple["_Chain", str | int, int] | None


def _pointer(chain: "_Chain") -> str:
    steps: list[str] = []
    while chain is not None:
        steps.append(escape(str(chain[1])))
        chain = chain[0]
    return "/".join(["#", *reversed(steps)])
