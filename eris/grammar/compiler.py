"""JSON Schema to GBNF: one rule per part of the schema, and a report of what is enforced.

The compiler walks sets of schemas that all have to hold for one value (see `document`). For each
set it makes one rule; a set that is met again while its rule is being made becomes a reference,
which is how recursive schemas come out as recursive rules.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from eris.grammar.array_schema import array
from eris.grammar.constants import constants, remaining
from eris.grammar.containers import any_value, scalars
from eris.grammar.context import Options
from eris.grammar.document import Document, Effort, TooManyBranches
from eris.grammar.errors import (
    InvalidGrammar,
    SchemaNotUsable,
    SchemaTooLarge,
    UnsatisfiableSchema,
)
from eris.grammar.expression import Expression, Grammar, Reference, RuleBook, choice, unfuse
from eris.grammar.json_text import DEFAULT_FORM
from eris.grammar.negation import primitive
from eris.grammar.number_schema import number
from eris.grammar.object_schema import object_
from eris.grammar.place import Branch, Leaf, Place
from eris.grammar.printer import print_grammar
from eris.grammar.report import Enforcement, Report, ReportBuilder
from eris.grammar.string_schema import string
from eris.grammar.validation import check, prune

DEFAULT_OPTIONS = Options()
_Key = tuple[int, tuple[str, ...]]
"""Levels left that are written line by line, and pointers of the places."""
_DEEPEST = 48
_KNOWN_METASCHEMA = re.compile(r"(?:https?://json-schema\.org/(?:draft[-/][^#]*|schema)#?)?")
_MOST_PROBES = 100
_PROBE_RULES = 300

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_ORDER = ("object", "array", "string", "number", "fraction", "integer", "boolean", "null")
_OF_TYPE = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "array": (
        "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems",
        "contains", "minContains", "maxContains", "unevaluatedItems",
    ),
    "object": (
        "properties", "patternProperties", "additionalProperties", "required", "minProperties",
        "maxProperties", "propertyNames", "unevaluatedProperties",
    ),
}  # fmt: skip
_ANYWHERE = frozenset({
    "type", "nullable", "enum", "const", "not", "$ref", "$dynamicRef", "$recursiveRef", "allOf",
    "anyOf", "oneOf", "if", "then", "else", "dependentRequired", "dependentSchemas",
    "dependencies",
})  # fmt: skip
_CHOICES = frozenset({
    "anyOf", "oneOf", "if", "not", "dependentRequired", "dependentSchemas", "dependencies",
})  # fmt: skip
_ANNOTATIONS = frozenset({
    "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$comment", "$defs",
    "definitions", "$vocabulary", "title", "description", "default", "examples", "example",
    "readOnly", "writeOnly", "deprecated", "contentMediaType", "contentEncoding",
    "contentSchema", "discriminator", "externalDocs", "xml",
})  # fmt: skip
_KNOWN = _ANYWHERE | _ANNOTATIONS | {word for words in _OF_TYPE.values() for word in words}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A grammar that an engine can load, and what it enforces.

    Attributes:
        text: The grammar in GBNF.
        grammar: The same as expressions.
        report: What is enforced exactly and what has to be checked afterwards.
        key: Hexadecimal digest; equal inputs and options give equal keys.
    """

    text: str
    grammar: Grammar
    report: Report
    key: str


