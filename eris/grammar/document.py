"""A schema as a document: places in it, references between them, and its alternatives.

A value often has to fulfil several schemas at once (`$ref` beside other keywords, `allOf`,
`properties` of both sides of an `anyOf`). `expand` turns such a set of places into branches:
each branch is a list of schemas that all hold, with every reference and choice resolved.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urldefrag, urljoin

from eris.grammar.errors import MalformedSchema, SchemaTooLarge
from eris.grammar.report import ReportBuilder

Schema = Mapping[str, object] | bool

_MOST_BRANCHES = 256
_MOST_STEPS = 4_000
_MOST_PLACES = 200_000
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples", "example"})
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


@dataclass(frozen=True, slots=True)
class Place:
    """A schema and where it stands; two places are equal if their pointers are."""

    pointer: str
    schema: object = field(compare=False)

    def child(self, *steps: str | int, schema: object) -> "Place":
        """Give the place of a part of this schema."""
        path = "".join(f"/{escape(str(step))}" for step in steps)
        return Place(self.pointer + path, schema)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A place whose schema is known to be an object."""

    pointer: str
    schema: Mapping[str, object] = field(compare=False)

    def child(self, *steps: str | int, schema: object) -> Place:
        """Give the place of a part of this schema."""
        return Place(self.pointer, self.schema).child(*steps, schema=schema)


Branch = tuple[Leaf, ...]


def escape(step: str) -> str:
    """Escape one step of a JSON pointer (RFC 6901)."""
    return step.replace("~", "~0").replace("/", "~1")


class TooManyBranches(Exception):  # noqa: N818 - a signal: the caller leaves choices out
    """The choices of a schema multiply beyond the limit."""


class Document:
    """One schema document with its identifiers and anchors."""

    def __init__(self, root: object, report: ReportBuilder) -> None:
        self.root = Place("#", root)
        self._report = report
        self._bases: dict[str, str] = {"#": ""}
        self._resources: dict[str, Place] = {"": self.root}
        self._anchors: dict[tuple[str, str], Place] = {}
        declared = root.get("$schema") if isinstance(root, Mapping) else None
        self.ref_stands_alone = isinstance(declared, str) and any(
            draft in declared for draft in _OLD_DRAFTS
        )
        self._steps = 0
        self._index()

    def _index(self) -> None:
        """Find identifiers and anchors, without recursion."""
        todo: list[tuple[Place, str]] = [(self.root, "")]
        count = 0
        while todo:
            place, base = todo.pop()
            count += 1
            if count > _MOST_PLACES:
                raise SchemaTooLarge("#", f"it has more than {_MOST_PLACES} parts")
            schema = place.schema
            if isinstance(schema, Mapping):
                identifier = schema.get("$id", schema.get("id"))
                if isinstance(identifier, str) and identifier and not identifier.startswith("#"):
                    base = urldefrag(urljoin(base, identifier)).url
                    self._resources.setdefault(base, place)
                for keyword in ("$anchor", "$dynamicAnchor"):
                    anchor = schema.get(keyword)
                    if isinstance(anchor, str):
                        self._anchors.setdefault((base, anchor), place)
                if isinstance(identifier, str) and identifier.startswith("#"):
                    self._anchors.setdefault((base, identifier[1:]), place)
                self._bases[place.pointer] = base
                todo.extend(
                    (place.child(key, schema=part), base)
                    for key, part in schema.items()
                    if isinstance(part, Mapping | list) and key not in _DATA_KEYWORDS
                )
            elif isinstance(schema, list):
                todo.extend(
                    (place.child(index, schema=part), base)
                    for index, part in enumerate(schema)
                    if isinstance(part, Mapping | list)
                )

    def resolve(self, reference: str, pointer: str) -> Place | None:
        """Find what a reference at a place points to; None if it's outside of the document."""
        while pointer not in self._bases:
            pointer = pointer.rpartition("/")[0] or "#"
        base = self._bases[pointer]
        url, fragment = urldefrag(urljoin(base, reference) if reference[:1] != "#" else reference)
        resource = self._resources.get(url if reference[:1] != "#" else base)
        if resource is None:
            return None
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((url if reference[:1] != "#" else base, fragment))
        place: Place | None = resource
        for step in fragment.split("/")[1:]:
            place = _step(place, step.replace("~1", "/").replace("~0", "~"))
            if place is None:
                return None
        return place

    def expand(self, places: tuple[Place, ...], *, choices: bool = True) -> list[Branch]:
        """Give the branches of a set of schemas that all have to hold; none if that can't be.

        Raises:
            TooManyBranches: The choices multiply beyond the limit; ask again without `choices`.
            MalformedSchema: One of the schemas isn't one.
        """
        found: dict[Branch, None] = {}
        self._steps = 0
        for branch in self._branches(_Work(places), choices=choices):
            found.setdefault(branch)
            if len(found) > _MOST_BRANCHES:
                raise TooManyBranches
        return list(found)

    def _branches(self, work: "_Work", *, choices: bool) -> Iterator[Branch]:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooManyBranches
        while work.todo:
            place, *rest = work.todo
            work.todo = tuple(rest)
            if place.pointer in work.seen or place.schema is True:
                continue
            if place.schema is False:
                return
            if not isinstance(place.schema, Mapping):
                raise MalformedSchema(
                    place.pointer, f"it is {type(place.schema).__name__}, not an object or boolean"
                )
            work.seen |= {place.pointer}
            leaf = Leaf(place.pointer, place.schema)
            following = self._reference(leaf)
            if following and self.ref_stands_alone:
                work.todo = (*following, *work.todo)
                continue
            work.leaves = (*work.leaves, leaf)
            all_of = self._parts(leaf, "allOf")
            work.todo = (*following, *(all_of or ()), *work.todo)
            if choices:
                work.pending = (*work.pending, *self._choices(leaf))
        if not work.pending:
            yield work.leaves
            return
        options, *pending = work.pending
        for option in options:
            inner = _Work((option,), work.seen, work.leaves, tuple(pending))
            yield from self._branches(inner, choices=choices)

    def _reference(self, leaf: Leaf) -> tuple[Place, ...]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = leaf.schema.get(keyword)
            if reference is None:
                continue
            target = self.resolve(reference, leaf.pointer) if isinstance(reference, str) else None
            if target is None:
                self._report.later(leaf.pointer, keyword, f"{reference!r} isn't in this document")
                continue
            if keyword == "$ref":
                self._report.exact(leaf.pointer, keyword)
            else:
                self._report.later(leaf.pointer, keyword, "taken as a plain reference")
            return (target,)
        return ()

    def _parts(self, leaf: Leaf, keyword: str) -> tuple[Place, ...] | None:
        parts = leaf.schema.get(keyword)
        if parts is None:
            return None
        if not isinstance(parts, list) or not parts:
            self._report.later(leaf.pointer, keyword, "it isn't a list of schemas")
            return None
        self._report.exact(leaf.pointer, keyword)
        return tuple(leaf.child(keyword, index, schema=part) for index, part in enumerate(parts))

    def _choices(self, leaf: Leaf) -> Iterator[tuple[Place, ...]]:
        """Give for each keyword that offers a choice its options."""
        schema = leaf.schema
        any_of = self._parts(leaf, "anyOf")
        if any_of:
            yield any_of
        one_of = self._parts(leaf, "oneOf")
        if one_of:
            if not disjoint(self, one_of):
                self._report.later(leaf.pointer, "oneOf", "more than one option may hold")
            yield one_of
        if "if" in schema and ("then" in schema or "else" in schema):
            self._report.later(leaf.pointer, "if", "`else` is offered whether or not `if` holds")
            yield (
                leaf.child("if-then", schema={"allOf": [schema["if"], schema.get("then", True)]}),
                leaf.child("else", schema=schema.get("else", True)),
            )
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            yield from self._dependencies(leaf, keyword)

    def _dependencies(self, leaf: Leaf, keyword: str) -> Iterator[tuple[Place, ...]]:
        dependencies = leaf.schema.get(keyword)
        if not isinstance(dependencies, Mapping):
            if dependencies is not None:
                self._report.later(leaf.pointer, keyword, "it isn't an object")
            return
        self._report.exact(leaf.pointer, keyword)
        for name, needed in dependencies.items():
            absent = leaf.child(keyword, name, "absent", schema={"not": {"required": [name]}})
            if isinstance(needed, list):
                yield absent, leaf.child(keyword, name, schema={"required": [name, *needed]})
            else:
                yield absent, leaf.child(keyword, name, schema=needed)


