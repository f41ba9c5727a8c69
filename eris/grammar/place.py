"""Places in a schema document: a schema and where it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """A schema and where it stands; two places are equal if their pointers are.

    Attributes:
        pointer: JSON pointer fragment. A step that begins with `~` and a letter leads to a schema
            that isn't written in the document, but made from what stands before that step.
        schema: What stands there. The parts of a made schema may be places themselves.
        made: Whether the compiler made the schema.
    """

    pointer: str
    schema: object = field(compare=False)
    made: bool = field(default=False, compare=False)

    def child(self, *steps: str | int, schema: object) -> "Place":
        """Give the place of a part of this schema."""
        if isinstance(schema, Place):
            return schema
        path = "".join(f"/{escape(str(step))}" for step in steps)
        return Place(self.pointer + path, schema)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A place whose schema is known to be an object."""

    pointer: str
    schema: Mapping[str, object] = field(compare=False)
    made: bool = field(default=False, compare=False)

    def child(self, *steps: str | int, schema: object) -> Place:
        """Give the place of a part of this schema."""
        return Place(self.pointer, self.schema).child(*steps, schema=schema)


Branch = tuple[Leaf, ...]


def escape(step: str) -> str:
    """Escape one step of a JSON pointer (RFC 6901)."""
    return step.replace("~", "~0").replace("/", "~1")


def plain(schema: object) -> object:
    """Give a schema with the places in it replaced by what stands there."""
    match schema:
        case Place(_, inner, made):
            return plain(inner) if made else inner
        case Mapping():
            return {key: plain(part) for key, part in schema.items()}
        case list():
            return [plain(part) for part in schema]
        case _:
            return schema