class SchemaCompiler:
    """Compiles one schema document into rules of a rule book."""

    def __init__(self, schema: object, rules: RuleBook, options: Options) -> None:
        self.rules = rules
        self.options = options
        self.report = ReportBuilder()
        self.probing = isinstance(schema, Document)
        if isinstance(schema, Document):
            self.document = copy(schema)
            self.document.report, self.document.overlaps = self.report, None
        else:
            self.document = Document(schema, self.report)
            self.document.overlaps = self._overlaps
        self._probes = _MOST_PROBES
        self._effort = Effort.EXACT
        self.form = options.form
        self._done: dict[_Key, Expression | None] = {}
        self._open: dict[_Key, str | None] = {}
        self._budget = options.rules
        self.recursive = False

    def root(self, *also: Place, hint: str = "value") -> Expression:
        """Give the expression of the whole schema, together with further conditions.

        Raises:
            UnsatisfiableSchema: No value fits.
            SchemaTooLarge: The grammar would be too large.
            MalformedSchema: A part of it is no schema.
        """
        self._report_metaschema()
        mark = self.rules.mark()
        try:
            found = self._root((self.document.root, *also), hint)
        except SchemaTooLarge:
            # Opposites multiply: once more without them.
            self.rules.rollback(mark)
            self._effort = Effort.UNIONS
            self._done, self._open = {}, {}
            self._budget = self.options.rules
            found = self._root((self.document.root, *also), hint)
        if found is None:
            raise UnsatisfiableSchema("#", "no value fits it")
        return found

    def _root(self, places: tuple[Place, ...], hint: str) -> Expression | None:
        try:
            return self.value(places, hint)
        except OverflowError as error:
            raise SchemaTooLarge("#", f"it needs {error}") from error
        except RecursionError as error:
            raise SchemaTooLarge("#", "it nests too deeply") from error

    def value(self, places: tuple[Place, ...], hint: str) -> Expression | None:
        """Give the expression of values that fit all these schemas; None if none does."""
        unique = tuple(dict.fromkeys(places))
        form = self.form.inner if self._open else self.form
        key = form.lines, tuple(place.pointer for place in unique)
        if key in self._done:
            return self._done[key]
        if key in self._open:
            self.recursive = True
            name = self._open[key] = self._open[key] or self.rules.reserve(hint)
            return Reference(name)
        if len(self._open) >= _DEEPEST:
            for place in unique:
                self.report.later(place.pointer, "$depth", f"deeper than {_DEEPEST} levels")
            return any_value(self.rules, form).value
        self._budget -= 1
        if self._budget < 0:
            raise SchemaTooLarge(unique[0].pointer, f"it has more than {self.options.rules} parts")
        self._open[key] = None
        outer, self.form = self.form, form
        built = self._build(unique, hint)
        recurs, self.form = self._open.pop(key), outer
        if recurs is not None:
            # A rule that only names itself matches nothing; pruning takes it out again.
            built = self.rules.set(recurs, Reference(recurs) if built is None else built)
            self.rules.structural.add(recurs)
        elif built is not None:
            scalar = isinstance(built, Reference)
            built = built if scalar else self.rules.structure(hint, built)
        self._done[key] = built
        return built

    def _build(self, places: tuple[Place, ...], hint: str) -> Expression | None:
        branches = self._branches(places)
        options = [self._branch(branch, hint) for branch in branches]
        if sum(option is not None for option in options) > 1:
            self.rules.mixed = True
        return choice(options)

    def _branches(self, places: tuple[Place, ...]) -> list[Branch]:
        """Resolve references and choices, with as much effort as the limits allow."""
        for effort in (Effort.EXACT, Effort.UNIONS):
            try:
                return self.document.expand(places, min(effort, self._effort))
            except TooManyBranches:
                continue
        branches = self.document.expand(places, Effort.NONE)
        for branch in branches:
            for leaf in branch:
                for keyword in _CHOICES & leaf.schema.keys():
                    self.report.later(leaf.pointer, keyword, "too many combinations")
        return branches

    def _overlaps(self, places: tuple[Place, ...]) -> bool:
        """Whether some value may fit all these schemas, found out by compiling them."""
        if self._probes == 0:
            return True
        self._probes -= 1
        options = replace(self.options, closed=False, rules=_PROBE_RULES, form=DEFAULT_FORM)
        rules = RuleBook(limit=_PROBE_RULES)
        try:
            found = SchemaCompiler(self.document, rules, options).value(places, "probe")
        except (SchemaNotUsable, OverflowError, RecursionError):
            return True
        return found is not None and prune(Grammar({"root": found, **rules.rules})) is not None

    def _branch(self, branch: Branch, hint: str) -> Expression | None:
        if all(leaf.schema.keys() <= _ANNOTATIONS for leaf in branch):
            return any_value(self.rules, self.form).value
        listed = constants(self, branch, hint)
        if listed is not False:
            return listed
        types = self._types(branch)
        if types is None:
            return None
        self._report_unknown(branch)
        self._report_refused(branch, types)
        return choice(self._of_type(kind, branch, hint) for kind in _ORDER if kind in types)

    def _of_type(self, kind: str, branch: Branch, hint: str) -> Expression | None:
        family = "number" if kind in ("integer", "fraction") else kind
        words = {"not", *_OF_TYPE.get(family, ())}
        plain = not any(leaf.schema.keys() & words for leaf in branch)
        if plain and kind in ("string", "number", "boolean", "null"):
            return scalars(self.rules)[kind]
        if plain and kind in ("object", "array"):
            free = any_value(self.rules, self.form)
            return free.object if kind == "object" else free.array
        match kind:
            case "object":
                return object_(self, branch, hint)
            case "array":
                return array(self, branch, hint)
            case "string":
                return string(self, branch, hint)
            case "boolean" | "null":
                found = remaining(kind, branch)
            case _:
                found = number(self, branch, kind)
        return None if found is None else self.rules.define(kind if plain else hint, found)

    def _types(self, branch: Branch) -> set[str] | None:
        """Intersect the types that the schemas allow; None if nothing is left.

        "number" means any number, "integer" and "fraction" the two kinds of them.
        """
        kinds = {"object", "array", "string", "fraction", "integer", "boolean", "null"}
        for leaf in branch:
            allowed = self._declared(leaf)
            if allowed is not None:
                kinds &= allowed
            kinds -= self._refused(leaf)
        if {"fraction", "integer"} <= kinds:
            kinds = kinds - {"fraction", "integer"} | {"number"}
        return kinds or None

    def _declared(self, leaf: Leaf) -> set[str] | None:
        declared = leaf.schema.get("type")
        if declared is None:
            return None
        names = [declared] if isinstance(declared, str) else declared
        if not isinstance(names, list) or not all(name in _TYPES for name in names):
            self.report.later(leaf.pointer, "type", f"{declared!r} isn't a type of JSON")
            return None
        self.report.exact(leaf.pointer, "type")
        if leaf.schema.get("nullable") is True:
            names = [*names, "null"]
        return _with_fractions(names)

    def _refused(self, leaf: Leaf) -> set[str]:
        """Read a `not` that refuses whole types."""
        keyword, names = primitive(leaf.schema) or ("", None)
        if keyword != "type":
            return set()
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not all(name in _TYPES for name in names):
            self.report.later(leaf.pointer, "not", f"{names!r} aren't types of JSON")
            return set()
        self.report.exact(leaf.pointer, "not")
        return _with_fractions(names)

    def _report_refused(self, branch: Branch, types: set[str]) -> None:
        """Report a `not` of listed values: only those without parts can be left out."""
        for leaf in branch:
            keyword, values = primitive(leaf.schema) or ("", None)
            if keyword not in ("enum", "const"):
                continue
            listed = values if keyword == "enum" and isinstance(values, list) else [values]
            if any(isinstance(v, dict) and "object" in types for v in listed) or any(
                isinstance(v, list) and "array" in types for v in listed
            ):
                self.report.later(leaf.pointer, "not", "an object or array can't be left out")
            else:
                self.report.exact(leaf.pointer, "not")

    def _report_metaschema(self) -> None:
        schema = self.document.root.schema
        named = schema.get("$schema") if isinstance(schema, Mapping) else None
        if isinstance(named, str) and not _KNOWN_METASCHEMA.fullmatch(named):
            reason = "unknown, so its keywords are taken as JSON Schema's own"
            self.report.add("#", "$schema", Enforcement.NARROWED, reason)

    def _report_unknown(self, branch: Branch) -> None:
        for leaf in branch:
            for keyword in leaf.schema:
                if keyword not in _KNOWN and not keyword.startswith("x-"):
                    reason = "an unknown keyword asserts nothing"
                    self.report.add(leaf.pointer, keyword, Enforcement.IGNORED, reason)