@dataclass(slots=True)
class _Work:
    todo: tuple[Place, ...]
    seen: frozenset[str] = frozenset()
    leaves: Branch = ()
    pending: tuple[tuple[Place, ...], ...] = ()


def _step(place: Place | None, step: str) -> Place | None:
    if place is None:
        return None
    schema = place.schema
    if isinstance(schema, Mapping) and step in schema:
        return place.child(step, schema=schema[step])
    if isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
        return place.child(step, schema=schema[int(step)])
    return None


_MOST_COMPARED = 40
_MOST_REFERENCES = 8


def disjoint(document: Document, options: tuple[Place, ...]) -> bool:
    """Whether it's easy to see that no value fits two of the options."""
    if len(options) > _MOST_COMPARED:
        return False
    marks = [_marks(document, option) for option in options]
    return all(
        any(not one[key] & other[key] for key in one.keys() & other.keys())
        for index, one in enumerate(marks)
        for other in marks[index + 1 :]
    )


def _marks(document: Document, place: Place) -> dict[str, frozenset[str]]:
    """Collect what tells an option apart: its types, and the texts of required constants."""
    schema = _dereferenced(document, place)
    if not isinstance(schema, Mapping):
        return {}
    marks: dict[str, frozenset[str]] = {}
    types = schema.get("type")
    names = [types] if isinstance(types, str) else types
    if isinstance(names, list) and schema.get("nullable") is not True:
        kinds = frozenset(map(str, names))
        marks["type"] = kinds | {"integer"} if "number" in kinds else kinds
    values = _values(schema)
    if values is not None:
        marks["value"] = values
    # A required constant tells apart only among objects.
    if types == "object" and "type" in marks:
        marks.update(_required_constants(schema))
    return marks


def _dereferenced(document: Document, place: Place) -> object:
    for _ in range(_MOST_REFERENCES):
        schema = place.schema
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            break
        place = document.resolve(str(schema["$ref"]), place.pointer) or Place(place.pointer, {})
    return place.schema


def _required_constants(schema: Mapping[str, object]) -> dict[str, frozenset[str]]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    found: dict[str, frozenset[str]] = {}
    for name in required:
        inner = properties.get(name) if isinstance(name, str) else None
        values = _values(inner) if isinstance(inner, Mapping) else None
        if values is not None:
            found[f"property {name}"] = values
    return found


def _values(schema: Mapping[str, object]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({_same(schema["const"])})
    listed = schema.get("enum")
    return frozenset(map(_same, listed)) if isinstance(listed, list) else None


def _same(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value)
