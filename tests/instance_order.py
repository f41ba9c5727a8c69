"""Writes values with their keys in the order in which a grammar writes them.

JSON gives the keys of an object no order; a grammar fixes one: first the properties that the
schema declares, in its order, then all others. Which schemas speak about a value depends on the
options (`anyOf`, `if`) that it takes, so each object is ordered by an option that it fits, as
`jsonschema` judges.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from jsonschema import Draft202012Validator

from eris.grammar import GrammarError
from eris.grammar.document import Document, Effort, TooManyBranches
from eris.grammar.nfa import matches
from eris.grammar.pattern import PatternNotSupported, parse_pattern
from eris.grammar.place import Branch, Place, plain
from eris.grammar.report import ReportBuilder
from tests.grammar_acceptor import canonical

_MOST_OPTIONS = 12
_MOST_ORDERS = 24


class Arranger:
    """Orders the keys of values for the grammar of one schema."""

    def __init__(self, schema: object) -> None:
        self._document = Document(schema, ReportBuilder())
        self._validator = Draft202012Validator(schema)
        self._branches: dict[tuple[str, ...], list[Branch]] = {}

    def orders(self, value: object) -> list[object]:
        """Give the value in each order that some option of the schema asks for."""
        return list(islice(self._arrange((self._document.root,), value), _MOST_ORDERS))

    def _arrange(self, places: tuple[Place, ...], value: object) -> Iterator[object]:
        if not isinstance(value, dict | list) or not value:
            yield value
            return
        for branch in self._options(places, value):
            if isinstance(value, list):
                yield from self._list(branch, value)
            else:
                yield from self._object(branch, value)

    def _options(self, places: tuple[Place, ...], value: object) -> list[Branch]:
        key = tuple(place.pointer for place in places)
        if key not in self._branches:
            try:
                self._branches[key] = self._document.expand(places)
            except (TooManyBranches, GrammarError):
                self._branches[key] = self._document.expand(places, Effort.NONE)
        branches = self._branches[key] or [()]
        if len(branches) == 1:
            return branches
        fitting = [branch for branch in branches if self._fits(branch, value)]
        # Alike as far as the order goes: one of each kind is enough.
        distinct = {tuple(_declared(branch)): branch for branch in fitting or branches}
        return list(distinct.values())[:_MOST_OPTIONS]

    def _fits(self, branch: Branch, value: object) -> bool:
        try:
            return all(
                self._validator.evolve(schema=plain(leaf.schema)).is_valid(value) for leaf in branch
            )
        except Exception:  # noqa: BLE001 - a broken schema fails in any way
            return False

    def _list(self, branch: Branch, value: list[object]) -> Iterator[object]:
        parts = [
            list(islice(self._arrange(tuple(_items(branch, index)), item), 2))
            for index, item in enumerate(value)
        ]
        for chosen in product(*parts):
            yield list(chosen)

    def _object(self, branch: Branch, value: dict[str, object]) -> Iterator[object]:
        listed = _listed(branch, value)
        if listed is not None:
            yield listed
            return
        order = [name for name in _declared(branch) if name in value]
        order += [name for name in value if name not in order]
        parts = [
            list(islice(self._arrange(tuple(_members(branch, name)), value[name]), 2))
            for name in order
        ]
        for chosen in product(*parts):
            yield dict(zip(order, chosen, strict=True))


def _declared(branch: Branch) -> Iterable[str]:
    """Give the declared names, then those that are only required."""
    names: dict[str, None] = {}
    for keyword in ("properties", "required"):
        for leaf in branch:
            part = leaf.schema.get(keyword)
            if isinstance(part, Mapping | list):
                names.update(dict.fromkeys(name for name in part if isinstance(name, str)))
    return names


def _listed(branch: Branch, value: object) -> object:
    """Give the equal value that the schema lists; None if it lists none."""
    for leaf in branch:
        for known in (leaf.schema.get("const"), *_list_of(leaf.schema.get("enum"))):
            if isinstance(known, dict) and _plain(known) == _plain(value):
                return known
    return None


def _plain(value: object) -> str:
    """Write a value so that equal JSON gives equal text: `true` isn't 1, but 1.0 is."""
    return json.dumps(canonical(value), sort_keys=True)


def _list_of(part: object) -> list[object]:
    return part if isinstance(part, list) else []


def _members(branch: Branch, name: str) -> Iterator[Place]:
    for leaf in branch:
        properties, patterns = leaf.schema.get("properties"), leaf.schema.get("patternProperties")
        known = False
        if isinstance(properties, Mapping) and name in properties:
            known = True
            yield leaf.child("properties", name, schema=properties[name])
        for source, schema in patterns.items() if isinstance(patterns, Mapping) else ():
            try:
                matching = matches(parse_pattern(source), name)
            except PatternNotSupported:
                matching = False
            if matching:
                known = True
                yield leaf.child("patternProperties", source, schema=schema)
        if not known:
            for keyword in ("additionalProperties", "unevaluatedProperties"):
                if keyword in leaf.schema:
                    yield leaf.child(keyword, schema=leaf.schema[keyword])


def _items(branch: Branch, index: int) -> Iterator[Place]:
    for leaf in branch:
        for prefix, rest in (("prefixItems", "items"), ("items", "additionalItems")):
            first = leaf.schema.get(prefix)
            if isinstance(first, list):
                if index < len(first):
                    yield leaf.child(prefix, index, schema=first[index])
                elif rest in leaf.schema:
                    yield leaf.child(rest, schema=leaf.schema[rest])
                break
        else:
            if isinstance(leaf.schema.get("items"), Mapping | bool):
                yield leaf.child("items", schema=leaf.schema["items"])