def _with_fractions(names: list[str]) -> set[str]:
    kinds = set(names)
    return kinds - {"number"} | {"integer", "fraction"} if "number" in kinds else kinds


def compile_schema(schema: object, options: Options = DEFAULT_OPTIONS) -> Compiled:
    """Compile a JSON Schema into a grammar whose texts are values in the fixed form.

    Args:
        schema: An object or a boolean, as `json.loads` gives it.
        options: How it's read and written.

    Raises:
        UnsatisfiableSchema: No value fits it.
        SchemaTooLarge: The grammar would be too large.
        MalformedSchema: It, or a part of it, is no schema.
    """
    rules = RuleBook(limit=options.rules)
    compiler = SchemaCompiler(schema, rules, options)
    root = compiler.root()
    grammar = finish(rules, root)
    return Compiled(
        text=print_grammar(grammar),
        grammar=grammar,
        report=compiler.report.report(),
        key=digest(schema, options),
    )


def finish(rules: RuleBook, root: Expression) -> Grammar:
    """Make a grammar out of rules: drop what can't end or isn't used, and check the rest.

    Raises:
        UnsatisfiableSchema: Nothing is left.
        SchemaTooLarge: It breaks a limit of the engines.
    """
    grammar = prune(Grammar({"root": root, **rules.rules}))
    if grammar is None:
        raise UnsatisfiableSchema("#", "every value would have to go on without end")
    if rules.mixed:
        grammar = unfuse(grammar, sorted(rules.structural))
    try:
        check(grammar)
    except InvalidGrammar as error:
        raise SchemaTooLarge("#", str(error)) from error
    return grammar


def digest(value: object, options: Options) -> str:
    """Give a hexadecimal digest of a JSON value together with the options.

    The order of keys counts, since it decides the order in the grammar.
    """
    hasher = hashlib.sha256(repr(options).encode())
    stack = [value]
    while stack:  # not recursive: a schema of a stranger may nest deeper than Python does
        item = stack.pop()
        match item:
            case Mapping():
                hasher.update(b"{%d" % len(item))
                stack.extend(part for pair in item.items() for part in pair)
            case list() | tuple():
                hasher.update(b"[%d" % len(item))
                stack.extend(item)
            case _:
                hasher.update(json.dumps(item, default=repr).encode())
    return hasher.hexdigest()
