"""A schema as a document: places in it, references between them, and its alternatives.

A value often has to fulfil several schemas at once (`$ref` beside other keywords, `allOf`,
`properties` of both sides of an `anyOf`). `expand` turns such a set of places into branches:
each branch is a list of schemas that all hold, with every reference and choice resolved.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import unquote, urldefrag, urljoin

from eris.grammar.choices import choices
from eris.grammar.errors import MalformedSchema, SchemaTooLarge
from eris.grammar.place import Branch, Leaf, Place
from eris.grammar.report import ReportBuilder

_MOST_BRANCHES = 256
_MOST_STEPS = 4_000
_MOST_PLACES = 200_000
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples", "example"})
_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")

Overlaps = Callable[[tuple[Place, ...]], bool]


class TooManyBranches(Exception):  # noqa: N818 - a signal: the caller leaves choices out
    """The choices of a schema multiply beyond the limit."""


class Effort(IntEnum):
    """How much `expand` does about the keywords that offer a choice."""

    NONE = 0
    """They are left out."""
    UNIONS = 1
    """Options become a union; what would have to be refused is left out."""
    EXACT = 2
    """What must not hold is refused."""


class Document:
    """One schema document with its identifiers and anchors.

    Attributes:
        root: The whole.
        report: Where findings go.
        ref_stands_alone: Whether `$ref` hides what stands beside it, as in drafts up to 7.
        overlaps: Says whether a value can fit all of some places; None if nobody can say.
    """

    def __init__(self, root: object, report: ReportBuilder) -> None:
        self.root = Place("#", root)
        self.report = report
        self.overlaps: Overlaps | None = None
        self._bases: dict[str, str] = {"#": ""}
        self._resources: dict[str, Place] = {"": self.root}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic: Counter[str] = Counter()
        declared = root.get("$schema") if isinstance(root, Mapping) else None
        self.ref_stands_alone = isinstance(declared, str) and any(
            draft in declared for draft in _OLD_DRAFTS
        )
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
                base = self._name(place, schema, base)
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

    def _name(self, place: Place, schema: Mapping[str, object], base: str) -> str:
        """Note the identifier and anchors of a schema; returns what references in it build on."""
        identifier = schema.get("$id", schema.get("id"))
        if isinstance(identifier, str) and identifier and not identifier.startswith("#"):
            base = urldefrag(urljoin(base, identifier)).url
            self._resources.setdefault(base, place)
        for keyword in ("$dynamicAnchor", "$recursiveAnchor"):
            if keyword in schema:
                self._dynamic[str(schema[keyword])] += 1
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault((base, anchor), place)
        if isinstance(identifier, str) and identifier.startswith("#"):
            self._anchors.setdefault((base, identifier[1:]), place)
        return base

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

    def target(self, place: Place | Leaf, keyword: str) -> Place | None:
        """Find what the reference in a schema points to.

        None if it isn't there, or if what it means depends on how one came there: a dynamic
        reference to a name that several parts of the document give themselves.
        """
        schema = place.schema
        reference = schema.get(keyword) if isinstance(schema, Mapping) else None
        if not isinstance(reference, str):
            return None
        found = self.resolve(reference, place.pointer)
        if keyword == "$ref" or found is None or not isinstance(found.schema, Mapping):
            return found
        anchor = found.schema.get("$dynamicAnchor", found.schema.get("$recursiveAnchor"))
        dynamic = anchor is True or anchor == reference.rpartition("#")[2]
        return None if dynamic and self._dynamic[str(anchor)] > 1 else found

    def expand(self, places: tuple[Place, ...], effort: Effort = Effort.EXACT) -> list[Branch]:
        """Give the branches of a set of schemas that all have to hold; none if that can't be.

        Raises:
            TooManyBranches: The choices multiply beyond the limit; ask again with less effort.
            MalformedSchema: One of the schemas isn't one.
        """
        found: dict[Branch, None] = {}
        for branch in self._branches(_Work(places, _Steps(effort))):
            found.setdefault(branch)
            if len(found) > _MOST_BRANCHES:
                raise TooManyBranches
        return list(found)

    def _branches(self, work: "_Work") -> Iterator[Branch]:
        work.steps.count()
        fresh: list[Leaf] = []
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
            leaf = Leaf(place.pointer, place.schema, place.made)
            following = self._reference(leaf)
            if following and self.ref_stands_alone:
                work.todo = (*following, *work.todo)
                continue
            work.leaves = (*work.leaves, leaf)
            all_of = self._parts(leaf, "allOf")
            work.todo = (*following, *(all_of or ()), *work.todo)
            fresh.append(leaf)
        if work.steps.effort is not Effort.NONE:
            for leaf in fresh:
                found = choices(self, leaf, work.leaves, work.steps.effort)
                work.pending = (*work.pending, *found)
        if not work.pending:
            yield work.leaves
            return
        options, *pending = work.pending
        for option in options:
            inner = _Work((option,), work.steps, work.seen, work.leaves, tuple(pending))
            yield from self._branches(inner)

    def _reference(self, leaf: Leaf) -> tuple[Place, ...]:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = leaf.schema.get(keyword)
            if reference is None:
                continue
            target = self.target(leaf, keyword)
            if target is None:
                reason = f"{reference!r} isn't in this document"
                if keyword != "$ref":
                    reason += ", or has several meanings"
                self.report.later(leaf.pointer, keyword, reason)
                continue
            self.report.exact(leaf.pointer, keyword)
            return (target,)
        return ()

    def _parts(self, leaf: Leaf, keyword: str) -> tuple[Place, ...] | None:
        parts = leaf.schema.get(keyword)
        if parts is None:
            return None
        if not isinstance(parts, list) or not parts:
            self.report.later(leaf.pointer, keyword, "it isn't a list of schemas")
            return None
        self.report.exact(leaf.pointer, keyword)
        return tuple(leaf.child(keyword, index, schema=part) for index, part in enumerate(parts))


@dataclass(slots=True)
class _Steps:
    """Counts the steps of one expansion."""

    effort: Effort
    done: int = 0

    def count(self) -> None:
        self.done += 1
        if self.done > _MOST_STEPS:
            raise TooManyBranches


@dataclass(slots=True)
class _Work:
    todo: tuple[Place, ...]
    steps: _Steps
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
